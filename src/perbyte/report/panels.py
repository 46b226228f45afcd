"""The pieces that charts are put together from: what is drawn, panels, axes, legends, titles."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import altair as alt

from perbyte.errors import UsageError
from perbyte.model import Run
from perbyte.report import theme
from perbyte.report.points import Names, Points, gather
from perbyte.report.units import plain
from perbyte.report.views import Mark, marks_of
from perbyte.stats.quantity import Unit

Chart: TypeAlias = alt.TopLevelMixin
Records = Sequence[dict[str, Any]]
_MOST_SERIES = 24
_FAR, _NEAR = (1, 1.5, 2, 3, 5, 7), (1, 1.1, 1.25, 1.5, 2, 3, 5, 6, 7, 8, 9)


def chosen(
    run: Run, contract: str | None, unit: Unit | None, names: Names | None, points: Points | None = None
) -> Points:
    """Give `points` if they are there, else those of `contract`, or of the contract with most.

    Raises UsageError where there are none.
    """
    if points is not None:
        return points
    found = [
        one for one in gather(run, unit=unit, names=names) if contract in (None, one.contract) and one.records
    ]
    if not found:
        raise UsageError("there is nothing to draw in this run", way_out="look at its failures: perbyte show")
    return max(found, key=lambda one: len(one.records))


def finished(chart: Any, title: str, subtitle: Sequence[str]) -> Chart:
    """Add title, subtitle and the shared look."""
    lines = [part for line in subtitle for part in textwrap.wrap(line, 132)]
    heading = alt.TitleParams(_balanced(title, 100), subtitle=lines)
    result: Chart = chart.properties(title=heading).configure(**theme.config())
    return result


def subtitle(run: Run, points: Points, *more: str, marked: bool = False) -> list[str]:
    """Say what the figure shows: unit, contract, machine, how intervals and marks are to be read."""
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


def _balanced(text: str, most: int) -> list[str]:
    """Wrap at `most` characters or less, so that the last line is not a lone word."""
    count = -(-len(text) // most)
    for width in range(len(text) // max(count, 1), most + 1):
        if len(lines := textwrap.wrap(text, max(width, 1))) <= count:
            return lines or [""]
    return textwrap.wrap(text, most) or [""]


def some(records: Records) -> Records:
    """Pass records on. Raises UsageError where there are none."""
    if not records:
        raise UsageError("nothing of this run is left to draw", way_out="ask for other operations or sizes")
    return records


def first_series(points: Points, records: Records) -> tuple[list[str], list[dict[str, Any]], list[str]]:
    """Give the first algorithms of `records`, the records of those, and what a subtitle must say of the rest."""
    present = {record["series"] for record in records}
    found = [name for name in points.series if name in present]
    series = found[:_MOST_SERIES]
    kept = set(series)
    rest = (
        [f"{len(series)} of {len(found)} algorithms are shown, the tables have all"]
        if len(found) > len(series)
        else []
    )
    return series, [record for record in records if record["series"] in kept], rest


def some_sizes(records: Records, most: int) -> tuple[list[int], list[str]]:
    """Choose at most `most` sizes, smallest and largest among them; and what a subtitle must say of the rest."""
    sizes = sorted({int(record["size_bytes"]) for record in records})
    if len(sizes) <= most:
        return sizes, []
    kept = sorted({sizes[round(index * (len(sizes) - 1) / (most - 1))] for index in range(most)})
    return kept, [f"{len(kept)} of {len(sizes)} sizes are shown, the tables have all"]


def facet(layered: Any, records: Records, *, row: Any = None, column: Any = None) -> Any:
    """Lay `layered` out in panels over `records`; without row and column it stays a single panel.

    A panel without records would let those behind it move up into its place (Vega-Lite lays out the panels that
    have data, one after the other), so every combination gets at least empty records.
    """
    asked = {name: value for name, value in (("row", row), ("column", column)) if value is not None}
    if not asked:
        return layered.properties(data=inlined(records))
    fields = [str(value.shorthand).partition(":")[0] for value in asked.values()]
    if len(fields) == 2:
        records = [*records, *_empty(records, fields[0], fields[1])]
    return layered.facet(data=inlined(records), **asked)


def _empty(records: Records, row: str, column: str) -> list[dict[str, Any]]:
    there = {(record[row], record[column]) for record in records}
    columns = dict.fromkeys(record[column] for record in records)
    nothing = {"value": None, "low": None, "high": None, "text": "", "factor": "", "described": ""}
    return [
        {**record, column: missing, **{key: value for key, value in nothing.items() if key in record}}
        for missing in columns
        for record in {(one[row], one.get("library")): one for one in records}.values()
        if (record[row], missing) not in there
    ]


def inlined(records: Records) -> Any:
    """Put records into a chart, as one string: Altair would check thousands against its schema for seconds."""
    return alt.InlineData(values=json.dumps(list(records)), format=alt.JsonDataFormat(type="json"))


def header(field: str, order: Sequence[str], *, angle: int | None = None) -> Any:
    """Head panels by `field`; with an `angle` of 0 the names stand upright at the left."""
    look = {"title": None} if angle is None else {"title": None, "labelAngle": angle, "labelAlign": "left"}
    channel = alt.Column if angle is None else alt.Row
    return channel(f"{field}:N", sort=list(order), header=alt.Header(**look))


def algorithm_header(series: Sequence[str]) -> Any:
    """Head panels by algorithm, above each panel's rows rather than beside them."""
    return alt.Row(
        "series:N",
        sort=list(series),
        header=alt.Header(
            title=None, labelOrient="left", labelAngle=0, labelAlign="left", labelAnchor="middle"
        ),
    )


def axis(unit: Unit) -> str:
    """An axis title: the unit."""
    return unit.value


def logarithmic(values: Iterable[float], steps: Sequence[float] = (1, 3)) -> dict[str, Any]:
    """Scale and axis over `values`, labelled at `steps` of each decade.

    What reaches beyond them (a wide interval) ends at the edge.
    """
    known = [value for value in values if value > 0]
    low, high = min(known), max(known)
    room = max((high / low) ** 0.04, 1.05)
    domain = [low / room, high * room]
    ticks = [step * 10.0**power for power in range(-6, 15) for step in steps]
    inside = [tick for tick in ticks if domain[0] <= tick <= domain[1]]
    return {
        "scale": alt.Scale(type="log", domain=domain, nice=False, clamp=True),
        "axis": alt.Axis(values=inside or [low, high], format="~g", labelOverlap=True, grid=True),
    }


def ratio_scale(values: Iterable[float]) -> dict[str, Any]:
    """Scale and axis over ratios, with some room on both sides of 1; close ones get closer labels."""
    reach = [*(value for value in values if value > 0), 0.8, 1.25]
    return logarithmic(reach, _FAR if max(reach) > 4 * min(reach) else _NEAR)


def coloured(field: str, look: dict[str, tuple[str, str, list[int]]]) -> Any:
    """Colour by `field` with a legend."""
    return alt.Color(
        f"{field}:N", title=field, scale=alt.Scale(domain=list(look), range=[one[0] for one in look.values()])
    )


def ordered(sizes: Sequence[str]) -> Any:
    """A scale from pale to dark for sizes in order."""
    last = len(theme.SEQUENCE) - 1
    steps = [round(index * (last - 1) / max(len(sizes) - 1, 1)) for index in range(len(sizes))]
    return alt.Scale(domain=list(sizes), range=[theme.SEQUENCE[step] for step in steps])


def tooltip() -> list[Any]:
    """What the interactive form of a figure shows at a mark."""
    return [alt.Tooltip("described:N", title=" ")]
