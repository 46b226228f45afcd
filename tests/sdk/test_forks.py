"""Bursts that a fork takes, where that goes wrong."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from perbyte.errors import RunnerRefused, RunnerTimedOut
from perbyte.measure.sessions import failure_of
from perbyte.model import Cell
from perbyte.protocol.material import further_layout
from perbyte.runners.session import Session, TimeLimits

sys.path.insert(0, str(Path(__file__).parent))

import library_checks as checks


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    return checks.made("dying", tmp_path_factory)


def take(session, algorithm, forks=1, **how):
    handle = session.prepare(algorithm, "encrypt", "stream/1", 64, seed=1)
    cell = Cell("dying", algorithm, "encrypt", 64, "stream/1")
    return session.measure(
        handle, cell=cell, epoch=0, round=0, samples=3, limit_ms=20.0, calls=4, forks=forks, **how
    )


@pytest.fixture
def told(spec):
    """Where the program writes which places it was given."""
    file = spec.here / "dying.places"
    file.unlink(missing_ok=True)
    return file


pytestmark = pytest.mark.native


def test_a_fork_that_dies_costs_its_burst_and_not_the_process(spec):
    with Session(spec) as session:
        session.hello()
        with pytest.raises(RunnerRefused, match="a fork was ended by signal 11") as refused:
            take(session, "aes-128-ecb")
        assert refused.value.code == "library"
        cell = Cell("dying", "aes-128-ecb", "encrypt", 64, "stream/1")
        assert failure_of(cell, refused.value).kind == "crashed"
        again = session.prepare("aes-128-ecb", "encrypt", "stream/1", 64, seed=1)
        assert session.check_calls(again, 2).length == 64


def test_each_fork_gives_a_burst_and_lies_elsewhere_in_the_page(spec, told):
    layout, forks = 12345, 16
    with Session(spec) as session:
        session.hello()
        taken = take(session, "aes-128-cbc", forks, layout=layout, warm_us=10e3, warm_least_us=10e3)
    assert taken.forked
    assert [burst.round for burst in taken.bursts] == list(range(forks))
    assert {len(burst) for burst in taken.bursts} == {3}
    places_told = [tuple(map(int, line.split())) for line in told.read_text().splitlines()][-forks:]
    for part, lines in zip(zip(*places_told, strict=True), (16, 16, 64), strict=True):
        assert len({value // lines for value in part}) >= forks * 3 // 4, "all lie elsewhere"
    # the parts of a layout are fractions of the places that there are (SPEC 7)
    buffers = [further_layout(layout, number) >> 30 & 0x7FFF for number in range(forks)]
    base = places_told[0][2] - 64 * (buffers[0] * 64 >> 15)
    assert [part for _, _, part in places_told] == [
        (base + 64 * (buffer * 64 >> 15)) % 4096 for buffer in buffers
    ]


def test_without_a_layout_forks_lie_where_their_process_does(spec, told):
    with Session(spec) as session:
        session.hello()
        assert len(take(session, "aes-128-cbc", 3).bursts) == 3
    assert len(told.read_text().splitlines()) == 1, "prepared once"


def test_a_fork_lies_where_it_was_told_to_and_says_so(spec):
    asked = "16,32,48,1040"
    with Session(spec) as session:
        session.hello()
        first = take(session, "aes-128-cbc", places=asked, warm_us=10e3, warm_least_us=10e3)
        moved = take(session, "aes-128-cbc", places="1616,32,48,64", warm_us=10e3, warm_least_us=10e3)
        with pytest.raises(RunnerRefused, match="four numbers of bytes below 4096") as refused:
            take(session, "aes-128-cbc", places="1,2,3,4096")
        assert refused.value.code == "malformed"
        assert not take(session, "aes-128-cbc").placed, "nobody asked"
    stack, _, data, result, library, caller = first.placed
    assert (data % 4096, result % 4096) == (48, 1040)
    assert moved.placed[3] % 4096 == 64
    assert (stack - moved.placed[0]) % 4096 == 1600
    assert library <= caller < library + (1 << 22), "the library is the program"


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
