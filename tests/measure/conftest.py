"""A laboratory: scripted runners, a sink and a watcher that remember, and short policies.

    outcome = lab.run({"name": "alpha", "operations": [row(per_byte=2.0)]}, ask="alpha/aes-128-ecb@16+contract=message")

What the runners show comes from their scripts' virtual clock; no test here depends on a real one, except
where it says so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest
from fake_scripts import row

from perbyte.catalogue import load, parse_selector
from perbyte.measure import Moment, Plan, Request, RunOutcome, Survey, survey
from perbyte.measure.forecast import Pace
from perbyte.measure.history import RunHistory
from perbyte.measure.learnt import Learnt
from perbyte.measure.plan import draw_plan
from perbyte.measure.run import Measurement
from perbyte.model import (
    Audit,
    Burst,
    Calibration,
    Cell,
    CellFigure,
    Conditions,
    Failure,
    NoiseFloor,
    Policy,
    RunnerIdentity,
    UnprovenTier,
)
from perbyte.runners.session import TimeLimits
from perbyte.runners.spec import RunnerSpec

CORE = max(os.sched_getaffinity(0))
HASTY = TimeLimits(hello=20.0, prepare=20.0, check=20.0, calibrate=20.0, measure=0.8, quit=0.3)


@dataclass
class Notes:
    """A Sink that keeps everything in the order it came."""

    events: list[tuple[str, Any]] = field(default_factory=list)

    def begin(self, conditions: Conditions) -> None:
        self.events.append(("begin", conditions))

    def identified(self, identity: RunnerIdentity) -> None:
        self.events.append(("identified", identity))

    def calibrated(self, calibration: Calibration) -> None:
        self.events.append(("calibrated", calibration))

    def measured(self, burst: Burst) -> None:
        self.events.append(("measured", burst))

    def failed(self, failure: Failure) -> None:
        self.events.append(("failed", failure))

    def unproven(self, tier: UnprovenTier) -> None:
        self.events.append(("unproven", tier))

    def audited(self, audit: Audit) -> None:
        self.events.append(("audited", audit))

    def spent(self, measuring_s: float) -> None:
        self.events.append(("spent", measuring_s))

    def epoch_done(self, epoch: int) -> None:
        self.events.append(("epoch_done", epoch))

    def finish(
        self,
        cells: tuple[CellFigure, ...],
        noise_floor: NoiseFloor | None,
        measuring_s: float,
        complete: bool,
        refused: tuple[Failure, ...] = (),
    ) -> None:
        self.events.append(("finish", (cells, noise_floor, measuring_s, complete)))

    def all(self, kind: str) -> list[Any]:
        return [value for name, value in self.events if name == kind]

    @property
    def bursts(self) -> list[Burst]:
        return self.all("measured")

    @property
    def order(self) -> list[tuple[int, int, str]]:
        """(epoch, round, address) of every burst, as they were taken."""
        return [(burst.epoch, burst.round, burst.cell.address) for burst in self.bursts]


@dataclass
class Watch:
    """A Watcher that keeps what it is told; `on_moment` may raise, as Ctrl-C does."""

    on_moment: Callable[[Moment], None] = lambda _: None
    moments: list[Moment] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def moment(self, moment: Moment) -> None:
        self.moments.append(moment)
        self.on_moment(moment)

    def note(self, text: str) -> None:
        self.notes.append(text)


@dataclass
class Done:
    """A run that came to its end, one way or the other."""

    outcome: RunOutcome
    notes: Notes
    watch: Watch
    plan: Plan
    measurement: Measurement

    def figure(self, address: str) -> CellFigure:
        figures = [figure for figure in self.outcome.cells if figure.cell.address == address]
        assert figures, f"no figure of {address}; failures: {self.failures()}"
        return figures[0]

    def of(self, runner: str) -> list[CellFigure]:
        return [figure for figure in self.outcome.cells if figure.cell.runner == runner]

    def failures(self) -> dict[str, str]:
        """Kind of failure by address (or by runner where there is no address)."""
        return {failure.address or failure.runner: failure.kind for failure in self.outcome.failures}

    def failure(self, address: str) -> Failure:
        failures = [failure for failure in self.outcome.failures if failure.address == address]
        assert len(failures) == 1, f"{len(failures)} failures of {address}: {self.outcome.failures}"
        return failures[0]


class Lab:
    """Makes surveys, plans and runs out of scripts."""

    def __init__(self, fake_runners: Callable[..., list[RunnerSpec]]) -> None:
        self.fake_runners = fake_runners

    def survey(self, *scripts: dict[str, Any], cpus: Iterable[str] = ("full",)) -> Survey:
        return survey(self.fake_runners(*scripts), list(cpus))

    def plan(self, surveyed: Survey, *asks: str, twins: bool = False, **request: Any) -> Plan:
        selectors = tuple(parse_selector(ask) for ask in asks)
        return draw_plan(Request(selectors, **request), surveyed, load(), twins=twins)

    def policy(self, **changes: Any) -> Policy:
        """Two short epochs with one declared look.

        The limit of a burst is on the virtual clock; it is long because what counts as a long call is told
        from the real one, and a busy machine must not change what a test sees.
        """
        short = {"epochs": 2, "max_epochs": 2, "looks": (6,), "burst_samples": 8, "burst_limit_ms": 250.0}
        return Policy(**{**short, "cores": (CORE,), **changes})

    def run(
        self,
        *scripts: dict[str, Any],
        ask: str | tuple[str, ...] = "*/*@16+contract=*",
        cpus: Iterable[str] = ("full",),
        twins: bool = False,
        surveyed: Survey | None = None,
        limits: TimeLimits | None = None,
        history: RunHistory | None = None,
        watch: Watch | None = None,
        notes: Notes | None = None,
        sizes: tuple[int, ...] | None = None,
        told_s: float | None = None,
        pace: Pace | None = None,
        **policy: Any,
    ) -> Done:
        surveyed = surveyed or self.survey(*scripts, cpus=cpus)
        plan = self.plan(surveyed, *((ask,) if isinstance(ask, str) else ask), twins=twins, sizes=sizes)
        return self.measure(
            plan,
            surveyed,
            limits=limits,
            history=history,
            watch=watch,
            notes=notes,
            told_s=told_s,
            pace=pace,
            **policy,
        )

    def measure(
        self,
        plan: Plan,
        surveyed: Survey,
        *,
        limits: TimeLimits | None = None,
        history: RunHistory | None = None,
        watch: Watch | None = None,
        notes: Notes | None = None,
        told_s: float | None = None,
        pace: Pace | None = None,
        **policy: Any,
    ) -> Done:
        notes, watch = notes or Notes(), watch or Watch()
        measurement = Measurement(
            plan,
            surveyed,
            load(),
            self.policy(**policy),
            notes,
            watcher=watch,
            history=history,
            limits=limits,
            told_s=told_s,
            pace=pace,
            learnt=Learnt(CORE, file=None),
        )
        return Done(measurement.measure(), notes, watch, plan, measurement)


@pytest.fixture
def lab(fake_runners: Callable[..., list[RunnerSpec]]) -> Lab:
    return Lab(fake_runners)


@pytest.fixture
def hasty() -> TimeLimits:
    """Time limits that a hanging runner oversteps soon."""
    return HASTY


@pytest.fixture
def ecb() -> Callable[..., dict[str, Any]]:
    """A runner that has AES-128-ECB encryption at a cost of 100 + 1 per byte, and nothing else."""

    def script(name: str = "alpha", **more: Any) -> dict[str, Any]:
        return {"name": name, "operations": [row()], **more}

    return script


@pytest.fixture
def address() -> Callable[..., str]:
    def text(runner: str = "alpha", size: int = 16, contract: str = "message/1", **more: str) -> str:
        algorithm, operation = more.get("algorithm", "aes-128-ecb"), more.get("operation", "encrypt")
        cpu = more.get("cpu", "full")
        return Cell(runner, algorithm, operation, size, contract, cpu).address

    return text


@pytest.fixture
def watching() -> type[Watch]:
    """`watching(on_moment)`: a watcher that does something of its own at every moment."""
    return Watch


@pytest.fixture
def noting() -> type[Notes]:
    """`noting()`: a sink of one's own."""
    return Notes


@pytest.fixture
def two_cores() -> tuple[int, int]:
    """Two cores; where there is one alone, it twice: scripted clocks do not mind."""
    allowed = sorted(os.sched_getaffinity(0))
    return (allowed[0], allowed[-1])
