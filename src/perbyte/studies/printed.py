"""The figures that a study printed for one of its machines, laid out as a run, so that the same code judges both."""

from __future__ import annotations

from collections.abc import Iterator

from perbyte.errors import UsageError
from perbyte.model import Cell, CellFigure, Conditions, Interval, Machine, Policy, Quality, Run
from perbyte.stats.quantity import Unit
from perbyte.studies.evidence import IN_PRINT, cells_of
from perbyte.studies.model import PublishedFigure, Study, published_ns


def published_run(study: Study, machine: str = "") -> Run:
    """Lay out the figures printed for one machine as a run; `conditions.origin` says where it comes from.

    A glob for the runner becomes the runner `published`. Cycles are those printed; where the study printed times,
    the figures are in nanoseconds. Raises UsageError when the study has no such machine.
    """
    known = [machine.id for machine in study.machines]
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
    for selector in cells_of(published.cell.replace("*/", f"{IN_PRINT}/", 1)):  # {a,*}/ is a's, in print
        cell = selector.cell
        value = published.value or 0.0
        cycles = None
        if published.unit == Unit.CYCLES_PER_BYTE:
            cycles = value * cell.size_bytes
        elif published.unit == Unit.CYCLES_PER_CALL:
            cycles = value * (cell.size_bytes / published.size_bytes if published.size_bytes else 1.0)
        ns = published_ns(published)
        if ns is not None and published.size_bytes:
            ns *= cell.size_bytes / published.size_bytes
        cost = ns if cycles is None else cycles
        if not selector.literal or cost is None:
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
