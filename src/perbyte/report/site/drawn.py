"""Pictures of a site as SVG, wide and narrow: bars from zero, ranges on a logarithmic axis, courses over time.

Hundreds of pages have one or two each, and Vega takes a tenth of a second for one; so these few shapes are written
here. Colours are the theme's, which pages recolour in the dark. Every value has its interval or its range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape

from perbyte.report import theme
from perbyte.report.html import Block

WIDE, NARROW = 1040, 352
_STEP, _TALL = 24, 38  # pixels from one row to the next, with the name beside its bar and above it
_LETTER = 7.4  # pixels of a letter


@dataclass(frozen=True, slots=True)
class Bar:
    """A row of a picture: `text` stands behind it, `tip` is told at it; what is `faint` is in doubt."""

    name: str
    value: float
    low: float
    high: float
    text: str
    tip: str
    colour: str = theme.BLUE
    faint: bool = False


def interval_bar(
    name: str, value: float, width: float, text: str, tip: str, colour: str = theme.BLUE, *, faint: bool
) -> Bar:
    """A row whose interval has the relative half-width `width`; none is drawn where that is not finite."""
    half = value * width if math.isfinite(width) else 0.0
    return Bar(name, value, value - half, value + half, text, tip, colour, faint)


@dataclass(frozen=True, slots=True)
class Course:
    """Points of one program in the order of time: (day as a number, its text, value, low, high, told)."""

    name: str
    points: tuple[tuple[float, str, float, float, float, str], ...]


def bars(id: str, heading: str, unit: str, rows: Sequence[Bar], caption: str = "") -> Block:
    """Horizontal bars from zero with their intervals."""
    return _picture(id, heading, caption, partial(_bars, heading, unit, rows))


def ranges(id: str, heading: str, unit: str, rows: Sequence[Bar], caption: str = "") -> Block:
    """A dot with its range in each row, on a logarithmic axis."""
    return _picture(id, heading, caption, partial(_ranges, heading, unit, rows))


def courses(id: str, heading: str, unit: str, lines: Sequence[Course], caption: str = "") -> Block:
    """Costs over time from zero, a line and a shade of dash for each program."""
    return _picture(id, heading, caption, partial(_courses, heading, unit, lines))


def _picture(id: str, heading: str, caption: str, draw: Callable[[int], str]) -> Block:
    """What `draw` gives for a wide and for a narrow window."""
    data = {"id": id, "heading": heading, "caption": caption, "svg": draw(WIDE), "narrow": draw(NARROW)}
    return Block("drawing", data)


def _bars(heading: str, unit: str, rows: Sequence[Bar], width: int) -> str:
    most = max((row.value for row in rows), default=1.0)
    edge = min(
        max((row.high for row in rows), default=1.0), 2 * most
    )  # one wide interval must not flatten the others
    left, right, step = _room(rows, width)
    span = width - left - right
    ticks = [step for step in _steps(edge, max(span // 90, 2)) if step <= edge * 1.001]
    parts = _frame(heading, width, 34 + step * len(rows))
    bottom = 26 + step * len(rows)
    for tick in ticks:
        x = left + span * tick / edge
        parts.append(_line(x, 22, x, bottom, theme.GRID))
        if x < width - _LETTER * (len(unit) + 4):
            parts.append(_text(x, 14, f"{tick:,.10g}", "middle", theme.QUIET, 11))
    parts.append(_text(width - 4, 14, unit, "end", theme.QUIET, 11))
    for place, row in enumerate(rows):
        y = _named(parts, row.name, place, step, left, width)
        shown, low, high = (min(max(value, 0.0), edge) for value in (row.value, row.low, row.high))
        opacity = ' fill-opacity="0.45"' if row.faint else ""
        parts.append(
            f'<rect x="{left}" y="{y - 7:.1f}" width="{max(span * shown / edge, 0.5):.1f}" height="14" '
            f'fill="{row.colour}"{opacity} data-tip="{escape(row.tip)}"></rect>'
        )
        _whisker(parts, left + span * low / edge, left + span * high / edge, y, theme.INK)
        cut = " →" if row.high > edge else ""
        parts.append(
            _text(left + span * max(high, shown) / edge + 6, y + 4, row.text + cut, "start", theme.INK, 12)
        )
    return "".join([*parts, "</svg>"])


def _ranges(heading: str, unit: str, rows: Sequence[Bar], width: int) -> str:
    lows = [row.low for row in rows if row.low > 0] + [row.value for row in rows]
    low, high = min(lows), max(max(row.high, row.value) for row in rows)
    low, high = low / 1.15, high * 1.15
    left, right, step = _room(rows, width)
    span = width - left - right

    def at(value: float) -> float:
        return left + span * math.log(max(value, low) / low) / math.log(high / low)

    parts = _frame(heading, width, 34 + step * len(rows))
    bottom = 26 + step * len(rows)
    for tick in _decades(low, high, max(span // 60, 2)):
        parts.append(_line(at(tick), 22, at(tick), bottom, theme.GRID))
        if at(tick) < width - _LETTER * (len(unit) + 4):
            parts.append(_text(at(tick), 14, f"{tick:,.10g}", "middle", theme.QUIET, 11))
    parts.append(_text(width - 4, 14, unit, "end", theme.QUIET, 11))
    for place, row in enumerate(rows):
        y = _named(parts, row.name, place, step, left, width)
        _whisker(parts, at(row.low), at(row.high), y, row.colour)
        parts.append(
            f'<circle cx="{at(row.value):.1f}" cy="{y:.1f}" r="5" fill="{row.colour}" '
            f'data-tip="{escape(row.tip)}"></circle>'
        )
        parts.append(_text(at(max(row.high, row.value)) + 9, y + 4, row.text, "start", theme.INK, 12))
    return "".join([*parts, "</svg>"])


def _courses(heading: str, unit: str, lines: Sequence[Course], width: int) -> str:
    points = [point for line in lines for point in line.points]
    first, last = min(point[0] for point in points), max(point[0] for point in points)
    edge = min(max(point[4] for point in points), 2 * max(point[2] for point in points)) * 1.08
    columns = max((width - 20) // 230, 1)
    top = 30 + 20 * -(-len(lines) // columns)
    tall, left, right = 260, 58, 24
    parts = _frame(heading, width, top + tall + 40)
    parts.append(_text(4, 14, unit, "start", theme.QUIET, 11))

    def x(day: float) -> float:
        return (
            left
            + 10
            + (width - left - right - 20) * ((day - first) / (last - first) if last > first else 0.5)
        )

    def y(value: float) -> float:
        return top + tall * (1 - min(max(value, 0), edge) / edge)

    for tick in _steps(edge, 5):
        if tick <= edge:
            parts += [
                _line(left, y(tick), width - right, y(tick), theme.GRID),
                _text(left - 6, y(tick) + 4, f"{tick:,.10g}", "end", theme.QUIET, 11),
            ]
    days = sorted({point[:2] for point in points})
    many = max((width - left - right) // 90, 2)
    shown = (
        days if len(days) <= many else [days[round(k * (len(days) - 1) / (many - 1))] for k in range(many)]
    )
    parts += [
        _text(x(day), top + tall + 18, text, "middle", theme.QUIET, 11) for day, text in dict.fromkeys(shown)
    ]
    for place, (line, look) in enumerate(
        zip(lines, theme.series([course.name for course in lines]).values(), strict=True)
    ):
        colour, _, dash = look
        row, column = divmod(place, columns)
        across, down = 8 + column * 230, 30 + row * 20
        dashes = f' stroke-dasharray="{",".join(map(str, dash))}"' if dash != [1, 0] else ""
        parts.append(
            f'<path d="M{across},{down}h22" stroke="{colour}" stroke-width="2.5" fill="none"{dashes}></path>'
        )
        parts.append(_text(across + 28, down + 4, line.name, "start", theme.INK, 12))
        path = "L".join(f"{x(day):.1f},{y(value):.1f}" for day, _, value, _, _, _ in line.points)
        parts.append(f'<path d="M{path}" stroke="{colour}" stroke-width="2" fill="none"{dashes}></path>')
        for day, _, value, low, high, told in line.points:
            parts.append(_line(x(day), y(low), x(day), y(high), colour, 1.5))
            parts.append(
                f'<circle cx="{x(day):.1f}" cy="{y(value):.1f}" r="4" fill="{colour}" '
                f'data-tip="{escape(told)}"></circle>'
            )
    return "".join([*parts, "</svg>"])


def _room(rows: Sequence[Bar], width: int) -> tuple[int, int, int]:
    """Pixels for names and for texts behind bars, and from row to row."""
    texts = max((len(row.text) for row in rows), default=0)
    right = round(min(_LETTER * (texts + 3), width / 2)) + 8
    if width == NARROW:
        return 6, right, _TALL
    names = max((len(row.name) for row in rows), default=0)
    return round(min(_LETTER * names, 330)) + 16, right, _STEP


def _named(parts: list[str], name: str, place: int, step: int, left: int, width: int) -> float:
    """Write the name of a row, and give the middle of its bar."""
    top = 26 + place * step
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
