"""What the silicon allows, beside what was measured, as a listing."""

from __future__ import annotations

from collections.abc import Sequence

from perbyte.model import CellFigure
from perbyte.model.text import plain
from perbyte.report.listing import Entry, Head, Listing
from perbyte.report.marks import marks_of
from perbyte.report.wording import interval_text, number, size_label, value_text
from perbyte.stats.limits import Limit, limits, loop_costs
from perbyte.stats.quantity import Unit, read

NONE = "no cell has a model whose loops are in this run: perbyte measure SELECTOR --limits"
_COLUMNS = (
    Head(None, "", "address"),
    Head("algorithm"),
    Head("library"),
    Head("operation", once=True),
    Head("size", "n", once=True),
    Head("cycles per", once=True),
    Head("measured", "n"),
    Head("limit", "n", "limit_cycles_per_byte limit_cycles_per_call"),
    Head("binding", "", "binding"),
    Head("unit", "", "unit"),
    Head("% of limit", "n", "share"),
    Head("interval", "n", "share_low share_high"),
    Head("", "", "model beyond"),
)


def limits_listing(figures: Sequence[CellFigure]) -> Listing:
    """A row for each cell with a model, then the models and what their loops took in this run."""
    known = limits(figures)
    if not known:
        return Listing("", (), (), (NONE,))
    models = dict.fromkeys(f"- {limit.model.algorithms}: {limit.model.model}" for limit in known)
    loops = ", ".join(f"{name} {value_text(cost)}" for name, cost in loop_costs(figures, known))
    notes = (
        "Models: units work at the same time, and the need that takes longest is the limit.",
        *models,
        f"Cycles an instruction, measured in this run; no listed figure is used: {loops}",
    )
    return Listing("What the silicon allows", _COLUMNS, [_row(limit) for limit in known], notes, lead=4)


def _row(limit: Limit) -> tuple[Entry, ...]:
    cell, ratio = limit.figure.cell, limit.share.ratio
    by_call = limit.model.per == "call"
    measured = read(limit.figure, Unit.CYCLES_PER_CALL if by_call else Unit.CYCLES_PER_BYTE)
    share = number(100 * ratio.value, 100 * ratio.half_width if ratio.known else 0.0)
    above = "above the limit: the model lacks a way, or a figure is wrong" if limit.beyond else ""
    cost = limit.cost.value
    return (
        ("", cell.address),
        plain(cell.algorithm, 60),
        plain(cell.runner, 40),
        cell.operation,
        "" if by_call else size_label(cell.size_bytes),
        limit.model.per,
        f"{value_text(measured)} {''.join(marks_of(limit.figure))}".rstrip(),
        (value_text(limit.cost), ... if by_call else cost, cost if by_call else ...),
        limit.need,
        limit.unit,
        (share, ratio.value),
        (interval_text(ratio.scaled(100)), ratio.low, ratio.high if ratio.known else None),
        (above, limit.model.model, limit.beyond),
    )
