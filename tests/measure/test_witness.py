"""Perbyte's own runner of known loops, asked for the core's clock."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import ClassVar

import pytest

from perbyte.errors import PerbyteError
from perbyte.measure import witness
from perbyte.model import Burst, Calibration, Cell
from perbyte.runners.taken import TakenBursts

CELL = Cell("reference", "probe-imul", "run", 64, "stream/1")
READY = Calibration("reference", "full", 0, 0, "probe", "", 2e9, 1, 6000.0, 0.0, 0.0, {})
BUSY = replace(READY, cycle_source="none", reason="the core was never quiet")


class Asked:
    """A session whose core is busy when it starts."""

    spec = SimpleNamespace(native=True)

    def __init__(self, spec: object, core: int, *, gentle: bool = False) -> None:
        self.calibrations = [BUSY, BUSY, READY]

    def hello(self) -> None: ...

    def close(self) -> None: ...

    def calibrate(self, *_: object, **__: object) -> Calibration:
        return self.calibrations.pop(0)

    def prepare(self, *_: object, **__: object) -> int:
        return 1

    def measure(self, *_: object, **__: object) -> TakenBursts:
        probes = [4000] * 3
        burst = Burst(CELL, 0, 0, 8, [0, 9, 18], [9] * 3, probes, probes, probes, probes, [0] * 3, [])
        return TakenBursts((burst,), "", 0.0, 0.0)


def test_a_witness_that_found_its_core_busy_calibrates_again_when_it_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(witness, "Session", Asked)
    monkeypatch.setattr(witness, "find", lambda name, directories: None)
    with witness.Witness([0]) as own:
        assert [own.clock_hz() for _ in range(3)] == [0.0, 3e9, 3e9]


class Watched(Asked):
    """A session that is ready at once, and says what was done with it; `broken` names what fails."""

    broken = ""
    asked_for: ClassVar[list[str]] = []

    def __init__(self, spec: object, core: int, *, gentle: bool = False) -> None:
        self.calibrations = [READY]
        self._say(f"start {core}")

    def _say(self, word: str) -> None:
        self.asked_for.append(word)
        if word == self.broken:
            raise PerbyteError("broken")

    def hello(self) -> None:
        self._say("hello")

    def close(self) -> None:
        self._say("close")

    def calibrate(self, *_: object, **given: object) -> Calibration:
        self._say(f"calibrate {given['cores']}")
        return super().calibrate()

    def prepare(self, *_: object, **__: object) -> int:
        self._say("prepare")
        return 7

    def measure(self, handle: int, **given: object) -> TakenBursts:
        self._say(f"measure {handle}")
        return super().measure()


@pytest.mark.parametrize(
    ("broken", "asked", "message"),
    [
        ("", 3e9, ["start 1", "hello", "calibrate [1, 0]", "prepare", "measure 7", "measure 7", "close"]),
        ("start 1", 0.0, ["start 1"]),
        ("hello", 0.0, ["start 1", "hello", "close"]),
        ("prepare", 0.0, ["start 1", "hello", "calibrate [1, 0]", "prepare", "close"]),
        ("measure 7", 0.0, ["start 1", "hello", "calibrate [1, 0]", "prepare", "measure 7", "close"]),
    ],
)
def test_a_witness_that_fails_is_ended_once_and_not_asked_again(
    monkeypatch: pytest.MonkeyPatch, broken: str, asked: float, message: list[str]
) -> None:
    monkeypatch.setattr(Watched, "broken", broken)
    monkeypatch.setattr(Watched, "asked_for", [])
    monkeypatch.setattr(witness, "Session", Watched)
    monkeypatch.setattr(witness, "find", lambda name, directories: None)
    with witness.Witness([1, 0]) as own:
        assert [own.clock_hz(), own.clock_hz()] == [asked, asked]
    assert Watched.asked_for == message


def test_a_witness_that_nobody_asked_starts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watched, "asked_for", [])
    monkeypatch.setattr(witness, "Session", Watched)
    with witness.Witness([1]):
        pass
    assert Watched.asked_for == []


@pytest.mark.parametrize(
    ("before", "after", "cycles", "ticks", "source", "hz"),
    [
        # 6000 cycles take 4000 ticks of 2 GHz; what disturbs a probe makes it longer
        ([4000, 9000, 4100], [5000, 8000, 4200], [], [9, 9, 9], "probe", 3e9),
        ([9000, 9000, 9000], [5000, 4000, 4200], [], [9, 9, 9], "probe", 3e9),
        ([4000], [4000], [], [9], "none", 0.0),
        ([4000, 0], [4000, 4000], [], [9, 9], "probe", 0.0),
        ([], [], [], [], "probe", 0.0),
        # the counters of the samples themselves, where there are any
        ([4000, 4000], [4000, 4000], [500, 700], [400, 400], "pmu", 3e9),
        ([4000, 4000], [4000, 4000], [500, 700], [400, 400], "none", 3e9),
        ([4000, 4000], [4000, 4000], [500, 700], [0, 0], "pmu", 3e9),
    ],
)
def test_the_clock_is_that_of_the_counters_or_of_the_quietest_probe(
    before: list[int], after: list[int], cycles: list[int], ticks: list[int], source: str, hz: float
) -> None:
    burst = Burst(CELL, 0, 0, 8, ticks, ticks, before, after, before, after, [0] * len(ticks), cycles)
    calibration = replace(READY, cycle_source=source)
    assert witness.clock_hz(TakenBursts((burst,), "", 0.0, 0.0), calibration) == pytest.approx(hz)
