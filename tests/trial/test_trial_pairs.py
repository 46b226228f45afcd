"""Key pairs of a user's functions: where their random bytes come from, seeds, and kinds of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from trial_answers import answers, build

from perbyte.catalogue import load
from perbyte.errors import RunnerRefused
from perbyte.runners import Session
from perbyte.trial.own_algorithm import find_new

pytestmark = pytest.mark.native

STEPS = "keypair=ed_pair,sign=ed_sign,verify=ed_verify"
SIGNING = """
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <string.h>
#include <sys/random.h>
static void of_seed(unsigned char *pk, unsigned char *sk, const unsigned char *seed)
{
	size_t n = 32;
	memmove(sk, seed, 32);
	EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, sk, 32);
	EVP_PKEY_get_raw_public_key(key, pk, &n);
	EVP_PKEY_free(key);
}
int ed_sign(unsigned char *sig, const unsigned char *m, size_t mlen, const unsigned char *sk)
{
	size_t n = 64;
	EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, sk, 32);
	EVP_MD_CTX *c = EVP_MD_CTX_new();
	EVP_DigestSignInit(c, NULL, NULL, NULL, key);
	EVP_DigestSign(c, sig, &n, m, mlen);
	EVP_MD_CTX_free(c);
	EVP_PKEY_free(key);
	return 0;
}
int ed_verify(const unsigned char *sig, const unsigned char *m, size_t mlen, const unsigned char *pk)
{
	EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, pk, 32);
	EVP_MD_CTX *c = EVP_MD_CTX_new();
	EVP_DigestVerifyInit(c, NULL, NULL, NULL, key);
	int right = EVP_DigestVerify(c, sig, 64, m, mlen);
	EVP_MD_CTX_free(c);
	EVP_PKEY_free(key);
	return right == 1 ? 0 : -1;
}
"""
OF_TWO = "(unsigned char *pk, unsigned char *sk)"
PAIRS = {
    "RAND_bytes": OF_TWO + " { unsigned char s[32]; RAND_bytes(s, 32); of_seed(pk, sk, s); return 0; }",
    "getrandom": OF_TWO + " { if (getrandom(sk, 32, 0) != 32) return -1; of_seed(pk, sk, sk); return 0; }",
    "seed": "(char *pk, char *sk, const char *seed) { of_seed((void *)pk, (void *)sk, (void *)seed); return 0; }",
}
OF_ITS_OWN = """(unsigned char *pk, unsigned char *sk)
{
	size_t n = 32;
	EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	EVP_PKEY_get_raw_private_key(key, sk, &n);
	EVP_PKEY_get_raw_public_key(key, pk, &n);
	EVP_PKEY_free(key);
	return 0;
}"""


def signing(place: Path, pair: str) -> list[Path]:
    file = place / "sign.c"
    file.write_text(f"{SIGNING}int ed_pair{pair}\n")
    return [file]


@pytest.mark.parametrize("way", PAIRS)
def test_a_key_pair_is_made_of_the_seed_however_it_is_drawn(tmp_path: Path, way: str):
    spec = build(tmp_path, signing(tmp_path, PAIRS[way]), "ed25519", STEPS, link=("-lcrypto",))
    outcomes = answers(spec, "ed25519")
    assert outcomes["sign", "pk/1"] > 1
    assert outcomes["verify", "pk/1"] > 1


def test_a_key_pair_that_is_another_one_each_time_says_the_way_on(tmp_path: Path):
    spec = build(tmp_path, signing(tmp_path, OF_ITS_OWN), "ed25519", STEPS, link=("-lcrypto",))
    with Session(spec) as session, pytest.raises(RunnerRefused, match="take a seed") as refusal:
        session.prepare("ed25519", "sign", "pk/1", 32, seed=7, offset=0)
    assert "RAND_bytes" in str(refusal.value)
    assert str(refusal.value).endswith("(--signature keypair=public-key,secret-key,seed)")


@pytest.fixture
def catalogue(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PERBYTE_CATALOGUE", "")
    yield
    load.cache_clear()


@pytest.mark.usefixtures("catalogue")
def test_a_signature_of_ones_own_is_held_to_itself(tmp_path: Path):
    made = find_new("new:mine", "signature", ["out=64"], None)
    assert (made.id, made.key_bytes, made.randomised) == ("unverified-mine", 64, ("sign",))
    assert not {"aggregate", "sum"} & set(made.operations)
    files = signing(tmp_path, PAIRS["RAND_bytes"])
    for text, passed in ((SIGNING, True), (SIGNING.replace("right == 1 ? 0 : -1", "0"), False)):
        files[0].write_text(f"{text}int ed_pair{PAIRS['RAND_bytes']}\n")
        spec = build(tmp_path, files, made.id, STEPS, link=("-lcrypto",))
        with Session(spec) as session:
            assert session.round_trip(session.prepare(made.id, "sign", "pk/1", 64, seed=7, offset=0)).passed
            handle = session.prepare(made.id, "verify", "pk/1", 64, seed=7, offset=0)
            assert session.forgery(handle).passed == passed


KEM = """
#include <stdint.h>
#include <string.h>
void randombytes(uint8_t *, unsigned long long);
static void mix(uint8_t *out, const uint8_t *a, const uint8_t *b)
{
	for (int i = 0; i < 32; i++) out[i] = (uint8_t)(a[i] * 5 + b[i] * 3 + b[(i + 1) & 31]);
}
void my_pair(uint8_t *pk, uint8_t *sk) { randombytes(sk, 32); memcpy(pk, sk, 32); }
void my_encaps(uint8_t *ct, uint8_t *ss, const uint8_t *pk) { randombytes(ct, 32); mix(ss, pk, ct); }
void my_decaps(uint8_t *ss, const uint8_t *ct, const uint8_t *sk) { mix(ss, sk, ct); }
"""


@pytest.mark.usefixtures("catalogue")
def test_a_kem_of_ones_own_is_held_to_itself(tmp_path: Path):
    made = find_new("new:mine", "kem", ["public=32,ciphertext=32,out=32"], None)
    assert (made.public_bytes, made.ciphertext_bytes) == (32, 32)
    file = tmp_path / "kem.c"
    steps = "keypair=my_pair,encapsulate=my_encaps,decapsulate=my_decaps"
    constant = KEM.replace("mix(ss, pk, ct)", "memset(ss, 1, 32)").replace(
        "mix(ss, sk, ct)", "memset(ss, 1, 32)"
    )
    for text, passed in ((KEM, True), (constant, False)):
        file.write_text(text)
        with Session(build(tmp_path, [file], made.id, steps)) as session:
            handle = session.prepare(made.id, "decapsulate", "pk/1", 32, seed=7, offset=0)
            assert session.forgery(handle).passed == passed


@pytest.mark.usefixtures("catalogue")
def test_a_key_agreement_of_ones_own_has_the_lengths_that_were_said():
    made = find_new("new:mine", "key-agreement", ["key=56,out=56"], None)
    assert (made.key_bytes, made.nonce_bytes, made.public_bytes, made.tag_bytes) == (56, 56, 56, 56)
    assert made.operations == ("derive",)
