"""Cells whose calls vary at random: quantiles of single calls beside each other, one row a cell."""

from __future__ import annotations

import math
from collections.abc import Sequence

from perbyte.model import Estimate, Run
from perbyte.model.text import plain
from perbyte.report.listing import Entry, Head, Listing, columns
from perbyte.report.wording import three_digits
from perbyte.stats.draws import SHARES

_COLUMNS = columns("algorithm | operation | runner | calls:n | unit")
_HEADING = "Calls that vary at random: what a share of them does not exceed"
UNKNOWN = "–"
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
        texts = (_text(told[share], scale) if share in told else UNKNOWN for share in SHARES)
        cell = figure.cell
        names = (plain(cell.algorithm, 60), plain(cell.operation, 40), plain(cell.runner, 40))
        rows.append((*names, figure.samples, unit, *texts))
    shares = (Head(f"{100 * share:g} %", "n") for share in SHARES)
    return Listing(_HEADING, (*_COLUMNS, *shares), rows, lead=5)


def _text(estimate: Estimate, scale: float) -> str:
    """`212 (180 to 244)`; an end that so few calls cannot tell is left open."""
    low = three_digits(estimate.low / scale) if estimate.low > 0 else "?"
    high = three_digits(estimate.high / scale) if math.isfinite(estimate.high) else "?"
    return f"{three_digits(estimate.value / scale)} ({low} to {high})"
