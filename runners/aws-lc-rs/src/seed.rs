//! A key pair of ML-KEM from its seed, which AWS-LC can make and aws-lc-rs cannot; nothing here is timed.

use aws_lc_sys::*;
use std::ptr::null_mut;

/// Decapsulation key and encapsulation key as bytes, by the length of the ciphertext; None where AWS-LC refuses.
pub fn ml_kem_pair(ciphertext: usize, seed: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let (id, secret, public) = match ciphertext {
        768 => (NID_MLKEM512, 1632, 800),
        1088 => (NID_MLKEM768, 2400, 1184),
        _ => (NID_MLKEM1024, 3168, 1568),
    };
    let (mut own, mut other) = (vec![0u8; secret], vec![0u8; public]);
    let (mut own_length, mut other_length, mut seed_length) = (secret, public, seed.len());
    unsafe {
        let context = EVP_PKEY_CTX_new_id(EVP_PKEY_KEM, null_mut());
        let mut key = null_mut();
        let made = EVP_PKEY_CTX_kem_set_params(context, id) == 1
            && EVP_PKEY_keygen_init(context) == 1
            && EVP_PKEY_keygen_deterministic(context, &mut key, seed.as_ptr(), &mut seed_length) == 1
            && EVP_PKEY_get_raw_private_key(key, own.as_mut_ptr(), &mut own_length) == 1
            && EVP_PKEY_get_raw_public_key(key, other.as_mut_ptr(), &mut other_length) == 1;
        EVP_PKEY_free(key);
        EVP_PKEY_CTX_free(context);
        (made && own_length == secret && other_length == public).then_some((own, other))
    }
}
