"""The figure of calls whose cost is random: a distribution, given by quantiles of single calls.

A new RSA key needs a random number of candidates, so one call costs several times another, and both are right. A
mean hides that, and its interval says only how well the mean is known. So the median and other quantiles are given,
each with an interval by order statistics, which assumes nothing of the distribution's form.

Calls draw fresh randomness, so they are independent whatever process they are made in: those of all epochs are taken
together. No call is left out, however disturbed: a long call meets an interruption more often than a short one, so a
rule that drops what was interrupted would make keys look cheaper than they are. What disturbs a call for a part of its
time moves it by far less than random variation does; how many calls were disturbed is reported.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from perbyte.errors import UsageError
from perbyte.model import Burst, Cell, CellFigure, Doubt, Estimate, Interval, Quality, Quantile, Warning
from perbyte.stats.arrays import np
from perbyte.stats.clean import Grounds
from perbyte.stats.compare import SHARED_CORE
from perbyte.stats.samples import Floats

SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.99)
# calls from which on the interval of the 99 % quantile has an upper end at a level of 95 %: 0.99^n < 0.025
ENOUGH_CALLS = 368
MOST_DISTURBED = 0.5  # of the calls, above which a figure is noisy


@dataclass(frozen=True, slots=True)
class _Calls:
    """The usable calls of all epochs: cycles and ns of each, how many were undisturbed, and where they come from."""

    cycles: Floats
    ns: Floats
    clean: int
    epochs: int
    sources: frozenset[str]

    @property
    def timed_only(self) -> bool:
        """True where not every call has cycles."""
        return "none" in self.sources or not np.isfinite(self.cycles).all()


def figure_of_draws(cell: Cell, bursts: Sequence[Burst], grounds: Grounds) -> CellFigure:
    """Return the figure of a cell whose calls vary at random, from all its bursts; its library is not known here.

    In core cycles where every epoch has them, else in nanoseconds. Raises UsageError without a call to use.
    """
    calls, level = _usable(cell, bursts, grounds), grounds.policy.level
    values = calls.ns if calls.timed_only else calls.cycles
    middle = quantile(values, 0.5, level)
    quality, warnings = _doubts(calls)
    low = min(middle.low, middle.value / SHARED_CORE) if quality is Quality.NOISY else middle.low
    return CellFigure(
        cell=cell,
        library="",
        library_version="",
        cycles_per_call=None if calls.timed_only else middle.value,
        ns_per_call=float(np.median(calls.ns)),
        interval=Interval(low, middle.high, level, "samples"),
        samples=sum(map(len, bursts)),
        clean_samples=calls.clean,
        epochs=calls.epochs,
        epoch_cycles=(),
        epoch_ns=(),
        calls_per_sample=1,
        quality=quality,
        cycle_source="none" if calls.timed_only else min(calls.sources),
        warnings=warnings,
        quantiles=quantiles(values, level),
    )


def _usable(cell: Cell, bursts: Sequence[Burst], grounds: Grounds) -> _Calls:
    """All calls but those in which the library reported an error."""
    cycles, ns, clean, sources = [], [], 0, set()
    for number in sorted({burst.epoch for burst in bursts if burst.ticks}):
        taken = [burst for burst in bursts if burst.epoch == number]
        if calibration := grounds.calibration(taken[0]):
            judged = grounds.judge(taken)
            usable = ~judged.failed
            cycles.append(judged.cycles[usable])
            ns.append(judged.ns[usable])
            clean += int(((judged.excess <= 1.0) & usable).sum())
            sources.add(calibration.cycle_source)
    if not any(map(len, ns)):
        raise UsageError(f"{cell.address} has no usable sample", hint="measure the cell again")
    return _Calls(np.concatenate(cycles), np.concatenate(ns), clean, len(ns), frozenset(sources))


def _doubts(calls: _Calls) -> tuple[Quality, tuple[Warning, ...]]:
    """What is to be said of so many calls, and the quality that follows."""
    count, clean = len(calls.ns), calls.clean
    shortest, longest = float(calls.ns.min()), float(calls.ns.max())
    text = (
        f"each call is a sample of its own: the median of {count:,} calls is given, of which the shortest "
        f"took {shortest / 1e6:.3g} ms and the longest {longest / 1e6:.3g} ms; {clean:,} were undisturbed at both ends"
    )
    quality, warnings = Quality.GOOD, [Warning(Doubt.DRAWN, text, (count, shortest, longest, clean))]
    if count < ENOUGH_CALLS:
        quality = Quality.IMPRECISE
        text = f"{count:,} calls are too few for an interval of the 99 % quantile, which takes {ENOUGH_CALLS}"
        warnings.append(Warning(Doubt.IMPRECISE, text, (count, ENOUGH_CALLS)))
    if clean < (1 - MOST_DISTURBED) * count:
        quality = Quality.NOISY
        text = (
            f"only {clean:,} of {count:,} calls were undisturbed at both ends, and the interval reaches down to what a "
            "core without neighbours may do"
        )
        warnings.append(Warning(Doubt.NOISY, text, (clean, count)))
    return quality, tuple(warnings)


def quantiles(values: Floats, level: float) -> tuple[Quantile, ...]:
    """Return the quantiles of `SHARES` that so many values can tell: at least one is expected beyond each."""
    told = [share for share in SHARES if len(values) * min(share, 1 - share) >= 1 - 1e-9]
    return tuple(Quantile(share, quantile(values, share, level)) for share in told)


def quantile(values: Floats, share: float, level: float) -> Estimate:
    """Return the quantile of `share` (0.5: the median), with its interval by order statistics.

    The value is interpolated so that it is nearly unbiased in the median (Hyndman and Fan 1996, type 8). The ends come
    from the binomial distribution, as for the median (Le Boudec 2010, theorem 2.1); where no order statistic reaches
    the level they are 0 and infinite. Raises ValueError without values.
    """
    if not len(values):
        raise ValueError("no values have no quantile")
    ordered = np.sort(np.asarray(values, dtype=float))
    low, high = _ends(len(ordered), share, level)
    value = float(np.quantile(ordered, share, method="median_unbiased"))
    return Estimate(
        value,
        min(value, float(ordered[low])) if low >= 0 else 0.0,
        max(value, float(ordered[high])) if high < len(ordered) else math.inf,
    )


@lru_cache(maxsize=4096)
def _ends(n: int, share: float, level: float) -> tuple[int, int]:
    """The indices (from 0) of the order statistics around a quantile; -1 and n where none reaches the level."""
    outside = (1 - level) / 2
    below, low, high = 0.0, -1, n
    for count in range(n):  # the chance that so many values lie below the quantile, or fewer
        logarithm = math.lgamma(n + 1) - math.lgamma(count + 1) - math.lgamma(n - count + 1)
        below += math.exp(logarithm + count * math.log(share) + (n - count) * math.log1p(-share))
        if below <= outside:
            low = count
        if below >= 1 - outside and high == n:
            high = count
    return low, high
