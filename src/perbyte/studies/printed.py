"""The figures a study printed, set beside today's, and laid out as a run of their own.

A printed figure whose cell is a glob is paired with every library that measured it: which one stands for the past
is for the reader to say. As a run, printed figures let the claims be judged on the study's own table: a text may claim
more than its table shows. They carry no interval, so the outcome is decided by the points alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from perbyte.errors import UsageError
from perbyte.model import Cell, CellFigure, Conditions, Estimate, Interval, Machine, Policy, Quality, Run
from perbyte.stats.compare import compare, floor_across
from perbyte.stats.quantity import Unit, read
from perbyte.studies.evidence import IN_PRINT, cells_of, figures_of
from perbyte.studies.judge import judge
from perbyte.studies.model import Judgement, PublishedFigure, Study, published_ns


@dataclass(frozen=True, slots=True)
class PairedPoint:
    """A printed figure and one counterpart of today.

    `today` is in the printed unit and None where there is none; `addresses` are the cells it comes from. `ratio` is
    how many times faster today is (above 1: faster), for ratios simply today over then; None without both.
    """

    published: PublishedFigure
    addresses: tuple[str, ...] = ()
    library: str = ""
    today: Estimate | None = None

    @property
    def ratio(self) -> float | None:
        """Today over then, the faster the larger."""
        if not self.today or self.today.value <= 0 or not self.published.value:
            return None
        grown = self.today.value / self.published.value
        rises = self.published.unit.more_is_better or self.published.unit == Unit.RATIO
        return grown if rises else 1 / grown


def paired(study: Study, runs: Run | Sequence[Run]) -> tuple[PairedPoint, ...]:
    """Pair all printed figures of `study` with what `runs` hold; figures without a counterpart stay in the list."""
    figures = figures_of((runs,) if isinstance(runs, Run) else runs)
    return tuple(point for published in study.published for point in _points(published, figures))


def _points(
    published: PublishedFigure, figures: Mapping[Cell, tuple[CellFigure, Run]]
) -> Iterator[PairedPoint]:
    match [_matching(side, figures) for side in published.sides]:
        case [[(above, first), *_], [(below, second), *_]]:
            together = first is second
            floor = first.noise_floor if together else floor_across((first.noise_floor, second.noise_floor))
            today = compare(below, above, floor, same_run=together).ratio
            yield PairedPoint(published, (above.cell.address, below.cell.address), _library(above), today)
        case [[_, *_] as found]:
            for figure, _ in found:
                now = read(figure, published.unit, size_bytes=published.size_bytes, calls=published.calls)
                yield PairedPoint(published, (figure.cell.address,), _library(figure), now)
        case _:
            yield PairedPoint(published)


def _matching(selector: str, figures: Mapping[Cell, tuple[CellFigure, Run]]) -> list[tuple[CellFigure, Run]]:
    wanted = cells_of(selector)
    if all(one.literal for one in wanted):
        return [figures[one.cell] for one in wanted if one.cell in figures]
    return [both for cell, both in figures.items() if any(one.matches(cell) for one in wanted)]


def _library(figure: CellFigure) -> str:
    return f"{figure.library} {figure.library_version}".strip()


def judge_in_print(study: Study, machine: str = "") -> Judgement:
    """Judge the claims of `study` on the figures it printed for `machine` (its first one by default)."""
    return judge(study, published_run(study, machine))


def published_run(study: Study, machine: str = "") -> Run:
    """Lay out the figures printed for one machine as a run; `conditions.origin` says where it comes from.

    A glob for the runner becomes the runner `published`. Cycles are those printed; where the study printed times,
    the figures are in nanoseconds. Raises UsageError when the study has no such machine.
    """
    known = [one.id for one in study.machines]
    if machine and machine not in known:
        raise UsageError(f"{study.name} has no machine '{machine}'", hint=f"there are: {', '.join(known)}")
    wanted = machine or (known[0] if known else "")
    cells: dict[Cell, CellFigure] = {}
    for published in study.published:
        if published.machine == wanted and published.available and len(published.sides) == 1:
            for figure in _printed_figures(published):
                cells.setdefault(figure.cell, figure)
    return Run(path=None, conditions=_conditions(study, wanted), cells=tuple(cells.values()))


def _printed_figures(published: PublishedFigure) -> Iterator[CellFigure]:
    for one in cells_of(published.cell.replace("*/", f"{IN_PRINT}/", 1)):
        cell = one.cell
        value = published.value or 0.0
        cycles = value * cell.size_bytes if published.unit == Unit.CYCLES_PER_BYTE else None
        ns = published_ns(published)
        if ns is not None and published.size_bytes:
            ns *= cell.size_bytes / published.size_bytes
        cost = ns if cycles is None else cycles
        if not one.literal or cost is None:
            continue
        yield CellFigure(
            cell=cell,
            library=published.library or "as printed",
            library_version="",
            cycles_per_call=cycles,
            ns_per_call=cost,
            interval=Interval(cost, cost),
            samples=0,
            clean_samples=0,
            epochs=1,
            epoch_cycles=() if cycles is None else (cycles,),
            epoch_ns=(cost,),
            calls_per_sample=1,
            quality=Quality.GOOD,
            cycle_source="none" if cycles is None else IN_PRINT,
        )


def _conditions(study: Study, machine: str) -> Conditions:
    known = study.machine(machine)
    return Conditions(
        run_id=f"{study.name}, as published",
        perbyte_version="",
        catalogue_version="",
        protocol_version=0,
        started_at=str(study.year),
        command=(),
        machine=Machine(
            cpu_model=known.name if known else "", clock_hz_nominal=(known.clock_hz or 0.0) if known else 0.0
        ),
        policy=Policy(),
        plan=(),
        study=study.name,
        origin=IN_PRINT,
    )
