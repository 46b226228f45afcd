// C's functions of an implementation in SUPERCOP's layout that is a Rust crate, `theirs`: SUPERCOP calls those through
// functions that take slices and arrays. Each operation is a feature; the lengths of its api.h are constants beside.
use std::borrow::Cow;
use std::slice::{from_raw_parts, from_raw_parts_mut};

unsafe fn given<'a>(at: *const u8, bytes: u64) -> &'a [u8] {
    if bytes == 0 { &[] } else { unsafe { from_raw_parts(at, bytes as usize) } }
}

unsafe fn room<'a>(at: *mut u8, bytes: u64) -> &'a mut [u8] {
    if bytes == 0 { &mut [] } else { unsafe { from_raw_parts_mut(at, bytes as usize) } }
}

/// What is read may lie where is written.
unsafe fn apart<'a>(at: *const u8, bytes: u64, out: *const u8, written: u64) -> Cow<'a, [u8]> {
    let (a, b) = (at as u64, out as u64);
    let read = unsafe { given(at, bytes) };
    if a < b + written && b < a + bytes { Cow::Owned(read.to_vec()) } else { Cow::Borrowed(read) }
}

#[cfg(feature = "hash")]
#[no_mangle]
pub unsafe extern "C" fn crypto_hash(out: *mut u8, m: *const u8, bytes: u64) -> i32 {
    unsafe { theirs::crypto_hash(&mut *(out as *mut [u8; BYTES]), &apart(m, bytes, out, BYTES as u64)) };
    0
}

#[cfg(feature = "stream")]
#[no_mangle]
pub unsafe extern "C" fn crypto_stream(c: *mut u8, bytes: u64, n: *const u8, k: *const u8) -> i32 {
    unsafe {
        theirs::crypto_stream(room(c, bytes), &*(n as *const [u8; NONCEBYTES]), &*(k as *const [u8; KEYBYTES]))
    };
    0
}

#[cfg(feature = "stream")]
#[no_mangle]
pub unsafe extern "C" fn crypto_stream_xor(
    c: *mut u8, m: *const u8, bytes: u64, n: *const u8, k: *const u8,
) -> i32 {
    unsafe {
        let m = apart(m, bytes, c, bytes);
        let (n, k) = (&*(n as *const [u8; NONCEBYTES]), &*(k as *const [u8; KEYBYTES]));
        theirs::crypto_stream_xor(room(c, bytes), &m, n, k)
    };
    0
}

#[cfg(feature = "scalarmult")]
#[no_mangle]
pub unsafe extern "C" fn crypto_scalarmult(q: *mut u8, n: *const u8, p: *const u8) -> i32 {
    unsafe {
        let (n, p) = (*(n as *const [u8; SCALARBYTES]), *(p as *const [u8; BYTES]));
        theirs::crypto_scalarmult(&mut *(q as *mut [u8; BYTES]), &n, &p)
    };
    0
}

#[cfg(feature = "scalarmult")]
#[no_mangle]
pub unsafe extern "C" fn crypto_scalarmult_base(q: *mut u8, n: *const u8) -> i32 {
    unsafe {
        let n = *(n as *const [u8; SCALARBYTES]);
        theirs::crypto_scalarmult_base(&mut *(q as *mut [u8; BYTES]), &n)
    };
    0
}

#[cfg(feature = "aead")]
#[no_mangle]
pub unsafe extern "C" fn crypto_aead_encrypt(
    c: *mut u8, clen: *mut u64, m: *const u8, mlen: u64, ad: *const u8, adlen: u64, _: *const u8,
    npub: *const u8, k: *const u8,
) -> i32 {
    unsafe {
        let bytes = mlen + ABYTES as u64;
        let (m, ad) = (apart(m, mlen, c, bytes), apart(ad, adlen, c, bytes));
        let (npub, k) = (*(npub as *const [u8; NPUBBYTES]), *(k as *const [u8; KEYBYTES]));
        *clen = theirs::crypto_aead_encrypt(room(c, bytes), &m, &ad, &[0u8; NSECBYTES], &npub, &k) as u64
    };
    0
}

#[cfg(feature = "aead")]
#[no_mangle]
pub unsafe extern "C" fn crypto_aead_decrypt(
    m: *mut u8, mlen: *mut u64, _: *mut u8, c: *const u8, clen: u64, ad: *const u8, adlen: u64,
    npub: *const u8, k: *const u8,
) -> i32 {
    unsafe {
        if clen < ABYTES as u64 {
            return -1;
        }
        let bytes = clen - ABYTES as u64;
        let (c, ad) = (apart(c, clen, m, bytes), apart(ad, adlen, m, bytes));
        let (npub, k) = (*(npub as *const [u8; NPUBBYTES]), *(k as *const [u8; KEYBYTES]));
        let (got, answer) =
            theirs::crypto_aead_decrypt(room(m, bytes), &mut [0u8; NSECBYTES], &c, &ad, &npub, &k);
        *mlen = got as u64;
        answer as i32
    }
}
