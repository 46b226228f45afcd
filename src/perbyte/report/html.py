"""Documents as HTML pages: one template draws all their blocks.

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
from pathlib import Path
from typing import Any

import jinja2

from perbyte import __version__
from perbyte.model.text import plain
from perbyte.report import theme
from perbyte.report.document import Block, Figure, Page, Terms, Widget
from perbyte.report.files import Say, silent, written
from perbyte.report.listing import Listing, as_item
from perbyte.report.saving import as_svg
from perbyte.report.templating import embedded, template

_ELEMENTS = frozenset({"svg", "g", "path", "rect", "line", "text", "tspan", "circle"})
_ATTRIBUTES = frozenset(
    """d x y x1 x2 y1 y2 cx cy r dx dy width height viewBox transform display fill fill-opacity opacity stroke
    stroke-width stroke-dasharray stroke-opacity stroke-miterlimit stroke-linecap stroke-linejoin text-anchor
    dominant-baseline font-family font-size font-weight font-style pointer-events""".split()  # noqa: SIM905
)
_TEMPLATES = Path(__file__).parent / "templates"


def render(page: Page) -> str:
    """Give the text of one HTML file."""
    style, script = _style(), template_file("report.js")
    return page_template("page.html").render(
        page=page,
        title=plain(page.title, 160),
        every_cell=embedded(page.cells) if page.cells is not None else "",
        version=__version__,
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
    )


def page_template(name: str) -> jinja2.Template:
    """The template of a page, which draws documents."""
    drawn = template(name)
    drawn.globals.update(kind_of=_kind, shown_of=_shown, svgs_of=_svgs, item_of=as_item)
    return drawn


def write(page: Page, path: Path, say: Say = silent) -> Path:
    """Write a page (UTF-8) as `files.written` does, and return the path. Raises EnvironmentLacking."""
    return written(path, lambda part: part.write_text(render(page), encoding="utf-8"), say)


def _kind(block: Block) -> str:
    return block.kind if isinstance(block, (Terms, Widget)) else type(block).__name__.lower()


def _shown(listing: Listing) -> dict[str, Any]:
    """What the template draws of a table that does not sort, whose first column holds the headings of rows."""
    heads, rows = listing.shown
    return {"columns": [(head.text, head.look) for head in heads], "rows": rows, "label": listing.title}


def _svgs(figure: Figure) -> dict[str, str]:
    """A chart as SVG, with its narrow form where it has one."""
    picture = figure.picture
    wide, narrow = (
        inline_svg(as_svg(chart), picture.heading) if chart else ""
        for chart in (picture.chart, picture.narrow)
    )
    return {"id": figure.id, "heading": picture.heading, "caption": "", "svg": wide, "narrow": narrow}


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
