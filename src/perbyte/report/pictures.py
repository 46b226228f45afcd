"""Which charts are drawn of a run, of runs compared and of the history, with their names and headings.

A chart without data is left out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path

from perbyte.errors import UsageError
from perbyte.model import Run
from perbyte.model.text import counted, plain
from perbyte.report.charts import Chart
from perbyte.report.costcharts import at_a_rate, cost_over_size
from perbyte.report.document import Picture as Picture
from perbyte.report.files import Say, silent, written
from perbyte.report.grid import Grid
from perbyte.report.history import CYCLES, MEGABITS, history_chart
from perbyte.report.ratiocharts import comparison, operations, published, published_operations
from perbyte.report.runcharts import acceleration, bars, by_library, everything, factors_of
from perbyte.report.runview import Points, RunView
from perbyte.report.saving import SUFFIXES, save_chart
from perbyte.report.versioncharts import Versions
from perbyte.studies import Judgement
from perbyte.studies.history import History
from perbyte.studies.judge import judgement_of

_MOST_ACCELERATED = 3
_MOST_CONTRACTS = 4
_MOST_VERSIONED = 24
_LARGE = 1500
_MOST_DRAWN = 16_000  # cells of a chart of all: Vega ends with too deep a stack at 50,000, and draws 16,667


def pictures_of(run: Run, judgement: Judgement | None = None) -> dict[str, Picture]:
    """All charts of a run by name, those of its study among them."""
    view = RunView(run, judgement=judgement or judgement_of(run)[0])
    return {picture.name: picture for picture in run_pictures(view)}


def drawn(
    name: str, heading: str, draw: Callable[..., Chart | None], place: int = 0, *, narrow: bool = False
) -> tuple[Picture, ...]:
    """The picture of what `draw` gives, with its form for a telephone where it has one; none where it gives none.

    `place` is that among those of the same name, from 0, which becomes part of all but the first name.
    """
    chart = draw()
    if chart is None:
        return ()
    name = f"{name}-{place + 1}" if place else name
    return (Picture(name, heading, chart, draw(narrow=True) if narrow else None),)


def run_pictures(view: RunView) -> tuple[Picture, ...]:
    """The charts of a run in the order of its page, those of its study included.

    First what a reader should meet: who is the fastest. Then what a study published, then the rest.
    """
    pictures: list[Picture] = []
    for place, points in enumerate(view.points[:_MOST_CONTRACTS]):
        if len(points.records) > _MOST_DRAWN:
            continue
        pictures += drawn("bars", "Who is the fastest", partial(bars, view, points), place, narrow=True)
    for place, operation in enumerate(published_operations(view)):
        heading = f"Published against today: {plain(operation, 24)}"
        pictures += drawn("published", heading, partial(published, view, operation), place, narrow=True)
    if not view.points or len(view.points[0].records) > _MOST_DRAWN:
        return tuple(pictures)
    points = view.points[0]
    pictures += drawn("rate", "What a rate takes", partial(at_a_rate, points), narrow=True)
    if _has_libraries(points) and len(points.records) <= _LARGE:
        pictures += drawn(
            "by-library", "The algorithms of each library", partial(by_library, view, points), narrow=True
        )
    for place, algorithm in enumerate([*factors_of(points)][:_MOST_ACCELERATED]):
        heading = "With and without the processor's own instructions"
        pictures += drawn(
            "acceleration", heading, partial(acceleration, view, points, algorithm), place, narrow=True
        )
    versions = Versions(view.run)
    for place, algorithm in enumerate(versions.algorithms[:_MOST_VERSIONED]):
        pictures += drawn(
            "versions", f"Versions: {plain(algorithm, 40)}", partial(versions.chart, algorithm), place
        )
    if len(points.sizes) > 2:
        pictures += drawn("cost", "Cost over size", partial(cost_over_size, view, points), narrow=True)
    name, heading = "operations", "One operation over the other"
    if any(today for _, today in view.published_ratios):
        name, heading = "ratios", "Ratio of two operations: published and today"
    pictures += drawn(name, heading, partial(operations, view), narrow=True)
    if len(points.records) > 2:
        pictures += drawn("everything", "All results at once", partial(everything, view, points), narrow=True)
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
    if len(points.records) > _MOST_DRAWN:
        texts.append(f"{len(points.records):,} cells are too many for a chart; the tables have them.")
        return tuple(texts)
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
        *drawn("history", "History: cycles per byte", partial(history_chart, history, CYCLES), narrow=True),
        *drawn(
            "history-throughput",
            "History: throughput",
            partial(history_chart, history, MEGABITS),
            narrow=True,
        ),
    )


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
        there = ", ".join(f"{name}{path.suffix}" for name in names)
        hint = f"the file's name says which, in any directory; there are: {there}"
        raise UsageError(f"no chart is called '{path.stem}'", hint=hint)


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
