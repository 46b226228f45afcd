//! What ring and aws-lc-rs do by the same calls: aws-lc-rs keeps ring's interface. `crate::library` is either of them.

use crate::library::{hmac, signature};
use perbyte_runner::{Hash, Mac, Signature};
use std::ffi::CStr;

macro_rules! hashes {
    ($($name:ident $algorithm:ident)*) => {$(
        pub struct $name;
        impl Hash for $name {
            const CALLS: &'static CStr = c"digest::digest";
            fn digest(data: &[u8], out: &mut [u8]) {
                out.copy_from_slice(crate::library::digest::digest(&crate::library::digest::$algorithm, data).as_ref());
            }
        }
    )*};
}
#[allow(unused_imports)] // aws-lc-rs has more of them
pub(crate) use hashes;

hashes!(Sha1 SHA1_FOR_LEGACY_USE_ONLY  Sha256 SHA256  Sha384 SHA384  Sha512 SHA512);

/// The MAC by its number in `HMACS`.
pub struct Hmac<const WHICH: usize>(hmac::Key);
const HMACS: [hmac::Algorithm; 4] =
    [hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, hmac::HMAC_SHA256, hmac::HMAC_SHA384, hmac::HMAC_SHA512];

impl<const WHICH: usize> Mac for Hmac<WHICH> {
    const CALLS: &'static CStr = c"hmac::Key::new (rekey), hmac::sign";
    fn new(key: &[u8]) -> Option<Self> {
        Some(Hmac(hmac::Key::new(HMACS[WHICH], key)))
    }
    fn mac(&self, data: &[u8], out: &mut [u8]) {
        out.copy_from_slice(hmac::sign(&self.0, data).as_ref());
    }
}

pub struct Ed25519(signature::Ed25519KeyPair, Vec<u8>);

impl Signature for Ed25519 {
    const CALLS: &'static CStr = c"Ed25519KeyPair::sign, UnparsedPublicKey::verify";
    fn new(seed: &[u8]) -> Option<Self> {
        use signature::KeyPair;
        let pair = signature::Ed25519KeyPair::from_seed_unchecked(seed).ok()?;
        let public = pair.public_key().as_ref().to_vec();
        Some(Ed25519(pair, public))
    }
    fn sign(&self, message: &[u8], out: &mut [u8]) -> bool {
        out.copy_from_slice(self.0.sign(message).as_ref());
        true
    }
    fn verify(&self, message: &[u8], given: &[u8]) -> bool {
        signature::UnparsedPublicKey::new(&signature::ED25519, &self.1).verify(message, given).is_ok()
    }
}

