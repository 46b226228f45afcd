"""Forms about what the size of the data does to the cost of a byte."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from perbyte.model import Estimate
from perbyte.stats.quantity import distance, log_of
from perbyte.studies.claims.standings import Contender, Pair, missing, pairs, ratio_of, standings
from perbyte.studies.claims.vocabulary import (
    AVERAGE_OVER,
    BEST_OF,
    GROUP_BY,
    PAIR_BY,
    PER,
    WHERE,
    Finding,
    Form,
    Key,
    Kind,
    Parameter,
    Scene,
    State,
)
from perbyte.studies.evidence import GROUP, Absence, Selection, Value
from perbyte.studies.model import Number
from perbyte.studies.wording import exact, number, percent, span, value_name

_DIMENSION = Parameter("along", Kind.DIMENSION, "the dimension that changes", default="size_bytes")
_FROM = Parameter("from", Kind.VALUE, "its value before", of="along")
_TO = Parameter("to", Kind.VALUE, "its value after", of="along")
_PERCENT = Parameter("percent", Kind.NUMBER, "how much the cost per byte changes")
_WAY = Parameter(
    "way", Kind.TEXT, "which way of changing counts", default="either", choices=("either", "down")
)
_SHAPE = (AVERAGE_OVER, BEST_OF, PER)


def _change_under(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    share = p["percent"] / 100
    most = 1 + share if p["way"] == "either" else math.inf
    return [
        _changed(pair, p, State.YES if inside else State.NO if outside else State.OPEN)
        for pair in _changes(scene, p["where"], p)
        for inside, outside in [_inside(pair, 1 - share, most)]
    ]


def _change_above(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    least = 1 - p["percent"] / 100
    findings = []
    for pair in _changes(scene, p["where"], p):
        below = pair.ratio is not None and pair.ratio.below(least)
        above = pair.ratio is not None and pair.ratio.above(least)
        findings.append(_changed(pair, p, State.YES if below else State.NO if above else State.OPEN))
    return findings


def _changes_less(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    """Set the change of every subject against that of everybody else with the same pair_by dimensions."""
    findings = []
    everybody = {**p, "pair_by": (*p["pair_by"], *p["each"])}
    others = _changes(scene, p["than"], everybody)
    for own in _changes(scene, p["subject"], everybody):
        for other in others:
            if _without(other.key, p["each"]) != _without(own.key, p["each"]) or other.key == own.key:
                continue
            findings.append(_compared(own, other))
    return findings


def _compared(own: Pair, other: Pair) -> Finding:
    absent = own.absent or other.absent
    if absent or not own.ratio or not other.ratio:
        return absent or Finding(State.UNMEASURED, f"{own.first} has no figure.")
    mine, theirs = distance(own.ratio), distance(other.ratio)
    state = State.YES if mine.high < theirs.low else State.NO if mine.low > theirs.high else State.OPEN
    sentence = (
        f"{own.place}: the cost of a byte changes by {percent(abs(own.ratio.value - 1))}, for "
        f"{other.place} by {percent(abs(other.ratio.value - 1))}."
    )
    return Finding(state, sentence, abs(mine.value - theirs.value), (*_number(own), *_number(other)))


def _flat(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    width = 1 + p["within_percent"] / 100
    return [
        _spread(scene, p, key, field, width, State.YES, State.NO)
        for key, field in standings(scene, {**p, "contenders": p["along"]}).items()
    ]


def _uneven(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    width = 1 + p["beyond_percent"] / 100
    return [
        _spread(scene, p, key, field, width, State.NO, State.YES)
        for key, field in standings(scene, {**p, "contenders": p["along"]}).items()
    ]


def _spread(
    scene: Scene,
    p: Mapping[str, Any],
    key: Key,
    field: Mapping[Value, Contender],
    width: float,
    inside: State,
    outside: State,
) -> Finding:
    """Set the largest cost of a group against the smallest."""
    there = [one for one in field.values() if one.absence is not Absence.LEFT_OUT]
    lacking = next((one for one in (there if len(there) > 1 else field.values()) if not one.cost), None)
    if lacking:
        return missing(scene, key, lacking)
    known = sorted(
        (one for one in there if one.cost), key=lambda one: one.cost.value if one.cost else math.inf
    )
    costs = [(one.label, one.cost) for one in known if one.cost]
    (least, low), (most, high) = costs[0], costs[-1]
    whole = Estimate(1.0, 1.0, 1.0)
    ratio = (ratio_of(scene, known[-1], known[0]) if len(costs) > 1 else whole) or whole
    state = inside if ratio.high <= width else outside if ratio.low > width else State.OPEN
    sentence = (
        f"{scene.opening(key)}{number(low.value)} at {least} and {number(high.value)} at {most} "
        f"{scene.table.unit} a {p['per']}, {percent(ratio.value - 1)} apart; "
        f"the claim's limit is {exact(round(100 * (width - 1), 9))} %."
    )
    unit = f"{scene.table.unit}/{p['per']}"
    numbers = tuple(Number(scene.name(key), label, *_ends(cost), unit) for label, cost in costs)
    return Finding(state, sentence, abs(log_of(width / ratio.value)), numbers)


def _ends(estimate: Estimate) -> tuple[float, float, float]:
    return estimate.value, estimate.low, estimate.high


def _changes(scene: Scene, where: Selection, p: Mapping[str, Any]) -> list[Pair]:
    """Cost after over cost before, for each combination of pair_by."""
    after = {**where, p["along"]: (p["to"],)}
    return pairs(scene, after, {**where, p["along"]: (p["from"],)}, p)


def _inside(pair: Pair, low: float, high: float) -> tuple[bool, bool]:
    if pair.ratio is None:
        return False, False
    return pair.ratio.within(low, high), pair.ratio.outside(low, high)


def _changed(pair: Pair, p: Mapping[str, Any], state: State) -> Finding:
    if pair.absent or not pair.ratio or not pair.costs:
        return pair.absent or Finding(State.UNMEASURED, f"{pair.first} has no figure.")
    after, before = pair.costs
    subject = "" if GROUP in dict(pair.key) else f"{pair.label}, "
    change = pair.ratio.value - 1
    sentence = (
        f"{subject}{pair.place}: a {p['per']} costs {number(before.value)} at "
        f"{value_name(p['along'], p['from'])} and {number(after.value)} at {value_name(p['along'], p['to'])}, "
        f"{percent(abs(change))} {'less' if change < 0 else 'more'} (ratio {span(pair.ratio)}); "
        f"the claim's limit is {exact(p['percent'])} %."
    )
    limit = abs(abs(change) - p["percent"] / 100)
    return Finding(state, sentence, limit, _number(pair))


def _number(pair: Pair) -> tuple[Number, ...]:
    if not pair.ratio:
        return ()
    name = f"{pair.label}, after over before"
    return (Number(pair.place, name, pair.ratio.value, pair.ratio.low, pair.ratio.high),)


def _without(key: Key, names: tuple[str, ...]) -> Key:
    return tuple(part for part in key if part[0] not in names)


FORMS = (
    Form(
        "change_under",
        "between two sizes the cost of a byte changes by less than so much, either way or downwards",
        (WHERE, _DIMENSION, _FROM, _TO, _PERCENT, _WAY, PAIR_BY, *_SHAPE),
        _change_under,
    ),
    Form(
        "change_above",
        "between two sizes the cost of a byte falls by more than so much",
        (WHERE, _DIMENSION, _FROM, _TO, _PERCENT, PAIR_BY, *_SHAPE),
        _change_above,
    ),
    Form(
        "changes_less",
        "between two sizes the subject's cost of a byte changes less than the others'",
        (
            Parameter("subject", Kind.SELECTION, "the cells that change little"),
            Parameter("than", Kind.SELECTION, "the cells that change more"),
            Parameter("each", Kind.DIMENSIONS, "the dimensions in which subject and others differ"),
            _DIMENSION,
            _FROM,
            _TO,
            PAIR_BY,
            *_SHAPE,
        ),
        _changes_less,
    ),
    Form(
        "flat",
        "the cost of a byte stays the same over all values of a dimension, within so much",
        (
            WHERE,
            _DIMENSION,
            Parameter("within_percent", Kind.NUMBER, "how far the costs may be apart"),
            GROUP_BY,
            *_SHAPE,
        ),
        _flat,
    ),
    Form(
        "uneven",
        "the cost of a byte differs over the values of a dimension, by more than so much",
        (
            WHERE,
            _DIMENSION,
            Parameter("beyond_percent", Kind.NUMBER, "how far the costs must be apart"),
            GROUP_BY,
            *_SHAPE,
        ),
        _uneven,
    ),
)
