"""How many bursts and samples a cell gets in an epoch: what reaches its precision soonest, by earlier epochs.

A figure is nested: processes, within them bursts (forks, where a runner can be forked), within these samples. With
variances s_p^2 between processes and s_f^2 between the bursts of one, and costs c_p of a process and c_f of a burst,
the mean of P processes of F bursts has the variance (s_p^2 + s_f^2 / F) / P and costs P (c_p + F c_f), which is least
at F = sqrt(c_p / c_f  s_f^2 / s_p^2), whatever P is (Kalibera and Jones, "Rigorous benchmarking in reasonable time",
2013, section 6). Likewise a burst holds sqrt(c_f / c_s  s_s^2 / s_f^2) samples. The variances are estimated from the
epochs so far and drawn towards what all cells have in common, because few epochs tell little. The numbers are fixed
before an epoch begins, so no figure decides when its cell stops.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean, median

from perbyte.measure.costs import Costs
from perbyte.measure.rounds import CLEAN_SHARE, MOST_BURSTS, NORMAL_QUARTILES
from perbyte.measure.tally import Tally
from perbyte.model import Cell, Policy
from perbyte.stats.arrays import np
from perbyte.stats.epoch import MIN_CLEAN
from perbyte.stats.estimate import midmean, normal_quantile
from perbyte.stats.interval import MIDMEAN_SPREAD_LIMIT, midmean_spread
from perbyte.stats.samples import Floats

LEAST_EPOCHS = 3  # of a cell, before its variances say anything
LEAST_BURSTS = 2  # one burst that is slow by chance must not decide for its process
# as many bursts as take so many times what a process takes: were processes all alike, more would save a fifth at most
MOST_TIMES = 4.0
LEAST_SAMPLES = 8  # of a burst: with fewer one disturbed sample would count for much
# as many clean samples are planned for an epoch as it needs to count, and a quarter more: some are found unclean later
SPARE = 1.25
COMMON_WEIGHT = 4.0  # epochs that what cells have in common counts as
BURSTS_OF_QUARTILES = 4  # from which on quartiles tell more than a variance that one of them can spoil
TINY = 1e-12  # relative variance: a millionth is nothing that a cell of this world repeats to


@dataclass(slots=True)
class _Known:
    """What the epochs of a cell showed: midmeans, variances between bursts and between the samples of one, relative to
    the means, and numbers of bursts."""

    means: list[float] = field(default_factory=list)
    within: list[float] = field(default_factory=list)
    samples: list[float] = field(default_factory=list)
    bursts: list[int] = field(default_factory=list)
    seen: float = 0.0  # the relative variance of the means
    between: float = 0.0  # that between processes: of the means, less what bursts explain of it

    def settle(self) -> None:
        """Work out what follows from the epochs so far, once for all that is asked before the next."""
        if len(self.means) < LEAST_EPOCHS:
            return
        means = np.array(self.means)
        self.seen = float(means.var(ddof=1)) / float(means.mean()) ** 2
        self.between = max(self.seen - fmean(self.within) / fmean(self.bursts), 0.0)

    def drawn(self, own: float, common: float) -> float:
        """A variance of its own, drawn towards that which cells have in common."""
        epochs = len(self.means)
        return (epochs * own + COMMON_WEIGHT * common) / (epochs + COMMON_WEIGHT)


@dataclass(frozen=True, slots=True)
class _Common:
    """What cells have in common: the medians of their variances."""

    means: float = TINY
    processes: float = TINY
    bursts: float = TINY
    samples: float = TINY


class Nesting:
    """Learns variances from epochs, and says how many bursts a cell is worth in the next one, by these and `costs`."""

    def __init__(self, policy: Policy, costs: Costs) -> None:
        self._policy = policy
        self._costs = costs
        self._known: dict[Cell, _Known] = defaultdict(_Known)
        self._common = _Common()
        self._planned: dict[Cell, int | None] = {}  # rounds, as long as no epoch says more

    def note(self, tallies: Mapping[Cell, Tally]) -> None:
        """Take over an epoch, whose costs have been noted."""
        self._planned.clear()
        for cell, tally in tallies.items():
            medians = np.array(tally.medians)
            mean = midmean(medians)
            if len(medians) < LEAST_BURSTS or mean <= 0:
                continue
            known = self._known[cell]
            known.means.append(mean)
            known.within.append(_variance(medians) / mean**2)
            known.samples.append(fmean(tally.scatter) / mean**2 if tally.scatter else 0.0)
            known.bursts.append(len(tally.medians))
            known.settle()
        grown = [known for known in self._known.values() if len(known.means) >= LEAST_EPOCHS]
        if grown:
            self._common = _Common(
                means=median(known.seen for known in grown),
                processes=median(known.between for known in grown),
                bursts=median(fmean(known.within) for known in grown),
                samples=median(fmean(known.samples) for known in grown),
            )

    def missing(self, cell: Cell, precision: float) -> int | None:
        """Return how many more epochs of as many bursts as are planned a cell needs; None while nothing is known."""
        known, planned = self._grown(cell), self.variance(cell)
        if known is None or planned is None:
            return None
        seen = max(known.drawn(known.seen, self._common.means), TINY)
        quantile = MIDMEAN_SPREAD_LIMIT * normal_quantile(0.5 + self._policy.level / 2)
        # epochs of fewer bursts are worth less than those to come
        return max(1, math.ceil(quantile**2 * planned / precision**2 - len(known.means) * planned / seen))

    def variance(self, cell: Cell) -> float | None:
        """Return the relative variance to expect of epochs of as many bursts as are planned; None while unknown.

        It is drawn towards the common one, which counts as `COMMON_WEIGHT` epochs.
        """
        known, rounds = self._grown(cell), self.rounds(cell)
        if known is None or rounds is None:
            return None
        seen = max(known.drawn(known.seen, self._common.means), TINY)
        between = min(known.drawn(known.between, self._common.processes), seen)
        return between + (seen - between) * min(1.0, fmean(known.bursts) / rounds)

    def cost_s(self, cell: Cell) -> float:
        """Return what the bursts that are planned for a cell take in an epoch; 0 while nothing is known."""
        known, rounds = self._grown(cell), self.rounds(cell)
        if known is None or rounds is None:
            return 0.0
        return rounds * self._planned_burst_s(cell)

    def _planned_burst_s(self, cell: Cell) -> float:
        return self._costs.burst_s[cell] + self._costs.sample_s[cell] * self._worth(cell)

    def rounds(self, cell: Cell) -> int | None:
        """Return the rounds that a cell takes part in, in the next epoch; None while nothing is known."""
        if cell not in self._planned:
            self._planned[cell] = self._plan(cell)
        return self._planned[cell]

    def _plan(self, cell: Cell) -> int | None:
        known = self._grown(cell)
        if known is None:
            return None
        bursts = known.drawn(fmean(known.within), self._common.bursts)
        processes = known.drawn(known.between, self._common.processes)
        cheap = self._costs.beside_s / self._planned_burst_s(cell)
        wanted = min(math.sqrt(cheap * bursts / max(processes, TINY)), MOST_TIMES * cheap)
        return max(LEAST_BURSTS, min(MOST_BURSTS, round(wanted)))

    def samples(self, cell: Cell) -> int:
        """Return the samples that a burst of the cell holds at the most, in the next epoch."""
        wanted, rounds = self._worth(cell), self.rounds(cell)
        enough = 0 if rounds is None else math.ceil(SPARE * MIN_CLEAN / (CLEAN_SHARE * rounds))
        return max(wanted, min(self._policy.burst_samples, enough))

    def _worth(self, cell: Cell) -> int:
        """The samples of a burst that reach the precision soonest."""
        known = self._grown(cell)
        if known is None or self._costs.sample_s[cell] <= 0:
            return self._policy.burst_samples
        samples = known.drawn(fmean(known.samples), self._common.samples)
        # what samples add is part of what bursts were seen to differ by
        bursts = known.drawn(fmean(known.within), self._common.bursts)
        wanted = math.sqrt(
            self._costs.burst_s[cell] / self._costs.sample_s[cell] * samples / max(bursts, TINY)
        )
        return max(LEAST_SAMPLES, min(self._policy.burst_samples, math.ceil(wanted)))

    def _grown(self, cell: Cell) -> _Known | None:
        known = self._known.get(cell)
        grown = known is not None and len(known.means) >= LEAST_EPOCHS
        return known if grown and self._costs.burst_s.get(cell, 0.0) > 0 else None


def _variance(medians: Floats) -> float:
    """How many times the variance of the midmean of bursts is as large for one of them.

    By their quartiles: a figure leaves out what one disturbed burst of an epoch says, and so does a plan.
    """
    if len(medians) < BURSTS_OF_QUARTILES:
        spread = float(medians.std(ddof=1))
    else:
        low, high = np.percentile(medians, (25, 75)).tolist()
        spread = (high - low) / NORMAL_QUARTILES
    return (midmean_spread(len(medians)) * spread) ** 2
