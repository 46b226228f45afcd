"""Then and now as a figure: a panel per algorithm, years on one axis, cost or throughput on a logarithmic one.

Published points are hollow and measured ones filled, and what the code could use (software, the processor's own
instructions, a virtual machine) is a shape, so that a grey print says the same. A point without the unit that is drawn
is left out and counted in the subtitle.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from typing import Any

import altair as alt

from perbyte.errors import UsageError
from perbyte.model import Estimate
from perbyte.report import theme
from perbyte.report.panels import Chart, Records, finished, inlined, tooltip
from perbyte.report.units import number, plain, size_label, three_digits
from perbyte.studies.history import History, HistoryPoint, Line, Means

CYCLES, MEGABITS = "cycles/byte", "Mbit/s"
MOST_COLUMNS = 4
_WHEN = ("published", "measured")
_SHAPES = {Means.SOFTWARE: "circle", Means.INSTRUCTIONS: "diamond", Means.VIRTUAL: "triangle-up"}
SAID = {
    Means.SOFTWARE: "software alone",
    Means.INSTRUCTIONS: "with the processor's own instructions for it",
    Means.VIRTUAL: "in a Java virtual machine",
}


def history_chart(history: History, unit: str = CYCLES) -> Chart:
    """Draw the common lines of `history` in `CYCLES` or `MEGABITS`. Raises UsageError when nothing can be drawn."""
    lines = [line for line in history.lines if line.common]
    records = [record for line in lines for record in _records(history, line, unit)]
    if not records:
        raise UsageError("no algorithm has a figure in this unit in two studies or in a run")
    names = [line.name for line in lines if any(record["line"] == line.name for record in records)]
    left_out = sum(reading(point, unit) is None for line in lines for point in history.of(line))
    base = alt.Chart().encode(x=_years(records))
    value = alt.Y(
        "value:Q", title=unit, **_decades((record["value"] for record in records), below=unit == CYCLES)
    )
    front = (
        base.mark_line(color=theme.MUTED, strokeWidth=1.5, aria=False)
        .encode(y=value, detail="means:N")
        .transform_filter("datum.front")
    )
    whisker = base.mark_rule(strokeWidth=1.5, color=theme.INK, aria=False).encode(y="low:Q", y2="high:Q")
    order = [when for when in _WHEN if any(record["when"] == when for record in records)]
    colours = {"published": theme.VERMILION, "measured": theme.BLUE}
    fills = {"published": theme.PAPER, "measured": theme.BLUE}
    means = [one for one in Means if any(record["means"] == one for record in records)]
    point = base.mark_point(size=52, strokeWidth=1.8, opacity=1).encode(
        y=value,
        fill=alt.Fill(
            "when:N", title=None, scale=alt.Scale(domain=order, range=[fills[one] for one in order])
        ),
        stroke=alt.Stroke(
            "when:N", title=None, scale=alt.Scale(domain=order, range=[colours[one] for one in order])
        ),
        shape=alt.Shape(
            "means:N",
            title=None,
            scale=alt.Scale(domain=[str(one) for one in means], range=[_SHAPES[one] for one in means]),
            # Vega's own black is no colour of the theme, so nothing would lighten it on a dark ground.
            legend=alt.Legend(symbolFillColor=theme.INK, symbolStrokeColor=theme.INK),
        ),
        description="described:N",
        tooltip=tooltip(),
    )
    # The best of a year has its label on the side where no other point of that year is.
    beside = 12 if unit == CYCLES else -11
    label = base.mark_text(fontSize=10, dy=beside, aria=False).encode(y=value, text="label:N")
    panels = alt.layer(front, whisker, point, label).properties(width=225, height=118)
    chart = panels.facet(
        facet=alt.Facet("line:N", sort=names, header=alt.Header(title=None, labelAnchor="start")),
        columns=MOST_COLUMNS,
        data=inlined(records),
    )
    return finished(chart, _title(history, lines, unit), _subtitle(history, unit, left_out))


def reading(point: HistoryPoint, unit: str) -> Estimate | None:
    """The figure of a point in `CYCLES` or `MEGABITS`; None where it has none."""
    return point.cycles_per_byte if unit == CYCLES else point.megabits_per_second


def machine_name(point: HistoryPoint) -> str:
    """What the machine is called, without what its source adds after a semicolon."""
    return plain(point.machine.split(";")[0], 60) or "machine not known"


def program_name(point: HistoryPoint) -> str:
    """What the program is called; of a virtual machine's long version, the beginning."""
    return plain(point.program.split(" on ")[0], 60)


def first_and_last(points: Iterable[HistoryPoint], unit: str) -> tuple[HistoryPoint, HistoryPoint] | None:
    """The best of the earliest published year and the best that was measured, outside virtual machines."""
    known = [one for one in points if reading(one, unit) is not None and one.means is not Means.VIRTUAL]
    printed = [one for one in known if not one.measured]
    measured = [one for one in known if one.measured]
    if not printed or not measured:
        return None
    year = min(one.year for one in printed)
    return _best((one for one in printed if one.year == year), unit), _best(measured, unit)


def describe_point(point: HistoryPoint, name: str, unit: str) -> str:
    """One line about a point, for a tooltip and for a screen reader."""
    found = reading(point, unit)
    value = number(found.value, (found.high - found.low) / 2) if found else "–"
    how = "measured" if point.measured else "published"
    who = f" by {program_name(point)}" if point.program else ""
    return (
        f"{name}: {value} {unit}, {how} {point.year} ({plain(point.source, 40)}), {machine_name(point)}{who}, "
        f"{size_label(point.size_bytes)}, {SAID[point.means]}"
    )


def _best(points: Iterable[HistoryPoint], unit: str) -> HistoryPoint:
    def value(point: HistoryPoint) -> float:
        found = reading(point, unit)
        assert found is not None  # the callers keep those that have it
        return found.value if unit == CYCLES else -found.value

    return min(points, key=value)


def _records(history: History, line: Line, unit: str) -> Records:
    points = [point for point in history.of(line) if reading(point, unit) is not None]
    fronts = {
        id(_best([one for one in points if (one.year, one.means) == key], unit))
        for key in {(one.year, one.means) for one in points}
    }
    tagged = {id(one) for one in first_and_last(points, unit) or ()}
    records = []
    for point in points:
        found = reading(point, unit)
        assert found is not None
        records.append(
            {
                "line": line.name,
                "year": point.year,
                "value": found.value,
                "low": found.low,
                "high": found.high,
                "when": _WHEN[point.measured],
                "means": str(point.means),
                "front": id(point) in fronts,
                "label": three_digits(found.value) if id(point) in tagged else "",
                "described": describe_point(point, line.name, unit),
            }
        )
    return records


def _years(records: Records) -> Any:
    years = [int(record["year"]) for record in records]
    first, last = min(years), max(years)
    steps = [year for year in range(1985, 2100, 10) if first - 4 <= year <= last + 4]
    return alt.X(
        "year:Q",
        title=None,
        scale=alt.Scale(domain=[first - 4, last + 4], nice=False),
        axis=alt.Axis(values=steps, format="d", grid=True),
    )


def _decades(values: Iterable[float], *, below: bool) -> dict[str, Any]:
    """A logarithmic scale labelled at each decade, with room for the points' labels below or above them."""
    known = [math.log10(value) for value in values]
    low, high = min(known), max(known)
    wide, narrow = max(0.2 * (high - low), 0.3), max(0.06 * (high - low), 0.15)
    low, high = (low - wide, high + narrow) if below else (low - narrow, high + wide)
    decades = [10.0**power for power in range(math.ceil(low), math.floor(high) + 1)]
    return {
        "scale": alt.Scale(type="log", domain=[10**low, 10**high], nice=False, clamp=True),
        "axis": alt.Axis(values=decades, format=",~g", grid=True),
    }


def _title(history: History, lines: Iterable[Line], unit: str) -> str:
    gains = []
    for line in lines:
        ends = first_and_last(history.of(line), unit)
        if ends is None:
            continue
        first, last = (reading(one, unit) for one in ends)
        assert first is not None
        assert last is not None
        gains.append(first.value / last.value if unit == CYCLES else last.value / first.value)
    what = "needs {} times fewer cycles than" if unit == CYCLES else "is {} times as fast as"
    if len(gains) < 2:
        years = sorted({point.year for point in history.points})
        said = "What a byte costs" if unit == CYCLES else "How fast a byte is"
        return f"{said}, {years[0]} to {years[-1]}"
    middle, low, high = map(three_digits, (statistics.median(gains), min(gains), max(gains)))
    return (
        f"Today's best {what.format(middle)} the first published, in the median of {len(gains)} algorithms "
        f"({low} to {high})"
    )


def _subtitle(history: History, unit: str, left_out: int) -> list[str]:
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
