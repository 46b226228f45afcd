"""Which charts are drawn of a run, of a study, of runs beside each other and of the history; and what each says.

Charts never mix contracts: of a run with several, the one with most figures comes first. A chart without data is None
and is left out.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from perbyte.model import Run
from perbyte.report import charts, theme
from perbyte.report.charts import Chart, Records, finished
from perbyte.report.grid import Grid, Mark, marks_of
from perbyte.report.runview import OPPOSITE, Cost, Points, Ratio, RunView, interval_said
from perbyte.report.wording import number, percent, plain, ratio_text, sentence, size_label, three_digits
from perbyte.stats.quantity import Unit
from perbyte.studies.history import History, HistoryPoint, Line, Means

_MOST_ACCELERATED = 3
_MOST_CONTRACTS = 4
_MOST_SERIES = 24
_MOST_RATIOS = 30
_LARGE = 1500
_STEPS = 32
_BEYOND = 2  # how far below the smallest figure a model's line is drawn: a bent one can fall to nothing
_STRAIGHT = 0.05  # a model that is further off somewhere is not quoted in a title
USELESS = 0.10  # and one that is further off than this is neither drawn nor given


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
        add("by-library", "Software in each library", functools.partial(by_library, view, points))
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


def bars(view: RunView, points: Points, *, narrow: bool = False) -> Chart | None:
    """Draw any run as bars: algorithms below each other, libraries within, a panel for smallest and largest size.

    Of several operations, the first. The fastest of each algorithm is dark, ties likewise.
    """
    operation = points.operations[0]
    here = [dict(record) for record in points.records if record["operation"] == operation]
    sizes = sorted({record["size_bytes"] for record in here})
    wanted = sorted({*sizes[:1], *sizes[-1:]})
    here = [record for record in here if record["size_bytes"] in wanted]
    series, here, rest = _first_series(points, here)
    alone = len({record["library"] for record in here}) == 1
    place = ("series", series) if alone else charts.grouped_axis(here, "series", "library", series)
    chart = charts.bars(
        here,
        y=place,
        unit=points.unit.value,
        text="text",
        colour=alt.Color(
            "first:N", scale=alt.Scale(domain=[True, False], range=[theme.BLUE, theme.MUTED]), legend=None
        ),
        column=("size", [size_label(size) for size in wanted]),
        narrow=narrow,
    )
    said = _subtitle(view, points, "highlighted: fastest of its algorithm", *rest, marked=True)
    return finished(chart, _bars_title(here, operation, points), said, narrow=narrow)


def by_library(view: RunView, points: Points) -> Chart | None:
    """Draw the software ciphers of each library: a panel per library and operation, a bar per size.

    An algorithm that was measured with and without the processor's own instructions counts without them.
    """
    switched = {record["algorithm"] for record in points.records if record["soft"]}
    software = [one for one in points.records if one["soft"] or one["algorithm"] not in switched]
    series, here, rest = _first_series(points, software)
    here, sizes, said = _some_sizes(here, 5)
    if not here:
        return None
    labels = [size_label(size) for size in sizes]
    chart = charts.bars(
        here,
        y=("series", series),
        lane=("size", labels),
        unit=points.unit.value,
        colour=alt.Color("size:N", title="data per call", sort=labels, scale=charts.ordered(labels)),
        row=("library", points.libraries),
        column=("operation", points.operations),
    )
    return finished(chart, _slowest_title(here, points), _subtitle(view, points, *said, *rest))


def acceleration(view: RunView, points: Points, algorithm: str) -> Chart | None:
    """Draw one algorithm with and without the processor's own instructions, by library, size and operation."""
    pairs = {key: pair for key, pair in _tiers(points).items() if key[0] == algorithm}
    if not pairs:
        return None
    factors = factors_of(points)[algorithm]
    here = []
    for full, soft in pairs.values():
        factor = full["value"] / soft["value"]
        factor = factor if points.unit.more_is_better else 1 / factor
        here.append({**full, "with": "with", "factor": ""})
        here.append({**soft, "with": "without", "factor": f"{number(factor, factor / 50)}×"})
    here, sizes, said = _some_sizes(here, 6)
    own = "AES instructions" if "aes" in algorithm else "processor's own instructions"
    chart = charts.bars(
        here,
        y=("library", points.libraries),
        lane=("with", ["without", "with"]),
        unit=points.unit.value,
        text="factor",
        colour=alt.Color(
            "with:N",
            title=own,
            sort=["without", "with"],
            scale=alt.Scale(domain=["without", "with"], range=[theme.ORANGE, theme.BLUE]),
        ),
        row=("operation", list(dict.fromkeys(record["operation"] for record in here))),
        column=("size", [size_label(size) for size in sizes]),
    )
    title = (
        f"{plain(algorithm, 40)}: the processor's own instructions make it "
        f"{number(min(factors), 0.1)} to {number(max(factors), 0.1)} times as fast"
    )
    return finished(chart, title, _subtitle(view, points, "at the bars: how many times as fast", *said))


def everything(view: RunView, points: Points) -> Chart | None:
    """Draw all figures of a contract at once: a point per cell on a logarithmic axis, a panel per column."""
    series, here, rest = _first_series(points, points.records)
    here, sizes, said = _some_sizes(here, 6)
    chart = charts.dots(
        here,
        y=("series", series),
        x=points.unit.value,
        scale=charts.logarithmic(record["value"] for record in here),
        look=theme.series(points.libraries),
        by="library",
        lanes=points.libraries,
        row=("operation", list(dict.fromkeys(record["operation"] for record in here))),
        column=("size", [size_label(size) for size in sizes]),
    )
    best, worst = min(here, key=lambda one: one["value"]), max(here, key=lambda one: one["value"])
    title = (
        f"From {best['text'].split()[0]} to {worst['text'].split()[0]} {points.unit.value}: "
        f"{best['series']} in {best['library']} to {worst['series']} in {worst['library']}"
    )
    return finished(chart, title, _subtitle(view, points, *said, *rest))


def cost_over_size(view: RunView, points: Points) -> Chart | None:
    """Draw cycles per byte over size, measured and as the model has it, one panel per algorithm."""
    operation = points.operations[0]
    models = {
        (cost.cell.algorithm, cost.cell.cpu, plain(cost.cell.runner, 24)): cost
        for cost in view.costs
        if cost.cell.contract == points.contract
        and plain(cost.cell.operation, 24) == operation
        and cost.model.unit == "cycles"
    }
    mine = [
        record
        for record in points.records
        if record["operation"] == operation
        and (record["algorithm"], record["tier"], record["library"]) in models
    ]
    if not mine or points.unit is not Unit.CYCLES_PER_BYTE:
        return None
    series, mine, rest = _first_series(points, mine)
    drawn = {key: models[key] for key in dict.fromkeys(map(_model_key, mine))}
    records = [{**_explained(one, models[_model_key(one)]), "kind": "measured"} for one in mine]
    least = min(float(one["value"]) for one in mine)
    for one in {_model_key(one): one for one in mine}.values():
        records += _model_line(models[_model_key(one)], one, least)
    look = theme.series(points.libraries)
    x = alt.X(
        "size_bytes:Q",
        title="bytes per call",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(values=list(points.sizes), format="~s", labelOverlap="greedy"),
    )
    y = alt.Y("value:Q", title=points.unit.value, **charts.logarithmic(one["value"] for one in records))
    base = alt.Chart().encode(x=x, color=charts.coloured("library", look))
    dashes = alt.Scale(domain=list(look), range=[one[2] for one in look.values()])
    line = base.mark_line(strokeWidth=1.5, aria=False).encode(
        y=y, strokeDash=alt.StrokeDash("library:N", title="library", scale=dashes)
    )
    point = base.mark_point(size=34, filled=True).encode(
        y=y, shape=charts.shaped("library", look), description="described:N", tooltip=charts.tooltip()
    )
    whisker = base.mark_rule(aria=False).encode(y="low:Q", y2="high:Q")
    measured = alt.datum.kind == "measured"
    layers = [
        line.transform_filter(alt.datum.kind == "model"),
        whisker.transform_filter(measured),
        point.transform_filter(measured),
    ]
    note = "points: measured; lines: the model, cycles = per message + per byte × size"
    panels = charts.curves(layers, records, panels=("series", series))
    return finished(panels, _cost_title(drawn, operation), _subtitle(view, points, note, *rest))


def operations(view: RunView) -> Chart | None:
    """Draw the ratios of opposite operations on a logarithmic axis, with the published ones of the study beside them.

    Of several pairs of operations, the one with most cells is drawn.
    """
    if not view.ratios:
        return None
    found = [one.above.cell.operation for one in view.ratios]
    operation = max(OPPOSITE, key=found.count)
    ratios = [one for one in view.ratios if one.above.cell.operation == operation]
    records = [_ratio_record(view, one) for one in ratios] + _printed_ratios(view, operation)
    algorithms = list(dict.fromkeys(record["algorithm"] for record in records))
    shown = algorithms[:_MOST_RATIOS]
    records = [record for record in records if record["algorithm"] in {*shown}]
    hollow = any(record["hollow"] for record in records)
    libraries = sorted({str(record["library"]) for record in records if not record["hollow"]})
    chart = charts.dots(
        records,
        y=("algorithm", shown),
        x=f"cost of {operation} as a multiple of {OPPOSITE[operation]}",
        scale=charts.ratio_scale(float(one["value"]) for one in records),
        look=theme.series(libraries),
        by="library",
        lanes=[*libraries, *(["published"] if hollow else [])],
        rule_at_one=True,
    )
    lines = [
        "cost of a call, on a logarithmic axis; right of 1: "
        f"{OPPOSITE[operation]} is faster; a point for each size",
        "thin lines: intervals of the ratio, from epochs that both shared",
        *(["hollow: published"] if hollow else []),
    ]
    if len(algorithms) > len(shown):
        lines.append(f"{len(shown)} of {len(algorithms)} algorithms are shown, the table has all")
    ordered = sorted(ratios, key=lambda one: one.comparison.ratio.value)
    low, high = (
        f"{three_digits(one.comparison.ratio.value)} ({view.name(one.above.cell)})"
        for one in (ordered[0], ordered[-1])
    )
    return finished(
        chart, sentence(f"{operation} costs {low} to {high} times what {OPPOSITE[operation]} costs"), lines
    )


def published_operations(view: RunView) -> tuple[str, ...]:
    """The published operations that `published` can draw."""
    return tuple(dict.fromkeys(point.published.operation for point in view.paired if _drawable(point)))


def published(view: RunView, operation: str) -> Chart | None:
    """Draw each published figure and today's as two joined points, in the published unit.

    A study that published in several units shows the most frequent.
    """
    study = view.study
    pairs = [one for one in view.paired if _drawable(one) and one.published.operation == operation]
    if not pairs or study is None:
        return None
    unit = statistics.mode(pair.published.unit for pair in pairs)
    pairs = [pair for pair in pairs if pair.published.unit == unit]
    records: list[dict[str, Any]] = []
    for pair in pairs:
        records += _published_records(pair, unit)
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
    )
    ratios = sorted(pair.ratio for pair in pairs if pair.ratio)
    middle, low, high = (number(one, 0.01) for one in (statistics.median(ratios), ratios[0], ratios[-1]))
    first = plain(study.authors[0], 40) if study.authors else plain(study.name, 40)
    machine = plain(view.run.conditions.machine.cpu_model, 60)
    better = "more" if Unit(unit).more_is_better else "less"
    return finished(
        chart,
        f"Today is {middle} times as fast as published, in the median of {len(ratios)} pairs "
        f"({low} to {high}; {plain(operation, 24)})",
        [
            f"{unit} on a logarithmic axis, {plain(operation, 24)}; {better} is better",
            f"published: {first} {'and others ' if len(study.authors) > 1 else ''}{study.year}; "
            f"today: {machine or 'this machine'}; thin lines: intervals, often narrower than the mark; "
            "the published figures came without",
        ],
    )


def comparison_pictures(grids: Sequence[Grid]) -> tuple[Picture, ...]:
    """The ratios of runs to the first one; none when no cell is in the first run and in another one."""
    chart = comparison(grids)
    if chart is None:
        return ()
    name = grids[0].columns[0].side
    return (Picture("side-by-side", f"Ratios to {name}", chart, comparison(grids, narrow=True)),)


def comparison(grids: Sequence[Grid], *, narrow: bool = False) -> Chart | None:
    """Draw what a call costs in each side as a multiple of the first, cell by cell, on a logarithmic axis."""
    records = [record for grid in grids for record in _comparison_records(grid)]
    if not records:
        return None
    first, *others = (column.side for column in grids[0].columns)
    found = list(dict.fromkeys(record["algorithm"] for record in records))
    algorithms = found[: 40 if not narrow else 20]
    kept = {*algorithms}
    means = [f"{three_digits(mean)} in {name}" for name, mean in mean_ratios(grids).items()]
    records = [record for record in records if record["algorithm"] in kept]
    look = theme.series([name for name in others if any(one["run"] == name for one in records)])
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
    if len(found) > len(algorithms):
        lines.append(f"{len(algorithms)} of {len(found)} algorithms are shown, the tables have all")
    title = f"Cost of a call as a multiple of {first}, geometric mean: {', '.join(means[:4])}"
    return finished(chart, title, lines, narrow=narrow)


def counted_in(units: set[str]) -> str:
    """What costs of these units (`cycles`, `ns`) are counted in."""
    one = {"cycles": "cycles", "ns": "time"}
    return one[next(iter(units))] if len(units) == 1 else "cycles (time where there are none)"


def mean_ratios(grids: Sequence[Grid]) -> dict[str, float]:
    """The geometric mean of the ratios of each side to the first, where they have cells in common."""
    found: dict[str, float] = {}
    for index, column in enumerate(grids[0].columns if grids else ()):
        compared = (row.entries[index].comparison for grid in grids for row in grid.rows)
        logs = [math.log(one.ratio.value) for one in compared if one and one.ratio.value > 0]
        if logs:
            found[column.side] = math.exp(sum(logs) / len(logs))
    return found


def accelerated(points: Points) -> tuple[str, ...]:
    """The algorithms that were measured with and without the processor's own instructions."""
    return tuple(factors_of(points))


def factors_of(points: Points) -> dict[str, list[float]]:
    """How many times as fast the processor's own instructions make an algorithm, by library, operation and size."""
    factors: dict[str, list[float]] = {}
    for (algorithm, *_), (full, soft) in _tiers(points).items():
        factor = full["value"] / soft["value"]
        factors.setdefault(algorithm, []).append(factor if points.unit.more_is_better else 1 / factor)
    return factors


# --- records, titles and subtitles ------------------------------------------------------------------------


def _subtitle(view: RunView, points: Points, *more: str, marked: bool = False) -> list[str]:
    """Say what the chart shows: unit, contract, machine, how intervals and marks are to be read."""
    run: Run = view.run
    machine = plain(run.conditions.machine.cpu_model, 60)
    levels = {round(figure.interval.level * 100, 2) for figure in run.cells}
    level = f"{levels.pop():g} % intervals" if len(levels) == 1 else "intervals"
    text = f"{points.unit.in_words}, contract {plain(points.contract, 30)}" + (
        f", {machine}" if machine else ""
    )
    better = "more is better" if points.unit.more_is_better else "less is better"
    here = [figure for figure in run.cells if figure.cell.contract == points.contract]
    if any(figure.interval.known for figure in here):
        notes = [better, *more, f"thin lines: {level}, often narrower than the mark"]
    else:  # nothing is ranked and there are no lines
        notes = [better, "one value each from another program, no interval is known"]
    if points.left_out:
        notes.append(f"{points.left_out} cells have no figure in this unit")
    used = {mark for figure in here for mark in marks_of(figure)}
    marks = [f"{mark} {mark.meaning}" for mark in Mark if mark in used and marked]
    return [text, "; ".join(notes), *(["; ".join(marks)] if marks else [])]


def _first_series(points: Points, records: Records) -> tuple[list[str], list[dict[str, Any]], list[str]]:
    """Give the first algorithms of `records`, the records of those, and what a subtitle must say of the rest."""
    present = {record["series"] for record in records}
    found = [name for name in points.series if name in present]
    series = found[:_MOST_SERIES]
    rest = [f"{len(series)} of {len(found)} algorithms are shown, the tables have all"]
    kept = {*series}
    return (
        series,
        [record for record in records if record["series"] in kept],
        rest if len(found) > len(series) else [],
    )


def _some_sizes(records: Records, most: int) -> tuple[list[dict[str, Any]], list[int], list[str]]:
    """Keep at most `most` sizes, smallest and largest among them; and what a subtitle must say of the rest."""
    sizes = sorted({int(record["size_bytes"]) for record in records})
    if len(sizes) <= most:
        return list(records), sizes, []
    kept = sorted({sizes[round(index * (len(sizes) - 1) / (most - 1))] for index in range(most)})
    said = [f"{len(kept)} of {len(sizes)} sizes are shown, the tables have all"]
    return [record for record in records if record["size_bytes"] in kept], kept, said


def _tiers(points: Points) -> dict[tuple[Any, ...], tuple[dict[str, Any], dict[str, Any]]]:
    """(full, soft) records of the same algorithm, library, operation and size."""
    by_tier: dict[str, dict[Any, dict[str, Any]]] = {"full": {}, "soft": {}}
    for one in points.records:
        key = (one["algorithm"], one["library"], one["operation"], one["size_bytes"])
        by_tier.setdefault(one["tier"], {})[key] = one
    soft = by_tier["soft"]
    return {key: (full, soft[key]) for key, full in by_tier["full"].items() if key in soft}


def _bars_title(records: Records, operation: str, points: Points) -> str:
    won = Counter(one["library"] for one in records if one["first"])
    rivals = Counter((one["series"], one["size"]) for one in records)
    if won and len(points.libraries) > 1:
        best = max(sorted(won), key=lambda name: won[name])
        races = sum(count > 1 for count in rivals.values())
        return f"{best} is the fastest, alone or tied, in {won[best]} of {races} comparisons ({operation})"
    first = (max if points.unit.more_is_better else min)(records, key=lambda one: float(one["value"]))
    value = f"{first['text'].split()[0]} {points.unit.value}"
    if len({one["series"] for one in records}) == 1:
        return f"{first['series']}, {operation}: {value} at the best"
    return f"{first['series']} is the fastest to {operation}: {value}"


def _slowest_title(records: Records, points: Points) -> str:
    def extremes(pick: Any) -> set[str]:
        return {
            pick((one for one in records if one["library"] == library), key=lambda one: float(one["value"]))[
                "series"
            ]
            for library in {one["library"] for one in records}
        }

    slowest, fastest = map(extremes, (min, max) if points.unit.more_is_better else (max, min))
    most = sorted(slowest)[0] if len(slowest) == 1 else ""
    least = sorted(fastest)[0] if len(fastest) == 1 else ""
    everywhere = " in every library" if len(points.libraries) > 1 else ""
    if most and least:
        said = f"{most} is the slowest and {least} the fastest{everywhere}"
    elif most or least:
        said = f"{most or least} is the {'slowest' if most else 'fastest'}{everywhere}"
    else:
        said = "which is the fastest and which the slowest depends on the library"
    return f"Without the processor's own instructions, {said}"


def _model_key(record: Mapping[str, Any]) -> tuple[str, str, str]:
    return record["algorithm"], record["tier"], record["library"]


def _explained(record: dict[str, Any], cost: Cost) -> dict[str, Any]:
    model = cost.model
    if model.worst_residual > USELESS:
        said = f"no straight line over size: the best is off by {percent(model.worst_residual)}"
        return {**record, "described": f"{record['described']}; {said}"}
    half_message, half_byte = model.per_message_interval.half_width, model.per_byte_interval.half_width
    setup = f"setup {number(model.setup, model.setup / 1000)} + " if model.setup is not None else ""
    said = (
        f"model: {setup}{number(model.per_message, half_message)} per message + "
        f"{number(model.per_byte, half_byte)} per byte, off by {percent(model.worst_residual)} at most"
    )
    return {**record, "described": f"{record['described']}; {said}"}


def _model_line(cost: Cost, record: Mapping[str, Any], least: float) -> list[dict[str, Any]]:
    model = cost.model
    if model.worst_residual > USELESS:
        return []
    low, high = math.log(model.sizes[0]), math.log(model.sizes[-1])
    drawn = []
    for step in range(_STEPS + 1):
        size = math.exp(low + (high - low) * step / _STEPS)
        value = model.at(size) / size  # type: ignore[arg-type]
        if value > least / _BEYOND:
            one = {"kind": "model", "series": record["series"], "library": record["library"]}
            drawn.append({**one, "size_bytes": size, "value": value})
    return drawn


def _cost_title(drawn: Mapping[Any, Cost], operation: str) -> str:
    models = [cost.model for cost in drawn.values()]
    straight = [model for model in models if model.worst_residual <= _STRAIGHT]
    if not straight:
        nearest = percent(min(model.worst_residual for model in models))
        return f"No straight line describes these costs: the nearest is off by {nearest} ({operation})"
    fixed = sorted(max(model.per_message, 0.0) for model in straight)
    span = number(fixed[0], 1) if len(fixed) == 1 else f"{number(fixed[0], 1)} to {number(fixed[-1], 1)}"
    rest = len(models) - len(straight)
    bent = f"; {rest} of {len(models)} are no straight line" if rest else ""
    return f"A call costs {span} cycles before its first byte ({operation}{bent})"


def _ratio_record(view: RunView, one: Ratio) -> dict[str, Any]:
    cell, ratio = one.above.cell, one.comparison.ratio
    library = plain(cell.runner, 24)
    size = f" {size_label(cell.size_bytes)}" if cell.size_bytes else ""
    said = f"{cell.operation} over {one.below.cell.operation}: {ratio_text(ratio)} ({interval_said(one)})"
    return {
        "algorithm": view.name(cell),
        "library": library,
        "hollow": None,
        "value": ratio.value,
        "low": ratio.low if ratio.known else ratio.value,
        "high": ratio.high if ratio.known else ratio.value,
        "described": f"{view.name(cell)} in {library},{size} {said}",
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
        records.append(
            {
                "algorithm": view.name(cell),
                "library": "published",
                "hollow": True,
                "value": value,
                "low": value,
                "high": value,
                "described": f"{plain(printed.algorithm, 40)}: published {plain(printed.printed, 24)} "
                f"({plain(printed.operation, 60)}, {plain(printed.place, 80)})",
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
    ends = {"value": printed.value, "low": printed.value, "high": printed.value}
    return [
        {**both, **ends, "when": "published", "described": then},
        {
            **both,
            "value": today.value,
            "low": today.low,
            "high": today.high,
            "when": "today",
            "described": now,
        },
    ]


def _comparison_records(grid: Grid) -> Iterable[dict[str, Any]]:
    first = grid.columns[0].side
    for row in grid.rows:
        algorithm = plain(row.heading.rpartition(",")[0], 40)
        for column, entry in zip(grid.columns, row.entries, strict=True):
            one = entry.comparison
            if one is None or not one.ratio.value > 0:
                continue
            what = counted_in({one.unit})
            yield {
                "algorithm": algorithm,
                "run": column.side,
                "value": one.ratio.value,
                "low": one.ratio.low if one.ratio.known else one.ratio.value,
                "high": one.ratio.high if one.ratio.known else one.ratio.value,
                "unit": one.unit,
                "described": f"{row.heading}, {row.label}: {ratio_text(one.ratio)} times the {what} of "
                f"{first} in {column.side}" + ("" if one.ratio.known else ", interval not known"),
            }


# --- the history --------------------------------------------------------------------------------------------

CYCLES, MEGABITS = "cycles/byte", "Mbit/s"
_SHAPES = {Means.SOFTWARE: "circle", Means.INSTRUCTIONS: "diamond", Means.VIRTUAL: "triangle-up"}
_MEANS = {
    Means.SOFTWARE: "software alone",
    Means.INSTRUCTIONS: "with the processor's own instructions for it",
    Means.VIRTUAL: "in a Java virtual machine",
}


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


def history_chart(history: History, unit: str = CYCLES) -> Chart | None:
    """Draw the common lines of `history` in `CYCLES` or `MEGABITS`: a panel per algorithm, years on one axis.

    Published points are hollow and measured ones filled, and what the code could use is a shape, so that a grey print
    says the same. A point without the unit that is drawn is left out and counted in the subtitle.
    """
    lines = [line for line in history.lines if line.common]
    records = [record for line in lines for record in _history_records(history, line, unit)]
    if not records:
        return None
    names = [line.name for line in lines if any(record["line"] == line.name for record in records)]
    left_out = sum(history_value(point, unit) is None for line in lines for point in history.of(line))
    years = [int(record["year"]) for record in records]
    first, last = min(years) - 4, max(years) + 4
    x = alt.X(
        "year:Q",
        title=None,
        scale=alt.Scale(domain=[first, last], nice=False),
        axis=alt.Axis(
            values=[year for year in range(1985, 2100, 10) if first <= year <= last], format="d", grid=True
        ),
    )
    values = (record["value"] for record in records)
    y = alt.Y("value:Q", title=unit, **charts.decades(values, below=unit == CYCLES))
    base = alt.Chart().encode(x=x)
    front = base.mark_line(color=theme.MUTED, strokeWidth=1.5, aria=False).encode(y=y, detail="means:N")
    whisker = base.mark_rule(strokeWidth=1.5, color=theme.INK, aria=False).encode(y="low:Q", y2="high:Q")
    look = {"published": (theme.PAPER, theme.VERMILION), "measured": (theme.BLUE, theme.BLUE)}
    order = [when for when in look if any(record["when"] == when for record in records)]
    fills, strokes = (alt.Scale(domain=order, range=[look[one][part] for one in order]) for part in (0, 1))
    means = [one for one in Means if any(record["means"] == one for record in records)]
    point = base.mark_point(size=52, strokeWidth=1.8, opacity=1).encode(
        y=y,
        fill=alt.Fill("when:N", title=None, scale=fills),
        stroke=alt.Stroke("when:N", title=None, scale=strokes),
        shape=alt.Shape(
            "means:N",
            title=None,
            scale=alt.Scale(domain=[str(one) for one in means], range=[_SHAPES[one] for one in means]),
            # Vega's own black is no colour of the theme, so nothing would lighten it on a dark ground.
            legend=alt.Legend(symbolFillColor=theme.INK, symbolStrokeColor=theme.INK),
        ),
        description="described:N",
        tooltip=charts.tooltip(),
    )
    # The best of a year has its label on the side where no other point of that year is.
    beside = 12 if unit == CYCLES else -11
    label = base.mark_text(fontSize=10, dy=beside, aria=False).encode(y=y, text="label:N")
    layers = [front.transform_filter("datum.front"), whisker, point, label]
    chart = charts.curves(layers, records, panels=("line", names), columns=4)
    return finished(chart, _history_title(history, unit), _history_subtitle(history, unit, left_out))


def history_value(point: HistoryPoint, unit: str) -> Any:
    """The figure of a point in `CYCLES` or `MEGABITS`; None where it has none."""
    return point.cycles_per_byte if unit == CYCLES else point.megabits_per_second


def gains_of(history: History, unit: str) -> list[tuple[float, Line, HistoryPoint, HistoryPoint]]:
    """How many times today's best is better than the first published, with both points, for each common line.

    The first is the best of the earliest published year; neither ran in a virtual machine.
    """
    found = []
    for line in history.lines:
        ends = _first_and_last(history.of(line), unit) if line.common else None
        if ends:
            first, last = (history_value(one, unit).value for one in ends)
            found.append((first / last if unit == CYCLES else last / first, line, *ends))
    return found


def machine_name(point: HistoryPoint) -> str:
    """What the machine is called, without what its source adds after a semicolon."""
    return plain(point.machine.split(";")[0], 60) or "machine not known"


def program_name(point: HistoryPoint) -> str:
    """What the program is called; of a virtual machine's long version, the beginning."""
    return plain(point.program.split(" on ")[0], 60)


def _first_and_last(points: Iterable[HistoryPoint], unit: str) -> tuple[HistoryPoint, HistoryPoint] | None:
    known = [one for one in points if history_value(one, unit) is not None and one.means is not Means.VIRTUAL]
    printed = [one for one in known if not one.measured]
    measured = [one for one in known if one.measured]
    if not printed or not measured:
        return None
    year = min(one.year for one in printed)
    return _best([one for one in printed if one.year == year], unit), _best(measured, unit)


def _best(points: Sequence[HistoryPoint], unit: str) -> HistoryPoint:
    sign = 1 if unit == CYCLES else -1
    return min(points, key=lambda point: sign * history_value(point, unit).value)


def _history_records(history: History, line: Line, unit: str) -> Records:
    points = [point for point in history.of(line) if history_value(point, unit) is not None]
    fronts = {
        id(_best([one for one in points if (one.year, one.means) == key], unit))
        for key in {(one.year, one.means) for one in points}
    }
    tagged = {id(one) for one in _first_and_last(points, unit) or ()}
    records = []
    for point in points:
        found = history_value(point, unit)
        how = "measured" if point.measured else "published"
        who = f" by {program_name(point)}" if point.program else ""
        records.append(
            {
                "line": line.name,
                "year": point.year,
                "value": found.value,
                "low": found.low,
                "high": found.high,
                "when": how,
                "means": str(point.means),
                "front": id(point) in fronts,
                "label": three_digits(found.value) if id(point) in tagged else "",
                "described": f"{line.name}: {number(found.value, found.half_width)} {unit}, {how} {point.year} "
                f"({plain(point.source, 40)}), {machine_name(point)}{who}, {size_label(point.size_bytes)}, "
                f"{_MEANS[point.means]}",
            }
        )
    return records


def _history_title(history: History, unit: str) -> str:
    gains = [gain for gain, *_ in gains_of(history, unit)]
    if len(gains) < 2:
        years = sorted({point.year for point in history.points})
        said = "What a byte costs" if unit == CYCLES else "How fast a byte is"
        return f"{said}, {years[0]} to {years[-1]}"
    what = "needs {} times fewer cycles than" if unit == CYCLES else "is {} times as fast as"
    middle, low, high = map(three_digits, (statistics.median(gains), min(gains), max(gains)))
    return (
        f"Today's best {what.format(middle)} the first published, in the median of {len(gains)} algorithms "
        f"({low} to {high})"
    )


def _history_subtitle(history: History, unit: str, left_out: int) -> list[str]:
    better = "less" if unit == CYCLES else "more"
    machines = dict.fromkeys(
        plain(run.conditions.machine.cpu_model, 60) or "this machine" for run in history.runs
    )
    measured = f"filled: measured ({', '.join(machines)})" if machines else "nothing was measured"
    lines = [
        f"{unit} on a logarithmic axis, {better} is better; years are those of publication, the machines are older",
        f"hollow: published, {measured}; grey lines join the best of each year",
        "a point is the best of its machine at its longest message; thin lines: intervals (published ones have none)",
    ]
    if left_out:
        lines.append(f"{left_out} points have no figure in this unit: the table says why")
    return lines
