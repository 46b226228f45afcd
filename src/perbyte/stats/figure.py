"""The figure of a cell: one value, one interval, one quality, and every doubt in words.

Per epoch the midmean of its clean samples, over epochs the median, or the midmean where forks took the bursts: epochs
are means of many draws then, and no single layout has much weight (ADR 47). An epoch that holds too few clean samples
is left out, however few are left: what gets past the probes is a large part of few samples. Where no epoch holds
enough, the least disturbed samples speak, the figure is called noisy, and its interval reaches down to what an
undisturbed core may do. Choosing goes by the probes only. A figure is always given; what is wrong with it is said.

The probes stand around a sample. A call that outlasts them many times may be disturbed within and nobody saw it:
then the lower quartile speaks instead of midmean and median, because such disturbances only add. Where such a call was
cut, its figure follows from pieces of two lengths, and whole calls that were alone on the core are its check.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from perbyte.errors import UsageError
from perbyte.model import Burst, Cell, CellFigure, Doubt, Policy, Quality, Warning
from perbyte.model.cell import LOOP
from perbyte.stats.arrays import np
from perbyte.stats.clean import Grounds
from perbyte.stats.compare import SHARED_CORE
from perbyte.stats.cores import in_common
from perbyte.stats.epoch import MIN_CLEAN, Epoch, judge_cut_epoch, judge_epoch, very_long
from perbyte.stats.estimate import lower_quartile, median, midmean
from perbyte.stats.interval import Spread, combined_interval, find_spread, forked_interval, quartile_interval
from perbyte.stats.samples import Floats

LEAST_FORKS = 2  # of an epoch that counts as the mean of several draws; a run never plans fewer
PIECES_APART = 0.05  # by which pieces may cost more than whole calls do
# what cells have in common, by whether forks made their epochs
Spreads = Mapping[bool, Spread | None]
# by number of the epoch, of its bursts, and whether its calls are too long for the probes around them
JudgedEpochs = dict[tuple[int, int, bool], tuple[Epoch | None, Epoch | None, list[float]]]


@dataclass(frozen=True, slots=True)
class Summary:
    """What the samples of a cell say, epoch by epoch: all that its figure needs but what other cells know.

    `used` are the epochs that count, `values` theirs: cycles per call, or ns where `in_cycles` is False. `whole` are
    the clean whole calls, in the same unit, of a cell whose calls were cut.
    """

    cell: Cell
    epochs: tuple[Epoch, ...]
    used: tuple[Epoch, ...]
    values: tuple[float, ...]
    in_cycles: bool
    warnings: tuple[Warning, ...]
    whole: tuple[float, ...] = ()

    @property
    def very_long(self) -> bool:
        """True where calls are too long for the probes around them."""
        return any(epoch.very_long for epoch in self.used)

    @property
    def quiet(self) -> bool:
        """True where all epochs that count hold enough clean samples."""
        return all(epoch.quiet for epoch in self.used)

    @property
    def forked(self) -> bool:
        """True where each of several epochs that count is the mean of several forks."""
        return len(self.used) > 1 and self.quiet and all(epoch.forks >= LEAST_FORKS for epoch in self.used)


def summarise(
    cell: Cell, bursts: Sequence[Burst], grounds: Grounds, judged: JudgedEpochs | None = None
) -> Summary:
    """Return what all bursts of `cell` say. Raises UsageError when no burst holds a sample that can be used.

    `judged` keeps what was found out about each epoch for the next call about the same cell, policy and quiet core.
    """
    warnings: list[Warning] = []
    epochs, whole = _epochs(cell, bursts, grounds, warnings, {} if judged is None else judged)
    if not epochs:
        raise UsageError(f"{cell.address} has no usable sample", hint="measure the cell again")
    used = _choose(epochs)
    in_cycles = "none" not in {epoch.calibration.cycle_source for epoch in used} and all(
        math.isfinite(epoch.cycles) for epoch in used
    )
    values = tuple(epoch.cycles if in_cycles else epoch.ns for epoch in used)
    return Summary(cell, tuple(epochs), tuple(used), values, in_cycles, tuple(warnings), tuple(whole))


def common_spread(summaries: Iterable[Summary]) -> Spreads:
    """Return what the cells of a run say about the spread of epochs, those of forks and others apart.

    None where they are too few.

    Of very long calls the lower quartile is given, and what lies between epochs is another thing: they do not count.
    Neither do twins, which are cells that count already, nor calls in a state of their own, nor cells of which no epoch
    holds enough clean samples.
    """
    usual = [s for s in summaries if s.quiet and not s.very_long and s.cell.usual]
    return {forked: find_spread(s.values for s in usual if s.forked is forked) for forked in (True, False)}


def judge(summary: Summary, policy: Policy, spreads: Spreads | None = None) -> CellFigure:
    """Return the figure that follows from a summary; its library is not known here.

    `spreads` are what the cells of the run have in common (see `common_spread`); None: this cell speaks for itself.
    """
    cell, epochs, used, values = summary.cell, summary.epochs, summary.used, summary.values
    in_cycles, unseen, warnings = summary.in_cycles, summary.very_long, list(summary.warnings)
    sources = {epoch.calibration.cycle_source for epoch in used}
    middle = lower_quartile if unseen else midmean if summary.forked else median
    value = middle(np.array(values))
    spread = spreads[summary.forked] if spreads and cell.state == LOOP else None
    if unseen and len(values) > 1:
        interval = quartile_interval(values, policy.level)
    elif summary.forked:
        steps = [epoch.resolution * _scale(v, epoch) for v, epoch in zip(values, used, strict=True)]
        interval = forked_interval(value, values, steps, policy.level, spread)
    else:
        halves = [epoch.half * _scale(v, epoch) for v, epoch in zip(values, used, strict=True)]
        interval = combined_interval(value, values, halves, policy.level, spread)
    if not unseen and any(epoch.disturbed for epoch in used):
        interval = replace(interval, low=min(interval.low, value / SHARED_CORE))
    relative = interval.half_width / abs(value) if value else math.inf
    doubts = _doubts(epochs, used, relative, policy, warnings)
    unit = "core cycles" if in_cycles else "ns"
    if ways := ways_warning([burst for epoch in used for burst in epoch.bursts], unit):
        warnings.append(ways)
    cut = [epoch for epoch in used if epoch.pieces]
    if cut:
        warnings.append(_pieces_warning(cut, summary.whole, value))
    if not in_cycles:
        reasons = sorted({e.calibration.reason for e in used if e.calibration.cycle_source == "none"})
        why = "; ".join(filter(None, reasons)) or "the cycle source failed"
        warnings.append(Warning(Doubt.NO_CYCLES, f"no cycles: {why}"))
    return CellFigure(
        cell=cell,
        library="",
        library_version="",
        cycles_per_call=value if in_cycles else None,
        ns_per_call=middle(np.array([epoch.ns for epoch in used])),
        interval=interval,
        samples=sum(epoch.samples for epoch in epochs),
        clean_samples=sum(epoch.clean for epoch in epochs),
        epochs=len(used),
        epoch_cycles=tuple(epoch.cycles for epoch in used) if in_cycles else (),
        epoch_ns=tuple(epoch.ns for epoch in used),
        epoch_numbers=tuple(epoch.number for epoch in used),
        calls_per_sample=used[-1].calls,
        quality=max(doubts, key=list(Quality).index),
        cycle_source=min(sources, key=("none", "probe", "pmu").index) if in_cycles else "none",
        warnings=tuple(warnings),
        forks=sum(epoch.forks for epoch in used) if summary.forked else 0,
    )


def _scale(value: float, epoch: Epoch) -> float:
    return value / epoch.value if epoch.value else 0.0


def _epochs(
    cell: Cell, bursts: Iterable[Burst], grounds: Grounds, warnings: list[Warning], judged: JudgedEpochs
) -> tuple[list[Epoch], list[float]]:
    """The epochs of a cell, and its clean whole calls where pieces were timed.

    Where the data of a call fill the caches, pieces that wait for quiet moments between them find less there than calls
    in a loop do, and it is the loop that a figure promises: whole calls count then, where there are any.
    """
    by_epoch: dict[int, list[Burst]] = defaultdict(list)
    for burst in bursts:
        if burst.ticks:
            by_epoch[burst.epoch].append(burst)
    unseen = _is_unseen(by_epoch, grounds, judged)
    epochs: list[Epoch] = []
    uncut: list[Epoch] = []
    whole: list[float] = []
    for number in sorted(by_epoch):
        if not grounds.calibration(by_epoch[number][0]):
            text = f"epoch {number} has no calibration and is left out"
            warnings.append(Warning(Doubt.NO_CALIBRATION, text, (number,)))
            continue
        key = (number, len(by_epoch[number]), unseen)
        if key not in judged:
            judged[key] = _judge(cell, by_epoch[number], grounds, unseen)
        epoch, entire, values = judged[key]
        whole.extend(values)
        if epoch is None:
            text = f"epoch {number} has no usable sample and is left out"
            warnings.append(Warning(Doubt.NO_SAMPLE, text, (number,)))
        else:
            epochs.append(epoch)
        if entire:
            uncut.append(entire)
    both = [epoch for epoch in epochs if epoch.pieces]
    if both and 2 * len(uncut) >= len(epochs) and len(uncut) > 1:
        cut = median(np.array([epoch.value for epoch in both]))
        apart = cut / lower_quartile(np.array([epoch.value for epoch in uncut])) - 1
        if apart > PIECES_APART or len(both) < len(epochs) - len(both):
            text = (
                f"pieces of calls cost {100 * apart:+.2g} % beside whole ones, because of what the caches hold "
                "between them: whole calls are given"
            )
            warnings.append(Warning(Doubt.WHOLE, text, (apart,)))
            return uncut, []
    return epochs, whole


def _judge(
    cell: Cell, bursts: Sequence[Burst], grounds: Grounds, unseen: bool
) -> tuple[Epoch | None, Epoch | None, list[float]]:
    """What an epoch says, what its whole calls alone say, and its clean whole calls where pieces were timed."""
    taken = sorted(bursts, key=lambda burst: burst.round)
    if cell.threads:
        taken = in_common(taken, cell.threads)
    if not any(burst.piece_bytes for burst in taken):
        epoch = judge_epoch(taken, grounds, unseen)
        return epoch, epoch, []
    calls = [burst for burst in taken if not burst.piece_bytes]
    clean: list[float] = []
    if calls:
        samples = grounds.judge(calls)
        clean = samples.values[samples.clean].tolist()
    return judge_cut_epoch(taken, grounds, unseen), judge_epoch(calls, grounds, unseen), clean


def _is_unseen(by_epoch: Mapping[int, Sequence[Burst]], grounds: Grounds, judged: JudgedEpochs) -> bool:
    """True where the whole calls of a cell are too long for the probes around them, by most of its epochs.

    Decided for the cell: an epoch must not choose a milder rule for itself because it was disturbed.
    """
    votes = []
    for number, bursts in by_epoch.items():
        before = judged.get((number, len(bursts), False)) or judged.get((number, len(bursts), True))
        if before:
            votes += [very_long(before[1].calls, before[1].call_s)] if before[1] else []
            continue
        whole = [burst for burst in bursts if not burst.piece_bytes]
        calibration = grounds.calibration(whole[0]) if whole else None
        if calibration:
            ticks = np.array([tick / burst.calls for burst in whole for tick in burst.ticks])
            votes.append(very_long(whole[-1].calls, median(ticks) / max(calibration.tick_hz, 1.0)))
    return 2 * sum(votes) > len(votes)


def _pieces_warning(cut: Sequence[Epoch], whole: Sequence[float], value: float) -> Warning:
    """Say that pieces were timed, and what clean whole calls have to say about that."""
    shorter, longer = cut[-1].pieces
    call_s = median(np.array([epoch.call_s for epoch in cut]))
    text = f"one call lasts {_duration(call_s)}: pieces of {shorter} and {longer} bytes were timed"
    if not whole:
        text += "; no whole call was alone on the core"
        return Warning(Doubt.PIECES, text, (call_s, shorter, longer))
    apart = lower_quartile(np.array(whole)) / value - 1 if value else math.inf
    calls = "call reads" if len(whole) == 1 else "calls read"
    text += f"; {len(whole)} whole {calls} {100 * apart:+.2g} %"
    return Warning(Doubt.PIECES, text, (call_s, shorter, longer, len(whole), apart))


def _choose(epochs: Sequence[Epoch]) -> Sequence[Epoch]:
    """Leave out what holds too little, always; before that, epochs that are not like most.

    Epochs of whole calls among those of pieces, and epochs without a cycle source, go while two and half of all remain.
    Where no epoch holds enough clean samples, those that have as many samples at all are taken; where none has, all.
    """
    left: Sequence[Epoch] = epochs
    for fitting in (
        [epoch for epoch in left if epoch.pieces],
        [epoch for epoch in left if epoch.calibration.cycle_source != "none"],
    ):
        both = [epoch for epoch in left if epoch in fitting]
        if len(both) >= 2 and 2 * len(both) >= len(epochs):
            left = both
    quiet = [epoch for epoch in left if epoch.quiet]
    return quiet or [epoch for epoch in left if epoch.samples >= MIN_CLEAN] or left


def _doubts(
    epochs: Sequence[Epoch], used: Sequence[Epoch], relative: float, policy: Policy, warnings: list[Warning]
) -> list[Quality]:
    """Add every doubt to `warnings` and return the qualities that follow from them."""
    doubts = [Quality.GOOD]
    samples, clean = sum(epoch.samples for epoch in epochs), sum(epoch.clean for epoch in epochs)
    if not all(epoch.quiet for epoch in used):
        doubts.append(Quality.NOISY)
        text = (
            f"only {clean} of {samples} samples were clean, so the figure comes from the least disturbed ones, and the "
            "interval reaches down to what a core without neighbours may do"
        )
        warnings.append(Warning(Doubt.NOISY, text, (clean, samples)))
    elif len(used) == 1 and any(not epoch.quiet for epoch in epochs):
        doubts.append(Quality.NOISY)
        text = f"only {clean} of {samples} samples were clean, and one epoch of {len(epochs)} holds enough of them"
        warnings.append(Warning(Doubt.NOISY, text, (clean, samples)))
    for epoch in epochs:
        if epoch not in used:
            kind = Doubt.NOISY_EPOCH if not epoch.quiet else Doubt.EPOCH_WITHOUT_CYCLES
            why = "no cycles" if epoch.quiet else f"too few clean samples ({epoch.clean})"
            if epoch.quiet and not epoch.pieces and any(other_epoch.pieces for other_epoch in used):
                kind, why = Doubt.NOISY_EPOCH, "whole calls only"
            text = f"{why} in epoch {epoch.number}, which is left out"
            warnings.append(Warning(kind, text, (epoch.number,)))
    if any(epoch.long for epoch in used):
        doubts.append(Quality.LONG)
        call_s = max(epoch.call_s for epoch in used)
        text = (
            f"one call lasts {_duration(call_s)}, a sample should last {_duration(policy.sample_us * 1e-6)}: "
            "disturbances within the call go unseen"
            + (", and the lower quartile is given" if any(epoch.very_long for epoch in used) else "")
        )
        warnings.append(Warning(Doubt.LONG, text, (call_s,)))
    moving = [epoch for epoch in used if epoch.trend]
    # code that has not settled moves in every process, a neighbour in one
    if moving and 2 * len(moving) >= len(used):
        doubts.append(Quality.UNSETTLED)
        steps = ", ".join(f"{100 * e.trend.change:+.2g} % in epoch {e.number}" for e in moving if e.trend)
        text = f"the figure still moved from the beginning to the end of an epoch: {steps}"
        warnings.append(Warning(Doubt.UNSETTLED, text, tuple(e.trend.change for e in moving if e.trend)))
    if relative > policy.precision:
        doubts.append(Quality.IMPRECISE)
        text = f"the interval is ±{100 * relative:.2g} %, wider than the ±{100 * policy.precision:.2g} % requested"
        warnings.append(Warning(Doubt.IMPRECISE, text, (relative, policy.precision)))
    if len(used) == 1:
        text = "one epoch only: the interval does not know how fresh processes differ"
        warnings.append(Warning(Doubt.ONE_EPOCH, text))
    if failed := sum(epoch.failed for epoch in epochs):
        text = f"{failed} samples hold calls in which the library reported an error; they are not used"
        warnings.append(Warning(Doubt.FAILED_CALLS, text, (failed,)))
    return doubts


def _duration(seconds: float) -> str:
    """Seconds in words, three digits: `30.3 ms`."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


LEAST_BURSTS = 40  # that show two groups
LEAST_SHARE = 0.15  # of the bursts in the smaller group: rarer ones may be disturbances
# Ashman's D (Ashman, Bird and Zepf 1994): distance of the groups over their mean standard deviation, here by quantiles.
# Of 40 and more bursts of one kind it exceeds 5 in one case of 1,000 where they are normal or have heavy tails
# (Student's t on 3 degrees of freedom), in one of 200 where they are skewed or uniform (simulated, 20,000 each); two
# groups six standard deviations apart reach it in 19 of 20 cases.
LEAST_DISTANCE = 5.0
STRIP_BINS = 24
LEAST_APART = 0.02  # of the cost, between the two: less is nobody's concern


def find_ways(bursts: Sequence[float] | Floats) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Return (cost, share) of both groups of bursts, the cheaper one first; None where there are no two.

    A burst in a fork draws the state of the processor's predictors anew (ADR 28), and some cells then settle in one
    of two costs, which a mean hides. `bursts` are the middles of the bursts of a cell. The split is where the sum
    of squares within the parts is least (one-dimensional 2-means, by trying all).
    """
    ordered = np.sort(np.asarray(bursts, dtype=float))
    n = len(ordered)
    least = max(int(np.ceil(LEAST_SHARE * n)), 2)
    if n < LEAST_BURSTS or ordered[0] <= 0:
        return None
    sums, squares = np.cumsum(ordered), np.cumsum(ordered**2)
    low = np.arange(least, n - least + 1)
    high = n - low
    within = squares[-1] - sums[low - 1] ** 2 / low - (sums[-1] - sums[low - 1]) ** 2 / high
    split = int(low[int(np.argmin(within))])
    first, second = float(np.median(ordered[:split])), float(np.median(ordered[split:]))
    spread = math.hypot(_spread(ordered[:split]), _spread(ordered[split:])) / math.sqrt(2)
    if second - first < max(LEAST_APART * first, LEAST_DISTANCE * spread):
        return None
    return (first, split / n), (second, 1 - split / n)


def _spread(ordered: Floats) -> float:
    """The standard deviation by quantiles: half of what lies between the 16th and the 84th percentile."""
    low, high = np.quantile(ordered, (0.16, 0.84))
    return float(high - low) / 2


def ways_warning(bursts: Sequence[float] | Floats, unit: str) -> Warning | None:
    """Say that a cell has two ways, with both costs in `unit` and their shares; None where it has not."""
    ways = find_ways(bursts)
    if not ways:
        return None
    (low, often), (high, seldom) = ways
    text = (
        f"two ways: {low:.4g} {unit} a call in {often:.0%} of the bursts and {high:.4g} in {seldom:.0%} "
        f"{strip(bursts)}; the figure is the middle of both"
    )
    return Warning(Doubt.TWO_WAYS, text, (low, often, high, seldom))


def strip(values: Sequence[float] | Floats) -> str:
    """The values on a line, as a histogram of `STRIP_BINS` characters between their 2nd and 98th percentiles.

    A space stands for no value, `▁` to `█` for up to the most frequent eighths.
    """
    low, high = np.quantile(np.asarray(values, dtype=float), (0.02, 0.98))
    counts, _ = np.histogram(np.clip(values, low, high), STRIP_BINS, (low, high) if high > low else None)
    return "[" + "".join(" ▁▂▃▄▅▆▇█"[math.ceil(8 * count / counts.max())] for count in counts) + "]"
