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
    words = ("try", "--supercop", tmp_path / "tree", "--size", "64", "--budget", "2s", "--flags=-O1")
    done = world.perbyte(*words, "-q", "--json", environment=catalogue)
    assert done.returncode == EXIT_INCORRECT, done.stderr
    told = json.loads(done.stdout)
    assert {one["name"]: one["outcome"] for one in told["implementations"]} == expected
    details = {one["name"]: one["detail"] for one in told["implementations"]}
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
    words = ("--as", "ascon-aead128", "--size", "64", "--budget", "1s", "-q", "--json")
    done = world.perbyte("try", "--supercop", place, *words)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert {(cell["runner"], cell["operation"], cell["contract"]) for cell in told["cells"]} == {
        (name, operation, "rekey/1") for name in ("ref", "other") for operation in ("seal", "open")
    }


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("{here}/nothing",), "is no directory"),
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


# of SUPERCOP's crypto_hash/sha512 and crypto_auth/hmacsha256, as published with it
PUBLISHED = {
    "hash/sha512": "8220572f58bd4730be165c9739d8d4b0fd2e0229dbe01e25b4aed23f00f23b70",
    "auth/hmacsha256": "0e2353400319630aecd4e8f0865325c51927fca117f6a50a2bc75bffba06e07a",
}
OPENSSL = {
    "hash/sha512": "#include <openssl/sha.h>\nint crypto_hash(unsigned char *o, const unsigned char *i,"
    " unsigned long long n) { SHA512(i, n, o); return 0; }",
    "auth/hmacsha256": "#include <openssl/hmac.h>\nint crypto_auth(unsigned char *o, const unsigned char *i,"
    " unsigned long long n, const unsigned char *k) { HMAC(EVP_sha256(), k, 32, i, n, o, 0); return 0; }\n"
    "int crypto_auth_verify(const unsigned char *o, const unsigned char *i, unsigned long long n,"
    " const unsigned char *k) { unsigned char h[32]; return crypto_auth(h, i, n, k) || o[0] != h[0]; }",
}


@pytest.mark.parametrize("what", PUBLISHED)
@pytest.mark.parametrize("right", [True, False])
def test_the_checksums_of_the_tree_are_compared(world, tmp_path, what, right):
    """Published checksums of SHA-512 and HMAC-SHA-256, which are not ours, come out of OpenSSL's functions."""
    place = tmp_path / f"crypto_{what}" / "wrapped"
    place.mkdir(parents=True)
    lengths = {"BYTES": 64 if "sha512" in what else 32, "KEYBYTES": 32}
    (place / "api.h").write_text("".join(f"#define CRYPTO_{name} {n}\n" for name, n in lengths.items()))
    (place / "it.c").write_text(OPENSSL[what])
    published = PUBLISHED[what] if right else PUBLISHED[what][::-1]
    (place.parent / "checksumsmall").write_text(published + "\n")
    algorithm = "sha-512" if "sha512" in what else "hmac-sha-256"
    words = ("--as", algorithm, "--size", "64", "--budget", "1s", "--beside", "none", "-q", "--json")
    done = world.perbyte("try", "--supercop", tmp_path, *words)
    (told,) = json.loads(done.stdout)["implementations"]
    if right:
        assert done.returncode == 0, done.stderr
        assert (told["outcome"], told["detail"]) == ("measured", "checksumsmall fits")
    else:
        assert done.returncode == EXIT_INCORRECT
        assert told["outcome"] == "wrong"
        assert told["detail"] == f"checksumsmall: expected {published}, got {PUBLISHED[what]}"
