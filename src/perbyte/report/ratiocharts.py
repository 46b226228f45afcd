"""Charts of ratios: one operation over the other, published against today, runs against the first one.

A chart without data is None.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from perbyte.model import Estimate
from perbyte.model.text import plain
from perbyte.report import charts, theme
from perbyte.report.charts import Chart, finished
from perbyte.report.grid import Grid
from perbyte.report.many import Chosen
from perbyte.report.runview import OPPOSITE, Ratio, RunView, interval_said
from perbyte.report.wording import number, ratio_text, sentence, size_label, three_digits
from perbyte.stats.quantity import Unit

_MOST_RATIOS = 30


def operations(view: RunView, *, narrow: bool = False) -> Chart | None:
    """Draw the ratios of opposite operations on a logarithmic axis, with the published ones of the study beside them.

    Of several pairs of operations, the one with most cells is drawn.
    """
    if not view.ratios:
        return None
    above = [ratio.above.cell.operation for ratio in view.ratios]
    operation = max(OPPOSITE, key=above.count)
    ratios = [ratio for ratio in view.ratios if ratio.above.cell.operation == operation]
    records = [_ratio_record(view, ratio) for ratio in ratios] + _printed_ratios(view, operation)
    fastest, many = _leading_libraries(view)
    if many:
        records = [record for record in records if record["hollow"] or record["library"] in fastest]
    algorithms = list(dict.fromkeys(record["algorithm"] for record in records))
    shown = algorithms[:_MOST_RATIOS]
    records = [record for record in records if record["algorithm"] in shown]
    hollow = any(record["hollow"] for record in records)
    libraries = sorted({record["library"] for record in records if not record["hollow"]})
    if many:
        libraries.sort(key=fastest.index)
    chart = charts.dots(
        records,
        y=("algorithm", shown),
        x=f"cost of {operation} as a multiple of {OPPOSITE[operation]}",
        scale=charts.ratio_scale(record["value"] for record in records),
        look=theme.series(libraries),
        by="library",
        lanes=[*libraries, *(["published"] if hollow else [])],
        rule_at_one=True,
        narrow=narrow,
    )
    lines = [
        "cost of a call, on a logarithmic axis; right of 1: "
        f"{OPPOSITE[operation]} is faster; a point for each size",
        "thin lines: intervals of the ratio, from epochs that both shared",
        *(["hollow: published"] if hollow else []),
        *many,
    ]
    if len(algorithms) > len(shown):
        lines.append(f"{len(shown)} of {len(algorithms)} algorithms are shown, the table has all")
    ratios.sort(key=lambda ratio: ratio.comparison.ratio.value)
    low, high = (
        f"{three_digits(ratio.comparison.ratio.value)} ({view.name(ratio.above.cell)})"
        for ratio in (ratios[0], ratios[-1])
    )
    title = sentence(f"{operation} costs {low} to {high} times what {OPPOSITE[operation]} costs")
    return finished(chart, title, lines, narrow=narrow)


def _leading_libraries(view: RunView) -> tuple[list[str], list[str]]:
    """The libraries that are first in the chart of all figures, and what that leaves out."""
    if not view.points:
        return [], []
    chosen = Chosen(view.points[0])
    chosen.leading_libraries()
    return chosen.values("library"), chosen.told("libraries")


def published_operations(view: RunView) -> tuple[str, ...]:
    """The published operations that `published` can draw."""
    return tuple(dict.fromkeys(point.published.operation for point in view.paired if _drawable(point)))


def published(view: RunView, operation: str, *, narrow: bool = False) -> Chart | None:
    """Draw each published figure and today's as two joined points, in the published unit.

    A study that published in several units shows the most frequent.
    """
    study = view.study
    pairs = [point for point in view.paired if _drawable(point) and point.published.operation == operation]
    if not pairs or study is None:
        return None
    unit = statistics.mode(pair.published.unit for pair in pairs)
    pairs = [pair for pair in pairs if pair.published.unit == unit]
    known_sizes = sorted({pair.published.size_bytes for pair in pairs})
    if narrow:
        pairs = [pair for pair in pairs if pair.published.size_bytes == known_sizes[-1]]
    records = [record for pair in pairs for record in _published_records(pair, unit)]
    sizes = [size_label(size) for size in sorted({pair.published.size_bytes for pair in pairs}) if size]
    look: charts.Look = {"published": (theme.ORANGE, "diamond", []), "today": (theme.BLUE, "circle", [])}
    chart = charts.dots(
        records,
        y=("algorithm", list(dict.fromkeys(record["algorithm"] for record in records))),
        x=unit,
        scale=charts.logarithmic(record["value"] for record in records),
        look=look,
        by="when",
        joined=("published", "today"),
        row=("size", sizes),
        column=("library", list(dict.fromkeys(record["library"] for record in records))),
        narrow=narrow,
    )
    ratios = sorted(pair.ratio for pair in pairs if pair.ratio)
    middle, low, high = (number(value, 0.01) for value in (statistics.median(ratios), ratios[0], ratios[-1]))
    first = plain((*study.authors, study.name)[0], 40)
    machine = plain(view.run.conditions.machine.cpu_model, 60)
    better = "more" if Unit(unit).more_is_better else "less"
    title = (
        f"Today is {middle} times as fast as published, in the median of {len(ratios)} pairs "
        f"({low} to {high}; {plain(operation, 24)})"
    )
    lines = [
        f"{unit} on a logarithmic axis, {plain(operation, 24)}; {better} is better",
        f"published: {first} {'and others ' if len(study.authors) > 1 else ''}{study.year}; "
        f"today: {machine or 'this machine'}; thin lines: intervals, often narrower than the mark; "
        "the published figures came without",
        *(
            [f"{size_label(known_sizes[-1])} of {len(known_sizes)} sizes"]
            if narrow and known_sizes[1:]
            else []
        ),
    ]
    return finished(chart, title, lines, narrow=narrow)


def comparison(grids: Sequence[Grid], *, narrow: bool = False) -> Chart | None:
    """Draw what a call costs in each side as a multiple of the first, cell by cell, on a logarithmic axis."""
    records = [record for grid in grids for record in _comparison_records(grid)]
    if not records:
        return None
    first, *others = (column.side for column in grids[0].columns)
    present = list(dict.fromkeys(record["algorithm"] for record in records))
    algorithms = present[: 20 if narrow else 40]
    means = [f"{three_digits(mean)} in {name}" for name, mean in mean_ratios(grids).items()]
    records = [record for record in records if record["algorithm"] in algorithms]
    there = {record["run"] for record in records}
    look = theme.series([name for name in others if name in there])
    units = {record["unit"] for record in records}
    chart = charts.dots(
        records,
        y=("algorithm", algorithms),
        x=f"cost of a call, as a multiple of {first}",
        scale=charts.ratio_scale(record["value"] for record in records),
        look=look,
        by="run",
        lanes=list(look),
        rule_at_one=True,
        narrow=narrow,
    )
    lines = [
        f"{counted_in(units)}, on a logarithmic axis; left of 1 is faster than in {first}",
        "a point for each cell that both have; thin lines: intervals, where they are known",
    ]
    if len(present) > len(algorithms):
        lines.append(f"{len(algorithms)} of {len(present)} algorithms are shown, the tables have all")
    title = f"Cost of a call as a multiple of {first}, geometric mean: {', '.join(means[:4])}"
    return finished(chart, title, lines, narrow=narrow)


def counted_in(units: set[str]) -> str:
    """What costs of these units (`cycles`, `ns`) are counted in."""
    words = {"cycles": "cycles", "ns": "time"}
    return words[next(iter(units))] if len(units) == 1 else "cycles (time where there are none)"


def mean_ratios(grids: Sequence[Grid]) -> dict[str, float]:
    """The geometric mean of the ratios of each side to the first, where they have cells in common."""
    means: dict[str, float] = {}
    for index, column in enumerate(grids[0].columns if grids else ()):
        compared = (row.entries[index].comparison for grid in grids for row in grid.rows)
        ratios = [entry.ratio.value for entry in compared if entry and entry.ratio.value > 0]
        if ratios:
            means[column.side] = statistics.geometric_mean(ratios)
    return means


def _ratio_record(view: RunView, pair: Ratio) -> dict[str, Any]:
    cell, ratio = pair.above.cell, pair.comparison.ratio
    library = plain(cell.runner, 24)
    size = f" {size_label(cell.size_bytes)}" if cell.size_bytes else ""
    text = f"{cell.operation} over {pair.below.cell.operation}: {ratio_text(ratio)} ({interval_said(pair)})"
    return {
        "algorithm": view.name(cell),
        "library": library,
        "hollow": None,
        **charts.spread(ratio),
        "described": f"{view.name(cell)} in {library},{size} {text}",
    }


def _printed_ratios(view: RunView, operation: str) -> list[dict[str, Any]]:
    """Published ratios in the direction that is drawn, on the line of the cell that stands for them today."""
    records = []
    for printed, today in view.published_ratios:
        if today is None or printed.value is None:
            continue
        cell, turned = today.above.cell, today.above.cell.operation != operation
        if turned and today.below.cell.operation != operation:
            continue
        value = 1 / printed.value if turned else printed.value
        described = (
            f"{plain(printed.algorithm, 40)}: published {plain(printed.printed, 24)} "
            f"({plain(printed.operation, 60)}, {plain(printed.place, 80)})"
        )
        records.append(
            {
                "algorithm": view.name(cell),
                "library": "published",
                "hollow": True,
                **charts.spread(Estimate(value, value, value)),
                "described": described,
            }
        )
    return records


def _drawable(point: Any) -> bool:
    """True where both figures are there and can stand on a logarithmic axis."""
    printed, today = point.published, point.today
    return bool(
        today is not None
        and printed.value
        and printed.value > 0
        and printed.unit != Unit.RATIO
        and 0 < today.low <= today.high < math.inf
    )


def _published_records(pair: Any, unit: str) -> list[dict[str, Any]]:
    printed, today = pair.published, pair.today
    size = size_label(printed.size_bytes) if printed.size_bytes else ""
    both = {
        "algorithm": plain(printed.algorithm, 40),
        "library": plain(printed.library, 24),
        "size": size,
        "published": printed.value,
        "today": today.value,
    }
    where = f" in {both['library']}" if both["library"] else ""
    name = f"{both['algorithm']}{where}, {plain(printed.operation, 24)} {size}".rstrip()
    then = f"{name}: published {plain(printed.printed, 24)} {unit}"
    now = (
        f"{name}: today {number(today.value, today.half_width)} {unit} "
        f"({plain(pair.library, 60)}), {number(pair.ratio or math.nan, 0.01)} times as fast as published"
    )
    exact = Estimate(printed.value, printed.value, printed.value)
    return [
        {**both, **charts.spread(exact), "when": "published", "described": then},
        {**both, **charts.spread(today), "when": "today", "described": now},
    ]


def _comparison_records(grid: Grid) -> Iterable[dict[str, Any]]:
    first = grid.columns[0].side
    for row in grid.rows:
        algorithm = plain(row.heading.rpartition(",")[0], 40)
        for column, entry in zip(grid.columns, row.entries, strict=True):
            comparison = entry.comparison
            if comparison is None or not comparison.ratio.value > 0:
                continue
            ratio, what = comparison.ratio, counted_in({comparison.unit})
            unknown = "" if ratio.known else ", interval not known"
            yield {
                "algorithm": algorithm,
                "run": column.side,
                **charts.spread(ratio),
                "unit": comparison.unit,
                "described": f"{row.heading}, {row.label}: {ratio_text(ratio)} times the {what} of {first} "
                f"in {column.side}{unknown}",
            }
