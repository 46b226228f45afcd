"""Perbyte's own runner of known loops, asked for the core's clock."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perbyte.measure import witness
from perbyte.model import Burst, Calibration, Cell
from perbyte.runners.session import Measured

CELL = Cell("reference", "probe-imul", "run", 64, "stream/1")
READY = Calibration("reference", "full", 0, 0, "probe", "", 2e9, 1, 6000.0, 0.0, 0.0, {})
BUSY = replace(READY, cycle_source="none", reason="the core was never quiet")


class Asked:
    """A session whose core is busy when it starts."""

    def __init__(self, spec: object, core: int) -> None:
        self.calibrations = [BUSY, BUSY, READY]

    def hello(self) -> None: ...

    def close(self) -> None: ...

    def calibrate(self, *_: object, **__: object) -> Calibration:
        return self.calibrations.pop(0)

    def prepare(self, *_: object, **__: object) -> int:
        return 1

    def measure(self, *_: object, **__: object) -> Measured:
        probes = [4000] * 3
        burst = Burst(CELL, 0, 0, 8, [0, 9, 18], [9] * 3, probes, probes, probes, probes, [0] * 3, [])
        return Measured(burst, "", 0.0, 0.0)


def test_a_witness_that_found_its_core_busy_calibrates_again_when_it_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(witness, "Session", Asked)
    monkeypatch.setattr(witness, "find", lambda name, directories: None)
    with witness.Witness([0]) as own:
        assert [own.clock_hz() for _ in range(3)] == [0.0, 3e9, 3e9]
