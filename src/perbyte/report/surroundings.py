"""What every HTML file of this room has around its content: policy, style, script, theme, navigation, figures.

A strict content security policy admits the one script and the one style by their hashes and nothing else. The
templates escape whatever they are given except what they call `safe`: style, script, JSON without markup, and figures
that were written anew.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perbyte import __version__
from perbyte.report import theme
from perbyte.report.gallery import Picture
from perbyte.report.inline import inline_svg, template
from perbyte.report.savefig import as_svg
from perbyte.report.units import plain


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure as safe SVG text, with its heading."""

    heading: str
    svg: str


def render_page(name: str, *, title: str, sections: Sequence[tuple[str, str]], **content: Any) -> str:
    """Fill the template `name` and give the text of one HTML file.

    `sections` are the navigation's: (id of the section, text of the link).
    """
    style, script = _style(), _room("report.js")
    return template(name).render(
        {"run_id": "", **content},
        title=plain(title, 160),
        sections=sections,
        version=__version__,
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
    )


def drawn(pictures: Iterable[Picture]) -> list[Drawn]:
    """Draw figures as SVG that may stand in a page."""
    return [
        Drawn(picture.heading, inline_svg(as_svg(picture.chart), picture.heading)) for picture in pictures
    ]


def _style() -> str:
    """The page's style with its dark half, for the system's wish and for the reader's choice."""
    dark = _room("dark.css")
    recoloured = [
        f"figure svg [{attribute}={json.dumps(light)}] {{ {attribute}: {colour}; }}"
        for light, colour in theme.ON_DARK.items()
        for attribute in ("fill", "stroke")
    ]
    chosen = "\n".join(f':root[data-theme="dark"] {rule}' for rule in recoloured)
    wished = "\n".join(f":root:not([data-theme]) {rule}" for rule in recoloured)
    return (
        f'{_room("report.css")}\n@media screen {{\n:root[data-theme="dark"] {{\n{dark}}}\n{chosen}\n}}\n'
        f"@media screen and (prefers-color-scheme: dark) {{\n:root:not([data-theme]) {{\n{dark}}}\n{wished}\n}}\n"
    )


def _room(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
