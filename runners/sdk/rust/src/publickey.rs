//! Families of public-key operations: signatures, alone and many at once, key agreement, KEMs.

use core::ffi::{c_int, CStr};
use core::hint::black_box;
use core::marker::PhantomData;

use crate::families::{close, given, keep, output, repeat, row, slice, state, tag, variant, END};
use crate::layout::{Case, Family, Row, Variant, RING};

/// Signatures over messages, of fixed length; the key is the seed of the key pair.
pub trait Signature: Sized {
    /// The library calls of one timed call, for readers.
    const CALLS: &'static CStr = c"";
    fn new(key: &[u8]) -> Option<Self>;
    fn sign(&self, message: &[u8], out: &mut [u8]) -> bool;
    fn verify(&self, message: &[u8], signature: &[u8]) -> bool;
}

unsafe extern "C" fn signature_open<T: Signature>(case: *mut Case) -> c_int {
    (*case).out_len = if (*case).inverse != 0 { 0 } else { tag(case) };
    keep(case, T::new(given(case).key[0]))
}

unsafe extern "C" fn sign_loop<T: Signature>(case: *mut Case, n: u64) {
    let (out, state, size) = (output(case, tag(case)), state::<T>(case), (*case).size);
    let messages = (*case).message;
    repeat(case, n, |turn| {
        let done = state.sign(black_box(slice(messages[turn], size)), out);
        black_box(out.as_ptr());
        done
    });
}

unsafe extern "C" fn verify_loop<T: Signature>(case: *mut Case, n: u64) {
    let (g, state) = (given(case), state::<T>(case));
    let (message, signature) = g.data.split_at((*case).size);
    repeat(case, n, |_| state.verify(black_box(message), black_box(signature)));
}

family!(OfSignature, Signature, signature_open::<T>, T, [
    variant(c"sign", c"pk/1", T::CALLS, sign_loop::<T>),
    variant(c"verify", c"pk/1", T::CALLS, verify_loop::<T>)
]);

/// A row for signatures with the lengths of key and signature.
pub const fn signature<T: Signature>(algorithm: &'static CStr, key: u16, length: u16) -> Row {
    row(algorithm, OfSignature::<T>::FAMILY, [key, 0, 1, length])
}

/// Signatures that can be verified sixteen at once, each of its own message under its own key.
pub trait Batch: Signature {
    /// The library calls of one batch, for readers.
    const ALL_CALLS: &'static CStr = c"";
    type Public;
    fn public(&self) -> Self::Public;
    fn verify_all(messages: &[&[u8]], signatures: &[&[u8]], keys: &[Self::Public]) -> bool;
}

/// Fifteen genuine ones, and at `place` the case's own, which the checks change: at another place in each batch.
struct Many<T: Batch> {
    place: usize,
    signed: Vec<(Vec<u8>, Vec<u8>)>,
    keys: Vec<T::Public>,
}

unsafe extern "C" fn many_open<T: Batch>(case: *mut Case) -> c_int {
    let (g, size, length) = (given(case), (*case).size, tag(case));
    (*case).out_len = if (*case).inverse != 0 { 0 } else { length };
    (*case).turns = RING as _;
    let mut many = Many::<T> { place: 0, signed: Vec::new(), keys: Vec::new() };
    for (i, key) in g.key.iter().enumerate() {
        let (mut message, mut signature) = (g.data[..size].to_vec(), vec![0; length]);
        message.iter_mut().take(1).for_each(|byte| *byte ^= i as u8);
        let Some(pair) = T::new(key).filter(|pair| pair.sign(&message, &mut signature)) else {
            return keep::<()>(case, None);
        };
        many.signed.push((message, signature));
        many.keys.push(pair.public());
    }
    keep(case, Some(many))
}

unsafe extern "C" fn many_loop<T: Batch>(case: *mut Case, n: u64) {
    let (g, many) = (given(case), state::<Many<T>>(case));
    let own = g.data.split_at((*case).size);
    let mut left = n;
    while left > 0 {
        let mut messages: [&[u8]; RING] = core::array::from_fn(|i| &many.signed[i].0[..]);
        let mut signatures: [&[u8]; RING] = core::array::from_fn(|i| &many.signed[i].1[..]);
        (messages[many.place], signatures[many.place]) = own;
        let done = T::verify_all(black_box(&messages), black_box(&signatures), black_box(&many.keys));
        let (before, now) = (many.place, left.min(RING as u64));
        (*case).failures += if done { 0 } else { now };
        left -= now;
        many.place = (before + 1) % RING;
        many.signed.swap(before, many.place);
        many.keys.swap(before, many.place);
    }
}

unsafe extern "C" fn sign_once<T: Batch>(case: *mut Case, n: u64) {
    let (g, out) = (given(case), output(case, tag(case)));
    repeat(case, n, |_| T::new(g.key[0]).is_some_and(|pair| pair.sign(g.data, out)));
}

family!(OfMany, Batch, many_open::<T>, Many<T>, [
    variant(c"sign", c"untimed", c"", sign_once::<T>),
    variant(c"verify", c"many/1", T::ALL_CALLS, many_loop::<T>)
]);

/// A row for such signatures, beside that of single ones.
pub const fn batch<T: Batch>(algorithm: &'static CStr, key: u16, length: u16) -> Row {
    row(algorithm, OfMany::<T>::FAMILY, [key, 0, 1, length])
}

/// Key agreement: the public key of a private one, and the secret of two parties.
pub trait Agreement {
    /// The library calls of one timed call, for readers.
    const CALLS: &'static CStr = c"";
    type Private;
    type Public;
    fn private(key: &[u8]) -> Option<Self::Private>;
    fn public_of(key: &[u8]) -> Option<Self::Public>;
    fn public(bytes: &[u8]) -> Option<Self::Public>;
    fn derive(private: &Self::Private, public: &Self::Public, out: &mut [u8]) -> bool;
}

unsafe extern "C" fn agreement_open<T: Agreement>(case: *mut Case) -> c_int {
    let (g, c) = (given(case), &mut *case);
    c.out_len = tag(case);
    let peer = if c.given != 0 { T::public(g.data) } else { T::public_of(g.nonce[0]) };
    keep(case, T::private(g.key[0]).zip(peer))
}

unsafe extern "C" fn derive_loop<T: Agreement>(case: *mut Case, n: u64) {
    let (out, pair) = (output(case, tag(case)), state::<(T::Private, T::Public)>(case));
    repeat(case, n, |_| {
        let done = T::derive(black_box(&pair.0), black_box(&pair.1), out);
        black_box(out.as_ptr());
        done
    });
}

family!(OfAgreement, Agreement, agreement_open::<T>, (T::Private, T::Public), [
    variant(c"derive", c"pk/1", T::CALLS, derive_loop::<T>)
]);

/// A row for a key agreement with the lengths of the private key and of the secret.
pub const fn agreement<T: Agreement>(algorithm: &'static CStr, key: u16, secret: u16) -> Row {
    row(algorithm, OfAgreement::<T>::FAMILY, [key, key, 1, secret])
}

/// A KEM; the key is the seed of the key pair.
pub trait Kem: Sized {
    /// The library calls of one timed call, for readers.
    const CALLS: &'static CStr = c"";
    fn new(seed: &[u8]) -> Option<Self>;
    fn encapsulate(&self, ciphertext: &mut [u8], secret: &mut [u8]) -> bool;
    fn decapsulate(&self, ciphertext: &[u8], secret: &mut [u8]) -> bool;
    const CIPHERTEXT: usize;
}

unsafe extern "C" fn kem_open<T: Kem>(case: *mut Case) -> c_int {
    let front = if (*case).inverse != 0 { 0 } else { T::CIPHERTEXT };
    (*case).out_len = front + tag(case);
    keep(case, T::new(given(case).key[0]))
}

unsafe extern "C" fn encapsulate_loop<T: Kem>(case: *mut Case, n: u64) {
    let (out, state) = (output(case, T::CIPHERTEXT + tag(case)), state::<T>(case));
    let (ciphertext, secret) = out.split_at_mut(T::CIPHERTEXT);
    repeat(case, n, |_| {
        let done = black_box(&*state).encapsulate(ciphertext, secret);
        black_box(secret.as_ptr());
        done
    });
}

unsafe extern "C" fn decapsulate_loop<T: Kem>(case: *mut Case, n: u64) {
    let (g, out, state) = (given(case), output(case, tag(case)), state::<T>(case));
    let ciphertext = &g.data[..T::CIPHERTEXT];
    repeat(case, n, |_| {
        let done = black_box(&*state).decapsulate(black_box(ciphertext), out);
        black_box(out.as_ptr());
        done
    });
}

family!(OfKem, Kem, kem_open::<T>, T, [
    variant(c"encapsulate", c"pk/1", T::CALLS, encapsulate_loop::<T>),
    variant(c"decapsulate", c"pk/1", T::CALLS, decapsulate_loop::<T>)
]);

/// A row for a KEM with the lengths of seed and secret.
pub const fn kem<T: Kem>(algorithm: &'static CStr, seed: u16, secret: u16) -> Row {
    row(algorithm, OfKem::<T>::FAMILY, [seed, 0, 1, secret])
}
