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
def mine(tmp_path: Path) -> Path:
    return Path(shutil.copy(SIPHASH, tmp_path / "mine.c"))


def look(world, file, algorithm, *more):
    return world.perbyte("try", file, "--as", algorithm, *more)


def taint(world, file, algorithm, *more):
    done = look(world, file, algorithm, "--leak=taint", *QUIET, *more)
    assert done.returncode in (EXIT_FINE, EXIT_FOUND), done.stderr
    return done.returncode, json.loads(done.stdout)["taint"]


@TAINTED
def test_code_that_no_secret_decides_has_no_place(world, mine):
    code, found = taint(world, mine, "siphash-2-4-64", "--fail-on", "leak")
    assert code == EXIT_FINE
    assert [one["what"].split(", ")[1] for one in found] == ["key", "data"]
    assert all(one["where"] == "" and "no branch" in one["said"] for one in found)


@TAINTED
def test_a_branch_is_told_by_file_and_line(world, mine):
    text = mine.read_text()
    there = text.index("{", text.index("siphash("))
    branch = '\n\tif (k[3] & 1)\n\t\t__asm__ volatile("");\n'
    mine.write_text(text[: there + 1] + branch + text[there + 1 :])
    line = mine.read_text()[: mine.read_text().index("if (k[3]")].count("\n") + 1
    code, found = taint(world, mine, "siphash-2-4-64", "--fail-on", "leak")
    assert code == EXIT_FOUND
    assert [(one["where"], one["said"].split(" in ")[0]) for one in found if one["where"]] == [
        (f"mine.c:{line}", "a branch depends on it")
    ]


@TAINTED
def test_addresses_are_told_of_keys_and_of_data(world):
    _, found = taint(world, TABLES, "aes-128-ecb", "--function", "key=aes_setup,encrypt=aes_encrypt")
    told = {(one["what"].split(", ")[1], one["said"].split(" depends")[0]) for one in found}
    assert told == {("key", "an address"), ("data", "an address")}
    assert all(one["where"].startswith("aes_tables.c:") for one in found)


def test_pairs_of_a_function_are_judged_and_kept(world, mine):
    done = look(world, mine, "siphash-2-4-64", "--leak", "--budget", "2s", *QUIET)
    assert done.returncode == EXIT_FINE, done.stderr
    told = json.loads(done.stdout)
    contrasts = {(one["contrast"]["role"], one["cold"]) for one in told["figures"]}
    assert contrasts == {(role, cold) for role in ("key", "data") for cold in (False, True)}
    assert all(one["taken"] and one["null_taken"] for one in told["figures"])
    shown = world.perbyte("show", told["run_id"], "--json")
    assert json.loads(shown.stdout)["figures"] == told["figures"]


def test_wrong_code_is_not_looked_at(world, mine):
    mine.write_text(mine.read_text().replace("0x736f6d6570736575", "0x736f6d6570736576"))
    done = look(world, mine, "siphash-2-4-64", "--leak", "--size", "64", "-q")
    assert done.returncode == EXIT_INCORRECT
    assert "wrong answer to a known one" in done.stdout


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--leak", "--baseline"), "--leak looks at one program alone"),
        (("--fail-on", "leak"), "--fail-on belongs to --leak"),
        (("--leak", "--fail-on", "slow"), "is unknown"),
    ],
)
def test_what_does_not_go_together_is_refused(world, mine, more, said):
    done = look(world, mine, "siphash-2-4-64", *more)
    assert done.returncode == EXIT_USAGE
    assert said in done.stderr


def test_other_languages_have_no_pairs(world):
    done = look(world, SIPHASH.with_name("managed.py"), "sha-256", "--function", "digest", "--leak")
    assert done.returncode == EXIT_USAGE
    assert "C, C++, assembly and Rust only" in done.stderr
