"""Forms about a ratio of costs followed along a dimension: it rises, it is extreme somewhere, it stays."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from perbyte.model import Estimate
from perbyte.stats.compare import quotient
from perbyte.stats.quantity import log_of
from perbyte.studies.claims.ratios import DENOMINATOR, NUMERATOR, SHAPE, numbers_of
from perbyte.studies.claims.standings import Pair, pairs
from perbyte.studies.claims.vocabulary import Finding, Form, Key, Kind, Parameter, Scene, State
from perbyte.studies.wording import group_name, number, percent, span

_ALONG = Parameter("along", Kind.DIMENSION, "the dimension the ratio is followed along", default="size_bytes")
_WITHIN = Parameter("within_percent", Kind.NUMBER, "how far the ratios may be apart")


def _ratio_rises(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    findings = []
    for key, series in _series(scene, p).items():
        ordered = [series[value] for value in p["order"] if value in series]
        lacking = next((pair.absent for pair in ordered if pair.absent), None)
        if lacking:
            findings.append(lacking)
            continue
        steps = [
            _against_ratio(later, earlier, p["along"], scene.floor)
            for earlier, later in itertools.pairwise(ordered)
        ]
        numbers = tuple(number_ for pair in ordered for number_ in numbers_of(pair))
        for state in (State.NO, State.OPEN, State.YES):
            at_state = [step for step in steps if step[0] is state]
            if at_state:
                _, margin, sentence = min(at_state, key=lambda step: step[1])
                findings.append(Finding(state, f"{scene.opening(key)}{sentence}", margin, numbers))
                break
    return findings


def _at_hand(series: dict[str | int, Pair]) -> dict[str | int, Pair]:
    """A series without what the quick variant leaves out, as long as there is something left to compare."""
    found = {
        value: pair
        for value, pair in series.items()
        if not (pair.absent and pair.absent.state is State.LEFT_OUT)
    }
    return found if len(found) > 1 else series


def _ratio_extremes(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    findings = []
    for key, whole in _series(scene, p).items():
        series = _at_hand(whole)
        numbers = tuple(number_ for pair in series.values() for number_ in numbers_of(pair))
        for end, name in (("smallest", p["smallest"]), ("largest", p["largest"])):
            if not name:
                continue
            lacking = next((pair.absent for pair in series.values() if pair.absent), None)
            own = series.get(name)
            if lacking or own is None or own.ratio is None:
                findings.append(
                    lacking or Finding(State.UNMEASURED, f"{scene.opening(key)}{name} has no ratio.")
                )
                continue
            leads = {
                other: _lead(pair.ratio, own.ratio, end)
                for other, pair in series.items()
                if other != name and pair.ratio
            }
            rival, lead = min(leads.items(), key=lambda item: item[1].value)
            state = State.YES if lead.above(1) else State.NO if lead.below(1) else State.OPEN
            sentence = (
                f"{scene.opening(key)}the {end} ratio of {own.first} over {own.second} is claimed for {name}, "
                f"{span(own.ratio)}; {rival} has {span(series[rival].ratio or own.ratio)}."
            )
            findings.append(Finding(state, sentence, abs(log_of(lead.value)), numbers))
    return findings


def _lead(other: Estimate, own: Estimate, end: str) -> Estimate:
    """How far `own` is ahead at its end of the scale: above 1 when it really is the smallest (largest).

    The noise floor is in both ratios already.
    """
    return quotient(other, own) if end == "smallest" else quotient(own, other)


def _series(scene: Scene, p: Mapping[str, Any]) -> dict[Key, dict[str | int, Pair]]:
    """The ratios of each group, by their value of the dimension `along`."""
    by = (*p["pair_by"], p["along"]) if p["along"] not in p["pair_by"] else p["pair_by"]
    found: dict[Key, dict[str | int, Pair]] = {}
    for pair in pairs(scene, p["numerator"], p["denominator"], {**p, "pair_by": by}):
        rest = tuple(part for part in pair.key if part[0] != p["along"])
        found.setdefault(rest, {})[dict(pair.key)[p["along"]]] = pair
    return found


def _against_ratio(later: Pair, earlier: Pair, along: str, floor: float) -> tuple[State, float, str]:
    assert later.ratio
    assert earlier.ratio
    growth = quotient(later.ratio, earlier.ratio)
    state = State.YES if growth.above(1) else State.NO if growth.below(1) else State.OPEN
    first, second = dict(earlier.key)[along], dict(later.key)[along]
    word = {State.YES: "rises", State.NO: "falls", State.OPEN: "hardly moves"}[state]
    sentence = (
        f"the ratio of {later.first} over {later.second} {word} from {number(earlier.ratio.value)} at "
        f"{group_name([(along, first)])} to {number(later.ratio.value)} at {group_name([(along, second)])}."
    )
    return state, abs(log_of(growth.value)), sentence


def _ratio_flat(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    width = 1 + p["within_percent"] / 100
    findings = []
    for key, whole in _series(scene, p).items():
        series = _at_hand(whole)
        lacking = next((pair.absent for pair in series.values() if pair.absent), None)
        if lacking:
            findings.append(lacking)
            continue
        ordered = sorted(series.items(), key=lambda item: item[1].ratio.value if item[1].ratio else 0.0)
        (least, bottom), (most, top) = ordered[0], ordered[-1]
        assert bottom.ratio
        assert top.ratio
        spread = quotient(top.ratio, bottom.ratio) if bottom is not top else Estimate(1.0, 1.0, 1.0)
        state = State.YES if spread.high <= width else State.NO if spread.low > width else State.OPEN
        sentence = (
            f"{scene.opening(key)}the ratio of {top.first} over {top.second} lies between "
            f"{number(bottom.ratio.value)} at {group_name([(p['along'], least)])} and {number(top.ratio.value)} at "
            f"{group_name([(p['along'], most)])}, {percent(spread.value - 1)} apart."
        )
        numbers = tuple(number_ for pair in series.values() for number_ in numbers_of(pair))
        findings.append(Finding(state, sentence, abs(log_of(width / spread.value)), numbers))
    return findings


FORMS = (
    Form(
        "ratio_rises",
        "a ratio grows along a dimension",
        (
            NUMERATOR,
            DENOMINATOR,
            _ALONG,
            Parameter("order", Kind.VALUES, "the values, the one of the smallest ratio first", of="along"),
            *SHAPE,
        ),
        _ratio_rises,
    ),
    Form(
        "ratio_extremes",
        "a ratio is smallest here and largest there",
        (
            NUMERATOR,
            DENOMINATOR,
            _ALONG,
            Parameter("smallest", Kind.VALUE, "where the ratio is smallest", default="", of="along"),
            Parameter("largest", Kind.VALUE, "where the ratio is largest", default="", of="along"),
            *SHAPE,
        ),
        _ratio_extremes,
    ),
    Form(
        "ratio_flat",
        "a ratio stays the same along a dimension, within so much",
        (NUMERATOR, DENOMINATOR, _ALONG, _WITHIN, *SHAPE),
        _ratio_flat,
    ),
)
