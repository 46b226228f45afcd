"""The values of this package: a published study as its files state it, and how its claims fared here.

What a file holds is a `msgspec.Struct`, decoded as it stands; what judging finds is a dataclass. Nothing here computes.
A published figure keeps its printed digits and its printed unit.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from perbyte.datafile import Problem, Text, no_duplicates, one_of
from perbyte.model import Estimate, Policy
from perbyte.stats.quantity import BYTES_A_SECOND, TIMES, Unit

OVER = " over "
GROUP = "group"
CELL_DIMENSIONS = ("runner", "algorithm", "operation", "size_bytes", "contract", "cpu")
Value = str | int
Values = Value | tuple[Value, ...]
Selection = dict[str, Values]
"""Which cells: a value, or several, for each dimension that matters."""
Texts = Annotated[tuple[Text, ...], Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0)]


class Outcome(enum.StrEnum):
    """How a claim fared in a run."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    INCONCLUSIVE = "inconclusive"
    NOT_TESTABLE = "not testable"


class PublishedMachine(Struct, frozen=True, forbid_unknown_fields=True):
    """A machine of the study. `clock_hz` is None where the study does not give it; `facts` are as published."""

    id: Text
    name: Text
    clock_hz: Annotated[float, Meta(gt=0)] | None = None
    facts: tuple[Text, ...] = ()


class PublishedFigure(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One published figure, a line of published.csv; digits and unit as printed (a decimal comma became a point).

    `size_bytes` is 0 where it has none; `calls` is how many operations the figure covers. `cell` is the address or
    selector of today's counterpart, two of them joined by ` over ` for a ratio, or empty where there is none.
    """

    id: Text
    place: Text
    machine: Text
    library: str = ""
    algorithm: Text
    operation: Text
    size_bytes: Count = 0
    printed: Text = field(name="value")
    unit: Unit
    calls: Count = 1
    there: Literal["yes", "no"] = field(name="available", default="yes")
    cell: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        if self.available:
            try:
                value = float(self.printed)
            except ValueError:
                hint = "write decimal commas as points"
                raise Problem(f"'{self.printed}' is not a number", key="value", hint=hint) from None
            if not math.isfinite(value) or value <= 0:
                hint = "where the source prints a zero for 'not available', say available = no"
                raise Problem(f"'{self.printed}' is not a figure above 0", key="value", hint=hint)
        if self.cell and len(self.sides) != 1 + (self.unit == Unit.RATIO):
            hint = "write a ratio as `CELL over CELL`"
            raise Problem("a ratio needs two cells, every other figure one", key="cell", hint=hint)

    @property
    def available(self) -> bool:
        """False where the source prints that there is no figure."""
        return self.there == "yes"

    @property
    def value(self) -> float | None:
        """The figure as a number; None where there is none."""
        return float(self.printed) if self.available else None

    @property
    def sides(self) -> tuple[str, ...]:
        """The selectors of its counterpart: none, one, or two for a ratio."""
        return tuple(self.cell.split(OVER)) if self.cell else ()


class CellGroup(Struct, frozen=True, forbid_unknown_fields=True):
    """Cells that the study treats as one thing, such as 'AES in software'.

    `selectors` name them in full, contract included. `quick` takes their place in the quick variant; empty leaves the
    group out of it, None means the same cells. `tags` are the dimensions that claims speak of beside those of the
    cell itself (cipher, mode, interface ...). `block_bytes` is 0 where no claim counts blocks. Without `charts` the
    group is in no chart of the study's page: it stands beside what the text compares.
    """

    name: Text
    label: Text
    selectors: Texts
    quick: tuple[Text, ...] | None = None
    tags: dict[str, Text] = {}
    block_bytes: Count = 0
    charts: bool = True

    def __post_init__(self) -> None:
        for name in self.tags:
            if name in (*CELL_DIMENSIONS, GROUP):
                raise Problem(f"'{name}' is a dimension of its own", key="tags", hint="choose another name")

    def chosen(self, *, quick: bool = False) -> tuple[str, ...]:
        """The selectors of the full or the quick variant."""
        return self.quick if quick and self.quick is not None else self.selectors


class Assumption(Struct, frozen=True, forbid_unknown_fields=True):
    """Something the study leaves open, what was taken for it here, and why."""

    what: Text
    why: Text


class StatisticsPlan(Struct, frozen=True, forbid_unknown_fields=True):
    """Which cells the paper's own tests are run on.

    Within each combination of the `group_by` dimensions, the values of the dimension `compare` are tested against
    each other. `where` narrows the cells down; empty for all.
    """

    compare: Text
    group_by: Texts
    where: Selection = {}


Overrides: Any = msgspec.defstruct(
    "Overrides",
    [(name, kind | UnsetType, UNSET) for name, kind in get_type_hints(Policy).items()],
    frozen=True,
    forbid_unknown_fields=True,
)
"""Fields of `perbyte.model.Policy` that a study sets, the others UNSET."""


class StudyFile(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What study.toml holds. `policy` and `quick` override the policy; the second applies on top of the first."""

    title: Text
    authors: Texts
    year: Count
    language: Text
    citation: Text
    question: Text
    contract: Text
    method: Texts
    assumptions: tuple[Assumption, ...] = ()
    machines: tuple[PublishedMachine, ...] = ()
    policy: Overrides = Overrides()
    quick: Overrides = Overrides()
    statistics: StatisticsPlan | None = None
    groups: Annotated[tuple[CellGroup, ...], Meta(min_length=1)] = field(name="cells")

    def __post_init__(self) -> None:
        no_duplicates([group.name for group in self.groups], "[[cells]]")
        no_duplicates([machine.id for machine in self.machines], "[[machines]]")
        if self.statistics:
            known = {*CELL_DIMENSIONS, GROUP, *(tag for group in self.groups for tag in group.tags)}
            plan = self.statistics
            for name in (plan.compare, *plan.group_by, *plan.where):
                one_of(name, known, "dimension", "[statistics]")


class Claim(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="form"):
    """One claim of the text as a checkable statement; each form of `perbyte.studies.claims` is a subclass.

    `says` is the claim in our words and `place` where it stands. `words` are those without a number, with the limits
    that `words.toml` gives them; `figures_set` are those whose limit the authors' figures set instead, and
    `other_sense` those that mean no quantity here ("the most used cipher"). `reading` says what else had to be
    decided. `about` tells what the text says from what only its tables show, from numbers of the authors' own machine,
    which another one need not share, and from questions that the text does not ask. `reading_of` is the claim that
    puts the same statement of the text to another test: the statement counts once. `quantifier` is `every`, `most`
    or `some` of the groups the form looks at; with `negate` each group must contradict the form instead of supporting
    it.
    """

    id: Text
    says: Text
    place: Text
    words: tuple[Text, ...] = ()
    figures_set: tuple[Text, ...] = ()
    other_sense: tuple[Text, ...] = ()
    reading: str = ""
    about: Literal["finding", "table", "machine", "question"] = "finding"
    reading_of: str = ""
    quantifier: Literal["every", "most", "some"] = "every"
    negate: bool = False

    @property
    def judged(self) -> bool:
        """True where a run can decide the claim."""
        return True

    @property
    def in_print_only(self) -> bool:
        """True where printed figures alone decide, so that no measurement can change the verdict."""
        return False

    @property
    def counted_as(self) -> str:
        """What the claim is counted under: `print` where printed figures alone decide it, else what it is about."""
        return "print" if self.in_print_only else self.about


ComparedRow = tuple[str, Estimate, str]
"""What was compared, the ratio of costs, and a word for it: `faster`, `slower`, `equal` or `inconclusive`."""


class SeenVerdict(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a claim came out on one core, a line of seen.csv.

    `rule` is the `rule_mark` of what it was judged by: a verdict under another rule says nothing of today's. `quick` is
    `yes` where a quick run left comparisons out.
    """

    core: Text
    run: Text
    date: Text
    claim: Text
    rule: Text
    outcome: Outcome
    quick: Literal["yes", "no"] = "no"
    evidence: str = ""


def rule_mark(rule: str) -> str:
    """Eight hex digits that a rule is recognised by."""
    return hashlib.sha256(rule.encode()).hexdigest()[:8]


class AnswerText(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A sentence of the answer to a study's question; `perbyte.studies.answers` fills its figures in."""

    text: Text


class Study(StudyFile, frozen=True, kw_only=True):
    """A published study: its file, and what lies beside it. `path` is its folder; `notes` is the text of NOTES.md."""

    name: str
    path: Path
    published: tuple[PublishedFigure, ...]
    claims: tuple[Claim, ...]
    answers: tuple[AnswerText, ...] = ()
    notes: str
    seen: tuple[SeenVerdict, ...] = ()

    def seen_elsewhere(self, verdict: Verdict, cores: Iterable[str]) -> tuple[SeenVerdict, ...]:
        """How a claim came out on other cores than these, under the rule of `verdict`; the newest of each core."""
        mark, known = rule_mark(verdict.rule), set(cores)
        rows = [row for row in self.seen if row.claim == verdict.claim.id and row.rule == mark]
        newest = {row.core: row for row in sorted(rows, key=lambda row: row.date)}
        return tuple(row for core, row in newest.items() if core not in known)

    def selectors(self, *, quick: bool = False) -> tuple[str, ...]:
        """The selectors to measure, in the order of the study's file and without repetition."""
        chosen = (selector for group in self.groups for selector in group.chosen(quick=quick))
        return tuple(dict.fromkeys(chosen))

    def measuring_policy(self, *, quick: bool = False, start: Policy | None = None) -> Policy:
        """The policy to measure with: `start` (the usual one if None) with the study's overrides."""
        policy = start or Policy()
        for overrides in (self.policy, self.quick) if quick else (self.policy,):
            fields = msgspec.structs.asdict(overrides).items()
            policy = dataclasses.replace(policy, **{name: own for name, own in fields if own is not UNSET})
        return policy

    def machine(self, id: str) -> PublishedMachine | None:
        """The published machine of that id, or None."""
        return next((machine for machine in self.machines if machine.id == id), None)


@dataclass(frozen=True, slots=True)
class Number:
    """A number that decides a verdict, with the interval it was judged by, noise floor included.

    `low` and `high` equal `value` where a number has no interval. `unit` is empty for pure ratios.
    """

    group: str
    name: str
    value: float
    low: float
    high: float
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a claim fared: the outcome, the sentences that explain it, deciding ones first, and all the numbers.

    `rule` is how it was judged and `refuted_by` the result that would refute it. Of the claim's comparisons `compared`
    were possible, `left_out` are not in the quick variant, and `not_printed` are not in the text, where print is
    judged.
    """

    claim: Claim
    outcome: Outcome
    evidence: tuple[str, ...]
    numbers: tuple[Number, ...] = ()
    rule: str = ""
    refuted_by: str = ""
    compared: int = 0
    left_out: int = 0
    not_printed: int = 0

    @property
    def partial(self) -> bool:
        """True when the verdict rests on fewer comparisons than the claim makes: those of a quick run."""
        return self.left_out > 0


@dataclass(frozen=True, slots=True)
class PairStatistic:
    """Two members of a group against each other, on epoch figures of cycles per byte.

    `p_corrected` is the Mann-Whitney p-value times the number of pairs (Bonferroni), at most 1. `ratio` is second
    over first as (value, low, high), noise floor included; `ratio_decides` is true when that interval leaves 1 out.
    """

    first: str
    second: str
    u: float
    p: float
    p_corrected: float
    cohen_d: float
    cliff_delta: float
    ratio: tuple[float, float, float]
    ratio_decides: bool


@dataclass(frozen=True, slots=True)
class GroupStatistic:
    """The paper's tests in one group, e.g. one library, operation and size.

    `unit` is what the values are (`epoch figures` or `samples`), `counts` how many of them each member has. `normality`
    are the p-values of Shapiro-Wilk (NaN for epoch figures), `h` and `p` are Kruskal-Wallis'.
    """

    group: tuple[tuple[str, Value], ...]
    unit: str
    members: tuple[str, ...]
    counts: tuple[int, ...]
    normality: tuple[float, ...]
    h: float
    p: float
    pairs: tuple[PairStatistic, ...]


@dataclass(frozen=True, slots=True)
class Statistics:
    """The paper's statistics on a run, and what a reader must know about them, in sentences."""

    plan: StatisticsPlan
    groups: tuple[GroupStatistic, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """All claims of a study judged on a run (on several, `run_id` joins their names by ` + `).

    `answers` are the sentences that answer the study's question, `tables` those that go with them, by title.
    """

    study: Study
    run_id: str
    verdicts: tuple[Verdict, ...]
    statistics: Statistics | None = None
    answers: tuple[str, ...] = ()
    tables: tuple[tuple[str, tuple[ComparedRow, ...]], ...] = ()

    def count(self, outcome: Outcome) -> int:
        """How many claims came out so, each reading of a statement by itself."""
        return sum(verdict.outcome is outcome for verdict in self.verdicts)

    def statements(self, about: str) -> dict[Outcome | None, int]:
        """How many statements counted under `about` (`Claim.counted_as`) came out so; None where readings differ."""
        verdicts: dict[str, set[Outcome]] = {}
        for verdict in self.verdicts:
            claim = verdict.claim
            if claim.counted_as == about:
                verdicts.setdefault(claim.reading_of or claim.id, set()).add(verdict.outcome)
        fared = [own.pop() if len(own) == 1 else None for own in verdicts.values()]
        return {outcome: fared.count(outcome) for outcome in (*Outcome, None) if outcome in fared}


def published_ns(figure: PublishedFigure) -> float | None:
    """Nanoseconds per call that a published figure means; None for cycles, ratios and figures that are not there."""
    if figure.value is None:
        return None
    if scale := BYTES_A_SECOND.get(figure.unit):
        return figure.size_bytes * scale / figure.value
    if scale := TIMES.get(figure.unit):
        return figure.value / scale / figure.calls
    return 1e9 / figure.value if figure.unit.more_is_better else None


def published_cycles_per_byte(figure: PublishedFigure, clock_hz: float | None) -> float | None:
    """Cycles per byte of a published figure: as printed, or from its time and the published clock.

    None without a clock, without data, or for ratios. Clocks of the time did not change by themselves; where
    they did, the study's notes say so.
    """
    if figure.unit == Unit.CYCLES_PER_BYTE:
        return figure.value
    if figure.unit == Unit.CYCLES_PER_CALL:
        return figure.value / figure.size_bytes if figure.value and figure.size_bytes else None
    ns = published_ns(figure)
    if ns is None or not clock_hz or not figure.size_bytes:
        return None
    return ns * clock_hz / 1e9 / figure.size_bytes
