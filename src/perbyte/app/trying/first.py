"""The first figure of `perbyte try`, within seconds: two fresh processes of the user's program, nothing stored.

It says where the function stands before anything is refined. It is no figure of a run: it has no interval, no audit and
no place in the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from perbyte.model import Cell, CellFigure, Policy

if TYPE_CHECKING:
    from perbyte.measure import Survey
    from perbyte.runners import TimeLimits

FIRST_EPOCHS, FIRST_S = 2, 0.3
SLOW_TO_START = ("java", "kotlin")  # a process of these is warm after half a second: one does


class Nowhere:
    """A sink that keeps nothing."""

    def begin(self, *_what: Any, **_more: Any) -> None:
        """Keep nothing."""

    identified = calibrated = measured = failed = unproven = audited = spent = epoch_done = finish = begin


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

    slow = any(spec.language in SLOW_TO_START for spec in surveyed.specs.values())
    epochs = 1 if slow else FIRST_EPOCHS
    short = replace(of_today(policy), epochs=epochs, max_epochs=epochs, budget_s=FIRST_S, audit=False)
    plan = Plan(tuple(cells), ())
    with cores_held(short.cores, "perbyte try, a first look"):
        step_aside(short.cores)
        measurement = Measurement(plan, surveyed, load(), short, Nowhere(), limits=limits)
        return measurement.measure().cells
