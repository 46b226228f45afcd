"""Which figures a report shows, and in which order. Draws nothing itself; a chart that has no data is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from perbyte.errors import UsageError
from perbyte.model import Run
from perbyte.report import charts
from perbyte.report.costs import cost_over_size
from perbyte.report.operations import operations_chart
from perbyte.report.panels import Chart
from perbyte.report.points import Names, gather
from perbyte.report.views import Table

_MOST_ACCELERATED = 3
_MOST_CONTRACTS = 4
_LARGE = 1500


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart with the name of its file (without suffix) and its heading in a report."""

    name: str
    heading: str
    chart: Chart


def pictures(
    run: Run, *, names: Names | None = None, laid_out: Sequence[Table] | None = None
) -> tuple[Picture, ...]:
    """Give the figures that suit `run`. `names` is what a study calls an algorithm on a tier.

    Who has laid the run out already passes its tables on.
    """
    drawn = []
    for name, heading, draw in _candidates(run, names, laid_out):
        try:
            drawn.append(Picture(name, heading, draw()))
        except UsageError:
            continue
    return tuple(drawn)


def _candidates(
    run: Run, names: Names | None, laid_out: Sequence[Table] | None
) -> Iterator[tuple[str, str, Callable[[], Chart]]]:
    drawable = [points for points in gather(run, names=names, laid_out=laid_out) if points.records]
    drawable.sort(key=lambda points: -len(points.records))
    for index, points in enumerate(drawable[:_MOST_CONTRACTS]):
        given: dict[str, Any] = {"points": points}
        tail = f"-{index + 1}" if index else ""
        yield f"bars{tail}", "Who is the fastest", partial(charts.bars, run, **given)
        if index:
            continue
        if len(points.libraries) > 1 and len(points.series) > 1 and len(points.records) <= _LARGE:
            yield "by-library", "Software in each library", partial(charts.by_library, run, **given)
        for number, algorithm in enumerate(charts.accelerated(points)[:_MOST_ACCELERATED]):
            name = f"acceleration-{number + 1}" if number else "acceleration"
            draw = partial(charts.acceleration, run, algorithm=algorithm, **given)
            yield name, "With and without the processor's own instructions", draw
        if len(points.sizes) > 2:
            yield "cost", "Cost over size", partial(cost_over_size, run, **given)
        yield "operations", "One operation over the other", partial(operations_chart, run, names=names)
        if len(points.records) > 2:
            yield "everything", "All results at once", partial(charts.everything, run, **given)
