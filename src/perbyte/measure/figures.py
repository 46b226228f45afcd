"""Figures of a run that is under way or at its end: `stats` given what the run knows.

What a figure is, is decided in `stats`; here its samples, its library's name and its warnings come together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from perbyte import stats
from perbyte.measure.crew import Process
from perbyte.measure.history import History
from perbyte.measure.tiers import Row
from perbyte.model import Cell, CellFigure, NoiseFloor, Policy, Warning
from perbyte.stats.compare import noise_floor


def summarise(
    cell: Cell, history: History, policy: Policy, quiet: Mapping[Process, stats.Quiet] | None = None
) -> stats.Summary | None:
    """Return what is known of a cell by now, None without samples. Raises UsageError if none of them is usable.

    `quiet`: what the contention probe of each process reads on a quiet core; None: each calibration's own.
    """
    bursts = history.bursts.get(cell)
    return stats.summarise(cell, bursts, history.calibrations, policy, quiet) if bursts else None


def make_figure(
    summary: stats.Summary, history: History, policy: Policy, spread: stats.Spread | None
) -> CellFigure:
    """Return the figure that follows from `summary` and from what the cells of the run have in common."""
    cell = summary.cell
    identity = history.identity(cell.runner, cell.cpu)
    return stats.judge(
        summary,
        policy,
        library=identity.library if identity else "",
        library_version=identity.library_version if identity else "",
        spread=spread,
    )


def find_quiet(cells: Iterable[Cell], history: History, policy: Policy) -> Mapping[Process, stats.Quiet]:
    """Return what the contention probe of each process reads on a quiet core, from all samples of `cells`."""
    kept = [burst for cell in cells for burst in history.bursts.get(cell, ())]
    return stats.find_quiet(history.calibrations, kept, policy) if kept else {}


def find_noise_floor(figures: Iterable[CellFigure]) -> NoiseFloor | None:
    """Return what the A/A pairs among `figures` show; None without pairs."""
    by_cell = {figure.cell: figure for figure in figures}
    return noise_floor(
        (by_cell[original], figure)
        for cell, figure in by_cell.items()
        if cell.twin and (original := dataclasses.replace(cell, twin=0)) in by_cell
    )


def with_warnings(
    figure: CellFigure, of_run: Iterable[Warning], of_rows: Mapping[Row, Warning]
) -> CellFigure:
    """Return `figure` with the warnings of the run and of its row (see `tiers.unproven_rows`) added."""
    cell = figure.cell
    more = tuple(of_run)
    if of_row := of_rows.get((cell.runner, cell.cpu, cell.algorithm, cell.operation, cell.contract)):
        more += (of_row,)
    return dataclasses.replace(figure, warnings=figure.warnings + more)
