"""The values of this room: a published study, what it claims, and how a claim fared here.

Frozen and free of computation, like `perbyte.model`, which they stand on: the report, the command line and the
tests share them without knowing how a study is read or judged. A published figure keeps its printed
digits and its printed unit; turning it into another one is `perbyte.studies.units`' work.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perbyte.model import Policy


class Outcome(enum.StrEnum):
    """How a claim fared in a run."""

    HOLDS = "holds"
    FAILS = "does not hold"
    UNDECIDED = "cannot tell here"
    UNMEASURABLE = "not measurable here"


@dataclass(frozen=True, slots=True)
class PublishedMachine:
    """A machine of the study. `clock_hz` is None where the study does not give it; `facts` are as published."""

    id: str
    name: str
    clock_hz: float | None = None
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """One published figure, digits and unit as printed (a decimal comma became a point).

    `value` is None and `available` false where the source prints that there is none; `printed` keeps what stands
    there. `calls` is how many operations the figure covers (4,000,000 for a time over as many messages).
    `size_bytes` is 0 where it has none. `cell` is the address or selector of today's counterpart, two of them
    joined by ` over ` for a ratio, or empty where nothing here stands for it.
    """

    id: str
    place: str
    machine: str
    library: str
    algorithm: str
    operation: str
    size_bytes: int
    printed: str
    value: float | None
    unit: str
    calls: int = 1
    available: bool = True
    cell: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class CellGroup:
    """Cells that the study treats as one thing, such as 'AES in software'.

    `selectors` name them in full, contract included. `quick_selectors` take their place in the quick variant;
    an empty tuple leaves the group out of it. `tags` are the dimensions that claims speak of beside those of
    the cell itself (cipher, mode, interface ...). `block_bytes` is 0 where no claim counts blocks.
    """

    name: str
    label: str
    selectors: tuple[str, ...]
    quick_selectors: tuple[str, ...]
    tags: Mapping[str, str] = field(default_factory=dict)
    block_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Assumption:
    """Something the study leaves open, what was taken for it here, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim of the text as a checkable statement.

    `says` is the claim in our words and `place` where it stands. `form` names an entry of the vocabulary in
    `perbyte.studies.claims` and `parameters` are its parameters, already checked. `reading` says how words without
    a number were turned into one. `quantifier` is `every`, `most` or `some` of the groups the form looks at.
    """

    id: str
    says: str
    place: str
    form: str
    parameters: Mapping[str, Any]
    reading: str = ""
    quantifier: str = "every"


@dataclass(frozen=True, slots=True)
class StatisticsPlan:
    """Which cells the paper's own tests are run on.

    Within each combination of the `group_by` dimensions, the values of the dimension `compare` are tested against
    each other at the level `alpha`. `where` narrows the cells down; empty for all.
    """

    compare: str
    group_by: tuple[str, ...]
    where: Mapping[str, tuple[str | int, ...]] = field(default_factory=dict)
    alpha: float = 0.05


@dataclass(frozen=True, slots=True)
class Study:
    """A published study as data. `path` is its folder; `notes` is the text of NOTES.md.

    `policy` and `quick_policy` override fields of `perbyte.model.Policy`; the second applies on top of the first.
    """

    name: str
    path: Path
    title: str
    authors: tuple[str, ...]
    year: int
    language: str
    citation: str
    question: str
    contract: str
    method: tuple[str, ...]
    assumptions: tuple[Assumption, ...]
    machines: tuple[PublishedMachine, ...]
    groups: tuple[CellGroup, ...]
    published: tuple[PublishedFigure, ...]
    claims: tuple[Claim, ...]
    notes: str
    policy: Mapping[str, Any] = field(default_factory=dict)
    quick_policy: Mapping[str, Any] = field(default_factory=dict)
    statistics: StatisticsPlan | None = None

    def selectors(self, *, quick: bool = False) -> tuple[str, ...]:
        """The selectors to measure, in the order of the study's file and without repetition."""
        chosen = (group.quick_selectors if quick else group.selectors for group in self.groups)
        return tuple(dict.fromkeys(selector for selectors in chosen for selector in selectors))

    def measuring_policy(self, *, quick: bool = False, start: Policy | None = None) -> Policy:
        """The policy to measure with: `start` (the usual one if None) with the study's overrides."""
        overrides = {**self.policy, **(self.quick_policy if quick else {})}
        return dataclasses.replace(start or Policy(), **overrides)

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
    """How a claim fared: the outcome, the sentences that explain it, deciding ones first, and all the numbers."""

    claim: Claim
    outcome: Outcome
    evidence: tuple[str, ...]
    numbers: tuple[Number, ...] = ()


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

    `epochs` holds, per member, how many epoch figures went in. `h` and `p` are Kruskal-Wallis'.
    """

    group: tuple[tuple[str, str | int], ...]
    members: tuple[str, ...]
    epochs: tuple[int, ...]
    h: float
    p: float
    pairs: tuple[PairStatistic, ...]


@dataclass(frozen=True, slots=True)
class Statistics:
    """The paper's statistics on a run, and what a reader must know about them, in sentences."""

    plan: StatisticsPlan
    groups: tuple[GroupStatistic, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """All claims of a study judged on a run (on several, `run_id` joins their names by ` + `)."""

    study: Study
    run_id: str
    verdicts: tuple[Verdict, ...]
    statistics: Statistics | None = None

    def count(self, outcome: Outcome) -> int:
        """How many claims came out so."""
        return sum(verdict.outcome is outcome for verdict in self.verdicts)
