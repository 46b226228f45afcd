"""Makes a figure's SVG fit to stand inside an HTML page: only known elements and attributes survive.

The figures come from our own charts, yet their text comes from runs that anyone may have sent. What the page
gets is written anew from the parsed tree, so that nothing but shapes and escaped text can be in it.
"""

from __future__ import annotations

import html
import xml.etree.ElementTree as ElementTree

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
