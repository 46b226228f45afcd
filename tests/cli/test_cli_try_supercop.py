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
