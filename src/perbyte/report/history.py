"""The history of published and measured figures: as a chart, as rows, and in words.

Numbers accompany every explanation; a point without a unit says why it has none. The timeline is the part on lines that
have a family: AES, SHA and ChaCha in cycles a byte. Nothing is judged or converted here: that is the business of
`perbyte.studies.history`.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt
import msgspec
from rich.text import Text as Styled

from perbyte.model import Estimate, Quality, Run
from perbyte.model.text import counted, plain
from perbyte.report import charts, theme
from perbyte.report.charts import Chart, Records, finished
from perbyte.report.document import Card, Items, Line, titled
from perbyte.report.labels import Spot, place_labels
from perbyte.report.listing import Item, Listing, columns
from perbyte.report.terminal import Part, render
from perbyte.report.wording import number, percent, sentence, size_label, three_digits, value_text
from perbyte.studies.history import Explained, History, HistoryLine, HistoryPoint, Jump, Means

CYCLES, MEGABITS = "cycles/byte", "Mbit/s"
_POINTS = (
    "algorithm | year:n | figure | machine:text | program:text | uses | per call:n | clock:n | cycles/byte:n | Mbit/s:n"
    " | × first:n | notes:text"
)
_STEPS = "from:text | to:text | cycles/byte:n | Mbit/s:n | times as fast:n | clock ×:n | work per cycle ×:n"
_TIMELINE = "year:n | cycles/byte:n | uses | machine | source"
_COLUMNS = 4
_SHAPES = {Means.SOFTWARE: "circle", Means.INSTRUCTIONS: "diamond", Means.VIRTUAL: "triangle-up"}
_MEANS = {Means.SOFTWARE: "software", Means.INSTRUCTIONS: "instructions", Means.VIRTUAL: "Java VM"}
_USES = {Means.SOFTWARE: "software", Means.INSTRUCTIONS: "own instructions", Means.VIRTUAL: "virtual machine"}
_MEANS_IN_FULL = {
    Means.SOFTWARE: "software alone",
    Means.INSTRUCTIONS: "with the processor's own instructions for it",
    Means.VIRTUAL: "in a Java virtual machine",
}


def points_listing(history: History) -> Listing:
    """Every point, line by line."""
    rows = [row for line in history.lines for row in _line_rows(history, line)]
    return Listing("Every point of the history", columns(_POINTS), rows)


def steps_listing(explained: Explained, history: History) -> Listing:
    """The steps of an explanation, under its title."""
    names = {line.id: line.name for line in history.lines}
    rows = [_step(jump, names) for jump in explained.jumps]
    return Listing(plain(explained.explanation.title, 120), columns(_STEPS), rows)


def left_out_lines(history: History) -> list[str]:
    """The figures that are on no line, with the reason."""
    lines = []
    for out in history.left_out:
        names = ", ".join(plain(name, 40) for name in out.names)
        which = f" ({names})" if names else ""
        lines.append(f"{plain(out.source, 60)}: {counted(out.count, 'figure')}: {plain(out.why, 160)}{which}")
    return lines


def run_line(run: Run) -> str:
    """A run by name, machine and time."""
    conditions = run.conditions
    where = plain(conditions.machine.cpu_model, 80) or "unknown processor"
    when = plain(conditions.started_at, 40) or "at a time not known"
    return sentence(f"run {plain(conditions.run_id, 80)}, {where}, started {when}")


def history_found(history: History) -> list[str]:
    """The largest and the smallest gains between the first published figure and the best measured one."""
    gains = sorted(gains_of(history, MEGABITS), key=lambda gain: -gain[0])
    shown = gains if len(gains) <= 6 else [*gains[:3], *gains[-3:]]
    return [_gain(line, first, last, gain) for gain, line, first, last in shown]


def history_card(history: History) -> Card:
    """Which line gained most since it was first published, and which gained least."""
    gains = sorted(gains_of(history, MEGABITS), key=lambda gain: -gain[0])
    lines = []
    for about, (gain, line, first, last) in zip(
        ("most", "least"), [*gains[:1], *gains[1:][-1:]], strict=False
    ):
        name, then, now = plain(line.name, 60), first.megabits_per_second, last.megabits_per_second
        told = f"{_short(then)} Mbit/s in {first.year}, {_short(now)} in {last.year}"
        lines.append(Line(about, "", f"{name}: {three_digits(gain)} times as fast", cost=told))
    return Card(tuple(lines))


def history_certainty(history: History) -> list[str]:
    """What the figures are and how far they can be compared."""
    lines = [
        f"{history.converted:,} of {sum(len(study.published) for study in history.studies):,} published figures of "
        f"{len(history.studies)} studies stand on {len(history.lines)} lines; the others are listed with the reason.",
        "Published figures came without intervals. Cycles are computed with the clock that the source gives for its "
        "machine; where it gives none, there are none.",
        "Machines, compilers, programs and the lengths of messages differ from point to point. An explanation names "
        "what is known to matter; it does not divide a factor up further than into clock and work per cycle.",
    ]
    measured = [point for point in history.points if point.measured]
    if not history.runs:
        lines.append("Nothing was measured for this page: it shows published figures only.")
    elif rough := [point for point in measured if point.quality not in ("", Quality.GOOD)]:
        lines.append(
            f"{len(rough)} of {len(measured)} measured points are less than good (see notes): "
            "fine for factors of two, not for a percent."
        )
    return lines


def _gain(line: HistoryLine, first: HistoryPoint, last: HistoryPoint, gain: float) -> str:
    cycles = ""
    if first.cycles_per_byte and last.cycles_per_byte:
        cycles = f"; {_short(first.cycles_per_byte)} to {_short(last.cycles_per_byte)} cycles per byte"
    return (
        f"{plain(line.name, 60)}: {_short(first.megabits_per_second)} Mbit/s ({first.year}) to "
        f"{_short(last.megabits_per_second)} ({last.year}), {three_digits(gain)} times as fast{cycles}."
    )


def _line_rows(history: History, line: HistoryLine) -> Iterable[list[Item]]:
    points = history.of(line)
    printed = [point for point in points if point.megabits_per_second and not point.measured]
    printed = [point for point in printed if point.means is not Means.VIRTUAL] or printed
    # points are in the order of years
    earliest = [point for point in printed if point.year == printed[0].year]
    first = _best(earliest, MEGABITS).megabits_per_second if earliest else None
    for index, point in enumerate(points):
        yield [Item(plain(line.name, 60), group=not index), *_row(point, first)]


def _row(point: HistoryPoint, first: Estimate | None) -> list[Item]:
    rate, clock = point.megabits_per_second, point.clock_hz
    gain = rate.value / first.value if first and rate else None
    return [
        Item(str(point.year), value=point.year),
        Item("measured" if point.measured else "published"),
        Item(machine_name(point)),
        Item(program_name(point) or "not named"),
        Item(_MEANS[point.means]),
        Item(size_label(point.size_bytes), value=point.size_bytes),
        Item(f"{number(clock / 1e9, clock / 1e11)} GHz" if clock else "–", value=clock),
        _rate_item(point.cycles_per_byte, point),
        _rate_item(rate, point),
        Item(three_digits(gain) if gain else "–", value=gain),
        Item(_notes(point)),
    ]


def _notes(point: HistoryPoint) -> str:
    texts = [] if point.measured else [plain(point.source, 40)]
    if point.printed and not point.printed.endswith((CYCLES, MEGABITS)):
        texts.append(f"printed as {plain(point.printed, 40)}")
    if point.among > 1:
        texts.append(f"the best of {point.among}")
    if point.cpu != "full":
        texts.append(f"tier {plain(point.cpu, 20)}")
    if point.quality not in ("", Quality.GOOD):
        texts.append(point.quality)
    if point.gap:
        texts.append(point.gap)
    return "; ".join(texts)


def _step(jump: Jump, names: dict[str, str]) -> tuple[str, ...]:
    before, after = jump.before, jump.after
    return (
        _point_name(before, names),
        _point_name(after, names),
        _change(before.cycles_per_byte, after.cycles_per_byte),
        _change(before.megabits_per_second, after.megabits_per_second),
        _factor(jump.faster),
        three_digits(jump.clock) if jump.clock else "–",
        _factor(jump.work),
    )


def _change(before: Estimate | None, after: Estimate | None) -> str:
    return f"{_short(before)} → {_short(after)}" if before or after else "–"


def _point_name(point: HistoryPoint, names: dict[str, str]) -> str:
    program = f", {program_name(point)}" if point.measured else ""
    tier = f", tier {plain(point.cpu, 20)}" if point.cpu != "full" else ""
    return (
        f"{plain(names[point.line], 60)}, {size_label(point.size_bytes)}: {machine_name(point)}"
        f"{program}{tier}, {'measured ' if point.measured else ''}{point.year}"
    )


def _rate_item(estimate: Estimate | None, point: HistoryPoint) -> Item:
    look = "now" * point.measured
    if estimate is None:
        return Item("–", look=look)
    text = f"{float(f'{estimate.value:.4g}'):,.10g}"
    if point.has_interval:
        text = value_text(estimate)
    return Item(text, value=estimate.value, look=look)


def _short(estimate: Estimate | None) -> str:
    return three_digits(estimate.value) if estimate else "–"


def _factor(estimate: Estimate | None) -> str:
    """A factor, with the half-width that today's interval gives it where that is seen in three digits."""
    if estimate is None:
        return "–"
    wide = f" ±{percent(estimate.relative)}" if estimate.half_width > estimate.value / 200 else ""
    return three_digits(estimate.value) + wide


def history_chart(history: History, unit: str = CYCLES, *, narrow: bool = False) -> Chart | None:
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
    decades = [year for year in range(1985, 2100, 10) if first <= year <= last]
    along: dict[str, Any] = {
        "title": None,
        "scale": alt.Scale(domain=[first, last], nice=False),
        "axis": alt.Axis(values=decades, format="d", grid=True),
    }
    values, below = [record["value"] for record in records], unit == CYCLES
    up: dict[str, Any] = {"title": unit, **charts.decades(values, below=below)}
    x, y = alt.X("year:Q", **along), alt.Y("value:Q", **up)
    _lay_labels(
        records, names, (first, last), charts.decade_range(values, below=below), below=below, narrow=narrow
    )
    base = alt.Chart().encode(x=x)
    front = base.mark_line(color=theme.MUTED, strokeWidth=1.5, aria=False).encode(y=y, detail="means:N")
    whisker = base.mark_rule(strokeWidth=1.5, color=theme.INK, aria=False).encode(y="low:Q", y2="high:Q")
    look = {"published": (theme.PAPER, theme.VERMILION), "measured": (theme.BLUE, theme.BLUE)}
    order = [when for when in look if any(record["when"] == when for record in records)]
    fills, strokes = (alt.Scale(domain=order, range=[look[name][part] for name in order]) for part in (0, 1))
    means = [kind for kind in Means if any(record["means"] == kind for record in records)]
    shapes = alt.Scale(domain=[str(kind) for kind in means], range=[_SHAPES[kind] for kind in means])
    # Vega's own black is no colour of the theme, so nothing would lighten it on a dark ground.
    # The blanks part it from the next legend, however wide a reader's font is.
    blanks = "datum.label + '\u2003\u2003'"
    legend = alt.Legend(symbolFillColor=theme.INK, symbolStrokeColor=theme.INK, labelExpr=blanks)
    point = base.mark_point(size=52, strokeWidth=1.8, opacity=1).encode(
        y=y,
        fill=alt.Fill("when:N", title=None, scale=fills),
        stroke=alt.Stroke("when:N", title=None, scale=strokes),
        shape=alt.Shape("means:N", title=None, scale=shapes, legend=legend),
        description="described:N",
        tooltip=charts.tooltip(),
    )
    label = base.mark_text(fontSize=10, aria=False, baseline="middle").encode(
        x=alt.X("label_year:Q", **along), y=alt.Y("label_value:Q", **up), text="label:N"
    )
    layers = [front.transform_filter("datum.front"), whisker, point, label]
    chart = charts.curves(layers, records, panels=("line", names), columns=_COLUMNS, narrow=narrow)
    told = _history_subtitle(history, unit, left_out)
    return finished(chart, _history_title(history, unit), told, narrow=narrow)


def _lay_labels(
    records: Records,
    panels: Sequence[str],
    years: tuple[int, int],
    powers: tuple[float, float],
    *,
    below: bool,
    narrow: bool,
) -> None:
    """Put `label_year` and `label_value`, the middle of each label on the two axes, into `records`.

    `years` and `powers` (of ten) are the ends of the axes. A label without a free place is emptied.
    """
    width, height = charts.curve_panel(len(panels), _COLUMNS, narrow=narrow)
    wide, high = width / (years[1] - years[0]), height / (powers[1] - powers[0])

    def spot(record: dict[str, Any]) -> Spot:
        return Spot((record["year"] - years[0]) * wide, (powers[1] - math.log10(record["value"])) * high)

    for panel in panels:
        of = [record for record in records if record["line"] == panel]
        fronts = sorted((record for record in of if record["front"]), key=lambda record: record["year"])
        lines = [
            (spot(earlier), spot(later))
            for means in {record["means"] for record in fronts}
            for earlier, later in itertools.pairwise(record for record in fronts if record["means"] == means)
        ]
        named = [record for record in of if record["label"]]
        texts = [(record["label"], spot(record)) for record in named]
        middles = place_labels(texts, [spot(record) for record in of], lines, (width, height), below=below)
        for record in of:
            record["label_year"], record["label_value"] = record["year"], record["value"]
        for record, middle in zip(named, middles, strict=True):
            if middle is None:
                record["label"] = ""
                continue
            record["label_year"] = round(years[0] + middle.x / wide, 3)
            record["label_value"] = float(f"{10 ** (powers[1] - middle.y / high):.5g}")


def history_value(point: HistoryPoint, unit: str) -> Any:
    """The figure of a point in `CYCLES` or `MEGABITS`; None where it has none."""
    return point.cycles_per_byte if unit == CYCLES else point.megabits_per_second


def gains_of(history: History, unit: str) -> list[tuple[float, HistoryLine, HistoryPoint, HistoryPoint]]:
    """How many times today's best is better than the first published, with both points, for each common line.

    The first is the best of the earliest published year; neither ran in a virtual machine.
    """
    gains = []
    for line in history.lines:
        ends = _first_and_last(history.of(line), unit) if line.common else None
        if ends:
            first, last = (history_value(point, unit).value for point in ends)
            gains.append((first / last if unit == CYCLES else last / first, line, *ends))
    return gains


def machine_name(point: HistoryPoint) -> str:
    """What the machine is called, without what its source adds after a semicolon."""
    return plain(point.machine.split(";")[0], 60) or "machine not known"


def program_name(point: HistoryPoint) -> str:
    """What the program is called; of a virtual machine's long version, the beginning."""
    return plain(point.program.split(" on ")[0], 60)


def _first_and_last(points: Iterable[HistoryPoint], unit: str) -> tuple[HistoryPoint, HistoryPoint] | None:
    known = [point for point in points if history_value(point, unit) and point.means is not Means.VIRTUAL]
    printed = [point for point in known if not point.measured]
    measured = [point for point in known if point.measured]
    if not printed or not measured:
        return None
    year = min(point.year for point in printed)
    return _best([point for point in printed if point.year == year], unit), _best(measured, unit)


def _best(points: Sequence[HistoryPoint], unit: str) -> HistoryPoint:
    sign = 1 if unit == CYCLES else -1
    return min(points, key=lambda point: sign * history_value(point, unit).value)


def _history_records(history: History, line: HistoryLine, unit: str) -> Records:
    points = [point for point in history.of(line) if history_value(point, unit) is not None]
    rivals: dict[tuple[int, Means], list[HistoryPoint]] = {}
    for point in points:
        rivals.setdefault((point.year, point.means), []).append(point)
    fronts = {id(_best(of_year, unit)) for of_year in rivals.values()}
    tagged = {id(point) for point in _first_and_last(points, unit) or ()}
    records = []
    for point in points:
        value = history_value(point, unit)
        how = "measured" if point.measured else "published"
        program = f" by {program_name(point)}" if point.program else ""
        described = (
            f"{line.name}: {value_text(value)} {unit}, {how} {point.year} ({plain(point.source, 40)}), "
            f"{machine_name(point)}{program}, {size_label(point.size_bytes)}, {_MEANS_IN_FULL[point.means]}"
        )
        records.append(
            {
                "line": line.name,
                "year": point.year,
                "value": value.value,
                "low": value.low,
                "high": value.high,
                "when": how,
                "means": str(point.means),
                "front": id(point) in fronts,
                "label": three_digits(value.value) if id(point) in tagged else "",
                "described": described,
            }
        )
    return records


def _history_title(history: History, unit: str) -> str:
    gains = [gain for gain, *_ in gains_of(history, unit)]
    if len(gains) < 2:
        years = sorted({point.year for point in history.points})
        text = "What a byte costs" if unit == CYCLES else "How fast a byte is"
        return f"{text}, {years[0]} to {years[-1]}"
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


def timeline_of(history: History) -> History:
    """The part of `history` that is on a line with a family, as a history that is drawn whole."""
    lines = tuple(msgspec.structs.replace(line, common=True) for line in history.lines if line.family)
    names = {line.id for line in lines}
    points = tuple(point for point in history.points if point.line in names)
    there = {point.line for point in points if point.cycles_per_byte}
    lines = tuple(line for line in lines if line.id in there)
    return dataclasses.replace(history, lines=lines, points=points, explained=())


def timeline_text(history: History) -> str:
    """Years, cycles a byte and machines by algorithm, oldest first; then the sources, and what is left out."""
    part = timeline_of(history)
    tables: list[Part] = []
    used: dict[str, None] = {}
    heads = [dataclasses.replace(head, flows=head.text == "machine") for head in columns(_TIMELINE)]
    for line in part.lines:
        points = [point for point in part.of(line) if point.cycles_per_byte]
        used |= dict.fromkeys(point.source for point in points)
        tables.append(Listing(line.name, heads, [_timeline_row(point) for point in points]))
    if not tables:
        return "No study and no run here has cycles for these algorithms.\n"
    cited = {study.name: study.citation for study in part.studies}
    measured = "measured, the fastest program of the run"
    sources = [(name, plain(cited.get(name, ""), 400) or measured) for name in used]
    tables += titled("Sources", Items(sources))
    if lacking := sum(point.cycles_per_byte is None for point in part.points):
        tables += [Styled(), f"{lacking} figures without cycles are left out: their clock is not known."]
    return render(tables)


def _timeline_row(point: HistoryPoint) -> tuple[str, ...]:
    cost = point.cycles_per_byte
    assert cost is not None  # the caller asks first
    value = value_text(cost) if point.has_interval else three_digits(cost.value)
    return str(point.year), value, _USES[point.means], machine_name(point), plain(point.source, 40)
