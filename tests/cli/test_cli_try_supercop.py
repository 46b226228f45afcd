"""A tree in SUPERCOP's layout: every implementation is accounted for, and the good ones are measured."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from perbyte.errors import EXIT_INCORRECT, EXIT_USAGE

pytestmark = pytest.mark.native

TRIAL = Path(__file__).parent.parent / "trial"
specification = importlib.util.spec_from_file_location("supercop_tree", TRIAL / "supercop_tree.py")
assert specification
assert specification.loader
supercop_tree = importlib.util.module_from_spec(specification)
specification.loader.exec_module(supercop_tree)


@pytest.fixture
def catalogue(tmp_path: Path) -> dict[str, str]:
    place = tmp_path / "catalogue" / "algorithms"
    place.mkdir(parents=True)
    (place / "toymix.toml").write_text(supercop_tree.CATALOGUE)
    return {"PERBYTE_CATALOGUE": str(place.parent)}


@pytest.mark.slow
def test_every_implementation_is_accounted_for(world, tmp_path, catalogue):
    expected = supercop_tree.write_tree(tmp_path / "tree")
    assert len(expected) >= 20
    words = ("try", "--supercop", tmp_path / "tree", "--size", "64", "--budget", "1s", "--flags=-O1")
    done = world.perbyte(*words, "-q", "--json", environment=catalogue)
    assert done.returncode == EXIT_INCORRECT, done.stderr
    told = json.loads(done.stdout)
    assert {
        implementation["name"]: implementation["outcome"] for implementation in told["implementations"]
    } == expected
    details = {implementation["name"]: implementation["detail"] for implementation in told["implementations"]}
    assert "error" in details["no-compile"]
    assert "undefined reference" in details["undefined"]
    assert "crypto_core_nowhere" in details["sub-missing"]
    assert "sparcv9" in details["elsewhere"]
    assert "disagrees with" in details["wrong"]
    measured = {name for name, outcome in expected.items() if outcome == "measured"}
    assert {cell["runner"] for cell in told["cells"]} == measured


def test_the_implementations_of_an_aead_of_the_catalogue(world, tmp_path):
    code = (TRIAL / "code" / "ascon.c").read_text()
    place = tmp_path / "crypto_aead" / "ascon128"
    for name in ("ref", "other"):
        (place / name).mkdir(parents=True)
        (place / name / "api.h").write_text(
            "".join(f"#define CRYPTO_{name}BYTES 16\n" for name in ("KEY", "NPUB", "A"))
        )
        (place / name / "encrypt.c").write_text('#include "crypto_aead.h"\n' + code)
    words = ("--as", "ascon-aead128", "--size", "64", "--budget", "500ms", "-q", "--json")
    done = world.perbyte("try", "--supercop", place, *words)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert {(cell["runner"], cell["operation"], cell["contract"]) for cell in told["cells"]} == {
        (name, operation, "rekey/1") for name in ("ref", "other") for operation in ("seal", "open")
    }


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("{here}/nothing",), "is not a directory"),
        (("{here}",), "there is no crypto_OP/PRIMITIVE/IMPLEMENTATION/api.h"),
        (("{here}", "--baseline"), "--supercop knows the functions"),
    ],
)
def test_what_is_no_tree_is_refused(world, tmp_path, words, complaint):
    done = world.perbyte("try", "--supercop", *(word.format(here=tmp_path) for word in words))
    assert done.returncode == EXIT_USAGE
    assert complaint in done.stderr


def test_a_primitive_that_the_catalogue_lacks_says_what_to_do(world, tmp_path):
    place = tmp_path / "crypto_hash" / "nobodys" / "ref"
    place.mkdir(parents=True)
    (place / "api.h").write_text("#define CRYPTO_BYTES 16\n")
    done = world.perbyte("try", "--supercop", tmp_path)
    assert done.returncode == EXIT_USAGE
    assert "PERBYTE_CATALOGUE" in done.stderr


# published with SUPERCOP, and what OpenSSL's functions must be called
PUBLISHED = {
    "hash/sha512": "8220572f58bd4730be165c9739d8d4b0fd2e0229dbe01e25b4aed23f00f23b70",
    "auth/hmacsha256": "0e2353400319630aecd4e8f0865325c51927fca117f6a50a2bc75bffba06e07a",
    "stream/aes256ctr": "ea3f956318e453562546e8c121eabb8a9ccdea7d9b242a65565e1dc4b168286d",
    "scalarmult/curve25519": "a541e0997ead1f170fdfdc2bed3acf8cec8994ba57025a9cf51862afd615d53f",
    "sign/ed25519": "6d6cae511aa24af47411243ba5bc2a84f8e827dfe80aca92ec3769061471952a",
}
LENGTHS = {
    "hash/sha512": {"BYTES": 64},
    "auth/hmacsha256": {"BYTES": 32, "KEYBYTES": 32},
    "stream/aes256ctr": {"KEYBYTES": 32, "NONCEBYTES": 16},
    "scalarmult/curve25519": {"BYTES": 32, "SCALARBYTES": 32},
    "sign/ed25519": {"BYTES": 64, "PUBLICKEYBYTES": 32, "SECRETKEYBYTES": 64},
}
ALGORITHMS = dict(
    zip(PUBLISHED, ("sha-512", "hmac-sha-256", "aes-256-ctr", "x25519", "ed25519"), strict=True)
)
OPENSSL = {
    "hash/sha512": """\
#include <openssl/sha.h>
int crypto_hash(u8 *o, const u8 *i, length n) { SHA512(i, n, o); return 0; }
""",
    "auth/hmacsha256": """\
#include <openssl/hmac.h>
int crypto_auth(u8 *o, const u8 *i, length n, const u8 *k) { HMAC(EVP_sha256(), k, 32, i, n, o, 0); return 0; }
int crypto_auth_verify(const u8 *o, const u8 *i, length n, const u8 *k)
{ u8 h[32]; return crypto_auth(h, i, n, k) || o[0] != h[0]; }
""",
    "stream/aes256ctr": """\
int crypto_stream_xor(u8 *c, const u8 *m, length n, const u8 *nonce, const u8 *k) {
	int done;
	EVP_CIPHER_CTX *x = EVP_CIPHER_CTX_new();
	EVP_EncryptInit_ex(x, EVP_aes_256_ctr(), 0, k, nonce);
	EVP_EncryptUpdate(x, c, &done, m, (int)n);
	EVP_CIPHER_CTX_free(x);
	return 0;
}
int crypto_stream(u8 *c, length n, const u8 *nonce, const u8 *k)
{ memset(c, 0, n); return crypto_stream_xor(c, c, n, nonce, k); }
""",
    "scalarmult/curve25519": """\
int crypto_scalarmult(u8 *q, const u8 *n, const u8 *p) {
	size_t size = 32;
	EVP_PKEY *own = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, 0, n, 32);
	EVP_PKEY *other = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, 0, p, 32);
	EVP_PKEY_CTX *x = EVP_PKEY_CTX_new(own, 0);
	int good = EVP_PKEY_derive_init(x) == 1 && EVP_PKEY_derive_set_peer(x, other) == 1
		&& EVP_PKEY_derive(x, q, &size) == 1;
	EVP_PKEY_CTX_free(x), EVP_PKEY_free(own), EVP_PKEY_free(other);
	return !good;
}
int crypto_scalarmult_base(u8 *q, const u8 *n)
{ static const u8 base[32] = {9}; return crypto_scalarmult(q, n, base); }
""",
    "sign/ed25519": """\
#include "randombytes.h"
int crypto_sign_keypair(u8 *pk, u8 *sk) {
	size_t size = 32;
	randombytes(sk, 32);
	EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, 0, sk, 32);
	EVP_PKEY_get_raw_public_key(key, pk, &size);
	EVP_PKEY_free(key);
	memcpy(sk + 32, pk, 32);
	return 0;
}
int crypto_sign(u8 *sm, length *smlen, const u8 *m, length mlen, const u8 *sk) {
	size_t size = 64;
	EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, 0, sk, 32);
	EVP_MD_CTX *x = EVP_MD_CTX_new();
	memmove(sm + 64, m, mlen);
	int good = EVP_DigestSignInit(x, 0, 0, 0, key) == 1 && EVP_DigestSign(x, sm, &size, sm + 64, mlen) == 1;
	EVP_MD_CTX_free(x), EVP_PKEY_free(key);
	*smlen = mlen + 64;
	return !good;
}
int crypto_sign_open(u8 *m, length *mlen, const u8 *sm, length smlen, const u8 *pk) {
	EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, 0, pk, 32);
	EVP_MD_CTX *x = EVP_MD_CTX_new();
	int good = EVP_DigestVerifyInit(x, 0, 0, 0, key) == 1
		&& EVP_DigestVerify(x, sm, 64, sm + 64, smlen - 64) == 1;
	EVP_MD_CTX_free(x), EVP_PKEY_free(key);
	memmove(m, sm + 64, *mlen = smlen - 64);
	return good ? 0 : -1;
}
""",
}
START = "#include <openssl/evp.h>\n#include <string.h>\ntypedef unsigned char u8;\ntypedef unsigned long long length;\n"


@pytest.mark.parametrize(("what", "right"), [*((what, True) for what in PUBLISHED), ("hash/sha512", False)])
def test_the_checksums_of_the_tree_are_compared(world, tmp_path, what, right):
    """Published checksums, which are not ours, come out of OpenSSL's functions."""
    place = tmp_path / f"crypto_{what}" / "wrapped"
    place.mkdir(parents=True)
    lengths = LENGTHS[what].items()
    (place / "api.h").write_text("".join(f"#define CRYPTO_{name} {n}\n" for name, n in lengths))
    (place / "it.c").write_text(START + OPENSSL[what])
    published = PUBLISHED[what] if right else PUBLISHED[what][::-1]
    (place.parent / "checksumsmall").write_text(published + "\n")
    words = (
        "--as",
        ALGORITHMS[what],
        "--size",
        "64",
        "--budget",
        "500ms",
        "--beside",
        "none",
        "-q",
        "--json",
    )
    done = world.perbyte("try", "--supercop", tmp_path, *words)
    (told,) = json.loads(done.stdout)["implementations"]
    if right:
        assert (told["outcome"], told["detail"]) == ("measured", "checksumsmall fits"), done.stderr
    else:
        assert done.returncode == EXIT_INCORRECT
        assert told["outcome"] == "wrong"
        assert told["detail"] == f"checksumsmall: expected {published}, got {PUBLISHED[what]}"
