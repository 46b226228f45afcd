"""Forms about the paper's own statistics: significance and effect sizes.

They are judged on epoch figures, the only values of a run that are independent of each other. With few epochs a
rank test cannot become significant however clear the difference is; the sentence then says how many it would
take, and the outcome is open, not negative.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from perbyte.studies.claims.vocabulary import WHERE, Finding, Form, Kind, Parameter, Scene, State
from perbyte.studies.evidence import Selection
from perbyte.studies.model import GroupStatistic, Number, PairStatistic
from perbyte.studies.wording import counted, exact, group_name, number, percent

KRUSKAL_WALLIS = "kruskal-wallis"
MANN_WHITNEY = "mann-whitney"
_EFFECTS = ("cohen_d", "cliff_delta")
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
    state = State.NO if least >= _ENOUGH else State.OPEN
    return [Finding(state, sentence, math.log(max(group.p, alpha) / alpha), numbers)]


def _mann_whitney(scene: Scene, group: GroupStatistic, alpha: float) -> list[Finding]:
    """A pair contradicts the claim only where its epochs could have made it significant."""
    least = min(group.epochs)
    reachable = 2 / math.comb(2 * least, least) * len(group.pairs)
    findings = []
    for pair in group.pairs:
        sentence = (
            f"{scene.opening(group.group)}{pair.first} and {pair.second}: U = {number(pair.u)}, p = {pair.p:.2g}, "
            f"corrected for {len(group.pairs)} pairs {pair.p_corrected:.2g}; ratio {number(pair.ratio[0])} "
            f"({number(pair.ratio[1])} to {number(pair.ratio[2])})."
        )
        state = State.YES
        if pair.p_corrected >= alpha:
            state = State.NO if reachable < alpha else State.OPEN
        if state is State.OPEN:
            sentence += (
                f" With {counted(least, 'epoch')} each the corrected p cannot fall below {min(reachable, 1.0):.2g}; "
                f"the interval of the ratio {'leaves 1 out' if pair.ratio_decides else 'does not leave 1 out either'}."
            )
        margin = abs(math.log(max(pair.p_corrected, 1e-300) / alpha))
        number_ = Number(
            scene.name(group.group), f"{pair.first} and {pair.second}, p corrected", *(pair.p_corrected,) * 3
        )
        findings.append(Finding(state, sentence, margin, (number_,)))
    return findings


def _effect_above(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    groups = _groups(scene, p["where"])
    if isinstance(groups, Finding):
        return [groups]
    findings = []
    for group in groups:
        for pair in group.pairs:
            effect = abs(_effect(pair, p["effect"]))
            sentence = (
                f"{scene.opening(group.group)}{pair.first} and {pair.second}: {_named(p['effect'])} {number(effect)}; "
                f"claimed: above {exact(p['threshold'])}."
            )
            state = State.YES if effect > p["threshold"] else State.NO
            numbers = (
                Number(scene.name(group.group), f"{pair.first} and {pair.second}", effect, effect, effect),
            )
            findings.append(Finding(state, sentence, abs(effect - p["threshold"]), numbers))
    return findings


def _effect_grows(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    """Judge what share of the pairs has the larger effect at the later value, by Wilson's interval."""
    along = p["along"]
    ends: list[dict[tuple[Any, ...], float]] = []
    for value in (p["from"], p["to"]):
        groups = _groups(scene, {**p["where"], along: (value,)})
        if isinstance(groups, Finding):
            return [groups]
        ends.append(
            {
                (*(part for part in group.group if part[0] != along), pair.first, pair.second): abs(
                    _effect(pair, p["effect"])
                )
                for group in groups
                for pair in group.pairs
            }
        )
    before, after = ends
    both = [key for key in before if key in after]
    if not both:
        return [Finding(State.UNMEASURED, "no pair was measured at both ends.")]
    grown = sum(after[key] > before[key] for key in both)
    low, high = wilson(grown, len(both))
    wanted = p["share_percent"] / 100
    state = State.YES if low > wanted else State.NO if high < wanted else State.OPEN
    start, end = group_name([(along, p["from"])]), group_name([(along, p["to"])])
    sentence = (
        f"{_named(p['effect'])} is larger at {end} than at {start} for {grown} of {counted(len(both), 'pair')}, "
        f"{percent(grown / len(both))} ({percent(low)} to {percent(high)}); claimed: more than {exact(100 * wanted)} %."
    )
    numbers = (Number("", "share of pairs whose effect grows", grown / len(both), low, high),)
    return [Finding(state, sentence, abs(grown / len(both) - wanted), numbers)]


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share (E. B. Wilson 1927). `trials` must be positive."""
    z = 1.959963984540054
    share, spread = successes / trials, z * z / trials
    centre = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / trials + spread / (4 * trials))
    return max(0.0, centre - half), min(1.0, centre + half)


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
