"""Proof that a CPU tier changed the code path.

A tier is the library's own switch, and a switch may do nothing on this machine or in this build. So for
every algorithm that a CPU can accelerate the tier must show that it changed something: by what the library
reports, or by the factor between the figures. Where neither shows it, the row carries a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from perbyte import stats
from perbyte.catalogue import Catalogue
from perbyte.errors import PerbyteError
from perbyte.measure.crew import Crew
from perbyte.measure.layout import draw_layout
from perbyte.measure.survey import Survey
from perbyte.model import Cell, CellFigure, Doubt, Policy, Warning
from perbyte.model.cell import FULL

SAME_WITHIN = 0.05
_PROBE_BYTES = 1024
Row = tuple[str, str, str, str, str]  # runner, tier, algorithm, operation, contract


def unproven_rows(
    survey: Survey,
    catalogue: Catalogue,
    figures: Iterable[CellFigure],
    *,
    cores: Sequence[int],
    policy: Policy,
) -> Mapping[Row, Warning]:
    """Return a warning for each row of a lower tier that runs the same code as `full`, as far as can be seen."""
    by_cell = {figure.cell: figure for figure in figures}
    rows: dict[Row, list[CellFigure]] = {}
    for figure in by_cell.values():
        cell = figure.cell
        if cell.cpu != FULL and catalogue.find(cell.algorithm).accelerated_by:
            rows.setdefault(_row(cell), []).append(figure)
    warnings: dict[Row, Warning] = {}
    for row, its in rows.items():
        if _reports_differ(survey, row):
            continue
        factors = [_factor(figure, by_cell) for figure in its]
        known = [factor for factor in factors if factor]
        if not known:
            probed = _probe(survey, its[0].cell, cores, policy)
            known = [probed] if probed else []
        if not known:
            text = f"tier {row[1]}: neither the library nor a figure shows that the code path changed"
            warnings[row] = Warning(Doubt.TIER, text)
        elif all(abs(factor - 1) < SAME_WITHIN for factor in known):
            seen = ", ".join(f"{factor:.3f}" for factor in sorted(set(known)))
            text = f"tier {row[1]} runs as fast as full (factor {seen}): the code path did not change"
            warnings[row] = Warning(Doubt.TIER, text, tuple(sorted(set(known))))
    return warnings


def _row(cell: Cell) -> Row:
    return (cell.runner, cell.cpu, cell.algorithm, cell.operation, cell.contract)


def _reports_differ(survey: Survey, row: Row) -> bool:
    """True when the library itself names different code behind the row in the two tiers."""
    runner, cpu, algorithm, operation, contract = row
    here = survey.operation(runner, cpu, algorithm, operation, contract)
    full = survey.operation(runner, FULL, algorithm, operation, contract)
    return bool(here and full and here.code_path and full.code_path and here.code_path != full.code_path)


def _factor(figure: CellFigure, figures: Mapping[Cell, CellFigure]) -> float | None:
    full = figures.get(_in_full(figure.cell, figure.cell.size_bytes))
    return figure.per_call / full.per_call if full and full.per_call else None


def _in_full(cell: Cell, size_bytes: int, cpu: str = FULL) -> Cell:
    return Cell(cell.runner, cell.algorithm, cell.operation, size_bytes, cell.contract, cpu)


def _probe(survey: Survey, cell: Cell, cores: Sequence[int], policy: Policy) -> float | None:
    """Measure one burst in each of the two tiers: enough to tell 5 %, and no figure of the run."""
    medians: dict[str, float] = {}
    layout = draw_layout(policy.seed, 0)
    try:
        with Crew(survey, cores=cores, epoch=0, layout=layout, seed=policy.seed) as crew:
            for cpu in (FULL, cell.cpu):
                probed = _in_full(cell, _PROBE_BYTES, cpu)
                calibration = crew.start(probed.process)
                burst = (
                    crew.session(probed)
                    .measure(
                        crew.handle(probed),
                        cell=probed,
                        epoch=0,
                        round=0,
                        samples=30,
                        limit_ms=policy.burst_limit_ms,
                    )
                    .burst
                )
                medians[cpu] = float(np.median(stats.ns_per_call(burst, calibration)))
    except PerbyteError:
        return None
    return medians[cell.cpu] / medians[FULL] if medians[FULL] else None
