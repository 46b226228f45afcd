"""Reads `history.toml`: which algorithms make one line of the history, and what explains the jumps in it.

An explanation is words tied to points: each of its steps names the two it goes between, a published figure
(`STUDY/FIGURE`) or today's best of a line (`today/LINE`), so that no sentence stands there without the numbers it is
about. What the numbers are is worked out in `history`; nothing here computes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from perbyte import places
from perbyte.catalogue import load as load_catalogue
from perbyte.errors import DataRoomError
from perbyte.studies.fields import Fields, closest, read_toml

HISTORY_FILE = "history.toml"
TODAY = "today"
_END = re.compile(
    r"(?P<study>[^/+\s]+)/(?P<name>[^/+\s]+)(\+cpu=(?P<cpu>[a-z]+))?(\+runner=(?P<runner>[^/+\s]+))?"
)


@dataclass(frozen=True, slots=True)
class Line:
    """Algorithms whose costs per byte belong on one line through the years.

    `kind` is `hash`, `stream cipher` or `block cipher`. `common` lines are those that several studies share; `note`
    says what is taken for the same here although it is not quite.
    """

    id: str
    name: str
    kind: str
    algorithms: tuple[str, ...]
    common: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class End:
    """One end of a step: the published figure `name` of `study`, or today's best of the line `name`.

    Of today's, `cpu` and `runner` (a glob) narrow down which; without them, the fastest outside a virtual machine.
    """

    study: str
    name: str
    cpu: str = ""
    runner: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """From one point to another. `needs`: CPU features of which today's machine must have one for it to be shown."""

    before: End
    after: End
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """What makes costs jump, in words, and the steps that show it."""

    id: str
    title: str
    text: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class HistoryFile:
    """What `history.toml` says.

    `features` are the CPU features of published machines that matter here, by (study, machine): `aes`, `sha`.
    `virtual` are globs of the runners whose code runs in a virtual machine.
    """

    lines: tuple[Line, ...]
    features: Mapping[tuple[str, str], frozenset[str]]
    virtual: tuple[str, ...]
    explanations: tuple[Explanation, ...]

    def line_of(self, algorithm: str) -> Line | None:
        """The line that an algorithm of the catalogue belongs to, or None."""
        return next((line for line in self.lines if algorithm in line.algorithms), None)


def read_history(room: Path | None = None) -> HistoryFile:
    """Read the history file of the data room `studies` (Perbyte's own by default).

    Raises DataRoomError with file, key and way out.
    """
    place = (room or places.room("studies")) / HISTORY_FILE
    fields = Fields(read_toml(place), f"{place.parent.name}/{HISTORY_FILE}")
    lines = _lines(fields)
    found = HistoryFile(
        lines=lines,
        features=_features(fields),
        virtual=fields.texts("virtual", ()),
        explanations=_explanations(fields, {line.id for line in lines}),
    )
    fields.finish()
    return found


def _lines(fields: Fields) -> tuple[Line, ...]:
    catalogue = load_catalogue().algorithms
    lines: list[Line] = []
    taken: dict[str, str] = {}
    for entry in fields.tables("lines", name="id"):
        common = entry.raw("common", False)
        if not isinstance(common, bool):
            raise entry.wrong("must be true or false", key="common")
        line = Line(
            id=entry.text("id"),
            name=entry.text("name"),
            kind=entry.text("kind"),
            algorithms=entry.texts("algorithms"),
            common=common,
            note=entry.text("note", ""),
        )
        entry.finish()
        if any(other.id == line.id for other in lines):
            raise entry.wrong("the id stands there twice", key="id", way_out="give every line its own")
        for algorithm in line.algorithms:
            if algorithm not in catalogue:
                raise entry.wrong(
                    f"there is no algorithm '{algorithm}'",
                    key="algorithms",
                    way_out=closest(algorithm, catalogue),
                )
            if algorithm in taken:
                raise entry.wrong(
                    f"'{algorithm}' is in the line '{taken[algorithm]}' as well", key="algorithms"
                )
            taken[algorithm] = line.id
        lines.append(line)
    return tuple(lines)


def _features(fields: Fields) -> Mapping[tuple[str, str], frozenset[str]]:
    found = {}
    for entry in fields.tables("machines", name="machine"):
        found[(entry.text("study"), entry.text("machine"))] = frozenset(entry.texts("has"))
        entry.finish()
    return found


def _explanations(fields: Fields, lines: set[str]) -> tuple[Explanation, ...]:
    found = []
    for entry in fields.tables("explanations", name="id"):
        steps = []
        for one in entry.tables("steps", name="from"):
            before, after = _end(one, "from", lines), _end(one, "to", lines)
            steps.append(Step(before, after, one.texts("needs", ())))
            one.finish()
        if not steps:
            raise entry.wrong(
                "no step shows it", way_out="add [[explanations.steps]]: words without numbers are not kept"
            )
        found.append(Explanation(entry.text("id"), entry.text("title"), entry.text("text"), tuple(steps)))
        entry.finish()
    return tuple(found)


def _end(entry: Fields, key: str, lines: set[str]) -> End:
    text = entry.text(key)
    found = _END.fullmatch(text)
    if not found or (found["study"] != TODAY and (found["cpu"] or found["runner"])):
        raise _wrong_end(entry, key, text)
    if found["study"] == TODAY and found["name"] not in lines:
        raise entry.wrong(
            f"there is no line '{found['name']}'", key=key, way_out=closest(found["name"], lines)
        )
    return End(found["study"], found["name"], found["cpu"] or "", found["runner"] or "")


def _wrong_end(entry: Fields, key: str, text: str) -> DataRoomError:
    return entry.wrong(
        f"'{text}' is no point",
        key=key,
        way_out="STUDY/FIGURE or today/LINE; today's may add +cpu=soft, then +runner=GLOB",
    )
