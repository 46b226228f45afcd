"""How many bursts a cell gets in an epoch: as many as reach its precision soonest, by what earlier epochs showed.

A figure is nested: processes, within them bursts (forks, where a runner can be forked), within these samples. With
variances s_p^2 between processes and s_f^2 between the bursts of one, and costs c_p of a process and c_f of a burst,
the mean of P processes of F bursts has the variance (s_p^2 + s_f^2 / F) / P and costs P (c_p + F c_f), which is least
at F = sqrt(c_p / c_f  s_f^2 / s_p^2), whatever P is (Kalibera and Jones, "Rigorous benchmarking in reasonable time",
2013, section 6). Both variances are estimated from the epochs so far and drawn towards what all cells have in common,
because few epochs tell little. The number is fixed before an epoch begins, so no figure decides when its cell stops.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from perbyte.measure.rounds import Tally
from perbyte.model import Cell, Policy

LEAST_EPOCHS = 3  # of a cell, before its variances say anything
LEAST_BURSTS = 2  # one process that was unlucky with one burst is not to decide
COMMON_WEIGHT = 4.0  # epochs that what cells have in common counts as
TINY = 1e-12  # relative variance: a millionth is nothing that a cell of this world repeats to


@dataclass(slots=True)
class _Known:
    """What the epochs of a cell showed: means, variances between bursts, numbers of bursts; and seconds a burst."""

    means: list[float] = field(default_factory=list)
    within: list[float] = field(default_factory=list)
    bursts: list[int] = field(default_factory=list)
    burst_s: float = 0.0


class Nesting:
    """Learns variances and costs from epochs, and says how many bursts a cell is worth in the next one."""

    def __init__(self, policy: Policy) -> None:
        self._most = policy.looks[-1]
        self._known: dict[Cell, _Known] = defaultdict(_Known)
        self._process_s = 0.0
        self._common = (TINY, TINY)

    def note(self, tallies: Mapping[Cell, Tally], took_s: float) -> None:
        """Take over an epoch that took `took_s` seconds in all."""
        spent_s = sum(tally.spent_s for tally in tallies.values())
        self._process_s = max(took_s - spent_s, 0.0) / max(len(tallies), 1)
        for cell, tally in tallies.items():
            if len(tally.medians) < LEAST_BURSTS:
                continue
            mean = statistics.fmean(tally.medians)
            if mean <= 0:
                continue
            known = self._known[cell]
            known.means.append(mean)
            known.within.append(statistics.variance(tally.medians) / mean**2)
            known.bursts.append(len(tally.medians))
            known.burst_s = tally.spent_s / len(tally.medians)
        grown = [known for known in self._known.values() if len(known.means) >= LEAST_EPOCHS]
        if grown:
            self._common = (
                statistics.median(statistics.fmean(known.within) for known in grown),
                statistics.median(_between(known) for known in grown),
            )

    def rounds(self, cell: Cell) -> int:
        """Return the rounds that a cell takes part in at the most, in the next epoch."""
        known = self._known.get(cell)
        if known is None or len(known.means) < LEAST_EPOCHS or known.burst_s <= 0:
            return self._most
        epochs = len(known.means)
        bursts = _drawn(statistics.fmean(known.within), self._common[0], epochs)
        processes = _drawn(_between(known), self._common[1], epochs)
        wanted = math.sqrt(self._process_s / known.burst_s * bursts / max(processes, TINY))
        return max(LEAST_BURSTS, min(self._most, round(wanted)))


def _between(known: _Known) -> float:
    """The relative variance between processes: that of the means, less what bursts explain of it."""
    seen = statistics.variance(known.means) / statistics.fmean(known.means) ** 2
    return max(seen - statistics.fmean(known.within) / statistics.fmean(known.bursts), 0.0)


def _drawn(own: float, common: float, epochs: int) -> float:
    return (epochs * own + COMMON_WEIGHT * common) / (epochs + COMMON_WEIGHT)
