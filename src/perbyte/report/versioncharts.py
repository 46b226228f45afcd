"""Versions of a library beside each other: where a cost changed, and a picture of each algorithm.

A picture without two versions of one library is none.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import altair as alt

from perbyte.model import CellFigure, Estimate, Run
from perbyte.model.cell import FULL, Cell
from perbyte.model.text import natural, plain
from perbyte.report import charts, theme
from perbyte.report.charts import Chart, finished
from perbyte.report.grid import operation_order
from perbyte.report.wording import ratio_text, size_label, three_digits, value_text
from perbyte.stats.compare import SAME_WITHIN, Answer, compare
from perbyte.stats.quantity import data_bytes

_MOST_PANELS = 12
_LONGEST = 16  # letters of a version on the axis


@dataclass(frozen=True, slots=True)
class VersionChange:
    """A version at which a cell costs something else than in the version before it, as a ratio of the two."""

    before: CellFigure
    after: CellFigure
    ratio: Estimate


class Versions:
    """The cells of a run that were measured in several versions of one library, on the full tier.

    Of several runners with the same version, the first by name stands for it.
    """

    def __init__(self, run: Run) -> None:
        self.run = run

    @cached_property
    def lines(self) -> dict[tuple[str, Cell], list[CellFigure]]:
        """By library and cell (without a runner) the figures, oldest version first; at least two."""
        cells = [figure for figure in self.run.cells if figure.cell.cpu == FULL and figure.cell.usual]
        cells = [figure for figure in cells if math.isfinite(figure.per_call) and figure.per_call > 0]
        lines: dict[tuple[str, Cell], dict[str, CellFigure]] = {}
        for figure in sorted(
            cells, key=lambda figure: (figure.library, natural(figure.library_version), figure.cell)
        ):
            line = lines.setdefault((figure.library, _without_runner(figure.cell)), {})
            line.setdefault(figure.library_version, figure)
        return {key: [*line.values()] for key, line in lines.items() if len(line) > 1}

    @cached_property
    def changes(self) -> tuple[VersionChange, ...]:
        """Where one version costs something else than the one before it, largest change first.

        A change within 1 % is left out though it is known: nobody chooses by it.
        """
        changed = []
        for line in self.lines.values():
            for before, after in itertools.pairwise(line):
                comparison = compare(before, after, self.run.noise_floor)
                alike = comparison.ratio.within(1 / (1 + SAME_WITHIN), 1 + SAME_WITHIN)
                if comparison.answer in (Answer.FASTER, Answer.SLOWER) and not alike:
                    changed.append(VersionChange(before, after, comparison.ratio))
        return tuple(sorted(changed, key=lambda change: -abs(math.log(change.ratio.value))))

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithms that have a picture."""
        return tuple(dict.fromkeys(cell.algorithm for _, cell in self.lines))

    def told(self, algorithm: str) -> list[str]:
        """The changes of `algorithm` in sentences, one a version, oldest first."""
        groups: dict[tuple[str, str, str], dict[str, list[VersionChange]]] = {}
        for change in self.changes:
            if change.after.cell.algorithm == algorithm:
                key = (change.after.library, change.after.library_version, change.before.library_version)
                groups.setdefault(key, {}).setdefault(change.after.cell.operation, []).append(change)
        sizes: dict[tuple[str, str], set[int]] = {}
        for library, cell in self.lines:
            if cell.algorithm == algorithm:
                sizes.setdefault((library, cell.operation), set()).add(cell.size_bytes)
        sentences = []
        for library, after, before in sorted(groups, key=lambda key: (key[0], natural(key[1]))):
            operations = groups[library, after, before]
            parts = [
                _change_text(operation, changed, len(sizes[library, operation]))
                for operation, changed in sorted(
                    operations.items(), key=lambda item: operation_order(item[0])
                )
            ]
            sentences.append(
                f"{plain(library, 30)} {plain(after, 40)}: {', '.join(parts)} times what it did in {plain(before, 40)}"
            )
        return sentences

    def chart(self, algorithm: str) -> Chart | None:
        """The costs of `algorithm` by version: a panel a library, operation and size; changes have a ring."""
        lines = {key: line for key, line in self.lines.items() if key[1].algorithm == algorithm}
        data = [key for key in lines if data_bytes(key[1])]
        left = len(lines) - len(data) if data else 0
        lines = {key: lines[key] for key in data or lines}
        if not lines:
            return None
        changes = {(change.after.library, change.after.cell): change for change in self.changes}
        records = [
            _record(figure, changes.get((library, figure.cell)), several=len(lines) > 1)
            for library, cell in sorted(
                lines, key=lambda key: (key[0], operation_order(key[1].operation), key[1])
            )
            for figure in lines[library, cell]
        ]
        records = [record for record in records if record["unit"] == records[0]["unit"]]
        unit = f"{records[0]['unit']} per {'byte' if data else 'call'}"
        panels = list(dict.fromkeys(str(record["panel"]) for record in records))
        sentences = self.told(algorithm)
        told = [
            f"{unit}, less is better; a ring: the cost changed, to so many times that of the version before"
        ]
        if left:
            told.append(f"{left} cells without data are not drawn, the tables have them")
        if len(panels) > _MOST_PANELS:
            told.append(f"{_MOST_PANELS} of {len(panels)} panels are shown, the tables have all")
        drawn = _drawn(records, panels[:_MOST_PANELS], unit)
        return finished(drawn, _title(algorithm, lines, changed=bool(sentences)), [*told, *sentences])


def _without_runner(cell: Cell) -> Cell:
    """What is the same cell in every version; of a signature the message is no cost, so its size is left out."""
    return replace(cell, runner="", size_bytes=data_bytes(cell))


def _title(algorithm: str, lines: Mapping[tuple[str, Cell], Sequence[CellFigure]], *, changed: bool) -> str:
    versions: dict[str, set[str]] = {}
    for (library, _), line in lines.items():
        versions.setdefault(library, set()).update(figure.library_version for figure in line)
    many = " and ".join(f"{len(known)} versions of {plain(name, 30)}" for name, known in versions.items())
    if not changed:
        return f"{plain(algorithm, 40)} in {many}: no change is known"
    faster = [line[0].per_call / line[-1].per_call for line in lines.values()]
    low, high = three_digits(min(faster)), three_digits(max(faster))
    factor = low if low == high else f"{low} to {high}"
    return f"{plain(algorithm, 40)} in {many}: the newest is {factor} times as fast as the oldest"


def _change_text(operation: str, changes: Sequence[VersionChange], sizes: int) -> str:
    ratios = sorted((change.ratio for change in changes), key=lambda ratio: ratio.value)
    low, high = ratio_text(ratios[0]), ratio_text(ratios[-1])
    some = sorted({change.after.cell.size_bytes for change in changes})
    at = f" of {' and '.join(map(size_label, some))}" if len(some) < sizes else ""
    return f"{plain(operation, 20)}{at} costs {low if low == high else f'{low} to {high}'}"


def _record(figure: CellFigure, change: VersionChange | None, *, several: bool) -> dict[str, Any]:
    cell = figure.cell
    known = (figure.interval.low, figure.interval.high) if figure.interval.known else (math.nan, math.nan)
    cost = Estimate(figure.per_call, *known).scaled(per=data_bytes(cell) or 1)
    version, library = plain(figure.library_version, 80), plain(figure.library, 30)
    of = f" of {size_label(cell.size_bytes)}" if data_bytes(cell) else ""
    unit = "cycles" if figure.cycles_per_call is not None else "ns"
    changed = f", {ratio_text(change.ratio)} of that before" if change else ""
    return {
        "panel": f"{library}, {plain(cell.operation, 20)}{of}" if several else "",
        "version": version if len(version) <= _LONGEST else f"{version[: _LONGEST - 1]}…",
        "library": library,
        "unit": unit,
        **charts.spread(cost),
        "factor": f"×{ratio_text(change.ratio)}" if change else "",
        "described": f"{plain(cell.algorithm, 40)} {plain(cell.operation, 20)}{of}, "
        f"{library} {version}: {value_text(cost)} {unit}{changed}",
    }


def _drawn(records: list[dict[str, Any]], panels: Sequence[str], unit: str) -> Any:
    """Panels with axes of their own from zero: on a common one the changes of large messages would not be seen."""
    records = [record for record in records if record["panel"] in panels]
    highest: dict[str, float] = {}
    for record in records:
        highest[record["panel"]] = max(record["high"], highest.get(record["panel"], 0.0))
    for record in records:
        record["roof"] = 1.2 * highest[record["panel"]]  # room for the ring and number of the highest point
    ordered = sorted(records, key=lambda record: (record["library"], natural(record["version"])))
    versions = list(dict.fromkeys(record["version"] for record in ordered))
    x = alt.X("version:N", title=None, sort=versions, axis=alt.Axis(labelAngle=-40, grid=True))
    y = alt.Y("value:Q", title=unit, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=4, grid=True))
    base = alt.Chart().encode(x=x)
    ringed = alt.datum.factor != ""
    layers = [
        base.mark_point(opacity=0, aria=False).encode(y="roof:Q"),
        base.mark_line(strokeWidth=1.5, color=theme.MUTED, aria=False).encode(y=y),
        base.mark_rule(strokeWidth=1.5, color=theme.BLUE, aria=False).encode(y="low:Q", y2="high:Q"),
        base.mark_point(size=40, filled=True, color=theme.BLUE).encode(
            y=y, description="described:N", tooltip=charts.tooltip()
        ),
        base.mark_point(size=170, filled=False, strokeWidth=1.5, color=theme.VERMILION, aria=False)
        .encode(y=y)
        .transform_filter(ringed),
        base.mark_text(dy=-14, fontSize=10, aria=False).encode(y=y, text="factor:N").transform_filter(ringed),
    ]
    drawn = charts.curves(layers, records, panels=("panel", panels))
    return drawn.resolve_scale(x="independent", y="independent")
