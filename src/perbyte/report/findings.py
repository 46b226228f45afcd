"""What a run found and how sure that is, in a few sentences that stand before every table.

Every sentence counts or quotes figures of the run; none is an opinion. What cannot be counted is left out.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

from perbyte.model import CellFigure, Quality, Run
from perbyte.model.text import counted, plain
from perbyte.report.facts import clean_share, library_names, noise_line
from perbyte.report.grid import Grid, GridRow, without_software
from perbyte.report.runcharts import factors_of
from perbyte.report.runview import RunView
from perbyte.report.wording import number, percent, sentence, size_label
from perbyte.stats.quantity import read
from perbyte.stats.standing import Lead

_COUNTED = {
    Quality.GOOD: "clean and as precise as requested",
    Quality.IMPRECISE: "clean, but less precise than requested",
    Quality.LONG: "single calls that outlast a sample",
    Quality.NOISY: "with too few clean samples",
    Quality.UNSETTLED: "still showing a trend",
    Quality.DOUBTED: "which the audit does not vouch for",
}


def counts(run: Run) -> list[tuple[str, str]]:
    """The few numbers that stand first."""
    good = sum(figure.quality == Quality.GOOD for figure in run.cells)
    clean, taken = clean_share(run)
    algorithms = len({figure.cell.algorithm for figure in run.cells})
    libraries = len(library_names(run))
    floor = run.noise_floor
    measured = any(figure.samples for figure in run.cells) or not run.cells
    first = [
        (f"{len(run.cells):,}", "cells measured" if measured else "cells imported"),
        (f"{algorithms:,}", "algorithm" if algorithms == 1 else "algorithms"),
        (f"{libraries:,}", "library" if libraries == 1 else "libraries"),
    ]
    if not measured:  # another program's: nothing is known of samples and precision
        return first
    return [
        *first,
        (f"{good / len(run.cells):.0%}" if run.cells else "–", "clean and precise"),
        (f"{clean / taken:.0%}" if taken else "–", "samples clean"),
        (percent(floor.relative) if floor and floor.pairs else "–", "noise floor"),
        (f"{run.measuring_s:.0f} s", "of measuring"),
    ]


def found(view: RunView) -> list[str]:
    """Say what was found: who is the fastest how often, what is fastest and slowest, what hardware adds."""
    points = {point.contract: point for point in view.points}
    sentences = []
    for grid in view.grids:
        sentences += [line for line in (_wins(grid), _extremes(view, grid)) if line]
        factors = factors_of(points[grid.contract]) if grid.contract in points else {}
        for algorithm, factor in list(factors.items())[:3]:
            name = plain(view.names.get((algorithm, "soft"), algorithm), 40)
            sentences.append(
                f"The processor's own instructions make {name} {number(min(factor), 0.1)} to "
                f"{number(max(factor), 0.1)} times as fast (contract {plain(grid.contract, 30)})."
            )
    return sentences


def certainty(run: Run) -> list[str]:
    """Say how far the figures can be trusted: quality, width of intervals, noise floor, what is missing."""
    sentences = []
    if not run.complete:
        sentences.append("The run was interrupted: this is what had been measured until then.")
    known = [figure for figure in run.cells if figure.interval.known]
    if blind := len(run.cells) - len(known):
        sentences.append(
            f"{counted(blind, 'cell')} imported from another program: one value each, without samples, without "
            "an interval and without a check of the output. They are shown, never ranked."
        )
    if known:
        sentences.append(f"Of {counted(len(known), 'cell')}: {_by_quality(known)}.")
    widths = sorted(width for figure in run.cells if math.isfinite(width := figure.relative_half_width))
    if widths:
        half, most = (percent(widths[min(int(share * len(widths)), len(widths) - 1)]) for share in (0.5, 0.9))
        sentences.append(
            f"Half of the intervals are narrower than ±{half}, nine in ten narrower than ±{most} "
            f"(requested: ±{percent(run.conditions.policy.precision)})."
        )
    if known or not run.cells:
        sentences.append(sentence(noise_line(run.noise_floor)) + ".")
    clean, taken = clean_share(run)
    if taken:
        sentences.append(
            f"{clean:,} of {taken:,} samples ({clean / taken:.0%}) were clean: nothing else used the core's "
            "execution units, and its clock stood still, as far as the probes on both sides can tell."
        )
    if without := sum(figure.cycle_source == "none" for figure in known):
        sentences.append(
            f"{counted(without, 'cell')} had no cycle source that can be trusted: time only, no cycles."
        )
    failed = Counter(failure.kind for failure in run.failures if failure.kind != "unsupported")
    if failed:
        kinds = ", ".join(f"{count:,} × {plain(kind, 20)}" for kind, count in sorted(failed.items())[:8])
        sentences.append(f"Without a figure: {kinds} (listed under quality).")
    if failed["incorrect"]:
        sentences.insert(0, "An implementation gave wrong output. Its cells carry no figure.")
    return sentences


def _by_quality(known: list[CellFigure]) -> str:
    count = Counter(figure.quality for figure in known)
    return "; ".join(
        f"{count[quality]:,} ({_share(count[quality], len(known))}) {text}"
        for quality, text in _COUNTED.items()
        if count[quality]
    )


def _share(part: int, whole: int) -> str:
    """A part in whole per cent, but never 0 % of what is there nor 100 % of what is not all."""
    share = 100 * part / whole
    if 0 < share < 0.5:
        return "<1%"
    return ">99%" if 99.5 <= share < 100 else f"{share:.0f}%"


def _wins(grid: Grid) -> str:
    ranked = [race for race in _races(grid) if any(lead is not Lead.NONE for _, lead in race)]
    if not ranked or grid.ranked_within == "column":
        return ""
    races, unknown = len(ranked), sum(any(lead is Lead.UNKNOWN for _, lead in race) for race in ranked)
    alone, tied = (
        Counter(name for race in ranked for name, lead in race if lead is counted_lead)
        for counted_lead in (Lead.FASTEST, Lead.TIED)
    )
    open_ = f" In {unknown:,} of {races:,} it is not known who is." if unknown else ""
    if not (alone or tied):
        return f"Fastest library ({plain(grid.contract, 30)}): in none of {races:,} comparisons is it known."
    names = sorted({*alone, *tied}, key=lambda runner: (-alone[runner] - tied[runner], runner))
    parts = [
        f"{plain(name, 24)} in {alone[name] + tied[name]:,}"
        + (f" of {races:,} comparisons" if name == names[0] else "")
        + (f" ({tied[name]:,} tied)" if tied[name] else "")
        for name in names
    ]
    kept = ", ".join(parts[:6]) + (f" and {len(parts) - 6} more" if len(parts) > 6 else "")
    return f"Fastest library ({plain(grid.contract, 30)}): {kept}.{open_}"


def _races(grid: Grid) -> list[list[tuple[str, Lead]]]:
    return [
        [(row.label, row.entries[index].lead) for row in rows]
        for _, rows in replace(grid, rows=tuple(_main_rows(grid))).groups()
        for index in range(len(grid.columns))
    ]


def _main_rows(grid: Grid) -> list[GridRow]:
    return without_software(grid.rows, lambda row: (row.cell.algorithm, row.cell.cpu))


def _extremes(view: RunView, grid: Grid) -> str:
    known = [
        (reading.value, reading.half_width, row, column)
        for row in _main_rows(grid)
        for column, entry in zip(grid.columns, row.entries, strict=True)
        if entry.figure and (reading := read(entry.figure, grid.unit)) and reading.value > 0
    ]
    if len({row.heading for _, _, row, _ in known}) < 2:
        return ""
    ends = (min(known, key=lambda end: end[0]), max(known, key=lambda end: end[0]))
    texts = [
        f"{number(value, half)} ({view.name(row.cell)} in {plain(row.label, 24)}, "
        f"{plain(column.operation, 24)}"
        + (f" {size_label(column.size_bytes)})" if column.size_bytes else ")")
        for value, half, row, column in ends
    ]
    return f"From {texts[0]} to {texts[1]} {grid.unit.value}, {plain(grid.contract, 30)}."
