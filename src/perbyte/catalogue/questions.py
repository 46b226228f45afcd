"""Questions that `perbyte advise` answers, as data: which algorithms come into question, for what, at what sizes.

A question has one task or several (TLS: records, signatures, key exchange), and each task gets an answer of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from perbyte import datafile, places
from perbyte.catalogue import pattern
from perbyte.catalogue.checking import OPERATIONS
from perbyte.catalogue.status import Use
from perbyte.datafile import Problem, Text, one_of
from perbyte.errors import UsageError
from perbyte.model import Algorithm, Contract

Positive = Annotated[float, Meta(gt=0)]
Names = Annotated[tuple[Text, ...], Meta(min_length=1)]


class Remark(Struct, frozen=True, forbid_unknown_fields=True):
    """What somebody who chooses one of `algorithms` (a glob) has to know, in sentences, and the document it is from.

    `reserve`: it stands on the card, before whoever reads no further.
    """

    algorithms: Text
    says: Text
    document: Text
    reserve: bool = False


class Preference(Struct, frozen=True, forbid_unknown_fields=True):
    """Candidates (a glob) that come before the others of equal standing whatever they cost, with the reason."""

    algorithms: Text
    says: Text
    document: Text


class Least(Struct, frozen=True, forbid_unknown_fields=True):
    """The strength that a task asks for where nobody says: bits, or NIST's category against quantum computers."""

    bits: int
    category: int


class Task(Struct, frozen=True, forbid_unknown_fields=True):
    """A choice between `algorithms` (ids, the catalogue's order does not count).

    `work` is one unit of it (called `unit`: a sector, a record): how many of each operation, by the kind of algorithm.
    `use` is what the status must allow; None where no authority has a say. `elsewhere` are names of candidates that
    the catalogue lacks, with the reason that is given. `sizes` are bytes;
    `own_sizes`: those that the user names take their place. `protocol` is the one that the work is for, whose rows of
    status count; `remarks` are said with the answer. `prefer` and `least` rank before speed does.
    """

    name: Text
    title: Text
    unit: Text
    algorithms: Names
    work: Annotated[dict[str, dict[str, Positive]], Meta(min_length=1)]
    sizes: Annotated[tuple[int, ...], Meta(min_length=1)]
    contract: Text
    use: Use | None = None
    own_sizes: bool = True
    elsewhere: dict[str, Text] = {}
    protocol: str = ""
    remarks: tuple[Remark, ...] = ()
    prefer: Preference | None = None
    least: Least | None = None

    def __post_init__(self) -> None:
        for kind, operations in self.work.items():
            one_of(kind, OPERATIONS, "kind of algorithm", "work")
            for operation in operations:
                one_of(operation, OPERATIONS[kind], f"operation of a {kind}", f"work.{kind}")
        if len(self.algorithms) != len(set(self.algorithms)):
            raise Problem("a candidate is listed twice", key="algorithms")

    def operations(self, algorithm: Algorithm) -> dict[str, float]:
        """How many of each operation of `algorithm` belong to one unit of work."""
        return self.work[algorithm.kind]

    def selector(self, runner: str, algorithm: Algorithm, sizes: Sequence[int], tiers: Sequence[str]) -> str:
        """The selector of all cells that the work needs of `algorithm`."""
        operations = pattern.any_of(self.operations(algorithm))
        options = f"+contract={self.contract}+cpu={','.join(tiers)}"
        return f"{runner}/{algorithm.id}/{operations}@{','.join(map(str, sizes))}{options}"


class Question(Struct, frozen=True, forbid_unknown_fields=True):
    """A question of `perbyte advise`. `volume_bytes` is the data under one key that is assumed where nobody says.

    `alternatives`: the tasks are ways to do one work, of which one is chosen, not parts of it. `study` names the
    published study whose question this is. `note` is said with every answer.
    """

    title: Text
    asks: Text
    tasks: Annotated[tuple[Task, ...], Meta(min_length=1)]
    volume_bytes: Positive = 1e9
    alternatives: bool = False
    study: str = ""
    note: str = ""


@cache
def questions(place: Path | None = None) -> Mapping[str, Question]:
    """Read `advise/` of a catalogue (Perbyte's own by default): questions by the stems of their files.

    Raises DataFileError.
    """
    paths = sorted((place or places.data_dir("catalogue")).glob("advise/*.toml"))
    return {path.stem: datafile.read_toml(path, Question) for path in paths}


def find_question(name: str) -> Question:
    """The question called `name`. Raises UsageError when there is none."""
    known = questions()
    if name not in known:
        raise UsageError(f"there is no question '{name}'", hint=datafile.closest(name, known))
    return known[name]


def check_questions(
    questions: Mapping[str, Question], algorithms: Mapping[str, Algorithm], contracts: Mapping[str, Contract]
) -> Iterator[str]:
    """Complain about tasks that ask for what the catalogue does not have."""
    for name, question in questions.items():
        for task in question.tasks:
            place = f"advise/{name}.toml: {task.name}"
            if task.contract not in contracts:
                yield f"{place}: there is no contract '{task.contract}'"
                continue
            for remark in task.remarks:
                if not any(pattern.matches(algorithm, remark.algorithms) for algorithm in task.algorithms):
                    yield f"{place}: a remark on '{remark.algorithms}', which is not a candidate"
            kinds = contracts[task.contract].kinds
            for member in task.algorithms:
                known = algorithms.get(member)
                if known is None:
                    yield f"{place}: the catalogue has no algorithm '{member}'"
                elif known.kind not in kinds:
                    yield f"{place}: {member} is not measured under {task.contract}"
                elif not set(task.work.get(known.kind, "?")) <= set(known.operations):
                    yield f"{place}: no work is given that {member} (a {known.kind}) can do"
                elif any(size % known.data_multiple_bytes for size in task.sizes):
                    yield f"{place}: {member} takes multiples of {known.data_multiple_bytes} bytes only"
