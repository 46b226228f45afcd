"""A scripted simulation: bursts whose true cost, clock, neighbours and tick counter are known."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from perbyte.model import Burst, Calibration, Cell, Policy

sys.path.insert(0, str(Path(__file__).parent))

PROBE_CYCLES = 6000
FLOOR = 2557.0


@dataclass
class SimulatedClock:
    """Makes bursts: `cycles` is the true cost of a call, ghz the core clock, ticks come at 2.6 GHz."""

    seed: int = 1
    quantum: int = 26
    tick_hz: float = 2.6e9
    ghz: float = 3.65
    fixed_ticks: float = 78.0
    probe_cycles: int = PROBE_CYCLES

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)
        self.cell = Cell("openssl", "aes-128-ctr", "encrypt", 64, "message/1")
        self.policy = Policy()

    def ticks(self, cycles: np.ndarray) -> list[int]:
        """Ticks that a counter in steps shows for true durations, at a random phase."""
        true = cycles / self.ghz * self.tick_hz / 1e9
        phase = self.random.random(len(true)) * self.quantum
        return [int(t) for t in np.floor((true + phase) / self.quantum) * self.quantum]

    def calibration(self, epoch: int = 1, **changes: object) -> Calibration:
        whole = Calibration(
            runner=self.cell.runner,
            cpu=self.cell.cpu,
            twin=self.cell.twin,
            epoch=epoch,
            cycle_source="probe",
            reason="",
            tick_hz=self.tick_hz,
            tick_quantum=self.quantum,
            probe_cycles=self.probe_cycles,
            contention_floor=FLOOR,
            fixed_ticks=self.fixed_ticks,
            selfcheck={"imul": 3.0},
        )
        return replace(whole, **changes)

    def calibrations(self, epochs: int = 3, **changes: object) -> dict:
        return {(self.cell.process, e): self.calibration(e, **changes) for e in range(1, epochs + 1)}

    def burst(
        self,
        cycles: float | np.ndarray,
        *,
        n: int = 40,
        epoch: int = 1,
        round: int = 1,
        calls: int = 300,
        noise: float = 0.0005,
        disturbed: np.ndarray | None = None,
        cell: Cell | None = None,
    ) -> Burst:
        """Samples of a call that truly costs `cycles`; disturbed ones run 40 % longer under a neighbour."""
        jitter = 1 + noise * self.random.standard_normal(n)
        neighbour = np.zeros(n, dtype=bool) if disturbed is None else disturbed
        cost = np.asarray(cycles, dtype=float) * jitter * np.where(neighbour, 1.4, 1.0)
        fixed = self.fixed_ticks * self.ghz * 1e9 / self.tick_hz
        quiet = np.full(n, float(self.probe_cycles))
        load = np.where(neighbour, 2 * FLOOR, FLOOR)
        return Burst(
            cell=cell or self.cell,
            epoch=epoch,
            round=round,
            calls=calls,
            start=list(range(0, n * 1000, 1000)),
            ticks=self.ticks(cost * calls + fixed),
            clock_before=self.ticks(quiet),
            clock_after=self.ticks(quiet),
            contention_before=self.ticks(load),
            contention_after=self.ticks(load),
            flags=[0] * n,
            cycles=[],
        )


@pytest.fixture
def simulation() -> SimulatedClock:
    return SimulatedClock()


@pytest.fixture
def make_simulation() -> Callable[..., SimulatedClock]:
    return SimulatedClock
