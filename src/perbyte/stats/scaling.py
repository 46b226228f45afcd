"""How far several cores do more than one: aggregate, figure per thread, and scaling efficiency with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from perbyte.model import Estimate, Together
from perbyte.stats.compare import Comparison, Cost, compare_costs
from perbyte.stats.estimate import t_quantile


@dataclass(frozen=True, slots=True)
class Scaling:
    """`threads` processes at once: calls a second of all and of each, with the interval over rounds.

    `efficiency` is all of them over so many times one alone: 1 is perfect scaling.
    """

    threads: int
    all: Estimate
    each: Estimate
    efficiency: Comparison | None
    clean: float


def scaling(measured: Sequence[Together], level: float = 0.95) -> tuple[Scaling, ...]:
    """The scaling of what was measured together; efficiency against one thread, where it is among them.

    Rounds are pairs: in each of them every number of threads was measured. Numbers with fewer than two are left out.
    """
    alone = next((one for one in measured if one.threads == 1), None)
    found = []
    for one in measured:
        sums = {turn: sum(1e9 / each for each in row) for turn, row in enumerate(one.ns_per_call) if row}
        if len(sums) < 2:
            continue
        together = estimate_over(tuple(sums.values()), level)
        efficiency = None
        pairs = [
            (1e9 / row[0], sums[turn] / one.threads)
            for turn, row in enumerate(alone.ns_per_call if alone and one.threads > 1 else ())
            if row and turn in sums
        ]
        if len(pairs) > 1:
            base, shares = zip(*pairs, strict=True)
            efficiency = compare_costs(_rounds(base, level), _rounds(shares, level), level=level)
        each = Estimate(*(end / one.threads for end in (together.value, together.low, together.high)))
        found.append(Scaling(one.threads, together, each, efficiency, one.clean))
    return tuple(found)


def _rounds(values: Sequence[float], level: float) -> Cost:
    return Cost(estimate_over(values, level), tuple(values), source=0)


def estimate_over(values: Sequence[float], level: float = 0.95) -> Estimate:
    """The median of rounds, with Student's interval of their mean around it."""
    half = t_quantile(level, len(values) - 1) * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    middle = float(np.median(values))
    return Estimate(middle, middle - half, middle + half)
