"""Is one cost above another? A ratio with its interval, a tie where they are known to be alike, else not known.

The only place where a ratio of costs gets an interval: tables, ratios of operations, comparisons of runs and the
claims of studies all ask here, so they cannot disagree. The interval is the widest of three: what the epochs
show, what the samples allow, and the noise floor that the A/A pairs of the run showed. Across runs there is a
fourth: the two figures' own intervals, end against end, because what the machine did to a whole run is in no
spread of its epochs. A difference is claimed where the interval leaves 1 out. A tie is a statement too: the interval
lies within an equivalence margin (two one-sided tests, Schuirmann 1987; see `margin_of`). What is neither is undecided,
and nobody may call that a tie. No p-value decides. Ratios are treated on a logarithmic scale, on which b/a and a/b are
the same statement.

A figure that comes from too few clean samples, that still moved, or that rests on a single process has no interval
that was earned: its ratios are given, and no factor is claimed of them. Such a doubt may leave the direction: where the
costs stay apart with all that it explains, one is the faster, by at least so much (ADR 53).
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from perbyte.model import CellFigure, Doubt, Estimate, NoiseFloor, Quality
from perbyte.stats.across import ACROSS_RUNS
from perbyte.stats.arrays import np
from perbyte.stats.interval import reach_of_pairs, reach_of_two
from perbyte.stats.quantity import by_ends, geometric_mean, mean_of_positive
from perbyte.stats.samples import Floats

CYCLES, NS = "cycles", "ns"
EPOCHS_TO_CLAIM = 4  # of each side across runs: with fewer, intervals hold too seldom (ADR 17)
NOT_AUDITED = "not audited"
SHARED_CORE = 2.0  # what a neighbour on the same core costs at the most: half of it
UNSEEN = (
    1.5  # what a lie about work that the audit cannot see may make of a figure: beyond, timed work is refused
)
SAME_WITHIN = 0.01  # what costs may differ by at the least and still be called alike: what nobody chooses by
CLOSE_WITHIN = 0.1  # an interval around 1 that reaches no farther says that costs are close


class Answer(enum.StrEnum):
    """What a comparison allows to be said."""

    FASTER = "faster"
    SLOWER = "slower"
    TIED = "tied"
    UNDECIDED = "undecided"


class Unsure(enum.StrEnum):
    """What keeps a comparison from being a claim with a factor."""

    NOISY = "noisy"  # the factor is uncertain
    CLOSE = "close"  # known to differ by little
    UNAUDITED = NOT_AUDITED


_DOUBTS = {
    Quality.NOISY: "noisy",
    Quality.UNSETTLED: "noisy: it still showed a trend",
    Quality.DOUBTED: NOT_AUDITED,
}


@dataclass(frozen=True, slots=True)
class Cost:
    """A cost in any unit, with what its comparison needs.

    `epochs` are the figures of the epochs in the same unit, empty where there are none, and `numbers` says which epochs
    these are, empty where that is not known. `by_samples` is the relative half-width that the samples give, 0 where the
    epochs decided the interval. Epochs of one `source` (a run) were measured in turn, so those of one number are pairs.
    """

    estimate: Estimate
    epochs: tuple[float, ...] = ()
    by_samples: float = 0.0
    source: object = None
    numbers: tuple[int, ...] = ()


ANYTHING = Estimate(math.nan, 0.0, math.inf)


@dataclass(frozen=True, slots=True)
class Comparison:
    """`ratio` is b over a per call, so above 1 means that b is slower. `unit` is `cycles` or `ns`.

    `margin` is what the costs may differ by (relative) and still be a tie. `dominated_by` tells where the width of its
    interval comes from: `epochs`, `samples`, `intervals` (the two figures' own) or `noise floor`. `measured` is the
    half-width of the ratio's logarithm without the noise floor, `floor` the noise floor (relative; 0 where it is not
    known). `doubt` is why nothing is claimed whatever the interval says; empty where both sides have earned theirs.
    `apart` is the ratio from one cost's least to the other's most, with all that the doubts may explain: 0 to infinite
    where they may explain anything.
    """

    ratio: Estimate
    dominated_by: str
    reason: str
    unit: str
    measured: float = math.inf
    floor: float = 0.0
    doubt: str = ""
    margin: float = SAME_WITHIN
    apart: Estimate = ANYTHING

    @property
    def answer(self) -> Answer:
        """What can be said of b, if both figures can be trusted.

        FASTER or SLOWER: the interval leaves 1 out. TIED: it covers 1 and lies within the margin, so the difference is
        known to be small. Else UNDECIDED. Both statements are wrong in at most 1 - level of cases.
        """
        if self.doubt or not self.ratio.known:
            return Answer.UNDECIDED
        if self.ratio.above(1):
            return Answer.SLOWER
        if self.ratio.below(1):
            return Answer.FASTER
        return Answer.TIED if self._within(self.margin) else Answer.UNDECIDED

    def _within(self, margin: float) -> bool:
        return self.ratio.within(1 / (1 + margin), 1 + margin)

    @property
    def claimed(self) -> bool:
        """True where a difference can be claimed; where not, `reason` says why."""
        return self.answer in (Answer.FASTER, Answer.SLOWER)

    @property
    def tie(self) -> bool:
        """True where the difference is known to be small. Not the opposite of `claimed`: much is simply not known."""
        return self.answer is Answer.TIED

    @property
    def direction(self) -> Answer:
        """As `answer`; where that is undecided, who costs less if `apart` leaves 1 out, whatever the factor is."""
        if self.answer is not Answer.UNDECIDED:
            return self.answer
        if self.apart.above(1):
            return Answer.SLOWER
        return Answer.FASTER if self.apart.below(1) else Answer.UNDECIDED

    @property
    def unsure(self) -> Unsure | None:
        """Which of three doubts keeps this from being a claim with a factor; None where it is one."""
        if self.claimed:
            return None
        if NOT_AUDITED in self.doubt:
            return Unsure.UNAUDITED
        return Unsure.CLOSE if self._within(CLOSE_WITHIN) and not self.doubt else Unsure.NOISY

    def against(self, threshold: float) -> Answer:
        """Is b slower by more than `threshold` (0.01 = 1 %)? SLOWER or, if not, TIED beyond doubt, else UNDECIDED."""
        if self.doubt or not self.ratio.known:
            return Answer.UNDECIDED
        if self.ratio.low > 1 + threshold:
            return Answer.SLOWER
        return Answer.TIED if self.ratio.high <= 1 + threshold else Answer.UNDECIDED

    def seconds_to_decide(self, threshold: float, measuring_s: float) -> float:
        """Seconds of measuring beyond the `measuring_s` so far after which `against(threshold)` should be decided.

        Widths shrink with the square root of the time, which is what independent epochs do; the ratio is taken to stay
        where it is. Infinite where the noise floor, a doubt or a missing interval is in the way: time alone is no help.
        """
        away = abs(math.log(self.ratio.value / (1 + threshold))) if self.ratio.value > 0 else 0.0
        if self.doubt or not self.ratio.known or away <= math.log1p(self.floor):
            return math.inf
        return measuring_s * max(0.0, (self.measured / away) ** 2 - 1)


def compare(
    a: CellFigure,
    b: CellFigure,
    noise: NoiseFloor | None = None,
    level: float | None = None,
    *,
    same_run: bool = True,
    precision: float = 0.0,
) -> Comparison:
    """Compare the cost of a call of `b` with that of `a`.

    In cycles where both have them from the same kind of source, else in nanoseconds. `level` is that of the figures'
    own intervals (the higher one) where None. `precision` is what was asked for (relative), which widens the margin of
    a tie.
    """
    unit = _unit((a, b))
    level = level or max(a.interval.level, b.interval.level)
    costs = (cost_of(a, unit, source=0), cost_of(b, unit, source=0 if same_run else 1))
    comparison = compare_costs(*costs, floor_between(noise, a, b), level, precision=precision)
    least = 2 if same_run else EPOCHS_TO_CLAIM
    doubts = {figure.cell.address: cause for figure in (a, b) if (cause := doubt_of(figure, least))}
    texts = (f"{address}: {cause}" for address, cause in doubts.items())
    reason = "; ".join((comparison.reason, *texts, *_notes(a, b, unit)))
    doubt = "; ".join(dict.fromkeys(doubts.values()))
    between = apart(extent_of(a, unit), extent_of(b, unit), comparison.floor)
    return replace(comparison, reason=reason, unit=unit, doubt=doubt, apart=between)


def difference(a: CellFigure, comparison: Comparison) -> Estimate:
    """What a call of b costs more than one of `a`, in the unit of `comparison`, which compares them.

    The interval is that of the ratio on a's cost, widened by a's own (delta method), because a difference keeps the
    scale that a ratio drops: b - a = a (b/a - 1).
    """
    cost, ratio = cost_of(a, comparison.unit).estimate, comparison.ratio
    value, own = cost.value * (ratio.value - 1), (ratio.value - 1) * cost.half_width
    down, up = (math.hypot(cost.value * (ratio.value - end), own) for end in (ratio.low, ratio.high))
    return Estimate(value, value - down, value + up)


def doubt_of(figure: CellFigure, least_epochs: int = 2) -> str:
    """Why no difference may be claimed from `figure`, in a few words; empty where its interval was earned."""
    if not figure.interval.known:
        return "no interval is known"
    if cause := _DOUBTS.get(figure.quality):
        return cause
    return "" if figure.epochs >= least_epochs else f"fewer than {least_epochs} quiet processes"


def extent_of(figure: CellFigure, unit: str) -> Estimate:
    """The cost of a call from the least to the most that it may be, with all that `doubt_of` may explain.

    A disturbed figure may be as low as a neighbour on the core explains. So may one without an interval, as it is of a
    single process, and lie as far up. One that is not audited may cost anything more, an imported one anything.
    """
    cost = cost_of(figure, unit).estimate
    if not figure.interval.known or not 0 < cost.value < math.inf:
        return replace(ANYTHING, value=cost.value)
    low, high = cost.low, cost.high
    if not cost.known:
        low, high = cost.value / SHARED_CORE, cost.value * SHARED_CORE
    if figure.quality in (Quality.NOISY, Quality.DOUBTED):
        low = min(low, cost.value / SHARED_CORE)
    return Estimate(cost.value, max(low, 0.0), math.inf if figure.quality is Quality.DOUBTED else high)


def apart(a: Estimate, b: Estimate, floor: float = 0.0) -> Estimate:
    """The ratio of `b` to `a` from the least of the one over the most of the other, wider by the noise floor."""
    if not (0 < a.value < math.inf and 0 < b.value < math.inf):
        return ANYTHING
    low = b.low / a.high / (1 + floor)
    high = b.high / a.low * (1 + floor) if a.low > 0 else math.inf
    return Estimate(b.value / a.value, low, high)


def compare_costs(
    a: Cost, b: Cost, floor: float | None = None, level: float = 0.95, *, precision: float = 0.0
) -> Comparison:
    """Compare `b` with `a`, which are in one unit; `floor` is the noise floor (relative), None where it is not known.

    Epochs that both have of one source are pairs, others two samples (see `stats.interval`); where there are fewer than
    two, the delta method on the costs' own intervals. Never narrower than what the samples allow, nor than the noise
    floor; of two sources not than the costs' own intervals apart either.
    """
    if not all(0 < cost.estimate.value < math.inf for cost in (a, b)):
        return Comparison(ANYTHING, "samples", "a cost that is not positive and finite has no ratio", "")
    ratio = b.estimate.value / a.estimate.value
    by_epochs = _by_epochs(a, b, math.log(ratio), level)
    own = (0.0, 0.0) if a.source == b.source else _apart(a.estimate, b.estimate)
    floor_width, by_samples = math.log1p(floor or 0.0), _together(a.by_samples, b.by_samples)
    widths = {
        "epochs": max(by_epochs),
        "samples": by_samples,
        "intervals": max(own),
        "noise floor": floor_width,
    }
    down, up = (max(by_epochs[end], by_samples, own[end], floor_width) for end in (0, 1))
    low = ratio * math.exp(-down) if math.isfinite(down) else 0.0
    high = ratio * math.exp(up) if up < 700 else math.inf
    towards = int(ratio < 1)  # the side that 1 lies on
    measured = max(by_epochs[towards], by_samples, own[towards])
    dominated_by, reason = max(widths, key=widths.__getitem__), _reason(abs(math.log(ratio)), measured, floor)
    estimate, margin = Estimate(ratio, low, high), margin_of(floor, precision)
    return Comparison(estimate, dominated_by, reason, "", measured, floor or 0.0, margin=margin)


def _by_epochs(a: Cost, b: Cost, value: float, level: float) -> tuple[float, float]:
    """How far the ratio whose logarithm is `value` reaches down and up, by the epochs of both costs."""
    logs_a, logs_b, pairs = _logs(a.epochs), _logs(b.epochs), _pairs(a, b)
    if len(pairs) >= 2:
        return reach_of_pairs(pairs, value, level)
    if len(logs_a) >= 2 and len(logs_b) >= 2:
        return reach_of_two(logs_a, logs_b, value, level)
    half = _together(a.estimate.relative, b.estimate.relative)
    return half, half


def ratio_of_medians(before: Sequence[float], after: Sequence[float], level: float) -> Estimate:
    """The ratio of the medians of two lists of costs, with Welch's interval; 0 where a cost is not positive."""
    costs = []
    for source, values in enumerate((before, after)):
        middle = float(np.median(values)) if len(values) else 0.0
        costs.append(Cost(Estimate(middle, middle, middle), tuple(values), source=source))
    estimate = compare_costs(costs[0], costs[1], None, level).ratio
    return estimate if math.isfinite(estimate.value) else Estimate(0.0, 0.0, 0.0)


def margin_of(floor: float | None, precision: float = 0.0) -> float:
    """What costs may differ by (relative) and still be called alike: 1 %, or the precision that was asked for.

    Or twice the noise floor, where that is no more than runs of the same code differ by: costs that are the same may
    read one floor apart, and the interval reaches one farther. A larger floor is no reason to call more things alike.
    """
    return max(SAME_WITHIN, precision, 2 * min(floor or 0.0, ACROSS_RUNS))


def cost_of(figure: CellFigure, unit: str, *, per: float = 1.0, source: object = None) -> Cost:
    """The cost of a call of `figure` in `unit` (`cycles` or `ns`), divided by `per`."""
    value = figure.ns_per_call if unit == NS or figure.cycles_per_call is None else figure.cycles_per_call
    # the interval's unit is that of per_call; its relative width carries over to time
    scale = (value / figure.per_call if figure.per_call else 1.0) / per
    epochs = figure.epoch_cycles if unit == CYCLES else figure.epoch_ns
    return Cost(
        Estimate(value / per, figure.interval.low * scale, figure.interval.high * scale),
        tuple(epoch / per for epoch in epochs),
        figure.relative_half_width if figure.interval.dominated_by == "samples" else 0.0,
        source,
        figure.epoch_numbers if len(figure.epoch_numbers) == len(epochs) else (),
    )


def mean_cost(costs: Sequence[Cost]) -> Cost:
    """The geometric mean of costs, epoch by epoch where all of them come from the same source.

    Costs are averaged geometrically, so that a library that is slow at everything does not outweigh the rest. The ends
    of the interval are the means of the ends. Raises ValueError when there are no costs.
    """
    if len(costs) == 1:
        return costs[0]
    epochs, numbers = _in_step(costs)
    return Cost(
        geometric_mean([cost.estimate for cost in costs]),
        tuple(mean_of_positive(values) for values in epochs),
        sum(cost.by_samples for cost in costs) / len(costs),
        costs[0].source,
        numbers,
    )


def sum_costs(parts: Sequence[tuple[float, Cost]]) -> Cost:
    """The sum of costs, each taken so many times; epoch by epoch where all of them come from the same source.

    The ends of the interval are the sums of the ends, which assumes nothing of how the parts depend on each other.
    """
    costs = [cost for _, cost in parts]
    epochs, numbers = _in_step(costs)

    def whole(values: Sequence[float]) -> float:
        return sum(count * value for (count, _), value in zip(parts, values, strict=True))

    total = by_ends(whole, [cost.estimate for cost in costs])
    shares = (
        [(count * cost.estimate.value / total.value, cost) for count, cost in parts] if total.value else []
    )
    return Cost(
        total,
        tuple(map(whole, epochs)),
        sum(share * cost.by_samples for share, cost in shares),
        costs[0].source,
        numbers,
    )


def ratio_of_ratios(above: Estimate, below: Estimate) -> Estimate:
    """The one over the other where they err independently (delta method): ratios of a run have no cell in common."""
    ends, half = quotient(above, below), _together(above.relative, below.relative)
    if not ends.low > 0:
        return ends
    return Estimate(ends.value, ends.value * math.exp(-half), ends.value * math.exp(half))


def quotient(above: Estimate, below: Estimate) -> Estimate:
    """The one over the other by interval arithmetic, which assumes nothing; unbounded where one reaches zero."""
    value = above.value / below.value if below.value else math.inf
    if not (below.low > 0 and above.low > 0):
        return Estimate(value, 0.0, math.inf)
    return Estimate(value, above.low / below.high, above.high / below.low)


def noise_floor(pairs: Iterable[tuple[CellFigure, CellFigure]]) -> NoiseFloor | None:
    """Return what A/A pairs show: the largest |ratio - 1| of identical cells; None without pairs.

    Pairs of good figures decide, where there are any: what an imprecise pair shows lies within its own intervals,
    which every comparison with it respects, and must not veil the differences of all other cells. Without a good pair,
    what the pairs differ by in the middle counts, and what any of them differs by beyond its own interval.
    """
    ratios: list[tuple[str, float]] = []
    good: list[float] = []
    beyond: list[float] = []
    for first, second in pairs:
        unit = _unit((first, second))
        a, b = (cost_of(figure, unit).estimate.value for figure in (first, second))
        if a > 0 and b > 0:
            ratios.append((replace(first.cell, twin=0).address, b / a))
            if first.quality is Quality.GOOD and second.quality is Quality.GOOD:
                good.append(b / a)
            beyond.append(math.expm1(max(0.0, abs(math.log(b / a)) - compare(first, second).measured)))
    if not ratios:
        return None
    apart = sorted(abs(ratio - 1) for ratio in good or [ratio for _, ratio in ratios])
    typical = apart[len(apart) // 2]
    relative = apart[-1] if good else max(typical, *beyond)
    return NoiseFloor(relative, tuple(ratios), relative if good else typical)


def floor_between(noise: NoiseFloor | None, a: CellFigure, b: CellFigure) -> float | None:
    """Return the noise floor of two figures; None without one.

    The worst of imprecise twins is its runner's own unsteadiness, and no measure of other runners.
    """
    if noise is None:
        return None
    measured_twice = {address.partition("/")[0] for address, _ in noise.pairs}
    of_this_pair = not measured_twice or measured_twice & {a.cell.runner, b.cell.runner}
    return noise.relative if of_this_pair or noise.others is None else noise.others


def _in_step(costs: Sequence[Cost]) -> tuple[list[tuple[float, ...]], tuple[int, ...]]:
    """The epochs that all costs have, each with the value of every cost, and their numbers where these are known.

    None where the costs are of several sources, or where nobody knows which of their epochs belong together.
    """
    if len({cost.source for cost in costs}) != 1:
        return [], ()
    if all(cost.numbers for cost in costs):
        by_number = [dict(zip(cost.numbers, cost.epochs, strict=True)) for cost in costs]
        common = [number for number in costs[0].numbers if all(number in costs_of for costs_of in by_number)]
        return [tuple(costs_of[number] for costs_of in by_number) for number in common], tuple(common)
    if len({len(cost.epochs) for cost in costs}) != 1:
        return [], ()
    return list(zip(*(cost.epochs for cost in costs), strict=True)), ()


def _pairs(a: Cost, b: Cost) -> Floats:
    """Logarithms of the ratios of the epochs that both costs have; empty where they have too few of them in common.

    Enough are all of the cost that has fewer, or as many as two runs need: from fewer pairs one knows less than from
    the epochs of each, which are more.
    """
    if a.source != b.source or not (len(_logs(a.epochs)) and len(_logs(b.epochs))):
        return np.empty(0)
    epochs, _ = _in_step([a, b])
    if len(epochs) < min(EPOCHS_TO_CLAIM, len(a.epochs), len(b.epochs)):
        return np.empty(0)
    logs: Floats = np.array([math.log(after / before) for before, after in epochs])
    return logs


def _unit(figures: Sequence[CellFigure]) -> str:
    sources = {figure.cycle_source for figure in figures}
    has_all = all(figure.cycles_per_call is not None for figure in figures)
    return CYCLES if has_all and len(sources) == 1 else NS


def _logs(epochs: Sequence[float]) -> Floats:
    values = np.asarray(epochs, dtype=np.float64)
    known = len(values) and 0 < values.min() <= values.max() < math.inf
    return np.log(values) if known else np.empty(0)


def _together(a: float, b: float) -> float:
    """Half-width of a ratio's logarithm from two relative ones (delta method); none where a cost could be zero."""
    return math.hypot(a, b) if max(a, b) < 1 else math.inf


def _apart(a: Estimate, b: Estimate) -> tuple[float, float]:
    """How far b/a reaches down and up, on a logarithmic scale, from the ends of the two intervals."""
    ends = quotient(b, a)
    if not ends.low > 0:
        return math.inf, math.inf
    return math.log(ends.value / ends.low), math.log(ends.high / ends.value)


def _reason(distance: float, measured: float, floor: float | None) -> str:
    """Why two costs tie or differ: `distance` is |ln ratio|, `measured` its half-width without the noise floor."""
    if distance <= measured:
        return "the interval of the ratio covers 1"
    if floor and distance <= math.log1p(floor):
        return f"the difference is within the noise floor of {100 * floor:.2g} %"
    if floor is not None:
        return f"the interval excludes 1 and the noise floor is {100 * floor:.2g} %"
    return "the interval excludes 1; the run has no A/A pair to know its noise floor by"


def _notes(a: CellFigure, b: CellFigure, unit: str) -> list[str]:
    notes = ["compared in nanoseconds, because there are no cycles of one kind"] if unit == NS else []
    if a.cell.contract != b.cell.contract:
        notes.append(f"the calls differ: {a.cell.contract} and {b.cell.contract}")
    fixed = [any(warning.kind is Doubt.LAYOUT for warning in figure.warnings) for figure in (a, b)]
    if fixed[0] != fixed[1]:
        notes.append("one was measured with address randomisation off, at a place where few programs lie")
    return notes
