"""Charts: horizontal bars, dots on a ratio or logarithmic axis, and curves; with their axes, legends and titles.

One Altair specification serves HTML, SVG, PNG and PDF. Every chart names its unit, draws its intervals, says in its
title what is seen, and tells series apart by more than colour. What is drawn of a run is decided in `pictures`. A
chart is as wide as the page; `narrow` makes one for a telephone, panels below each other.
"""

from __future__ import annotations

import json
import math
import operator
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import altair as alt
from altair.utils import schemapi

from perbyte.model import Estimate
from perbyte.report import theme

# checking each part against the schema takes longer than drawing; the tests check every chart
schemapi.disable_debug_mode()

Chart: TypeAlias = alt.TopLevelMixin
Records = Sequence[dict[str, Any]]
Look = Mapping[str, tuple[str, str, list[int]]]
Places: TypeAlias = tuple[str, Sequence[str]]
"""A field of records, and its values in the order in which they are drawn."""
WIDE, NARROW = 1000, 250  # pixels of all panels beside each other
# letters of a heading, a line below it and a name of an axis that fit a telephone, in DejaVu Sans as in Arial
_NARROW_TITLE, _NARROW_LINE, _NARROW_AXIS = 35, 52, 40
_FAR, _NEAR = (1, 1.5, 2, 3, 5, 7), (1, 1.1, 1.25, 1.5, 2, 3, 5, 6, 7, 8, 9)
_LABEL = 75  # pixels from one label of an axis to the next at the least
# pixels of a letter at the most: a reader's fonts may be wider than those a chart was laid out with
_WIDEST = 7.6
_ROOM = 1.12  # of the longest interval, so that there is some beyond its end
_LONG = 16  # letters of a label beyond which a browser's font may need more room than was reserved
_PARTS = "␟"  # between a heading and a row's own name, in values of a grouped axis


def bars(
    records: Records,
    *,
    y: Places,
    unit: str,
    colour: Any,
    lane: Places | None = None,
    text: str = "",
    row: Places | None = None,
    column: Places | None = None,
    narrow: bool = False,
    width: int = 0,
    labels: bool = True,
) -> Any:
    """Draw horizontal bars from zero with their intervals and the field `text` at their ends.

    A `lane` divides each place of `y`. `width` is that of a panel in pixels, where it does not follow from `column`;
    without `labels` nobody names the places of `y`.
    """
    base = alt.Chart().encode(
        y=_places(*y, grid=False, labels=labels), **({"yOffset": _lane(*lane)} if lane else {})
    )
    width, edge = width or _panel(column, narrow), _edge(records)
    scale = alt.Scale(domain=[0, edge * _ROOM], nice=False, clamp=True)
    drawn = base.mark_bar(height={"band": 0.72} if lane is None else alt.Undefined).encode(
        x=alt.X("value:Q", title=unit, scale=scale, axis=_few_labels(width, edge)),
        color=colour,
        description="described:N",
        tooltip=tooltip(),
    )
    whisker = base.mark_rule(strokeWidth=1.5, color=theme.INK, aria=False).encode(x="low:Q", x2="high:Q")
    layers = [drawn, whisker, *_cut_ends(base, scale, records, color=alt.value(theme.INK))]
    if text:
        layers.append(base.mark_text(align="left", dx=5, aria=False).encode(x="high:Q", text=f"{text}:N"))
    step = 17 if lane is None else 12 if text else 7
    panel = alt.layer(*layers).properties(width=width, height=alt.Step(step))
    return _panels(panel, records, row, column, narrow)


def apart(
    draw: Callable[..., Any],
    records: Records,
    *,
    y: Places,
    column: Places,
    stacked: bool = False,
    narrow: bool = False,
    **given: Any,
) -> Any:
    """As `draw`, which is `bars` or `dots`, a panel for each value of `column`, each with an axis of its own.

    On a common one the small figures of one panel would all look alike beside the large ones of another. `stacked`
    panels stand below each other, each with its own places of `y` alone; all do on a narrow page.
    """
    field, order = column
    groups = [(value, [record for record in records if record[field] == value]) for value in order]
    panels: list[Any] = []
    for value, own in ((value, own) for value, own in groups if own):
        place, places = y
        if stacked or narrow:
            there = {str(record[place]) for record in own}
            there |= {name.partition(_PARTS)[0] for name in there}
            places = [name for name in places if name in there]
        width = _panel(None if stacked else column, narrow)
        labels = stacked or narrow or not panels
        drawn = draw(own, y=(place, places), narrow=narrow, width=width, labels=labels, **given)
        title = alt.TitleParams(value, anchor="middle", fontSize=11, fontWeight=600, offset=6)
        panels.append(drawn.properties(title=title))
    if len(panels) == 1:
        return draw(records, y=y, narrow=narrow, **given)
    return alt.vconcat(*panels, spacing=14) if stacked or narrow else alt.hconcat(*panels, spacing=20)


def dots(
    records: Records,
    *,
    y: Places,
    x: str,
    scale: Mapping[str, Any],
    look: Look,
    by: str,
    lanes: Sequence[str] = (),
    rule_at_one: bool = False,
    joined: tuple[str, str] | None = None,
    legend: bool = True,
    text: str = "",
    row: Places | None = None,
    column: Places | None = None,
    narrow: bool = False,
    width: int = 0,
    labels: bool = True,
) -> Any:
    """Draw a dot with its interval for each record, told apart by the field `by` as `look` has it.

    `lanes` are the values of `by` that get a place of their own within a place of `y`; `joined` names two fields that
    a grey line joins; without a `legend` colours are not named. Records whose field `hollow` is set are drawn as hollow
    diamonds. The field `text` is written at the upper ends of intervals. `width` and `labels` are as in `bars`.
    """
    base = alt.Chart().encode(y=_places(*y, grid=True, labels=labels))
    lane = {"yOffset": _lane(by, lanes)} if lanes else {}
    layers = []
    if rule_at_one:
        rule = alt.Chart().mark_rule(color=theme.INK, strokeDash=[4, 3], aria=False)
        layers.append(rule.encode(x=alt.datum(1.0)))
    if joined:
        link = base.mark_rule(color=theme.MUTED, strokeWidth=2, aria=False)
        layers.append(link.encode(x=f"{joined[0]}:Q", x2=joined[1]))
    colour, shape = styled(alt.Color, by, look), styled(alt.Shape, by, look)
    if not legend:
        colour.legend = shape.legend = None
    value = alt.X("value:Q", title=textwrap.wrap(x, _NARROW_AXIS) if narrow else x, **scale)
    layers += _points(base, records, value, colour=colour, shape=shape, **lane)
    layers += _cut_ends(base, scale["scale"], records, color=colour, **lane)
    if text:
        written = base.mark_text(align="left", dx=7, aria=False)
        layers.append(written.encode(x="high:Q", text=f"{text}:N", **lane))
    height = len(y[1]) * max(18, 6 * len(lanes) + 6)
    drawn = alt.layer(*layers).properties(width=width or _panel(column, narrow), height=height)
    return _panels(drawn, records, row, column, narrow)


def dots_apart(records: Records, **given: Any) -> Any:
    """As `dots`, in stacked panels that have their own places of `y` alone."""
    return apart(dots, records, stacked=True, **given)


def _points(base: Any, records: Records, value: Any, *, colour: Any, shape: Any, **lane: Any) -> list[Any]:
    """Layers of the intervals and their dots, and of the diamonds of records whose field `hollow` is set."""
    solid = alt.datum.hollow == None if any("hollow" in record for record in records) else "true"  # noqa: E711
    layers = [
        base.mark_rule(strokeWidth=1.5, aria=False)
        .encode(x="low:Q", x2="high:Q", color=colour, **lane)
        .transform_filter(solid),
        base.mark_point(size=44, filled=True)
        .encode(x=value, color=colour, shape=shape, description="described:N", tooltip=tooltip(), **lane)
        .transform_filter(solid),
    ]
    if solid != "true":
        look = {"stroke": theme.VERMILION, "fill": theme.PAPER}
        layers.append(
            base.mark_point(size=90, filled=False, strokeWidth=2, shape="diamond", **look)
            .encode(x=value, description="described:N", tooltip=tooltip(), **lane)
            .transform_filter(alt.datum.hollow == True)  # noqa: E712
        )
    return layers


def curve_panel(panels: int, columns: int = 3, *, narrow: bool = False) -> tuple[int, int]:
    """Width and height in pixels of each of so many panels of `curves`."""
    if narrow:
        return NARROW, 140
    return (WIDE + 60) // min(columns, max(panels, 1)) - 60, 140


def curves(
    layers: Sequence[Any], records: Records, *, panels: Places, columns: int = 3, narrow: bool = False
) -> Any:
    """Lay curves out in small panels by (field, values in order), `columns` beside each other, or one if `narrow`."""
    _, order = panels
    width, height = curve_panel(len(order), columns, narrow=narrow)
    panel = alt.layer(*layers).properties(width=width, height=height)
    wide = 1 if narrow else min(columns, max(len(order), 1))
    drawn = panel.facet(facet=_facet(*panels), columns=wide, data=inlined(records))
    return drawn.resolve_axis(x="independent")  # its values stand under each panel


def _facet(field: str, order: Sequence[str]) -> Any:
    header = alt.Header(title=None, labelAnchor="start")
    return alt.Facet(f"{field}:N", sort=list(order), header=header)


def finished(chart: Any, title: str, subtitle: Sequence[str], *, narrow: bool = False) -> Chart:
    """Add title, subtitle and the shared look."""
    lines = [part for line in subtitle for part in textwrap.wrap(line, _NARROW_LINE if narrow else 150)]
    heading = alt.TitleParams(_balanced(title, _NARROW_TITLE if narrow else 110), subtitle=lines)
    look = theme.config()
    if narrow:
        look["legend"] = {**look["legend"], "columns": 1}
    result: Chart = chart.properties(title=heading).configure(**look)
    return result


def grouped_axis(records: Records, group: str, own: str, groups: Sequence[str]) -> tuple[str, list[str]]:
    """Put a field `place` into `records` and give it with its values: headings by `group`, rows by `own` below them.

    Rows stand in the order of `records`. Labels of rows are set in, headings are bold: one axis, so that no label can
    lie over another.
    """
    order: list[str] = []
    for name in groups:
        members = dict.fromkeys(str(record[own]) for record in records if record[group] == name)
        order += [name, *(f"{name}{_PARTS}{member}" for member in members)]
    for record in records:
        record["place"] = f"{record[group]}{_PARTS}{record[own]}"
    return "place", order


def _places(field: str, order: Sequence[str], *, grid: bool, labels: bool = True) -> Any:
    grouped = any(_PARTS in name for name in order)
    heading = f"indexof(datum.value, '{_PARTS}') < 0"
    axis: dict[str, Any] = {"grid": grid, "ticks": False, "domain": grid}
    if grouped:
        axis["labelExpr"] = f"{heading} ? datum.value : split(datum.value, '{_PARTS}')[1]"
        # bold is wider than what is reserved for labels
        axis["minExtent"] = round(_WIDEST * max(len(name) for name in order if _PARTS not in name))
        axis["labelFontWeight"] = {"condition": {"test": heading, "value": 600}, "value": 400}
    elif (longest := max(map(len, order), default=0)) > _LONG:
        axis |= {"minExtent": round(6.4 * longest), "labelLimit": 320}
    return alt.Y(
        f"{field}:N",
        title=None,
        sort=list(order),
        scale=alt.Scale(domain=list(order)),
        axis=alt.Axis(**axis) if labels else None,
    )


def _lane(field: str, order: Sequence[str]) -> Any:
    return alt.YOffset(f"{field}:N", sort=list(order))


def _panel(column: Places | None, narrow: bool) -> int:
    count = len(column[1]) if column and not narrow else 1
    return NARROW if narrow else max((WIDE + 20) // max(count, 1) - 20, 110)


def _panels(layered: Any, records: Records, row: Places | None, column: Places | None, narrow: bool) -> Any:
    """Lay `layered` out in panels over `records`; without row and column it stays a single panel.

    A panel without records would let those behind it move up into its place (Vega-Lite lays out the panels that
    have data, one after the other), so every combination gets at least empty records. On a narrow page all
    panels stand below each other.
    """
    asked = {name: facet for name, facet in (("row", row), ("column", column)) if facet and len(facet[1]) > 1}
    if not asked:
        return layered.properties(data=inlined(records))
    if len(asked) == 2:
        records = [*records, *_empty(records, asked["row"][0], asked["column"][0])]
    if narrow:
        records = [
            {**record, "panel": ", ".join(str(record[field]) for field, _ in asked.values())}
            for record in records
        ]
        panels = list(dict.fromkeys(record["panel"] for record in records))
        return layered.facet(facet=_facet("panel", panels), columns=1, data=inlined(records))
    facets: dict[str, Any] = {}
    if "row" in asked:
        field, order = asked["row"]
        header = alt.Header(title=None, labelAngle=0, labelAlign="right", labelPadding=12)
        facets["row"] = alt.Row(f"{field}:N", sort=list(order), header=header)
    if "column" in asked:
        field, order = asked["column"]
        facets["column"] = alt.Column(f"{field}:N", sort=list(order), header=alt.Header(title=None))
    return layered.facet(data=inlined(records), **facets)


def _empty(records: Records, row: str, column: str) -> list[dict[str, Any]]:
    there = {(record[row], record[column]) for record in records}
    columns = dict.fromkeys(record[column] for record in records)
    nothing = {"value": None, "low": None, "high": None, "text": "", "factor": "", "described": ""}
    return [
        {**record, column: missing, **{key: value for key, value in nothing.items() if key in record}}
        for missing in columns
        for record in {(record[row], record.get("library")): record for record in records}.values()
        if (record[row], missing) not in there
    ]


def ends_of(estimate: Estimate) -> tuple[float, float]:
    """Where an interval is drawn from and to; at the value alone where it is not known."""
    return (estimate.low, estimate.high) if estimate.known else (estimate.value, estimate.value)


def spread(estimate: Estimate) -> dict[str, float]:
    """The fields of a record that are drawn; a logarithmic axis has no place for what is not positive."""
    low, high = ends_of(estimate)
    return {"value": estimate.value, "low": max(low, estimate.value * 1e-3), "high": high}


def inlined(records: Records) -> Any:
    """Put records into a chart, as one string: Altair would check thousands against its schema for seconds."""
    return alt.InlineData(values=json.dumps(list(records)), format=alt.JsonDataFormat(type="json"))


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
        "axis": alt.Axis(
            values=inside or [low, high], format=",~g", labelOverlap="greedy", labelSeparation=12, grid=True
        ),
    }


def decades(values: Iterable[float], *, below: bool) -> dict[str, Any]:
    """A logarithmic scale labelled at each decade, with room for the points' labels below or above them."""
    low, high = decade_range(values, below=below)
    steps = [10.0**power for power in range(math.ceil(low), math.floor(high) + 1)]
    return {
        "scale": alt.Scale(type="log", domain=[10**low, 10**high], nice=False, clamp=True),
        "axis": alt.Axis(values=steps, format=",~g", grid=True),
    }


def decade_range(values: Iterable[float], *, below: bool) -> tuple[float, float]:
    """The powers of ten at which the scale of `decades` begins and ends."""
    known = [math.log10(value) for value in values]
    low, high = min(known), max(known)
    wide, narrow = max(0.2 * (high - low), 0.3), max(0.06 * (high - low), 0.15)
    return (low - wide, high + narrow) if below else (low - narrow, high + wide)


def ratio_scale(values: Iterable[float]) -> dict[str, Any]:
    """Scale and axis over ratios, with some room on both sides of 1; close ones get closer labels."""
    reach = [*(value for value in values if value > 0), 0.8, 1.25]
    return logarithmic(reach, _FAR if max(reach) > 4 * min(reach) else _NEAR)


def styled(channel: Any, field: str, look: Look) -> Any:
    """Colour, shape or dash (a class of Altair's channels) by `field`; all of one field share a legend."""
    part = (alt.Color, alt.Shape, alt.StrokeDash).index(channel)
    scale = alt.Scale(domain=list(look), range=[style[part] for style in look.values()])
    return channel(f"{field}:N", title=field, scale=scale)


def ordered(sizes: Sequence[str]) -> Any:
    """A scale from pale to dark for sizes in order."""
    last = len(theme.SEQUENCE) - 1
    steps = [round(index * (last - 1) / max(len(sizes) - 1, 1)) for index in range(len(sizes))]
    return alt.Scale(domain=list(sizes), range=[theme.SEQUENCE[step] for step in steps])


def tooltip() -> list[Any]:
    """What the interactive form of a chart shows at a mark."""
    return [alt.Tooltip("described:N", title=" ")]


def _cut_ends(base: Any, scale: Any, records: Records, **look: Any) -> list[Any]:
    """An arrow at the edge of the axis for every interval that reaches beyond it."""
    least, most = scale.domain
    ends = (("low", "<", operator.lt, least, "left"), ("high", ">", operator.gt, most, "right"))
    return [
        base.transform_filter(f"datum.{end} {sign} {edge!r}")
        .mark_point(shape=f"triangle-{side}", filled=True, size=45, opacity=1, aria=False)
        .encode(x=alt.datum(edge), **look)
        for end, sign, is_beyond, edge, side in ends
        if any(record[end] is not None and is_beyond(record[end], edge) for record in records)
    ]


def _few_labels(width: int, edge: float) -> Any:
    """An axis up to `edge` whose labels do not touch each other, on a panel of `width` pixels."""
    label = max(round(_WIDEST * (len(f"{edge:,.0f}") + 3)), _LABEL)
    return alt.Axis(tickCount=max(width // label, 3), labelOverlap="greedy", labelSeparation=6)


def _edge(records: Records) -> float:
    """How far intervals are drawn: twice the largest value at the most, lest one bad cell flatten all others."""
    highest, largest = (max(float(record[field]) for record in records) for field in ("high", "value"))
    return min(highest, 2 * largest)


def _balanced(text: str, most: int) -> list[str]:
    """Wrap at `most` characters or less, so that the last line is not a lone word."""
    count = -(-len(text) // most)
    for width in range(len(text) // max(count, 1), most + 1):
        if len(lines := textwrap.wrap(text, max(width, 1))) <= count:
            return lines or [""]
    return textwrap.wrap(text, most) or [""]
