"""Pages as HTML: a page is a list of sections, a section a list of blocks, and one template draws them all.

Every file opens from a disk, without a network, and holds everything. Charts are drawn here as SVG, so that they are
there without scripts, in print and in ten years; of an SVG only shapes and escaped text survive, written anew from
the parsed tree, because names of a run come from anyone. A strict content security policy admits the one script and
the one style by their hashes and nothing else. The template escapes whatever it is given except what it calls `safe`:
style, script, JSON without markup, and those charts.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perbyte import __version__
from perbyte.model.text import plain
from perbyte.report import theme
from perbyte.report.card import Card
from perbyte.report.files import Say, silent, written
from perbyte.report.listing import Entry, Listing, as_item, columns
from perbyte.report.pictures import Picture
from perbyte.report.saving import as_svg
from perbyte.report.templating import embedded, template

_ELEMENTS = frozenset({"svg", "g", "path", "rect", "line", "text", "tspan", "circle"})
_ATTRIBUTES = frozenset(
    """d x y x1 x2 y1 y2 cx cy r dx dy width height viewBox transform display fill fill-opacity opacity stroke
    stroke-width stroke-dasharray stroke-opacity stroke-miterlimit stroke-linecap stroke-linejoin text-anchor
    dominant-baseline font-family font-size font-weight font-style pointer-events""".split()  # noqa: SIM905
)
_LEAST_FILTERED = 9  # rows from which on a table has a filter
_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a section: `kind` names the macro of the template that draws `data`."""

    kind: str
    data: Any


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page; `link` is its name in the navigation, and its `heading` where it has no longer one."""

    id: str
    link: str
    blocks: Sequence[Block]
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A page: title, one or two sentences below it, and sections. `cells` is the data of the list of all cells.

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


def render(page: Page) -> str:
    """Give the text of one HTML file."""
    style, script = _style(), template_file("report.js")
    return template("page.html").render(
        page=page,
        title=plain(page.title, 160),
        every_cell=embedded(page.cells) if page.cells is not None else "",
        version=__version__,
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
    )


def write(page: Page, path: Path, say: Say = silent) -> Path:
    """Write a page (UTF-8) as `files.written` does, and return the path. Raises EnvironmentLacking."""
    return written(path, lambda part: part.write_text(render(page), encoding="utf-8"), say)


def text(content: str, look: str = "") -> Block:
    """A paragraph; `look` is its class."""
    return Block("text", {"said": content, "look": look})


def heading(content: str) -> Block:
    """A heading below that of the section."""
    return Block("heading", content)


def listed(lines: Sequence[Any]) -> Block:
    """A list of lines; a pair is a bold word with what is said of it."""
    return Block("listed", [line if isinstance(line, tuple) else ("", line) for line in lines])


def legend(items: Sequence[tuple[str, str]], look: str = "") -> Block:
    """Signs with their meanings."""
    return Block("legend", {"items": items, "look": look})


def table(listing: Listing, look: str = "") -> Block:
    """A listing as a table, whose first column holds the headings of rows; `look` is its class."""
    shown, rows = listing.shown
    heads = [(column.text, column.look) for column in shown]
    return Block("table", {"columns": heads, "rows": rows, "label": listing.title, "look": look})


def sorted_table(listing: Listing, look: str = "", *, example: str = "") -> Block:
    """A listing as a table that sorts, and filters where it is long; `example` of what to filter by."""
    data = {
        "columns": [(column.text, column.look) for column in listing.columns],
        "rows": [[as_item(entry) for entry in row] for row in listing.rows],
        "label": listing.title,
        "look": look,
        "filtered": len(listing.rows) >= _LEAST_FILTERED,
        "example": example,
    }
    return Block("sorted", data)


def table_of(title: str, heads: str, rows: Sequence[Sequence[Entry]], look: str = "") -> Block:
    """A table of `rows` under heads such as `library | size:n`."""
    return table(Listing(title, columns(heads), rows), look)


def sorted_table_of(title: str, heads: str, rows: Sequence[Sequence[Entry]]) -> Block:
    """The same as a table that sorts."""
    return sorted_table(Listing(title, columns(heads), rows))


def unfolding(summary: str, blocks: Sequence[Block], *, open: bool = False) -> Block:
    """Blocks behind a line that unfolds them."""
    return Block("unfolding", {"summary": summary, "blocks": blocks, "open": open})


def answer(card: Card, question: str = "") -> list[Block]:
    """The card that opens a page, of which the first answer is the headline; nothing where it is empty."""
    if not card.lines:
        return [text(note) for note in card.notes]
    return [Block("answer", {"question": question, "lines": card.lines, "notes": card.notes})]


def cards(findings: Sequence[str], certain: Sequence[str]) -> Block:
    """What was found, beside how sure that is."""
    return Block("cards", [("What was found", findings), ("How sure that is", certain)])


def drawings(pictures: Iterable[Picture], id: str, nothing: str = "There is nothing to draw.") -> list[Block]:
    """The charts, numbered from `id`-1 on; without one the sentence `nothing`, as far as there is one."""
    drawn = [drawing(picture, f"{id}-{number}") for number, picture in enumerate(pictures, 1)]
    return drawn or [text(line) for line in (nothing,) if line]


def drawing(picture: Picture, id: str) -> Block:
    """A chart as SVG, with its narrow form where it has one."""
    data = {
        "id": id,
        "heading": picture.heading,
        "caption": "",
        "svg": inline_svg(as_svg(picture.chart), picture.heading),
        "narrow": inline_svg(as_svg(picture.narrow), picture.heading) if picture.narrow else "",
    }
    return Block("drawing", data)


def inline_svg(svg: str, title: str) -> str:
    """Give `svg` as safe HTML text: one image called `title` whose marks keep their description as `data-tip`.

    Raises xml.etree.ElementTree.ParseError for text that is no SVG.
    """
    parts: list[str] = []
    root = ElementTree.fromstring(svg)
    root.attrib.pop("class", None)
    _write(root, parts, f' role="img" aria-label="{html.escape(title)}" focusable="false"')
    return "".join(parts)


def _write(element: ElementTree.Element, parts: list[str], more: str = "") -> None:
    name = element.tag.rpartition("}")[2]
    if name not in _ELEMENTS or element.get("display") == "none":
        return
    parts.append(f"<{name}{more}")
    for key, value in element.attrib.items():
        if key in _ATTRIBUTES:
            parts.append(f' {key}="{html.escape(value)}"')
    told = element.get("aria-label")
    if told and name in ("path", "line", "rect") and element.get("role") == "graphics-symbol":
        parts.append(f' data-tip="{html.escape(told)}"')
    parts.append(">")
    if element.text:
        parts.append(html.escape(element.text))
    for child in element:
        _write(child, parts)
        if child.tail:
            parts.append(html.escape(child.tail))
    parts.append(f"</{name}>")


def _style() -> str:
    """The page's style with its dark half, for the system's wish and for the reader's choice."""
    dark = template_file("dark.css")
    recoloured = [
        f"figure svg [{attribute}={json.dumps(light)}] {{ {attribute}: {colour}; }}"
        for light, colour in theme.ON_DARK.items()
        for attribute in ("fill", "stroke")
    ]
    chosen = "\n".join(f':root[data-theme="dark"] {rule}' for rule in recoloured)
    wished = "\n".join(f":root:not([data-theme]) {rule}" for rule in recoloured)
    return (
        f'{template_file("report.css")}\n@media screen {{\n:root[data-theme="dark"] {{\n{dark}}}\n{chosen}\n}}\n'
        f"@media screen and (prefers-color-scheme: dark) {{\n:root:not([data-theme]) {{\n{dark}}}\n{wished}\n}}\n"
    )


def site_style() -> str:
    """The style of a site: that of a page, and what a site has beyond it."""
    return f"{_style()}\n{template_file('site.css')}"


def template_file(name: str) -> str:
    """The text of a file among the templates."""
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
