"""How long a run will take by the clock on the wall, told before anything is measured.

From counts and sizes, from what the survey of this command took, and from what earlier runs on this machine took
(`measure.pace`), where there were any. What the first epoch really took replaces it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from perbyte.measure import draws
from perbyte.measure.budget import GRACE_S
from perbyte.measure.pace import Pace, row_of
from perbyte.measure.plan import Plan
from perbyte.measure.states import expected_s
from perbyte.model import Cell, Policy
from perbyte.model.cell import LOOP
from perbyte.runners import RunnerSpec
from perbyte.runners.spec import PROGRAM

# Seconds, as measured with compiled runners on a machine of 2022, Zen 4; the virtual machine of Java takes longer to
# come up.
START_S = 0.1
START_JAVA_S = 1.5
WARM_OWN_S = (
    0.2  # the same for a function of `perbyte try`: half a second for the first size, a tenth for another
)
WARM_JAVA_S = 0.75  # until a case is compiled and steady, 1.5 s at the most; anew in each epoch
BURST_S = 0.001
REST_S = 0.006  # an epoch's audit, statistics and storing, of one cell
CHECK_S = 0.002
BYTE_S = 4e-9  # material, call, digest and comparison of one byte, of a fast algorithm
SAID_FROM_S = 0.5  # of starting processes
OVERRUN = 2.0  # times the budget: what takes longer is not begun


@dataclass(frozen=True, slots=True)
class Forecast:
    """Seconds. `starts_s`: of the processes of the promised epochs, which do not count against the budget;
    `least_s`: measuring in these epochs; `likely_s`: measuring until all cells are precise, by the last runs on this
    machine, None where there were none. `alone` are cells of which one epoch outlasts the budget.
    """

    starts_s: float
    least_s: float
    budget_s: float
    likely_s: float | None = None
    alone: tuple[tuple[Cell, float], ...] = ()

    @property
    def fits(self) -> bool:
        """False where the promised epochs would take more than `OVERRUN` times the budget, or one cell outlasts it."""
        return self.least_s <= max(OVERRUN * self.budget_s, GRACE_S) and not self.alone

    @property
    def most_s(self) -> float:
        """By the clock on the wall, where cells are not precise sooner."""
        return self.starts_s + max(self.least_s, self.budget_s)

    @property
    def wall_s(self) -> float:
        """By the clock on the wall, as far as it can be known: all of the budget, unless the last runs needed less."""
        if self.likely_s is None:
            return self.most_s
        return self.starts_s + max(self.least_s, min(self.likely_s, self.budget_s))

    def __str__(self) -> str:
        """The span in words: `about 12 s by earlier runs of these cells, 25 s at the most`."""
        starts, soonest, likely, most = (
            max(1, round(seconds))
            for seconds in (self.starts_s, self.starts_s + self.least_s, self.wall_s, self.most_s)
        )
        told = f", {starts:,} s of them to start processes" if self.starts_s >= SAID_FROM_S else ""
        if self.least_s > self.budget_s:
            return f"about {most:,} s, more than the budget of {self.budget_s:g} s{told}"
        if self.likely_s is None and soonest < most:
            return f"{soonest:,} to {most:,} s, as soon as all are precise{told}"
        span = f" by earlier runs of these cells, {most:,} s at the most" if likely < most else ""
        return f"about {likely:,} s{span}{told}"


def foresee(
    plan: Plan, policy: Policy, specs: Mapping[str, RunnerSpec], pace: Pace | None = None
) -> Forecast:
    """Return the forecast of `plan` under `policy`; `specs` are the runners by name, `pace` the last runs here."""
    pace = pace or Pace()
    processes = {cell.process for cell in plan.everything}
    java = {name for name, spec in specs.items() if spec.language in ("java", "kotlin")}
    # a user's own function warms itself once for all sizes
    brief = {name for name in java if specs[name].kind == PROGRAM}
    starts = sum(
        pace.start_s(runner, START_JAVA_S if runner in java else START_S) for runner, _, _ in processes
    )
    warm = {name: WARM_OWN_S if name in brief else WARM_JAVA_S for name in java}
    bare = {cell: _bare_s(cell, policy) + warm.get(cell.runner, 0.0) for cell in plan.everything}
    checks = sum(CHECK_S + BYTE_S * cell.size_bytes for cell in plan.everything)
    # a row that was dear the last time is so this time, whatever its size would say
    least = {cell: max(took + REST_S, pace.dear_s.get(row_of(cell), 0.0)) for cell, took in bare.items()}
    alone = tuple(
        (cell, took)
        for cell in plan.cells
        if (took := bare[cell] + BYTE_S * cell.size_bytes) > max(policy.budget_s, GRACE_S)
    )
    needed = pace.needed(plan.everything, policy.precision)
    likely = None
    if needed is not None:
        epochs = max(policy.epochs, math.ceil(needed))
        likely = epochs * sum(pace.epoch_s(cell, least[cell]) for cell in plan.everything) + checks
        likely += (epochs - policy.epochs) * starts  # only those of the promised epochs are free
    return Forecast(
        policy.epochs * starts,
        policy.epochs * sum(least.values()) + checks,
        policy.budget_s,
        likely,
        alone,
    )


def _bare_s(cell: Cell, policy: Policy) -> float:
    """Seconds of one epoch of `cell` up to the first look; long data get one burst."""
    if cell.state != LOOP:
        return expected_s(cell)
    if cell.drawn:
        return draws.BURST_MS * 1e-3
    return max(policy.looks[0] * BURST_S, BYTE_S * cell.size_bytes)
