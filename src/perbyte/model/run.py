"""A run: its conditions, its policy, what failed, and the events it is made of."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from perbyte.model.behaviour import Behaviour
from perbyte.model.cell import Cell, Row, parse_address
from perbyte.model.figure import CellFigure, NoiseFloor
from perbyte.model.leak import LeakFigure
from perbyte.model.placement import Placement
from perbyte.model.sample import Audit, Burst, Calibration


@dataclass(frozen=True, slots=True)
class Policy:
    """How a run measures and when it stops. All of it is stored with the run.

    `precision` is the relative half-width at which a cell is done (0.0025 = 0.25 %). `budget_s` bounds the
    measuring time of the run. `looks` are the declared numbers of rounds within an epoch after which a cell
    may stop; `epochs` is the least number of epochs and `max_epochs` the most that imprecise cells get.
    `warm_us` is for how long a cell's calls are made before the first sample of a burst at the most; from
    `warm_least_us` on (0: not before) they end where two samples' worth in a row agree. `forks`: runners in C, C++ and
    Rust take each burst of short calls in a fork of their process.
    `clock_tolerance` and `contention_tolerance` define a clean sample. `cores` are those that may be used (older runs
    have `core` alone). `audit`: every cell is looked at from outside in every epoch. `gentle`: runners have no
    priority over other programs, and cores are not kept from halting.
    """

    precision: float = 0.0025
    level: float = 0.95
    budget_s: float = 60.0
    epochs: int = 5
    max_epochs: int = 1000
    looks: tuple[int, ...] = (4, 8, 16)
    burst_samples: int = 40
    burst_limit_ms: float = 6.0
    sample_us: float = 12.0
    warm_us: float = 2000.0
    warm_least_us: float = 200.0
    forks: bool = False
    clock_tolerance: float = 0.005
    contention_tolerance: float = 0.01
    seed: int = 7
    core: int = -1
    cores: tuple[int, ...] = ()
    audit: bool = False
    gentle: bool = False


@dataclass(frozen=True, slots=True)
class RunnerIdentity:
    """Who answered: a runner's `hello`, and the hash the orchestrator took of the loaded object.

    `lacks` are the features ("aes", "sha", "clmul") that the CPU has and the object has no instruction of; empty also
    where it was not examined. `wraps` is the runner of the same library in C; empty where this is no binding.
    """

    runner: str
    cpu: str
    library: str
    library_version: str
    license: str
    compiler: str
    flags: str
    object_path: str
    object_sha256: str
    cpu_features: str
    sdk: str
    lacks: tuple[str, ...] = ()
    wraps: str = ""


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine's profile. Everything is text or number as the system reports it; empty where unknown."""

    cpu_model: str = ""
    cpu_vendor: str = ""
    cpu_family: str = ""
    cpu_flags: tuple[str, ...] = ()
    microcode: str = ""
    cores: int = 0
    threads_per_core: int = 0
    caches: tuple[str, ...] = ()
    memory_bytes: int = 0
    architecture: str = ""
    kernel: str = ""
    distribution: str = ""
    virtualisation: str = ""
    governor: str = ""
    turbo: str = ""
    clock_hz_nominal: float = 0.0
    label: str = ""  # its name in fleets and atlases (`measure.labels`)


@dataclass(frozen=True, slots=True)
class Conditions:
    """Under which conditions a run was made: everything a repeater needs, stored in run.json."""

    run_id: str
    perbyte_version: str
    catalogue_version: str
    protocol_version: int
    started_at: str
    command: tuple[str, ...]
    machine: Machine
    policy: Policy
    plan: tuple[str, ...]
    identities: tuple[RunnerIdentity, ...] = ()
    load_before: tuple[float, float, float] = (0.0, 0.0, 0.0)
    input: dict[str, Any] = field(default_factory=dict)
    study: str = ""
    origin: str = "measured"
    perbyte_commit: str = ""  # of the checkout that measured; empty where it is none


WRONG = frozenset({"incorrect", "disputed"})
"""Kinds of failures of cells that compute something wrong."""
NOT_REACHED = "not-reached"


@dataclass(frozen=True, slots=True)
class Failure:
    """A cell or a whole runner that gave no figure, and why. `address` may be empty for a whole runner.

    `kind`: `unsupported`, `incorrect`, `crashed`, `timed-out`, `garbled`, `refused`, `absent`, `damaged` (lost with
    a part of the run's files); `not-reached`: the budget did not suffice for it; `audit`: what the runner says of its
    calls is not what was seen from outside; `disputed`: it disagrees with others, and nobody knows who is right.
    """

    kind: str
    runner: str
    message: str
    address: str = ""
    expected: str = ""
    got: str = ""


@dataclass(frozen=True, slots=True)
class UnprovenTier:
    """A row of a lower CPU tier, of an algorithm that CPUs accelerate, for which the library names no other code.

    Whether the tier changes anything has to be seen from figures. `factor` tells how many times slower than in the
    tier `full` a short look found it, where nothing of the row is measured in `full`; 0: nobody looked. `low` and
    `high` are the ends of its interval; both 0 in runs that were stored before: 5 % to either side was asked for.
    """

    row: Row
    factor: float = 0.0
    low: float = 0.0
    high: float = 0.0

    @property
    def ends(self) -> tuple[float, float]:
        """Between which factors the truth lies."""
        return (self.low, self.high) if self.high else (self.factor / 1.05, self.factor * 1.05)


@dataclass(frozen=True, slots=True)
class StoredRun:
    """What a run that goes on, or is merged, has measured so far. Bursts are in the order in which they were taken."""

    conditions: Conditions
    calibrations: tuple[Calibration, ...]
    bursts: tuple[Burst, ...]
    failures: tuple[Failure, ...]
    unproven: tuple[UnprovenTier, ...]
    audits: tuple[Audit, ...]
    measuring_s: float
    complete: bool


@dataclass(frozen=True, slots=True)
class Run:
    """A finished or interrupted run as the store gives it back. `path` is where it lies.

    `behaviours`: what cells execute and use, `leaks`: whether their time depends on secrets, `placements`: how their
    cost depends on places in memory, where that was asked for.
    """

    path: Path | None
    conditions: Conditions
    cells: tuple[CellFigure, ...]
    calibrations: tuple[Calibration, ...] = ()
    failures: tuple[Failure, ...] = ()
    noise_floor: NoiseFloor | None = None
    complete: bool = True
    measuring_s: float = 0.0
    behaviours: tuple[Behaviour, ...] = ()
    leaks: tuple[LeakFigure, ...] = ()
    placements: tuple[Placement, ...] = ()

    def failed_cells(self) -> list[tuple[Cell, Failure]]:
        """Every failure that names a cell, with that cell."""
        failed = []
        for failure in self.failures:
            with contextlib.suppress(ValueError):
                failed.append((parse_address(failure.address), failure))
        return failed

    def figure(self, cell: Cell) -> CellFigure | None:
        """The figure of `cell`, or None when it has none."""
        return next((figure for figure in self.cells if figure.cell == cell), None)


@dataclass(frozen=True, slots=True)
class LeakRun:
    """A run that looked whether times depend on secrets. `alpha` is the rate of false alarms of a row."""

    run_id: str
    started_at: str
    perbyte_version: str
    command: tuple[str, ...]
    machine: Machine
    cores: tuple[int, ...]
    seed: int
    budget_s: float
    alpha: float
    identities: tuple[RunnerIdentity, ...]
    figures: tuple[LeakFigure, ...]
    failures: tuple[Failure, ...]
    taint: tuple[dict[str, Any], ...] = ()


class Sink(Protocol):
    """Where `measure` writes. The store implements it; tests use a list.

    No method may lose what it was given.
    """

    def begin(self, conditions: Conditions) -> None:
        """Start the run, or note the conditions under which it goes on."""

    def identified(self, identity: RunnerIdentity) -> None:
        """Note who answers for a runner."""

    def calibrated(self, calibration: Calibration) -> None:
        """Note a process's calibration."""

    def measured(self, burst: Burst) -> None:
        """Keep a burst. When this returns, a kill of the process no longer loses it."""

    def failed(self, failure: Failure) -> None:
        """Note a failure."""

    def unproven(self, tier: UnprovenTier) -> None:
        """Note a row whose tier is not proved by the library's word; a later note on the same row counts."""

    def audited(self, audit: Audit) -> None:
        """Note what was seen of a cell from outside."""

    def spent(self, measuring_s: float) -> None:
        """Note the seconds of measuring that the run has taken so far, so that a kill does not lose them."""

    def epoch_done(self, epoch: int) -> None:
        """Note that an epoch is over."""

    def finish(
        self,
        cells: tuple[CellFigure, ...],
        noise_floor: NoiseFloor | None,
        measuring_s: float,
        complete: bool,
        refused: tuple[Failure, ...] = (),
    ) -> None:
        """End the run with its figures. `refused`: which of its failures came of making them."""
