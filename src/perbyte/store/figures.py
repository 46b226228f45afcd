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
    from perbyte.stats import common_spread, find_quiet, judge, noise_floor, summarise

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
    summaries = []
    for cell in cells:
        try:
            summaries.append(summarise(cell, taken[cell], by_process, conditions.policy, quiet))
        except UsageError:
            continue  # a cell all of whose samples failed has no figure; its failure stands in the run
    spread = common_spread(summaries)
    figures: dict[Cell, CellFigure] = {}
    for summary in summaries:
        library, version = names.get((summary.cell.runner, summary.cell.cpu), ("", ""))
        figures[summary.cell] = judge(
            summary, conditions.policy, library=library, library_version=version, spread=spread
        )
    pairs = [
        (figures[replace(cell, twin=0)], found)
        for cell, found in figures.items()
        if cell.twin and replace(cell, twin=0) in figures
    ]
    return tuple(figure for cell, figure in figures.items() if not cell.twin), noise_floor(pairs)
