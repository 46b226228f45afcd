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
