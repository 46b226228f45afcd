"""What the silicon allows, beside what was measured: per cent of the limit, and which limit binds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from perbyte.catalogue.limits import Model, model_of
from perbyte.model import CellFigure, Estimate
from perbyte.model.text import plain
from perbyte.report.marks import marks_of
from perbyte.report.text import columns_of, prose, to_text
from perbyte.report.wording import interval_text, number, size_label, value_text
from perbyte.stats.compare import CYCLES, Comparison, Cost, compare_costs, cost_of
from perbyte.stats.quantity import Unit, read


@dataclass(frozen=True, slots=True)
class Limit:
    """The limit of a cell: `cost` in cycles per byte, `need` that binds and the `unit` that meets it most cheaply.

    `share` is the limit over what was measured: 1 is all that the silicon allows.
    """

    figure: CellFigure
    model: Model
    need: str
    unit: str
    cost: Estimate
    share: Comparison


def limits(figures: Sequence[CellFigure]) -> tuple[Limit, ...]:
    """The limits of the cells that have a model, from the loops that are among the same figures."""
    loops = {
        one.cell.algorithm: one
        for one in figures
        if one.cell.runner == "reference" and one.cycles_per_call and one.cell.usual
    }
    found = []
    for one in figures:
        model = model_of(one.cell.algorithm, one.cell.operation)
        if model is None or one.cycles_per_call is None or not one.cell.usual or one.cell.cpu != "full":
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
            measured = cost_of(one, CYCLES, per=one.cell.size_bytes, source=0)
            share = compare_costs(measured, cost)
            found.append(Limit(one, model, what, unit, cost.estimate, share))
    return tuple(sorted(found, key=lambda each: (-each.figure.cell.size_bytes, -each.share.ratio.value)))


def _cost(loop: CellFigure, instructions: int, size: int) -> Cost:
    """Cycles per byte of a need that takes so many instructions for `size` bytes."""
    return cost_of(loop, CYCLES, per=loop.cell.size_bytes * size / instructions, source=0)


def render_limits(
    figures: Sequence[CellFigure], *, width: int | None = None, colour: bool | None = None
) -> str:
    """Give the limits as text: a line for each cell with a model, then the models."""
    width = columns_of(width)
    found = limits(figures)
    if not found:
        return "no cell has a model whose loops are in this run: perbyte measure SELECTOR --limits\n"
    lines = [Text("What the silicon allows", style="bold")]
    for one in found:
        cell, ratio = one.figure.cell, one.share.ratio
        marks = "".join(marks_of(one.figure))
        measured = read(one.figure, Unit.CYCLES_PER_BYTE)
        share = f"{number(100 * ratio.value, 100 * ratio.half_width if ratio.known else 0.0)} %"
        ends = Estimate(*(100 * end for end in (ratio.value, ratio.low, ratio.high)))
        lines += prose(
            f"{plain(cell.algorithm, 60)}, {plain(cell.runner, 40)}, {cell.operation} {size_label(cell.size_bytes)}: "
            f"{value_text(measured)} cycles a byte{' ' + marks if marks else ''}; the silicon allows "
            f"{value_text(one.cost)} ({one.need}, {one.unit}): {share} of the limit ({interval_text(ends)})",
            width,
        )
    lines += [
        Text(),
        *prose("Models: units work at the same time, and the dearest need is the limit.", width),
    ]
    for said in dict.fromkeys(f"- {one.model.algorithms}: {one.model.model}" for one in found):
        lines += prose(said, width)
    return to_text(lines, colour=colour)


def limits_json(figures: Iterable[CellFigure]) -> list[dict[str, Any]]:
    """The same for programs: an object per cell, with its address."""
    return [
        {
            "address": one.figure.cell.address,
            "limit_cycles_per_byte": one.cost.value,
            "binding": one.need,
            "unit": one.unit,
            "share": one.share.ratio.value,
            "share_low": one.share.ratio.low,
            "share_high": one.share.ratio.high if one.share.ratio.known else None,
            "model": one.model.model,
        }
        for one in limits(tuple(figures))
    ]
