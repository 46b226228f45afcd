"""What a call costs from Python: hashlib, cryptography, PyNaCl, pycryptodome and blake3, one library a process."""

from __future__ import annotations

import hashlib
import hmac
import os
import ssl
import sys
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "sdk" / "python"))

from perbyte_runner import (
    Library,
    Row,
    aead_row,
    agreement_row,
    hash_row,
    mac_row,
    main,
    signature_row,
    stream_row,
)

HASHES = {
    "md5": ("md5", 16),
    "sha-1": ("sha1", 20),
    "sha-224": ("sha224", 28),
    "sha-256": ("sha256", 32),
    "sha-384": ("sha384", 48),
    "sha-512": ("sha512", 64),
    "sha3-256": ("sha3_256", 32),
    "sha3-512": ("sha3_512", 64),
    "blake2b-512": ("blake2b", 64),
    "blake2s-256": ("blake2s", 32),
}
HMACS = {
    "hmac-sha-1": ("sha1", 20, 20),
    "hmac-sha-256": ("sha256", 32, 32),
    "hmac-sha-512": ("sha512", 64, 64),
}
PYTHON = ".".join(map(str, sys.version_info[:3]))


def of_hashlib() -> tuple[Library, list[Row]]:
    """The standard library: hashlib and hmac, on the OpenSSL that Python was built with."""
    rows = [
        hash_row(algorithm, length, f"{name}(data).digest()", **{name: getattr(hashlib, name)})
        for algorithm, (name, length) in HASHES.items()
    ]
    rows += [
        mac_row(
            algorithm,
            key,
            length,
            lambda key, name=name: hmac.new(key, digestmod=name),
            "last = state.copy(); last.update(data); last = last.digest()",
            f"hmac_digest(keys[turn & 15], data, '{name}')",
            hmac_digest=hmac.digest,
        )
        for algorithm, (name, key, length) in HMACS.items()
    ]
    return Library("CPython hashlib", "PSF-2.0", f"{PYTHON}, {ssl.OPENSSL_VERSION}"), rows


def of_cryptography() -> tuple[Library, list[Row]]:
    """pyca/cryptography, which brings an OpenSSL of its own."""
    from cryptography.hazmat.backends.openssl import backend
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    digests = {"sha-1": (hashes.SHA1, 20), "sha-256": (hashes.SHA256, 32), "sha-512": (hashes.SHA512, 64)}
    digests["sha3-256"] = (hashes.SHA3_256, 32)
    rows = [
        hash_row(
            algorithm,
            length,
            f"last = Hash({kind.__name__}()); last.update(data); last = last.finalize()",
            Hash=hashes.Hash,
            **{kind.__name__: kind},
        )
        for algorithm, (kind, length) in digests.items()
    ]
    ctr = {"Cipher": Cipher, "AES": algorithms.AES, "CTR": modes.CTR}
    for bits in (128, 256):
        fresh = "Cipher({}, CTR(nonces[turn & 15])).encryptor().update(data)"
        rows.append(
            stream_row(
                f"aes-{bits}-ctr",
                bits // 8,
                16,
                fresh.format("state"),
                fresh.format("AES(keys[turn & 15])"),
                algorithms.AES,
                **ctr,
            )
        )
    for algorithm, key, kind in (
        ("aes-128-gcm", 16, AESGCM),
        ("aes-256-gcm", 32, AESGCM),
        ("chacha20-poly1305", 32, ChaCha20Poly1305),
    ):
        seal, unseal = "state.encrypt(NONCE, data, aad)", "state.decrypt(NONCE, data, aad)"
        rows.append(aead_row(algorithm, key, 12, 16, seal, unseal, kind))

    def ed25519(seed: bytes):
        private = Ed25519PrivateKey.from_private_bytes(seed)
        return private, private.public_key()

    def public_of(private: bytes) -> bytes:
        key = X25519PrivateKey.from_private_bytes(private).public_key()
        return key.public_bytes(Encoding.Raw, PublicFormat.Raw)

    def x25519(private: bytes, public: bytes):
        return X25519PrivateKey.from_private_bytes(private), X25519PublicKey.from_public_bytes(public)

    sign, verify = "private.sign(messages[turn & 15])", "public.verify(signature, message)"
    rows.append(signature_row("ed25519", 32, 64, ed25519, sign, verify))
    rows.append(agreement_row("x25519", 32, 32, public_of, x25519, "private.exchange(public)"))
    told = f"{version('cryptography')}, {backend.openssl_version_text()}"
    return Library("cryptography (Python)", "Apache-2.0 OR BSD-3-Clause", told), rows


def of_pynacl() -> tuple[Library, list[Row]]:
    """PyNaCl, which brings libsodium."""
    from nacl import bindings

    rows = [
        hash_row("sha-256", 32, "crypto_hash_sha256(data)", crypto_hash_sha256=bindings.crypto_hash_sha256),
        hash_row("sha-512", 64, "crypto_hash_sha512(data)", crypto_hash_sha512=bindings.crypto_hash_sha512),
    ]
    for algorithm, name, nonce in (
        ("chacha20-poly1305", "crypto_aead_chacha20poly1305_ietf", 12),
        ("xchacha20-poly1305", "crypto_aead_xchacha20poly1305_ietf", 24),
    ):
        names = {f"{name}_{way}": getattr(bindings, f"{name}_{way}") for way in ("encrypt", "decrypt")}
        seal, unseal = f"{name}_encrypt(data, aad, NONCE, KEY)", f"{name}_decrypt(data, aad, NONCE, KEY)"
        rows.append(aead_row(algorithm, 32, nonce, 16, seal, unseal, **names))

    def ed25519(seed: bytes):
        public, private = bindings.crypto_sign_seed_keypair(seed)
        return private, public

    rows.append(
        signature_row(
            "ed25519",
            32,
            64,
            ed25519,
            "crypto_sign(messages[turn & 15], private)[:64]",
            "crypto_sign_open(signature + message, public)",
            crypto_sign=bindings.crypto_sign,
            crypto_sign_open=bindings.crypto_sign_open,
        )
    )
    rows.append(
        agreement_row(
            "x25519",
            32,
            32,
            bindings.crypto_scalarmult_base,
            lambda private, public: (private, public),
            "crypto_scalarmult(private, public)",
            crypto_scalarmult=bindings.crypto_scalarmult,
        )
    )
    return Library("PyNaCl", "Apache-2.0", version("pynacl")), rows


def of_pycryptodome() -> tuple[Library, list[Row]]:
    """pycryptodome, C of its own behind cffi or ctypes. A nonce needs a new object, so the key goes with it."""
    from Crypto.Cipher import AES, ChaCha20_Poly1305
    from Crypto.Hash import SHA1, SHA3_256, SHA256, SHA512, KangarooTwelve, TurboSHAKE128, TurboSHAKE256

    soft = ", use_aesni=False, use_clmul=False" if os.environ.get("PERBYTE_CPU") == "soft" else ""
    hashes = {
        "sha-1": (SHA1, 20),
        "sha-256": (SHA256, 32),
        "sha-512": (SHA512, 64),
        "sha3-256": (SHA3_256, 32),
    }
    rows = [
        hash_row(algorithm, length, "new(data).digest()", new=module.new)
        for algorithm, (module, length) in hashes.items()
    ]
    rows += [
        hash_row("turboshake128", 32, "new(domain=31, data=data).read(32)", new=TurboSHAKE128.new),
        hash_row("turboshake256", 64, "new(domain=31, data=data).read(64)", new=TurboSHAKE256.new),
        hash_row("kt128", 32, "new(data=data).read(32)", new=KangarooTwelve.new),
    ]
    gcm, chacha = f"new(KEY, MODE_GCM, nonce=NONCE{soft})", "new(key=KEY, nonce=NONCE)"
    for algorithm, key, make, names in (
        ("aes-128-gcm", 16, gcm, {"new": AES.new, "MODE_GCM": AES.MODE_GCM}),
        ("aes-256-gcm", 32, gcm, {"new": AES.new, "MODE_GCM": AES.MODE_GCM}),
        ("chacha20-poly1305", 32, chacha, {"new": ChaCha20_Poly1305.new}),
    ):
        begin = f"made = {make}; made.update(aad); "
        seal = begin + "last = made.encrypt_and_digest(data); last = last[0] + last[1]"
        unseal = begin + "last = made.decrypt_and_verify(data[:size], data[size:])"
        rows.append(aead_row(algorithm, key, 12, 16, seal, unseal, **names))
    return Library("pycryptodome", "BSD-2-Clause AND Unlicense", version("pycryptodome")), rows


def of_blake3() -> tuple[Library, list[Row]]:
    """The blake3 package, Rust and assembly."""
    from blake3 import blake3

    rows = [hash_row("blake3", 32, "blake3(data).digest()", blake3=blake3)]
    return Library("blake3 (Python)", "CC0-1.0 OR Apache-2.0", version("blake3")), rows


if __name__ == "__main__":
    main(*globals()[f"of_{sys.argv[1]}"]())
