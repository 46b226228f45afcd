"""A document: what a view has to say, as sections of blocks, which `terminal`, `html` and `markdown` draw.

A view builds it once. What a medium cannot show (a picture in a terminal) is left out there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from perbyte.report.listing import Entry, Listing, columns


@dataclass(frozen=True, slots=True)
class Line:
    """The answer to one question. `sign` is `►` beyond doubt, `=` a tie, `?` not known, empty where nothing competes.

    `about` is the question, `winner` the answer, `sure` by how much and how sure, `cost` what it costs, empty where
    that cannot be said.
    """

    about: str
    sign: str
    winner: str
    sure: str = ""
    cost: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """Lines with answers to a `question`, the first one the headline, and `notes` of what the card leaves out."""

    lines: tuple[Line, ...] = ()
    notes: tuple[str, ...] = ()
    question: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph; `look` is a class of the pages' style."""

    said: str
    look: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading below that of the section."""

    said: str


@dataclass(frozen=True, slots=True)
class Code:
    """What is to be typed."""

    said: str


@dataclass(frozen=True, slots=True)
class Items:
    """A list of lines; a tuple is a bold word with the lines that are said of it."""

    lines: Sequence[str | tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Terms:
    """Names with what belongs to them: `facts`, `counts` (the number first), or a `legend` of signs."""

    kind: str
    pairs: Sequence[tuple[str, str]]
    look: str = ""


@dataclass(frozen=True, slots=True)
class Listed:
    """A listing with a class of the style; a page may sort it, and filter a long one (by such an `example`)."""

    listing: Listing
    look: str = ""
    sorts: bool = False
    example: str = ""


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks behind a line that unfolds them."""

    summary: str
    blocks: Sequence[Block]
    open: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart of Altair with its file's name (without suffix) and its heading; `narrow` is for a telephone."""

    name: str
    heading: str
    chart: Any
    narrow: Any = None


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart; `id` is its place on the page."""

    picture: Picture
    id: str


@dataclass(frozen=True, slots=True)
class Widget:
    """What pages alone have: `cards`, `drawing`, `claims`, `pivot` or `cells`, with the data of its macro."""

    kind: str
    data: Any


Block: TypeAlias = Text | Heading | Code | Items | Terms | Listed | Listing | Fold | Card | Figure | Widget


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document; `link` is its name in the navigation, and its `heading` where it has no longer one."""

    id: str
    link: str
    blocks: Sequence[Block]
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A document: title, one or two sentences below it, and sections. `cells` is the data of the list of all cells.

    A section without blocks is not shown.
    """

    title: str
    lead: Sequence[str]
    sections: Sequence[Section]
    run_id: str = ""
    cells: dict[str, Any] | None = None

    @property
    def shown(self) -> list[Section]:
        """The sections that have something to show."""
        return [section for section in self.sections if section.blocks]


def table_of(title: str, heads: str, rows: Sequence[Sequence[Entry]], *, sorts: bool = False) -> Listed:
    """A table of `rows` under heads such as `library | size:n`, which a page may sort."""
    return Listed(Listing(title, columns(heads), rows), sorts=sorts)


def titled(title: str, *blocks: Block) -> list[Block]:
    """Blocks under a heading; nothing where the last of them has no line or row."""
    last = blocks[-1]
    rows = (
        last.lines if isinstance(last, Items) else last.listing.rows if isinstance(last, Listed) else blocks
    )
    return [Heading(title), *blocks] if rows else []


def figures(pictures: Iterable[Picture], id: str, nothing: str = "There is nothing to draw.") -> list[Block]:
    """The charts, numbered from `id`-1 on; without one the sentence `nothing`, as far as there is one."""
    drawn = [Figure(picture, f"{id}-{number}") for number, picture in enumerate(pictures, 1)]
    return [*drawn] or [Text(line) for line in (nothing,) if line]
