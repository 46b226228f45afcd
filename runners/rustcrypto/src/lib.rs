//! RustCrypto's crates and those of the dalek family, each function as a user of the crate calls it.

use aead::inout::InOutBuf;
use aead::AeadInOut;
use core::marker::PhantomData;
use digest::{Digest, KeyInit};
use ed25519_dalek::{verify_batch, Signer, SigningKey, Verifier, VerifyingKey};
use ml_kem::{Decapsulate, Encapsulate, FromSeed};
use perbyte_runner::*;
use std::ffi::CStr;

/// `D::digest`: begin, data, finish.
struct Of<T>(PhantomData<T>);

impl<D: Digest> Hash for Of<D> {
    const CALLS: &'static CStr = c"Digest::digest";
    fn digest(data: &[u8], out: &mut [u8]) {
        out.copy_from_slice(&D::digest(data));
    }
}

struct HmacOf<D>(D);

impl<D: digest::Mac + KeyInit + Clone> Mac for HmacOf<D> {
    const CALLS: &'static CStr = c"Mac::new_from_slice (rekey), clone, update, finalize";
    fn new(key: &[u8]) -> Option<Self> {
        <D as KeyInit>::new_from_slice(key).ok().map(HmacOf)
    }
    fn mac(&self, data: &[u8], out: &mut [u8]) {
        let mut state = self.0.clone();
        state.update(data);
        out.copy_from_slice(&state.finalize().into_bytes());
    }
}

struct AeadOf<A>(A);

impl<A: AeadInOut + aead::KeyInit> Aead for AeadOf<A> {
    const CALLS: &'static CStr = c"AeadInOut::encrypt_inout_detached, decrypt_inout_detached";
    fn new(key: &[u8]) -> Option<Self> {
        A::new_from_slice(key).ok().map(AeadOf)
    }
    fn seal(&self, nonce: &[u8], aad: &[u8], data: &[u8], out: &mut [u8]) -> bool {
        let (body, tag) = out.split_at_mut(data.len());
        let Ok(nonce) = nonce.try_into() else { return false };
        let Ok(buffer) = InOutBuf::new(data, body) else { return false };
        match self.0.encrypt_inout_detached(nonce, aad, buffer) {
            Ok(made) => {
                tag.copy_from_slice(&made);
                true
            }
            Err(_) => false,
        }
    }
    fn open(&self, nonce: &[u8], aad: &[u8], sealed: &[u8], out: &mut [u8]) -> bool {
        let (body, tag) = sealed.split_at(out.len());
        let Ok(nonce) = nonce.try_into() else { return false };
        let Ok(tag) = tag.try_into() else { return false };
        let Ok(buffer) = InOutBuf::new(body, out) else { return false };
        self.0.decrypt_inout_detached(nonce, aad, buffer, tag).is_ok()
    }
}

struct Ed25519(SigningKey);

impl Signature for Ed25519 {
    const CALLS: &'static CStr = c"SigningKey::sign, VerifyingKey::verify";
    fn new(key: &[u8]) -> Option<Self> {
        key.try_into().ok().map(|seed| Ed25519(SigningKey::from_bytes(seed)))
    }
    fn sign(&self, message: &[u8], out: &mut [u8]) -> bool {
        out.copy_from_slice(&self.0.sign(message).to_bytes());
        true
    }
    fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        let Ok(signature) = ed25519_dalek::Signature::from_slice(signature) else { return false };
        self.0.verifying_key().verify(message, &signature).is_ok()
    }
}

impl Batch for Ed25519 {
    const ALL_CALLS: &'static CStr = c"16 times Signature::from_slice, verify_batch";
    type Public = VerifyingKey;
    fn public(&self) -> VerifyingKey {
        self.0.verifying_key()
    }
    fn verify_all(messages: &[&[u8]], signatures: &[&[u8]], keys: &[VerifyingKey]) -> bool {
        let read: Result<Vec<_>, _> = signatures.iter().map(|each| ed25519_dalek::Signature::from_slice(each)).collect();
        read.is_ok_and(|signatures| verify_batch(messages, &signatures, keys).is_ok())
    }
}

struct X25519;

impl Agreement for X25519 {
    const CALLS: &'static CStr = c"StaticSecret::diffie_hellman";
    type Private = x25519_dalek::StaticSecret;
    type Public = x25519_dalek::PublicKey;
    fn private(key: &[u8]) -> Option<Self::Private> {
        <[u8; 32]>::try_from(key).ok().map(Self::Private::from)
    }
    fn public_of(key: &[u8]) -> Option<Self::Public> {
        Self::private(key).map(|private| Self::Public::from(&private))
    }
    fn public(bytes: &[u8]) -> Option<Self::Public> {
        <[u8; 32]>::try_from(bytes).ok().map(Self::Public::from)
    }
    fn derive(private: &Self::Private, public: &Self::Public, out: &mut [u8]) -> bool {
        out.copy_from_slice(private.diffie_hellman(public).as_bytes());
        true
    }
}

struct MlKem<K: ml_kem::Kem>(ml_kem::kem::DecapsulationKey<K>, ml_kem::kem::EncapsulationKey<K>);

macro_rules! ml_kem {
    ($name:ident, $bytes:expr) => {
        impl Kem for MlKem<ml_kem::$name> {
            const CALLS: &'static CStr = c"Encapsulate::encapsulate (operating system's random numbers), Decapsulate::decapsulate";
            const CIPHERTEXT: usize = $bytes;
            fn new(seed: &[u8]) -> Option<Self> {
                let (own, public) = ml_kem::$name::from_seed(seed.try_into().ok()?);
                Some(MlKem(own, public))
            }
            fn encapsulate(&self, ciphertext: &mut [u8], secret: &mut [u8]) -> bool {
                let (sent, key) = self.1.encapsulate();
                ciphertext.copy_from_slice(&sent);
                secret.copy_from_slice(&key);
                true
            }
            fn decapsulate(&self, ciphertext: &[u8], secret: &mut [u8]) -> bool {
                self.0.decapsulate_slice(ciphertext).map(|key| secret.copy_from_slice(&key)).is_ok()
            }
        }
    };
}

ml_kem!(MlKem512, 768);
ml_kem!(MlKem768, 1088);
ml_kem!(MlKem1024, 1568);

type Hmac<D> = HmacOf<hmac::Hmac<D>>;

runner! {
    library: c"RustCrypto", license: c"Apache-2.0 OR MIT", version: c"aes-gcm 0.11.1, sha2 0.11.1, ml-kem 0.3.4",
    rows: [
        probe_empty(),
        probe_imul(),
        hash::<Of<sha1::Sha1>>(c"sha-1", 20),
        hash::<Of<sha2::Sha224>>(c"sha-224", 28),
        hash::<Of<sha2::Sha256>>(c"sha-256", 32),
        hash::<Of<sha2::Sha384>>(c"sha-384", 48),
        hash::<Of<sha2::Sha512>>(c"sha-512", 64),
        hash::<Of<sha3::Sha3_256>>(c"sha3-256", 32),
        hash::<Of<sha3::Sha3_512>>(c"sha3-512", 64),
        hash::<Of<blake2::Blake2b512>>(c"blake2b-512", 64),
        hash::<Of<blake2::Blake2s256>>(c"blake2s-256", 32),
        mac::<Hmac<sha1::Sha1>>(c"hmac-sha-1", 20, 20),
        mac::<Hmac<sha2::Sha256>>(c"hmac-sha-256", 32, 32),
        mac::<Hmac<sha2::Sha512>>(c"hmac-sha-512", 64, 64),
        aead::<AeadOf<aes_gcm::Aes128Gcm>>(c"aes-128-gcm", 16, 12, 16),
        aead::<AeadOf<aes_gcm::Aes256Gcm>>(c"aes-256-gcm", 32, 12, 16),
        aead::<AeadOf<chacha20poly1305::ChaCha20Poly1305>>(c"chacha20-poly1305", 32, 12, 16),
        aead::<AeadOf<chacha20poly1305::XChaCha20Poly1305>>(c"xchacha20-poly1305", 32, 24, 16),
        signature::<Ed25519>(c"ed25519", 32, 64),
        batch::<Ed25519>(c"ed25519", 32, 64),
        agreement::<X25519>(c"x25519", 32, 32),
        kem::<MlKem<ml_kem::MlKem512>>(c"ml-kem-512", 64, 32),
        kem::<MlKem<ml_kem::MlKem768>>(c"ml-kem-768", 64, 32),
        kem::<MlKem<ml_kem::MlKem1024>>(c"ml-kem-1024", 64, 32),
    ]
}
