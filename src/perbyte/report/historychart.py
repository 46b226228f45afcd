"""The chart of the history: a panel per algorithm, years on one axis, cost or throughput on a logarithmic one."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt

from perbyte.report import charts, theme
from perbyte.report.charts import Chart, Records, finished
from perbyte.report.wording import number, plain, size_label, three_digits
from perbyte.studies.history import History, HistoryPoint, Line, Means

CYCLES, MEGABITS = "cycles/byte", "Mbit/s"
_SHAPES = {Means.SOFTWARE: "circle", Means.INSTRUCTIONS: "diamond", Means.VIRTUAL: "triangle-up"}
_MEANS = {
    Means.SOFTWARE: "software alone",
    Means.INSTRUCTIONS: "with the processor's own instructions for it",
    Means.VIRTUAL: "in a Java virtual machine",
}


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
