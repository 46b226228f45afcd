"""What one epoch of a cell says: the midmean of its clean samples, whether it holds enough of them, and what moved.

An epoch that holds too little says so (`quiet`); whether it counts is decided by `figure`, which knows the others. A
sample is chosen by its probes and by what the kernel reported, never by its own duration.

Only a trend of a size that matters is reported: with enough samples every trend is significant. And samples
of one burst are not independent witnesses: a core often runs a whole burst in one of two states (31.5 or 32.5
cycles, say) and the next one in the other. So where there are enough bursts, a burst is one witness. What
causes a trend (a compiler at work, a heap that fills) is not decided here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from perbyte.model import Burst, Calibration
from perbyte.stats.arrays import np
from perbyte.stats.clean import Grounds
from perbyte.stats.estimate import (
    lower_quartile,
    median,
    midmean,
    midmean_half_width,
    normal_quantile,
    rank_correlation,
    t_quantile,
)
from perbyte.stats.samples import Bools, Floats, SampleTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

TREND_SIZE = 0.005
_TREND_LEVEL = 0.999
_LEAST_SAMPLES = 12
_LEAST_BURSTS = 6


@dataclass(frozen=True, slots=True)
class Trend:
    """`change` from the first third to the last, relative to the first; `correlation` of ranks with time."""

    change: float
    correlation: float


def trend(values: Floats, burst: NDArray[np.int64] | None = None) -> Trend | None:
    """Return the trend of `values` (in the order of time), or None when there is none that matters.

    `burst` numbers the burst of each value, ascending; None: one burst. With six bursts or more their
    midmeans are tested; with fewer, what happens within them, each taken relative to its own midmean; fewer
    than 12 samples show nothing. There is a trend when the first and the last third differ by more than
    0.5 % and Spearman's rank correlation with time is beyond what chance gives in 999 of 1,000 cases
    (by Student's t; Kendall and Stuart 1973, 31.19).
    """
    if burst is None or not len(burst) or burst[0] == burst[-1]:
        return _tested(values, _LEAST_SAMPLES)
    starts = np.flatnonzero(np.diff(burst)) + 1
    parts = np.split(values, starts)
    centres = np.array([midmean(part) for part in parts])
    if len(parts) >= _LEAST_BURSTS:
        return _tested(centres, _LEAST_BURSTS)
    if not (centres > 0).all():
        return None
    position = np.concatenate([np.arange(len(part)) for part in parts])
    relative = np.concatenate([part / centre for part, centre in zip(parts, centres, strict=True)])
    return _tested(relative[np.argsort(position, kind="stable")], _LEAST_SAMPLES)


def _tested(values: Floats, least: int) -> Trend | None:
    n = len(values)
    if n < least:
        return None
    third = n // 3
    first, last = midmean(values[:third]), midmean(values[-third:])
    if first <= 0 or not math.isfinite(last) or abs(last / first - 1) <= TREND_SIZE:
        return None
    correlation = rank_correlation(values, np.arange(float(len(values))))
    if correlation * (last - first) <= 0:
        return None
    size = abs(correlation) * math.sqrt((n - 2) / max(1 - correlation**2, 1e-12))
    return Trend(last / first - 1, correlation) if size > t_quantile(_TREND_LEVEL, n - 2) else None


def autocorrelation(values: Floats) -> float:
    """Return the correlation of each value with the next one, in [-1, 1]; 0 for fewer than 4 values.

    Values are clipped to three quartile ranges around the median first, so that one outlier does not
    decide.
    """
    if len(values) < 4:
        return 0.0
    ordered = np.sort(values)
    n = len(values)
    middle = ordered[n // 2]
    reach = 3 * (ordered[3 * n // 4] - ordered[n // 4])
    kept = np.clip(values, middle - reach, middle + reach)
    centred = kept - kept.mean()
    power = float(centred @ centred)
    return float(centred[:-1] @ centred[1:]) / power if power else 0.0


def inflation(values: Floats) -> float:
    """Return by how much autocorrelation widens the standard error of a mean; at least 1.

    sqrt((1 + r) / (1 - r)) of a first-order process (e.g. Priestley 1981, 5.3.2), r kept within 0 and 0.95.
    """
    r = min(max(autocorrelation(values), 0.0), 0.95)
    return math.sqrt((1 + r) / (1 - r))


# Clean samples an epoch needs. Simulated (bench/few_samples.py, ADR 27): where probes miss 1 to 2 % of what disturbs an
# epoch of 200 samples, intervals from 1 or 2 clean samples an epoch hold in 0 to 83 of 100 cases, from 3 to 8 in 54 to
# 100, from 12 on in 95 and more.
MIN_CLEAN = 12
FEW_IN_BURST = 5  # clean samples of a burst, below which its middle says nothing of it
# where the probes around a call cannot vouch for it: few calls, and the epochs' lower quartile
MIN_CLEAN_LONG = 1
LONG_US = 75.0  # from which on a single call is long
VERY_LONG_US = 500.0  # from which on the probes around a call cannot vouch for what happens within


@dataclass(frozen=True, slots=True)
class Epoch:
    """What one epoch says. `value` is in cycles, or in ns where there are none; `half` is its half-width.

    `bursts` are the middles of its bursts. `quiet`: it holds enough clean samples. `disturbed`: samples that are not
    clean are among those it was made of. `forks`: bursts that forks took, where they took all. `resolution`: half-width
    below which the steps of the counter cannot tell.
    """

    number: int
    value: float
    half: float
    cycles: float
    ns: float
    samples: int
    clean: int
    quiet: bool
    disturbed: bool
    failed: int
    long: bool
    very_long: bool
    pieces: tuple[int, ...]
    call_s: float
    calls: int
    trend: Trend | None
    calibration: Calibration
    bursts: tuple[float, ...] = ()
    forks: int = 0
    resolution: float = 0.0


def judge_epoch(bursts: Sequence[Burst], grounds: Grounds, unseen: bool = False) -> Epoch | None:
    """Return what the bursts of one epoch say, all of whole calls or of pieces of one length; None without a sample.

    `unseen`: no probe vouches for what happens within a call, so the lower quartile speaks and few samples will do.
    Raises KeyError without a calibration of the epoch.
    """
    if not bursts:
        return None
    judged = grounds.judge(bursts)
    whole, clean, values = judged.table, judged.clean, judged.values
    usable = ~judged.failed & np.isfinite(values)
    if not usable.any():
        return None
    calibration, level = grounds.calibrations[bursts[0].cell.process, bursts[0].epoch], grounds.policy.level
    call_s = median((whole.ticks / whole.calls)[usable]) / max(calibration.tick_hz, 1.0)
    calls = bursts[-1].calls
    located = lower_quartile if unseen else midmean
    quiet = int(clean.sum()) >= (MIN_CLEAN_LONG if unseen else MIN_CLEAN)
    chosen = clean if quiet else _least_disturbed(judged.excess, whole, usable)
    kept = values[chosen]
    resolution = _resolution(whole, calibration, chosen, level)
    return Epoch(
        number=bursts[0].epoch,
        value=located(kept),
        half=math.hypot(midmean_half_width(kept, level) * inflation(kept), resolution),
        cycles=located(judged.cycles[chosen]),
        ns=located(judged.ns[chosen]),
        samples=len(whole),
        clean=int(clean.sum()),
        quiet=quiet,
        disturbed=bool((chosen & ~clean).any()),
        failed=int(judged.failed.sum()),
        long=calls == 1 and call_s * 1e6 > LONG_US,
        very_long=unseen,
        pieces=(),
        call_s=call_s,
        calls=calls,
        trend=trend(kept, whole.moment[chosen]) if quiet else None,
        calibration=calibration,
        bursts=_middles(kept, whole.moment[chosen]) if quiet else (),
        forks=len(bursts) if all(burst.forked for burst in bursts) else 0,
        resolution=resolution,
    )


def _middles(values: Floats, moment: NDArray[np.int64]) -> tuple[float, ...]:
    cuts = np.flatnonzero(np.diff(moment)) + 1
    return tuple(median(part) for part in np.split(values, cuts) if len(part) >= FEW_IN_BURST)


def judge_cut_epoch(bursts: Sequence[Burst], grounds: Grounds, unseen: bool) -> Epoch | None:
    """What an epoch of pieces says of a whole call: the line through the costs of its two lengths, at the call's.

    The two lengths that were taken most; another one told how long a call would be. Whole calls stand in where
    there are no pieces of two lengths.
    """
    taken: Counter[int] = Counter()
    for burst in bursts:
        taken[burst.piece_bytes] += len(burst) if burst.piece_bytes else 0
    lengths = sorted(length for length, count in taken.most_common(2) if count)
    short, long = (
        judge_epoch([burst for burst in bursts if burst.piece_bytes == length], grounds)
        for length in (lengths[0], lengths[-1])
    )
    if len(lengths) < 2 or not short or not long:
        return judge_epoch([burst for burst in bursts if not burst.piece_bytes], grounds, unseen)
    times = (bursts[0].cell.size_bytes - lengths[0]) / (lengths[-1] - lengths[0])

    def whole(at_short: float, at_long: float) -> float:
        return at_short + times * (at_long - at_short)

    return replace(
        long,
        value=whole(short.value, long.value),
        half=math.hypot((times - 1) * short.half, times * long.half),
        cycles=whole(short.cycles, long.cycles),
        ns=whole(short.ns, long.ns),
        samples=short.samples + long.samples,
        clean=short.clean + long.clean,
        quiet=short.quiet and long.quiet,
        disturbed=short.disturbed or long.disturbed,
        failed=short.failed + long.failed,
        long=False,
        very_long=False,
        pieces=(lengths[0], lengths[-1]),
        call_s=whole(short.call_s, long.call_s),
        calls=1,
        trend=None,
    )


def very_long(calls: int, call_s: float) -> bool:
    """True when a single call of `call_s` seconds is a sample, too long for the probes around it to vouch for it."""
    return calls == 1 and call_s * 1e6 > VERY_LONG_US


def _least_disturbed(excess: Floats, table: SampleTable, usable: Bools) -> Bools:
    """Choose the quarter that probes and kernel find least disturbed, at least MIN_CLEAN samples."""
    order = np.lexsort((excess, table.flags != 0, ~usable))
    count = min(int(usable.sum()), max(MIN_CLEAN, int(usable.sum()) // 4))
    chosen = np.zeros(len(table), dtype=np.bool_)
    chosen[order[:count]] = True
    return chosen


def _resolution(table: SampleTable, calibration: Calibration, chosen: Bools, level: float) -> float:
    """Half-width, per call, below which the tick counter's steps cannot tell: no interval is narrower.

    The error of a difference of two readings in steps of q is triangular with variance q^2/6; a sample
    carries one such error of its own ticks and, in proportion to its length, one of two clock probes.
    """
    if table.cycles is not None:
        return 0.0
    ticks = median(table.ticks[chosen])
    clock = median(table.clock[0, chosen])
    if calibration.cycle_source != "none" and clock > 0:
        unit, probe_part = calibration.probe_cycles / clock, ticks / clock / math.sqrt(2)
    else:
        unit, probe_part = 1e9 / max(calibration.tick_hz, 1.0), 0.0
    error = max(calibration.tick_quantum, 1) * math.hypot(1.0, probe_part) / math.sqrt(6 * int(chosen.sum()))
    return normal_quantile(0.5 + level / 2) * error * unit / float(table.calls[chosen][0])
