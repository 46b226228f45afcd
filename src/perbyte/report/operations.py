"""One operation over the other: what encrypting costs as a multiple of decrypting, with its interval.

A derived figure: both operations were measured in the same epochs, so their ratio is compared pair by pair
(`perbyte.stats.compare`), which is narrower than what the two intervals alone would allow. Published ratios stand
beside it, hollow in the figure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt

from perbyte.errors import UsageError
from perbyte.model import CellFigure, Run, parse_address
from perbyte.model.cell import FULL, Cell
from perbyte.report import theme
from perbyte.report.panels import Chart, Records, coloured, finished, inlined, ratio_scale, tooltip
from perbyte.report.points import Names
from perbyte.report.units import number, plain, sentence, size_label, three_digits
from perbyte.stats.compare import Comparison, compare
from perbyte.stats.quantity import Unit
from perbyte.studies.model import PublishedFigure, Study
from perbyte.studies.printed import paired

PAIRS = (("encrypt", "decrypt"), ("seal", "open"), ("sign", "verify"))
COLUMNS = ("algorithm", "library", "contract", "size", "ratio of", "ratio", "interval", "")
PUBLISHED_COLUMNS = ("what", "where", "published", "today", "interval", "cells of today")
_MOST = 30


@dataclass(frozen=True, slots=True)
class Ratio:
    """The cost of a call of `above` as a multiple of that of `below`, in cycles where both have some."""

    above: CellFigure
    below: CellFigure
    comparison: Comparison

    @property
    def known(self) -> bool:
        """False where the interval is not known or reaches anywhere."""
        return math.isfinite(self.comparison.ratio.half_width) and self.comparison.ratio.low > 0


def ratios_of(run: Run) -> tuple[Ratio, ...]:
    """Every pair of opposite operations that `run` has on the same algorithm, size, contract, runner and tier."""
    figures = {figure.cell: figure for figure in run.cells if not figure.cell.twin}
    opposite = dict(PAIRS)
    pairs = [
        (figure, figures.get(replace(cell, operation=opposite[cell.operation])))
        for cell, figure in figures.items()
        if cell.operation in opposite
    ]
    found = [Ratio(above, below, compare(below, above, run.noise_floor)) for above, below in pairs if below]
    return tuple(one for one in found if 0 < one.comparison.ratio.value < math.inf)


def ratio_rows(ratios: Iterable[Ratio], names: Names | None = None) -> list[tuple[str, ...]]:
    """The ratios as text, under `COLUMNS`."""
    rows: list[tuple[str, ...]] = []
    for one in ratios:
        cell = one.above.cell
        rows.append(
            (
                _title(cell, names or {}),
                plain(cell.runner, 40),
                plain(cell.contract, 30),
                size_label(cell.size_bytes) if cell.size_bytes else "",
                f"{cell.operation} over {one.below.cell.operation}",
                *_said(one),
                "no difference can be told" if one.known and one.comparison.tie else "",
            )
        )
    return rows


def published_ratio_rows(run: Run, study: Study) -> list[tuple[str, ...]]:
    """Each published ratio beside today's, under `PUBLISHED_COLUMNS`; without a counterpart, today's is a dash."""
    rows: list[tuple[str, ...]] = []
    for published, today in _published(run, study):
        size = f", {size_label(published.size_bytes)}" if published.size_bytes else ""
        cells = f"{today.above.cell.address} over {today.below.cell.address}" if today else ""
        rows.append(
            (
                plain(f"{published.algorithm}, {published.operation}{size}", 120),
                plain(published.place, 120),
                plain(published.printed, 24),
                *(_said(today) if today else ("–", "–")),
                plain(cells, 240),
            )
        )
    return rows


def operations_chart(run: Run, *, study: Study | None = None, names: Names | None = None) -> Chart:
    """Draw the ratios of a run on a logarithmic axis, with the published ones of `study` beside them.

    Of several pairs of operations, the one with most cells is drawn. Raises UsageError where there is none.
    """
    every = ratios_of(run)
    if not every:
        raise UsageError("no algorithm of this run was measured in both directions")
    operations = [one.above.cell.operation for one in every]
    operation = max(dict(PAIRS), key=operations.count)
    ratios = [one for one in every if one.above.cell.operation == operation]
    records = [_record(one, names or {}) for one in ratios]
    if study:
        records += _printed(run, study, operation, names or {})
    found = list(dict.fromkeys(record["algorithm"] for record in records))
    shown = found[:_MOST]
    records = [record for record in records if record["algorithm"] in {*shown}]
    libraries = sorted({str(record["library"]) for record in records if record["when"] == "measured"})
    look = theme.series(libraries)
    base = alt.Chart().encode(
        y=alt.Y("algorithm:N", title=None, sort=shown, axis=alt.Axis(grid=True, ticks=False)),
    )
    against = f"cost of {operation} as a multiple of {dict(PAIRS)[operation]}"
    value = alt.X(
        "value:Q",
        title=against,
        **ratio_scale(float(each["value"]) for each in records),
    )
    lane = {"yOffset": alt.YOffset("library:N", sort=[*libraries, "published"])}
    one = alt.Chart().mark_rule(color=theme.INK, strokeDash=[4, 3], aria=False).encode(x=alt.datum(1.0))
    measured, printed = "datum.when === 'measured'", "datum.when === 'published'"
    whisker = (
        base.mark_rule(strokeWidth=1.5, aria=False)
        .encode(x="low:Q", x2="high:Q", color=coloured("library", look), **lane)
        .transform_filter(measured)
    )
    point = (
        base.mark_point(size=44, filled=True)
        .encode(
            x=value,
            color=coloured("library", look),
            shape=alt.Shape(
                "library:N",
                title="library",
                scale=alt.Scale(domain=list(look), range=[each[1] for each in look.values()]),
            ),
            description="described:N",
            tooltip=tooltip(),
            **lane,
        )
        .transform_filter(measured)
    )
    hollow = (
        base.mark_point(
            size=90, filled=False, strokeWidth=2, shape="diamond", stroke=theme.VERMILION, fill=theme.PAPER
        )
        .encode(x=value, description="described:N", tooltip=tooltip(), **lane)
        .transform_filter(printed)
    )
    height = len(shown) * max(20, 7 * (len(libraries) + 1) + 6)
    drawn = alt.layer(one, whisker, point, hollow, data=inlined(records)).properties(width=760, height=height)
    lines = [
        "cost of a call, on a logarithmic axis; right of 1: "
        f"{dict(PAIRS)[operation]} is faster; a point for each size",
        "thin lines: intervals of the ratio, from epochs that both shared",
    ]
    if any(record["when"] == "published" for record in records):
        lines.append("hollow: published")
    if len(found) > len(shown):
        lines.append(f"{len(shown)} of {len(found)} algorithms are shown, the table has all")
    return finished(drawn, _heading(ratios, operation, names or {}), lines)


def _said(one: Ratio) -> tuple[str, str]:
    interval = one.comparison.ratio
    if not one.known:
        return three_digits(one.comparison.ratio.value), "not known"
    half = interval.half_width
    if half > one.comparison.ratio.value:  # nothing but its order is known
        return three_digits(
            one.comparison.ratio.value
        ), f"{three_digits(interval.low)} to {three_digits(interval.high)}"
    return (
        number(one.comparison.ratio.value, half),
        f"{number(interval.low, half)} to {number(interval.high, half)}",
    )


def _published(run: Run, study: Study) -> list[tuple[PublishedFigure, Ratio | None]]:
    """The printed ratios with today's, compared epoch by epoch instead of interval by interval."""
    figures = {figure.cell: figure for figure in run.cells}
    found: list[tuple[PublishedFigure, Ratio | None]] = []
    for point in paired(study, run):
        if point.published.unit != Unit.RATIO or not point.published.value:
            continue
        sides = [figures[parse_address(address)] for address in point.addresses]
        today = Ratio(sides[0], sides[1], compare(sides[1], sides[0], run.noise_floor)) if sides else None
        if today and not 0 < today.comparison.ratio.value < math.inf:
            today = None
        found.append((point.published, today))
    return found


def _record(one: Ratio, names: Names) -> dict[str, Any]:
    cell, interval = one.above.cell, one.comparison.ratio
    title, library = _title(cell, names), plain(cell.runner, 24)
    value, wide = _said(one)
    size = f" {size_label(cell.size_bytes)}" if cell.size_bytes else ""
    return {
        "algorithm": title,
        "library": library,
        "when": "measured",
        "value": one.comparison.ratio.value,
        "low": interval.low if one.known else one.comparison.ratio.value,
        "high": interval.high if one.known else one.comparison.ratio.value,
        "described": f"{title} in {library},{size} {cell.operation} over {one.below.cell.operation}: {value} ({wide})",
    }


def _printed(run: Run, study: Study, operation: str, names: Names) -> Records:
    """Published ratios in the direction that is drawn, on the line of the cell that stands for them today."""
    records = []
    for published, today in _published(run, study):
        if today is None or published.value is None:
            continue
        cell, turned = today.above.cell, today.above.cell.operation != operation
        if turned and today.below.cell.operation != operation:
            continue
        value = 1 / published.value if turned else published.value
        records.append(
            {
                "algorithm": _title(cell, names),
                "library": "published",
                "when": "published",
                "value": value,
                "low": value,
                "high": value,
                "described": f"{plain(published.algorithm, 40)}: published {plain(published.printed, 24)} "
                f"({plain(published.operation, 60)}, {plain(published.place, 80)})",
            }
        )
    return records


def _title(cell: Cell, names: Names) -> str:
    said = names.get((cell.algorithm, cell.cpu))
    return plain(said or (cell.algorithm if cell.cpu == FULL else f"{cell.algorithm} ({cell.cpu})"), 44)


def _heading(ratios: Sequence[Ratio], operation: str, names: Names) -> str:
    ordered = sorted(ratios, key=lambda one: one.comparison.ratio.value)
    low, high = ordered[0], ordered[-1]
    return sentence(
        f"{operation} costs {three_digits(low.comparison.ratio.value)} ({_title(low.above.cell, names)}) to "
        f"{three_digits(high.comparison.ratio.value)} ({_title(high.above.cell, names)}) times what "
        f"{dict(PAIRS)[operation]} costs"
    )
