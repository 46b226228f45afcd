"""Lines of styled text for a terminal: sentences wrapped at a width, listings, and all of it as one string.

Colour only where it is asked for; printing is the caller's business.
"""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterable
from typing import TypeAlias

from rich.console import Console
from rich.text import Text

from perbyte.model.text import visible, wants_colour
from perbyte.report.listing import Listing, lines, wrapped


def prose(line: str, width: int, style: str = "") -> list[Text]:
    """Wrap a sentence at `width`, continuation lines indented; a number keeps its unit."""
    return [Text(part, style=style) for part in wrapped(line, width)]


def listing_text(listing: Listing, width: int) -> list[Text]:
    """Title, table and notes of a listing; no table where it has no row."""
    drawn = lines(listing, width) if listing.rows else []
    return [
        *([Text(listing.title, style="bold")] if listing.title else []),
        *(Text(line, style="bold" if heads else "", no_wrap=True) for line, heads in drawn),
        *(part for note in listing.notes for part in prose(note, width)),
    ]


Part: TypeAlias = str | tuple[str, str] | Listing | Text
"""A sentence, one with its style, a table, or a line as it is."""


def render(parts: Iterable[Part], *, width: int | None = None, colour: bool | None = None) -> str:
    """Give parts below each other as text within `width`; the text ends with a line end, and is empty without parts."""
    width = columns_of(width)
    lines: list[Text] = []
    for part in parts:
        if isinstance(part, Listing):
            lines += listing_text(part, width)
        elif isinstance(part, Text):
            lines.append(part)
        else:
            lines += prose(part, width) if isinstance(part, str) else prose(part[0], width, part[1])
    return to_text(lines, colour=colour)


def to_text(lines: Iterable[Text], *, colour: bool | None = None) -> str:
    """Turn lines into one string, with ANSI colours if wanted; no line is wrapped or cut here."""
    coloured = wants_colour(sys.stdout) if colour is None else colour
    out = io.StringIO()
    console = Console(
        file=out,
        width=100_000,
        force_terminal=coloured,
        color_system="standard" if coloured else None,
        no_color=not coloured,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    for line in lines:
        line.plain = visible(line.plain)  # the stream lets our own colours pass
        console.print(line, no_wrap=True, crop=False)
    return out.getvalue()


def columns_of(width: int | None) -> int:
    """Give `width`, or the terminal's; never less than 40."""
    return max(width or shutil.get_terminal_size((100, 24)).columns, 40)
