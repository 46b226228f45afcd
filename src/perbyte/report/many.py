"""Which libraries stand first where an algorithm has many: the fastest five and one's own; the rest is folded and said.

Nothing is dropped: pages fold rows that a click unfolds, charts (`chosen`) say how many they leave out, a terminal's
table says how many follow, how far they reach, and who has them. Up to a dozen libraries stand as they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from perbyte import places
from perbyte.model.text import plain
from perbyte.report.grid import Grid, GridRow
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
    """The least cost of each column."""
    best: dict[Any, float] = {}
    for of_name in costs.values():
        for column, cost in of_name.items():
            best[column] = min(cost, best.get(column, math.inf))
    return best


def folded(grid: Grid) -> dict[int, int]:
    """Where each row of `grid` goes: its place among the first of its heading, or -1 for a folded one.

    Empty where no heading has many rows, and where rows are no rivals.
    """
    places: dict[int, int] = {}
    if grid.baseline or grid.ranked_within != "algorithm":
        return places
    numbers = {id(row): number for number, row in enumerate(grid.rows)}
    for _, rows in grid.groups():
        if len(rows) > MANY:
            first = first_names({row.label: _costs(grid, row) for row in rows})
            for row in rows:
                places[numbers[id(row)]] = first.index(row.label) if row.label in first else -1
    return places


def rows_in_order(grid: Grid) -> list[tuple[GridRow, bool]]:
    """All rows, with those of a folded heading in the order that `folded` gives; True for a folded one."""
    places_of = folded(grid)
    if not places_of:
        return [(row, False) for row in grid.rows]
    by_heading: dict[str, list[tuple[GridRow, int]]] = {}
    for number, row in enumerate(grid.rows):
        by_heading.setdefault(row.heading, []).append((row, places_of.get(number, 0)))
    return [
        (row, place < 0)
        for rows in by_heading.values()
        for row, place in sorted(rows, key=lambda pair: (pair[1] < 0, pair[1]))
    ]


def without_folded(grid: Grid) -> Grid:
    """The grid with the rows that a terminal's table shows."""
    return replace(grid, rows=tuple(row for row, is_folded in rows_in_order(grid) if not is_folded))


def rest_texts(grid: Grid) -> list[str]:
    """What a table without the folded rows has to say of them, a sentence for each heading."""
    texts = []
    by_heading: dict[str, list[GridRow]] = {}
    for row, is_folded in rows_in_order(grid):
        if is_folded:
            by_heading.setdefault(row.heading, []).append(row)
    for heading, rows in by_heading.items():
        every = {row.label: _costs(grid, row) for row in grid.rows if row.heading == heading}
        best = _best(every)
        ratios = [cost / best[column] for row in rows for column, cost in every[row.label].items()]
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
