"""Claims about costs as numbers: one cost over another, how such a ratio moves along a dimension, a cost itself."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from typing import ClassVar, Literal

from msgspec import field

from perbyte.datafile import Problem, Text
from perbyte.model import Estimate
from perbyte.model.text import counted
from perbyte.stats.compare import margin_of, ratio_of_ratios
from perbyte.stats.quantity import arithmetic_mean, largest, log_of, smallest
from perbyte.studies.claims.form import (
    Comparing,
    Context,
    Dimensions,
    Finding,
    Key,
    Pair,
    Ranks,
    Said,
    State,
    combinations,
    missing,
    number_of,
    numbers_of,
    spoken,
    state_of,
)
from perbyte.studies.evidence import TIME, many
from perbyte.studies.model import GROUP, Number, Selection, Value
from perbyte.studies.wording import exact, group_name, number, percent, span

_AGGREGATES: Mapping[str, Callable[[list[Estimate]], Estimate]] = {
    "mean": arithmetic_mean,
    "min": smallest,
    "max": largest,
}


class RatioClaim(Comparing, frozen=True, kw_only=True, tag="ratio"):
    """One cost over another lies between `low` and `high`, or within so many percent of 1 either way.

    Where a side holds several cells that `each` names, every cell of it is set against every cell of the other.
    `aggregate` judges each ratio, or one number of them all.
    """

    numerator: Selection
    denominator: Selection
    each: Dimensions = ()
    low: float = 0.0
    high: float = math.inf
    within_percent: float | None = None
    aggregate: Literal["each", "mean", "min", "max"] = "each"

    def __post_init__(self) -> None:
        if self.within_percent is None and self.low <= 0 and math.isinf(self.high):
            raise Problem("a ratio needs low, high or within_percent", key="low")

    def judge(self, context: Context) -> list[Finding]:
        """One finding per pair, or one for the aggregate."""
        low, high = self._limits()
        pairs = self.pairs(context, self.numerator, self.denominator, each=self.each)
        if self.aggregate == "each":
            return [_against(pair, low, high) for pair in pairs]
        absent = next((pair.absent for pair in pairs if pair.absent), None)
        if absent:
            return [absent]
        ratios = [pair.ratio for pair in pairs if pair.ratio]
        whole = _AGGREGATES[self.aggregate](ratios)
        state, margin = placed(whole, low, high)
        name = f"{self.aggregate} of {counted(len(ratios), 'ratio')}, {pairs[0].first} over {pairs[0].second}"
        numbers = (*(number for pair in pairs for number in numbers_of(pair)), *number_of("", name, whole))
        return [Finding(state, f"The {name}, is {span(whole)}{_claimed(low, high)}.", margin, numbers)]

    def said(self, context: Context) -> Said:
        """The rule and what contradicts it."""
        low, high = self._limits()
        together = dict.fromkeys(self.each, "each of") | self.together()
        own, other = (context.words(side, together) for side in (self.numerator, self.denominator))
        over = f"the {self.word.least}" if not self.denominator and self.best_of else other
        pair = f"the cost of {own} over that of {over}"
        of = "" if self.aggregate == "each" else f"the {self.aggregate} over {self.groups(context)} of "
        if math.isinf(high):
            return Said(f"{of}{pair} is at least {exact(low)}", f"{of}{pair} is surely below {exact(low)}")
        if low <= 0:
            return Said(f"{of}{pair} is at most {exact(high)}", f"{of}{pair} is surely above {exact(high)}")
        between = f"{low:.4g} to {high:.4g}"
        return Said(f"{of}{pair} is within {between}", f"{of}{pair} is surely outside {between}")

    def _limits(self) -> tuple[float, float]:
        """The ends that a ratio must lie between."""
        if self.within_percent is None:
            return self.low, self.high
        return 1 / (1 + self.within_percent / 100), 1 + self.within_percent / 100


class TrendClaim(Comparing, frozen=True, kw_only=True, tag="trend"):
    """A ratio (without `denominator`: a cost) along a dimension.

    Either it `rises` over these values, or it is `smallest` and `largest` at them, or it stays `within_percent`.
    """

    numerator: Selection = field(default_factory=dict)
    denominator: Selection | None = None
    along: Text = "size_bytes"
    rises: Ranks | None = None
    smallest: Value | None = None
    largest: Value | None = None
    within_percent: float | None = None

    values_of: ClassVar[dict[str, str]] = {"rises": "along", "smallest": "along", "largest": "along"}

    def __post_init__(self) -> None:
        extremes = self.smallest is not None or self.largest is not None
        if (self.rises is not None) + extremes + (self.within_percent is not None) != 1:
            raise Problem("a trend needs one of rises, smallest or largest, within_percent", key="rises")

    def judge(self, context: Context) -> list[Finding]:
        """One finding per group and step, per group and extreme, or per group."""
        findings: list[Finding] = []
        for key, series in self._series(context).items():
            if self.rises is not None:
                findings += self._steps(context, key, series)
            elif self.within_percent is not None:
                findings.append(self._flat(context, key, _at_hand(series)))
            else:
                ends = self._ends()
                findings += [self._extreme(context, key, _at_hand(series), end, name) for end, name in ends]
        return findings

    def said(self, context: Context) -> Said:
        """The rule and what contradicts it."""
        together = self.together()
        what = f"the cost of {context.words(self.numerator, together)}" if self.numerator else "the cost"
        if self.denominator is not None:
            own, other = (context.words(side, together) for side in (self.numerator, self.denominator))
            what = f"the ratio of {own} over {other}"
        along = spoken([self.along])
        if self.rises is not None:
            places = [
                " and ".join(context.name(((self.along, v),)) for v in many(values)) for values in self.rises
            ]
            return Said(
                f"{what} rises along {along} from {' to '.join(places)}",
                f"{what} surely falls, or is known to stay as it is, at one of these steps",
            )
        if self.within_percent is not None:
            width = exact(self.within_percent)
            return Said(
                f"{what} stays within {width} % over all values of {along}",
                f"over all values of {along} {what} is surely more than {width} % larger at one than at another",
            )
        named = [f"{end} for {context.name(((self.along, value),))}" for end, value in self._ends()]
        return Said(
            f"of all values of {along} {what} is {' and '.join(named)}",
            f"another {along} surely has a smaller or larger one",
        )

    def groups(self, context: Context) -> str:
        """The combinations of `by` and the steps or ends; what the trend goes along is no group of its own."""
        steps = math.prod(len(many(values)) for values in self.rises or ()) > 1 or len(self.rises or ()) > 2
        parts = ["step"] if steps else ["end"] if len(self._ends()) > 1 else []
        return combinations([*(name for name in self.by if name != self.along), *parts])

    def _ends(self) -> list[tuple[str, Value]]:
        ends = (("smallest", self.smallest), ("largest", self.largest))
        return [(end, value) for end, value in ends if value is not None]

    def _series(self, context: Context) -> dict[Key, dict[Value, Pair]]:
        """The ratios (or costs) of each group, by their value of the dimension `along`."""
        by = self.by if self.along in self.by else (*self.by, self.along)
        series_of: dict[Key, dict[Value, Pair]] = {}
        if self.denominator is not None:
            for pair in self.pairs(context, self.numerator, self.denominator, by=by):
                rest = tuple(part for part in pair.key if part[0] != self.along)
                series_of.setdefault(rest, {})[dict(pair.key)[self.along]] = pair
            return series_of
        for key, candidates in self.ranking(context, self.along, **self.numerator).items():
            place = context.name(key)
            series_of[key] = {}
            for value, candidate in candidates.items():
                absent = None if candidate.cost else missing(context, key, candidate)
                names = (place, candidate.label, candidate.label, "")
                series_of[key][value] = Pair(key, *names, candidate.cost, absent, candidate)
        return series_of

    def _over(self, context: Context, pair: Pair, other: Pair) -> Estimate:
        """One point of a series over another; the noise floor is in a ratio already."""
        if pair.alone and other.alone:
            return context.ratio(pair.alone, other.alone)
        assert pair.ratio
        assert other.ratio
        return ratio_of_ratios(pair.ratio, other.ratio)

    def _what(self, pair: Pair) -> str:
        return f"the ratio of {pair.first} over {pair.second}" if pair.second else f"the cost per {self.per}"

    def _steps(self, context: Context, key: Key, series: Mapping[Value, Pair]) -> list[Finding]:
        findings = []
        for before, after in itertools.pairwise(self.rises or ()):
            for low, high in itertools.product(many(before), many(after)):
                if low not in series or high not in series:
                    continue
                earlier, later = series[low], series[high]
                if not earlier.ratio or not later.ratio:
                    findings += [absent for absent in (earlier.absent or later.absent,) if absent]
                    continue
                growth = self._over(context, later, earlier)
                margin, falls = 1 + margin_of(context.table.floor), growth.below(1)
                stays = (
                    growth.within(1 / margin, margin) and not context.table.printed
                )  # whose digits are few
                state = state_of(growth.above(1), falls or stays)
                word = {
                    State.YES: "rises",
                    State.NO: "falls" if falls else "stays",
                    State.OPEN: "hardly moves",
                }[state]
                sentence = (
                    f"{context.opening(key)}{self._what(later)} {word} from {number(earlier.ratio.value)} at "
                    f"{group_name([(self.along, low)])} to {number(later.ratio.value)} at "
                    f"{group_name([(self.along, high)])}."
                )
                numbers = (*self._numbers(context, earlier), *self._numbers(context, later))
                findings.append(Finding(state, sentence, abs(log_of(growth.value)), numbers))
        return findings

    def _extreme(
        self, context: Context, key: Key, series: Mapping[Value, Pair], end: str, name: Value
    ) -> Finding:
        absent = next((pair.absent for pair in series.values() if pair.absent), None)
        own = series.get(name)
        if absent or own is None or own.ratio is None:
            return absent or Finding(State.UNMEASURED, f"{context.opening(key)}{name} has no figure.")
        leads = {
            other: self._over(context, *((pair, own) if end == "smallest" else (own, pair)))
            for other, pair in series.items()
            if other != name and pair.ratio
        }
        rival, lead = min(leads.items(), key=lambda item: item[1].value)
        sentence = (
            f"{context.opening(key)}{self._what(own)} is claimed to be {end} for {name}, {span(own.ratio)}; "
            f"{rival} has {span(series[rival].ratio or own.ratio)}."
        )
        numbers = tuple(number for pair in series.values() for number in self._numbers(context, pair))
        return Finding(state_of(lead.above(1), lead.below(1)), sentence, abs(log_of(lead.value)), numbers)

    def _flat(self, context: Context, key: Key, series: Mapping[Value, Pair]) -> Finding:
        width = 1 + (self.within_percent or 0.0) / 100
        absent = next((pair.absent for pair in series.values() if pair.absent), None)
        known = [(value, pair, pair.ratio) for value, pair in series.items() if pair.ratio]
        if absent or not known:
            return absent or Finding(State.UNMEASURED, f"{context.opening(key)}nothing was measured.")
        ordered = sorted(known, key=lambda point: point[2].value)
        (least, first, bottom), (most, last, top) = ordered[0], ordered[-1]
        spread = self._over(context, last, first) if len(known) > 1 else Estimate(1.0, 1.0, 1.0)
        sentence = (
            f"{context.opening(key)}{self._what(last)} is {number(bottom.value)} at "
            f"{group_name([(self.along, least)])} and {number(top.value)} at {group_name([(self.along, most)])}, "
            f"{percent(spread.value - 1)} apart; the claim's limit is {exact(round(100 * (width - 1), 9))} %."
        )
        numbers = tuple(number for pair in series.values() for number in self._numbers(context, pair))
        state = state_of(spread.high <= width, spread.low > width)
        return Finding(state, sentence, abs(log_of(width / spread.value)), numbers)

    def _numbers(self, context: Context, pair: Pair) -> tuple[Number, ...]:
        if pair.second or not pair.ratio:
            return numbers_of(pair)
        unit = context.table.unit_of(self.of, self.per).replace(" per ", "/")
        return number_of(pair.place, pair.first, pair.ratio, unit)


class CostClaim(Comparing, frozen=True, kw_only=True, tag="value"):
    """The cost itself lies between `low` and `high`, in cycles per byte, or in what was counted."""

    low: float
    high: float

    def judge(self, context: Context) -> list[Finding]:
        """One finding per group of cells."""
        if self.of == TIME and not context.table.in_cycles:
            if context.table.printed:
                text = "What is printed for this machine cannot be read in cycles."
                return [Finding(State.NOT_PRINTED, text)]
            return [Finding(State.UNMEASURED, "the run has no cycles, and the claim counts in cycles.")]
        findings, unit = [], context.table.unit_of(self.of, self.per)
        for key, groups in self.ranking(context, GROUP).items():
            for candidate in groups.values():
                if not candidate.cost:
                    findings.append(missing(context, key, candidate))
                    continue
                state, margin = placed(candidate.cost, self.low, self.high)
                place = f"{candidate.label}, {context.name(key)}" if key else candidate.label
                sentence = f"{place}: {span(candidate.cost)} {unit}; claimed: {exact(self.low)} to {exact(self.high)}."
                numbers = number_of(
                    context.name(key), candidate.label, candidate.cost, unit.replace(" per ", "/")
                )
                findings.append(Finding(state, sentence, margin, numbers))
        return findings

    def said(self, context: Context) -> Said:
        """The rule and what contradicts it."""
        unit = f"cycles per {self.per}" if self.of == TIME else context.table.unit_of(self.of, self.per)
        between = f"{exact(self.low)} to {exact(self.high)} {unit}"
        return Said(f"the cost is within {between}", f"the cost is surely outside {between}")

    def groups(self, context: Context) -> str:
        """The combinations of `by`, for each group of cells."""
        return combinations([GROUP, *(name for name in self.by if name != GROUP)])


def placed(estimate: Estimate, low: float, high: float) -> tuple[State, float]:
    """Whether an estimate lies between `low` and `high`, and how far from the nearer end (as a logarithm)."""
    ends = [end for end in (low, high) if 0 < end < math.inf]
    margin = min((abs(log_of(estimate.value / end)) for end in ends), default=math.inf)
    return state_of(estimate.within(low, high), estimate.outside(low, high)), margin


def _against(pair: Pair, low: float, high: float) -> Finding:
    if pair.absent or not pair.ratio:
        return pair.absent or Finding(State.UNMEASURED, f"{pair.first} has no figure.")
    state, margin = placed(pair.ratio, low, high)
    opening = f"{pair.place}: " if pair.place else ""
    sentence = (
        f"{opening}{pair.first} takes {span(pair.ratio)} times what {pair.second} takes{_claimed(low, high)}."
    )
    return Finding(state, sentence, margin, numbers_of(pair))


def _claimed(low: float, high: float) -> str:
    if math.isinf(high):
        return "" if low == 1 else f"; claimed: at least {exact(low)}"
    if low <= 0:
        return f"; claimed: at most {exact(high)}"
    return f"; claimed: {low:.4g} to {high:.4g}"


def _at_hand(series: Mapping[Value, Pair]) -> Mapping[Value, Pair]:
    """A series without what is set aside, as long as there is something left to compare."""
    aside = {value for value, pair in series.items() if pair.absent and pair.absent.state.set_aside}
    known = {value: pair for value, pair in series.items() if value not in aside}
    return known if len(known) > 1 else series
