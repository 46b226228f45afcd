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


def render_limits(
    figures: Sequence[CellFigure], *, width: int | None = None, colour: bool | None = None
) -> str:
    """Give the limits as text: a line for each cell with a model, then the models."""
    width = columns_of(width)
    known = limits(figures)
    if not known:
        return "no cell has a model whose loops are in this run: perbyte measure SELECTOR --limits\n"
    lines = [Text("What the silicon allows", style="bold")]
    for limit in known:
        cell, ratio = limit.figure.cell, limit.share.ratio
        marks = "".join(marks_of(limit.figure))
        by_call = limit.model.per == "call"
        measured = read(limit.figure, Unit.CYCLES_PER_CALL if by_call else Unit.CYCLES_PER_BYTE)
        what = "call" if by_call else "byte"
        size = "" if by_call else f" {size_label(cell.size_bytes)}"
        above = "; above the limit: the model lacks a way, or a figure is wrong" if limit.beyond else ""
        interval = interval_text(ratio.scaled(100))
        share = f"{number(100 * ratio.value, 100 * ratio.half_width if ratio.known else 0.0)} %"
        lines += prose(
            f"{plain(cell.algorithm, 60)}, {plain(cell.runner, 40)}, {cell.operation}{size}: "
            f"{value_text(measured)} cycles a {what}{' ' + marks if marks else ''}; the silicon allows "
            f"{value_text(limit.cost)} ({limit.need}, {limit.unit}): {share} of the limit ({interval}){above}",
            width,
        )
    lines += [
        Text(),
        *prose("Models: units work at the same time, and the need that takes longest is the limit.", width),
    ]
    for note in dict.fromkeys(f"- {limit.model.algorithms}: {limit.model.model}" for limit in known):
        lines += prose(note, width)
    used = {unit for limit in known for need in limit.model.needs for unit in need.ways}
    lines += [Text(), *prose("Cycles an instruction, measured in this run; no listed figure is used:", width)]
    lines += prose(_loops(figures, used), width)
    return to_text(lines, colour=colour)


def _loops(figures: Sequence[CellFigure], used: Iterable[str]) -> str:
    """What each loop that a model uses takes for an instruction."""
    wanted = set(used)
    return ", ".join(
        f"{figure.cell.algorithm} {value_text(cost_of(figure, CYCLES, per=figure.cell.size_bytes, source=0).estimate)}"
        for figure in sorted(figures, key=lambda each: each.cell.algorithm)
        if figure.cell.runner == "reference"
        and figure.cell.algorithm in wanted
        and figure.cell.usual
        and figure.cycles_per_call
    )


def limits_json(figures: Iterable[CellFigure]) -> list[dict[str, Any]]:
    """The same for programs: an object per cell, with its address."""
    return [
        {
            "address": limit.figure.cell.address,
            f"limit_cycles_per_{limit.model.per}": limit.cost.value,
            "binding": limit.need,
            "unit": limit.unit,
            "share": limit.share.ratio.value,
            "share_low": limit.share.ratio.low,
            "share_high": limit.share.ratio.high if limit.share.ratio.known else None,
            "model": limit.model.model,
            "beyond": limit.beyond,
        }
        for limit in limits(tuple(figures))
    ]
