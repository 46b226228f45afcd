//! What a type has to be able to do, and the loops around it. A row is made by the function of the same name in small.

use core::ffi::{c_int, c_void, CStr};
use core::hint::black_box;
use core::marker::PhantomData;
use core::ptr::{null, null_mut};
use core::slice::{from_raw_parts, from_raw_parts_mut};

use crate::layout::{Case, Family, Row, Variant, RING};

pub const END_OF_ROWS: Row =
    Row { algorithm: null(), family: null(), param: null(), key: 0, nonce: 0, multiple: 0, output: 0 };
pub(crate) const END: Variant =
    Variant { operation: null(), contract: null(), calls: null(), begin: None, run: None, show: None };

pub(crate) type Loop = unsafe extern "C" fn(*mut Case, u64);

pub(crate) const fn variant(
    operation: &'static CStr,
    contract: &'static CStr,
    calls: &'static CStr,
    run: Loop,
) -> Variant {
    Variant {
        operation: operation.as_ptr(),
        contract: contract.as_ptr(),
        calls: calls.as_ptr(),
        begin: None,
        run: Some(run),
        show: None,
    }
}

/// What a call works on, as slices.
pub(crate) struct Given<'a> {
    pub data: &'a [u8],
    pub key: [&'a [u8]; RING],
    pub nonce: [&'a [u8]; RING],
    pub aad: &'a [u8],
}

pub(crate) unsafe fn slice<'a>(at: *const u8, length: usize) -> &'a [u8] {
    if length == 0 { &[] } else { from_raw_parts(at, length) }
}

pub(crate) unsafe fn given<'a>(case: *mut Case) -> Given<'a> {
    let c = &*case;
    Given {
        data: slice(c.input, c.in_len),
        key: core::array::from_fn(|i| slice(c.key[i], c.key_len)),
        nonce: core::array::from_fn(|i| slice(c.nonce[i], c.nonce_len)),
        aad: slice(c.aad, c.aad_len),
    }
}

pub(crate) unsafe fn output<'a>(case: *mut Case, length: usize) -> &'a mut [u8] {
    from_raw_parts_mut((*case).out, length)
}

pub(crate) unsafe fn tag(case: *mut Case) -> usize {
    (*(*case).row).output as usize
}

/// Keep a value behind the case's pointer, to be dropped by `close`.
pub(crate) unsafe fn keep<T>(case: *mut Case, state: Option<T>) -> c_int {
    match state {
        Some(state) => {
            (*case).ctx = Box::into_raw(Box::new(state)) as *mut c_void;
            0
        }
        None => {
            let words = b"the key was refused";
            for (at, byte) in (*case).error.iter_mut().zip(words) {
                *at = *byte as core::ffi::c_char;
            }
            -1
        }
    }
}

pub(crate) unsafe extern "C" fn close<T>(case: *mut Case) {
    if !(*case).ctx.is_null() {
        drop(Box::from_raw((*case).ctx as *mut T));
        (*case).ctx = null_mut();
    }
}

pub(crate) unsafe fn state<'a, T>(case: *mut Case) -> &'a mut T {
    &mut *((*case).ctx as *mut T)
}

pub(crate) const fn row(algorithm: &'static CStr, family: *const Family, lengths: [u16; 4]) -> Row {
    let [key, nonce, multiple, output] = lengths;
    Row { algorithm: algorithm.as_ptr(), family, param: null(), key, nonce, multiple, output }
}

/// Runs `call` n times; its answer says whether it worked. Input and output stay opaque to the optimiser.
#[inline(always)]
pub(crate) unsafe fn repeat(case: *mut Case, n: u64, mut call: impl FnMut(usize) -> bool) {
    let mut bad = 0;
    for turn in 0..n {
        bad += !black_box(call(turn as usize % RING)) as u64;
    }
    (*case).failures += bad;
}

macro_rules! family {
    ($holder:ident, $bound:ident, $open:expr, $kept:ty, [$($variant:expr),*]) => {
        struct $holder<T>(PhantomData<T>);
        impl<T: $bound> $holder<T> {
            const VARIANTS: &'static [Variant] = &[$($variant,)* END];
            const FAMILY: &'static Family =
                &Family { open: $open, close: close::<$kept>, variants: Self::VARIANTS.as_ptr() };
        }
    };
}

/// A hash in one call.
pub trait Hash {
    /// The library calls of one timed call, for readers.
    const CALLS: &'static CStr = c"";
    fn digest(data: &[u8], out: &mut [u8]);
}

unsafe extern "C" fn hash_open(case: *mut Case) -> c_int {
    (*case).out_len = tag(case);
    0
}

unsafe extern "C" fn hash_loop<T: Hash>(case: *mut Case, n: u64) {
    let (g, out) = (given(case), output(case, tag(case)));
    repeat(case, n, |_| {
        T::digest(black_box(g.data), out);
        black_box(out.as_ptr());
        true
    });
}

family!(OfHash, Hash, hash_open, (), [variant(c"digest", c"oneshot/1", T::CALLS, hash_loop::<T>)]);

/// A row for a hash with `length` bytes of output.
pub const fn hash<T: Hash>(algorithm: &'static CStr, length: u16) -> Row {
    row(algorithm, OfHash::<T>::FAMILY, [0, 0, 1, length])
}

/// A MAC under a key that is set beforehand.
pub trait Mac: Sized {
    /// The library calls of one timed call, for readers.
    const CALLS: &'static CStr = c"";
    fn new(key: &[u8]) -> Option<Self>;
    fn mac(&self, data: &[u8], out: &mut [u8]);
}

unsafe extern "C" fn mac_open<T: Mac>(case: *mut Case) -> c_int {
    (*case).out_len = tag(case);
    keep(case, T::new(given(case).key[0]))
}

unsafe extern "C" fn mac_message<T: Mac>(case: *mut Case, n: u64) {
    let (g, out, state) = (given(case), output(case, tag(case)), state::<T>(case));
    repeat(case, n, |_| {
        state.mac(black_box(g.data), out);
        black_box(out.as_ptr());
        true
    });
}

unsafe extern "C" fn mac_rekey<T: Mac>(case: *mut Case, n: u64) {
    let (g, out) = (given(case), output(case, tag(case)));
    repeat(case, n, |turn| {
        let set = T::new(black_box(g.key[turn]));
        let done = set.map(|state| state.mac(black_box(g.data), out)).is_some();
        black_box(out.as_ptr());
        done
    });
}

family!(OfMac, Mac, mac_open::<T>, T, [
    variant(c"mac", c"message/1", T::CALLS, mac_message::<T>),
    variant(c"mac", c"rekey/1", T::CALLS, mac_rekey::<T>)
]);

/// A row for a MAC with the lengths of key and tag.
pub const fn mac<T: Mac>(algorithm: &'static CStr, key: u16, length: u16) -> Row {
    row(algorithm, OfMac::<T>::FAMILY, [key, 0, 1, length])
}

/// A cipher whose decryption is its encryption: stream ciphers and counter modes.
pub trait StreamCipher: Sized {
    /// The library calls of one timed call, for readers.
    const CALLS: &'static CStr = c"";
    type Key;
    fn set(key: &[u8]) -> Option<Self::Key>;
    fn apply(key: &Self::Key, nonce: &[u8], data: &[u8], out: &mut [u8]) -> bool;
}

unsafe extern "C" fn stream_open<T: StreamCipher>(case: *mut Case) -> c_int {
    keep(case, T::set(given(case).key[0]))
}

unsafe extern "C" fn stream_message<T: StreamCipher>(case: *mut Case, n: u64) {
    let (g, out, key) = (given(case), output(case, (*case).size), state::<T::Key>(case));
    repeat(case, n, |turn| {
        let done = T::apply(key, black_box(g.nonce[turn]), black_box(g.data), out);
        black_box(out.as_ptr());
        done
    });
}

unsafe extern "C" fn stream_rekey<T: StreamCipher>(case: *mut Case, n: u64) {
    let (g, out) = (given(case), output(case, (*case).size));
    repeat(case, n, |turn| {
        let set = T::set(black_box(g.key[turn]));
        let done = set.is_some_and(|key| T::apply(&key, g.nonce[turn], black_box(g.data), out));
        black_box(out.as_ptr());
        done
    });
}

family!(OfStream, StreamCipher, stream_open::<T>, T::Key, [
    variant(c"encrypt", c"message/1", T::CALLS, stream_message::<T>),
    variant(c"decrypt", c"message/1", T::CALLS, stream_message::<T>),
    variant(c"encrypt", c"rekey/1", T::CALLS, stream_rekey::<T>),
    variant(c"decrypt", c"rekey/1", T::CALLS, stream_rekey::<T>)
]);

/// A row for a stream cipher with the lengths of key and nonce.
pub const fn stream_cipher<T: StreamCipher>(algorithm: &'static CStr, key: u16, nonce: u16) -> Row {
    row(algorithm, OfStream::<T>::FAMILY, [key, nonce, 1, 0])
}

/// An AEAD. `seal` writes the ciphertext and the tag behind it; `open` gets both, and says whether the tag is right.
pub trait Aead: Sized {
    /// The library calls of one timed call, for readers.
    const CALLS: &'static CStr = c"";
    fn new(key: &[u8]) -> Option<Self>;
    fn seal(&self, nonce: &[u8], aad: &[u8], data: &[u8], out: &mut [u8]) -> bool;
    fn open(&self, nonce: &[u8], aad: &[u8], sealed: &[u8], out: &mut [u8]) -> bool;
}

unsafe extern "C" fn aead_open<T: Aead>(case: *mut Case) -> c_int {
    let c = &mut *case;
    c.out_len = if c.inverse != 0 { c.size } else { c.size + tag(case) };
    keep(case, T::new(given(case).key[0]))
}

unsafe extern "C" fn seal_message<T: Aead>(case: *mut Case, n: u64) {
    let (g, out, state) = (given(case), output(case, (*case).size + tag(case)), state::<T>(case));
    repeat(case, n, |turn| {
        let done = state.seal(black_box(g.nonce[turn]), black_box(g.aad), black_box(g.data), out);
        black_box(out.as_ptr());
        done
    });
}

unsafe extern "C" fn seal_rekey<T: Aead>(case: *mut Case, n: u64) {
    let (g, out) = (given(case), output(case, (*case).size + tag(case)));
    repeat(case, n, |turn| {
        let set = T::new(black_box(g.key[turn]));
        let done = set.is_some_and(|state| state.seal(g.nonce[turn], g.aad, black_box(g.data), out));
        black_box(out.as_ptr());
        done
    });
}

// What is opened was sealed with key 0 and nonce 0, so both are in force in every call.
unsafe extern "C" fn open_message<T: Aead>(case: *mut Case, n: u64) {
    let (g, out, state) = (given(case), output(case, (*case).size), state::<T>(case));
    repeat(case, n, |_| {
        let done = state.open(black_box(g.nonce[0]), black_box(g.aad), black_box(g.data), out);
        black_box(out.as_ptr());
        done
    });
}

unsafe extern "C" fn open_rekey<T: Aead>(case: *mut Case, n: u64) {
    let (g, out) = (given(case), output(case, (*case).size));
    repeat(case, n, |_| {
        let set = T::new(black_box(g.key[0]));
        let done = set.is_some_and(|state| state.open(g.nonce[0], g.aad, black_box(g.data), out));
        black_box(out.as_ptr());
        done
    });
}

family!(OfAead, Aead, aead_open::<T>, T, [
    variant(c"seal", c"message/1", T::CALLS, seal_message::<T>),
    variant(c"seal", c"rekey/1", T::CALLS, seal_rekey::<T>),
    variant(c"open", c"message/1", T::CALLS, open_message::<T>),
    variant(c"open", c"rekey/1", T::CALLS, open_rekey::<T>)
]);

/// A row for an AEAD with the lengths of key, nonce and tag.
pub const fn aead<T: Aead>(algorithm: &'static CStr, key: u16, nonce: u16, tag: u16) -> Row {
    row(algorithm, OfAead::<T>::FAMILY, [key, nonce, 1, tag])
}

/// A chain of dependent multiplications, by which the gauge is checked from here: three cycles a step.
struct Chain;

unsafe extern "C" fn chain_open(case: *mut Case) -> c_int {
    (*case).out_len = 8;
    keep(case, Some(0x9e3779b97f4a7c15u64))
}

unsafe extern "C" fn chain_begin(case: *mut Case) {
    *state::<u64>(case) = 0x9e3779b97f4a7c15;
}

unsafe extern "C" fn chain_loop(case: *mut Case, n: u64) {
    let (mut x, size) = (*state::<u64>(case), (*case).size);
    let factor = black_box(0xbf58476d1ce4e5b9u64);
    for _ in 0..n {
        for _ in 0..size {
            // asm! cannot be reordered or folded; the compiler would take several steps at once
            #[cfg(target_arch = "x86_64")]
            core::arch::asm!("imul {x}, {k}", x = inout(reg) x, k = in(reg) factor, options(nomem, nostack));
            #[cfg(target_arch = "aarch64")]
            core::arch::asm!("mul {x}, {x}, {k}", x = inout(reg) x, k = in(reg) factor, options(nomem, nostack));
        }
    }
    *state::<u64>(case) = x;
}

unsafe extern "C" fn chain_show(case: *mut Case) {
    output(case, 8).copy_from_slice(&state::<u64>(case).to_le_bytes());
}

impl Chain {
    const VARIANTS: &'static [Variant] = &[
        Variant {
            begin: Some(chain_begin),
            show: Some(chain_show),
            ..variant(c"run", c"stream/1", c"imul", chain_loop)
        },
        END,
    ];
    const FAMILY: &'static Family =
        &Family { open: chain_open, close: close::<u64>, variants: Self::VARIANTS.as_ptr() };
}

/// The row of the chain; every runner in Rust should have it.
pub const fn probe_imul() -> Row {
    row(c"probe-imul", Chain::FAMILY, [0, 0, 1, 8])
}

/// The loop of all rows around a call that does nothing.
struct Empty;

unsafe extern "C" fn empty_open(case: *mut Case) -> c_int {
    (*case).out_len = 0;
    keep(case, Some(()))
}

unsafe extern "C" fn empty_loop(case: *mut Case, n: u64) {
    repeat(case, n, |_| true);
}

impl Empty {
    const VARIANTS: &'static [Variant] = &[variant(c"run", c"stream/1", c"nothing", empty_loop), END];
    const FAMILY: &'static Family =
        &Family { open: empty_open, close: close::<()>, variants: Self::VARIANTS.as_ptr() };
}

/// The row of the empty call, which costs nothing.
pub const fn probe_empty() -> Row {
    row(c"probe-empty", Empty::FAMILY, [0, 0, 1, 0])
}
