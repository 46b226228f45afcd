"""Charts as SVG, PNG, PDF, HTML and JSON. Neither a browser nor a network is needed."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert
from altair.utils import schemapi

from perbyte import __version__
from perbyte.errors import UsageError
from perbyte.report.templating import embedded, template

_VERSION = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
_SCALE = 2.0  # pixels per point of a PNG
_OFFLINE: dict[str, Any] = {"vl_version": _VERSION, "allowed_base_urls": []}


def save_chart(chart: alt.TopLevelMixin, path: Path | str) -> Path:
    """Write `chart` in the form that the suffix of `path` names, and return the path. Raises UsageError for others."""
    path = Path(path)
    write = _FORMS.get(path.suffix.lower())
    if write is None:
        raise UsageError(
            f"a chart cannot be saved as '{path.suffix or path.name}'", hint=f"one of: {' '.join(SUFFIXES)}"
        )
    content = write(as_specification(chart))
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def as_svg(chart: alt.TopLevelMixin) -> str:
    """Give `chart` as the text of an SVG element (light). A run's charts are drawn once, for its page and its files."""
    return _svg(json.dumps(as_specification(chart)))


@lru_cache(maxsize=128)  # more charts than a run has
def _svg(specification: str) -> str:
    return str(vl_convert.vegalite_to_svg(specification, **_OFFLINE))


def as_specification(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """Give the Vega-Lite specification of `chart` as JSON types."""
    # a chart that the schema does not allow fails in the tests, which switch the check on
    return dict(chart.to_dict(validate=schemapi.DEBUG_MODE))


def _page(specification: dict[str, Any]) -> str:
    """A page with Vega inside; names of a run cannot end the script element they stand in."""
    return template("chart.html").render(
        version=__version__,
        title=" ".join(specification.get("title", {}).get("text", ["Figure"])),
        specification=embedded(specification),
        bundle=vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", _VERSION),
    )


_FORMS: dict[str, Callable[[dict[str, Any]], str | bytes]] = {
    ".svg": lambda specification: _svg(json.dumps(specification)),
    ".png": lambda specification: vl_convert.vegalite_to_png(specification, scale=_SCALE, **_OFFLINE),
    ".pdf": lambda specification: vl_convert.vegalite_to_pdf(specification, **_OFFLINE),
    ".html": _page,
    ".json": lambda specification: json.dumps(specification, indent=1),
}
SUFFIXES = tuple(_FORMS)
