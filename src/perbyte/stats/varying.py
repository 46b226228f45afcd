"""The figure of signatures whose cost depends on message and key, because candidates are rejected: a mean.

ML-DSA needs 4 attempts in the mean, and one message 1, another 15. The estimators of other figures assume one true
cost to which disturbances add; of such calls a midmean is too low, and a median of epochs that see a few keys each is
anything. So each sample signs messages of its own (SPEC 5), and the mean of all of them is given, with the interval of
so many messages and keys; where a sample is one call, quantiles of single calls as well.

A long call is interrupted more often than a short one, so those that nothing interrupted are cheaper in the mean than
all. Interruptions come at a rate, so a call of t seconds is spared with the probability exp(-rate t). Each spared call
counts as many times as its like were not (Horvitz and Thompson 1952), with the rate at which these are as many as all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from perbyte.catalogue import load
from perbyte.model import Burst, Cell, CellFigure, Doubt, Estimate, Interval, Quality, Warning
from perbyte.stats.arrays import np
from perbyte.stats.clean import Grounds
from perbyte.stats.draws import quantiles
from perbyte.stats.epoch import MIN_CLEAN
from perbyte.stats.estimate import normal_quantile
from perbyte.stats.samples import Floats

OPERATIONS = frozenset({"sign"})
SPREAD = 0.15  # the quartiles of samples of single calls apart, over the median: other signatures have 0.01 and less
MOST_WEIGHT = 20.0  # of a spared call: rarer ones are too few to stand for the others


class SampleMean(NamedTuple):
    """Samples of an epoch: their mean, their variance, and as how many they count."""

    mean: float
    scatter: float
    samples: float


@dataclass(frozen=True, slots=True)
class _Epoch:
    """The spared samples of an epoch, per call, with what each counts for; all that are undisturbed at both ends."""

    values: Floats
    ns: Floats
    weights: Floats
    every: Floats
    every_ns: Floats
    calls: int
    spared: bool
    in_cycles: bool
    source: str

    @property
    def part(self) -> SampleMean:
        """What it says of the mean."""
        value = float(np.average(self.values, weights=self.weights))
        scatter = float(np.average((self.values - value) ** 2, weights=self.weights))
        return SampleMean(value, scatter, float(self.weights.sum() ** 2 / (self.weights**2).sum()))


def figure_of_varying(cell: Cell, bursts: Sequence[Burst], grounds: Grounds) -> CellFigure | None:
    """Return the figure of a cell whose calls differ by their messages; None where they do not, or say nothing."""
    if cell.operation not in OPERATIONS or cell.drawn:
        return None
    epochs = [
        epoch
        for number in sorted({burst.epoch for burst in bursts if burst.ticks})
        if (epoch := _epoch([burst for burst in bursts if burst.epoch == number and burst.ticks], grounds))
    ]
    if not epochs or not _vary(epochs):
        return None
    level = grounds.policy.level
    in_cycles = all(epoch.in_cycles for epoch in epochs)
    if not in_cycles:
        epochs = [_in_ns(epoch) for epoch in epochs]
    mean = combined([epoch.part for epoch in epochs], level)
    single = all(epoch.calls == 1 for epoch in epochs)
    every = np.concatenate([epoch.every for epoch in epochs])
    quality, warnings = _doubts(cell, mean, epochs, grounds)
    return CellFigure(
        cell=cell,
        library="",
        library_version="",
        cycles_per_call=mean.value if in_cycles else None,
        ns_per_call=float(np.average([np.average(epoch.ns, weights=epoch.weights) for epoch in epochs])),
        interval=Interval(mean.low, mean.high, level, "samples"),
        samples=sum(map(len, bursts)),
        clean_samples=sum(len(epoch.values) for epoch in epochs),
        epochs=len(epochs),
        epoch_cycles=(),
        epoch_ns=(),
        calls_per_sample=epochs[-1].calls,
        quality=quality,
        cycle_source=min(epoch.source for epoch in epochs) if in_cycles else "none",
        warnings=warnings,
        quantiles=quantiles(every, level) if single else (),
    )


def combined(parts: Sequence[SampleMean], level: float) -> Estimate:
    """Return the mean of all samples of `parts`, with its interval.

    Where the parts differ by more than their scatter explains, as keys may, the interval is wider by Birge's ratio
    (Birge 1932). Raises ValueError without parts.
    """
    if not parts:
        raise ValueError("no samples have no mean")
    values, scatters, counts = (np.array(column) for column in zip(*parts, strict=True))
    value, total = float(np.average(values, weights=counts)), float(counts.sum())
    scatter = float(np.average(scatters + (values - value) ** 2, weights=counts))
    error = math.sqrt(scatter / max(1.0, total - 1))
    if len(parts) > 1 and scatter > 0:
        birge = float(np.sum(counts * (values - value) ** 2)) / scatter / (len(parts) - 1)
        error *= math.sqrt(max(1.0, birge))
    half = normal_quantile(0.5 + level / 2) * error
    return Estimate(value, max(0.0, value - half), value + half)


def spared_weights(ticks: Floats, spared: Floats) -> Floats:
    """Return for how many samples each spared one stands, by its length in `ticks`; `spared` is a mask.

    The weights are exp(rate t), with the rate at which they add up to all samples; at most `MOST_WEIGHT` each.
    """
    kept = ticks[np.asarray(spared, dtype=bool)]
    if len(kept) in (0, len(ticks)):
        return np.ones(len(kept))
    scaled = kept / kept.mean()
    low, high = 0.0, math.log(MOST_WEIGHT) / float(scaled.max())
    for _ in range(60):
        rate = (low + high) / 2
        low, high = (rate, high) if np.exp(rate * scaled).sum() < len(ticks) else (low, rate)
    weights: Floats = np.exp(low * scaled)
    return weights


def _epoch(bursts: Sequence[Burst], grounds: Grounds) -> _Epoch | None:
    calibration = grounds.calibration(bursts[0])
    if not calibration:
        return None
    judged = grounds.judge(bursts)
    usable = ~judged.failed & np.isfinite(judged.ns) & (judged.table.calls == bursts[-1].calls)
    # the first sample of a burst signs the messages that all of an epoch begin with
    usable[np.cumsum([0, *(len(burst) for burst in bursts[:-1])])] = False
    ends = usable & (judged.excess <= 1.0)
    quiet = ends & (judged.table.flags == 0)
    enough = int(quiet.sum()) >= MIN_CLEAN
    if not enough:
        ends = quiet = usable
    if int(usable.sum()) < 2:
        return None
    values = judged.values
    weights = spared_weights(judged.table.ticks[ends], quiet[ends])
    return _Epoch(
        values=values[quiet],
        ns=judged.ns[quiet],
        weights=weights,
        every=values[ends],
        every_ns=judged.ns[ends],
        calls=bursts[-1].calls,
        spared=enough,
        in_cycles=calibration.cycle_source != "none" and bool(np.isfinite(judged.cycles[ends]).all()),
        source=calibration.cycle_source,
    )


def _in_ns(epoch: _Epoch) -> _Epoch:
    return replace(epoch, values=epoch.ns, every=epoch.every_ns, in_cycles=False, source="none")


def _vary(epochs: Sequence[_Epoch]) -> bool:
    """Whether most epochs have samples that are apart; means of n calls are closer by the root of n."""
    apart = []
    for epoch in epochs:
        low, middle, high = (float(np.percentile(epoch.every, share)) for share in (25, 50, 75))
        apart.append(bool(middle) and (high - low) * math.sqrt(min(epoch.calls, 16)) >= SPREAD * middle)
    return 2 * sum(apart) > len(apart)


def _doubts(
    cell: Cell, mean: Estimate, epochs: Sequence[_Epoch], grounds: Grounds
) -> tuple[Quality, tuple[Warning, ...]]:
    count, taken = sum(len(epoch.every) for epoch in epochs), sum(len(epoch.values) for epoch in epochs)
    calls = epochs[-1].calls
    each = "" if calls == 1 else f" of {calls} calls each"
    text = (
        f"what {cell.operation} costs depends on message and key: the mean of {count:,} samples{each} is given, with "
        f"{'messages' if calls > 1 else 'a message'} of their own, under {len(epochs)} keys"
    )
    known = load().algorithms.get(cell.algorithm)
    if known and known.attempts:
        each_attempt = mean.value / known.attempts
        text += (
            f"; {known.attempts:g} attempts are expected, so that one takes {each_attempt:,.4g} "
            f"{'core cycles' if epochs[0].in_cycles else 'ns'}, with its share of what a signature needs once"
        )
    quality, warnings = Quality.GOOD, [Warning(Doubt.VARIED, text, (count, calls, len(epochs)))]
    if mean.relative > grounds.policy.precision:
        quality = Quality.IMPRECISE
        wanted = 100 * grounds.policy.precision
        text = f"the interval is ±{100 * mean.relative:.2g} %, wider than the ±{wanted:.2g} % requested"
        warnings.append(Warning(Doubt.IMPRECISE, text, (mean.relative, grounds.policy.precision)))
    heavy = any(float(epoch.weights.max()) >= 0.99 * MOST_WEIGHT for epoch in epochs)
    if heavy or not all(epoch.spared for epoch in epochs):
        quality = Quality.NOISY
        text = f"only {taken:,} of {count:,} samples were clean, and what is not interrupted is shorter than the rest"
        warnings.append(Warning(Doubt.NOISY, text, (taken, count)))
    return quality, tuple(warnings)
