"""What all forms of claims share: their keys, the findings they answer with, and the costs they compare.

A form is a subclass of `Form`: its fields are the keys a claim may have, and `judge` gives one finding per group.
Nothing is averaged or chosen unless the claim says over what: two cells where one was meant are an error of the study.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal, NamedTuple

from msgspec import Meta, field

from perbyte.datafile import Problem, Text
from perbyte.model import Estimate
from perbyte.stats.compare import Cost, compare_costs, mean_cost
from perbyte.studies.evidence import COUNTED, NOT_COUNTED, TIME, Absence, EvidenceRow, EvidenceTable, many
from perbyte.studies.model import GROUP, Claim, Number, Selection, Statistics, Study, Value, Values
from perbyte.studies.wording import group_name, listing, value_name

Key = tuple[tuple[str, Value], ...]
Dimensions = tuple[Text, ...]
Ranks = Annotated[tuple[Values, ...], Meta(min_length=2)]
_UNSPOKEN = frozenset({GROUP, "algorithm", "contract"})


class State(enum.Enum):
    """What one group says about a claim, as a verb for one and for several groups."""

    YES = ("supports the claim", "support the claim")
    NO = ("contradicts it", "contradict it")
    OPEN = ("is inconclusive", "are inconclusive")
    UNMEASURED = ("was not measured", "were not measured")
    UNPROVIDED = ("is provided by no library here", "are provided by no library here")
    LEFT_OUT = ("is not in the quick variant", "are not in the quick variant")
    NOT_PRINTED = ("is not printed", "are not printed")
    TOO_FEW = ("has too few figures", "have too few figures")

    @property
    def negated(self) -> State:
        """What the group says about the opposite of the claim."""
        return {State.YES: State.NO, State.NO: State.YES}.get(self, self)

    @property
    def set_aside(self) -> bool:
        """True where the group does not count, as long as others do: a quick run was not meant to hold it."""
        return self is State.LEFT_OUT

    @property
    def lacking(self) -> bool:
        """True where nobody can fill the gap: no library here provides it, or the text prints none or too few."""
        return self in (State.UNPROVIDED, State.NOT_PRINTED, State.TOO_FEW)


_BY_ABSENCE = {
    Absence.UNPROVIDED: State.UNPROVIDED,
    Absence.UNMEASURED: State.UNMEASURED,
    Absence.LEFT_OUT: State.LEFT_OUT,
    Absence.NOT_PRINTED: State.NOT_PRINTED,
    Absence.PRINTED_AS_LACKING: State.NOT_PRINTED,
}


def state_of(yes: bool, no: bool) -> State:
    """YES or NO where an interval decides, else OPEN."""
    return State.YES if yes else State.NO if no else State.OPEN


def share_state(yes: int, no: int, total: int, wanted: float) -> State:
    """What a claim on more than a share `wanted` of `total` comparisons comes to, the rest of which are open."""
    return state_of(yes > wanted * total, total - no <= wanted * total)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one group says, in a sentence, and by how much.

    `margin` is how far the deciding number is from where the state would change (logarithm of a ratio, or a
    difference): of several groups the one with the smallest margin is the closest call.
    """

    state: State
    sentence: str
    margin: float = 0.0
    numbers: tuple[Number, ...] = ()


class Said(NamedTuple):
    """What a form asks of one group, and what result contradicts it."""

    rule: str
    contrary: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A name with its cost, or with the reason why it has none. `measured` is the cost with its epochs.

    `struck` are the runners whose row took part in a choice of the best and has no figure; `tiers` are the CPU tiers
    of the rows that have one.
    """

    name: Value
    label: str
    measured: Cost | None
    absence: Absence | None = None
    reason: str = ""
    struck: tuple[str, ...] = ()
    tiers: tuple[str, ...] = ()

    @property
    def cost(self) -> Estimate | None:
        """The cost and the interval it lies in."""
        return self.measured.estimate if self.measured else None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two costs of one group and their ratio first / second, noise floor included; `absent` when it has none.

    `place` is the key in words; `label` what both are, without what tells them apart. In a trend of costs there is
    no second one: `alone` is the first, and `ratio` its cost.
    """

    key: Key
    place: str
    label: str
    first: str
    second: str
    ratio: Estimate | None
    absent: Finding | None = None
    alone: Candidate | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """What a claim is judged on: the study, the table of its cells, and the paper's statistics."""

    study: Study
    table: EvidenceTable
    statistics: Statistics | None

    def ratio(self, first: Candidate, second: Candidate) -> Estimate:
        """One cost over another, as everywhere: by paired epochs, never narrower than the noise floor of the run."""
        assert first.measured is not None
        assert second.measured is not None
        exact = COUNTED in (first.measured.source, second.measured.source)
        return compare_costs(second.measured, first.measured, None if exact else self.table.floor).ratio

    def name(self, key: Key) -> str:
        """A group's key in words, with the labels of groups of cells: `Camellia, nettle, 16 bytes`."""
        labels = {group.name: group.label for group in self.study.groups}
        named = [(name, labels.get(str(value), value) if name == GROUP else value) for name, value in key]
        return group_name(named)

    def words(self, where: Selection, together: Mapping[str, str] | None = None) -> str:
        """A selection in words: `AES in software, 16 bytes`; `all cells` for an empty one.

        Several values of a dimension are alternatives, unless `together` says how they become one: `the mean of`.
        """
        phrases = []
        for name, values in where.items():
            named = [self.name(((name, value),)) for value in many(values)]
            how = (together or {}).get(name, "")
            phrases.append(f"{how} {listing(named)}" if how and len(named) > 1 else " or ".join(named))
        return ", ".join(phrases) or "all cells"

    def opening(self, key: Key) -> str:
        """The start of a sentence about a group; empty for the only group there is."""
        name = self.name(key)
        return f"{name}: " if name else ""


class Form(Claim, frozen=True, kw_only=True):
    """A claim that can be judged. `where` says which cells it is about."""

    where: Selection = field(default_factory=dict)

    values_of: ClassVar[dict[str, str]] = {}
    """The keys that hold values of a dimension, with the key that holds the dimension's name."""
    limits_costs: ClassVar[bool] = False
    """True where the form can give a word of degree its limit."""

    def judge(self, context: Context) -> list[Finding]:
        """Return one finding per group, without regard to `negate`."""
        raise NotImplementedError

    def said(self, context: Context) -> Said:
        """Return what is asked of one group, and what result contradicts it; without regard to `negate`."""
        raise NotImplementedError

    def rule(self, context: Context) -> str:
        """The claim as it is judged: everything that decides, namely limits, groups, how costs are counted, cells."""
        parts = {"every": "in every one", "most": "in more than half", "some": "in at least one"}
        of = parts[self.quantifier]
        texts, groups = self.said(context), self.groups(context)
        about = f"; cells: {context.words(self.where)}" if self.where else ""
        scope = f", {of} of {groups}" if groups and not self.single else ""
        basis = "".join(f"; {part}" for part in self.basis(context))
        return f"{texts.contrary if self.negate else texts.rule}{scope}{basis}{about}"

    def refuted_by(self, context: Context) -> str:
        """The result that would refute the claim."""
        of = {"every": "one", "most": "at least half", "some": "all"}[self.quantifier]
        texts, groups = self.said(context), self.groups(context)
        scope = f", in {of} of {groups}" if groups and not self.single else ""
        return f"{texts.rule if self.negate else texts.contrary}{scope}"

    def basis(self, context: Context) -> Iterator[str]:
        """How costs come about, where that is not one cell, one cost, per byte."""
        yield from ()

    @property
    def single(self) -> bool:
        """True when one number decides, so that no group has to be named."""
        return getattr(self, "aggregate", "each") != "each"

    def groups(self, context: Context) -> str:
        """What the form looks at one after the other, in words; empty where that is one thing only."""
        each = [f"each {dimension}" for dimension in getattr(self, "each", ())]
        return combinations([*getattr(self, "by", ()), *each])

    @property
    def form(self) -> str:
        """The name of the form, as the file gives it."""
        return str(self.__struct_config__.tag)

    def mentions(self) -> Iterator[tuple[str, str, tuple[Value, ...]]]:
        """Every dimension that the claim names, with the key it is named in and the values given for it."""
        for key in ("where", "numerator", "denominator"):
            for dimension, values in (getattr(self, key, None) or {}).items():
                yield key, dimension, many(values)
        for key in ("by", "each", "average_over", "best_of"):
            for dimension in getattr(self, key, ()):
                yield key, dimension, ()
        for key, source in self.values_of.items():
            dimension = source if source == key else getattr(self, source)
            given = getattr(self, key)
            yield source, dimension, ()
            yield key.rstrip("_"), dimension, flat(given) if given is not None else ()

    def need_one(self, *keys: str) -> None:
        """Raise Problem unless exactly one of these keys is given."""
        if sum(getattr(self, key) is not None for key in keys) != 1:
            raise Problem(f"the form '{self.form}' needs one of {', '.join(keys)}", key=keys[0])


@dataclass(frozen=True, slots=True)
class Words:
    """Comparatives and superlatives of a quantity."""

    less: str
    more: str
    least: str
    most: str


OF_TIME = Words("faster", "slower", "fastest", "slowest")
OF_COUNTS = Words("lower", "higher", "lowest", "highest")


class Comparing(Form, frozen=True, kw_only=True):
    """A form that brings cells to one cost each.

    Each combination of the dimensions `by` is judged by itself. Of cells that differ only in `best_of` the fastest
    counts, cells that differ only in `average_over` are averaged geometrically. Costs are counted `per` byte, block
    or call. `of` is what a cost is of: time, or what a call executes and uses.
    """

    limits_costs: ClassVar[bool] = True

    by: Dimensions = ()
    average_over: Dimensions = ()
    best_of: Dimensions = ()
    per: Literal["byte", "block", "call"] = "byte"
    of: Literal["time", "instructions", "stack", "heap", "heap-peak", "allocations", "code"] = "time"

    @property
    def word(self) -> Words:
        """What is said of who has the least, and of who has more."""
        return OF_TIME if self.of == TIME else OF_COUNTS

    def basis(self, context: Context) -> Iterator[str]:
        """What costs are of and counted per, and how several cells become one cost."""
        if self.of != TIME:
            yield f"of {self.of.replace('-', ' ')} in place of time"
        if self.per != "byte":
            yield f"costs per {self.per}"
        if self.best_of:
            yield f"of what differs only in {spoken(self.best_of)} the {self.word.least} counts"
        if self.average_over:
            yield f"geometric means over {spoken(self.average_over)}"

    def together(self) -> dict[str, str]:
        """How several values of a dimension that a selection names become one cost."""
        return dict.fromkeys(self.best_of, f"the {self.word.least} of") | dict.fromkeys(
            self.average_over, "the geometric mean of"
        )

    def ranking(self, context: Context, dimension: str, **where: Values) -> dict[Key, dict[Value, Candidate]]:
        """One candidate per value of a dimension, in each group of `by`."""
        candidates_of: dict[Key, dict[Value, Candidate]] = {}
        for key, members in grouped(context.table.select({**self.where, **where}), self.by):
            candidates_of[key] = {}
            for (named,), own in grouped(members, (dimension,)):
                label = own[0].label if dimension == GROUP else value_name(dimension, named[1])
                candidates_of[key][named[1]] = self.reduce(context.table, own, named[1], label)
        return candidates_of

    def reduce(self, table: EvidenceTable, rows: Sequence[EvidenceRow], name: Value, label: str) -> Candidate:
        """Bring the rows of one candidate to one cost: the best of `best_of`, then the mean over `average_over`."""
        parts: list[Cost] = []
        unmeasured = (str(row.dims["runner"]) for row in rows if row.absence is Absence.UNMEASURED)
        struck = tuple(dict.fromkeys(unmeasured))
        for _, bucket in grouped(rows, self.average_over):
            if len(bucket) > 1 and not self.best_of:
                differing = sorted(d for d in bucket[0].dims if len({row.dims[d] for row in bucket}) > 1)
                raise Problem(
                    f"{label}: {len(bucket)} cells where one is meant; they differ in {', '.join(differing)}",
                    hint="name the dimension in by, each, average_over or best_of, or narrow `where`",
                )
            rows_with = [row for row in bucket if row.figure]
            if self.of != TIME:
                rows_with = [row for row in rows_with if row.counted(self.of)]
                if not rows_with and any(row.figure for row in bucket):
                    return Candidate(name, label, None, Absence.UNMEASURED, NOT_COUNTED)
            present = [table.measured(row, self.per, self.of) for row in rows_with]
            if not present:
                return Candidate(name, label, None, bucket[0].absence, bucket[0].reason)
            parts.append(min(present, key=lambda cost: cost.estimate.value))
        tiers = tuple(dict.fromkeys(str(row.dims["cpu"]) for row in rows if row.figure))
        return Candidate(name, label, mean_cost(parts), struck=struck, tiers=tiers)

    def pairs(
        self,
        context: Context,
        first: Selection,
        second: Selection,
        *,
        by: Dimensions | None = None,
        each: Dimensions = (),
    ) -> list[Pair]:
        """One pair per combination of `by` in which both sides have cells, and per combination of `each` of both."""
        by = self.by if by is None else by
        others = dict(grouped(context.table.select({**self.where, **second}), by))
        pairs, met = [], False
        for key, members in grouped(context.table.select({**self.where, **first}), by):
            met = met or key in others
            for _, own in grouped(members, each):
                for _, other in grouped(others.get(key, ()), each):
                    if own != other:
                        pairs.append(self._pair(context, key, own, other))
        if not met:
            raise Problem(
                f"no cells of the study meet in {', '.join(by) or 'anything'}",
                hint="check the selections of the claim and its `by`",
            )
        return pairs

    def _pair(self, context: Context, key: Key, own: list[EvidenceRow], other: list[EvidenceRow]) -> Pair:
        labels = [" and ".join(dict.fromkeys(row.label for row in rows)) for rows in (own, other)]
        a, b = (
            self.reduce(context.table, rows, rows[0].dims[GROUP], label)
            for rows, label in zip((own, other), labels, strict=True)
        )
        if a.label == b.label:
            apart = [name for name in own[0].dims if _values(own, name) != _values(other, name)]
            apart = [name for name in apart if name not in _UNSPOKEN] or apart
            a, b = (
                replace(candidate, label=_detailed(candidate, rows, apart))
                for candidate, rows in ((a, own), (b, other))
            )
        lack = lacking((a, b))
        absent = missing(context, key, lack) if lack else None
        ratio = None if lack else context.ratio(a, b)
        return Pair(key, context.name(key), labels[0], a.label, b.label, ratio, absent)


def spoken(names: Iterable[str]) -> str:
    """Dimensions in words: `runner, operation and size`."""
    return listing([name.replace("size_bytes", "size") for name in names])


def combinations(names: Sequence[str]) -> str:
    """What groups are told apart by, in words; empty where there is one group only."""
    if len(names) > 1:
        return f"the combinations of {spoken(names)}"
    return f"the values of {spoken(names)}" if names else ""


def missing(context: Context, key: Key, candidate: Candidate) -> Finding:
    """The finding of a group in which a candidate has no cost."""
    where = context.name(key)
    place = f" ({where})" if where else ""
    state = _BY_ABSENCE[candidate.absence or Absence.UNMEASURED]
    return Finding(state, f"{candidate.label}{place} has no figure: {candidate.reason}.")


def unfilled(context: Context, key: Key, absent: Candidate | None) -> Finding:
    """The finding of a group in which a candidate has no cost, or that has too few candidates."""
    if absent:
        return missing(context, key, absent)
    return Finding(State.UNMEASURED, f"{context.opening(key)}there is nothing to compare.")


def lacking(candidates: Iterable[Candidate]) -> Candidate | None:
    """The first candidate without a cost."""
    return next((candidate for candidate in candidates if candidate.cost is None), None)


def grouped(rows: Iterable[EvidenceRow], names: Sequence[str]) -> list[tuple[Key, list[EvidenceRow]]]:
    """Rows by their values of the dimensions `names`, in the order they come; rows without one are left out."""
    rows_of: dict[Key, list[EvidenceRow]] = {}
    for row in rows:
        key = tuple((name, row.dims[name]) for name in names if name in row.dims)
        if len(key) == len(names):
            rows_of.setdefault(key, []).append(row)
    return list(rows_of.items())


def flat(values: Values | tuple[Values, ...]) -> tuple[Value, ...]:
    """All values of a key that holds one, several, or ranks of several."""
    several = values if isinstance(values, tuple) else (values,)
    return tuple(value for values in several for value in many(values))


def numbers_of(pair: Pair) -> tuple[Number, ...]:
    """The pair's ratio as a number of the verdict."""
    return number_of(pair.place, f"{pair.first} over {pair.second}", pair.ratio) if pair.ratio else ()


def number_of(place: str, name: str, estimate: Estimate, unit: str = "") -> tuple[Number, ...]:
    """An estimate as the only number of a finding."""
    return (Number(place, name, estimate.value, estimate.low, estimate.high, unit),)


def _detailed(candidate: Candidate, rows: Sequence[EvidenceRow], names: Sequence[str]) -> str:
    """A label with what tells it from its like, `AES-CBC (encrypt)`."""
    details = [value_name(name, value) for name in names for value in _values(rows, name)]
    return f"{candidate.label} ({', '.join(details)})" if details else candidate.label


def _values(rows: Sequence[EvidenceRow], name: str) -> list[Value]:
    return list(dict.fromkeys(row.dims[name] for row in rows))
