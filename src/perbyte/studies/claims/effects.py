"""Forms about the paper's own statistics: significance and effect sizes.

They are judged on epoch figures, the only values of a run that are independent of each other. With few epochs a
rank test cannot become significant however clear the difference is, and one disturbed epoch can spoil it with
many. A test that finds nothing therefore leaves the claim open; it contradicts it only where the costs are shown to
be alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from perbyte.model import Estimate
from perbyte.studies.claims.vocabulary import WHERE, Finding, Form, Kind, Parameter, Scene, State, share_state
from perbyte.studies.evidence import Selection
from perbyte.studies.model import GroupStatistic, Number, PairStatistic
from perbyte.studies.wording import counted, exact, group_name, number, percent, span

KRUSKAL_WALLIS = "kruskal-wallis"
MANN_WHITNEY = "mann-whitney"
_EFFECTS = ("cohen_d", "cliff_delta")
_Z = 1.959963984540054  # of the 95 % interval of a normal distribution
_ALIKE = 1.05  # costs whose ratio surely lies between this and its inverse are the same for any purpose
_ENOUGH = 3  # epochs with which groups that do not overlap are significant at 5 %, even if there are only two


def _significant(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    groups = _groups(scene, p["where"])
    if isinstance(groups, Finding):
        return [groups]
    judge = _kruskal if p["test"] == KRUSKAL_WALLIS else _mann_whitney
    return [finding for group in groups for finding in judge(scene, group, p["alpha"])]


def _kruskal(scene: Scene, group: GroupStatistic, alpha: float) -> list[Finding]:
    name = scene.name(group.group)
    least = min(group.epochs)
    sentence = (
        f"{scene.opening(group.group)}Kruskal-Wallis over {len(group.members)}, each with "
        f"{counted(least, 'epoch figure')}, gives H = {number(group.h)}, p = {group.p:.2g}."
    )
    numbers = (Number(name, "p of Kruskal-Wallis", group.p, group.p, group.p),)
    if group.p < alpha:
        return [Finding(State.YES, sentence, math.log(alpha / max(group.p, 1e-300)), numbers)]
    state = State.NO if least >= _ENOUGH and all(_alike(pair) for pair in group.pairs) else State.OPEN
    return [Finding(state, sentence, math.log(max(group.p, alpha) / alpha), numbers)]


def _mann_whitney(scene: Scene, group: GroupStatistic, alpha: float) -> list[Finding]:
    """Judge all pairs of a group.

    A pair contradicts the claim only where its epochs could have been enough and its costs are alike.
    """
    epochs = dict(zip(group.members, group.epochs, strict=True))
    count = len(group.pairs)
    missed = [pair for pair in group.pairs if pair.p_corrected >= alpha]
    reachable = {
        pair: min(1.0, 2 / math.comb(epochs[pair.first] + epochs[pair.second], epochs[pair.first]) * count)
        for pair in missed
    }
    unable = [pair for pair in missed if reachable[pair] >= alpha]
    worst = max(group.pairs, key=lambda pair: pair.p_corrected)
    opening = scene.opening(group.group)
    alike = [pair for pair in missed if pair not in unable and _alike(pair)]
    if alike:
        same = max(alike, key=lambda pair: pair.p_corrected)
        sentence = (
            f"{opening}{same.first} and {same.second} differ by {percent(abs(same.ratio[0] - 1))}, at most "
            f"{percent(max(abs(end - 1) for end in same.ratio))}: U = {number(same.u)}, corrected "
            f"p = {same.p_corrected:.2g}."
        )
    elif unable:
        apart = sum(pair.ratio_decides for pair in group.pairs)
        least = min(reachable[pair] for pair in unable)
        sentence = (
            f"{opening}with {counted(min(group.epochs), 'epoch figure')} a cell, {len(unable)} of {count} pairs cannot "
            f"get a corrected p below {least:.2g}, however clear they are; the interval of the ratio leaves 1 out "
            f"for {apart} of {count}."
        )
    else:
        sentence = (
            f"{opening}the corrected p is below {exact(alpha)} for {count - len(missed)} of {count} pairs, and largest "
            f"for {worst.first} and {worst.second}: U = {number(worst.u)}, p = {worst.p_corrected:.2g}."
        )
    state = State.NO if alike else State.OPEN if missed else State.YES
    numbers = tuple(
        Number(
            scene.name(group.group), f"{pair.first} and {pair.second}, p corrected", *(pair.p_corrected,) * 3
        )
        for pair in group.pairs
    )
    margin = abs(math.log(max(worst.p_corrected, 1e-300) / alpha))
    return [Finding(state, sentence, margin, numbers)]


def _alike(pair: PairStatistic) -> bool:
    return pair.ratio[1] >= 1 / _ALIKE and pair.ratio[2] <= _ALIKE


def _effect_above(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    groups = _groups(scene, p["where"])
    if isinstance(groups, Finding):
        return [groups]
    findings = []
    for group in groups:
        epochs = dict(zip(group.members, group.epochs, strict=True))
        for pair in group.pairs:
            effect = _effect_size(pair, p["effect"], epochs[pair.first], epochs[pair.second])
            above, below = effect.above(p["threshold"]), effect.below(p["threshold"])
            sentence = (
                f"{scene.opening(group.group)}{pair.first} and {pair.second}: {_named(p['effect'])} "
                f"{span(effect)}; claimed: above {exact(p['threshold'])}."
            )
            state = State.YES if above else State.NO if below else State.OPEN
            name = f"{pair.first} and {pair.second}"
            numbers = (Number(scene.name(group.group), name, effect.value, effect.low, effect.high),)
            findings.append(Finding(state, sentence, abs(effect.value - p["threshold"]), numbers))
    return findings


def _effect_size(pair: PairStatistic, effect: str, first: int, second: int) -> Estimate:
    """The size of an effect with its interval: for Cohen's d the normal one of Hedges and Olkin (1985).

    Cliff's delta of a few epochs has no useful interval; its value stands alone.
    """
    value = abs(_effect(pair, effect))
    if effect != "cohen_d" or not math.isfinite(value):
        return Estimate(value, value, value)
    variance = (first + second) / (first * second) + value**2 / (2 * (first + second))
    half = _Z * math.sqrt(variance)
    return Estimate(value, max(0.0, value - half), value + half)


def _effect_grows(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    """Judge for what share of all pairs the effect is larger at the later value.

    A pair counts one way or the other only where the intervals of its two effects do not overlap: an effect size
    divides by the scatter of a few epochs, which the next run would find half or twice as large.
    """
    along = p["along"]
    ends = []
    for value in (p["from"], p["to"]):
        groups = _groups(scene, {**p["where"], along: (value,)})
        if isinstance(groups, Finding):
            return [groups]
        ends.append({_without(group, along): _effects(group, p["effect"]) for group in groups})
    pairs = [
        (before, after)
        for key, whole in ends[0].items()
        for name, before in whole.items()
        if (after := ends[1].get(key, {}).get(name))
    ]
    if not pairs:
        return [Finding(State.UNMEASURED, "no pair was measured at both ends.")]
    total, wanted = len(pairs), p["share_percent"] / 100
    grown = sum(after.low > before.high for before, after in pairs)
    shrunk = sum(after.high < before.low for before, after in pairs)
    state = share_state(grown, shrunk, total, wanted)
    start, end = group_name([(along, p["from"])]), group_name([(along, p["to"])])
    sentence = (
        f"Of {counted(total, 'pair')} {_named(p['effect'])} is surely larger at {end} than at {start} for {grown} and "
        f"surely smaller for {shrunk}; claimed: larger for more than {exact(100 * wanted)} %."
    )
    share = Number("", "share of pairs whose effect grows", grown / total, grown / total, 1 - shrunk / total)
    return [Finding(state, sentence, abs(grown / total - wanted), (share,))]


def _effects(group: GroupStatistic, effect: str) -> dict[tuple[str, str], Estimate]:
    epochs = dict(zip(group.members, group.epochs, strict=True))
    return {
        (pair.first, pair.second): _effect_size(pair, effect, epochs[pair.first], epochs[pair.second])
        for pair in group.pairs
    }


def _without(group: GroupStatistic, dimension: str) -> tuple[tuple[str, str | int], ...]:
    return tuple(part for part in group.group if part[0] != dimension)


def _groups(scene: Scene, where: Selection) -> tuple[GroupStatistic, ...] | Finding:
    """The groups of the paper's statistics that fit, or the finding that there are none."""
    if scene.statistics is None:
        return Finding(State.UNMEASURED, "the study plans no statistics.")
    fitting = tuple(
        group
        for group in scene.statistics.groups
        if all(name not in where or value in where[name] for name, value in group.group)
    )
    if fitting:
        return fitting
    return Finding(State.UNMEASURED, "no group has two members with two epoch figures each.")


def _effect(pair: PairStatistic, effect: str) -> float:
    return pair.cohen_d if effect == "cohen_d" else pair.cliff_delta


def _named(effect: str) -> str:
    return "Cohen's d" if effect == "cohen_d" else "Cliff's delta"


_ALPHA = Parameter("alpha", Kind.NUMBER, "the level of significance", default=0.05)
_EFFECT = Parameter("effect", Kind.TEXT, "which effect size", default="cohen_d", choices=_EFFECTS)

FORMS = (
    Form(
        "significant",
        "the test finds a difference: among all of a group, or between each pair with Bonferroni's correction",
        (
            Parameter("test", Kind.TEXT, "which test", choices=(KRUSKAL_WALLIS, MANN_WHITNEY)),
            WHERE,
            _ALPHA,
        ),
        _significant,
    ),
    Form(
        "effect_above",
        "the effect size between each pair is above a threshold",
        (_EFFECT, WHERE, Parameter("threshold", Kind.NUMBER, "the effect size must be larger")),
        _effect_above,
    ),
    Form(
        "effect_grows",
        "for more than such a share of the pairs the effect size is larger at the later value",
        (
            _EFFECT,
            WHERE,
            Parameter("along", Kind.DIMENSION, "the dimension that changes", default="size_bytes"),
            Parameter("from", Kind.VALUE, "its value before", of="along"),
            Parameter("to", Kind.VALUE, "its value after", of="along"),
            Parameter("share_percent", Kind.NUMBER, "more than such a share of the pairs", default=50.0),
        ),
        _effect_grows,
    ),
)
