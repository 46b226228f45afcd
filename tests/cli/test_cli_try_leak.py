"""`perbyte try --leak`: the user's own function by pairs of calls, and under Valgrind's memcheck."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from perbyte.errors import EXIT_FINE, EXIT_FOUND, EXIT_INCORRECT, EXIT_USAGE

pytestmark = pytest.mark.native

ROOT = Path(__file__).parents[2]
SIPHASH = ROOT / "tests" / "trial" / "code" / "siphash.c"
TABLES = ROOT / "bench" / "leaky" / "aes_tables.c"
TAINTED = pytest.mark.skipif(
    not shutil.which("valgrind") or not Path("/usr/include/valgrind/memcheck.h").is_file(),
    reason="no valgrind with its headers",
)
QUIET = ("--size", "64", "-q", "--json")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return Path(shutil.copy(SIPHASH, tmp_path / "mine.c"))


def look(world, file, algorithm, *more):
    return world.perbyte("try", file, "--as", algorithm, *more)


def taint(world, file, algorithm, *more):
    done = look(world, file, algorithm, "--leak=taint", *QUIET, *more)
    assert done.returncode in (EXIT_FINE, EXIT_FOUND), done.stderr
    return done.returncode, json.loads(done.stdout)["taint"]


@TAINTED
def test_code_that_no_secret_decides_has_no_place(world, source):
    code, places = taint(world, source, "siphash-2-4-64", "--fail-on", "leak")
    assert code == EXIT_FINE
    assert [place["what"].split(", ")[1] for place in places] == ["key", "data"]
    assert all(place["where"] == "" and "no branch" in place["said"] for place in places)


@TAINTED
def test_a_branch_is_told_by_file_and_line(world, source):
    text = source.read_text()
    there = text.index("{", text.index("siphash("))
    branch = '\n\tif (k[3] & 1)\n\t\t__asm__ volatile("");\n'
    source.write_text(text[: there + 1] + branch + text[there + 1 :])
    line = source.read_text()[: source.read_text().index("if (k[3]")].count("\n") + 1
    code, places = taint(world, source, "siphash-2-4-64", "--fail-on", "leak")
    assert code == EXIT_FOUND
    assert [(place["where"], place["said"].split(" in ")[0]) for place in places if place["where"]] == [
        (f"mine.c:{line}", "a branch depends on it")
    ]


@TAINTED
def test_addresses_are_told_of_keys_and_of_data(world):
    _, places = taint(world, TABLES, "aes-128-ecb", "--function", "key=aes_setup,encrypt=aes_encrypt")
    told = {(place["what"].split(", ")[1], place["said"].split(" depends")[0]) for place in places}
    assert told == {("key", "an address"), ("data", "an address")}
    assert all(place["where"].startswith("aes_tables.c:") for place in places)


def test_pairs_of_a_function_are_judged_and_kept(world, source):
    done = look(world, source, "siphash-2-4-64", "--leak", "--budget", "2s", *QUIET)
    assert done.returncode == EXIT_FINE, done.stderr
    told = json.loads(done.stdout)
    contrasts = {(figure["contrast"]["role"], figure["cold"]) for figure in told["figures"]}
    assert contrasts == {(role, cold) for role in ("key", "data") for cold in (False, True)}
    assert all(figure["taken"] and figure["null_taken"] for figure in told["figures"])
    shown = world.perbyte("show", told["run_id"], "--json")
    assert json.loads(shown.stdout)["figures"] == told["figures"]


def test_wrong_code_is_not_looked_at(world, source):
    source.write_text(source.read_text().replace("0x736f6d6570736575", "0x736f6d6570736576"))
    done = look(world, source, "siphash-2-4-64", "--leak", "--size", "64", "-q")
    assert done.returncode == EXIT_INCORRECT
    assert "wrong answer to a known one" in done.stdout


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--leak", "--baseline"), "--leak looks at one program alone"),
        (("--fail-on", "leak"), "--fail-on belongs to --leak"),
        (("--leak", "--fail-on", "slow"), "is unknown"),
    ],
)
def test_what_does_not_go_together_is_refused(world, source, more, message):
    done = look(world, source, "siphash-2-4-64", *more)
    assert done.returncode == EXIT_USAGE
    assert message in done.stderr


def test_other_languages_have_no_pairs(world):
    done = look(world, SIPHASH.with_name("managed.py"), "sha-256", "--function", "digest", "--leak")
    assert done.returncode == EXIT_USAGE
    assert "C, C++, assembly and Rust only" in done.stderr
