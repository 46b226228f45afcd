"""Bursts that a fork takes, where that goes wrong."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from perbyte import places
from perbyte.errors import RunnerRefused, RunnerTimedOut
from perbyte.model import Cell
from perbyte.runners.locate import read_spec
from perbyte.runners.session import Session, TimeLimits

SDK = places.data_dir("runners") / "sdk" / "c"
SPEC = """\
[runner]
library = "none"
license = "Apache-2.0"
language = "python"
[build]
kind = "python"
[run]
command = ["{program}"]
"""


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    here = tmp_path_factory.mktemp("dying") / "dying"
    here.mkdir()
    sources = [Path(__file__).with_name("dying.c"), *SDK.glob("*.c")]
    command = [
        "cc",
        "-O1",
        "-D_GNU_SOURCE",
        f"-I{SDK}",
        "-o",
        here / "dying",
        *sources,
        "-lm",
        "-ldl",
        "-lpthread",
    ]
    subprocess.run(command, check=True)
    (here / "runner.toml").write_text(SPEC.replace("{program}", str(here / "dying")))
    return read_spec(here / "runner.toml")


def take(session, algorithm, **how):
    handle = session.prepare(algorithm, "encrypt", "stream/1", 64, seed=1)
    cell = Cell("dying", algorithm, "encrypt", 64, "stream/1")
    return session.measure(
        handle, cell=cell, epoch=0, round=0, samples=3, limit_ms=20.0, calls=4, fork=True, **how
    )


pytestmark = pytest.mark.native


def test_a_fork_that_dies_costs_its_burst_and_not_the_process(spec):
    with Session(spec) as session:
        session.hello()
        with pytest.raises(RunnerRefused, match="a fork was ended by signal 11") as refused:
            take(session, "aes-128-ecb")
        assert refused.value.code == "library"
        again = session.prepare("aes-128-ecb", "encrypt", "stream/1", 64, seed=1)
        assert session.check_calls(again, 2).length == 64


def test_a_process_with_threads_takes_its_bursts_itself(spec):
    with Session(spec) as session:
        session.hello()
        taken = take(session, "aes-256-ecb")
        assert not taken.forked
        assert len(taken.burst) == 3


def test_a_fork_that_hangs_goes_with_its_process(spec):
    with Session(spec, limits=TimeLimits(measure=0.5)) as session:
        session.hello()
        pid = session.process.pid
        with pytest.raises(RunnerTimedOut):
            take(session, "aes-192-ecb")
    time.sleep(0.2)
    left = [
        stat
        for stat in Path("/proc").glob("[0-9]*/stat")
        if _fields(stat)[1:3] == ["dying", str(pid)] or stat.parent.name == str(pid)
    ]
    assert not left
    assert os.waitid  # no zombie of ours: Session.close has reaped its own


def _fields(stat):
    try:
        head, _, tail = stat.read_text().rpartition(")")
    except OSError:
        return ["", "", ""]
    return [*head.split(" (", 1), tail.split()[1]]
