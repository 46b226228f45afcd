"""`perbyte try`, as a user types it: a file, an algorithm, a function."""

from __future__ import annotations

import itertools
import json
import shutil
import threading
from pathlib import Path

import click
import pytest

from perbyte.cli import try_command
from perbyte.errors import EXIT_FINE, EXIT_FOUND, EXIT_INCORRECT, EXIT_USAGE, UsageError

pytestmark = pytest.mark.native

CODE = Path(__file__).parent.parent / "trial" / "code"
SHORT = ("--budget", "500ms", "--size", "64", "-q")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    return Path(shutil.copy(CODE / "sha256.c", tmp_path / "mine.c"))


def test_a_file_is_measured_and_its_flags_are_part_of_the_row(world, mine):
    done = world.perbyte(
        "try", mine, "--as", "sha-256", *SHORT, "--flags", "-O1", "--flags=-O3 -funroll-loops", "--json"
    )
    assert done.returncode == EXIT_FINE, done.stderr
    told = json.loads(done.stdout)
    assert {cell["runner"] for cell in told["cells"]} == {"mine-O1", "mine-O3-funroll-loops"}
    flags = {one["runner"]: one["flags"] for one in told["trial"]["rows"]}
    assert flags == {"mine-O1": "-O1", "mine-O3-funroll-loops": "-O3 -funroll-loops"}


def test_a_table_says_how_it_was_compiled_and_that_nothing_is_there_to_compare(world, mine):
    done = world.perbyte("try", mine, "--as", "sha256", "--function", "own_sha256", *SHORT)
    assert done.returncode == EXIT_FINE, done.stderr
    assert "mine: mine.c, " in done.stdout
    assert "-O2" in done.stdout
    assert "no library here does the same" in done.stdout


def test_wrong_code_is_refused_with_expected_and_got(world, mine):
    mine.write_text(mine.read_text().replace("0xc67178f2", "0xc67178f3"))
    done = world.perbyte("try", mine, "--as", "sha-256", *SHORT)
    assert done.returncode == EXIT_INCORRECT
    assert "wrong answer to a known one" in done.stdout
    assert "expected" in done.stdout
    assert "got" in done.stdout


def test_code_that_crashes_costs_nothing_but_its_own_row(world, mine):
    mine.write_text("void f(char *out, const char *in, int n) { *(volatile int *)0 = 1; }\n")
    done = world.perbyte("try", mine, "--as", "sha-256", *SHORT)
    assert done.returncode == EXIT_INCORRECT
    assert "crashed" in done.stdout


def test_the_baseline_is_kept_and_compared_with(world, mine):
    words = ("try", mine, "--as", "sha-256", "--baseline", "--budget", "2s", "--size", "1KiB", "-q")
    first = world.perbyte(*words)
    assert first.returncode == EXIT_FINE, first.stderr
    assert "kept as the baseline" in first.stdout
    mine.write_text(
        mine.read_text().replace(
            "s[0] += a", 'for (int i = 0; i < 99; i++) __asm__ volatile("" : : "r"(i)); s[0] += a'
        )
    )
    second = world.perbyte(*words, "--json")
    assert second.returncode in (EXIT_FINE, EXIT_FOUND), second.stderr
    change = json.loads(second.stdout)["changes"][0]
    assert change["verdict"] in ("slower", "faster", "the same", "not known")
    assert change["low"] <= change["ratio"] <= change["high"]
    again = world.perbyte(*words, "--keep")
    assert "kept as the baseline" in again.stdout


@pytest.mark.skipif(not shutil.which("valgrind"), reason="no valgrind")
def test_instructions_are_counted_and_called_so(world, mine):
    words = ("try", mine, "--as", "sha-256", *SHORT, "--instructions", "--json")
    counts = [json.loads(world.perbyte(*words).stdout)["trial"]["instructions"] for _ in range(2)]
    assert counts[0] == counts[1]  # repeatable to the instruction
    assert 1000 < counts[0][0]["instructions"] < 20000  # two blocks of SHA-256


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("nothing.c", "--as", "sha-256"), "does not exist"),
        (("{mine}",), "what does it compute?"),
        (("{mine}", "--as", "sha-257"), "did you mean"),
        (("{mine}", "--as", "sha-256", "--function", "f"), "there are: own_sha256"),
        (
            ("{mine}", "--as", "sha-256", "--flags", "-O1", "--flags", "-O2", "--baseline"),
            "give --flags once",
        ),
        (("{mine}", "--as", "sha-256", "--flags", "-fno-such-flag"), "it does not build"),
        (("{mine}", "--as", "aes-128-ctr", "--function", "own_sha256"), "own_sha256(out, in, size)"),
        (("{mine}", "--as", "argon2id", "--function", "own_sha256"), "cannot be tried"),
        (("{mine}", "--as", "sha-256", "--name", "openssl"), "there is a runner 'openssl' already"),
    ],
)
def test_what_cannot_be_is_refused_with_the_way_out(world, mine, words, complaint):
    done = world.perbyte("try", *(word.format(mine=mine) for word in words))
    assert done.returncode == EXIT_USAGE
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr


def test_watch_compares_again_at_each_change_and_survives_a_broken_file(mine, monkeypatch, capsys):
    """The loop alone: what it compares is tested above. The file changes again and again until the end."""
    calls: list[bool] = []
    changing = threading.Event()

    def against(_self: object, *, keep: bool) -> int:
        calls.append(keep)
        if len(calls) == 2:
            raise UsageError("it does not build", hint="the compiler's words")
        if len(calls) == 4:
            raise KeyboardInterrupt
        return EXIT_FINE

    def change() -> None:
        for turn in itertools.count():
            if changing.wait(0.2):
                return
            mine.write_text(f"/* {turn} */")

    monkeypatch.setattr(try_command.Trial, "against_baseline", against)
    thread = threading.Thread(target=change)
    words = [str(mine), "--as", "sha-256", "--watch", "--keep"]
    thread.start()
    try:
        with pytest.raises(click.Abort):
            try_command.command.main(words, standalone_mode=False)
    finally:
        changing.set()
        thread.join()
    assert calls == [True, False, False, False]  # kept once, then compared
    said = capsys.readouterr().err
    assert said.count("waiting for a change") == 3
    assert "it does not build (the compiler's words)" in said
