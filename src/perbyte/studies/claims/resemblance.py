"""Forms about who is like whom: clusters of contenders, outliers, and how near one comes to the best.

Likeness is the distance of two costs on a logarithmic scale, |ln(a/b)|: it means the same whether costs are
counted per byte or per call, and does not depend on how steadily a machine measures, as effect sizes do.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

from perbyte.model import Estimate
from perbyte.stats.quantity import arithmetic_mean, distance, log_of, smallest
from perbyte.studies.claims.standings import Contender, missing, ratio_of, standings
from perbyte.studies.claims.vocabulary import (
    AVERAGE_OVER,
    BEST_OF,
    GROUP_BY,
    PER,
    WHERE,
    Finding,
    Form,
    Key,
    Kind,
    Parameter,
    Scene,
    State,
    share_state,
)
from perbyte.studies.evidence import Value
from perbyte.studies.model import Number
from perbyte.studies.wording import counted, exact, number, span, value_name

_CONTENDERS = Parameter("contenders", Kind.DIMENSION, "the dimension whose values are compared")
_SHAPE = (WHERE, GROUP_BY, AVERAGE_OVER, BEST_OF, PER)


def _clusters(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    """Judge, for every member, whether the contender nearest to it belongs to the same cluster."""
    findings = []
    for key, field in standings(scene, p).items():
        for cluster in p["clusters"]:
            mates = [name for name in cluster if name in field]
            if len(mates) < 2:
                continue
            for name in mates:
                findings.append(_nearest(scene, key, field, name, mates, 1 + p["slack_percent"] / 100))
    return findings


def _nearest(
    scene: Scene, key: Key, field: dict[Value, Contender], name: Value, mates: list[Value], slack: float
) -> Finding:
    own = field[name]
    lacking = next((one for one in field.values() if not one.cost), None)
    inside = {one: _distance(scene, own, field[one]) for one in mates if one != name}
    outside = {one: _distance(scene, own, other) for one, other in field.items() if one not in mates}
    if lacking or not outside:
        return missing(scene, key, lacking) if lacking else _nobody(scene, key)
    mate = min(inside, key=lambda one: inside[one].value)
    stranger = min(outside, key=lambda one: outside[one].value)
    near, far = smallest(inside.values()), smallest(outside.values())
    edge = math.log(slack)
    state = (
        State.YES if near.high < far.low + edge else State.NO if near.low > far.high + edge else State.OPEN
    )
    sentence = (
        f"{scene.opening(key)}{own.label} is {number(math.exp(near.value))} times apart from {field[mate].label} and "
        f"{number(math.exp(far.value))} times from {field[stranger].label}."
    )
    numbers = (
        Number(scene.name(key), f"{own.label} to {field[mate].label}", *_unlogged(near)),
        Number(scene.name(key), f"{own.label} to {field[stranger].label}", *_unlogged(far)),
    )
    return Finding(state, sentence, abs(far.value + edge - near.value), numbers)


def _outliers(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    """Judge whether each of the subject is farther from the rest, on average, than anybody else is."""
    findings = []
    for key, field in standings(scene, p).items():
        lacking = next((one for one in field.values() if not one.cost), None)
        if lacking or len(field) < 3:
            findings.append(missing(scene, key, lacking) if lacking else _nobody(scene, key))
            continue
        distances = {
            name: arithmetic_mean(
                _distance(scene, one, other) for other in field.values() if other is not one
            )
            for name, one in field.items()
        }
        own = {name: far for name, far in distances.items() if name in p["subject"]}
        rest = {name: far for name, far in distances.items() if name not in p["subject"]}
        if not own or not rest:
            findings.append(_nobody(scene, key))
            continue
        least = min(own, key=lambda name: own[name].value)
        most = max(rest, key=lambda name: rest[name].value)
        a, b = own[least], rest[most]
        state = State.YES if a.low > b.high else State.NO if a.high < b.low else State.OPEN
        sentence = (
            f"{scene.opening(key)}{field[least].label} is {number(math.exp(a.value))} times apart from the rest "
            f"on average, {field[most].label} {number(math.exp(b.value))} times."
        )
        numbers = tuple(
            Number(scene.name(key), f"{field[name].label} to the rest", *_unlogged(far))
            for name, far in distances.items()
        )
        findings.append(Finding(state, sentence, abs(a.value - b.value), numbers))
    return findings


def _distances_grow(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    """Judge for what share of the pairs of a group the ratio of costs is farther from 1 at the later value."""
    along, wanted = p["along"], p["share_percent"] / 100
    before, after = (
        standings(scene, {**p, "where": {**p["where"], along: (p[end],)}}) for end in ("from", "to")
    )
    findings = []
    for key, field in before.items():
        later = after.get(key, {})
        both = [name for name in field if name in later]
        lacking = next((one for name in both for one in (field[name], later[name]) if not one.cost), None)
        if lacking or len(both) < 2:
            findings.append(missing(scene, key, lacking) if lacking else _nobody(scene, key))
            continue
        states = [
            _grown(_distance(scene, field[a], field[b]), _distance(scene, later[a], later[b]))
            for a, b in itertools.combinations(both, 2)
        ]
        grown, shrunk, total = states.count(State.YES), states.count(State.NO), len(states)
        start, end = value_name(along, p["from"]), value_name(along, p["to"])
        sentence = (
            f"{scene.opening(key)}of {counted(total, 'pair')} {grown} are farther apart at {end} than at {start} and "
            f"{shrunk} nearer; claimed: farther for more than {exact(p['share_percent'])} %."
        )
        name = "share of pairs that are farther apart"
        share = Number(scene.name(key), name, grown / total, grown / total, 1 - shrunk / total)
        state = share_state(grown, shrunk, total, wanted)
        findings.append(Finding(state, sentence, abs(grown / total - wanted), (share,)))
    return findings


def _grown(before: Estimate, after: Estimate) -> State:
    return State.YES if after.low > before.high else State.NO if after.high < before.low else State.OPEN


def _within_of_best(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    findings = []
    for key, field in standings(scene, p).items():
        own = [one for name, one in field.items() if name in p["subject"]]
        lacking = next((one for one in field.values() if not one.cost), None)
        if not own or lacking:
            findings += [missing(scene, key, lacking)] if own and lacking else []
            continue
        best = min(field.values(), key=lambda one: one.cost.value if one.cost else math.inf)
        for one in own:
            assert one.cost
            assert best.cost
            same = Estimate(1.0, 1.0, 1.0)
            ratio = (ratio_of(scene, one, best) if one is not best else same) or same
            state = (
                State.YES
                if ratio.high <= p["factor"]
                else State.NO
                if ratio.low > p["factor"]
                else State.OPEN
            )
            sentence = (
                f"{scene.opening(key)}{one.label} takes {span(ratio)} times what the fastest, {best.label}, takes; "
                f"claimed: at most {exact(p['factor'])} times."
            )
            numbers = (Number(scene.name(key), f"{one.label} over the fastest", *_ends(ratio)),)
            findings.append(Finding(state, sentence, abs(log_of(p["factor"] / ratio.value)), numbers))
    return findings


def _distance(scene: Scene, one: Contender, other: Contender) -> Estimate:
    ratio = ratio_of(scene, one, other)
    return distance(ratio) if ratio else Estimate(math.inf, 0.0, math.inf)


def _nobody(scene: Scene, key: Key) -> Finding:
    return Finding(State.UNMEASURED, f"{scene.opening(key)}there is nobody to compare.")


def _ends(estimate: Estimate) -> tuple[float, float, float]:
    return estimate.value, estimate.low, estimate.high


def _unlogged(distance: Estimate) -> tuple[float, float, float]:
    return math.exp(distance.value), math.exp(distance.low), math.exp(min(distance.high, 700.0))


FORMS = (
    Form(
        "clusters",
        "whoever is in a cluster is nearest to another of the same cluster",
        (
            _CONTENDERS,
            Parameter("clusters", Kind.RANKS, "the clusters, two members or more in each", of="contenders"),
            Parameter(
                "slack_percent",
                Kind.NUMBER,
                "a mate so much farther than a stranger counts as near",
                default=0.0,
            ),
            *_SHAPE,
        ),
        _clusters,
    ),
    Form(
        "distances_grow",
        "for more than such a share of the pairs the costs are farther apart at the later value",
        (
            _CONTENDERS,
            Parameter("along", Kind.DIMENSION, "the dimension that changes", default="size_bytes"),
            Parameter("from", Kind.VALUE, "its value before", of="along"),
            Parameter("to", Kind.VALUE, "its value after", of="along"),
            Parameter("share_percent", Kind.NUMBER, "more than such a share of the pairs", default=50.0),
            *_SHAPE,
        ),
        _distances_grow,
    ),
    Form(
        "outliers",
        "each of the subject is farther from the rest than anybody else",
        (
            _CONTENDERS,
            Parameter("subject", Kind.NAMES, "who stands apart", of="contenders"),
            *_SHAPE,
        ),
        _outliers,
    ),
    Form(
        "within_of_best",
        "the subject takes at most so many times what the fastest takes",
        (
            _CONTENDERS,
            Parameter("subject", Kind.NAMES, "who keeps up", of="contenders"),
            Parameter("factor", Kind.NUMBER, "at most so many times"),
            *_SHAPE,
        ),
        _within_of_best,
    ),
)
