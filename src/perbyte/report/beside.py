"""What stands beside the figures of a run, as listings: what the silicon allows, bindings, calls that vary."""

from __future__ import annotations

import math
from collections.abc import Sequence

from perbyte.model import CellFigure, Estimate, Run, RunnerIdentity
from perbyte.model.cell import FULL
from perbyte.model.text import plain
from perbyte.report.listing import Entry, Head, Listing, columns
from perbyte.report.marks import marks_of
from perbyte.report.wording import (
    claim_text,
    interval_text,
    number,
    ratio_text,
    size_label,
    three_digits,
    value_text,
)
from perbyte.stats.compare import CYCLES, cost_of
from perbyte.stats.draws import SHARES
from perbyte.stats.limits import Limit, limits, loop_costs
from perbyte.stats.quantity import Unit, read
from perbyte.stats.trials import Binding, bindings

NONE = "no cell has a model whose loops are in this run: perbyte measure SELECTOR --limits"
_LIMITS = (
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
    return Listing("What the silicon allows", _LIMITS, [_limit_row(limit) for limit in known], notes, lead=4)


def _limit_row(limit: Limit) -> tuple[Entry, ...]:
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


_BINDINGS = (
    Head(None, "", "address wraps unit"),
    Head("algorithm"),
    Head("size", "n"),
    Head("operation", once=True),
    Head("contract", once=True),
    Head("binding"),
    Head("per call", "n"),
    Head("library below", once=True),
    Head("per call there", "n"),
    Head("more per call", "n", "more_per_call"),
    Head("interval", "n", "more_low more_high"),
    Head("times", "n", "ratio ratio_low ratio_high"),
    Head("", "", "answer reason"),
)


def bindings_listing(run: Run) -> Listing:
    """The pairs of `run`, costs in cycles, or in ns where that is said; versions that differ below are notes."""
    rows = [_binding_row(binding) for binding in bindings(run)]
    return Listing("What the binding costs", _BINDINGS, rows, version_notes(run) if rows else (), lead=5)


def version_notes(run: Run) -> list[str]:
    """Where a binding and the runner in C do not say the same version of the library, as far as they say it."""
    identities = {identity.runner: identity for identity in run.conditions.identities}
    pairs = {
        (identities[binding.above.cell.runner], identities[binding.below.cell.runner])
        for binding in bindings(run)
        if binding.below.cell.runner in identities
    }
    return sorted(_differing(above, below) for above, below in pairs if not _same(above, below))


def _same(above: RunnerIdentity, below: RunnerIdentity) -> bool:
    return below.library_version.split(" ")[0] in above.library_version


def _differing(above: RunnerIdentity, below: RunnerIdentity) -> str:
    return plain(
        f"{above.runner} says {above.library_version}, {below.runner} {below.library_version}: where these are not the "
        "same code, a difference is not the binding's alone",
        300,
    )


def _binding_row(binding: Binding) -> tuple[Entry, ...]:
    cell, below, more = binding.above.cell, binding.below.cell, binding.more
    comparison = binding.comparison
    suffix = "" if comparison.unit == CYCLES else " ns"

    def cost(figure: CellFigure) -> str:
        return value_text(cost_of(figure, comparison.unit).estimate) + suffix

    ratio = comparison.ratio
    return (
        ("", cell.address, below.address, comparison.unit),
        plain(cell.algorithm, 60),
        size_label(cell.size_bytes) if cell.size_bytes else "",
        plain(cell.operation, 24),
        plain(cell.contract, 30),
        plain(cell.runner, 40) + ("" if cell.cpu == FULL else f" ({plain(cell.cpu, 20)})"),
        cost(binding.above),
        plain(below.runner, 40),
        cost(binding.below),
        (number(more.value, more.half_width) + suffix, more.value),
        (interval_text(more), more.low, more.high),
        (f"×{ratio_text(ratio)}", ratio.value, ratio.low, ratio.high),
        (claim_text(comparison), comparison.answer.value, comparison.reason),
    )


_DRAWS = columns("algorithm | operation | runner | calls:n | unit")
_HEADING = "Calls that vary at random: what a share of them does not exceed"
_UNKNOWN = "–"
_NS_PER_MS = 1e6
_CYCLES_PER_MEGACYCLE = 1e6


def draws_listing(run: Run) -> Listing:
    """A row for each figure that is a distribution: millions of cycles, or milliseconds where there are no cycles."""
    rows: list[Sequence[Entry]] = []
    for figure in run.cells:
        if not figure.quantiles:
            continue
        told = {quantile.share: quantile.estimate for quantile in figure.quantiles}
        scale, unit = (
            (_NS_PER_MS, "ms") if figure.cycles_per_call is None else (_CYCLES_PER_MEGACYCLE, "10⁶ cycles")
        )
        texts = (_ends_text(told[share], scale) if share in told else _UNKNOWN for share in SHARES)
        cell = figure.cell
        names = (plain(cell.algorithm, 60), plain(cell.operation, 40), plain(cell.runner, 40))
        rows.append((*names, figure.samples, unit, *texts))
    shares = (Head(f"{100 * share:g} %", "n") for share in SHARES)
    return Listing(_HEADING, (*_DRAWS, *shares), rows, lead=5)


def _ends_text(estimate: Estimate, scale: float) -> str:
    """`212 (180 to 244)`; an end that so few calls cannot tell is left open."""
    low = three_digits(estimate.low / scale) if estimate.low > 0 else "?"
    high = three_digits(estimate.high / scale) if math.isfinite(estimate.high) else "?"
    return f"{three_digits(estimate.value / scale)} ({low} to {high})"
