"""Two who measure on one core: the second waits, and says for whom."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

import pytest

from perbyte.locks import Lock, cores_held, held_by


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("PERBYTE_HOME", str(tmp_path))
    return tmp_path


def test_a_core_is_held_by_one_and_the_holder_is_named(home):
    place = home / "perbyte-core-1.lock"
    assert held_by(place) == ""
    with cores_held((0, 1), "the first"):
        said = held_by(place)
        assert re.fullmatch(rf"process {os.getpid()} of \S+, since .+ UTC: the first", said)
        other = Lock(place)
        assert not other.take("the second")
        assert other.holder() == said
        with cores_held((2,), "elsewhere"):
            assert "elsewhere" in held_by(home / "perbyte-core-2.lock")
    assert held_by(place) == ""
    assert other.take("the second")
    other.release()
    other.release()


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
    monkeypatch.setenv("PERBYTE_HOME", str(tmp_path / "file"))
    with cores_held((0,), "x"):
        pass
    monkeypatch.setenv("PERBYTE_HOME", str(tmp_path))
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
