"""A study's own figures as if they were a run, so that its claims can be judged on its own table.

A text may claim more than its table shows; a reader who wonders why a claim fails today should know whether it
held then. Printed figures carry no interval, so the outcome is decided by the points alone, and effect sizes
cannot be had. Such a run says where it comes from in `conditions.origin`.
"""

from __future__ import annotations

from perbyte.errors import UsageError
from perbyte.model import CellFigure, Conditions, Interval, Machine, Policy, Quality, Run
from perbyte.stats.quantity import Unit
from perbyte.studies.cells import expand
from perbyte.studies.evidence import IN_PRINT
from perbyte.studies.figurefile import OVER
from perbyte.studies.judge import judge
from perbyte.studies.model import Judgement, PublishedFigure, Study
from perbyte.studies.units import published_ns


def judge_in_print(study: Study, machine: str = "") -> Judgement:
    """Judge the claims of `study` on the figures it printed for `machine` (its first one by default)."""
    return judge(study, published_run(study, machine))


def published_run(study: Study, machine: str = "") -> Run:
    """Lay out the figures printed for one machine as a run.

    A glob for the runner becomes the runner `published`. Cycles are those printed; where the study printed times,
    the figures are in nanoseconds. Raises UsageError when the study has no such machine.
    """
    known = [one.id for one in study.machines]
    if machine and machine not in known:
        raise UsageError(f"{study.name} has no machine '{machine}'", way_out=f"there are: {', '.join(known)}")
    wanted = machine or (known[0] if known else "")
    cells: dict[object, CellFigure] = {}
    for published in study.published:
        if published.machine == wanted and published.available:
            for figure in _figures(published):
                cells.setdefault(figure.cell, figure)
    return Run(path=None, conditions=_conditions(study, wanted), cells=tuple(cells.values()))


def _figures(published: PublishedFigure) -> list[CellFigure]:
    if not published.cell or OVER in published.cell or published.value is None:
        return []
    found = []
    for one in expand(published.cell.replace("*/", f"{IN_PRINT}/", 1)):
        if not one.literal:
            continue
        cell = one.cell()
        cycles = published.value * cell.size_bytes if published.unit == Unit.CYCLES_PER_BYTE else None
        ns = published_ns(published)
        if ns is not None and published.size_bytes:
            ns *= cell.size_bytes / published.size_bytes
        cost = cycles if cycles is not None else ns
        if cost is None:
            continue
        found.append(
            CellFigure(
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
        )
    return found


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
