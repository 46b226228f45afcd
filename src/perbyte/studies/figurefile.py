"""Reading published.csv: one line per published figure, digits as printed.

Strict on purpose: these numbers were typed from paper, and a slip here becomes a finding there. A figure that the
source prints as a placeholder keeps what stands there and says `available = no`.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from pathlib import Path

from perbyte.catalogue import load as load_catalogue
from perbyte.errors import DataRoomError, UsageError
from perbyte.stats.quantity import Unit
from perbyte.studies.cells import expand, with_contract
from perbyte.studies.fields import closest
from perbyte.studies.model import PublishedFigure, PublishedMachine

COLUMNS = (
    "id",
    "place",
    "machine",
    "library",
    "algorithm",
    "operation",
    "size_bytes",
    "value",
    "unit",
    "calls",
    "available",
    "cell",
    "note",
)
OVER = " over "


def read_published(
    path: Path, machines: tuple[PublishedMachine, ...], contract: str
) -> tuple[PublishedFigure, ...]:
    """Read all published figures; `contract` is filled in where a cell names none.

    Raises DataRoomError with file, line and column.
    """
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            lines = list(csv.reader(stream))
    except FileNotFoundError as error:
        raise DataRoomError(f"{path.name} is missing in {path.parent}", way_out=f"write {path}") from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataRoomError(f"{path} cannot be read: {error}") from error
    place = f"{path.parent.name}/{path.name}"
    if not lines or tuple(lines[0]) != COLUMNS:
        raise DataRoomError(
            f"{place}: line 1: the columns are not the right ones", way_out=f"they are: {','.join(COLUMNS)}"
        )
    known = {machine.id for machine in machines}
    figures: dict[str, PublishedFigure] = {}
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(COLUMNS):
            raise DataRoomError(
                f"{place}: line {number}: {len(line)} columns instead of {len(COLUMNS)}",
                way_out="quote texts that hold a comma; write decimal commas as points",
            )
        figure = _figure(dict(zip(COLUMNS, line, strict=True)), f"{place}: line {number}", contract, known)
        if figure.id in figures:
            raise DataRoomError(f"{place}: line {number}: id: '{figure.id}' stands there twice")
        figures[figure.id] = figure
    return tuple(figures.values())


def _figure(row: Mapping[str, str], place: str, contract: str, machines: set[str]) -> PublishedFigure:
    for column in ("id", "place", "algorithm", "operation", "value", "unit"):
        if not row[column].strip():
            raise DataRoomError(f"{place}: {column}: is empty")
    if row["machine"] not in machines:
        raise DataRoomError(
            f"{place}: machine: there is no '{row['machine']}' in study.toml",
            way_out=closest(row["machine"], machines),
        )
    if row["unit"] not in {unit.value for unit in Unit}:
        raise DataRoomError(
            f"{place}: unit: '{row['unit']}' is not a unit", way_out=f"there are: {', '.join(Unit)}"
        )
    if row["available"] not in ("yes", "no"):
        raise DataRoomError(f"{place}: available: '{row['available']}' is neither yes nor no")
    available = row["available"] == "yes"
    return PublishedFigure(
        id=row["id"],
        place=row["place"],
        machine=row["machine"],
        library=row["library"],
        algorithm=row["algorithm"],
        operation=row["operation"],
        size_bytes=_whole(row["size_bytes"] or "0", f"{place}: size_bytes"),
        printed=row["value"],
        value=_value(row["value"], f"{place}: value") if available else None,
        unit=row["unit"],
        calls=_whole(row["calls"] or "1", f"{place}: calls"),
        available=available,
        cell=_cell(row["cell"], row["unit"], contract, f"{place}: cell"),
        note=row["note"],
    )


def _value(text: str, place: str) -> float:
    try:
        value = float(text)
    except ValueError as error:
        raise DataRoomError(
            f"{place}: '{text}' is not a number", way_out="write decimal commas as points"
        ) from error
    if not math.isfinite(value) or value <= 0:
        raise DataRoomError(
            f"{place}: '{text}' is not a figure above 0",
            way_out="where the source prints a zero for 'not available', say available = no",
        )
    return value


def _whole(text: str, place: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise DataRoomError(f"{place}: '{text}' is not a whole number")
    return int(text)


def _cell(text: str, unit: str, contract: str, place: str) -> str:
    sides = [side.strip() for side in text.split(OVER)] if text.strip() else []
    if (sides and (len(sides) == 2) != (unit == Unit.RATIO)) or len(sides) > 2:
        raise DataRoomError(
            f"{place}: a ratio stands for two cells, every other figure for one",
            way_out="write a ratio as `CELL over CELL`",
        )
    full = [with_contract(side, contract) for side in sides]
    for side in full:
        try:
            expand(side, load_catalogue())
        except UsageError as error:
            raise DataRoomError(f"{place}: {error}", way_out=error.way_out) from error
    return OVER.join(full)
