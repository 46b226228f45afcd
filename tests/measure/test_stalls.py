"""What runners that keep a run waiting may cost it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from perbyte.errors import RunnerTimedOut
from perbyte.measure.stalls import MOST_SHARE, Stalls
from perbyte.model import Process

SLOW, OTHER = Process("slow", "full", 0), Process("other", "full", 0)


def ended(waited_s: float = 0.0, asleep_s: float = 0.0) -> Any:
    """A session that was ended; by a missing answer where one was waited for."""
    fault = RunnerTimedOut("no answer") if waited_s else None
    return SimpleNamespace(process=SimpleNamespace(fault=fault, waited_s=waited_s, asleep_s=asleep_s))


def test_a_runner_that_sleeps_before_its_answers_costs_no_more_than_its_share():
    stalls = Stalls(5.0)
    for _ in range(2):
        stalls.require_patience(SLOW)
        stalls.note(SLOW, ended(asleep_s=0.6 * MOST_SHARE * 5.0))
    with pytest.raises(
        RunnerTimedOut, match=r"'slow' slept before its answers, for 2\.4 s in all, and is not asked"
    ):
        stalls.require_patience(SLOW)
    stalls.require_patience(OTHER)


def test_a_runner_without_answers_is_asked_twice():
    stalls = Stalls(60.0)
    for times in (1, 2):
        stalls.require_patience(SLOW)
        stalls.note(SLOW, ended(waited_s=times))
    with pytest.raises(RunnerTimedOut, match=r"gave no answer \(2 of its processes\), for 3\.0 s in all"):
        stalls.require_patience(SLOW)
