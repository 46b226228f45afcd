"""What machines do to a run, and no runner: they are suspended, lose a core, cannot write their disk."""

from __future__ import annotations

import ast
import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from perbyte.errors import StoreError
from perbyte.store import RunWriter, bursts, open_run, verify

SOURCES = Path(__file__).parents[2] / "src" / "perbyte"
ASKER = """
import os, time
from perbyte.runners.process import RunnerProcess
words = "read question; sleep 0.4; printf 'an answer of %70000s\\\\n' x"
runner = RunnerProcess("late", ["sh", "-c", words], environment=dict(os.environ))
runner.send(b"?\\n")
print("asked", flush=True)
print(len(runner.receive(3.0)), flush=True)
"""


def test_the_time_in_which_perbyte_itself_was_stopped_counts_against_no_runner():
    """Ctrl-Z, or a hypervisor that holds the machine: the answer was there in time, and is longer than a pipe."""
    child = subprocess.Popen(
        [sys.executable, "-c", ASKER], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "asked\n"
    child.send_signal(signal.SIGSTOP)
    time.sleep(4.5)
    child.send_signal(signal.SIGCONT)
    out, err = child.communicate(timeout=60)
    assert out == "70014\n", err


def test_a_run_that_is_suspended_in_its_middle_goes_on(world, script, tmp_path):
    world.add(script("alpha", pace=3))
    words = (
        "measure",
        "alpha/aes-128-ecb@16",
        "--epochs",
        2,
        "--precision",
        "20%",
        "--out",
        tmp_path / "run",
    )
    run = world.start(*words, "-q")
    deadline = time.monotonic() + 60
    while not (tmp_path / "run" / "journal.jsonl").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    run.send_signal(signal.SIGSTOP)
    time.sleep(1.5)
    run.send_signal(signal.SIGCONT)
    _, err = run.communicate(timeout=90)
    assert run.returncode == 0, err
    assert not open_run(tmp_path / "run").failures
    assert not verify(tmp_path / "run").damaged


@pytest.fixture
def read_only(tmp_path):
    """A file system that turns read-only, as Linux makes it after an error of the disk."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("cannot mount a small file system here")
    yield place, lambda how: subprocess.run(["mount", "-o", f"remount,{how}", str(place)], check=True)
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_disk_that_turns_read_only_loses_nothing(read_only, world, script, quick):
    place, remount = read_only
    world.add(script("alpha"))
    done = world.perbyte("measure", "alpha/aes-128-ecb@16", *quick, "--out", place / "run")
    assert done.returncode == 0, done.stderr
    remount("ro")
    for words in (("show", place / "run"), ("verify", place / "run"), ("recover", place / "run")):
        assert world.perbyte(*words).returncode == 0, words
    for words in (
        ("measure", "alpha/*", *quick, "--out", place / "new"),
        ("measure", "--resume", place / "run"),
    ):
        answer = world.perbyte(*words)
        assert answer.returncode == 3, answer.stderr
        assert "cannot write" in answer.stderr
        assert "hint: " in answer.stderr
        assert "Traceback" not in answer.stderr
    remount("rw")
    assert world.perbyte("verify", place / "run").returncode == 0


def test_a_journal_on_a_disk_that_fails_keeps_what_it_had(tmp_path, monkeypatch):
    import importlib.util

    file = Path(__file__).parents[1] / "store" / "conftest.py"
    spec = importlib.util.spec_from_file_location("store_specimens", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made = module.Specimens()
    writer = RunWriter.create(tmp_path / "run")
    writer.begin(made.conditions())
    writer.measured(made.burst(0))

    def failing(*_: object) -> int:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as broken:
        broken.setattr(os, "write", failing)
        with pytest.raises(StoreError, match="Input/output error"):
            writer.measured(made.burst(1))
    writer.measured(made.burst(1))
    writer.close()
    assert list(bursts(tmp_path / "run")) == [made.burst(0), made.burst(1)]


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="Perbyte itself needs another core then")
def test_a_core_that_goes_offline_ends_in_words(world, script, tmp_path, quick):
    """Linux moves whoever ran there; the next process that is to be pinned to it cannot be, and says so."""
    world.add(script("alpha"))
    core = max(os.sched_getaffinity(0))
    hook = tmp_path / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(
        "import errno, os\n"
        "real, calls = os.sched_setaffinity, []\n"
        "def offline(pid, cores):\n"
        f"    calls.append(1 if set(cores) == {{{core}}} else 0)\n"
        "    if sum(calls) > 4 and calls[-1]:\n"
        "        raise OSError(errno.EINVAL, 'Invalid argument')\n"
        "    return real(pid, cores)\n"
        "os.sched_setaffinity = offline\n"
    )
    answer = world.perbyte(
        *("measure", "alpha/aes-128-ecb@16", "--core", core, "--epochs", 12, "--precision", "20%"),
        *("--out", tmp_path / "run"),
        environment={"PYTHONPATH": str(hook)},
    )
    assert "Traceback" not in answer.stderr, answer.stderr
    run = open_run(tmp_path / "run")
    assert any(f"core {core} cannot be used" in failure.message for failure in run.failures)
    assert not verify(tmp_path / "run").damaged


def test_no_length_of_time_is_taken_from_a_clock_that_can_be_set():
    """So that a stepped clock can neither end nor lengthen anything; it only dates a run wrongly."""
    settable = {"time", "time_ns", "localtime", "gmtime", "mktime"}
    words = [
        f"{file.relative_to(SOURCES)}:{node.lineno}"
        for package in ("measure", "runners", "store", "stats", "protocol", "cli")
        for file in sorted((SOURCES / package).rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "time"
        and node.attr in settable
    ]
    assert words == []
