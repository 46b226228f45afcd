"""The cost of a function over its last commits as a picture: figures with intervals, and where it changed.

A change is marked where two programs measured in turn differ beyond doubt; nothing is marked because two figures of
different moments or machines differ. Figures of another machine begin a new line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from perbyte.errors import StoreError
from perbyte.report import markdown
from perbyte.report.document import table_of
from perbyte.report.wording import size_label

SHOWN = 50
_WIDTH, _HEIGHT, _LEFT, _TOP, _GAP = 900, 170, 70, 34, 46
_INK, _FAINT, _SLOWER, _FASTER = "#1a1a1a", "#9a9a9a", "#b3261e", "#1b7f3b"


@dataclass(frozen=True, slots=True)
class Dot:
    """One commit's cost of a call with the ends of its interval, and what became of it in turn with the one before.

    `verdict` is `slower`, `faster`, `the same`, `not known` or ''; `ratio` belongs to it.
    """

    commit: str
    subject: str
    machine: str
    cost: float
    low: float
    high: float
    verdict: str = ""
    ratio: float = 1.0

    @property
    def marked(self) -> bool:
        """True where the cost changed beyond doubt."""
        return self.verdict in ("slower", "faster")


@dataclass(frozen=True, slots=True)
class Track:
    """One row through the commits, oldest first. `unit` is that of the costs."""

    title: str
    unit: str
    dots: tuple[Dot, ...]


def tracks(entries: Sequence[Mapping[str, Any]]) -> list[Track]:
    """The rows of a history's entries, each through the commits."""
    dots: dict[tuple[str, str], list[Dot]] = {}
    for entry in entries:
        for row in entry["rows"]:
            title = f"{entry['function']}, {row['operation']} {size_label(row['size_bytes'])}"
            values = (row["cost"], row["low"], row["high"], row["verdict"], row["ratio"])
            dot = Dot(entry["commit"], entry["subject"], entry["machine"], *values)
            dots.setdefault((title, row["unit"]), []).append(dot)
    return [Track(title, unit, tuple(through)) for (title, unit), through in dots.items()]


def commits_svg(tracks: Sequence[Track]) -> str:
    """The picture: a panel for each track, the last fifty commits of each."""
    height = _TOP + len(tracks) * (_HEIGHT + _GAP)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" font-family="sans-serif">'
    body = [f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>']
    for number, track in enumerate(tracks):
        body += _panel(track, _TOP + number * (_HEIGHT + _GAP))
    return "\n".join([head, *body, "</svg>", ""])


def commits_table(tracks: Sequence[Track]) -> str:
    """The same in Markdown: where each track changed, newest first."""
    rows = [
        (track.title, dot.commit, f"{100 * (dot.ratio - 1):+.2f} %", dot.subject)
        for track in tracks
        for dot in reversed(track.dots[-SHOWN:])
        if dot.marked
    ]
    table = table_of("", "function | commit | change | what it says", rows)
    return markdown.render([table]) if rows else "No change is known.\n"


def _panel(track: Track, top: float) -> list[str]:
    dots = track.dots[-SHOWN:]
    low, high = min(dot.low for dot in dots), max(dot.high for dot in dots)
    room = max((high - low) * 0.1, high * 0.002)
    low, high = low - room, high + room

    def y(value: float) -> float:
        return top + _HEIGHT - (value - low) / (high - low) * _HEIGHT

    step = (_WIDTH - _LEFT - 30) / max(1, len(dots) - 1)
    parts = [
        f'<text x="{_LEFT}" y="{top - 10:.1f}" font-size="13" fill="{_INK}">{escape(track.title)}, {track.unit}</text>',
        _path(f"M{_LEFT - 8} {top:.1f}V{top + _HEIGHT:.1f}", _FAINT),
    ]
    for value in (low + room, high - room):
        parts.append(_text(_LEFT - 12, y(value) + 4, f"{value:.4g}", "end", _INK))
    for index, (before, dot) in enumerate(zip((None, *dots), dots, strict=False)):
        x, at = _LEFT + index * step, y(dot.cost)
        if before and before.machine == dot.machine:
            parts.append(_path(f"M{x - step:.1f} {y(before.cost):.1f}L{x:.1f} {at:.1f}", _FAINT))
        colour = {"slower": _SLOWER, "faster": _FASTER}.get(dot.verdict, _INK)
        parts.append(_path(f"M{x:.1f} {y(dot.low):.1f}V{y(dot.high):.1f}", colour, ' stroke-width="1.5"'))
        text = f"{dot.commit} {dot.subject}: {dot.cost:.4g} {track.unit} on {dot.machine}"
        parts.append(
            f'<circle cx="{x:.1f}" cy="{at:.1f}" r="3" fill="{colour}"><title>{escape(text)}</title></circle>'
        )
        if dot.marked:
            parts.append(_path(f"M{x:.1f} {top:.1f}V{top + _HEIGHT:.1f}", colour, ' stroke-dasharray="3 3"'))
            words = f"{dot.commit} {100 * (dot.ratio - 1):+.2f} %"
            anchor = "start" if x < _WIDTH / 2 else "end"
            parts.append(_text(x, top + _HEIGHT + 14 + 12 * (index % 2), words, anchor, colour))
    return parts


def _path(course: str, colour: str, look: str = "") -> str:
    return f'<path d="{course}" stroke="{colour}"{look}/>'


def _text(x: float, y: float, words: str, anchor: str, colour: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="10" text-anchor="{anchor}" fill="{colour}">{escape(words)}</text>'


def write_history(place: Path, entries: Sequence[dict[str, Any]]) -> Path:
    """Write the last commits as a picture and as a table into `place`; the picture's file. Raises StoreError."""
    drawn = tracks(entries)
    try:
        (place / "history.svg").write_text(commits_svg(drawn), encoding="utf-8")
        (place / "history.md").write_text(commits_table(drawn), encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{place} cannot be written: {error}") from error
    return place / "history.svg"
