"""The harness measured against loops of known cost, through the whole pipeline.

`Trials` counts over loops whose ratios are known exactly: calls of one loop that take so many more steps. So it is
known what is right of what is called different, with which interval, and after how much time.
"""

from __future__ import annotations

import itertools
import math
import statistics
from dataclasses import dataclass, field
from typing import Any

from perbyte.model import CellFigure, Quality, Run
from perbyte.stats.across import floor_across
from perbyte.stats.compare import Answer, compare
from perbyte.stats.estimate import binomial_bound

# name: (cycles, tolerance); an aesenc takes 3 or 4 cycles depending on the core, so it has no goal
KNOWN = {
    "probe-imul": (3.0, 0.01),
    "probe-imul-add": (4.0, 0.01),
    "probe-crc32": (3.0, 0.01),
    "probe-empty": (0.0, 1.0),
}
LOOP = "probe-imul"
STEPS = 4000  # of the loop in a call; the others take so many more
SLOWDOWNS = (0.0025, 0.005, 0.01, 0.02, 0.05)


@dataclass(frozen=True, slots=True)
class LoopReading:
    """What was read for a loop, and what it must read; None where there is no cycle source, or no goal.

    `unclear`: off the goal, but no further than this noisy moment may put it.
    """

    loop: str
    cycles: float | None
    goal: float | None
    wrong: bool
    unclear: bool = False


def judged(figure: CellFigure) -> LoopReading:
    """What a loop read, held against what it must read."""
    loop = figure.cell.algorithm
    value = figure.cycles_per_call if loop == "probe-empty" else figure.cycles_per_byte
    goal, tolerance = KNOWN.get(loop, (None, 0.0))
    if value is None or goal is None:
        return LoopReading(loop, value, goal, wrong=False)
    slack = figure.interval.half_width if loop == "probe-empty" else figure.relative_half_width * value
    off = abs(value - goal) - tolerance
    noisy = figure.quality in (Quality.NOISY, Quality.UNSETTLED) or not off > slack
    return LoopReading(loop, value, goal, wrong=off > 0 and not noisy, unclear=off > 0 and noisy)


def steps(slower: float) -> int:
    """Steps of the loop in a call that is slower by this share."""
    return round(STEPS * (1 + slower))


@dataclass(slots=True)
class Trials:
    """Counts over runs of loops with known ratios. `detected`: (budget, slowdown) to (found, tries)."""

    identical: list[bool] = field(default_factory=list)  # was a cell of two runs called different?
    held: list[bool] = field(default_factory=list)  # did the interval of a ratio hold the true one?
    errors: list[float] = field(default_factory=list)
    wrong_way: int = 0
    before: tuple[Run, float] | None = None
    detected: dict[tuple[float, float], list[bool]] = field(default_factory=dict)

    def take(self, run: Run, budget_s: float) -> None:
        """Count what a run says."""
        singles = sorted(((figure.cell.size_bytes, figure) for figure in run.cells), key=lambda pair: pair[0])
        if self.before and self.before[1] == budget_s:
            # the same code in fresh processes, another layout and order
            last = {figure.cell: figure for figure in self.before[0].cells}
            floor = floor_across((self.before[0].noise_floor, run.noise_floor))
            again = [(last[figure.cell], figure) for figure in run.cells if figure.cell in last]
            self.identical += [compare(*pair, floor, same_run=False).claimed for pair in again]
        self.before = (run, budget_s)
        for (fewer, a), (more, b) in itertools.combinations(singles, 2):
            comparison = compare(a, b, run.noise_floor)
            true = more / fewer
            if not comparison.ratio.known:
                continue
            self.held.append(comparison.ratio.low <= true <= comparison.ratio.high)
            self.errors.append(comparison.ratio.value / true - 1)
            self.wrong_way += comparison.answer is Answer.FASTER
            if fewer == STEPS:
                share = next(slowdown for slowdown in SLOWDOWNS if steps(slowdown) == more)
                self.detected.setdefault((budget_s, share), []).append(comparison.answer is Answer.SLOWER)

    def smallest(self, budget_s: float) -> float:
        """The smallest slowdown that was found in every run, and so was every larger budget; infinite when none was."""
        least = math.inf
        for share in sorted(SLOWDOWNS, reverse=True):
            tries = self.detected.get((budget_s, share), [])
            if not tries or not all(tries):
                break
            least = share
        return least

    def said(self) -> dict[str, Any]:
        """All counts as JSON types."""
        budgets = sorted({budget for budget, _ in self.detected})
        return {
            "identical_pairs": len(self.identical),
            "called_different": sum(self.identical),
            "false_alarms_below": binomial_bound(sum(self.identical), len(self.identical)),
            "called_the_wrong_way_round": self.wrong_way,
            "ratios": len(self.held),
            "intervals_with_the_true_ratio": sum(self.held),
            "median_error": statistics.median(self.errors) if self.errors else None,
            "largest_error": max(map(abs, self.errors)) if self.errors else None,
            "detected": [
                {"budget_s": budget, "slowdown": share, "found": sum(tries), "runs": len(tries)}
                for (budget, share), tries in sorted(self.detected.items())
            ],
            "tells_from": [
                {
                    "budget_s": budget,
                    "difference": least if math.isfinite(least := self.smallest(budget)) else None,
                }
                for budget in budgets
            ],
        }
