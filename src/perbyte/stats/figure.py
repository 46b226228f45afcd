"""The figure of a cell: one value, one interval, one quality, and every doubt in words.

Per epoch the midmean of its clean samples, over epochs the median. An epoch in which the machine was never
quiet is left out when enough others were quiet; when not, the least disturbed samples speak and the figure
is called noisy. Choosing goes by the probes only. A figure is always given; what is wrong with it is said.

The probes stand around a sample. A call that outlasts them many times may be disturbed within and nobody saw it:
then the lower quartile speaks instead of midmean and median, because such disturbances only add. Where such a call was
cut, its figure follows from pieces of two lengths, and whole calls that were alone on the core are its check.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from perbyte.errors import UsageError
from perbyte.model import Burst, Calibration, Cell, CellFigure, Doubt, Flag, Policy, Process, Quality, Warning
from perbyte.model.cell import LOOP
from perbyte.stats.clean import (
    Quiet,
    clean_values,
    core_cycles_per_tick,
    disturbance,
    table_cycles,
    table_ns,
)
from perbyte.stats.drift import Trend, inflation, trend
from perbyte.stats.estimate import epoch_value, lower_quartile, median, midmean_half_width, normal_quantile
from perbyte.stats.interval import Spread, combined_interval, find_spread, quartile_interval
from perbyte.stats.samples import Bools, Floats, SampleTable, tabulate
from perbyte.stats.together import in_common

MIN_CLEAN = 5  # clean samples an epoch needs
MIN_CLEAN_LONG = 1  # the same where one call outlasts the sample length: there are few of them at all
PIECES_APART = 0.05  # by which pieces may cost more than whole calls do
LONG_US = 75.0  # from which on a single call is long
VERY_LONG_US = 500.0  # from which on the probes around a call cannot vouch for what happens within

QuietReadings = Quiet | Mapping[Process, Quiet]


@dataclass(frozen=True, slots=True)
class _Epoch:
    """What one epoch says. `value` is in cycles, or in ns where there are none; `half` is its half-width."""

    number: int
    value: float
    half: float
    cycles: float
    ns: float
    samples: int
    clean: int
    quiet: bool
    failed: int
    long: bool
    very_long: bool
    pieces: tuple[int, ...]
    call_s: float
    calls: int
    trend: Trend | None
    calibration: Calibration


@dataclass(frozen=True, slots=True)
class Summary:
    """What the samples of a cell say, epoch by epoch: all that its figure needs but what other cells know.

    `used` are the epochs that count, `values` theirs: cycles per call, or ns where `in_cycles` is False. `whole` are
    the clean whole calls, in the same unit, of a cell whose calls were cut.
    """

    cell: Cell
    epochs: tuple[_Epoch, ...]
    used: tuple[_Epoch, ...]
    values: tuple[float, ...]
    in_cycles: bool
    warnings: tuple[Warning, ...]
    whole: tuple[float, ...] = ()

    @property
    def very_long(self) -> bool:
        """True where calls are too long for the probes around them."""
        return any(epoch.very_long for epoch in self.used)


def summarise(
    cell: Cell,
    bursts: Sequence[Burst],
    calibrations: Mapping[tuple[Process, int], Calibration],
    policy: Policy,
    quiet: QuietReadings | None = None,
) -> Summary:
    """Return what all bursts of `cell` say; parameters and errors as in `figure`."""
    warnings: list[Warning] = []
    epochs, whole = _epochs(cell, bursts, calibrations, policy, quiet, warnings)
    if not epochs:
        raise UsageError(f"{cell.address} has no usable sample", hint="measure the cell again")
    used = _choose(epochs)
    in_cycles = "none" not in {epoch.calibration.cycle_source for epoch in used} and all(
        math.isfinite(epoch.cycles) for epoch in used
    )
    values = tuple(epoch.cycles if in_cycles else epoch.ns for epoch in used)
    return Summary(cell, tuple(epochs), tuple(used), values, in_cycles, tuple(warnings), tuple(whole))


def common_spread(summaries: Iterable[Summary]) -> Spread | None:
    """Return what the cells of a run say about the spread of epochs; None where they are too few.

    Of very long calls the lower quartile is given, and what lies between epochs is another thing: they do not count.
    Neither do twins, which are cells that count already, nor calls in a state of their own.
    """
    return find_spread(one.values for one in summaries if not one.very_long and one.cell.usual)


def figure(
    cell: Cell,
    bursts: Sequence[Burst],
    calibrations: Mapping[tuple[Process, int], Calibration],
    policy: Policy,
    *,
    library: str,
    library_version: str,
    quiet: QuietReadings | None = None,
    spread: Spread | None = None,
) -> CellFigure:
    """Return the figure of `cell` from all its bursts.

    `calibrations` maps (process, epoch) to what that process found out at its start. `quiet` is what the contention
    probe reads on a quiet core, for all processes or per process (see `find_quiet`); None: each calibration's own.
    `spread` is what the cells of the run have in common (see `common_spread`); None: this cell speaks for itself.
    Raises UsageError when no burst holds a sample that can be used.
    """
    summary = summarise(cell, bursts, calibrations, policy, quiet)
    return judge(summary, policy, library=library, library_version=library_version, spread=spread)


def judge(
    summary: Summary,
    policy: Policy,
    *,
    library: str = "",
    library_version: str = "",
    spread: Spread | None = None,
) -> CellFigure:
    """Return the figure that follows from a summary; parameters as in `figure`."""
    cell, epochs, used, values = summary.cell, summary.epochs, summary.used, summary.values
    in_cycles, unseen, warnings = summary.in_cycles, summary.very_long, list(summary.warnings)
    sources = {epoch.calibration.cycle_source for epoch in used}
    middle = lower_quartile if unseen else median
    value = middle(np.array(values))
    halves = [
        epoch.half * (v / epoch.value) if epoch.value else 0.0 for v, epoch in zip(values, used, strict=True)
    ]
    interval = (
        quartile_interval(values, policy.level)
        if unseen and len(values) > 1
        else combined_interval(value, values, halves, policy.level, spread if cell.state == LOOP else None)
    )
    relative = interval.half_width / abs(value) if value else math.inf
    doubts = _doubts(epochs, used, relative, policy, warnings)
    cut = [epoch for epoch in used if epoch.pieces]
    if cut:
        warnings.append(_pieces_warning(cut, summary.whole, value))
    if not in_cycles:
        reasons = sorted({e.calibration.reason for e in used if e.calibration.cycle_source == "none"})
        why = "; ".join(filter(None, reasons)) or "the cycle source failed"
        warnings.append(Warning(Doubt.NO_CYCLES, f"no cycles: {why}"))
    return CellFigure(
        cell=cell,
        library=library,
        library_version=library_version,
        cycles_per_call=value if in_cycles else None,
        ns_per_call=middle(np.array([epoch.ns for epoch in used])),
        interval=interval,
        samples=sum(epoch.samples for epoch in epochs),
        clean_samples=sum(epoch.clean for epoch in epochs),
        epochs=len(used),
        epoch_cycles=tuple(epoch.cycles for epoch in used) if in_cycles else (),
        epoch_ns=tuple(epoch.ns for epoch in used),
        calls_per_sample=used[-1].calls,
        quality=max(doubts, key=list(Quality).index),
        cycle_source=min(sources, key=("none", "probe", "pmu").index) if in_cycles else "none",
        warnings=tuple(warnings),
    )


def _epochs(
    cell: Cell,
    bursts: Iterable[Burst],
    calibrations: Mapping[tuple[Process, int], Calibration],
    policy: Policy,
    quiet: QuietReadings | None,
    warnings: list[Warning],
) -> tuple[list[_Epoch], list[float]]:
    """The epochs of a cell, and its clean whole calls where pieces were timed.

    Where the data of a call fill the caches, pieces that wait for quiet moments between them find less there than calls
    in a loop do, and it is the loop that a figure promises: whole calls count then, where there are any.
    """
    by_epoch: dict[int, list[Burst]] = {}
    for burst in bursts:
        if burst.ticks:
            by_epoch.setdefault(burst.epoch, []).append(burst)
    found: list[_Epoch] = []
    uncut: list[_Epoch] = []
    whole: list[float] = []
    for number in sorted(by_epoch):
        calibration = calibrations.get((cell.process, number))
        if calibration is None:
            text = f"epoch {number} has no calibration and is left out"
            warnings.append(Warning(Doubt.NO_CALIBRATION, text, (number,)))
            continue
        reading = quiet.get(cell.process) if isinstance(quiet, Mapping) else quiet
        taken = sorted(by_epoch[number], key=lambda burst: burst.round)
        if cell.threads:
            taken = in_common(taken, cell.threads)
        if any(burst.piece_bytes for burst in taken):
            calls = [burst for burst in taken if not burst.piece_bytes]
            whole.extend(clean_values(calls, calibration, policy, reading).tolist())
            epoch = _cut_epoch(cell, taken, calibration, policy, reading)
            entire = _epoch(number, calls, calibration, policy, reading) if calls else None
        else:
            epoch = entire = _epoch(number, taken, calibration, policy, reading)
        if epoch is None:
            text = f"epoch {number} has no usable sample and is left out"
            warnings.append(Warning(Doubt.NO_SAMPLE, text, (number,)))
        else:
            found.append(epoch)
        if entire:
            uncut.append(entire)
    both = [epoch for epoch in found if epoch.pieces]
    if both and 2 * len(uncut) >= len(found) and len(uncut) > 1:
        cut = median(np.array([epoch.value for epoch in both]))
        apart = cut / lower_quartile(np.array([epoch.value for epoch in uncut])) - 1
        if apart > PIECES_APART or len(both) < len(found) - len(both):
            text = (
                f"pieces of calls cost {100 * apart:+.2g} % beside whole ones, because of what the caches hold "
                "between them: whole calls are given"
            )
            warnings.append(Warning(Doubt.WHOLE, text, (apart,)))
            return uncut, []
    return found, whole


def _epoch(
    number: int, bursts: Sequence[Burst], calibration: Calibration, policy: Policy, reading: Quiet | None
) -> _Epoch | None:
    whole = tabulate(bursts)
    rate = core_cycles_per_tick(whole, calibration)
    excess = disturbance(whole, calibration, policy, reading, rate)
    cycles = table_cycles(whole, calibration, rate)
    ns = table_ns(whole, calibration)
    values = ns if calibration.cycle_source == "none" else cycles
    failed = whole.flags & int(Flag.FAILED_CALL) != 0
    usable = ~failed & np.isfinite(values)
    if not usable.any():
        return None
    clean = (excess <= 1.0) & (whole.flags == 0) & usable
    call_s = median((whole.ticks / whole.calls)[usable]) / max(calibration.tick_hz, 1.0)
    calls = bursts[-1].calls
    long = calls == 1 and call_s * 1e6 > LONG_US
    unseen = very_long(calls, call_s)
    located = lower_quartile if unseen else epoch_value
    quiet = int(clean.sum()) >= (MIN_CLEAN_LONG if long else MIN_CLEAN)
    chosen = clean if quiet else _least_disturbed(excess, whole, usable)
    kept = values[chosen]
    half = midmean_half_width(kept, policy.level) * inflation(kept)
    value = located(kept)
    half = math.hypot(half, _resolution(whole, calibration, chosen, policy.level))
    return _Epoch(
        number=number,
        value=value,
        half=half,
        cycles=located(cycles[chosen]),
        ns=located(ns[chosen]),
        samples=len(whole),
        clean=int(clean.sum()),
        quiet=quiet,
        failed=int(failed.sum()),
        long=long,
        very_long=unseen,
        pieces=(),
        call_s=call_s,
        calls=calls,
        trend=trend(kept, whole.moment[chosen]) if quiet else None,
        calibration=calibration,
    )


def _cut_epoch(
    cell: Cell, bursts: Sequence[Burst], calibration: Calibration, policy: Policy, reading: Quiet | None
) -> _Epoch | None:
    """What an epoch of pieces says of a whole call: the line through the costs of its two lengths, at the call's.

    The two lengths that were taken most; another one told how long a call would be. Whole calls stand in where
    there are no pieces of two lengths.
    """
    taken: Counter[int] = Counter()
    for burst in bursts:
        taken[burst.piece_bytes] += len(burst) if burst.piece_bytes else 0
    lengths = sorted(length for length, count in taken.most_common(2) if count)
    ends = [
        _epoch(bursts[0].epoch, [b for b in bursts if b.piece_bytes == length], calibration, policy, reading)
        for length in (lengths[0], lengths[-1])
    ]
    short, long = ends
    if len(lengths) < 2 or not short or not long:
        calls = [burst for burst in bursts if not burst.piece_bytes]
        return _epoch(bursts[0].epoch, calls, calibration, policy, reading) if calls else None
    times = (cell.size_bytes - lengths[0]) / (lengths[-1] - lengths[0])

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
        failed=short.failed + long.failed,
        long=False,
        very_long=False,
        pieces=(lengths[0], lengths[-1]),
        call_s=whole(short.call_s, long.call_s),
        calls=1,
        trend=None,
    )


def _pieces_warning(cut: Sequence[_Epoch], whole: Sequence[float], value: float) -> Warning:
    """Say that pieces were timed, and what clean whole calls have to say about that."""
    shorter, longer = cut[-1].pieces
    call_s = median(np.array([epoch.call_s for epoch in cut]))
    text = f"one call lasts {_duration(call_s)}: pieces of {shorter} and {longer} bytes were timed"
    if not whole:
        return Warning(
            Doubt.PIECES, f"{text}; no whole call was alone on the core", (call_s, shorter, longer)
        )
    apart = lower_quartile(np.array(whole)) / value - 1 if value else math.inf
    calls = "call reads" if len(whole) == 1 else "calls read"
    text += f"; {len(whole)} whole {calls} {100 * apart:+.2g} %"
    return Warning(Doubt.PIECES, text, (call_s, shorter, longer, len(whole), apart))


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


def _choose(epochs: Sequence[_Epoch]) -> Sequence[_Epoch]:
    """Leave out epochs without a cycle source, then those never quiet, while two and half of all remain."""
    left: Sequence[_Epoch] = epochs
    for fitting in (
        [epoch for epoch in left if epoch.pieces],
        [epoch for epoch in left if epoch.calibration.cycle_source != "none"],
        [epoch for epoch in left if epoch.quiet],
    ):
        both = [epoch for epoch in left if epoch in fitting]
        if len(both) >= 2 and 2 * len(both) >= len(epochs):
            left = both
    return left


def _doubts(
    epochs: Sequence[_Epoch], used: Sequence[_Epoch], relative: float, policy: Policy, warnings: list[Warning]
) -> list[Quality]:
    """Add every doubt to `warnings` and return the qualities that follow from them."""
    doubts = [Quality.GOOD]
    samples, clean = sum(epoch.samples for epoch in epochs), sum(epoch.clean for epoch in epochs)
    if not all(epoch.quiet for epoch in used):
        doubts.append(Quality.NOISY)
        text = (
            f"only {clean} of {samples} samples were clean, so the figure comes from the least disturbed ones"
        )
        warnings.append(Warning(Doubt.NOISY, text, (clean, samples)))
    for epoch in epochs:
        if epoch not in used:
            kind = Doubt.NOISY_EPOCH if not epoch.quiet else Doubt.EPOCH_WITHOUT_CYCLES
            why = "no cycles" if epoch.quiet else "too few clean samples"
            if epoch.quiet and not epoch.pieces and any(one.pieces for one in used):
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
    if moving and 2 * len(moving) >= len(
        used
    ):  # code that has not settled moves in every process, a neighbour in one
        doubts.append(Quality.UNSETTLED)
        steps = ", ".join(f"{100 * e.trend.change:+.2g} % in epoch {e.number}" for e in moving if e.trend)
        text = f"the figure still moved from the beginning to the end of an epoch: {steps}"
        warnings.append(Warning(Doubt.UNSETTLED, text, tuple(e.trend.change for e in moving if e.trend)))
    if relative > policy.precision:
        doubts.append(Quality.IMPRECISE)
        text = f"the interval is ±{100 * relative:.2g} %, wider than the ±{100 * policy.precision:.2g} % asked for"
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
