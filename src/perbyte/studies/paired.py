"""Published against today: every printed figure beside its counterpart, in the printed unit and in cycles per byte.

A printed figure whose cell is a glob is paired with every library that measured it: which one stands for the past
is for the reader to say. Figures without a counterpart stay in the list, so that nothing is left out silently.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from perbyte.model import Cell, CellFigure, Run
from perbyte.studies.cells import expand
from perbyte.studies.estimates import Estimate
from perbyte.studies.figurefile import OVER
from perbyte.studies.model import PublishedFigure, Study
from perbyte.studies.units import Unit, published_cycles_per_byte, today_in


@dataclass(frozen=True, slots=True)
class PairedPoint:
    """A printed figure and one counterpart of today.

    `today` is in the printed unit and None where there is none; `addresses` are the cells it comes from. `ratio` is
    how many times faster today is (above 1: faster), for ratios simply today over then; None without both.
    `published_cycles_per_byte` needs the clock of the machine, `today_cycles_per_byte` a cycle source.
    """

    published: PublishedFigure
    addresses: tuple[str, ...]
    library: str
    today: Estimate | None
    ratio: float | None
    published_cycles_per_byte: float | None
    today_cycles_per_byte: Estimate | None


def paired(study: Study, runs: Run | Sequence[Run]) -> tuple[PairedPoint, ...]:
    """Pair all printed figures of `study` with what `runs` hold; the first run that has a cell counts."""
    figures: dict[Cell, CellFigure] = {}
    for run in (runs,) if isinstance(runs, Run) else runs:
        for figure in run.cells:
            figures.setdefault(figure.cell, figure)
    return tuple(point for published in study.published for point in _points(study, published, figures))


def _points(
    study: Study, published: PublishedFigure, figures: dict[Cell, CellFigure]
) -> Iterator[PairedPoint]:
    machine = study.machine(published.machine)
    then = published_cycles_per_byte(published, machine.clock_hz if machine else None)
    sides = published.cell.split(OVER) if published.cell else []
    found = [_matching(side, figures) for side in sides]
    if len(found) == 2 and found[0] and found[1]:
        above, below = found[0][0], found[1][0]
        today = _per_call(above).over(_per_call(below))
        addresses = (above.cell.address, below.cell.address)
        yield _point(published, addresses, above, today, then, None)
    elif len(found) == 1 and found[0]:
        for figure in found[0]:
            size = published.size_bytes
            today_ = today_in(published.unit, figure, size_bytes=size, calls=published.calls)
            cycles = today_in(Unit.CYCLES_PER_BYTE, figure)
            yield _point(published, (figure.cell.address,), figure, today_, then, cycles)
    else:
        yield PairedPoint(published, (), "", None, None, then, None)


def _point(
    published: PublishedFigure,
    addresses: tuple[str, ...],
    figure: CellFigure,
    today: Estimate | None,
    then: float | None,
    cycles: Estimate | None,
) -> PairedPoint:
    ratio = None
    if today and today.value > 0 and published.value:
        grown = today.value / published.value
        rises = Unit(published.unit).larger_is_faster or published.unit == Unit.RATIO
        ratio = grown if rises else 1 / grown
    library = f"{figure.library} {figure.library_version}".strip()
    return PairedPoint(published, addresses, library, today, ratio, then, cycles)


def _matching(selector: str, figures: dict[Cell, CellFigure]) -> list[CellFigure]:
    wanted = expand(selector)
    if all(one.literal for one in wanted):
        return [figures[cell] for one in wanted if (cell := one.cell()) in figures]
    return [figure for cell, figure in figures.items() if any(one.matches(cell) for one in wanted)]


def _per_call(figure: CellFigure) -> Estimate:
    return Estimate(figure.per_call, figure.interval.low, figure.interval.high)
