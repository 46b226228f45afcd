"""Whether two classes differ in their tails: in some calls only, so that neither mean nor spread moves by much.

The test counts, for a few thresholds, in how many pairs one class alone is beyond it. The thresholds are quantiles of
both classes together, so that a swap of a pair's classes leaves them where they are: under the null which of the two is
beyond is a fair coin, however the samples depend on each other. The counts have exact sign tests, and the least p is
multiplied by their number (Bonferroni).

How much the quantiles differ is another matter: a bootstrap of blocks of successive pairs (Künsch 1989) gives the
intervals, so that dependence within a block widens them. Dunsche, Lamp and Pöpper (SILENT, 2025) do so too.
"""

from __future__ import annotations

from perbyte.model.leak import Difference, Tails
from perbyte.stats.arrays import np
from perbyte.stats.paired import LEAST_BLOCK, QUANTILE, binomial_p, blocks_of
from perbyte.stats.samples import Floats

SHARES = (1 / 256, 1 / 64, 1 / 16, 1 / 4, 1 / 2)  # of calls that are beyond a level, either way
LEVELS = tuple(sorted({*SHARES, *(1 - share for share in SHARES)}))
THRESHOLDS = tuple(sorted({*LEVELS, 1 / 2048, 1 / 1024, 1 - 1 / 1024, 1 - 1 / 2048}))
LEAST_BEYOND = 64  # samples of both classes beyond a level, that its quantiles are compared
ROUNDS = 400  # of the bootstrap: its deviations are known to 4 %


def compare_tails(first: Floats, second: Floats, draws: np.random.Generator) -> Tails | None:
    """Compare the classes beyond quantiles; None where there are too few pairs for any of them.

    `first` and `second` have the samples of a pair at the same place, in the order in which they were taken, with ties
    broken at random.
    """
    pool = np.sort(np.concatenate([first, second]))
    levels = [level for level in LEVELS if min(level, 1 - level) * len(pool) >= LEAST_BEYOND]
    if not levels or len(first) < 2 * LEAST_BLOCK:
        return None
    p, strongest = _beyond(first, second, pool)
    apart, deviation = _quantiles(first, second, pool, levels, draws)
    near = min(range(len(levels)), key=lambda i: abs(np.log(levels[i] / (1 - levels[i])) - strongest))
    ends = [
        Difference(float(value), float(value - QUANTILE * wide), float(value + QUANTILE * wide), p)
        for value, wide in zip(apart, deviation, strict=True)
    ]
    return Tails(p, levels[near], tuple(levels), tuple(ends))


def _beyond(first: Floats, second: Floats, pool: Floats) -> tuple[float, float]:
    """The least p of all thresholds, times their number, and the log odds of the level that has it."""
    least, strongest = 1.0, 0.0
    for level in THRESHOLDS:
        threshold = pool[min(int(level * len(pool)), len(pool) - 1)]
        of_second, of_first = second > threshold, first > threshold
        more, less = int((of_second & ~of_first).sum()), int((of_first & ~of_second).sum())
        p = binomial_p(more, less)
        if p < least:
            least, strongest = p, float(np.log(level / (1 - level)))
    return min(1.0, least * len(THRESHOLDS)), strongest


def _quantiles(
    first: Floats, second: Floats, pool: Floats, levels: list[float], draws: np.random.Generator
) -> tuple[Floats, Floats]:
    """How much higher the second class's quantiles are, and the deviations of these differences."""
    fine = np.unique(np.concatenate([np.linspace(0, 1, 513), np.linspace(0, 1 / 32, 257)]))
    fine = np.unique(np.concatenate([fine, 1 - fine]))
    edges = np.unique(pool[np.minimum((fine * len(pool)).astype(int), len(pool) - 1)])
    block = blocks_of(len(first))
    count = int(block[-1]) + 1
    weights = np.vstack([np.ones(count), draws.multinomial(count, np.full(count, 1 / count), ROUNDS)])
    quantiles = []
    for samples in (first, second):
        cell = block * len(edges) + np.minimum(np.searchsorted(edges, samples), len(edges) - 1)
        counts = np.bincount(cell, minlength=count * len(edges)).reshape(count, len(edges))
        below = np.cumsum(weights @ counts, axis=1)
        quantiles.append([np.interp(levels, row / row[-1], edges) for row in below])
    apart = np.asarray(quantiles[1]) - np.asarray(quantiles[0])
    return apart[0], apart[1:].std(axis=0, ddof=1)
