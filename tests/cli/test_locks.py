"""Two who measure on one core: the second waits, and says for whom."""

from __future__ import annotations

import errno
import os
import re
import signal
import time
from pathlib import Path

import pytest
from fake_scripts import fault, row

from perbyte import places
from perbyte.errors import EXIT_ENVIRONMENT, EXIT_USAGE
from perbyte.locks import Lock, cores_held, held_by


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("PERBYTE_TEST_LOCKS", str(tmp_path))
    return tmp_path


def test_a_core_is_held_by_one_and_the_holder_is_named(home):
    place = home / "perbyte-core-1.lock"
    assert held_by(place) == ""
    with cores_held((0, 1), "the first"):
        held = held_by(place)
        assert re.fullmatch(rf"process {os.getpid()} of \S+, since .+ UTC: the first", held)
        other = Lock(place)
        assert not other.take("the second")
        assert other.holder() == held
        with cores_held((2,), "elsewhere"):
            assert "elsewhere" in held_by(home / "perbyte-core-2.lock")
    assert held_by(place) == ""
    assert other.take("the second")
    other.release()
    other.release()


def test_the_locks_are_the_machines_whatever_the_home(tmp_path, monkeypatch):
    monkeypatch.delenv("PERBYTE_TEST_LOCKS", raising=False)
    place = places.locks_home()
    for name in ("PERBYTE_HOME", "TMPDIR", "XDG_DATA_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    assert places.locks_home() == place
    assert place.stat().st_mode & 0o002, "every user may write there, or two users have two locks"


def test_a_place_that_only_some_may_write_to_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.delenv("PERBYTE_TEST_LOCKS", raising=False)
    for name, mode in (("of-root", 0o755), ("of-all", 0o1777)):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(mode)
    candidates = tuple(tmp_path / name for name in ("missing", "of-root", "of-all"))
    monkeypatch.setattr(places, "_SHARED", candidates)
    assert places.locks_home() == tmp_path / "of-all"


def test_what_needs_no_core_is_said_before_the_wait_for_one(world, script, quick, spare_core, tmp_path):
    """A place that cannot be written is an error at once, while another holds the core."""
    world.add(script("alpha"))
    words = ("measure", "alpha/aes-128-ecb@16", "--core", spare_core, *quick)
    full, file = tmp_path / "full", tmp_path / "file"
    full.mkdir()
    (full / "something").touch()
    file.touch()
    world.home.mkdir(exist_ok=True)
    source = tmp_path / "mine.c"
    source.write_text("int mine(void) { return 0; }\n")
    locks = [Lock(world.home / f"perbyte-core-{core}.lock") for core in os.sched_getaffinity(0)]
    assert all(lock.take("a test") for lock in locks)
    try:
        for out, why in ((full, "holds no run"), (file, "File exists"), (file / "below", "Not a directory")):
            answer = world.perbyte(*words, "--out", out)
            assert answer.returncode == EXIT_ENVIRONMENT, answer.stderr
            assert why in answer.stderr
            assert "waiting" not in answer.stderr
        for wrong in (
            ("measure", "alpha/no-such-cipher"),
            ("measure", "alhpa/sha-256@16"),
            ("measure", "alpha/sha-256@16", "--unit", "furlongs"),
            ("measure", "alpha/sha-256@16", "--rate", "2gb/s"),
            ("measure", "alpha/sha-256@16,32,64,128,256", "--budget", "1s", "--epochs", 100),
            ("measure", "alpha/sha-256@16", "--state", "asleep"),
        ):
            answer = world.perbyte(*wrong, "--core", spare_core)
            assert answer.returncode == EXIT_USAGE, (wrong, answer.stderr)  # at once: the lock is held on
        for words, why in (
            (("advise", "hash", "--report", tmp_path), "cannot be written: Is a directory"),
            (("advise", "hash", "--language", "cobol"), "no runner is in 'cobol'"),
            (("advise", "hash", "--path", tmp_path), "--path is only for disk"),
            (("try", tmp_path / "none.c", "--as", "sha-256"), "none.c"),
            (("try", source, "--as", "sha-257"), "sha-257"),
            (("try", source, "--as", "sha-256"), "no parameter for out"),
            (("bench", tmp_path / "none"), "none"),
        ):
            answer = world.perbyte(*words)
            assert answer.returncode in (EXIT_ENVIRONMENT, EXIT_USAGE), (words, answer.stderr)
            assert why in answer.stderr
            assert "waiting" not in answer.stderr, words
    finally:
        for lock in locks:
            lock.release()


@pytest.mark.parametrize("command", ["measure", "try", "advise"])
def test_who_holds_the_core_is_said_within_a_second_however_long_runners_take_to_answer(
    world, script, quick, spare_core, tmp_path, command
):
    slow = {"name": "alpha", "operations": [row("sha-256", "digest", "oneshot/1")]}
    world.add(slow | {"faults": [fault("hello", "slow", seconds=20.0, nth=0)]})
    source = tmp_path / "mine.c"
    source.write_text(
        (Path(__file__).parents[2] / "docs" / "examples" / "my_hash.c").read_text(encoding="utf-8")
    )
    words = {
        "measure": ("measure", "alpha/sha-256@64", "--core", spare_core, *quick),
        "try": ("try", source, "--as", "sha-256"),
        "advise": ("advise", "hash", "--core", spare_core),
    }[command]
    cores = sorted(os.sched_getaffinity(0)) if command == "try" else [spare_core]
    world.home.mkdir(exist_ok=True)
    locks = [Lock(world.home / f"perbyte-core-{core}.lock") for core in cores]
    assert all(lock.take("a test") for lock in locks)
    began = time.monotonic()
    process = world.start(*words)
    try:
        waiting = next(line for line in process.stderr if "waiting: core" in line)
        assert f"process {os.getpid()}" in waiting
        assert time.monotonic() - began < 15, "before the runner has answered"
    finally:
        process.kill()
        process.wait()
        for lock in locks:
            lock.release()


def test_permissions_tell_beforehand_what_cannot_be_written(tmp_path, monkeypatch):
    assert places.refusal(tmp_path / "new" / "run") is None
    monkeypatch.setattr("os.access", lambda place, mode: place != tmp_path)
    error = places.refusal(tmp_path / "new")
    assert error is not None
    assert error.errno == errno.EACCES
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b'{"pid": 1}',
        b"\xff",
        b"[" * 4096,
        b'{"pid": "../1", "user": "", "since": "", "what": ""}',
        b'{"pid": 99999999, "user": "a", "since": "b", "what": "of one who is gone"}',
    ],
)
def test_a_lock_whose_words_say_nothing_still_holds(home, text):
    with cores_held((0,), "x"):
        (home / "perbyte-core-0.lock").write_bytes(text)
        assert held_by(home / "perbyte-core-0.lock") == "another process"


def test_where_no_lock_can_be_made_nobody_is_kept_away(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("PERBYTE_TEST_LOCKS", str(tmp_path / "file"))
    with cores_held((0,), "x"):
        pass
    monkeypatch.setenv("PERBYTE_TEST_LOCKS", str(tmp_path))
    (tmp_path / "perbyte-core-0.lock").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(tmp_path / "perbyte-core-1.lock")
    with cores_held((0, 1), "x"):
        assert not (tmp_path / "elsewhere").exists()
    with pytest.raises(OSError, match=r"not a regular file|No such device"):
        Lock(tmp_path / "perbyte-core-1.lock")


def test_a_second_run_waits_for_the_first_and_loses_nothing(world, script, quick, spare_core):
    """The first is stopped in the midst of its run, so the second has to wait; killed, it gives the core back."""
    world.add(script("alpha"))
    words = ("measure", "alpha/aes-128-ecb@16", "--core", spare_core, "--out")
    first = world.start(*words, world.home / "one", "--budget", "60s", "--precision", "0.0001%")
    lock = world.home / f"perbyte-core-{spare_core}.lock"
    deadline = time.monotonic() + 60
    while not (held_by(lock) and (world.home / "one" / "run.json").exists()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    first.send_signal(signal.SIGSTOP)
    assert f"process {first.pid} of" in held_by(lock)
    second = world.start(*words, world.home / "two", *quick)
    line = second.stderr.readline()
    assert f"waiting: core {spare_core} is being measured on by process {first.pid}" in line
    assert "perbyte measure alpha/aes-128-ecb@16" in line
    assert not (world.home / "two").exists(), "nothing is made before the core is free"
    third = world.start(*words, world.home / "three", *quick)
    assert "waiting" in third.stderr.readline()
    third.send_signal(signal.SIGINT)
    assert third.wait(30) == 130
    assert not (world.home / "three").exists()
    first.kill()
    first.communicate()
    assert second.wait(60) == 0, second.stderr.read()
    second.communicate()
    assert world.shown(world.home / "two")["cells"]
    third.communicate()
    assert Path(world.home / "one" / "run.json").exists()
