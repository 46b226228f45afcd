//! graviola, each function as a user of the crate calls it.

use graviola::key_agreement::mlkem768::{Ciphertext, DecapKey, EncapKey};
use graviola::key_agreement::{p256, x25519};
use graviola::{aead as aeads, hashing, signing::eddsa};
use perbyte_runner::*;
use std::ffi::CStr;

struct Of<T>(core::marker::PhantomData<T>);

impl<H: hashing::Hash> Hash for Of<H> {
    const CALLS: &'static CStr = c"Hash::hash";
    fn digest(data: &[u8], out: &mut [u8]) {
        out.copy_from_slice(H::hash(data).as_ref());
    }
}

macro_rules! sha3 {
    ($name:ident $context:ident) => {
        struct $name;
        impl Hash for $name {
            const CALLS: &'static CStr = c"new, update, finish";
            fn digest(data: &[u8], out: &mut [u8]) {
                let mut state = hashing::sha3::$context::new();
                state.update(data);
                out.copy_from_slice(&state.finish());
            }
        }
    };
}
sha3!(Sha3Part256 Sha3_256Context);
sha3!(Sha3Part512 Sha3_512Context);

struct HmacOf<H: hashing::Hash>(hashing::hmac::Hmac<H>);

impl<H: hashing::Hash> Mac for HmacOf<H>
where
    hashing::hmac::Hmac<H>: Clone,
{
    const CALLS: &'static CStr = c"Hmac::new (rekey), clone, update, finish";
    fn new(key: &[u8]) -> Option<Self> {
        Some(HmacOf(hashing::hmac::Hmac::new(key)))
    }
    fn mac(&self, data: &[u8], out: &mut [u8]) {
        let mut state = self.0.clone();
        state.update(data);
        out.copy_from_slice(state.finish().as_ref());
    }
}

macro_rules! aeads {
    ($name:ident $type:ident $nonce:literal $key:expr) => {
        struct $name(aeads::$type);
        impl Aead for $name {
            const CALLS: &'static CStr = c"copy, encrypt; copy, decrypt (graviola works in place)";
            fn new(key: &[u8]) -> Option<Self> {
                let fit: fn(&[u8]) -> Option<aeads::$type> = $key;
                fit(key).map($name)
            }
            fn seal(&self, nonce: &[u8], aad: &[u8], data: &[u8], out: &mut [u8]) -> bool {
                let (body, tag) = out.split_at_mut(data.len());
                let Ok(nonce) = <&[u8; $nonce]>::try_from(nonce) else { return false };
                let Ok(tag) = tag.try_into() else { return false };
                body.copy_from_slice(data);
                self.0.encrypt(nonce, aad, body, tag);
                true
            }
            fn open(&self, nonce: &[u8], aad: &[u8], sealed: &[u8], out: &mut [u8]) -> bool {
                let (body, tag) = sealed.split_at(out.len());
                let Ok(nonce) = <&[u8; $nonce]>::try_from(nonce) else { return false };
                out.copy_from_slice(body);
                self.0.decrypt(nonce, aad, out, tag).is_ok()
            }
        }
    };
}
aeads!(Gcm AesGcm 12 |key| Some(aeads::AesGcm::new(key)));
aeads!(ChaCha ChaCha20Poly1305 12 |key| key.try_into().ok().map(aeads::ChaCha20Poly1305::new));
aeads!(XChaCha XChaCha20Poly1305 24 |key| key.try_into().ok().map(aeads::XChaCha20Poly1305::new));

struct Ed25519(eddsa::Ed25519SigningKey, eddsa::Ed25519VerifyingKey);

impl Signature for Ed25519 {
    const CALLS: &'static CStr = c"Ed25519SigningKey::sign, Ed25519VerifyingKey::verify";
    fn new(seed: &[u8]) -> Option<Self> {
        let own = eddsa::Ed25519SigningKey::from_bytes(seed).ok()?;
        let public = own.public_key();
        Some(Ed25519(own, public))
    }
    fn sign(&self, message: &[u8], out: &mut [u8]) -> bool {
        out.copy_from_slice(&self.0.sign(message));
        true
    }
    fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        self.1.verify(signature, message).is_ok()
    }
}

struct X25519;

impl Agreement for X25519 {
    const CALLS: &'static CStr = c"StaticPrivateKey::diffie_hellman";
    type Private = x25519::StaticPrivateKey;
    type Public = x25519::PublicKey;
    fn private(key: &[u8]) -> Option<Self::Private> {
        x25519::StaticPrivateKey::try_from_slice(key).ok()
    }
    fn public_of(key: &[u8]) -> Option<Self::Public> {
        Self::private(key).map(|own| own.public_key())
    }
    fn public(bytes: &[u8]) -> Option<Self::Public> {
        x25519::PublicKey::try_from_slice(bytes).ok()
    }
    fn derive(private: &Self::Private, public: &Self::Public, out: &mut [u8]) -> bool {
        private.diffie_hellman(public).map(|secret| out.copy_from_slice(&secret.0)).is_ok()
    }
}

struct P256;

impl Agreement for P256 {
    const CALLS: &'static CStr = c"StaticPrivateKey::diffie_hellman";
    type Private = p256::StaticPrivateKey;
    type Public = p256::PublicKey;
    fn private(key: &[u8]) -> Option<Self::Private> {
        p256::StaticPrivateKey::from_bytes(key).ok()
    }
    fn public_of(key: &[u8]) -> Option<Self::Public> {
        Self::public(&Self::private(key)?.public_key_uncompressed())
    }
    fn public(bytes: &[u8]) -> Option<Self::Public> {
        p256::PublicKey::from_x962_uncompressed(bytes).ok()
    }
    fn derive(private: &Self::Private, public: &Self::Public, out: &mut [u8]) -> bool {
        private.diffie_hellman(public).map(|secret| out.copy_from_slice(&secret.0)).is_ok()
    }
}

struct MlKem768(DecapKey, EncapKey);

impl Kem for MlKem768 {
    const CALLS: &'static CStr =
        c"EncapKey::clone, encaps (operating system's random numbers); Ciphertext::from, DecapKey::decaps_internal (decaps, which takes the key, is that)";
    const CIPHERTEXT: usize = 1088;
    fn new(seed: &[u8]) -> Option<Self> {
        let own = DecapKey::keygen_internal(seed.try_into().ok()?);
        let public = own.encapsulation_key();
        Some(MlKem768(own, public))
    }
    fn encapsulate(&self, ciphertext: &mut [u8], secret: &mut [u8]) -> bool {
        let Ok((key, sent)) = self.1.clone().encaps() else { return false };
        ciphertext.copy_from_slice(sent.as_ref());
        secret.copy_from_slice(key.as_ref());
        true
    }
    fn decapsulate(&self, ciphertext: &[u8], secret: &mut [u8]) -> bool {
        let Ok(sent) = <[u8; 1088]>::try_from(ciphertext) else { return false };
        secret.copy_from_slice(self.0.decaps_internal(&Ciphertext::from(sent)).as_ref());
        true
    }
}

runner! {
    library: c"graviola", license: c"Apache-2.0 OR ISC OR MIT-0", version: c"0.4.4",
    rows: [
        probe_empty(),
        probe_imul(),
        hash::<Of<hashing::Sha256>>(c"sha-256", 32),
        hash::<Of<hashing::Sha384>>(c"sha-384", 48),
        hash::<Of<hashing::Sha512>>(c"sha-512", 64),
        hash::<Sha3Part256>(c"sha3-256", 32),
        hash::<Sha3Part512>(c"sha3-512", 64),
        mac::<HmacOf<hashing::Sha256>>(c"hmac-sha-256", 32, 32),
        mac::<HmacOf<hashing::Sha512>>(c"hmac-sha-512", 64, 64),
        aead::<Gcm>(c"aes-128-gcm", 16, 12, 16),
        aead::<Gcm>(c"aes-256-gcm", 32, 12, 16),
        aead::<ChaCha>(c"chacha20-poly1305", 32, 12, 16),
        aead::<XChaCha>(c"xchacha20-poly1305", 32, 24, 16),
        signature::<Ed25519>(c"ed25519", 32, 64),
        agreement::<X25519>(c"x25519", 32, 32),
        agreement::<P256>(c"ecdh-p256", 32, 32),
        kem::<MlKem768>(c"ml-kem-768", 64, 32),
    ]
}
