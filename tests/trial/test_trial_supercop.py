"""What is generated around an implementation of a tree: signatures apart from messages, narrower processors."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest
from trial_answers import answers

from perbyte.app.supercop import MEASURED, Way, build_group
from perbyte.catalogue import load
from perbyte.model import Cell
from perbyte.model.leak import Contrast
from perbyte.protocol.messages import TakePairs
from perbyte.runners import RunnerSpec, Session
from perbyte.runners.pairs import take_pairs
from perbyte.trial import supercop_tree
from perbyte.trial.program import Unusable
from perbyte.trial.supercop import find_implementations, narrower
from perbyte.trial.supercop_tree import build_crate, keccak, support
from toolchains import needs

# FRONT bytes of signature, the message, BACK bytes of signature; each byte is the sum of the message and its place.
TOY = """
#include <stdio.h>
#include <string.h>
typedef unsigned long long length;
static unsigned char tag(const unsigned char *m, length n, int i) { while (n) i += m[--n]; return (unsigned char)i; }
int crypto_sign(unsigned char *sm, length *smlen, const unsigned char *m, length n, const unsigned char *sk)
{
	for (int i = 0; i < FRONT; i++) sm[i] = tag(m, n, i);
	memcpy(sm + FRONT, m, n);
	for (int i = 0; i < BACK; i++) sm[FRONT + n + i] = tag(m, n, FRONT + i);
	*smlen = FRONT + n + BACK;
	return 0;
}
int crypto_sign_open(unsigned char *m, length *n, const unsigned char *sm, length smlen, const unsigned char *pk)
{
	if (smlen < FRONT + BACK) return -1;
	*n = smlen - FRONT - BACK;
	memcpy(m, sm + FRONT, *n);
	for (int i = 0; i < FRONT + BACK; i++)
		if (sm[i < FRONT ? i : *n + i] != tag(m, *n, i)) return -1;
	return 0;
}
int crypto_sign_detached(unsigned char *, length *, const unsigned char *, length, const unsigned char *);
int crypto_sign_checked(const unsigned char *, const unsigned char *, length, const unsigned char *);
int main(void)
{
	unsigned char sig[40], m[100];
	for (length n = 1; n < 100; n += 7) {
		length bytes = 0;
		for (length i = 0; i < n; i++) m[i] = (unsigned char)(i * i + n);
		if (crypto_sign_detached(sig, &bytes, m, n, 0) || bytes != FRONT + BACK) return 1;
		if (crypto_sign_checked(sig, m, n, 0)) return 2;
		sig[bytes - 1] ^= 1;
		if (!crypto_sign_checked(sig, m, n, 0)) return 3;
	}
	return 0;
}
"""


@pytest.mark.parametrize(("front", "back"), [(40, 0), (0, 40), (2, 30)])
def test_a_signature_is_taken_from_its_message_wherever_it_lies(tmp_path: Path, front: int, back: int):
    source = tmp_path / "toy.c"
    source.write_text(support("sign", {"BYTES": 40}) + TOY)
    command = ["cc", "-w", f"-DFRONT={front}", f"-DBACK={back}", "-o", str(tmp_path / "toy"), str(source)]
    subprocess.run(command, check=True)
    assert subprocess.run([str(tmp_path / "toy")], check=False).returncode == 0


def test_nothing_is_taken_apart_where_nothing_is_signed():
    command = ["cc", "-E", "-P", "-x", "c", "-"]
    made = subprocess.run(
        command, input=support("hash", {"BYTES": 40}), capture_output=True, text=True, check=True
    )
    assert "crypto_sign" not in made.stdout
    assert "crypto_verify_16" in made.stdout


@pytest.mark.skipif(platform.machine() != "x86_64", reason="levels of x86-64")
def test_flags_for_narrower_processors_come_widest_first():
    flags = narrower(("-O3", "-march=native"))
    assert flags[0] == ("-O3", "-march=x86-64-v3")
    assert flags[-1] == ("-O3", "-march=x86-64")
    assert narrower(("-O3",)) == ()


def test_a_crate_of_an_operation_that_is_not_called_is_refused_and_so_is_a_broken_one(tmp_path: Path):
    with pytest.raises(Unusable, match="crypto_kem of Rust"):
        build_crate(tmp_path, "kem", {}, (), tmp_path / "scratch")
    for text, fault in (("[package]\n", r"Cargo\.toml: \[package\] has no name"), ("package\n", "line 1")):
        (tmp_path / "Cargo.toml").write_text(text)
        with pytest.raises(Unusable, match=fault):
            build_crate(tmp_path, "hash", {}, (), tmp_path / "scratch")


def test_a_tree_without_its_keccak_says_so(tmp_path: Path):
    with pytest.raises(Unusable, match="libkeccak"):
        keccak(tmp_path, ())


def test_a_keccak_that_is_built_for_too_long_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def slow(command: list[str], *_: object) -> None:
        raise subprocess.TimeoutExpired(command, 600.0)

    (tmp_path / "k").mkdir()
    for file in (tmp_path / "k" / "Makefile", tmp_path / "k-targets"):
        file.touch()
    monkeypatch.setattr(supercop_tree.shutil, "which", lambda program: program)
    monkeypatch.setattr(supercop_tree, "run_tool", slow)
    with pytest.raises(Unusable, match="libkeccak, which is not built within 600 s"):
        keccak(tmp_path, ())


SALSA20 = """
fn block(key: &[u8; 32], nonce: &[u8; 8], counter: u64) -> [u8; 64] {
    let words = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[4 * at..4 * at + 4].try_into().unwrap());
    let mut s = [0u32; 16];
    for i in 0..4 {
        s[5 * i] = words(b"expand 32-byte k", i);
        s[1 + i] = words(key, i);
        s[11 + i] = words(key, 4 + i);
    }
    (s[6], s[7], s[8], s[9]) = (words(nonce, 0), words(nonce, 1), counter as u32, (counter >> 32) as u32);
    let mut x = s;
    for _ in 0..10 {
        for [a, b, c, d] in [[0, 4, 8, 12], [5, 9, 13, 1], [10, 14, 2, 6], [15, 3, 7, 11],
                             [0, 1, 2, 3], [5, 6, 7, 4], [10, 11, 8, 9], [15, 12, 13, 14]] {
            x[b] ^= x[a].wrapping_add(x[d]).rotate_left(7);
            x[c] ^= x[b].wrapping_add(x[a]).rotate_left(9);
            x[d] ^= x[c].wrapping_add(x[b]).rotate_left(13);
            x[a] ^= x[d].wrapping_add(x[c]).rotate_left(18);
        }
    }
    let mut out = [0u8; 64];
    for i in 0..16 {
        out[4 * i..4 * i + 4].copy_from_slice(&x[i].wrapping_add(s[i]).to_le_bytes());
    }
    out
}

pub fn crypto_stream(c: &mut [u8], n: &[u8; 8], k: &[u8; 32]) {
    let zeros = vec![0u8; c.len()];
    crypto_stream_xor(c, &zeros, n, k)
}

pub fn crypto_stream_xor(c: &mut [u8], m: &[u8], n: &[u8; 8], k: &[u8; 32]) {
    for (at, part) in c.chunks_mut(64).enumerate() {
        let key_stream = block(k, n, at as u64);
        for (i, byte) in part.iter_mut().enumerate() {
            *byte = m[64 * at + i] ^ key_stream[i];
        }
    }
}
"""


def build_one(place: Path, algorithm: str) -> RunnerSpec:
    """The program of the one implementation in `place`."""
    [made] = build_group(find_implementations([place]), load().find(algorithm), [Way(("-O2",))], 64, ())
    assert made.word == MEASURED, made.detail
    assert made.spec
    return made.spec


@pytest.mark.native
@needs("cargo")
def test_a_crate_is_built_and_gives_the_known_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CARGO_NET_OFFLINE", "true")
    place = tmp_path / "crypto_stream" / "salsa20" / "rust"
    (place / "src").mkdir(parents=True)
    (place / "api.h").write_text("#define CRYPTO_KEYBYTES 32\n#define CRYPTO_NONCEBYTES 8\n")
    (place / "Cargo.toml").write_text('[package]\nname = "salsa"\nversion = "0.1.0"\nedition = "2021"\n')
    (place / "src" / "lib.rs").write_text(SALSA20)
    spec = build_one(place, "salsa20")
    assert answers(spec, "salsa20")["encrypt", "rekey/1"] >= 1


# Traps on an address that is no multiple of 64; otherwise the sum of key and data, and a tag that is the data's sum.
PICKY = """
#include "crypto_aead.h"
typedef unsigned long long length;
static void look(const void *p) { if ((length)p % 64) __builtin_trap(); }
int crypto_aead_encrypt(unsigned char *c, length *clen, const unsigned char *m, length mlen,
	const unsigned char *ad, length adlen, const unsigned char *nsec, const unsigned char *npub, const unsigned char *k)
{
	unsigned char sum = npub[0];
	look(c), look(m), look(ad), look(npub), look(k);
	for (length i = 0; i < mlen; i++) sum += m[i], c[i] = m[i] + k[i % 16];
	for (length i = 0; i < 16; i++) c[mlen + i] = sum + i;
	*clen = mlen + 16;
	return 0;
}
int crypto_aead_decrypt(unsigned char *m, length *mlen, unsigned char *nsec, const unsigned char *c, length clen,
	const unsigned char *ad, length adlen, const unsigned char *npub, const unsigned char *k)
{
	unsigned char sum = npub[0], wrong = 0;
	look(c), look(m), look(ad), look(npub), look(k);
	*mlen = clen - 16;
	for (length i = 0; i < *mlen; i++) sum += m[i] = c[i] - k[i % 16];
	for (length i = 0; i < 16; i++) wrong |= c[*mlen + i] ^ (unsigned char)(sum + i);
	return wrong ? -1 : 0;
}
"""
SECRETS = {
    "seal": (Contrast("key", "fixed", "random"), Contrast("data", "zeros", "random")),
    "open": (Contrast("input", "late", "early"),),
}


@pytest.mark.native
def test_all_that_is_given_is_aligned_wherever_buffers_are_asked_to_lie(tmp_path: Path):
    place = tmp_path / "crypto_aead" / "aes128gcmv1" / "picky"
    place.mkdir(parents=True)
    lengths = {"KEYBYTES": 16, "NSECBYTES": 0, "NPUBBYTES": 12, "ABYTES": 16}
    (place / "api.h").write_text("".join(f"#define CRYPTO_{name} {n}\n" for name, n in lengths.items()))
    (place / "aead.c").write_text(PICKY)
    spec = build_one(place, "aes-128-gcm")
    with Session(spec) as session:
        session.hello()
        session.calibrate(5, epoch=0)
        for operation, contrasts in SECRETS.items():
            for size in (1, 33, 64):
                # odd, as an audit asks
                handle = session.prepare("aes-128-gcm", operation, "rekey/1", size, seed=7, offset=37)
                session.check_calls(handle, 17)
                assert session.round_trip(handle).passed
                assert operation == "seal" or session.forgery(handle).passed
                audited = session.audit(handle, seed=5, calls=40).answer
                assert (audited.failures, audited.forged) == (0, audited.refused)
                cell = Cell("picky", "aes-128-gcm", operation, size, "rekey/1")
                for contrast in contrasts:
                    request = TakePairs(
                        id=session.next_id(),
                        handle=handle,
                        seed=3,
                        role=contrast.role,
                        first=contrast.first,
                        second=contrast.second,
                        pairs=4,
                        limit_ms=1000.0,
                    )
                    take_pairs(session, request, cell=cell, epoch=0, round=0)
