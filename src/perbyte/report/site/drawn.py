"""Pictures of a site as SVG, wide and narrow: bars from zero, ranges on a logarithmic axis, courses over time.

Hundreds of pages have one or two each, and Vega takes a tenth of a second for one; so these few shapes are written
here. Colours are the theme's, which pages recolour in the dark. Every value has its interval or its range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import NamedTuple

from perbyte.model import Estimate
from perbyte.report import theme
from perbyte.report.charts import ends_of
from perbyte.report.document import Block, Widget

WIDE, NARROW = 1040, 352
_STEP, _TALL = 24, 38  # pixels from one row to the next, with the name beside its bar and above it
_LETTER = 7.4  # pixels of a letter
_TOP = 26  # pixels above the first row, for the axis


@dataclass(frozen=True, slots=True)
class Bar:
    """A row of a picture: `text` stands behind it, `tip` is told at it; what is `faint` is in doubt."""

    name: str
    cost: Estimate
    text: str
    tip: str
    colour: str = theme.BLUE
    faint: bool = False

    @property
    def high(self) -> float:
        """The upper end of what is drawn."""
        return ends_of(self.cost)[1]


class CoursePoint(NamedTuple):
    """A cost in the order of time: the moment in days, the day's text, and what is told at it."""

    moment: float
    day: str
    cost: Estimate
    tip: str


def bars(id: str, heading: str, unit: str, rows: Sequence[Bar], caption: str) -> Block:
    """Horizontal bars from zero with their intervals."""
    return _picture(id, heading, caption, partial(_bars, heading, unit, rows))


def ranges(id: str, heading: str, unit: str, rows: Sequence[Bar], caption: str) -> Block:
    """A dot with its range in each row, on a logarithmic axis."""
    return _picture(id, heading, caption, partial(_ranges, heading, unit, rows))


def courses(
    id: str, heading: str, unit: str, lines: Mapping[str, Sequence[CoursePoint]], caption: str
) -> Block:
    """Costs over time from zero, a line and a shade of dash for each program."""
    return _picture(id, heading, caption, partial(_courses, heading, unit, lines))


def _picture(id: str, heading: str, caption: str, draw: Callable[[int], str]) -> Block:
    """What `draw` gives for a wide and for a narrow window."""
    data = {"id": id, "heading": heading, "caption": caption, "svg": draw(WIDE), "narrow": draw(NARROW)}
    return Widget("drawing", data)


def _bars(heading: str, unit: str, rows: Sequence[Bar], width: int) -> str:
    # one wide interval must not flatten the others
    edge = min(max(row.high for row in rows), 2 * max(row.cost.value for row in rows)) or 1.0
    left, span, step = _room(rows, width)

    def at(value: float) -> float:
        return left + span * min(max(value, 0.0), edge) / edge

    ticks = [tick for tick in _steps(edge, max(span // 90, 2)) if tick <= edge * 1.001]
    parts = _axis(heading, unit, width, _TOP + step * len(rows), [(at(tick), tick) for tick in ticks])
    for place, row in enumerate(rows):
        y = _named(parts, row.name, place, step, left, width)
        low, high = ends_of(row.cost)
        opacity = ' fill-opacity="0.45"' if row.faint else ""
        parts.append(
            f'<rect x="{left}" y="{y - 7:.1f}" width="{max(at(row.cost.value) - left, 0.5):.1f}" height="14" '
            f'fill="{row.colour}"{opacity} data-tip="{escape(row.tip)}"></rect>'
        )
        _whisker(parts, at(low), at(high), y, theme.INK)
        text = f"{row.text} →" if high > edge else row.text
        parts.append(_text(at(max(high, row.cost.value)) + 6, y + 4, text, "start", theme.INK, 12))
    return "".join([*parts, "</svg>"])


def _ranges(heading: str, unit: str, rows: Sequence[Bar], width: int) -> str:
    ends = [end for row in rows for end in (row.cost.value, *ends_of(row.cost)) if end > 0]
    least, most = min(ends) / 1.15, max(ends) * 1.15
    left, span, step = _room(rows, width)

    def at(value: float) -> float:
        return left + span * math.log(max(value, least) / least) / math.log(most / least)

    ticks = _decades(least, most, max(span // 60, 2))
    parts = _axis(heading, unit, width, _TOP + step * len(rows), [(at(tick), tick) for tick in ticks])
    for place, row in enumerate(rows):
        y = _named(parts, row.name, place, step, left, width)
        low, high = ends_of(row.cost)
        _whisker(parts, at(low), at(high), y, row.colour)
        parts.append(_circle(at(row.cost.value), y, 5, row.colour, row.tip))
        parts.append(_text(at(max(high, row.cost.value)) + 9, y + 4, row.text, "start", theme.INK, 12))
    return "".join([*parts, "</svg>"])


def _courses(heading: str, unit: str, lines: Mapping[str, Sequence[CoursePoint]], width: int) -> str:
    points = [point for line in lines.values() for point in line]
    first, last = (pick(point.moment for point in points) for pick in (min, max))
    highest = max(ends_of(point.cost)[1] for point in points)
    edge = min(highest, 2 * max(point.cost.value for point in points)) * 1.08
    columns = max((width - 20) // 230, 1)
    top = 30 + 20 * -(-len(lines) // columns)
    tall, left, right = 260, 58, 24
    parts = _frame(heading, width, top + tall + 40)
    parts.append(_text(4, 14, unit, "start", theme.QUIET, 11))

    def x(moment: float) -> float:
        share = (moment - first) / (last - first) if last > first else 0.5
        return left + 10 + (width - left - right - 20) * share

    def y(value: float) -> float:
        return top + tall * (1 - min(max(value, 0), edge) / edge)

    for tick in _steps(edge, 5):
        if tick <= edge:
            parts.append(_line(left, y(tick), width - right, y(tick), theme.GRID))
            parts.append(_text(left - 6, y(tick) + 4, f"{tick:,.10g}", "end", theme.QUIET, 11))
    days = sorted({(point.moment, point.day) for point in points})
    most = max((width - left - right) // 90, 2)
    if len(days) > most:
        days = [days[round(place * (len(days) - 1) / (most - 1))] for place in range(most)]
    for moment, day in dict.fromkeys(days):
        parts.append(_text(x(moment), top + tall + 18, day, "middle", theme.QUIET, 11))
    look = theme.series(list(lines))
    for place, (name, line) in enumerate(lines.items()):
        colour, _, dash = look[name]
        row, column = divmod(place, columns)
        across, down = 8 + column * 230, 30 + row * 20
        dashes = f' stroke-dasharray="{",".join(map(str, dash))}"' if dash != [1, 0] else ""
        parts.append(
            f'<path d="M{across},{down}h22" stroke="{colour}" stroke-width="2.5" fill="none"{dashes}></path>'
        )
        parts.append(_text(across + 28, down + 4, name, "start", theme.INK, 12))
        path = "L".join(f"{x(point.moment):.1f},{y(point.cost.value):.1f}" for point in line)
        parts.append(f'<path d="M{path}" stroke="{colour}" stroke-width="2" fill="none"{dashes}></path>')
        for point in line:
            low, high = ends_of(point.cost)
            middle = x(point.moment)
            parts.append(_line(middle, y(low), middle, y(high), colour, 1.5))
            parts.append(_circle(middle, y(point.cost.value), 4, colour, point.tip))
    return "".join([*parts, "</svg>"])


def _room(rows: Sequence[Bar], width: int) -> tuple[int, int, int]:
    """Pixels for names, for bars without the texts behind them, and from row to row."""
    right = round(min(_LETTER * (max(len(row.text) for row in rows) + 3), width / 2)) + 8
    if width == NARROW:
        return 6, width - 6 - right, _TALL
    left = round(min(_LETTER * max(len(row.name) for row in rows), 330)) + 16
    return left, width - left - right, _STEP


def _axis(
    heading: str, unit: str, width: int, bottom: int, ticks: Iterable[tuple[float, float]]
) -> list[str]:
    """The frame of a picture of rows with its grid: (place, value) of each tick."""
    parts = _frame(heading, width, bottom + 8)
    for x, value in ticks:
        parts.append(_line(x, 22, x, bottom, theme.GRID))
        if x < width - _LETTER * (len(unit) + 4):
            parts.append(_text(x, 14, f"{value:,.10g}", "middle", theme.QUIET, 11))
    return [*parts, _text(width - 4, 14, unit, "end", theme.QUIET, 11)]


def _named(parts: list[str], name: str, place: int, step: int, left: int, width: int) -> float:
    """Write the name of a row, and give the middle of its bar."""
    top = _TOP + place * step
    if step == _TALL:
        parts.append(_text(6, top + 13, _cut(name, int((width - 12) / _LETTER)), "start", theme.INK, 12))
        return top + 27
    parts.append(_text(left - 10, top + 16, _cut(name, int((left - 12) / _LETTER) + 2), "end", theme.INK, 12))
    return top + 12


def _frame(heading: str, width: int, height: int) -> list[str]:
    return [
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{escape(heading)}" font-family="{escape(theme.FONT)}">'
        f'<rect x="0" y="0" width="{width}" height="{height}" fill="{theme.PAPER}"></rect>'
    ]


def _whisker(parts: list[str], low: float, high: float, y: float, colour: str) -> None:
    parts.append(_line(low, y, high, y, colour, 1.5))
    if high - low > 3:
        parts += [_line(end, y - 4, end, y + 4, colour, 1.5) for end in (low, high)]


def _circle(x: float, y: float, radius: int, colour: str, tip: str) -> str:
    place = f'cx="{x:.1f}" cy="{y:.1f}" r="{radius}"'
    return f'<circle {place} fill="{colour}" data-tip="{escape(tip)}"></circle>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1) -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width}"></line>'


def _text(x: float, y: float, content: str, anchor: str, colour: str, size: int) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="{colour}" font-size="{size}">{escape(content)}</text>'


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: max(most - 1, 1)]}…"


def _steps(edge: float, most: float) -> list[float]:
    """Round values from zero to `edge`, so many at the most."""
    rough = edge / max(most, 1)
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * digit for digit in (1, 2, 5, 10) if unit * digit >= rough * 0.999)
    return [k * step for k in range(int(edge / step + 1e-9) + 1)]


def _decades(low: float, high: float, most: float) -> list[float]:
    """Round values of a logarithmic axis, close ones where there is room."""
    for steps in ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        ticks = [
            step * 10.0**power
            for power in range(-9, 15)
            for step in steps
            if low <= step * 10.0**power <= high
        ]
        if len(ticks) <= most:
            return ticks
    return ticks[:: math.ceil(len(ticks) / most)]
