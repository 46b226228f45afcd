"""Which charts are drawn of a run, of runs compared and of the history, with their names and headings.

A chart without data is left out.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from perbyte.report.charts import Chart
from perbyte.report.grid import Grid
from perbyte.report.historychart import CYCLES, MEGABITS, history_chart
from perbyte.report.ratiocharts import comparison, operations, published, published_operations
from perbyte.report.runcharts import accelerated, acceleration, bars, by_library, cost_over_size, everything
from perbyte.report.runview import RunView
from perbyte.report.wording import plain
from perbyte.studies.history import History

_MOST_ACCELERATED = 3
_MOST_CONTRACTS = 4
_LARGE = 1500


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart with the name of its file (without suffix) and its heading in a report; `narrow` is for a telephone."""

    name: str
    heading: str
    chart: Chart
    narrow: Chart | None = None


def run_pictures(view: RunView) -> tuple[Picture, ...]:
    """The charts of a run in the order of its page, those of its study included.

    First what a reader should meet: who is the fastest. Then what a study published, then the rest.
    """
    found: list[Picture] = []

    def add(name: str, heading: str, draw: Callable[..., Chart | None], *, narrow: bool = False) -> None:
        if (chart := draw()) is not None:
            found.append(Picture(name, heading, chart, draw(narrow=True) if narrow else None))

    for index, points in enumerate(view.points[:_MOST_CONTRACTS]):
        tail = f"-{index + 1}" if index else ""
        add(f"bars{tail}", "Who is the fastest", functools.partial(bars, view, points), narrow=True)
    for index, operation in enumerate(published_operations(view)):
        tail = f"-{index + 1}" if index else ""
        draw = functools.partial(published, view, operation)
        add(f"published{tail}", f"Published against today: {plain(operation, 24)}", draw)
    if not view.points:
        return tuple(found)
    points = view.points[0]
    if len(points.libraries) > 1 and len(points.series) > 1 and len(points.records) <= _LARGE:
        add("by-library", "The algorithms of each library", functools.partial(by_library, view, points))
    for index, algorithm in enumerate(accelerated(points)[:_MOST_ACCELERATED]):
        draw = functools.partial(acceleration, view, points, algorithm)
        tail = f"-{index + 1}" if index else ""
        add(f"acceleration{tail}", "With and without the processor's own instructions", draw)
    if len(points.sizes) > 2:
        add("cost", "Cost over size", functools.partial(cost_over_size, view, points))
    of_study = any(today for _, today in view.published_ratios)
    name = (
        ("ratios", "Ratio of two operations: published and today")
        if of_study
        else ("operations", "One operation over the other")
    )
    add(*name, functools.partial(operations, view))
    if len(points.records) > 2:
        add("everything", "All results at once", functools.partial(everything, view, points))
    return tuple(found)


def comparison_pictures(grids: Sequence[Grid]) -> tuple[Picture, ...]:
    """The ratios of runs to the first one; none when no cell is in the first run and in another one."""
    chart = comparison(grids)
    if chart is None:
        return ()
    name = grids[0].columns[0].side
    return (Picture("side-by-side", f"Ratios to {name}", chart, comparison(grids, narrow=True)),)


def history_pictures(history: History) -> tuple[Picture, ...]:
    """The history in cycles per byte and in Mbit/s, as far as there is anything to draw."""
    named = (
        ("history", "History: cycles per byte", CYCLES),
        ("history-throughput", "History: throughput", MEGABITS),
    )
    return tuple(
        Picture(name, heading, chart)
        for name, heading, unit in named
        if (chart := history_chart(history, unit)) is not None
    )
