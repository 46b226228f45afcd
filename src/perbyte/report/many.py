"""Which libraries and records are shown where there are many: the five fastest, one's own; the others are folded.

Nothing is dropped: pages fold rows that a click unfolds, charts (`Chosen`) say how many they leave out, a terminal's
table says how many follow, how far they reach, and who has them. Up to a dozen libraries stand as they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from perbyte import places
from perbyte.model.text import plain
from perbyte.report.grid import Grid, GridRow, without_software
from perbyte.report.runview import Points
from perbyte.report.wording import three_digits
from perbyte.stats.quantity import read

MANY = 12  # libraries of one algorithm, above which it is folded
FIRST = 5


@cache
def is_own(runner: str) -> bool:
    """True for a runner that is none of Perbyte's: the reader's own."""
    try:
        return not (places.data_dir("runners") / runner).is_dir()
    except (OSError, ValueError):
        return False


def first_names(costs: Mapping[str, Mapping[Any, float]]) -> tuple[str, ...]:
    """The names that stand first, the fastest five, then one's own: by the mean of how far each is behind.

    `costs` are by name and column. A name lacks a column where it has no figure; it is compared in those that it has.
    """
    best = _best(costs)

    def behind(name: str) -> tuple[float, float]:
        logs = [math.log(cost / best[column]) for column, cost in costs[name].items()]
        return (math.fsum(logs) / len(logs) if logs else math.inf, -len(logs))

    ordered = sorted(costs, key=behind)
    return (*ordered[:FIRST], *(name for name in ordered[FIRST:] if is_own(name)))


def _best(costs: Mapping[str, Mapping[Any, float]]) -> dict[Any, float]:
    best: dict[Any, float] = {}
    for of_name in costs.values():
        for column, cost in of_name.items():
            best[column] = min(cost, best.get(column, math.inf))
    return best


def rows_in_order(grid: Grid) -> list[tuple[GridRow, bool]]:
    """All rows by heading, of a heading with many those that stand first before the others; True for a folded one.

    Nothing is folded where rows are no rivals.
    """
    ordered: list[tuple[GridRow, bool]] = []
    for _, rows in grid.groups():
        if grid.baseline or grid.ranked_within != "algorithm" or len(rows) <= MANY:
            ordered += [(row, False) for row in rows]
            continue
        row_of = {row.label: row for row in rows}
        first = first_names({label: _costs(grid, row) for label, row in row_of.items()})
        ordered += [(row_of[label], False) for label in first]
        ordered += [(row, True) for row in rows if row.label not in first]
    return ordered


def without_folded(grid: Grid) -> Grid:
    """The grid with the rows that a terminal's table shows."""
    return replace(grid, rows=tuple(row for row, is_folded in rows_in_order(grid) if not is_folded))


def rest_texts(grid: Grid) -> list[str]:
    """What a table without the folded rows has to say of them, a sentence for each heading."""
    texts = []
    folded = {id(row) for row, is_folded in rows_in_order(grid) if is_folded}
    for heading, every in grid.groups():
        rows = [row for row in every if id(row) in folded]
        if not rows:
            continue
        costs = {row.label: _costs(grid, row) for row in every}
        best = _best(costs)
        ratios = [cost / best[column] for row in rows for column, cost in costs[row.label].items()]
        reach = (
            f", ×{three_digits(min(ratios))} to ×{three_digits(max(ratios))} of the fastest" if ratios else ""
        )
        texts.append(
            f"{plain(heading, 60)}: {len(rows)} more libraries{reach}; --csv, --json and perbyte report have them"
        )
    return texts


def _costs(grid: Grid, row: GridRow) -> dict[Any, float]:
    """What a row costs by column, as far as it has figures in the grid's unit."""
    costs: dict[Any, float] = {}
    for column, entry in zip(grid.columns, row.entries, strict=True):
        reading = read(entry.figure, grid.unit) if entry.figure else None
        if reading and reading.value > 0:
            costs[column] = 1 / reading.value if grid.unit.more_is_better else reading.value
    return costs


_MOST_SERIES = 24


class Chosen:
    """Copies of the records of `points` (or of the given ones), of which each step leaves some out.

    Each step has a name, under which `told` says what it left out: `tiers`, `libraries`, `series`, `sizes`.
    """

    def __init__(self, points: Points, records: Iterable[Mapping[str, Any]] | None = None) -> None:
        self.points = points
        self.records = [dict(record) for record in (points.records if records is None else records)]
        self._left: dict[str, str] = {}

    def told(self, *steps: str) -> list[str]:
        """What these steps left out, as far as they did."""
        return [self._left[step] for step in steps if step in self._left]

    def values(self, field: str) -> list[Any]:
        """The values of a field that occur, in the order of the records."""
        return list(dict.fromkeys(record[field] for record in self.records))

    @property
    def libraries(self) -> list[str]:
        """The libraries that occur in natural order; where there are many, in the order of the records."""
        there = self.values("library")
        known = self.points.libraries
        return there if len(known) > MANY else [name for name in known if name in there]

    def keep(self, field: str, values: Iterable[Any]) -> None:
        """Keep the records whose `field` is among `values`."""
        wanted = {*values}
        self.records = [record for record in self.records if record[field] in wanted]

    def accelerated(self) -> None:
        """Leave out the software tiers of what is there with the processor's own instructions."""
        kept = without_software(self.records, lambda record: (record["algorithm"], record["tier"]))
        if len(kept) < len(self.records):
            text = "with the processor's own instructions; the tables have the rows without as well"
            self._left["tiers"] = text
        self.records = kept

    def for_a_telephone(self) -> None:
        """Keep the largest size, and the first operation of those that have it."""
        before = len(self.records)
        self.keep("size_bytes", [max(self.values("size_bytes"), default=0)])
        self.keep("operation", self.values("operation")[:1])
        if len(self.records) < before:
            self._left["narrow"] = "one size and operation of several, a wider page shows more"

    def leading(self) -> None:
        """Keep the first libraries of each series."""
        kept: list[dict[str, Any]] = []
        most = 0
        for name in self.values("series"):
            own = [record for record in self.records if record["series"] == name]
            libraries = {record["library"] for record in own}
            if len(libraries) > MANY:
                own = self._of_first(own)
                most = max(most, len(libraries))
            kept += own
        self.records = kept
        if most:
            text = (
                f"the {FIRST} fastest of up to {most} libraries and one's own are shown, the tables have all"
            )
            self._left["libraries"] = text

    def leading_libraries(self) -> None:
        """Keep the libraries that are first over all series."""
        libraries = self.values("library")
        if len(libraries) > MANY:
            self.records = self._of_first(self.records)
            self._note("libraries", len(self.values("library")), len(libraries))

    def first_series(self) -> list[str]:
        """Keep the first algorithms, whose names are given in the order of the points."""
        there = self.values("series")
        names = [name for name in self.points.series if name in there]
        series = names[:_MOST_SERIES]
        self.keep("series", series)
        self._note("series", len(series), len(names), "algorithms")
        return series

    def first_sizes(self, most: int) -> list[int]:
        """Keep at most `most` sizes, smallest and largest among them; gives them in bytes."""
        sizes = sorted(self.values("size_bytes"))
        kept = sizes
        if len(sizes) > most:
            kept = sorted({sizes[round(index * (len(sizes) - 1) / (most - 1))] for index in range(most)})
        self.keep("size_bytes", kept)
        self._note("sizes", len(kept), len(sizes))
        return kept

    def _note(self, step: str, shown: int, there: int, what: str = "") -> None:
        if shown < there:
            self._left[step] = f"{shown} of {there} {what or step} are shown, the tables have all"

    def _of_first(self, records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The records of the libraries that are first among them, in the order of these."""
        costs: dict[str, dict[Any, float]] = {}
        for record in records:
            value = float(record["value"])
            column = record["series"], record["operation"], record["size_bytes"]
            cost = 1 / value if self.points.unit.more_is_better else value
            costs.setdefault(record["library"], {})[column] = cost
        first = first_names(costs)
        kept = [record for record in records if record["library"] in first]
        return sorted(kept, key=lambda record: first.index(record["library"]))
