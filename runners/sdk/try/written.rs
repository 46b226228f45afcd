// Where what a call of Rust returns goes that `perbyte try --function` was given as it is written: bytes, a number with
// its highest byte first, or whether it was accepted.
trait Put {
    unsafe fn put(&self, out: *mut u8) -> i32;
}
unsafe fn copied(made: &[u8], out: *mut u8) -> i32 {
    std::ptr::copy_nonoverlapping(made.as_ptr(), out, made.len());
    1
}
macro_rules! put {
    ($made:ident, $($kind:ty: $bytes:expr),*) => {$(
        impl Put for $kind { unsafe fn put(&self, out: *mut u8) -> i32 { let $made = self; copied($bytes.as_ref(), out) } }
    )*};
}
put!(made, Vec<u8>: made, Box<[u8]>: made, &[u8]: made, u16: made.to_be_bytes(), u32: made.to_be_bytes(), u64: made.to_be_bytes());
impl<const N: usize> Put for [u8; N] {
    unsafe fn put(&self, out: *mut u8) -> i32 {
        copied(self, out)
    }
}
impl Put for bool {
    unsafe fn put(&self, _: *mut u8) -> i32 {
        *self as i32
    }
}
impl Put for () {
    unsafe fn put(&self, _: *mut u8) -> i32 {
        1
    }
}
impl<T: Put> Put for Option<T> {
    unsafe fn put(&self, out: *mut u8) -> i32 {
        self.as_ref().map_or(0, |made| made.put(out))
    }
}
impl<T: Put, E> Put for Result<T, E> {
    unsafe fn put(&self, out: *mut u8) -> i32 {
        self.as_ref().map_or(0, |made| made.put(out))
    }
}
