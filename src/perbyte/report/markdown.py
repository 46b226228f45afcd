"""The writer of documents in Markdown: for comments on a change, files of a history, and the pages of studies."""

from __future__ import annotations

from collections.abc import Iterable

from perbyte.model.text import markdown_text, plain
from perbyte.report.document import Block, Heading, Items, Listed, Text
from perbyte.report.listing import LONGEST, Head, Listing


def render(parts: Iterable[str | Block]) -> str:
    """Give parts, with an empty line between them; a string is Markdown already. What has no text is left out."""
    drawn = ("\n".join(lines(part)) for part in parts)
    return "\n\n".join(text for text in drawn if text) + "\n"


def lines(part: str | Block) -> list[str]:
    """The lines of a part."""
    match part:
        case str():
            return [part]
        case Text():
            return [_escaped(part.said)]
        case Heading():
            return [f"## {_escaped(part.said)}"]
        case Items():
            texts = (
                line if isinstance(line, str) else f"{line[0]}: {'; '.join(line[1:])}" for line in part.lines
            )
            return [f"- {markdown_text(plain(text, LONGEST), begins_line=False)}" for text in texts]
        case Listed(listing=listing) | (Listing() as listing):
            return _table(listing)
    return []


def _escaped(text: str) -> str:
    return markdown_text(plain(text, LONGEST))


def _table(listing: Listing) -> list[str]:
    columns, rows = listing.shown
    head = " | ".join(markdown_text(column.text or "", begins_line=False) for column in columns)
    drawn = (" | ".join(map(_entry, columns, row)) for row in rows)
    return [f"| {head} |", "| --- " * len(columns) + "|", *(f"| {row} |" for row in drawn)]


def _entry(column: Head, text: str) -> str:
    text = plain(text, LONGEST)
    if column.look == "code":
        return f"`{text.replace('`', chr(39)).replace('|', chr(92) + '|')}`"
    return markdown_text(text, begins_line=False)
