"""Bursts that threads of one process take at once: places, outputs, refusals."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from perbyte.errors import RunnerRefused
from perbyte.model import Cell
from perbyte.runners.session import Session

sys.path.insert(0, str(Path(__file__).parent))

import library_checks as checks

pytestmark = pytest.mark.native

CORES = sorted(os.sched_getaffinity(0))[:2]
BOTH = ",".join(map(str, CORES))
OWN, BOUND, DRAWN = "aes-128-ecb", "aes-192-ecb", "aes-256-ecb"


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    return checks.made("threading", tmp_path_factory)


def take(spec, algorithm, threads, calls=0):
    """What a burst gave, and the output of three calls by the handle alone."""
    cell = Cell("threading", algorithm, "encrypt", 4096, "stream/1", state="shared-2")
    how = {"samples": 40, "limit_ms": 40.0, "calls": calls, "sample_us": 50.0, "warm_us": 500.0}
    with Session(spec) as session:
        session.hello()
        handle = session.prepare(algorithm, "encrypt", "stream/1", 4096, seed=1)
        taken = session.measure(handle, cell=cell, epoch=0, round=0, threads=threads, **how)
        return taken, session.check_calls(handle, 3).digest


@pytest.mark.skipif(len(CORES) < 2, reason="one core")
def test_each_thread_takes_a_burst_on_its_core_with_as_many_calls(spec):
    taken, _ = take(spec, OWN, BOTH)
    assert [set(burst.core) for burst in taken.bursts] == [{core} for core in CORES]
    assert len({burst.calls for burst in taken.bursts}) == 1
    assert {burst.round for burst in taken.bursts} == {0}


def test_the_first_thread_gives_what_the_handle_gives(spec):
    taken, digest = take(spec, OWN, str(CORES[0]), calls=3)
    assert taken.digest == digest


def test_a_thread_that_gives_another_output_than_alone_has_no_figure(spec):
    with pytest.raises(RunnerRefused, match=r"thread 0 of \d gave another output than alone"):
        take(spec, BOUND, BOTH)


def test_outputs_that_differ_by_themselves_are_not_compared(spec):
    taken, _ = take(spec, DRAWN, BOTH)
    assert len(taken.bursts) == len(CORES)


@pytest.mark.parametrize(
    ("threads", "words"),
    [
        (f"{CORES[0]},255", "thread 1 on core 255: the core cannot be had"),
        ("0,999", "cores below 256 with commas"),
    ],
)
def test_cores_that_cannot_be_had_are_refused(spec, threads, words):
    with pytest.raises(RunnerRefused, match=words):
        take(spec, OWN, threads)
