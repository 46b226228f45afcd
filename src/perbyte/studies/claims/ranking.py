"""Forms about places in a field: fastest, slowest, never fastest, an order."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from perbyte.model import Estimate
from perbyte.stats.quantity import log_of
from perbyte.studies.claims.standings import Contender, missing, ratio_of, standings
from perbyte.studies.claims.vocabulary import (
    AVERAGE_OVER,
    BEST_OF,
    GROUP_BY,
    PER,
    REQUIRED,
    WHERE,
    Finding,
    Form,
    Key,
    Kind,
    Parameter,
    Scene,
    State,
)
from perbyte.studies.evidence import Value
from perbyte.studies.model import Number
from perbyte.studies.wording import number, span

_CONTENDERS = Parameter("contenders", Kind.DIMENSION, "the dimension whose values compete")
_SUBJECT = Parameter("subject", Kind.NAMES, "who is claimed to win", of="contenders")
_AMONG = Parameter("among", Kind.NAMES, "who takes part; everybody if absent", default=(), of="contenders")
_SHAPE = (WHERE, GROUP_BY, AVERAGE_OVER, BEST_OF, PER)


def _fastest(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    return [_extreme(scene, p, key, field, slow=False) for key, field in _fields(scene, p)]


def _slowest(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    return [_extreme(scene, p, key, field, slow=True) for key, field in _fields(scene, p)]


def _never_fastest(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    findings = []
    for key, field in _fields(scene, p):
        found = _extreme(scene, p, key, field, slow=False)
        turned = {State.YES: State.NO, State.NO: State.YES}.get(found.state, found.state)
        findings.append(Finding(turned, found.sentence, found.margin, found.numbers))
    return findings


def _ordering(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    return [_ordered(scene, p, key, field) for key, field in _fields(scene, p)]


def _fields(scene: Scene, p: Mapping[str, Any]) -> list[tuple[Key, dict[Value, Contender]]]:
    """The groups in which somebody of the subject takes part, each with those who compete there."""
    ranks = p.get("order", ())
    wanted = p.get("among") or tuple(name for rank in ranks for name in rank)
    subject = p.get("subject", wanted)
    found = []
    for key, everybody in standings(scene, p).items():
        field = {
            name: one for name, one in everybody.items() if not wanted or name in wanted or name in subject
        }
        if any(name in field for name in subject) and len(field) > 1:
            found.append((key, field))
    return found


def _extreme(
    scene: Scene, p: Mapping[str, Any], key: Key, field: dict[Value, Contender], *, slow: bool
) -> Finding:
    """Judge whether the best of the subject stands before everybody else (behind, if `slow`)."""
    own = [one for name, one in field.items() if name in p["subject"]]
    others = [one for name, one in field.items() if name not in p["subject"]]
    present = [one for one in own if one.cost]
    rivals = [one for one in others if one.cost]
    lacking = next((one for one in [*others, *own] if not one.cost), None)
    if not present or not rivals:
        return (
            missing(scene, key, lacking)
            if lacking
            else Finding(State.UNMEASURED, f"{scene.opening(key)}nobody to compare.")
        )
    pick = max if slow else min
    champion = pick(present, key=_value)
    leads = {one.name: _lead(scene, champion, one, slow=slow) for one in rivals}
    rival = min(rivals, key=lambda one: leads[one.name].value)
    lead = leads[rival.name]
    numbers = _numbers(scene, p, key, [champion, *rivals])
    beaten = [
        one for one in rivals if leads[one.name].below(1.0) and _all_behind(scene, one, present, slow=slow)
    ]
    if beaten and len(present) == len(own):
        winner = min(beaten, key=lambda one: leads[one.name].value)
        back = _lead(scene, winner, champion, slow=slow)
        return Finding(State.NO, _said(scene, p, key, winner, champion, back, slow), _margin(back), numbers)
    if all(one.above(1.0) for one in leads.values()):
        if lacking:
            return missing(scene, key, lacking)
        return Finding(State.YES, _said(scene, p, key, champion, rival, lead, slow), _margin(lead), numbers)
    undecided = [one for one in rivals if not leads[one.name].above(1.0)]
    rival = min(undecided, key=lambda one: leads[one.name].value)
    lead = leads[rival.name]
    sentence = (
        f"{scene.opening(key)}{champion.label} and {rival.label} cannot be told apart: "
        f"{_cost(scene, champion)} against {_cost(scene, rival)}, ratio {span(lead)}."
    )
    return Finding(State.OPEN, sentence, abs(log_of(lead.value)), numbers)


def _ordered(scene: Scene, p: Mapping[str, Any], key: Key, field: dict[Value, Contender]) -> Finding:
    ranks: list[list[Contender]] = [[field[name] for name in rank if name in field] for rank in p["order"]]
    members = [one for rank in ranks for one in rank]
    numbers = _numbers(scene, p, key, [one for one in members if one.cost])
    calls: list[tuple[State, float, str]] = []
    for place, rank in enumerate(ranks):
        for faster in rank:
            for slower in (one for later in ranks[place + 1 :] for one in later):
                if faster.cost and slower.cost:
                    calls.append(_step(scene, p, key, faster, slower))
    for state in (State.NO, State.OPEN, State.YES):
        if state is State.OPEN and (lacking := next((one for one in members if not one.cost), None)):
            return missing(scene, key, lacking)
        at_state = [call for call in calls if call[0] is state]
        if at_state:
            pick = max if state is State.NO else min
            _, margin, sentence = pick(at_state, key=lambda call: call[1])
            return Finding(state, sentence, margin, numbers)
    return Finding(State.UNMEASURED, f"{scene.opening(key)}nobody to compare.")


def _step(
    scene: Scene, p: Mapping[str, Any], key: Key, faster: Contender, slower: Contender
) -> tuple[State, float, str]:
    lead = _lead(scene, faster, slower, slow=False)
    if lead.below(1.0):
        back = _lead(scene, slower, faster, slow=False)
        return State.NO, _margin(back), _said(scene, p, key, slower, faster, back, slow=False)
    if lead.above(1.0) or p["ties"]:
        return State.YES, _margin(lead), _said(scene, p, key, faster, slower, lead, slow=False)
    sentence = (
        f"{scene.opening(key)}{faster.label} and {slower.label} cannot be told apart: ratio {span(lead)}."
    )
    return State.OPEN, abs(log_of(lead.value)), sentence


def _lead(scene: Scene, one: Contender, other: Contender, *, slow: bool) -> Estimate:
    """How many times `one` is ahead of `other`: above 1 when it is faster (slower, if `slow`)."""
    lead = ratio_of(scene, one, other) if slow else ratio_of(scene, other, one)
    assert lead is not None  # the callers keep those that have a cost
    return lead


def _all_behind(scene: Scene, rival: Contender, present: list[Contender], *, slow: bool) -> bool:
    return all(_lead(scene, rival, one, slow=slow).above(1.0) for one in present)


def _margin(lead: Estimate) -> float:
    return log_of(lead.low) if lead.low > 0 else 0.0


def _value(one: Contender) -> float:
    return one.cost.value if one.cost else math.inf


def _cost(scene: Scene, one: Contender) -> str:
    return number(_value(one))


def _said(
    scene: Scene,
    p: Mapping[str, Any],
    key: Key,
    ahead: Contender,
    behind: Contender,
    lead: Estimate,
    slow: bool,
) -> str:
    unit = f"{scene.table.unit} a {p['per']}"
    return (
        f"{scene.opening(key)}{ahead.label} is {'slower' if slow else 'faster'} than {behind.label}, "
        f"{_cost(scene, ahead)} against {_cost(scene, behind)} {unit}, {span(lead)} times."
    )


def _numbers(scene: Scene, p: Mapping[str, Any], key: Key, contenders: list[Contender]) -> tuple[Number, ...]:
    where = scene.name(key)
    return tuple(
        Number(
            where, one.label, one.cost.value, one.cost.low, one.cost.high, f"{scene.table.unit}/{p['per']}"
        )
        for one in contenders
        if one.cost
    )


FORMS = (
    Form(
        "fastest",
        "the subject (or one of them) is faster than everybody else",
        (_CONTENDERS, _SUBJECT, _AMONG, *_SHAPE),
        _fastest,
    ),
    Form(
        "slowest",
        "the subject (or one of them) is slower than everybody else",
        (_CONTENDERS, _SUBJECT, _AMONG, *_SHAPE),
        _slowest,
    ),
    Form(
        "never_fastest",
        "somebody else is faster than the subject, in every group",
        (_CONTENDERS, _SUBJECT, _AMONG, *_SHAPE),
        _never_fastest,
    ),
    Form(
        "ordering",
        "the contenders stand in this order, the fastest first",
        (
            _CONTENDERS,
            Parameter("order", Kind.RANKS, "the ranks, the fastest first", REQUIRED, of="contenders"),
            Parameter("ties", Kind.FLAG, "true: neighbours that cannot be told apart are in order", False),
            *_SHAPE,
        ),
        _ordering,
    ),
)
