"""The answer to a study's question, in words with figures, computed from a run by rules that the study's file states.

A rule looks up costs as claims do, so winners that cannot be told apart are named together; what is missing is said.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

from msgspec import field

from perbyte.catalogue import Selector
from perbyte.datafile import Problem, Text, located, one_of
from perbyte.model import Estimate
from perbyte.model.cell import FULL
from perbyte.stats.quantity import BYTES_A_SECOND, TIMES, Unit
from perbyte.studies.claims.form import Candidate, Comparing, Context, Dimensions, Finding, Pair, State
from perbyte.studies.evidence import Absence, EvidenceRow, cells_of, gather, published_run
from perbyte.studies.model import AnswerText, ComparedRow, Selection, Value, published_ns
from perbyte.studies.wording import listing, number

_UNKNOWN = "(not known here)"
_KNOWN = 0.05  # the table's "the same": what is known no better is given with its interval
_GAPS = (Absence.UNMEASURED, Absence.UNPROVIDED)
_SCALES = {**BYTES_A_SECOND, **TIMES, Unit.CALLS_PER_SECOND: 1e9, Unit.OPERATIONS_PER_SECOND: 1e9}
"""What a nanosecond per byte (or call) is in each: a throughput is this over the cost, a time this times the cost."""


class Rule(Comparing, frozen=True, kw_only=True):
    """What an answer's placeholder stands for. It shares the keys of claims that compare costs.

    With `printed`, the id of a published machine, it is about the figures that the text prints for it. `unit` is the
    author's own where that is no cost; a time in it is that of `calls` calls.
    """

    id: str = ""
    says: str = ""
    place: str = ""
    printed: str = ""
    unit: Unit | None = None
    calls: int = 1

    def __post_init__(self) -> None:
        if self.unit is not None and self.unit not in _SCALES:
            one_of(self.unit, _SCALES, "unit of an answer", "unit")

    def judge(self, context: Context) -> list[Finding]:
        """A rule judges nothing."""
        return []

    def fill(self, context: Context) -> str:
        """Return the words for the placeholder."""
        raise NotImplementedError

    def basis_of(self, context: Context) -> Context:
        """What the rule looks at: the run, or print; in time where its unit is one of time."""
        if self.printed:
            run = published_run(context.study, self.printed)
            context = replace(context, table=gather(context.study, [run]))
        if self.unit is not None:
            context = replace(context, table=replace(context.table, in_cycles=False))
        return context

    def figure(self, candidate: Candidate) -> str:
        """A cost in the rule's unit."""
        return number(self._in_unit(_cost(candidate)))

    def doubt(self, candidate: Candidate) -> str:
        """The interval of a cost that is known to `_KNOWN` or worse, in the rule's unit; else nothing."""
        cost = candidate.cost
        if cost is None or max(cost.high - cost.value, cost.value - cost.low) <= _KNOWN * cost.value:
            return ""
        low, high = sorted((self._in_unit(cost.low), self._in_unit(cost.high)))
        return f" ({number(low)} to {number(high)})"

    def _in_unit(self, cost: float) -> float:
        if self.unit is None:
            return cost
        if self.unit.more_is_better:
            return _SCALES[self.unit] / cost if cost > 0 else math.inf
        return cost * _SCALES[self.unit] * self.calls

    def mentions(self) -> Iterator[tuple[str, str, tuple[Value, ...]]]:
        """The dimensions that the rule names, and the machine that is printed."""
        yield from Comparing.mentions(self)
        if self.printed:
            yield "machines", "machines", (self.printed,)


class Ranking(Rule, frozen=True, kw_only=True):
    """A rule on the values of the dimension `candidates`, in each group of `by`."""

    candidates: Text

    def fill(self, context: Context) -> str:
        """What is told of each group of which somebody has a cost, and who has none."""
        context = self.basis_of(context)
        texts, named = [], []
        for key, everybody in self.ranking(context, self.candidates).items():
            present = [candidate for candidate in everybody.values() if candidate.cost]
            if present:
                tiers = {tier for candidate in present for tier in candidate.tiers}
                named += (
                    [(context.name(key), tiers)]
                    if self.by
                    else [(own.label, {*own.tiers}) for own in present]
                )
                told = self.told(context, present)
                texts.append(f"{context.opening(key)}{told}{_without(everybody.values())}")
        masked = "" if self.printed else _masked(named)
        return "; ".join(texts) + masked if texts else _UNKNOWN

    def told(self, context: Context, present: list[Candidate]) -> str:
        """Return the words for the candidates of a group that have a cost."""
        raise NotImplementedError

    def mentions(self) -> Iterator[tuple[str, str, tuple[Value, ...]]]:
        """The dimensions that the rule names, that of its candidates among them."""
        yield from Rule.mentions(self)
        yield "candidates", self.candidates, ()


class Best(Ranking, frozen=True, kw_only=True, tag="best"):
    """Who is fastest (slowest, with `last`), with the cost; all whose ratio to the best leaves it open are named."""

    last: bool = False

    def told(self, context: Context, present: list[Candidate]) -> str:
        """The winner, or those that cannot be told apart."""
        best = (max if self.last else min)(present, key=_cost)
        ties = [rival for rival in present if rival is not best and _open(context, rival, best)]
        named = sorted([best, *ties], key=_cost)
        text = listing(
            [f"{rival.label} ({self.figure(rival)}{_joined(self.doubt(rival))})" for rival in named]
        )
        return f"{text}, which cannot be told apart" if ties else text


class Order(Ranking, frozen=True, kw_only=True, tag="order"):
    """All candidates with their costs, the fastest first; neighbours that cannot be told apart are named together."""

    def told(self, context: Context, present: list[Candidate]) -> str:
        """Everybody with the cost, and the interval of a doubtful one."""
        ranks: list[list[Candidate]] = []
        for candidate in sorted(present, key=_cost):
            if ranks and _open(context, ranks[-1][-1], candidate):
                ranks[-1].append(candidate)
            else:
                ranks.append([candidate])
        return ", ".join(self._rank(rank) for rank in ranks)

    def _rank(self, rank: list[Candidate]) -> str:
        text = listing(
            [f"{candidate.label} {self.figure(candidate)}{self.doubt(candidate)}" for candidate in rank]
        )
        if len(rank) == 1:
            return text
        same = all(candidate.cost == rank[0].cost for candidate in rank)
        return f"{text} ({'the same' if same else 'cannot be told apart'})"


class Range(Rule, frozen=True, kw_only=True, tag="range"):
    """From the smallest to the largest of the ratios of all pairs, or their `mean`; one number where all agree."""

    numerator: Selection
    denominator: Selection
    each: Dimensions = ()
    mean: bool = False

    def fill(self, context: Context) -> str:
        """The ends of the range; `by` only says which cells are pairs."""
        pairs = self.pairs(self.basis_of(context), self.numerator, self.denominator, each=self.each)
        ratios = sorted(pair.ratio.value for pair in pairs if pair.ratio)
        if not ratios:
            return _UNKNOWN
        if self.mean:
            return number(math.fsum(ratios) / len(ratios)) + _unpaired(pairs)
        low, high = number(ratios[0]), number(ratios[-1])
        return (low if low == high else f"{low} to {high}") + _unpaired(pairs)


class GainOverPrint(Rule, frozen=True, kw_only=True, tag="gain"):
    """How many times faster this machine's fastest cell is than the figure that the text prints for `machine`.

    The smallest and the largest gain are named. A `title` makes a table of all of them too.
    """

    machine: Text
    title: str = ""

    def fill(self, context: Context) -> str:
        """The ends of the range, each with its algorithm."""
        rows = sorted(self.rows(context), key=lambda row: row[1].value)
        if not rows:
            return _UNKNOWN
        ends = [f"{number(ratio.value)} ({place})" for place, ratio, _ in (rows[0], rows[-1])]
        return (ends[0] if len(rows) == 1 else " to ".join(ends)) + _no_figure(self._unmeasured(context))

    def rows(self, context: Context) -> tuple[ComparedRow, ...]:
        """Each printed figure with a counterpart among the rule's cells: its algorithm, and the gain in time."""
        table = replace(context.table, in_cycles=False)
        gains = []
        for algorithm, ns, rows in self._counterparts(context):
            costs = [table.cost(row, "call") for row in rows if row.figure]
            if costs:
                best = min(costs, key=lambda estimate: estimate.value)
                gain = Estimate(ns / best.value, ns / best.high, ns / best.low)
                gains.append((algorithm, gain, "faster" if gain.above(1) else "slower"))
        return tuple(gains)

    def _unmeasured(self, context: Context) -> list[str]:
        """The algorithms whose counterparts have no figure, not even one."""
        return [
            algorithm
            for algorithm, _, rows in self._counterparts(context)
            if rows and not any(row.figure for row in rows)
        ]

    def _counterparts(self, context: Context) -> Iterator[tuple[str, float, list[EvidenceRow]]]:
        for published in context.study.published:
            ns = published_ns(published)
            if published.machine != self.machine or ns is None or len(published.sides) != 1:
                continue
            wanted = cells_of(published.cell)
            rows = [row for row in context.table.select(self.where) if _stands_for(row, wanted)]
            yield published.algorithm, ns, rows

    def mentions(self) -> Iterator[tuple[str, str, tuple[Value, ...]]]:
        """The dimensions that the rule names, and its machine."""
        yield from Rule.mentions(self)
        yield "machines", "machines", (self.machine,)


class Compared(Rule, frozen=True, kw_only=True, tag="compared"):
    """Whether the numerator is faster, slower or as fast as the denominator, within `within_percent`, per group.

    Where the interval of a ratio does not decide, the group is called inconclusive. A `title` makes a table too.
    """

    numerator: Selection
    denominator: Selection
    within_percent: float = 5.0
    title: str = ""

    def fill(self, context: Context) -> str:
        """The groups by outcome: `slower: AES-CBC 0.26; equal: DES-CBC; ...`."""
        places: dict[str, list[str]] = {"faster": [], "equal": [], "slower": [], "inconclusive": []}
        for place, ratio, word in self.rows(context):
            places[word].append(f"{place} ({number(ratio.value)})")
        texts = [f"{word}: {', '.join(names)}" for word, names in places.items() if names]
        if not texts:
            return _UNKNOWN
        pairs = self.pairs(self.basis_of(context), self.numerator, self.denominator)
        return "; ".join(texts) + _unpaired(pairs)

    def rows(self, context: Context) -> tuple[ComparedRow, ...]:
        """Each group with its ratio and the word for it; groups without a figure are left out."""
        width = 1 + self.within_percent / 100

        def word(ratio: Estimate) -> str:
            if ratio.below(1 / width) or ratio.above(width):
                return "faster" if ratio.below(1 / width) else "slower"
            return "equal" if ratio.within(1 / width, width) else "inconclusive"

        pairs = self.pairs(self.basis_of(context), self.numerator, self.denominator)
        return tuple((pair.place, pair.ratio, word(pair.ratio)) for pair in pairs if pair.ratio)


class AnswerSentence(AnswerText, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One sentence of an answer; `{name}` in it stands for the rule of that name in `values`, `{unit}` for the unit."""

    values: dict[str, Best | Order | Range | Compared | GainOverPrint] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            self.text.format_map({"unit": "", **dict.fromkeys(self.values, "")})
        except (KeyError, ValueError, IndexError) as error:
            raise Problem(f"the text names {error}, which is not a value", key="text") from None

    def tables(self, context: Context) -> Iterator[tuple[str, tuple[ComparedRow, ...]]]:
        """The tables of its values, by title."""
        for rule in self.values.values():
            if isinstance(rule, Compared | GainOverPrint) and rule.title and (rows := rule.rows(context)):
                yield rule.title, rows

    def fill(self, context: Context) -> str:
        """Return the sentence with its figures."""
        filled = {"unit": f"{context.table.unit} per byte"}
        for name, rule in self.values.items():
            with located(f"{context.study.name}/claims.toml: [[answers]] {name}"):
                filled[name] = rule.fill(context)
        return self.text.format_map(filled)


def _stands_for(row: EvidenceRow, wanted: Iterable[Selector]) -> bool:
    """True when a row is among the cells of `wanted`; one without a figure is so by its work alone."""
    if row.figure:
        return any(selector.matches(row.figure.cell) for selector in wanted)
    work = ("algorithm", "operation", "size_bytes", "contract")
    return any(all(row.dims[name] == getattr(selector.cell, name) for name in work) for selector in wanted)


def _without(field_: Iterable[Candidate]) -> str:
    """Which candidates, and which runners of the others, should have a figure and have none."""
    names = []
    for candidate in field_:
        label = candidate.label
        if candidate.cost:
            names += [label if label == runner else f"{label} in {runner}" for runner in candidate.struck]
        elif candidate.absence in _GAPS:
            names.append(label)
    return _no_figure(names)


def _unpaired(pairs: Iterable[Pair]) -> str:
    """Which pairs should have a ratio and have none."""
    gaps = (State.UNMEASURED, State.UNPROVIDED)
    return _no_figure(pair.place or pair.label for pair in pairs if pair.absent and pair.absent.state in gaps)


def _no_figure(names: Iterable[str]) -> str:
    several = list(dict.fromkeys(names))
    return f" (no figure: {listing(several)})" if several else ""


def _open(context: Context, candidate: Candidate, other: Candidate) -> bool:
    ratio = context.ratio(candidate, other)
    return not (ratio.above(1) or ratio.below(1))


def _masked(named: Iterable[tuple[str, set[str]]]) -> str:
    """What of these ran without instructions that the processor has: all its figures are of a lower CPU tier."""
    names: dict[str, dict[str, None]] = {}
    whole = True
    for name, tiers in named:
        if tiers and FULL not in tiers:
            names.setdefault(" and ".join(sorted(tiers)), {})[name] = None
        else:
            whole = False
    told = [
        f"{tier}: {'all' if whole and len(names) == 1 else listing(list(of))}" for tier, of in names.items()
    ]
    return f" (CPU tier {'; '.join(told)})" if told else ""


def _joined(doubt: str) -> str:
    """An interval within parentheses that are open already."""
    return doubt.replace(" (", ", ").removesuffix(")")


def _cost(candidate: Candidate) -> float:
    return candidate.cost.value if candidate.cost else float("inf")
