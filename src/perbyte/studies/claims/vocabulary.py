"""The closed vocabulary of claims: what a form is, what parameters it takes, and what it answers.

A study can only say what a form here can judge; a new form is code with tests, a new study is data. Forms are
declared in the modules beside this one and collected in `perbyte.studies.claims`.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from perbyte.model import Run
from perbyte.studies.evidence import GROUP, Table, Value
from perbyte.studies.model import Number, Statistics, Study
from perbyte.studies.wording import group_name

Key = tuple[tuple[str, Value], ...]


class Kind(enum.Enum):
    """What a parameter may hold."""

    DIMENSION = "the name of a dimension"
    DIMENSIONS = "a list of names of dimensions"
    SELECTION = "a table of dimension = value or list of values"
    NAMES = "a value or a list of values of the dimension"
    RANKS = "a list of values, or of lists of values that share a rank"
    VALUE = "a value of the dimension"
    VALUES = "a list of values of the dimension"
    NUMBER = "a number"
    TEXT = "a text"
    FLAG = "true or false"


class Required(enum.Enum):
    """The default of a parameter that has none."""

    REQUIRED = enum.auto()


REQUIRED = Required.REQUIRED


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a form. `of` names the parameter that holds the dimension whose values these are.

    `choices` lists the texts allowed; empty for any.
    """

    name: str
    kind: Kind
    meaning: str
    default: Any = REQUIRED
    of: str = ""
    choices: tuple[str, ...] = ()


class State(enum.Enum):
    """What one group says about a claim."""

    YES = "bears the claim out"
    NO = "contradicts the claim"
    OPEN = "leaves the claim open"
    UNMEASURED = "was not measured"
    UNPROVIDED = "is not provided"
    LEFT_OUT = "is not part of the quick variant"


def share_state(yes: int, no: int, total: int, wanted: float) -> State:
    """What a claim on more than a share `wanted` of `total` comparisons comes to, the rest of which are open."""
    if yes > wanted * total:
        return State.YES
    return State.NO if total - no <= wanted * total else State.OPEN


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


@dataclass(frozen=True, slots=True)
class Scene:
    """What a form may look at: the study, the table of its cells, the runs and the paper's statistics."""

    study: Study
    table: Table
    runs: tuple[Run, ...]
    statistics: Statistics | None

    @property
    def floor(self) -> float:
        """The noise floor that ratios are widened by; 0 where the run has none."""
        return self.table.floor or 0.0

    def name(self, key: Key) -> str:
        """A group's key in words, with the labels of groups of cells: `Camellia, nettle, 16 bytes`."""
        labels = {group.name: group.label for group in self.study.groups}
        return group_name(
            [(name, labels.get(str(value), value) if name == GROUP else value) for name, value in key]
        )

    def opening(self, key: Key) -> str:
        """The start of a sentence about a group; empty for the only group there is."""
        name = self.name(key)
        return f"{name}: " if name else ""


Judge = Callable[[Scene, Mapping[str, Any]], list[Finding]]


@dataclass(frozen=True, slots=True)
class Form:
    """One entry of the vocabulary. `judge` gives one finding per group."""

    name: str
    meaning: str
    parameters: tuple[Parameter, ...]
    judge: Judge


WHERE = Parameter("where", Kind.SELECTION, "which cells the claim is about", default={})
GROUP_BY = Parameter("group_by", Kind.DIMENSIONS, "each combination of these is judged by itself", default=())
PAIR_BY = Parameter(
    "pair_by", Kind.DIMENSIONS, "cells that agree in these are set against each other", default=()
)
AVERAGE_OVER = Parameter(
    "average_over", Kind.DIMENSIONS, "cells that differ only in these are averaged geometrically", default=()
)
BEST_OF = Parameter(
    "best_of", Kind.DIMENSIONS, "of cells that differ only in these the fastest counts", default=()
)
PER = Parameter(
    "per", Kind.TEXT, "what costs are counted per", default="byte", choices=("byte", "block", "call")
)
