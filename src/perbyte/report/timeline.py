"""Thirty years of AES, SHA and ChaCha in cycles a byte: a table by algorithm, year and machine, with its sources.

The lines are those of the history that `history.toml` gives a family. A figure without cycles is left out and
counted. Nothing is converted or judged here.
"""

from __future__ import annotations

import dataclasses

import msgspec

from perbyte.model.text import plain
from perbyte.report.charts import Chart
from perbyte.report.history import CYCLES, history_chart, machine_name
from perbyte.report.wording import number, three_digits
from perbyte.studies.history import History, HistoryPoint, Means

_USES = {Means.SOFTWARE: "software", Means.INSTRUCTIONS: "own instructions", Means.VIRTUAL: "virtual machine"}
_HEAD = ("year", "cycles/byte", "uses", "machine", "source")


def timeline_of(history: History) -> History:
    """The part of `history` that is on a line with a family, as a history that is drawn whole."""
    lines = tuple(msgspec.structs.replace(line, common=True) for line in history.lines if line.family)
    names = {line.id for line in lines}
    points = tuple(point for point in history.points if point.line in names)
    there = {point.line for point in points if point.cycles_per_byte}
    return dataclasses.replace(
        history, lines=tuple(line for line in lines if line.id in there), points=points, explained=()
    )


def timeline_chart(history: History) -> Chart | None:
    """One picture of all these lines, a panel each on one axis of years; None where nothing has cycles."""
    return history_chart(timeline_of(history), CYCLES)


def timeline_text(history: History) -> str:
    """The table, oldest first within each line, then the sources with their citations, then what is left out."""
    part = timeline_of(history)
    blocks: list[str] = []
    used: dict[str, None] = {}
    for line in part.lines:
        points = [point for point in part.of(line) if point.cycles_per_byte]
        rows = [_HEAD, *(_row(point) for point in points)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
        used |= dict.fromkeys(point.source for point in points)
        table = [
            "  "
            + "  ".join(
                text.rjust(width) if column < 2 else text.ljust(width)
                for column, (text, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        blocks.append("\n".join([line.name, *table]))
    if not blocks:
        return "No study and no run here has cycles for these algorithms.\n"
    cited = {study.name: study.citation for study in part.studies}
    sources = [
        f"  {name}: {plain(cited.get(name, ''), 400) or 'measured, the fastest program of the run'}"
        for name in used
    ]
    lacking = sum(point.cycles_per_byte is None for point in part.points)
    left = f"\n{lacking} figures without cycles are left out: their clock is not known.\n" if lacking else ""
    return "\n\n".join([*blocks, "\n".join(["Sources", *sources])]) + "\n" + left


def _row(point: HistoryPoint) -> tuple[str, ...]:
    cost = point.cycles_per_byte
    assert cost is not None  # the caller asks first
    value = number(cost.value, cost.half_width) if point.has_interval else three_digits(cost.value)
    return str(point.year), value, _USES[point.means], machine_name(point), plain(point.source, 40)
