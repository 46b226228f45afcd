"""`perbyte supercop`: a tree is measured or listed, nothing ends it, and it goes on where it ended."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from types import SimpleNamespace

import pytest

from perbyte.app.supercop import Way, held_to_reference, unmade
from perbyte.errors import EXIT_FINE, EXIT_INCORRECT, EXIT_USAGE
from perbyte.model.run import Failure
from perbyte.trial.supercop import Implementation

pytestmark = pytest.mark.native

# published with SUPERCOP for SHA-512
SMALL = "8220572f58bd4730be165c9739d8d4b0fd2e0229dbe01e25b4aed23f00f23b70"
SHA512 = """\
#include <openssl/sha.h>
#include "crypto_hash.h"
#include "crypto_declassify.h"
#ifndef SUPERCOP
#error no SUPERCOP
#endif
#define own CRYPTO_NAMESPACE(own)
int own(int x) { return x; }
int CRYPTO_NAMESPACETOP(unsigned char *o, const unsigned char *i, unsigned long long n)
{ SHA512(i, n, o); crypto_declassify(o, CRYPTO_BYTES); return own(WRONG); }
""".replace("CRYPTO_BYTES", "crypto_hash_BYTES")
PLAIN = "#define SHA512(i, n, o) ((o)[0] = (unsigned char)(n))"


def add(place: Path, code: str, lengths: str = "#define CRYPTO_BYTES (32 + 8 * 4)\n") -> None:
    place.mkdir(parents=True)
    (place / "api.h").write_text(lengths)
    (place / "hash.c").write_text(code)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A primitive of the catalogue and one that it lacks, both with a checksum; one without; one not to be measured."""
    root = tmp_path / "tree"
    for name in ("sha512", "nobodys"):
        home = root / "crypto_hash" / name
        add(home / "openssl", SHA512.replace("WRONG", "0"))
        add(home / "fails", SHA512.replace("WRONG", "1"))
        (home / "checksumsmall").write_text(SMALL + "\n")
    add(root / "crypto_hash" / "unchecked" / "ref", SHA512.replace("WRONG", "0"))
    add(root / "crypto_core" / "some" / "ref", "")
    (root / "version").write_text("20260330\n")
    return root


def test_a_tree_is_accounted_for_and_resumed(world, tree, tmp_path):
    out = tmp_path / "out"
    words = ("supercop", tree, "--size", "64", "--budget", "500ms", "--out", out)
    done = world.perbyte(*words)
    assert done.returncode == EXIT_INCORRECT, done.stderr
    state = [json.loads(line) for line in (out / "state.jsonl").read_text().splitlines()]
    assert {(row["primitive"], row["implementation"]): row["word"] for row in state} == {
        ("sha512", "openssl"): "measured",
        ("sha512", "fails"): "wrong",
        ("nobodys", "openssl"): "measured",
        ("nobodys", "fails"): "wrong",
        ("unchecked", "ref"): "not known",
    }
    assert "1 of crypto_core" in done.stderr
    data = (out / "data").read_text()
    assert f"crypto_hash sha512/timingleaks try {SMALL}/- unknown " in data
    assert " tryfails crypto_hash/nobodys/fails " in data
    assert all(line.startswith("20260330 ") for line in data.splitlines())
    again = world.perbyte(*words)
    assert again.returncode == EXIT_FINE, again.stderr
    assert "nobodys" not in again.stdout
    assert "3 primitives, 5 programs: 2 measured" in again.stdout


def test_a_killed_line_of_the_journal_is_done_again(world, tree, tmp_path):
    out = tmp_path / "out"
    words = ("supercop", tree, "crypto_hash/unchecked", "--out", out, "-q")
    assert world.perbyte(*words).returncode == EXIT_FINE
    state = out / "state.jsonl"
    state.write_text(state.read_text()[:40])
    done = world.perbyte(*words)
    assert "1 not known" in done.stdout


def test_all_compilers_of_the_list_are_tried(world, tree, tmp_path):
    (tree / "okcompilers").mkdir()
    (tree / "okcompilers" / "c").write_text("gcc -O1\nno-such-cc -O1\ngcc -O3\n")
    (tree / "okcompilers" / "cpp").write_text("g++ -O1\nno-such-c++ -O1\ng++ -O3\n")
    out = tmp_path / "out"
    words = ("sha512", "--size", "64", "--budget", "500ms", "--out", out, "--compilers", "all", "-q")
    assert world.perbyte("supercop", tree, *words).returncode == EXIT_INCORRECT
    state = [json.loads(line) for line in (out / "state.jsonl").read_text().splitlines()]
    assert sorted((row["compiler"], row["word"]) for row in state) == [
        ("gcc_-O1", "measured"),
        ("gcc_-O1", "wrong"),
        ("gcc_-O3", "measured"),
        ("gcc_-O3", "wrong"),
    ]


def test_a_primitive_that_is_not_there_is_said(world, tree):
    done = world.perbyte("supercop", tree, "sha3256")
    assert done.returncode == EXIT_USAGE
    assert "no primitive is called sha3256" in done.stderr


def outcomes(out: Path) -> dict[str, dict[str, str]]:
    """The last outcome of each implementation in a journal."""
    lines = [json.loads(line) for line in (out / "state.jsonl").read_text().splitlines()]
    return {each_line["implementation"]: each_line for each_line in lines}


def test_an_implementation_for_x86_alone_is_built_for_32_bits(world, tmp_path):
    if platform.machine() != "x86_64":
        pytest.skip("x86-64 runs these")
    narrow = "#include <errno.h>\n#if __SIZEOF_POINTER__ != 4\n#error not 32 bits\n#endif\n"
    alone = narrow + SHA512.replace("#include <openssl/sha.h>", PLAIN).replace("WRONG", "0")
    home = tmp_path / "tree" / "crypto_hash" / "sha512"
    add(home / "narrow", alone)
    (home / "narrow" / "architectures").write_text("x86\n")
    out = tmp_path / "out"
    world.perbyte("supercop", tmp_path / "tree", "--size", "64", "--budget", "500ms", "--out", out, "-q")
    made = outcomes(out)["narrow"]
    if made["word"] == "cannot be built" and "makes no programs with" in made["detail"]:
        pytest.skip("this compiler makes no programs of 32 bits")
    assert made["word"] == "wrong", (
        made
    )  # PLAIN computes no hash: it was built, started and held against known answers
    assert "known" in made["detail"]


def test_keys_and_nonces_are_aligned_as_supercop_aligns_them(world, tmp_path):
    code = """#include "crypto_stream.h"
int crypto_stream_xor(unsigned char *c, const unsigned char *m, unsigned long long n, const unsigned char *v,
                      const unsigned char *k)
{ if (((unsigned long long)v | (unsigned long long)k) % 64) __builtin_trap(); return 0; }
int crypto_stream(unsigned char *c, unsigned long long n, const unsigned char *v, const unsigned char *k) { return 0; }
"""
    lengths = "#define CRYPTO_KEYBYTES 32\n#define CRYPTO_NONCEBYTES 8\n"
    add(tmp_path / "tree" / "crypto_stream" / "salsa20" / "picky", code, lengths)
    out = tmp_path / "out"
    world.perbyte("supercop", tmp_path / "tree", "--size", "64", "--budget", "500ms", "--out", out, "-q")
    assert outcomes(out)["picky"]["word"] == "wrong"  # and no crash


def test_another_algorithm_of_the_same_name_is_measured_by_its_checksum(world, tmp_path):
    """SHA-512 under the name of SHA3-512, with the checksum of SHA-512."""
    home = tmp_path / "tree" / "crypto_hash" / "sha3512"
    add(home / "openssl", SHA512.replace("WRONG", "0"))
    (home / "checksumsmall").write_text(SMALL + "\n")
    out = tmp_path / "out"
    words = ("supercop", tmp_path / "tree", "--size", "64", "--budget", "500ms", "--out", out, "-q")
    assert world.perbyte(*words).returncode == EXIT_FINE
    made = outcomes(out)["openssl"]
    assert made["word"] == "measured"
    assert "not the catalogue's sha3-512" in made["detail"]


def test_each_compiler_of_the_list_compiles_the_implementation_too(world, tree, tmp_path, monkeypatch):
    tool = tmp_path / "bin" / "own-cc"
    tool.parent.mkdir()
    tool.write_text('#!/bin/sh\nexec cc -DOWN_CC "$@"\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    (tree / "okcompilers").mkdir()
    (tree / "okcompilers" / "c").write_text("own-cc -O1\n")
    (tree / "okcompilers" / "cpp").write_text("c++ -O1\n")
    picky = "#ifndef OWN_CC\n#error another compiler\n#endif\n" + SHA512.replace("WRONG", "0")
    add(tree / "crypto_hash" / "sha512" / "picky", picky)
    out = tmp_path / "out"
    words = ("sha512", "--size", "64", "--budget", "500ms", "--out", out, "--compilers", "all", "-q")
    world.perbyte("supercop", tree, *words)
    assert outcomes(out)["picky"]["word"] == "measured"


def test_of_two_against_two_those_that_disagree_with_the_reference_are_wrong(tmp_path):
    """As the OCB of a published tree: a table for a mebibyte in two of four implementations that fit its checksums."""
    sides = {"ref": "opt, vaes", "int": "opt, vaes", "opt": "int, ref", "vaes": "int, ref"}
    made = [
        unmade(Implementation("aead", "ocb", name, tmp_path), Way(()), name, "measured", "checksumsmall fits")
        for name in (*sides, "alone")
    ]
    failures = [
        Failure("disputed", name, f"disagrees with {others} on data of 1075249 bytes that nobody knew before")
        for name, others in sides.items()
    ]
    held = held_to_reference(made, SimpleNamespace(failures=failures))
    assert held
    assert {program.name: program.word for program in held} == {
        "ref": "measured",
        "int": "measured",
        "opt": "wrong",
        "vaes": "wrong",
        "alone": "measured",
    }
    assert held[2].detail.endswith("; disagrees with ref on data of 1075249 bytes that nobody knew before")
    assert held_to_reference(made, SimpleNamespace(failures=failures[1:])) is None
