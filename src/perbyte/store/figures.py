"""Figures from stored samples: of interrupted and merged runs, and whenever the statistics improve."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from perbyte.errors import UsageError
from perbyte.model import Burst, Calibration, Cell, CellFigure, Conditions, Failure, NoiseFloor


def make_figures(
    conditions: Conditions,
    calibrations: Iterable[Calibration],
    bursts: Sequence[Burst],
    failures: Iterable[Failure] = (),
) -> tuple[tuple[CellFigure, ...], NoiseFloor | None]:
    """Return the figures of all cells that have usable samples, in the order of the plan.

    Cells that failed have none, whatever was measured before. The second value is the noise floor of the A/A
    pairs; the twins themselves are not among the figures.
    """
    from perbyte.stats import figure as make_figure
    from perbyte.stats import find_quiet, noise_floor

    by_process = {(calibration.process, calibration.epoch): calibration for calibration in calibrations}
    quiet = find_quiet(by_process, bursts, conditions.policy)
    failed = {failure.address for failure in failures}
    taken: dict[Cell, list[Burst]] = {}
    for burst in bursts:
        taken.setdefault(burst.cell, []).append(burst)
    order = {address: place for place, address in enumerate(conditions.plan)}
    cells = [cell for cell in taken if cell.address not in failed]
    cells.sort(key=lambda cell: order.get(cell.address, len(order)))
    names = {(i.runner, i.cpu): (i.library, i.library_version) for i in conditions.identities}
    figures: dict[Cell, CellFigure] = {}
    for cell in cells:
        library, version = names.get((cell.runner, cell.cpu), ("", ""))
        try:
            figures[cell] = make_figure(
                cell,
                taken[cell],
                by_process,
                conditions.policy,
                library=library,
                library_version=version,
                quiet=quiet,
            )
        except UsageError:
            continue  # a cell all of whose samples failed has no figure; its failure stands in the run
    pairs = [
        (figures[replace(cell, twin=0)], found)
        for cell, found in figures.items()
        if cell.twin and replace(cell, twin=0) in figures
    ]
    return tuple(figure for cell, figure in figures.items() if not cell.twin), noise_floor(pairs)
