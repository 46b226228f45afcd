"""Ctrl-C at any moment: code 130, no traceback, and what was measured is kept."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from perbyte import __main__ as entry
from perbyte.cli import interrupts
from perbyte.errors import EXIT_FINE, EXIT_INTERRUPTED

# as the console script begins, which imports no more than this before it calls
SCRIPT = (sys.executable, "-c", "from perbyte.__main__ import main; main()")
MOMENTS = 14
LIMIT_S = 60


def interrupted(world, after_s: float, *words: object) -> subprocess.CompletedProcess[str]:
    """The end of a command whose whole process group got SIGINT after so many seconds, as a terminal sends it."""
    process = subprocess.Popen(
        [*SCRIPT, *map(str, words)],
        env=world.environment,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    time.sleep(after_s)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=LIMIT_S)
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def before_us(done: subprocess.CompletedProcess[str]) -> bool:
    """True where the interpreter itself was interrupted: none of our functions was called."""
    ours = [line for line in done.stderr.splitlines() if "perbyte" in line and "in <module>" not in line]
    return done.returncode in (-signal.SIGINT, 1) and not any("File" in line for line in ours)


def hold(done: subprocess.CompletedProcess[str], after_s: float) -> bool:
    """Check one end; True where it was an interruption that we answered."""
    if before_us(done):
        return False
    assert "Traceback" not in done.stderr, (after_s, done.stderr)
    assert "Exception ignored" not in done.stderr, (after_s, done.stderr)
    assert done.returncode in (EXIT_INTERRUPTED, EXIT_FINE), (after_s, done.returncode, done.stderr)
    return done.returncode == EXIT_INTERRUPTED


@pytest.mark.slow
def test_ctrl_c_while_the_program_loads_ends_it_with_130(world, script):
    world.add(script("alpha"))
    ask = ("measure", "alpha/sha-256@16", "--epochs", 40, "--budget", "20s", "--precision", "0.01%")
    moments = [number / MOMENTS for number in range(MOMENTS)]
    answered = [hold(interrupted(world, after, *ask), after) for after in moments]
    assert sum(answered) > MOMENTS // 2
    assert all(answered[MOMENTS // 2 :]), "the interpreter is up by then"


@pytest.mark.slow
def test_ctrl_c_during_a_run_keeps_what_was_measured(world, script):
    """The run is interrupted again and again, and goes on each time."""
    world.add(script("alpha", pace=0.5), script("beta", pace=0.5))
    run = world.home / "run"
    ask = (
        "measure",
        "*/sha-256@16,64",
        "--epochs",
        90,
        "--budget",
        "90s",
        "--precision",
        "0.01%",
        "--out",
        run,
    )
    first = interrupted(world, 1.5, *ask)
    assert first.returncode == EXIT_INTERRUPTED, first.stderr
    assert f"perbyte measure --resume {run}" in first.stderr
    for number in range(7):
        after = 0.4 + number * 0.15
        done = interrupted(world, after, "measure", "--resume", run, "--budget", "60s")
        assert hold(done, after), (after, done.returncode, done.stderr)
    assert world.perbyte("verify", run).returncode == EXIT_FINE
    assert world.shown(run)["cells"]


@pytest.mark.slow
def test_two_interruptions_at_once_leave_no_traceback(world, script):
    world.add(script("alpha", pace=0.5))
    ask = ("measure", "alpha/sha-256@16", "--epochs", 40, "--budget", "20s", "--precision", "0.01%")
    for gap_s in (0.0, 0.002, 0.01, 0.03, 0.1):
        process = subprocess.Popen(
            [*SCRIPT, *map(str, ask)],
            env=world.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        time.sleep(1.2)
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(gap_s)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=LIMIT_S)
        assert "Traceback" not in err, (gap_s, err)
        assert process.returncode == EXIT_INTERRUPTED, (gap_s, err)


def test_who_ignores_interruptions_goes_on_ignoring_them(world):
    ignoring = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN);"
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", ignoring, *SCRIPT, "list", "algorithms"],
        env=world.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    time.sleep(0.3)  # until it is ignored
    for _ in range(20):
        time.sleep(0.02)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=LIMIT_S)
    assert process.returncode == EXIT_FINE


def test_an_interruption_that_was_dropped_comes_again():
    class Freed:
        def __del__(self) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), interrupts.as_exceptions():  # noqa: PT012
        del_me = Freed()
        del del_me
        for _ in range(
            60_000
        ):  # a busy host may start the thread late, and no other test must be interrupted
            time.sleep(0.001)


def test_what_was_interrupted_before_is_forgotten():
    with contextlib.suppress(KeyboardInterrupt), interrupts.as_exceptions():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
    assert interrupts.came()
    with interrupts.as_exceptions():
        assert not interrupts.came()


def test_the_beginning_is_light_and_knows_the_code():
    assert entry.EXIT_INTERRUPTED == EXIT_INTERRUPTED
    code = (
        "import perbyte.__main__, sys; print(len([one for one in sys.modules if one.startswith('perbyte')]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) == 2, "perbyte and its beginning"
    assert Path(entry.__file__).name == "__main__.py"
