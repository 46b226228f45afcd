"""Whose share of clean samples is unlike that of all others: a probe that was misjudged, or work that disturbs itself.

All cells of a run take turns, so the machine disturbs them alike. Where of one row hardly a sample is clean and of the
others most, the reason lies with the row: its process took something else for a quiet core, or its runtime does other
work. The figure stays as it is, and says so.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping

from perbyte.model import Cell, Doubt, Process, Warning
from perbyte.stats.arrays import np
from perbyte.stats.estimate import beyond_scatter

WRONG = 0.01  # of runs in which all rows are alike: in so many, or fewer, some row is called unlike
LEAST_ROWS = 8  # others; with fewer their scatter is not known well enough
ODDS = (
    4.0  # by which the odds of a clean sample have to differ: 4 of 5 against 1 of 2, or 1 of 2 against 1 of 5
)


def unlike_shares(counts: Mapping[Cell, tuple[int, int]]) -> dict[Cell, Warning]:
    """Return a warning for each cell whose share of clean samples is unlike all others'; `counts` are (clean, samples).

    A cell is held against the cells of all other processes, because a process that is wrong is wrong about all of its
    cells; where these are too few, against all other cells. Logarithms of odds, with the scatter of the others and the
    cell's own binomial variance (half a sample added to either side; Haldane 1956, Anscombe 1956). All cells together
    are wrong in WRONG of runs at the most (Bonferroni). Cells without samples do not count.
    """
    taken = {cell: pair for cell, pair in counts.items() if pair[1] > 0}
    odds = {
        cell: math.log((clean + 0.5) / (samples - clean + 0.5)) for cell, (clean, samples) in taken.items()
    }
    odds_of: dict[Process, list[float]] = defaultdict(list)
    for cell, odd in odds.items():
        odds_of[cell.process].append(odd)
    others_of = {
        process: [odd for other, values in odds_of.items() if other != process for odd in values]
        for process in odds_of
    }
    warning_of = {}
    for cell, (clean, samples) in taken.items():
        others = others_of[cell.process]
        if len(others) < LEAST_ROWS:
            others = [odd for other, odd in odds.items() if other is not cell]
        if len(others) < LEAST_ROWS:
            continue
        middle = float(np.median(others))
        own = 1 / (clean + 0.5) + 1 / (samples - clean + 0.5)
        if abs(odds[cell] - middle) > math.log(ODDS) and beyond_scatter(
            odds[cell], others, WRONG / len(taken), own_variance=own
        ):
            warning_of[cell] = _warning(clean, samples, middle, len(others))
    return warning_of


def _warning(clean: int, samples: int, middle: float, others: int) -> Warning:
    usual = 1 / (1 + math.exp(-middle))
    text = (
        f"{_percent(clean / samples)} of its samples were clean ({clean:,} of {samples:,}), and {_percent(usual)} of "
        f"those of {others} other rows: what its process takes for a quiet core may be wrong"
    )
    return Warning(Doubt.CLEAN_SHARE, text, (clean / samples, usual))


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"
