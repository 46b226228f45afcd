"""The statistics of a paper, run on what was measured here, and the claims about them.

The tests run twice: on epoch figures, which are independent of each other because every epoch is a fresh process, and
on all samples, as the authors of such papers run them. `perbyte.stats.hypothesis` computes; this module chooses
who is compared with whom and says what such numbers are worth. With few epochs a rank test cannot become significant
however clear the difference is; with many samples it always does. A test that finds nothing therefore leaves a
claim open; it contradicts it only where the costs are shown to be alike.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Literal

from msgspec import Meta, field

from perbyte.datafile import Text
from perbyte.model import Burst, Cell, Estimate, Run
from perbyte.model.text import counted
from perbyte.stats.arrays import np
from perbyte.stats.clean import cycles_per_call, ns_per_call
from perbyte.stats.compare import compare_costs
from perbyte.stats.hypothesis import MOST_NORMAL
from perbyte.stats.samples import tabulate
from perbyte.studies.claims.form import (
    Context,
    Finding,
    Form,
    Said,
    State,
    combinations,
    grouped,
    number_of,
    share_state,
    spoken,
    state_of,
)
from perbyte.studies.evidence import EvidenceRow, EvidenceTable, many
from perbyte.studies.model import (
    GROUP,
    GroupStatistic,
    Number,
    PairStatistic,
    Selection,
    Statistics,
    Study,
    Value,
)
from perbyte.studies.wording import exact, group_name, number, percent, span

EPOCHS, SAMPLES = "epoch figures", "samples"
_LEAST_VALUES = {EPOCHS: 2, SAMPLES: 20}
_Z = 1.959963984540054  # of the 95 % interval of a normal distribution
_ALIKE = 1.05  # costs whose ratio surely lies between this and its inverse are the same for any purpose
_ENOUGH = 3  # epochs with which groups that do not overlap are significant at 5 %, even if there are only two
Values = tuple[float, ...]
Samples = dict[tuple[str, Cell], list[float]]
Members = Mapping[Value, tuple[EvidenceRow, Values]]


def compute(study: Study, table: EvidenceTable, runs: Sequence[Run]) -> Statistics | None:
    """Run the tests that the study plans, on epoch figures and on samples; None when it plans none.

    Members with too few values are left out, and so are groups with fewer than two members. Samples come from the
    directories of the runs; a run that has none is judged on its epochs alone. Raises StoreError.
    """
    plan = study.statistics
    if plan is None:
        return None
    groups: list[GroupStatistic] = []
    rows = [row for row in table.select(plan.where) if row.figure]
    samples = _samples(runs, table, {row.figure.cell for row in rows if row.figure})
    for unit in (EPOCHS, SAMPLES):
        for key, own in grouped(rows, plan.group_by):
            members: dict[Value, tuple[EvidenceRow, Values]] = {}
            for (named,), cells in grouped(own, (plan.compare,)):
                values = table.measured(cells[0]).epochs
                if unit == SAMPLES and (figure := cells[0].figure):
                    values = tuple(samples.get((cells[0].run_id, figure.cell), ()))
                if len(values) >= _LEAST_VALUES[unit] and len(cells) == 1:
                    members[named[1]] = (cells[0], values)
            if len(members) >= 2:
                groups.append(_group(key, unit, members, table, plan.compare))
    return Statistics(plan=plan, groups=tuple(groups), notes=_notes(groups, table))


def _samples(runs: Sequence[Run], table: EvidenceTable, wanted: Collection[Cell]) -> Samples:
    """Every sample of these cells as cycles (or ns) per byte, by run and cell; what cannot be a cost is left out."""
    from perbyte.store import bursts

    samples_of, cost = Samples(), cycles_per_call if table.in_cycles else ns_per_call
    for run in runs:
        if run.path is None:
            continue
        calibrations = {(learnt.process, learnt.epoch): learnt for learnt in run.calibrations}
        taken: dict[tuple[Cell, int, int], list[Burst]] = {}
        for burst in (burst for burst in bursts(run.path) if burst.cell in wanted):
            taken.setdefault((burst.cell, burst.epoch, burst.piece_bytes), []).append(burst)
        for (cell, epoch, piece_bytes), of_epoch in taken.items():
            known = calibrations.get((cell.process, epoch))
            if known and any(burst.ticks for burst in of_epoch):
                values = cost(tabulate(of_epoch), known) / (piece_bytes or cell.size_bytes or 1)
                kept = values[np.isfinite(values) & (values > 0)]
                samples_of.setdefault((run.conditions.run_id, cell), []).extend(kept.tolist())
    return samples_of


def _group(
    key: tuple[tuple[str, Value], ...], unit: str, members: Members, table: EvidenceTable, compare: str
) -> GroupStatistic:
    from perbyte.stats import hypothesis

    names = {name: row.label if compare == GROUP else str(name) for name, (row, _) in members.items()}
    whole = hypothesis.kruskal_wallis([values for _, values in members.values()])
    pairs = list(itertools.combinations(members, 2))
    normality = [
        hypothesis.shapiro_wilk(values) if unit == SAMPLES else math.nan for _, values in members.values()
    ]
    return GroupStatistic(
        group=key,
        unit=unit,
        members=tuple(names.values()),
        counts=tuple(len(values) for _, values in members.values()),
        normality=tuple(normality),
        h=whole.statistic,
        p=whole.p,
        pairs=tuple(_pair((names[a], names[b]), members[a], members[b], table, len(pairs)) for a, b in pairs),
    )


def _pair(
    names: tuple[str, str],
    first: tuple[EvidenceRow, Values],
    second: tuple[EvidenceRow, Values],
    table: EvidenceTable,
    count: int,
) -> PairStatistic:
    from perbyte.stats import hypothesis

    a, b = first[1], second[1]
    test = hypothesis.mann_whitney_u(a, b, pairs=count)
    ratio = compare_costs(table.measured(first[0]), table.measured(second[0]), table.floor).ratio
    return PairStatistic(
        first=names[0],
        second=names[1],
        u=test.statistic,
        p=test.p,
        p_corrected=test.p_bonferroni,
        cohen_d=hypothesis.cohens_d(a, b),
        cliff_delta=hypothesis.cliffs_delta(a, b),
        ratio=(ratio.value, ratio.low, ratio.high),
        ratio_decides=ratio.above(1) or ratio.below(1),
    )


def _notes(groups: Sequence[GroupStatistic], table: EvidenceTable) -> tuple[str, ...]:
    counts = {
        unit: sorted({count for group in groups if group.unit == unit for count in group.counts})
        for unit in (EPOCHS, SAMPLES)
    }
    told = {
        unit: f"{own[0]} to {own[-1]}" if len(own) > 1 else str(own[0]) if own else "no"
        for unit, own in counts.items()
    }
    notes = [
        f"Every test is run on epoch figures ({told[EPOCHS]} per cell): each epoch is a fresh process, and its figure "
        "is one independent value.",
        "A p-value shrinks with the number of values put in, whatever the difference. The ratio with its interval, "
        "compared with the noise floor, says how large the difference is.",
        "Cohen's d divides by the spread of the values. A steady machine makes that spread small and d large, so "
        "d says as much about the machine as about the algorithms; Cliff's delta only counts how often one is "
        "above the other.",
    ]
    if counts[SAMPLES]:
        notes.insert(
            1,
            f"It is also run on all samples ({told[SAMPLES]} per cell), as the authors did. Samples within an epoch "
            "depend on each other, so these p-values are too small: where samples call a pair significant and epochs "
            "do not, the run has too few independent values to confirm it.",
        )
    if counts[EPOCHS] and counts[EPOCHS][0] < 6:
        notes.append(
            f"With {counted(counts[EPOCHS][0], 'epoch')} the Mann-Whitney test has few arrangements to choose from; "
            "after Bonferroni's correction over 21 pairs it needs 6 epochs on each side to become significant at 5 %."
        )
    if table.floor is None:
        notes.append("The run has no A/A pair, so the ratios are not compared with a noise floor.")
    return tuple(notes)


def _nothing(context: Context, values: str) -> Finding:
    """The finding of a test that has nothing to work on; print has means only, and neither epochs nor samples."""
    if context.table.printed:
        return Finding(State.NOT_PRINTED, f"Print has no {values} to test.")
    return Finding(State.UNMEASURED, "No group has two members with enough values.")


def _plan_basis(_form: Form, context: Context) -> Iterator[str]:
    """Whose values are tested against each other, and within what."""
    if plan := context.study.statistics:
        cells = f" ({context.words(plan.where)})" if plan.where else ""
        within = f", within {combinations(plan.group_by)}"
        yield f"tested against each other: the values of {spoken([plan.compare])}{cells}{within}"


def _plan_groups(context: Context, *, cell: bool = False, pair: bool = False) -> str:
    plan = context.study.statistics
    names = list(plan.group_by) if plan else []
    what = f"each {plan.compare}" if plan and cell else f"pair of {plan.compare}" if plan and pair else ""
    return combinations([*names, *([what] if what else [])])


class Significant(Form, frozen=True, kw_only=True, tag="significant"):
    """A test finds a difference among all of a group, between each pair (Bonferroni), or from normality (per cell)."""

    test: Literal["kruskal-wallis", "mann-whitney", "shapiro-wilk"]
    values: Literal["epochs", "samples"] = "epochs"
    alpha: Annotated[float, Meta(gt=0, lt=1)] = 0.05

    def judge(self, context: Context) -> list[Finding]:
        """One finding per group of the study's statistics; for normality one per cell."""
        groups = _groups(context, self.where, self.values)
        if self.test == "shapiro-wilk":
            findings = [finding for group in groups for finding in self._normality(context, group)]
            return findings or [_nothing(context, self.values)]
        judge = self._kruskal if self.test == "kruskal-wallis" else self._mann_whitney
        return [judge(context, group) for group in groups] or [_nothing(context, self.values)]

    def said(self, context: Context) -> Said:
        """The rule and what contradicts it."""
        of = "all samples" if self.values == "samples" else "the epoch figures"
        name = {
            "kruskal-wallis": "Kruskal-Wallis",
            "mann-whitney": "Mann-Whitney U",
            "shapiro-wilk": "Shapiro-Wilk",
        }
        rule = f"{name[self.test]} on {of}: p below {exact(self.alpha)}"
        if self.test == "shapiro-wilk":
            first = f" (the first {MOST_NORMAL:,} where there are more)"
            return Said(f"{rule} for a cell{first}", f"p of {exact(self.alpha)} or more for a cell")
        least = f"costs surely within {exact(round(100 * (_ALIKE - 1)))} % of each other"
        pairs = " for every pair, Bonferroni's correction included" if self.test == "mann-whitney" else ""
        if pairs and self.values == "samples":
            pairs += ", and the interval of its ratio leaves 1 out"
        return Said(rule + pairs, f"p of {exact(self.alpha)} or more together with {least}")

    basis = _plan_basis

    def groups(self, context: Context) -> str:
        """The groups of the study's statistics; for normality their cells."""
        return _plan_groups(context, cell=self.test == "shapiro-wilk")

    def _normality(self, context: Context, group: GroupStatistic) -> list[Finding]:
        findings = []
        for member, count, p in zip(group.members, group.counts, group.normality, strict=True):
            if math.isnan(p):
                continue
            name = f"{context.opening(group.group)}{member}"
            sentence = f"{name}: Shapiro-Wilk on {counted(count, 'sample')} gives p = {p:.2g}."
            numbers = (Number(context.name(group.group), f"{member}, p of Shapiro-Wilk", p, p, p),)
            margin = abs(math.log(max(p, 1e-300) / self.alpha))
            findings.append(Finding(state_of(p < self.alpha, p >= self.alpha), sentence, margin, numbers))
        return findings

    def _kruskal(self, context: Context, group: GroupStatistic) -> Finding:
        least = min(group.counts)
        sentence = (
            f"{context.opening(group.group)}Kruskal-Wallis over {len(group.members)}, each with at least "
            f"{counted(least, group.unit[:-1])}, gives H = {number(group.h)}, p = {group.p:.2g}."
        )
        numbers = (Number(context.name(group.group), "p of Kruskal-Wallis", group.p, group.p, group.p),)
        margin = abs(math.log(max(group.p, 1e-300) / self.alpha))
        alike = least >= _ENOUGH and all(_alike(pair) for pair in group.pairs)
        return Finding(state_of(group.p < self.alpha, alike), sentence, margin, numbers)

    def _mann_whitney(self, context: Context, group: GroupStatistic) -> Finding:
        """Judge all pairs of a group.

        A pair contradicts the claim only where its values could have been enough and its costs are alike. Samples of an
        epoch depend on each other: a pair that they alone call different is open, since the next run may not.
        """
        counts = dict(zip(group.members, group.counts, strict=True))
        count = len(group.pairs)
        missed = [pair for pair in group.pairs if pair.p_corrected >= self.alpha]
        reachable = {
            pair: min(
                1.0, 2 / math.comb(counts[pair.first] + counts[pair.second], counts[pair.first]) * count
            )
            for pair in missed
        }
        unable = [pair for pair in missed if reachable[pair] >= self.alpha]
        worst = max(group.pairs, key=lambda pair: pair.p_corrected)
        opening = context.opening(group.group)
        chance = [pair for pair in group.pairs if group.unit == SAMPLES and not pair.ratio_decides]
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
                f"{opening}with {counted(min(group.counts), group.unit[:-1])} per cell, {len(unable)} of {count} pairs "
                f"cannot get a corrected p below {least:.2g}, however clear they are; the interval of the ratio "
                f"leaves 1 out for {apart} of {count}."
            )
        elif chance:
            sentence = (
                f"{opening}the samples call {chance[0].first} and {chance[0].second} different "
                f"(p = {chance[0].p_corrected:.2g}), whose ratio may be 1: {span(Estimate(*chance[0].ratio))}."
            )
        else:
            sentence = (
                f"{opening}the corrected p is below {exact(self.alpha)} for {count - len(missed)} of {count} pairs, "
                f"and largest for {worst.first} and {worst.second}: U = {number(worst.u)}, "
                f"p = {worst.p_corrected:.2g}."
            )
        numbers = tuple(
            Number(context.name(group.group), f"{a.first} and {a.second}, p corrected", *(a.p_corrected,) * 3)
            for a in group.pairs
        )
        margin = abs(math.log(max(worst.p_corrected, 1e-300) / self.alpha))
        return Finding(state_of(not missed and not chance, bool(alike)), sentence, margin, numbers)


class Effect(Form, frozen=True, kw_only=True, tag="effect"):
    """The effect size of each pair is above `threshold`, or larger at `to` than at `from`, or they differ.

    More pairs are more than `share_percent` of them. A pair counts one way or the other only where the intervals of
    its two effects do not overlap. Effects of a group differ where the largest is `differ` times the smallest.
    """

    effect: Literal["cohen_d", "cliff_delta"] = "cohen_d"
    values: Literal["epochs", "samples"] = "epochs"
    threshold: float | None = None
    differ: float | None = None
    along: Text = "size_bytes"
    from_: Value | None = field(name="from", default=None)
    to: Value | None = None
    share_percent: float = 50.0

    values_of: ClassVar[dict[str, str]] = {"from_": "along", "to": "along"}

    def __post_init__(self) -> None:
        self.need_one("threshold", "differ", "from_")
        self.need_one("threshold", "differ", "to")

    def judge(self, context: Context) -> list[Finding]:
        """One finding per pair, one per group, or one for the share of pairs."""
        if self.threshold is not None:
            return self._above(context, self.threshold) or [_nothing(context, self.values)]
        if self.differ is not None:
            return self._differing(context, self.differ) or [_nothing(context, self.values)]
        return [self._grows(context)]

    def said(self, context: Context) -> Said:
        """The rule and what contradicts it."""
        of = f"{self._name} of {'all samples' if self.values == 'samples' else 'the epoch figures'}"
        if self.threshold is not None:
            return Said(
                f"{of} is above {exact(self.threshold)} for a pair", f"{of} is surely below that for a pair"
            )
        if self.differ is not None:
            return Said(
                f"within a group {of} of one pair is at least {exact(self.differ)} times that of another",
                "all effects of a group are surely closer than that",
            )
        start, end = (group_name([(self.along, value or 0)]) for value in (self.from_, self.to))
        share = exact(self.share_percent)
        return Said(
            f"{of} is larger at {end} than at {start} for more than {share} % of the pairs",
            f"it is not surely larger for more than {share} % even if all open pairs are",
        )

    @property
    def single(self) -> bool:
        """True for a share of all pairs, which is one number."""
        return self.from_ is not None

    basis = _plan_basis

    def groups(self, context: Context) -> str:
        """The groups of the study's statistics; for a threshold their pairs."""
        return _plan_groups(context, pair=self.threshold is not None)

    def _above(self, context: Context, threshold: float) -> list[Finding]:
        findings = []
        for group in _groups(context, self.where, self.values):
            for (first, second), effect in self._effects(group).items():
                sentence = (
                    f"{context.opening(group.group)}{first} and {second}: {self._name} {span(effect)}; "
                    f"claimed: above {exact(threshold)}."
                )
                state = state_of(effect.above(threshold), effect.below(threshold))
                numbers = number_of(context.name(group.group), f"{first} and {second}", effect)
                findings.append(Finding(state, sentence, abs(effect.value - threshold), numbers))
        return findings

    def _differing(self, context: Context, times: float) -> list[Finding]:
        findings = []
        for group in _groups(context, self.where, self.values):
            effects = [each for each in self._effects(group).values() if math.isfinite(each.value)]
            if len(effects) < 2:
                continue
            low, high = (pick(effects, key=lambda estimate: estimate.value) for pick in (min, max))
            widest = max(estimate.high for estimate in effects) / max(
                min(estimate.low for estimate in effects), 1e-9
            )
            ratio = high.value / max(low.value, 1e-9)
            sentence = (
                f"{context.opening(group.group)}{self._name} lies between {span(low)} and {span(high)}; "
                f"claimed: {exact(times)} times apart."
            )
            apart = high.low >= times * low.high and high.low > 0  # no effect at all is not apart from itself
            state = state_of(apart, widest < times)
            largest = Estimate(ratio, ratio, ratio)
            numbers = number_of(context.name(group.group), "largest effect over smallest", largest)
            findings.append(Finding(state, sentence, abs(math.log(max(ratio, 1e-9) / times)), numbers))
        return findings

    def _grows(self, context: Context) -> Finding:
        ends: list[dict[object, dict[tuple[str, str], Estimate]]] = []
        for value in (self.from_, self.to):
            groups = _groups(context, {**self.where, self.along: value or 0}, self.values)
            if not groups:
                return _nothing(context, self.values)
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
        counts = dict(zip(group.members, group.counts, strict=True))
        return {
            (pair.first, pair.second): self._size(pair, counts[pair.first], counts[pair.second])
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


def _groups(context: Context, where: Selection, values: str) -> tuple[GroupStatistic, ...]:
    """The groups of the paper's statistics that fit."""
    groups = context.statistics.groups if context.statistics else ()
    unit = SAMPLES if values == "samples" else EPOCHS
    return tuple(
        group
        for group in groups
        if group.unit == unit
        and all(name not in where or value in many(where[name]) for name, value in group.group)
    )
