"""Published against today: every printed figure beside its counterpart, in the printed unit and in cycles per byte.

A printed figure whose cell is a glob is paired with every library that measured it: which one stands for the past
is for the reader to say. Figures without a counterpart stay in the list, so that nothing is left out silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from perbyte.model import Cell, CellFigure, Estimate, Run
from perbyte.stats.compare import compare, larger_floor
from perbyte.stats.quantity import Unit, read
from perbyte.studies.cells import expand
from perbyte.studies.figurefile import OVER
from perbyte.studies.model import PublishedFigure, Study


@dataclass(frozen=True, slots=True)
class PairedPoint:
    """A printed figure and one counterpart of today.

    `today` is in the printed unit and None where there is none; `addresses` are the cells it comes from. `ratio` is
    how many times faster today is (above 1: faster), for ratios simply today over then; None without both.
    """

    published: PublishedFigure
    addresses: tuple[str, ...]
    library: str
    today: Estimate | None
    ratio: float | None


def paired(study: Study, runs: Run | Sequence[Run]) -> tuple[PairedPoint, ...]:
    """Pair all printed figures of `study` with what `runs` hold; the first run that has a cell counts."""
    several = (runs,) if isinstance(runs, Run) else tuple(runs)
    figures: dict[Cell, tuple[CellFigure, Run]] = {}
    for run in several:
        for figure in run.cells:
            figures.setdefault(figure.cell, (figure, run))
    return tuple(point for published in study.published for point in _points(published, figures))


def _points(published: PublishedFigure, figures: dict[Cell, tuple[CellFigure, Run]]) -> Iterator[PairedPoint]:
    sides = published.cell.split(OVER) if published.cell else []
    found = [list(_matching(side, figures)) for side in sides]
    if len(found) == 2 and found[0] and found[1]:
        (above, first), (below, second) = found[0][0], found[1][0]
        floor = larger_floor((first.noise_floor, second.noise_floor))
        today = compare(below, above, floor, same_run=first is second).ratio
        yield _point(published, (above, below), today)
    elif len(found) == 1 and found[0]:
        for figure, _ in found[0]:
            today_ = read(figure, published.unit, size_bytes=published.size_bytes, calls=published.calls)
            yield _point(published, (figure,), today_)
    else:
        yield PairedPoint(published, (), "", None, None)


def _point(published: PublishedFigure, figures: Sequence[CellFigure], today: Estimate | None) -> PairedPoint:
    ratio = None
    if today and today.value > 0 and published.value:
        grown = today.value / published.value
        rises = Unit(published.unit).more_is_better or published.unit == Unit.RATIO
        ratio = grown if rises else 1 / grown
    library = f"{figures[0].library} {figures[0].library_version}".strip()
    return PairedPoint(published, tuple(one.cell.address for one in figures), library, today, ratio)


def _matching(selector: str, figures: dict[Cell, tuple[CellFigure, Run]]) -> Iterable[tuple[CellFigure, Run]]:
    wanted = expand(selector)
    if all(one.literal for one in wanted):
        return [figures[cell] for one in wanted if (cell := one.cell()) in figures]
    return [found for cell, found in figures.items() if any(one.matches(cell) for one in wanted)]
