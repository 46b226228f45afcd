"""Claims about the paper's own statistics: significance and effect sizes.

They are judged on epoch figures, the only values of a run that are independent of each other. With few epochs a
rank test cannot become significant however clear the difference is, and one disturbed epoch can spoil it with
many. A test that finds nothing therefore leaves the claim open; it contradicts it only where the costs are shown to
be alike.
"""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Literal

from msgspec import Meta, field

from perbyte.datafile import Text
from perbyte.model import Estimate
from perbyte.studies.claims.form import Context, Finding, Form, State, number_of, share_state, state_of
from perbyte.studies.evidence import many
from perbyte.studies.model import GroupStatistic, Number, PairStatistic, Selection, Value
from perbyte.studies.wording import counted, exact, group_name, number, percent, span

_Z = 1.959963984540054  # of the 95 % interval of a normal distribution
_ALIKE = 1.05  # costs whose ratio surely lies between this and its inverse are the same for any purpose
_ENOUGH = 3  # epochs with which groups that do not overlap are significant at 5 %, even if there are only two
_NO_GROUPS = Finding(State.UNMEASURED, "no group has two members with two epoch figures each.")


class Significant(Form, frozen=True, kw_only=True, tag="significant"):
    """The test finds a difference: among all of a group, or between each pair with Bonferroni's correction."""

    test: Literal["kruskal-wallis", "mann-whitney"]
    alpha: Annotated[float, Meta(gt=0, lt=1)] = 0.05

    def judge(self, context: Context) -> list[Finding]:
        """One finding per group of the study's statistics."""
        judge = self._kruskal if self.test == "kruskal-wallis" else self._mann_whitney
        return [judge(context, group) for group in _groups(context, self.where)] or [_NO_GROUPS]

    def _kruskal(self, context: Context, group: GroupStatistic) -> Finding:
        least = min(group.epochs)
        sentence = (
            f"{context.opening(group.group)}Kruskal-Wallis over {len(group.members)}, each with "
            f"{counted(least, 'epoch figure')}, gives H = {number(group.h)}, p = {group.p:.2g}."
        )
        numbers = (Number(context.name(group.group), "p of Kruskal-Wallis", group.p, group.p, group.p),)
        margin = abs(math.log(max(group.p, 1e-300) / self.alpha))
        alike = least >= _ENOUGH and all(_alike(pair) for pair in group.pairs)
        return Finding(state_of(group.p < self.alpha, alike), sentence, margin, numbers)

    def _mann_whitney(self, context: Context, group: GroupStatistic) -> Finding:
        """Judge all pairs of a group.

        A pair contradicts the claim only where its epochs could have been enough and its costs are alike.
        """
        epochs = dict(zip(group.members, group.epochs, strict=True))
        count = len(group.pairs)
        missed = [pair for pair in group.pairs if pair.p_corrected >= self.alpha]
        reachable = {
            pair: min(
                1.0, 2 / math.comb(epochs[pair.first] + epochs[pair.second], epochs[pair.first]) * count
            )
            for pair in missed
        }
        unable = [pair for pair in missed if reachable[pair] >= self.alpha]
        worst = max(group.pairs, key=lambda pair: pair.p_corrected)
        opening = context.opening(group.group)
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
                f"{opening}with {counted(min(group.epochs), 'epoch figure')} a cell, {len(unable)} of {count} pairs "
                f"cannot get a corrected p below {least:.2g}, however clear they are; the interval of the ratio "
                f"leaves 1 out for {apart} of {count}."
            )
        else:
            sentence = (
                f"{opening}the corrected p is below {exact(self.alpha)} for {count - len(missed)} of {count} pairs, "
                f"and largest for {worst.first} and {worst.second}: U = {number(worst.u)}, "
                f"p = {worst.p_corrected:.2g}."
            )
        name = context.name(group.group)
        numbers = tuple(
            Number(name, f"{pair.first} and {pair.second}, p corrected", *(pair.p_corrected,) * 3)
            for pair in group.pairs
        )
        margin = abs(math.log(max(worst.p_corrected, 1e-300) / self.alpha))
        return Finding(state_of(not missed, bool(alike)), sentence, margin, numbers)


class Effect(Form, frozen=True, kw_only=True, tag="effect"):
    """The effect size of each pair is above `threshold`, or `grows`: larger at `to` than at `from` for more pairs.

    More pairs are more than `share_percent` of them. A pair counts one way or the other only where the intervals of
    its two effects do not overlap: an effect size divides by the scatter of a few epochs.
    """

    effect: Literal["cohen_d", "cliff_delta"] = "cohen_d"
    threshold: float | None = None
    along: Text = "size_bytes"
    from_: Value | None = field(name="from", default=None)
    to: Value | None = None
    share_percent: float = 50.0

    values_of: ClassVar[dict[str, str]] = {"from_": "along", "to": "along"}

    def __post_init__(self) -> None:
        self.need_one("threshold", "from_")
        self.need_one("threshold", "to")

    def judge(self, context: Context) -> list[Finding]:
        """One finding per pair, or one for the share of pairs."""
        if self.threshold is not None:
            return self._above(context, self.threshold) or [_NO_GROUPS]
        return [self._grows(context)]

    def _above(self, context: Context, threshold: float) -> list[Finding]:
        findings = []
        for group in _groups(context, self.where):
            for (first, second), effect in self._effects(group).items():
                sentence = (
                    f"{context.opening(group.group)}{first} and {second}: {self._name} {span(effect)}; "
                    f"claimed: above {exact(threshold)}."
                )
                state = state_of(effect.above(threshold), effect.below(threshold))
                numbers = number_of(context.name(group.group), f"{first} and {second}", effect)
                findings.append(Finding(state, sentence, abs(effect.value - threshold), numbers))
        return findings

    def _grows(self, context: Context) -> Finding:
        ends: list[dict[object, dict[tuple[str, str], Estimate]]] = []
        for value in (self.from_, self.to):
            groups = _groups(context, {**self.where, self.along: value or 0})
            if not groups:
                return _NO_GROUPS
            ends.append(
                {
                    tuple(p for p in group.group if p[0] != self.along): self._effects(group)
                    for group in groups
                }
            )
        pairs = [
            (before, after)
            for key, whole in ends[0].items()
            for name, before in whole.items()
            if (after := ends[1].get(key, {}).get(name))
        ]
        if not pairs:
            return Finding(State.UNMEASURED, "no pair was measured at both ends.")
        total, wanted = len(pairs), self.share_percent / 100
        grown = sum(after.low > before.high for before, after in pairs)
        shrunk = sum(after.high < before.low for before, after in pairs)
        start, end = (group_name([(self.along, value or 0)]) for value in (self.from_, self.to))
        sentence = (
            f"Of {counted(total, 'pair')} {self._name} is larger at {end} than at {start} for {grown} and smaller "
            f"for {shrunk}, intervals included; claimed: larger for more than {exact(100 * wanted)} %."
        )
        share = Number(
            "", "share of pairs whose effect grows", grown / total, grown / total, 1 - shrunk / total
        )
        state = share_state(grown, shrunk, total, wanted)
        return Finding(state, sentence, abs(grown / total - wanted), (share,))

    @property
    def _name(self) -> str:
        return "Cohen's d" if self.effect == "cohen_d" else "Cliff's delta"

    def _effects(self, group: GroupStatistic) -> dict[tuple[str, str], Estimate]:
        epochs = dict(zip(group.members, group.epochs, strict=True))
        return {
            (pair.first, pair.second): self._size(pair, epochs[pair.first], epochs[pair.second])
            for pair in group.pairs
        }

    def _size(self, pair: PairStatistic, first: int, second: int) -> Estimate:
        """The size of an effect with its interval: for Cohen's d the normal one of Hedges and Olkin (1985).

        Cliff's delta of a few epochs has no useful interval; its value stands alone.
        """
        value = abs(pair.cohen_d if self.effect == "cohen_d" else pair.cliff_delta)
        if self.effect != "cohen_d" or not math.isfinite(value):
            return Estimate(value, value, value)
        variance = (first + second) / (first * second) + value**2 / (2 * (first + second))
        half = _Z * math.sqrt(variance)
        return Estimate(value, max(0.0, value - half), value + half)


def _alike(pair: PairStatistic) -> bool:
    return pair.ratio[1] >= 1 / _ALIKE and pair.ratio[2] <= _ALIKE


def _groups(context: Context, where: Selection) -> tuple[GroupStatistic, ...]:
    """The groups of the paper's statistics that fit."""
    groups = context.statistics.groups if context.statistics else ()
    return tuple(
        group
        for group in groups
        if all(name not in where or value in many(where[name]) for name, value in group.group)
    )
