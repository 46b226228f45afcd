"""Shapes by language: the table of docs/try.md, and functions on key pairs in Python and JavaScript."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_trial_languages import managed, needs
from trial_answers import answers

from perbyte.catalogue import load
from perbyte.errors import UsageError
from perbyte.runners import Session
from perbyte.trial.language import KINDS, OF_SCRIPTS
from perbyte.trial.own_algorithm import find_new

DOCS = Path(__file__).parent.parent.parent / "docs" / "try.md"
SCRIPTS = [pytest.param(suffix, marks=needs[suffix]) for suffix in (".py", ".js")]


@pytest.mark.native
@pytest.mark.parametrize("suffix", SCRIPTS)
@pytest.mark.parametrize(
    ("algorithm", "functions", "row"),
    [
        ("hkdf-sha-256", "expand", ("expand", "expand/1")),
        ("x25519", "base=base,derive=derive", ("derive", "pk/1")),
    ],
)
def test_a_script_gives_known_answers(
    tmp_path: Path, code: Path, suffix: str, algorithm: str, functions: str, row: tuple[str, str]
):
    spec = managed(tmp_path, code / f"managed_pairs{suffix}", algorithm, functions)
    assert answers(spec, algorithm)[row] > 1


@pytest.mark.native
@needs[".js"]
def test_a_signature_of_javascript_gives_known_answers_and_refuses_forgeries(tmp_path: Path, code: Path):
    functions = "keypair=keypair,sign=sign,verify=verify"
    spec = managed(tmp_path, code / "managed_pairs.js", "ed25519", functions)
    outcomes = answers(spec, "ed25519")
    assert outcomes["sign", "pk/1"] > 1
    assert outcomes["verify", "pk/1"] > 1


@pytest.fixture
def catalogue(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PERBYTE_CATALOGUE", "")
    yield
    load.cache_clear()


@pytest.mark.native
@pytest.mark.usefixtures("catalogue")
@pytest.mark.parametrize("suffix", SCRIPTS)
def test_a_kem_of_a_script_is_held_to_itself(tmp_path: Path, code: Path, suffix: str):
    made = find_new("new:mine", "kem", ["public=32,ciphertext=32,out=32"], None)
    names = ("dh_keypair", "dh_encapsulate", "dh_decapsulate")
    if suffix == ".js":
        names = ("dhKeypair", "dhEncapsulate", "dhDecapsulate")
    functions = ",".join(
        f"{step}={name}" for step, name in zip(("keypair", "encapsulate", "decapsulate"), names, strict=True)
    )
    spec = managed(tmp_path, code / f"managed_pairs{suffix}", made.id, functions)
    with Session(spec) as session:
        assert session.round_trip(
            session.prepare(made.id, "encapsulate", "pk/1", 32, seed=7, offset=0)
        ).passed
        handle = session.prepare(made.id, "decapsulate", "pk/1", 32, seed=7, offset=0)
        assert session.forgery(handle).passed


@pytest.mark.native
@pytest.mark.usefixtures("catalogue")
@needs[".py"]
def test_a_verification_of_python_may_answer_or_raise(tmp_path: Path, code: Path):
    made = find_new("new:mine", "signature", ["key=32,out=32"], None)
    functions = "keypair=mac_keypair,sign=mac_sign,verify=mac_verify"
    spec = managed(tmp_path, code / "managed_pairs.py", made.id, functions)
    with Session(spec) as session:
        handle = session.prepare(made.id, "verify", "pk/1", 64, seed=7, offset=0)
        assert session.forgery(handle).passed
        assert session.round_trip(session.prepare(made.id, "sign", "pk/1", 64, seed=7, offset=0)).passed


@needs[".py"]
def test_a_key_pair_of_a_script_is_made_of_a_seed(tmp_path: Path):
    file = tmp_path / "mine.py"
    file.write_text(
        "def keypair():\n  pass\ndef sign(message, sk):\n  pass\ndef verify(sig, message, pk):\n  pass\n"
    )
    with pytest.raises(UsageError, match="must make the key pair of a seed"):
        managed(tmp_path, file, "ed25519", "keypair=keypair,sign=sign,verify=verify")
    with pytest.raises(UsageError, match="there is no function for verify"):
        managed(tmp_path, file, "ed25519", "keypair=keypair,sign=sign")


def test_the_table_of_shapes_by_language_is_that_of_the_code():
    """Rows are kinds of algorithms; C, C++, Rust and Zig go through the C SDK, which has them all."""
    text = DOCS.read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z, -]+) \| yes \| (yes|no) \| (yes|no) \|$", text, re.MULTILINE)
    told = {kind: cells for kinds, *cells in rows for kind in kinds.split(", ")}
    scripts, rest = KINDS | OF_SCRIPTS, KINDS
    assert told == {
        kind: ["yes" if kind in scripts else "no", "yes" if kind in rest else "no"]
        for kind in (*scripts, "block-cipher", "permutation", "password-hash")
    }
