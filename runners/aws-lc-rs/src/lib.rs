//! aws-lc-rs, each function as a user of the crate calls it.

use aws_lc_rs as library;
use aws_lc_rs::{aead, agreement, kem, signature as signing};
use perbyte_runner::*;
use std::ffi::CStr;

#[path = "../../ring/src/digests_and_signatures.rs"]
mod digests_and_signatures;
mod seed;
use digests_and_signatures::*;

hashes!(Sha224 SHA224  Sha3Part256 SHA3_256  Sha3Part384 SHA3_384  Sha3Part512 SHA3_512);

/// An AEAD by its number in `AEADS`.
struct AeadOf<const WHICH: usize>(aead::LessSafeKey);
static AEADS: [&aead::Algorithm; 6] = [
    &aead::AES_128_GCM,
    &aead::AES_192_GCM,
    &aead::AES_256_GCM,
    &aead::CHACHA20_POLY1305,
    &aead::AES_128_GCM_SIV,
    &aead::AES_256_GCM_SIV,
];

impl<const WHICH: usize> Aead for AeadOf<WHICH> {
    const CALLS: &'static CStr = c"LessSafeKey::seal_out_of_place_scatter, open_separate_gather";
    fn new(key: &[u8]) -> Option<Self> {
        aead::UnboundKey::new(AEADS[WHICH], key).ok().map(|key| AeadOf(aead::LessSafeKey::new(key)))
    }
    fn seal(&self, nonce: &[u8], aad: &[u8], data: &[u8], out: &mut [u8]) -> bool {
        let (body, tag) = out.split_at_mut(data.len());
        let Ok(nonce) = aead::Nonce::try_assume_unique_for_key(nonce) else { return false };
        self.0.seal_out_of_place_scatter(nonce, aead::Aad::from(aad), data, body, &[], tag).is_ok()
    }
    fn open(&self, nonce: &[u8], aad: &[u8], sealed: &[u8], out: &mut [u8]) -> bool {
        let (body, tag) = sealed.split_at(out.len());
        let Ok(nonce) = aead::Nonce::try_assume_unique_for_key(nonce) else { return false };
        self.0.open_separate_gather(nonce, aead::Aad::from(aad), body, tag, out).is_ok()
    }
}

/// A key agreement by its number in `CURVES`.
struct AgreementOn<const WHICH: usize>;
static CURVES: [&agreement::Algorithm; 3] = [&agreement::X25519, &agreement::ECDH_P256, &agreement::ECDH_P384];

impl<const WHICH: usize> Agreement for AgreementOn<WHICH> {
    const CALLS: &'static CStr = c"agreement::agree with a parsed public key (copied in each call)";
    type Private = agreement::PrivateKey;
    type Public = agreement::ParsedPublicKey;
    fn private(key: &[u8]) -> Option<Self::Private> {
        agreement::PrivateKey::from_private_key(CURVES[WHICH], key).ok()
    }
    fn public_of(key: &[u8]) -> Option<Self::Public> {
        Self::public(Self::private(key)?.compute_public_key().ok()?.as_ref())
    }
    fn public(bytes: &[u8]) -> Option<Self::Public> {
        agreement::UnparsedPublicKey::new(CURVES[WHICH], bytes).try_into().ok()
    }
    fn derive(private: &Self::Private, public: &Self::Public, out: &mut [u8]) -> bool {
        agreement::agree(private, public.clone(), (), |secret| {
            out.copy_from_slice(secret);
            Ok(())
        })
        .is_ok()
    }
}

/// A KEM with ciphertexts of so many bytes.
struct MlKem<const BYTES: usize>(kem::DecapsulationKey, kem::EncapsulationKey);

impl<const BYTES: usize> Kem for MlKem<BYTES> {
    const CALLS: &'static CStr = c"EncapsulationKey::encapsulate (AWS-LC's random numbers), DecapsulationKey::decapsulate";
    const CIPHERTEXT: usize = BYTES;
    fn new(given: &[u8]) -> Option<Self> {
        let algorithm = match BYTES {
            768 => &kem::ML_KEM_512,
            1088 => &kem::ML_KEM_768,
            _ => &kem::ML_KEM_1024,
        };
        let (secret, public) = seed::ml_kem_pair(BYTES, given)?;
        let own = kem::DecapsulationKey::new(algorithm, &secret).ok()?;
        Some(MlKem(own, kem::EncapsulationKey::new(algorithm, &public).ok()?))
    }
    fn encapsulate(&self, ciphertext: &mut [u8], secret: &mut [u8]) -> bool {
        let Ok((sent, key)) = self.1.encapsulate() else { return false };
        ciphertext.copy_from_slice(sent.as_ref());
        secret.copy_from_slice(key.as_ref());
        true
    }
    fn decapsulate(&self, ciphertext: &[u8], secret: &mut [u8]) -> bool {
        self.0.decapsulate(ciphertext.into()).map(|key| secret.copy_from_slice(key.as_ref())).is_ok()
    }
}

/// ML-DSA by its number in `ML_DSA`.
struct MlDsa<const WHICH: usize>(signing::PqdsaKeyPair, signing::ParsedPublicKey);
static ML_DSA: [(&signing::PqdsaSigningAlgorithm, &signing::PqdsaVerificationAlgorithm); 3] = [
    (&signing::ML_DSA_44_SIGNING, &signing::ML_DSA_44),
    (&signing::ML_DSA_65_SIGNING, &signing::ML_DSA_65),
    (&signing::ML_DSA_87_SIGNING, &signing::ML_DSA_87),
];

impl<const WHICH: usize> Signature for MlDsa<WHICH> {
    const CALLS: &'static CStr = c"PqdsaKeyPair::sign (AWS-LC's random numbers), ParsedPublicKey::verify_sig";
    fn new(seed: &[u8]) -> Option<Self> {
        use signing::KeyPair;
        let (own, other) = ML_DSA[WHICH];
        let pair = signing::PqdsaKeyPair::from_seed(own, seed).ok()?;
        let public = signing::ParsedPublicKey::new(other, pair.public_key().as_ref()).ok()?;
        Some(MlDsa(pair, public))
    }
    fn sign(&self, message: &[u8], out: &mut [u8]) -> bool {
        self.0.sign(message, out).is_ok()
    }
    fn verify(&self, message: &[u8], given: &[u8]) -> bool {
        self.1.verify_sig(message, given).is_ok()
    }
}

runner! {
    library: c"aws-lc-rs", license: c"ISC AND (Apache-2.0 OR ISC)", version: c"1.19.0, AWS-LC 5.12.0",
    rows: [
        probe_empty(),
        probe_imul(),
        hash::<Sha1>(c"sha-1", 20),
        hash::<Sha224>(c"sha-224", 28),
        hash::<Sha256>(c"sha-256", 32),
        hash::<Sha384>(c"sha-384", 48),
        hash::<Sha512>(c"sha-512", 64),
        hash::<Sha3Part256>(c"sha3-256", 32),
        hash::<Sha3Part384>(c"sha3-384", 48),
        hash::<Sha3Part512>(c"sha3-512", 64),
        mac::<Hmac<0>>(c"hmac-sha-1", 20, 20),
        mac::<Hmac<1>>(c"hmac-sha-256", 32, 32),
        mac::<Hmac<2>>(c"hmac-sha-384", 48, 48),
        mac::<Hmac<3>>(c"hmac-sha-512", 64, 64),
        aead::<AeadOf<0>>(c"aes-128-gcm", 16, 12, 16),
        aead::<AeadOf<1>>(c"aes-192-gcm", 24, 12, 16),
        aead::<AeadOf<2>>(c"aes-256-gcm", 32, 12, 16),
        aead::<AeadOf<3>>(c"chacha20-poly1305", 32, 12, 16),
        aead::<AeadOf<4>>(c"aes-128-gcm-siv", 16, 12, 16),
        aead::<AeadOf<5>>(c"aes-256-gcm-siv", 32, 12, 16),
        signature::<Ed25519>(c"ed25519", 32, 64),
        agreement::<AgreementOn<0>>(c"x25519", 32, 32),
        agreement::<AgreementOn<1>>(c"ecdh-p256", 32, 32),
        agreement::<AgreementOn<2>>(c"ecdh-p384", 48, 48),
        kem::<MlKem<768>>(c"ml-kem-512", 64, 32),
        kem::<MlKem<1088>>(c"ml-kem-768", 64, 32),
        kem::<MlKem<1568>>(c"ml-kem-1024", 64, 32),
        signature::<MlDsa<0>>(c"ml-dsa-44", 32, 2420),
        signature::<MlDsa<1>>(c"ml-dsa-65", 32, 3309),
        signature::<MlDsa<2>>(c"ml-dsa-87", 32, 4627),
    ]
}
