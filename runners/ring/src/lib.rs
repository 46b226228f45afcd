//! ring, each function as a user of the crate calls it.

use perbyte_runner::*;
use ring as library;
use ring::aead;
use std::ffi::CStr;

mod digests_and_signatures;
use digests_and_signatures::*;


/// An AEAD by its number in `AEADS`.
struct AeadOf<const WHICH: usize>(aead::LessSafeKey);
static AEADS: [&aead::Algorithm; 3] = [&aead::AES_128_GCM, &aead::AES_256_GCM, &aead::CHACHA20_POLY1305];

impl<const WHICH: usize> Aead for AeadOf<WHICH> {
    const CALLS: &'static CStr =
        c"copy, LessSafeKey::seal_in_place_separate_tag; copy, open_in_place_separate_tag (ring works in place)";
    fn new(key: &[u8]) -> Option<Self> {
        aead::UnboundKey::new(AEADS[WHICH], key).ok().map(|key| AeadOf(aead::LessSafeKey::new(key)))
    }
    fn seal(&self, nonce: &[u8], aad: &[u8], data: &[u8], out: &mut [u8]) -> bool {
        let (body, tag) = out.split_at_mut(data.len());
        let Ok(nonce) = aead::Nonce::try_assume_unique_for_key(nonce) else { return false };
        body.copy_from_slice(data);
        let made = self.0.seal_in_place_separate_tag(nonce, aead::Aad::from(aad), body);
        made.map(|made| tag.copy_from_slice(made.as_ref())).is_ok()
    }
    fn open(&self, nonce: &[u8], aad: &[u8], sealed: &[u8], out: &mut [u8]) -> bool {
        let (body, tag) = sealed.split_at(out.len());
        let Ok(nonce) = aead::Nonce::try_assume_unique_for_key(nonce) else { return false };
        let Ok(tag) = aead::Tag::try_from(tag) else { return false };
        out.copy_from_slice(body);
        self.0.open_in_place_separate_tag(nonce, aead::Aad::from(aad), tag, out, 0..).is_ok()
    }
}

runner! {
    library: c"ring", license: c"Apache-2.0 AND ISC", version: c"0.17.14",
    rows: [
        probe_empty(),
        probe_imul(),
        hash::<Sha1>(c"sha-1", 20),
        hash::<Sha256>(c"sha-256", 32),
        hash::<Sha384>(c"sha-384", 48),
        hash::<Sha512>(c"sha-512", 64),
        mac::<Hmac<0>>(c"hmac-sha-1", 20, 20),
        mac::<Hmac<1>>(c"hmac-sha-256", 32, 32),
        mac::<Hmac<2>>(c"hmac-sha-384", 48, 48),
        mac::<Hmac<3>>(c"hmac-sha-512", 64, 64),
        aead::<AeadOf<0>>(c"aes-128-gcm", 16, 12, 16),
        aead::<AeadOf<1>>(c"aes-256-gcm", 32, 12, 16),
        aead::<AeadOf<2>>(c"chacha20-poly1305", 32, 12, 16),
        signature::<Ed25519>(c"ed25519", 32, 64),
    ]
}
