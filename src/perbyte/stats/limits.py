"""What the silicon allows, beside what was measured: per cent of the limit, and which limit binds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from perbyte.catalogue.facts import Model, model_of
from perbyte.model import CellFigure, Estimate
from perbyte.stats.compare import CYCLES, Comparison, Cost, compare_costs, cost_of


@dataclass(frozen=True, slots=True)
class Limit:
    """The limit of a cell: `cost` in cycles per byte (of public keys per call), `need` that binds, by which `unit`.

    `share` is the limit over what was measured: 1 is all that the silicon allows.
    """

    figure: CellFigure
    model: Model
    need: str
    unit: str
    cost: Estimate
    share: Comparison

    @property
    def beyond(self) -> bool:
        """True where the limit was exceeded beyond the interval: the model lacks a way, or a figure is wrong."""
        low = self.share.ratio.low if self.share.ratio.known else self.share.ratio.value
        return low > 1


def limits(figures: Sequence[CellFigure]) -> tuple[Limit, ...]:
    """The limits of the cells that have a model, from the loops that are among the same figures."""
    loops = {
        figure.cell.algorithm: figure
        for figure in figures
        if figure.cell.runner == "reference" and figure.cycles_per_call and figure.cell.usual
    }
    known = []
    for figure in figures:
        model = model_of(figure.cell.algorithm, figure.cell.operation)
        if (
            model is None
            or figure.cycles_per_call is None
            or not figure.cell.usual
            or figure.cell.cpu != "full"
        ):
            continue
        needs: list[tuple[Cost, str, str]] = []
        for need in model.needs:
            ways = [
                (_cost(loops[unit], count, size), need.what, unit)
                for unit, (count, size) in need.ways.items()
                if unit in loops
            ]
            needs += [min(ways, key=lambda way: way[0].estimate.value)] if ways else []
        if needs:
            cost, what, unit = max(needs, key=lambda each: each[0].estimate.value)
            per = figure.cell.size_bytes if model.per == "byte" else 1
            measured = cost_of(figure, CYCLES, per=per, source=0)
            share = compare_costs(measured, cost)
            known.append(Limit(figure, model, what, unit, cost.estimate, share))
    return tuple(sorted(known, key=lambda each: (-each.figure.cell.size_bytes, -each.share.ratio.value)))


def _cost(loop: CellFigure, instructions: int, size: int) -> Cost:
    """Cycles per byte (or call) of a need that takes so many instructions for `size` bytes (or calls)."""
    return cost_of(loop, CYCLES, per=loop.cell.size_bytes * size / instructions, source=0)


def loop_costs(figures: Sequence[CellFigure], known: Iterable[Limit]) -> list[tuple[str, Estimate]]:
    """Each loop that the models of `known` limits use, with the cycles that an instruction of it took."""
    wanted = {unit for limit in known for need in limit.model.needs for unit in need.ways}
    return [
        (figure.cell.algorithm, cost_of(figure, CYCLES, per=figure.cell.size_bytes, source=0).estimate)
        for figure in sorted(figures, key=lambda each: each.cell.algorithm)
        if figure.cell.runner == "reference"
        and figure.cell.algorithm in wanted
        and figure.cell.usual
        and figure.cycles_per_call
    ]
