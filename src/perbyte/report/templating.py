"""The templates of pages, and data that may stand in a script of theirs."""

from __future__ import annotations

import json
from typing import Any

import jinja2

from perbyte.model.text import visible


def template(name: str) -> jinja2.Template:
    """Give a template of this package; what is put into it is escaped and visible, except what it calls `safe`."""
    surroundings = jinja2.Environment(
        loader=jinja2.PackageLoader("perbyte.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: visible(value) if type(value) is str else value,
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
