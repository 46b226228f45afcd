"""A listing: what a view has to say, as columns and rows, for every form in which it is shown.

A view makes one `Listing`. It is a block of a document, which `terminal`, `markdown` and `html` draw; `lines` here are
its text within a width, `records` its rows for programs.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from perbyte.model.text import json_ready, plain

GAP = "  "
_INDENT = "  "
_NARROW = 12  # characters below which a wrapped column cannot be read: rows become sentences
_LEAST = 28  # characters for the column that is wrapped, before another one is left out
LONGEST = 2000
_MEASURE = re.compile(r"(?<=[0-9]) (?=(?:s|%|B|KiB|MiB|MB|GHz|MHz|ns|µs)\b|%)")


@dataclass(frozen=True, slots=True)
class Item:
    """An entry as a page shows it: its text, where it leads, what it sorts by, and what stands small behind it.

    `value` None: it sorts by its text. `look` is a class of the style, `tip` is told at it. The first item of a row
    carries the row's address, `id`, and says whether a `group` of rows begins.
    """

    text: str
    href: str = ""
    value: float | None = None
    wide: str = ""
    marks: str = ""
    look: str = ""
    tip: str = ""
    id: str = ""
    group: bool = False


Entry = str | int | Item | tuple[Any, ...]
"""What a row has in a column: its text, a count, or a tuple of its text and the values that stand for it in JSON."""


@dataclass(frozen=True, slots=True)
class Head:
    """A column of a listing: the text above it, and how it is shown.

    `look` is `n` for figures, which stand to the right, `code`, or another class of the page's style. `fields`
    names the values in JSON, separated by spaces. `flows`: its text is wrapped where there is no room. Columns that
    give way (1 before 2) are left out before that. `once`: what all rows share is told once, above the table.
    Without a head that is a text (None) it is for programs only.
    """

    text: str | None
    look: str = ""
    fields: str = ""
    flows: bool = False
    gives_way: int = 0
    once: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """A table with its title, and notes below it. Of the columns that readers see, `lead` say what a row is about."""

    title: str
    columns: Sequence[Head]
    rows: Sequence[Sequence[Entry]]
    notes: Sequence[str] = ()
    lead: int = 1

    @property
    def shown(self) -> tuple[list[Head], list[tuple[str, ...]]]:
        """The columns that readers see, and the texts of the rows."""
        places = [place for place, column in enumerate(self.columns) if column.text is not None]
        texts = [tuple(_text(row[place]) for place in places) for row in self.rows]
        return [self.columns[place] for place in places], texts

    def told_once(self) -> tuple[list[str], Listing]:
        """What all rows share of the columns that say so, as `status of all: allowed`; and the listing without it."""
        told, kept = [], list(range(len(self.columns)))
        for place, column in enumerate(self.columns):
            texts = {_text(row[place]) for row in self.rows} if column.once and len(self.rows) > 1 else set()
            if len(texts) == 1 and (text := texts.pop()):
                told.append(f"{column.text} of all: {text}")
                kept.remove(place)
        seen = [place for place, column in enumerate(self.columns) if column.text is not None]
        columns = [self.columns[place] for place in kept]
        rows = [[row[place] for place in kept] for row in self.rows]
        return told, replace(
            self, columns=columns, rows=rows, lead=sum(place in kept for place in seen[: self.lead])
        )


def as_item(entry: Entry) -> Item:
    """An entry as a page shows it; counts sort by their value."""
    if isinstance(entry, Item):
        return entry
    return Item(_text(entry), value=entry if isinstance(entry, int) else None)


def columns(words: str) -> tuple[Head, ...]:
    """Columns from their heads and looks: `algorithm | size:n | notes:text`."""
    parts = (
        word.strip().rpartition(":") if ":" in word else (word.strip(), "", "") for word in words.split("|")
    )
    return tuple(Head(head, look) for head, _, look in parts)


def from_records(rows: Sequence[Mapping[str, Any]], flows: str, gives_way: Sequence[str] = ()) -> Listing:
    """A listing of `rows` with the same keys, which are heads and fields; `gives_way` in the order of going."""
    order = {name: number for number, name in enumerate(gives_way, 1)}
    names = rows[0] if rows else ()
    columns = [Head(name, "", name, name == flows, order.get(name, 0)) for name in names]
    return Listing("", columns, [[(plain(value, LONGEST), value) for value in row.values()] for row in rows])


def records(listing: Listing) -> list[dict[str, Any]]:
    """The rows as JSON types, by the fields of their columns; what is not finite is null, and `...` is left out."""
    return [
        {
            name: json_ready(value)
            for column, entry in zip(listing.columns, row, strict=True)
            for name, value in zip(column.fields.split(), _values(entry, column), strict=True)
            if value is not ...
        }
        for row in listing.rows
    ]


def _table(columns: Sequence[Head], rows: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    return [[column.text or "" for column in columns], *rows]


def lines(listing: Listing, width: int | None = None) -> list[tuple[str, bool]]:
    """The lines of a table within `width` characters (None: as wide as it is); True for those that are headings.

    Where it is too wide, a column that flows is wrapped, after others gave way; without one the figures stand in parts
    below each other. Where not even one column of figures has room beside the names, each row is a sentence.
    """
    told, listing = listing.told_once()
    columns, rows = listing.shown
    rows = [tuple(plain(text, LONGEST) for text in row) for row in rows]
    above = [(line, False) for line in (wrapped("; ".join(told), width) if told else [])]
    flowing = next((place for place, column in enumerate(columns) if column.flows), None)
    if flowing is not None:
        return above + _flowing(columns, rows, width, flowing)
    return above + _in_parts(columns, rows, width, listing.lead)


def _flowing(
    columns: Sequence[Head], rows: Sequence[Sequence[str]], width: int | None, flowing: int
) -> list[tuple[str, bool]]:
    room = dict(enumerate(_widths(columns, rows)))
    if width is not None:
        for place in sorted(room, key=lambda place: columns[place].gives_way):
            if not columns[place].gives_way:
                continue
            if _left(room, flowing, width) >= min(_LEAST, room[flowing]):
                break
            del room[place]
        left = _left(room, flowing, width)
        if left < min(_NARROW, room[flowing]):
            return [(line, False) for row in rows for line in _sentence(columns, row, width, 1)]
        room[flowing] = min(room[flowing], left)
    drawn = []
    for number, row in enumerate(_table(columns, rows)):
        flow = textwrap.wrap(row[flowing], room[flowing] or 1, break_on_hyphens=False) or [""]
        for index, part in enumerate(flow):
            cells = (part if place == flowing else "" if index else row[place] for place in room)
            line = GAP.join(
                _aligned(cell, columns[place], room[place]) for place, cell in zip(room, cells, strict=True)
            )
            drawn.append((line.rstrip(), not number))
    return drawn


def _in_parts(
    columns: Sequence[Head], rows: Sequence[Sequence[str]], width: int | None, lead: int
) -> list[tuple[str, bool]]:
    """One table, or several with the same names and as many columns each, or sentences."""
    room = _widths(columns, rows)
    if width is None:
        width = sum(room) + len(GAP) * len(room)
    for place in sorted(range(len(columns)), key=lambda place: columns[place].gives_way):
        if columns[place].gives_way and sum(room) + len(GAP) * (len(room) - 1) > width:
            kept = [other for other in range(len(columns)) if other != place]
            fewer = [[row[other] for other in kept] for row in rows]
            return _in_parts([columns[other] for other in kept], fewer, width, lead)
    left = width - sum(room[:lead]) - len(GAP) * (lead - 1)
    wide = [each + len(GAP) for each in room[lead:]]
    if wide and max(wide) > left:
        return [(line, False) for row in rows for line in _sentence(columns, row, width, lead)]
    count = -(-len(wide) // (len(wide) if sum(wide) <= left else left // max(wide))) if wide else 1
    step = max(1, -(-len(wide) // count))  # equal parts read better than a full one and a rest
    drawn: list[tuple[str, bool]] = []
    for start in range(lead, max(len(columns), lead + 1), step):
        part = [*range(lead), *range(start, min(start + step, len(columns)))]
        drawn += [("", False)] * bool(drawn)
        for number, row in enumerate(_table(columns, rows)):
            line = GAP.join(_aligned(row[place], columns[place], room[place]) for place in part)
            drawn.append((line.rstrip(), not number))
    return drawn


def _sentence(columns: Sequence[Head], row: Sequence[str], width: int, lead: int) -> list[str]:
    told = "; ".join(
        f"{column.text} {text}".strip()
        for column, text in zip(columns[lead:], row[lead:], strict=True)
        if text
    )
    return wrapped(f"{', '.join(filter(None, row[:lead]))}: {told}", width)


def wrapped(line: str, width: int | None) -> list[str]:
    """Wrap a sentence at `width`, continuation lines indented; a number keeps its unit."""
    if width is None:
        return [line]
    held = _MEASURE.sub("\u00a0", line)
    parts = textwrap.wrap(held, width, subsequent_indent=_INDENT, break_on_hyphens=False) or [""]
    return [part.replace("\u00a0", " ") for part in parts]


def _widths(columns: Sequence[Head], rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, texts)) for texts in zip(*_table(columns, rows), strict=True)]


def _left(room: dict[int, int], flowing: int, width: int) -> int:
    others = [wide for place, wide in room.items() if place != flowing]
    return width - sum(others) - len(GAP) * len(others)


def _aligned(text: str, column: Head, width: int) -> str:
    return text.rjust(width) if column.look == "n" else text.ljust(width)


def _text(entry: Entry) -> str:
    if isinstance(entry, str):
        return entry
    if isinstance(entry, int):
        return f"{entry:,}"
    return entry.text if isinstance(entry, Item) else str(entry[0])


def _values(entry: Entry, column: Head) -> tuple[Any, ...]:
    if isinstance(entry, tuple):
        return entry[1:]
    return (entry.text if isinstance(entry, Item) else entry,) * bool(column.fields)
