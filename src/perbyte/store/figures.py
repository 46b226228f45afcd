"""Figures from stored samples: of interrupted and merged runs, and whenever the statistics improve."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from perbyte.errors import UsageError
from perbyte.model import Burst, Calibration, Cell, CellFigure, Conditions, NoiseFloor


def make_figures(
    conditions: Conditions, calibrations: Iterable[Calibration], bursts: Sequence[Burst]
) -> tuple[tuple[CellFigure, ...], NoiseFloor | None]:
    """Return the figures of all cells that have usable samples, in the order of their first burst.

    The second value is the noise floor of the A/A pairs among them, None without any.
    """
    from perbyte.stats import contention_floors, figure, noise_floor

    by_process = {(calibration.process, calibration.epoch): calibration for calibration in calibrations}
    floors = contention_floors(by_process, bursts)
    taken: dict[Cell, list[Burst]] = {}
    for burst in bursts:
        taken.setdefault(burst.cell, []).append(burst)
    names = {(i.runner, i.cpu): (i.library, i.library_version) for i in conditions.identities}
    figures: dict[Cell, CellFigure] = {}
    for cell, of_cell in taken.items():
        library, version = names.get((cell.runner, cell.cpu), ("", ""))
        try:
            figures[cell] = figure(
                cell,
                of_cell,
                by_process,
                conditions.policy,
                library=library,
                library_version=version,
                floors=floors,
            )
        except UsageError:
            continue  # a cell all of whose samples failed has no figure; its failure stands in the run
    pairs = [
        (figures[replace(cell, twin=0)], found)
        for cell, found in figures.items()
        if cell.twin and replace(cell, twin=0) in figures
    ]
    return tuple(figures.values()), noise_floor(pairs)
