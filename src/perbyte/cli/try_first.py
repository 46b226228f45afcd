"""The first figure of `perbyte try`, within seconds: two fresh processes of the user's program, nothing stored.

It says where the function stands before anything is refined. It is no figure of a run: it has no interval, no audit and
no place in the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from perbyte.measure import Survey
    from perbyte.runners import TimeLimits

FIRST_EPOCHS, FIRST_S = 2, 0.3


class Nowhere:
    """A sink that keeps nothing."""

    def begin(self, conditions: Conditions) -> None:
        """Keep nothing."""

    def identified(self, identity: RunnerIdentity) -> None:
        """Keep nothing."""

    def calibrated(self, calibration: Calibration) -> None:
        """Keep nothing."""

    def measured(self, burst: Burst) -> None:
        """Keep nothing."""

    def failed(self, failure: Failure) -> None:
        """Keep nothing."""

    def unproven(self, tier: UnprovenTier) -> None:
        """Keep nothing."""

    def audited(self, audit: Audit) -> None:
        """Keep nothing."""

    def spent(self, measuring_s: float) -> None:
        """Keep nothing."""

    def epoch_done(self, epoch: int) -> None:
        """Keep nothing."""

    def finish(
        self,
        cells: tuple[CellFigure, ...],
        noise_floor: NoiseFloor | None,
        measuring_s: float,
        complete: bool,
    ) -> None:
        """Keep nothing."""


def first_figures(
    surveyed: Survey, cells: Sequence[Cell], policy: Policy, limits: TimeLimits
) -> tuple[CellFigure, ...]:
    """A figure of each of `cells` that can be had at once; none where the first look fails."""
    from perbyte.app.conducting import of_today
    from perbyte.catalogue import load
    from perbyte.locks import cores_held
    from perbyte.measure import Plan
    from perbyte.measure.machine import step_aside
    from perbyte.measure.run import Measurement

    short = replace(
        of_today(policy), epochs=FIRST_EPOCHS, max_epochs=FIRST_EPOCHS, budget_s=FIRST_S, audit=False
    )
    plan = Plan(tuple(cells), ())
    with cores_held(short.cores, "perbyte try, a first look"):
        step_aside(short.cores)
        measurement = Measurement(plan, surveyed, load(), short, Nowhere(), limits=limits)
        return measurement.measure().cells


def first_line(figures: Sequence[CellFigure], elapsed_s: float) -> str:
    """What a user reads first: that it compiled, that it is right, and about what it costs."""
    from perbyte.report.wording import size_label

    told = []
    for figure in figures:
        size = figure.cell.size_bytes or 1
        unit = "cycles/byte" if figure.cycles_per_call is not None else "ns/byte"
        told.append(
            f"{figure.cell.runner}: {figure.cell.operation} {size_label(figure.cell.size_bytes)} "
            f"about {figure.per_call / size:.3g} {unit}"
        )
    return f"compiled, right; {'; '.join(told) or 'no figure yet'} ({elapsed_s:.1f} s)"
