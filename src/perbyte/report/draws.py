"""Cells whose calls vary at random: quantiles of single calls beside each other, one row a cell."""

from __future__ import annotations

import math

from perbyte.model import CellFigure, Estimate, Run
from perbyte.model.text import plain
from perbyte.report.listing import Head, Listing
from perbyte.report.wording import three_digits
from perbyte.stats.draws import SHARES

COLUMNS = (
    ("algorithm", ""),
    ("operation", ""),
    ("runner", ""),
    ("calls", "n"),
    ("unit", ""),
    *((f"{100 * share:g} %", "n") for share in SHARES),
)
HEADING = "Calls that vary at random: what a share of them does not exceed"
UNKNOWN = "–"
_NS_PER_MS = 1e6
_CYCLES_PER_MEGACYCLE = 1e6


def drawn_figures(run: Run) -> list[CellFigure]:
    """The figures of `run` that are distributions, in its order."""
    return [figure for figure in run.cells if figure.quantiles]


def draw_rows(run: Run) -> list[tuple[str, ...]]:
    """The texts of `COLUMNS` for each such figure: millions of cycles, or milliseconds where there are no cycles."""
    rows = []
    for figure in drawn_figures(run):
        told = {quantile.share: quantile.estimate for quantile in figure.quantiles}
        scale, unit = (
            (_NS_PER_MS, "ms") if figure.cycles_per_call is None else (_CYCLES_PER_MEGACYCLE, "10⁶ cycles")
        )
        texts = (_text(told[share], scale) if share in told else UNKNOWN for share in SHARES)
        cell = figure.cell
        rows.append(
            (
                plain(cell.algorithm, 60),
                plain(cell.operation, 40),
                plain(cell.runner, 40),
                f"{figure.samples:,}",
                unit,
                *texts,
            )
        )
    return rows


def draws_listing(run: Run) -> Listing:
    """The figures as a table, a row each."""
    return Listing(HEADING, [Head(name, look) for name, look in COLUMNS], draw_rows(run), lead=5)


def _text(estimate: Estimate, scale: float) -> str:
    """`212 (180 to 244)`; an end that so few calls cannot tell is left open."""
    low = three_digits(estimate.low / scale) if estimate.low > 0 else "?"
    high = three_digits(estimate.high / scale) if math.isfinite(estimate.high) else "?"
    return f"{three_digits(estimate.value / scale)} ({low} to {high})"
