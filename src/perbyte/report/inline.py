"""Makes figures and data fit to stand inside an HTML page: of an SVG, only known elements and attributes survive.

The figures come from our own charts, yet their text comes from runs that anyone may have sent. What the page
gets is written anew from the parsed tree, so that nothing but shapes and escaped text can be in it.
"""

from __future__ import annotations

import html
import json
import xml.etree.ElementTree as ElementTree
from typing import Any

import jinja2

_ELEMENTS = frozenset({"svg", "g", "path", "rect", "line", "text", "tspan", "circle"})
_ATTRIBUTES = frozenset(
    {
        "d",
        "x",
        "y",
        "x1",
        "x2",
        "y1",
        "y2",
        "cx",
        "cy",
        "r",
        "width",
        "height",
        "viewBox",
        "transform",
        "display",
    }
    | {"fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity"}
    | {
        "stroke-miterlimit",
        "stroke-linecap",
        "stroke-linejoin",
        "text-anchor",
        "dominant-baseline",
        "dx",
        "dy",
    }
    | {"font-family", "font-size", "font-weight", "font-style", "pointer-events"}
)


def template(name: str) -> jinja2.Template:
    """Give a template of this room; whatever is put into it is escaped, except what the template calls `safe`."""
    surroundings = jinja2.Environment(
        loader=jinja2.PackageLoader("perbyte.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return surroundings.get_template(name)


def embedded(value: Any) -> str:
    """Give JSON that may stand inside a script element (`| safe`): no character of markup is left in it.

    Raises ValueError for numbers that are not finite.
    """
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


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
    if (
        element.get("aria-label")
        and name in ("path", "line", "rect")
        and element.get("role") == "graphics-symbol"
    ):
        parts.append(f' data-tip="{html.escape(element.attrib["aria-label"])}"')
    parts.append(">")
    if element.text:
        parts.append(html.escape(element.text))
    for child in element:
        _write(child, parts)
        if child.tail:
            parts.append(html.escape(child.tail))
    parts.append(f"</{name}>")
