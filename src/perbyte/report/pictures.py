"""Which charts are drawn of a run, of runs compared and of the history, with their names and headings; and saving them.

A chart without data is left out. Neither a browser nor a network is needed.
"""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt
import jinja2
import vl_convert

from perbyte import __version__
from perbyte.errors import UsageError
from perbyte.model import Run
from perbyte.model.text import plain
from perbyte.report.charts import Chart
from perbyte.report.files import Say, silent, written
from perbyte.report.grid import Grid
from perbyte.report.history import CYCLES, MEGABITS, history_chart
from perbyte.report.ratechart import at_a_rate
from perbyte.report.ratiocharts import comparison, operations, published, published_operations
from perbyte.report.runcharts import (
    accelerated,
    acceleration,
    bars,
    by_library,
    cost_over_size,
    everything,
)
from perbyte.report.runview import RunView
from perbyte.report.theme import ON_DARK
from perbyte.report.versioncharts import Versions
from perbyte.studies import Judgement
from perbyte.studies.history import History
from perbyte.studies.judge import judgement_of

_MOST_ACCELERATED = 3
_MOST_CONTRACTS = 4
_MOST_VERSIONED = 24
_LARGE = 1500


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart with the name of its file (without suffix) and its heading in a report; `narrow` is for a telephone."""

    name: str
    heading: str
    chart: Chart
    narrow: Chart | None = None


def pictures_of(run: Run, judgement: Judgement | None = None) -> dict[str, Picture]:
    """All charts of a run by name, those of its study among them."""
    view = RunView(run, judgement=judgement or judgement_of(run)[0])
    return {picture.name: picture for picture in run_pictures(view)}


def run_pictures(view: RunView) -> tuple[Picture, ...]:
    """The charts of a run in the order of its page, those of its study included.

    First what a reader should meet: who is the fastest. Then what a study published, then the rest.
    """
    pictures: list[Picture] = []

    def add(name: str, heading: str, draw: Callable[..., Chart | None], *, narrow: bool = False) -> None:
        if (chart := draw()) is not None:
            pictures.append(Picture(name, heading, chart, draw(narrow=True) if narrow else None))

    for index, points in enumerate(view.points[:_MOST_CONTRACTS]):
        tail = f"-{index + 1}" if index else ""
        add(f"bars{tail}", "Who is the fastest", functools.partial(bars, view, points), narrow=True)
    for index, operation in enumerate(published_operations(view)):
        tail = f"-{index + 1}" if index else ""
        draw = functools.partial(published, view, operation)
        add(f"published{tail}", f"Published against today: {plain(operation, 24)}", draw)
    if not view.points:
        return tuple(pictures)
    points = view.points[0]
    add("rate", "What a rate takes", functools.partial(at_a_rate, points), narrow=True)
    if len(points.libraries) > 1 and len(points.series) > 1 and len(points.records) <= _LARGE:
        add("by-library", "The algorithms of each library", functools.partial(by_library, view, points))
    for index, algorithm in enumerate(accelerated(points)[:_MOST_ACCELERATED]):
        draw = functools.partial(acceleration, view, points, algorithm)
        tail = f"-{index + 1}" if index else ""
        add(f"acceleration{tail}", "With and without the processor's own instructions", draw)
    versions = Versions(view.run)
    for index, algorithm in enumerate(versions.algorithms[:_MOST_VERSIONED]):
        tail = f"-{index + 1}" if index else ""
        heading = f"Versions: {plain(algorithm, 40)}"
        add(f"versions{tail}", heading, functools.partial(versions.chart, algorithm))
    if len(points.sizes) > 2:
        add("cost", "Cost over size", functools.partial(cost_over_size, view, points))
    of_study = any(today for _, today in view.published_ratios)
    name = (
        ("ratios", "Ratio of two operations: published and today")
        if of_study
        else ("operations", "One operation over the other")
    )
    add(*name, functools.partial(operations, view))
    if len(points.records) > 2:
        add("everything", "All results at once", functools.partial(everything, view, points))
    return tuple(pictures)


def not_drawn(view: RunView) -> tuple[str, ...]:
    """What of a run has no chart although others of its kind have one, a sentence each."""
    texts = []
    if (more := len(view.points) - _MOST_CONTRACTS) > 0:
        texts.append(f"{more} contract{'s' * (more > 1)} more has no chart; the tables have it.")
    if not view.points:
        return tuple(texts)
    points = view.points[0]
    if len(points.libraries) > 1 and len(points.series) > 1 and len(points.records) > _LARGE:
        texts.append(
            f"{len(points.records):,} cells are too many for a chart of each library; the tables have them."
        )
    if (more := len(accelerated(points)) - _MOST_ACCELERATED) > 0:
        texts.append(
            f"{more} algorithm{'s' * (more > 1)} more was measured with and without the processor's own "
            "instructions; the tables have both."
        )
    if (more := len(Versions(view.run).algorithms) - _MOST_VERSIONED) > 0:
        texts.append(
            f"{more} algorithm{'s' * (more > 1)} more was measured in several versions; the tables have them."
        )
    return tuple(texts)


def comparison_pictures(grids: Sequence[Grid]) -> tuple[Picture, ...]:
    """The ratios of runs to the first one; none when no cell is in the first run and in another one."""
    chart = comparison(grids)
    if chart is None:
        return ()
    name = grids[0].columns[0].side
    return (Picture("side-by-side", f"Ratios to {name}", chart, comparison(grids, narrow=True)),)


def history_pictures(history: History) -> tuple[Picture, ...]:
    """The history in cycles per byte and in Mbit/s, as far as there is anything to draw."""
    named = (
        ("history", "History: cycles per byte", CYCLES),
        ("history-throughput", "History: throughput", MEGABITS),
    )
    return tuple(
        Picture(name, heading, chart)
        for name, heading, unit in named
        if (chart := history_chart(history, unit)) is not None
    )


SUFFIXES = (".svg", ".png", ".pdf", ".html", ".json")
_VERSION = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


def save_chart(chart: alt.TopLevelMixin, path: Path | str, *, dark: bool = False, scale: float = 2.0) -> Path:
    """Write `chart` in the form that the suffix of `path` names, and return the path.

    `scale` is pixels per point of a PNG. Raises UsageError for any other suffix.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(
            f"a chart cannot be saved as '{path.suffix or path.name}'",
            hint=f"one of: {' '.join(SUFFIXES)}",
        )
    specification = as_specification(chart, dark=dark)
    if suffix == ".svg":
        path.write_text(_drawn(specification), encoding="utf-8")
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
    return _drawn(as_specification(chart))


def _drawn(specification: dict[str, Any]) -> str:
    """The SVG of a specification. A run's charts are drawn once, for its page and for its files."""
    return _drawn_text(json.dumps(specification))


@functools.lru_cache(maxsize=64)  # more charts than a run has
def _drawn_text(specification: str) -> str:
    return str(vl_convert.vegalite_to_svg(specification, **_offline()))


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
    return template("chart.html").render(
        version=__version__,
        title=" ".join(specification.get("title", {}).get("text", ["Figure"])),
        specification=embedded(specification),
        bundle=vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", _VERSION),
    )


def _offline() -> dict[str, Any]:
    return {"vl_version": _VERSION, "allowed_base_urls": []}


def check_chart(path: Path, names: Collection[str]) -> None:
    """Raise UsageError if `path`'s suffix is no chart's, or its name is none of `names`."""
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(
            f"'{path}': a chart's file ends in {', '.join(SUFFIXES)}",
            hint="e.g. --chart bars.svg; --chart help lists those there are",
        )
    if not names:
        raise UsageError("there is nothing to draw")
    if path.stem not in names:
        raise UsageError(f"no chart is called '{path.stem}'", hint=f"there are: {', '.join(names)}")


def write_chart(pictures: Mapping[str, Picture], path: Path, say: Say = silent) -> Path:
    """Write the chart that `path`'s name chooses, in the format that its suffix chooses.

    Raises UsageError for another suffix, an unknown name or where there are no charts, EnvironmentLacking when
    the file cannot be written.
    """
    check_chart(path, pictures)
    picture = pictures[path.stem]
    return written(path, lambda part: save_chart(picture.chart, part), say)


def write_charts(pictures: Mapping[str, Picture], directory: Path, say: Say = silent) -> list[Path]:
    """Write all charts as SVG into `directory`, which is made. Raises EnvironmentLacking."""
    with contextlib.suppress(OSError):  # what is wrong with it is told by the first chart
        directory.mkdir(parents=True, exist_ok=True)
    return [write_chart(pictures, directory / f"{name}.svg", say) for name in pictures]
