"""Forms about one cost over another: faster, slower, so many times, alike."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

from perbyte.model import Estimate
from perbyte.stats.quantity import arithmetic_mean, largest, log_of, smallest
from perbyte.studies.claims.standings import Pair, pairs, products
from perbyte.studies.claims.vocabulary import (
    AVERAGE_OVER,
    BEST_OF,
    PAIR_BY,
    PER,
    WHERE,
    Finding,
    Form,
    Kind,
    Parameter,
    Scene,
    State,
)
from perbyte.studies.model import Number
from perbyte.studies.wording import counted, exact, span

_AGGREGATES: Mapping[str, Callable[[list[Estimate]], Estimate]] = {
    "mean": arithmetic_mean,
    "min": smallest,
    "max": largest,
}
SHAPE = (PAIR_BY, AVERAGE_OVER, BEST_OF, PER)
_SUBJECT = Parameter("subject", Kind.SELECTION, "the cells the claim is about")
_THAN = Parameter("than", Kind.SELECTION, "the cells they are set against")
NUMERATOR = Parameter("numerator", Kind.SELECTION, "the cells whose cost is divided")
DENOMINATOR = Parameter("denominator", Kind.SELECTION, "the cells whose cost divides")
_BY = Parameter("by_percent", Kind.NUMBER, "by at least so much", default=0.0)


def _slower_than(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    return [
        _against(
            pair, 1 + p["by_percent"] / 100, math.inf, f"{pair.first} takes", f"what {pair.second} takes"
        )
        for pair in products(scene, p["subject"], p["than"], p)
    ]


def _faster_than(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    return [
        _against(
            pair, 1 + p["by_percent"] / 100, math.inf, f"{pair.first} takes", f"what {pair.second} takes"
        )
        for pair in products(scene, p["than"], p["subject"], p)
    ]


def _ratio_between(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    low, high = p["low"], p["high"]
    found = pairs(scene, p["numerator"], p["denominator"], p)
    if p["aggregate"] == "each":
        return [
            _against(pair, low, high, f"{pair.first} takes", f"what {pair.second} takes") for pair in found
        ]
    lacking = next((pair.absent for pair in found if pair.absent), None)
    if lacking:
        return [lacking]
    ratios = [pair.ratio for pair in found if pair.ratio]
    whole = _AGGREGATES[p["aggregate"]](ratios)
    name = f"{p['aggregate']} of {counted(len(ratios), 'ratio')}, {found[0].first} over {found[0].second}"
    numbers = (
        *tuple(number_ for pair in found for number_ in numbers_of(pair)),
        Number("", name, whole.value, whole.low, whole.high),
    )
    state, margin = placed(whole, low, high)
    return [Finding(state, f"The {name}, is {span(whole)}{_wanted(low, high)}.", margin, tuple(numbers))]


def _alike(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    width = 1 + p["within_percent"] / 100
    return [
        _against(pair, 1 / width, width, f"{pair.first} takes", f"what {pair.second} takes")
        for pair in pairs(scene, p["numerator"], p["denominator"], p)
    ]


def _symmetric(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    width = 1 + p["within_percent"] / 100
    return [
        _against(pair, 1 / width, width, f"{pair.first} takes", f"what {pair.second} takes")
        for pair in _operations(scene, p)
    ]


def _asymmetric(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    width = 1 + p["beyond_percent"] / 100
    findings = []
    for pair in _operations(scene, p):
        inner = _against(pair, 1 / width, width, f"{p['second']} takes", f"what {p['first']} takes", out=True)
        turned = {State.YES: State.NO, State.NO: State.YES}.get(inner.state, inner.state)
        findings.append(Finding(turned, inner.sentence, inner.margin, inner.numbers))
    return findings


def _operations(scene: Scene, p: Mapping[str, Any]) -> list[Pair]:
    """Second operation over first, for each combination of pair_by."""
    where = p["where"]
    second = {**where, "operation": (p["second"],)}
    found = pairs(scene, second, {**where, "operation": (p["first"],)}, p)
    return [dataclasses.replace(pair, first=p["second"], second=p["first"]) for pair in found]


def placed(estimate: Estimate, low: float, high: float) -> tuple[State, float]:
    """Whether an estimate lies between `low` and `high`, and how far from the nearer end (as a logarithm)."""
    state = State.OPEN
    if estimate.within(low, high):
        state = State.YES
    elif estimate.outside(low, high):
        state = State.NO
    ends = [end for end in (low, high) if 0 < end < math.inf]
    return state, min((abs(log_of(estimate.value / end)) for end in ends), default=math.inf)


def _against(pair: Pair, low: float, high: float, verb: str, object_: str, *, out: bool = False) -> Finding:
    if pair.absent or not pair.ratio:
        return pair.absent or Finding(State.UNMEASURED, f"{pair.first} has no figure.")
    state, margin = placed(pair.ratio, low, high)
    sentence = f"{pair.opening}{verb} {span(pair.ratio)} times {object_}{_wanted(low, high, out)}."
    return Finding(state, sentence, margin, numbers_of(pair))


def _wanted(low: float, high: float, out: bool = False) -> str:
    if math.isinf(high):
        return "" if low == 1 else f"; claimed: at least {exact(low)}"
    if low <= 0:
        return f"; claimed: at most {exact(high)}"
    return f"; claimed: {'outside ' if out else ''}{_end(low)} to {_end(high)}"


def _end(value: float) -> str:
    return f"{value:.4g}"


def numbers_of(pair: Pair) -> tuple[Number, ...]:
    """The pair's ratio as a number of the verdict."""
    if not pair.ratio:
        return ()
    name = f"{pair.first} over {pair.second}"
    return (Number(pair.place, name, pair.ratio.value, pair.ratio.low, pair.ratio.high),)


_LOW = Parameter("low", Kind.NUMBER, "the least the ratio may be", default=0.0)
_HIGH = Parameter("high", Kind.NUMBER, "the most the ratio may be", default=math.inf)
_AGGREGATE = Parameter(
    "aggregate",
    Kind.TEXT,
    "judge each ratio, or one number of them all",
    "each",
    choices=("each", *_AGGREGATES),
)
_WITHIN = Parameter("within_percent", Kind.NUMBER, "how far the costs may be apart")
_FIRST = Parameter("first", Kind.TEXT, "the one operation", default="encrypt")
_SECOND = Parameter("second", Kind.TEXT, "the other operation", default="decrypt")

FORMS = (
    Form(
        "slower_than",
        "subject is slower than each of the others",
        (_SUBJECT, _THAN, _BY, *SHAPE),
        _slower_than,
    ),
    Form(
        "faster_than",
        "subject is faster than each of the others",
        (_SUBJECT, _THAN, _BY, *SHAPE),
        _faster_than,
    ),
    Form(
        "ratio_between",
        "one cost over the other lies between low and high",
        (NUMERATOR, DENOMINATOR, _LOW, _HIGH, _AGGREGATE, *SHAPE),
        _ratio_between,
    ),
    Form("alike", "two costs are equal within so much", (NUMERATOR, DENOMINATOR, _WITHIN, *SHAPE), _alike),
    Form(
        "symmetric",
        "two operations cost the same within so much",
        (WHERE, _FIRST, _SECOND, _WITHIN, *SHAPE),
        _symmetric,
    ),
    Form(
        "asymmetric",
        "two operations differ in cost by more than so much",
        (
            WHERE,
            _FIRST,
            _SECOND,
            Parameter("beyond_percent", Kind.NUMBER, "how far the costs must be apart"),
            *SHAPE,
        ),
        _asymmetric,
    ),
)
