"""What a binding costs: a library called from another language beside the same library called from C.

Which runner stands for the library below is said by `wraps` of runner.toml and kept with the run. Both must be in the
run; a row of the same algorithm, operation, size, contract and tier is a pair. Differences and their intervals come
from `stats.compare`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from perbyte.model import CellFigure, Estimate, Run
from perbyte.stats.compare import Comparison, compare, difference


@dataclass(frozen=True, slots=True)
class Binding:
    """A call through a binding (`above`) and the same call from C; `more` per call is in `comparison.unit`."""

    above: CellFigure
    below: CellFigure
    comparison: Comparison
    more: Estimate


def bindings(run: Run) -> list[Binding]:
    """All pairs of `run`, in the order of its cells."""
    wrapped = {identity.runner: identity.wraps for identity in run.conditions.identities if identity.wraps}
    figures = {figure.cell: figure for figure in run.cells}
    pairs = []
    for cell, above in figures.items():
        below = figures.get(replace(cell, runner=wrapped.get(cell.runner, "")))
        if below and cell.usual:
            comparison = compare(below, above, run.noise_floor)
            if comparison.ratio.value > 0:
                pairs.append(Binding(above, below, comparison, difference(below, comparison)))
    return pairs
