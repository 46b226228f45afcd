"""What is generated around an implementation of a tree: signatures apart from messages, narrower processors."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest

from perbyte.trial.supercop import narrower
from perbyte.trial.supercop_cargo import build_crate
from perbyte.trial.supercop_glue import support
from perbyte.trial.supercop_tree import Unusable, keccak

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
    assert "crypto_sign" not in support("hash", {"BYTES": 40})
    assert "crypto_verify_16" in support("hash", {"BYTES": 40})


@pytest.mark.skipif(platform.machine() != "x86_64", reason="levels of x86-64")
def test_flags_for_narrower_processors_come_widest_first():
    found = narrower(("-O3", "-march=native"))
    assert found[0] == ("-O3", "-march=x86-64-v3")
    assert found[-1] == ("-O3", "-march=x86-64")
    assert narrower(("-O3",)) == ()


def test_a_crate_of_an_operation_that_is_not_called_is_refused_and_so_is_a_broken_one(tmp_path: Path):
    with pytest.raises(Unusable, match="crypto_kem of Rust"):
        build_crate(tmp_path, "kem", {}, (), tmp_path / "scratch")
    (tmp_path / "Cargo.toml").write_text("[package]\n")
    with pytest.raises(Unusable, match="name"):
        build_crate(tmp_path, "hash", {}, (), tmp_path / "scratch")


def test_a_tree_without_its_keccak_says_so(tmp_path: Path):
    with pytest.raises(Unusable, match="libkeccak"):
        keccak(tmp_path, ())
