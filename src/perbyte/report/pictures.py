"""Which charts are drawn of a run, of runs compared and of the history, with their names and headings; and saving them.

A chart without data is left out. Neither a browser nor a network is needed.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import altair as alt
import jinja2
import vl_convert

from perbyte import __version__
from perbyte.errors import UsageError
from perbyte.model import Run
from perbyte.model.text import counted, plain
from perbyte.report.charts import Chart
from perbyte.report.costcharts import at_a_rate, cost_over_size
from perbyte.report.files import Say, silent, written
from perbyte.report.grid import Grid
from perbyte.report.history import CYCLES, MEGABITS, history_chart
from perbyte.report.ratiocharts import comparison, operations, published, published_operations
from perbyte.report.runcharts import acceleration, bars, by_library, everything, factors_of
from perbyte.report.runview import Points, RunView
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


def drawn(
    name: str, heading: str, draw: Callable[..., Chart | None], *, narrow: bool = False
) -> tuple[Picture, ...]:
    """The picture of what `draw` gives, with its form for a telephone where it has one; none where it gives none."""
    chart = draw()
    if chart is None:
        return ()
    return (Picture(name, heading, chart, draw(narrow=True) if narrow else None),)


def run_pictures(view: RunView) -> tuple[Picture, ...]:
    """The charts of a run in the order of its page, those of its study included.

    First what a reader should meet: who is the fastest. Then what a study published, then the rest.
    """
    pictures: list[Picture] = []

    def add(
        name: str, heading: str, draw: Callable[..., Chart | None], place: int = 0, *, narrow: bool = False
    ) -> None:
        pictures.extend(drawn(f"{name}-{place + 1}" if place else name, heading, draw, narrow=narrow))

    for place, points in enumerate(view.points[:_MOST_CONTRACTS]):
        add("bars", "Who is the fastest", partial(bars, view, points), place, narrow=True)
    for place, operation in enumerate(published_operations(view)):
        heading = f"Published against today: {plain(operation, 24)}"
        add("published", heading, partial(published, view, operation), place)
    if not view.points:
        return tuple(pictures)
    points = view.points[0]
    add("rate", "What a rate takes", partial(at_a_rate, points), narrow=True)
    if _has_libraries(points) and len(points.records) <= _LARGE:
        add("by-library", "The algorithms of each library", partial(by_library, view, points))
    for place, algorithm in enumerate([*factors_of(points)][:_MOST_ACCELERATED]):
        heading = "With and without the processor's own instructions"
        add("acceleration", heading, partial(acceleration, view, points, algorithm), place)
    versions = Versions(view.run)
    for place, algorithm in enumerate(versions.algorithms[:_MOST_VERSIONED]):
        add("versions", f"Versions: {plain(algorithm, 40)}", partial(versions.chart, algorithm), place)
    if len(points.sizes) > 2:
        add("cost", "Cost over size", partial(cost_over_size, view, points))
    name, heading = "operations", "One operation over the other"
    if any(today for _, today in view.published_ratios):
        name, heading = "ratios", "Ratio of two operations: published and today"
    add(name, heading, partial(operations, view))
    if len(points.records) > 2:
        add("everything", "All results at once", partial(everything, view, points))
    return tuple(pictures)


def _has_libraries(points: Points) -> bool:
    """True where a panel for each library says more than the first chart."""
    return len(points.libraries) > 1 and len(points.series) > 1


def not_drawn(view: RunView) -> tuple[str, ...]:
    """What of a run has no chart although others of its kind have one, a sentence each."""
    texts = []
    if (more := len(view.points) - _MOST_CONTRACTS) > 0:
        texts.append(f"{counted(more, 'contract')} more has no chart; the tables have it.")
    if not view.points:
        return tuple(texts)
    points = view.points[0]
    if _has_libraries(points) and len(points.records) > _LARGE:
        texts.append(
            f"{len(points.records):,} cells are too many for a chart of each library; the tables have them."
        )
    if (more := len(factors_of(points)) - _MOST_ACCELERATED) > 0:
        texts.append(
            f"{counted(more, 'algorithm')} more was measured with and without the processor's own "
            "instructions; the tables have both."
        )
    if (more := len(Versions(view.run).algorithms) - _MOST_VERSIONED) > 0:
        texts.append(
            f"{counted(more, 'algorithm')} more was measured in several versions; the tables have them."
        )
    return tuple(texts)


def comparison_pictures(grids: Sequence[Grid]) -> tuple[Picture, ...]:
    """The ratios of runs to the first one; none when no cell is in the first run and in another one."""
    name = grids[0].columns[0].side if grids else ""
    return drawn("side-by-side", f"Ratios to {name}", partial(comparison, grids), narrow=True)


def history_pictures(history: History) -> tuple[Picture, ...]:
    """The history in cycles per byte and in Mbit/s, as far as there is anything to draw."""
    return (
        *drawn("history", "History: cycles per byte", partial(history_chart, history, CYCLES)),
        *drawn("history-throughput", "History: throughput", partial(history_chart, history, MEGABITS)),
    )


_VERSION = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
_OFFLINE: dict[str, Any] = {"vl_version": _VERSION, "allowed_base_urls": []}


def save_chart(chart: alt.TopLevelMixin, path: Path | str, *, dark: bool = False, scale: float = 2.0) -> Path:
    """Write `chart` in the form that the suffix of `path` names, and return the path.

    `scale` is pixels per point of a PNG. Raises UsageError for any other suffix.
    """
    path = Path(path)
    write = _FORMS.get(path.suffix.lower())
    if write is None:
        raise UsageError(
            f"a chart cannot be saved as '{path.suffix or path.name}'", hint=f"one of: {' '.join(SUFFIXES)}"
        )
    content = write(as_specification(chart, dark=dark), scale)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def as_svg(chart: alt.TopLevelMixin) -> str:
    """Give `chart` as the text of an SVG element (light). A run's charts are drawn once, for its page and its files."""
    return _svg(json.dumps(as_specification(chart)))


@lru_cache(maxsize=64)  # more charts than a run has
def _svg(specification: str) -> str:
    return str(vl_convert.vegalite_to_svg(specification, **_OFFLINE))


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


_FORMS: dict[str, Callable[[dict[str, Any], float], str | bytes]] = {
    ".svg": lambda specification, _: _svg(json.dumps(specification)),
    ".png": lambda specification, scale: vl_convert.vegalite_to_png(specification, scale=scale, **_OFFLINE),
    ".pdf": lambda specification, _: vl_convert.vegalite_to_pdf(specification, **_OFFLINE),
    ".html": lambda specification, _: _page(specification),
    ".json": lambda specification, _: json.dumps(specification, indent=1),
}
SUFFIXES = tuple(_FORMS)


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
