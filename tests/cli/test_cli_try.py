"""`perbyte try`, as a user types it: a file, an algorithm, a function."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import json
import platform
import shutil
import threading
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from fake_scripts import row

from perbyte.app.trying.trial import Kept, Trial
from perbyte.cli import try_command
from perbyte.errors import EXIT_FINE, EXIT_FOUND, EXIT_INCORRECT, EXIT_USAGE, UsageError
from perbyte.model import Policy

pytestmark = pytest.mark.native

CODE = Path(__file__).parent.parent / "trial" / "code"
SHORT = ("--budget", "500ms", "--size", "64", "-q")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return Path(shutil.copy(CODE / "sha256.c", tmp_path / "mine.c"))


def test_a_file_is_measured_and_its_flags_are_part_of_the_row(world, source):
    done = world.perbyte(
        "try", source, "--as", "sha-256", *SHORT, "--flags", "-O1", "--flags=-O3 -funroll-loops", "--json"
    )
    assert done.returncode == EXIT_FINE, done.stderr
    told = json.loads(done.stdout)
    assert {cell["runner"] for cell in told["cells"]} == {"mine-O1", "mine-O3-funroll-loops"}
    flags = {each_row["runner"]: each_row["flags"] for each_row in told["trial"]["rows"]}
    assert flags == {"mine-O1": "-O1", "mine-O3-funroll-loops": "-O3 -funroll-loops"}


def test_a_table_says_how_it_was_compiled_and_that_nothing_is_there_to_compare(world, source):
    done = world.perbyte("try", source, "--as", "sha256", "--function", "own_sha256", *SHORT)
    assert done.returncode == EXIT_FINE, done.stderr
    assert "mine: mine.c, " in done.stdout
    assert "-O2" in done.stdout
    assert "no library here does the same" in done.stdout


def test_wrong_code_is_refused_with_expected_and_got(world, source):
    source.write_text(source.read_text().replace("0xc67178f2", "0xc67178f3"))
    done = world.perbyte("try", source, "--as", "sha-256", *SHORT)
    assert done.returncode == EXIT_INCORRECT
    assert "wrong answer to a known one" in done.stdout
    assert "expected" in done.stdout
    assert "got" in done.stdout


def test_code_that_crashes_costs_nothing_but_its_own_row(world, source):
    source.write_text("void f(char *out, const char *in, int n) { *(volatile int *)0 = 1; }\n")
    done = world.perbyte("try", source, "--as", "sha-256", *SHORT)
    assert done.returncode == EXIT_INCORRECT
    assert "crashed" in done.stdout


WRONG = "void f(char *out, const char *in, int n) { for (int i = 0; i < 32; i++) out[i] = 1; }\n"
CRASH = "void f(char *out, const char *in, int n) { *(volatile int *)0 = 1; }\n"
HANG = "void f(char *out, const char *in, int n) { for (volatile int i = 1; i;) ; }\n"


@pytest.mark.parametrize(
    ("code", "message"),
    [(WRONG, "wrong answer to a known one"), (CRASH, "SIGSEGV"), (HANG, "it hangs, or is slow")],
)
def test_what_is_not_right_is_told_once_and_nothing_is_measured(world, script, source, code, message):
    world.add(script("alpha"))
    source.write_text(code)
    words = ("try", source, "--as", "sha-256", "--patience", "400ms", "-q")
    for more in ((), ("--baseline",)):
        done = world.perbyte(*words, *more)
        assert done.returncode == EXIT_INCORRECT, done.stderr
        assert done.stdout.count("\n") == 1, done.stdout
        assert message in done.stdout
    told = json.loads(world.perbyte(*words, "--json").stdout)
    assert [fault["runner"] for fault in told["trial"]["faults"]] == ["mine"]
    assert not (world.home / "runs").exists(), "no run was begun"


def test_of_several_sets_of_flags_only_the_wrong_one_is_left_out(world, source):
    source.write_text("#ifdef BROKEN\n#error no\n#endif\n" + source.read_text())
    code = source.read_text().replace("0xc67178f2", "\n#ifdef WRONG\n0xc67178f3\n#else\n0xc67178f2\n#endif\n")
    source.write_text(code)
    done = world.perbyte(
        "try", source, "--as", "sha-256", *SHORT, "--flags=-O2", "--flags=-O2 -DWRONG", "--json"
    )
    assert done.returncode == EXIT_INCORRECT
    told = json.loads(done.stdout)
    assert {cell["runner"] for cell in told["cells"]} == {"mine-O2"}
    assert [fault["runner"] for fault in told["trial"]["faults"]] == ["mine-O2-DWRONG"]


def test_what_breaks_off_later_ends_the_run_that_was_made_for_it(world, script, source):
    """The function crashes at its thousandth call: checked, begun, lost; the library alone is of no interest."""
    world.add(script("alpha"))
    code = source.read_text().replace(
        "s[0] += a", "static int calls; if (calls++ > 5000) *(volatile int *)0 = 1; s[0] += a"
    )
    source.write_text(code)
    done = world.perbyte("try", source, "--as", "sha-256", "--size", "64", "--budget", "60s", "--json", "-q")
    assert done.returncode == EXIT_INCORRECT, done.stderr
    told = json.loads(done.stdout)
    assert told["cells"] == []
    assert told["run"]["measuring_s"] < 30


@pytest.mark.slow
def test_libraries_come_from_a_run_that_is_still_true(world, script, source):
    dear = row("sha-256", "digest", "oneshot/1", per_call=900.0, per_byte=9.0)
    cheap, _ = world.add(script("alpha"), {"name": "beta", "operations": [dear]})
    words = ("try", source, "--as", "sha-256", "--size", "64", "--budget", "500ms")
    first = world.perbyte(*words)
    assert first.returncode == EXIT_FINE, first.stderr
    assert "not measured again" not in first.stdout
    second = world.perbyte(*words)
    assert second.returncode == EXIT_FINE, second.stderr
    assert "(same boot, builds and policy):" in second.stdout
    assert "digest 64 B: beta " in second.stdout, "alpha is the best, and was measured again"
    assert "against alpha" in second.stdout or "times the cost of alpha" in second.stdout
    told = json.loads(world.perbyte(*words, "--json", "-q").stdout)
    assert {cell["runner"] for cell in told["cells"]} == {"mine", "alpha"}
    assert [cell["address"] for cell in told["trial"]["stored"]["cells"]] == [
        "beta/sha-256/digest@64+contract=oneshot/1"
    ]
    assert told["trial"]["ratios"][0]["best"].startswith("alpha/")
    assert "not measured again" not in world.perbyte(*words, "--fresh").stdout
    # alpha gets slower, as it does where the machine is another than it was: nothing stored is used
    content = json.loads((cheap / "script.json").read_text())
    content["operations"][-1]["per_byte"] = 5.0
    (cheap / "script.json").write_text(json.dumps(content))
    slower = world.perbyte(*words)
    assert slower.returncode == EXIT_FINE
    assert "is out of date: alpha costs" in slower.stderr
    assert "not measured again" not in slower.stdout


def test_what_is_stored_must_be_of_the_same_builds_and_policy():
    from perbyte.app.trying.stored import _after, _alike, _started

    policy = Policy()
    assert _alike(policy, dataclasses.replace(policy, budget_s=1.0, seed=8, precision=0.1))
    for changed in ({"sample_us": 50.0}, {"gentle": True}, {"forks": True}, {"audit": True}):
        assert not _alike(policy, dataclasses.replace(policy, **changed))
    now = datetime.datetime.now(datetime.UTC)
    assert _started() < now
    assert _after(now.isoformat(), _started())
    assert not _after("2020-01-01T00:00:00+00:00", _started())
    assert not _after("yesterday", _started())


@pytest.mark.slow
def test_the_baseline_is_kept_and_compared_with(world, source):
    words = ("try", source, "--as", "sha-256", "--baseline", "--budget", "1s", "--size", "1KiB", "-q")
    first = world.perbyte(*words)
    assert first.returncode == EXIT_FINE, first.stderr
    assert "kept as the baseline" in first.stdout
    source.write_text(
        source.read_text().replace(
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


@pytest.mark.skipif(platform.machine() != "x86_64", reason="counting is of x86-64")
def test_instructions_are_counted_and_called_so(world, source):
    words = ("try", source, "--as", "sha-256", *SHORT, "--count", "--json")
    counts = [json.loads(world.perbyte(*words).stdout)["trial"]["behaviour"] for _ in range(2)]
    own = [[each_row for each_row in each if each_row["address"].startswith("mine/")] for each in counts]
    assert own[0][0]["instructions"] == own[1][0]["instructions"]  # repeatable to the instruction
    assert own[0][0]["instructions"] == own[0][0]["instructions_repeated"]
    assert 1000 < own[0][0]["instructions"] < 20000  # two blocks of SHA-256
    assert own[0][0]["heap_calls"] == 0


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("nothing.c", "--as", "sha-256"), "does not exist"),
        (("{mine}",), "missing --as ALGORITHM"),
        (("{mine}", "--as", "sha-257"), "did you mean"),
        (("{mine}", "--as", "sha-256", "--function", "f"), "there are: own_sha256"),
        (
            ("{mine}", "--as", "sha-256", "--flags", "-O1", "--flags", "-O2", "--baseline"),
            "give --flags once",
        ),
        (("{mine}", "--as", "sha-256", "--flags", "-fno-such-flag"), "it does not build"),
        (("{mine}", "--as", "aes-128-ctr", "--function", "own_sha256"), "own_sha256(out, in, size)"),
        (("{mine}", "--as", "hpke-x25519-aes-128-gcm", "--function", "own_sha256"), "cannot be tried"),
        (("{mine}", "--as", "sha-256", "--name", "openssl"), "there is already a runner 'openssl'"),
    ],
)
def test_what_cannot_be_is_refused_with_the_way_out(world, source, words, complaint):
    done = world.perbyte("try", *(word.format(mine=source) for word in words))
    assert done.returncode == EXIT_USAGE
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr


def test_watch_compares_again_at_each_change_and_survives_a_broken_file(source, monkeypatch, capsys):
    """The loop alone: what it compares is tested above. The file changes again and again until the end."""
    calls: list[bool] = []
    changing = threading.Event()

    def against(_self: object, *, keep: bool) -> Kept:
        calls.append(keep)
        if len(calls) == 2:
            raise UsageError("it does not build", hint="the compiler's words")
        if len(calls) == 4:
            raise KeyboardInterrupt
        return Kept("mine", SimpleNamespace(cells=()))

    def change() -> None:
        for turn in itertools.count():
            if changing.wait(0.2):
                return
            source.write_text(f"/* {turn} */")

    monkeypatch.setattr(Trial, "against_baseline", against)
    thread = threading.Thread(target=change)
    words = [str(source), "--as", "sha-256", "--watch", "--keep"]
    thread.start()
    try:
        with pytest.raises(click.Abort):
            try_command.try_command.main(words, standalone_mode=False, help_option_names=["-h", "--help"])
    finally:
        changing.set()
        thread.join()
    assert calls == [True, False, False, False]  # kept once, then compared
    err = capsys.readouterr().err
    assert err.count("waiting for a change") == 3
    assert "it does not build (the compiler's words)" in err
