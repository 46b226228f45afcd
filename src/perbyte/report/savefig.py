"""Saves a chart: SVG, PNG, PDF, self-contained HTML or its Vega-Lite JSON, without a browser and without a network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import altair as alt
import jinja2
import vl_convert

from perbyte import __version__
from perbyte.errors import UsageError
from perbyte.report.theme import ON_DARK

SUFFIXES = (".svg", ".png", ".pdf", ".html", ".json")
_VERSION = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


def save_figure(
    chart: alt.TopLevelMixin, path: Path | str, *, dark: bool = False, scale: float = 2.0
) -> Path:
    """Write `chart` in the form that the suffix of `path` names, and return the path.

    `scale` is pixels per point of a PNG. Raises UsageError for any other suffix.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(
            f"a figure cannot be saved as '{path.suffix or path.name}'",
            hint=f"one of: {' '.join(SUFFIXES)}",
        )
    specification = as_specification(chart, dark=dark)
    if suffix == ".svg":
        path.write_text(vl_convert.vegalite_to_svg(specification, **_offline()), encoding="utf-8")
    elif suffix == ".png":
        path.write_bytes(vl_convert.vegalite_to_png(specification, scale=scale, **_offline()))
    elif suffix == ".pdf":
        path.write_bytes(vl_convert.vegalite_to_pdf(specification, **_offline()))
    elif suffix == ".json":
        path.write_text(json.dumps(specification, indent=1), encoding="utf-8")
    else:
        path.write_text(_page(specification), encoding="utf-8")
    return path


def as_svg(chart: alt.TopLevelMixin) -> str:
    """Give `chart` as the text of an SVG element (light)."""
    return str(vl_convert.vegalite_to_svg(as_specification(chart), **_offline()))


def as_specification(chart: alt.TopLevelMixin, *, dark: bool = False) -> dict[str, Any]:
    """Give the Vega-Lite specification of `chart` as JSON types."""
    specification: dict[str, Any] = chart.to_dict()
    if not dark:
        return specification
    # Data are names and numbers of a run and stay what they are; only the look is darkened.
    data = specification.pop("datasets", None)
    specification = _darkened(specification)
    return specification if data is None else {**specification, "datasets": data}


def template(name: str) -> jinja2.Template:
    """Give a template of this package; whatever is put into it is escaped, except what the template calls `safe`."""
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


def _darkened(specification: Any) -> Any:
    """A copy of a specification (JSON types) with every colour replaced by its dark counterpart."""
    if isinstance(specification, dict):
        return {key: _darkened(value) for key, value in specification.items()}
    if isinstance(specification, list):
        return [_darkened(value) for value in specification]
    return ON_DARK.get(specification, specification) if isinstance(specification, str) else specification


def _page(specification: dict[str, Any]) -> str:
    """A page of its own with Vega inside; names of a run cannot end the script element they stand in."""
    return template("figure.html").render(
        version=__version__,
        title=" ".join(specification.get("title", {}).get("text", ["Figure"])),
        specification=embedded(specification),
        bundle=vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", _VERSION),
    )


def _offline() -> dict[str, Any]:
    return {"vl_version": _VERSION, "allowed_base_urls": []}
