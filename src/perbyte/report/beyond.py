"""Beyond a loop on one core, in words: several cores at once, emptied caches, the first call, a sleep before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rich.text import Text

from perbyte.model import CellFigure, Estimate
from perbyte.model.cell import COLD, FIRST, IDLE, LOOP
from perbyte.model.text import counted, json_ready, plain
from perbyte.report.lines import columns_of, prose, to_text
from perbyte.report.marks import marks_of
from perbyte.report.wording import interval_text, percent, ratio_text, sentence, size_label, value_text
from perbyte.stats.compare import compare
from perbyte.stats.cores import Scaling, scaling
from perbyte.stats.quantity import Unit, data_bytes, read

_STATES = {
    COLD: "with emptied caches",
    FIRST: "the first call of a process, with emptied caches",
    IDLE: "after a sleep of 50 ms",
}


def threads_texts(figures: Sequence[CellFigure]) -> tuple[str, ...]:
    """What several cores do at once, by the cells among `figures` that tell: a sentence for each."""
    return tuple(_together(scaled) for scaled in scaling(figures))


def _together(scaled: Scaling) -> str:
    cell, efficiency = scaled.figure.cell, scaled.efficiency
    size = data_bytes(cell)
    scale, unit = (size / 1e9, "GB/s") if size else (1.0, "calls a second")
    every, each = scaled.all.scaled(scale), scaled.each.scaled(scale)
    text = f"{counted(scaled.threads, 'core')}: {value_text(every)} {unit} ({interval_text(every)})"
    if scaled.threads > 1:
        text += f", {value_text(each)} each"
    if efficiency:
        text += f"; efficiency {ratio_text(efficiency.ratio)} ({interval_text(efficiency.ratio)})"
    share = scaled.figure.clean_samples / scaled.figure.samples if scaled.figure.samples else 0.0
    return f"{text}; {percent(share)} of samples clean{_marks(scaled.figure)}."


def states_texts(figures: Sequence[CellFigure], unit: str = "call") -> tuple[str, ...]:
    """What a single call costs in states that no loop has, beside what it costs in a loop."""
    known = {figure.cell: figure for figure in figures}
    texts = []
    for figure in figures:
        if figure.cell.state not in _STATES:
            continue
        line = f"{sentence(_STATES[figure.cell.state])}, {_cost(figure, unit)}"
        if loop := known.get(replace(figure.cell, state=LOOP)):
            ratio = compare(loop, figure).ratio
            line += f", ×{ratio_text(ratio)} the {_cost(loop, unit)} in a loop"
        texts.append(f"{line}{_marks(figure)}.")
    return tuple(texts)


def _cost(figure: CellFigure, unit: str) -> str:
    times, cycles = read(figure, Unit.NS_PER_CALL), read(figure, Unit.CYCLES_PER_CALL)
    parts = [f"{value_text(times)} ns"] if times else []
    parts += [f"{value_text(cycles)} cycles"] if cycles else []
    return f"{' or '.join(parts)} a {unit}"


def _marks(figure: CellFigure) -> str:
    return f" {''.join(marks)}" if (marks := marks_of(figure)) else ""


def render_beyond(
    figures: Sequence[CellFigure], *, width: int | None = None, colour: bool | None = None
) -> str:
    """Give both as text, by what is called; empty where all is loops on one core."""
    groups: dict[str, list[CellFigure]] = {}
    for figure in figures:
        cell = replace(figure.cell, state=LOOP)
        size = f" {size_label(cell.size_bytes)}" if data_bytes(cell) else ""
        groups.setdefault(f"{cell.runner}/{cell.algorithm} {cell.operation}{size}, {cell.cpu}", []).append(
            figure
        )
    lines: list[Text] = []
    for heading, of_heading in groups.items():
        if texts := (*states_texts(of_heading), *threads_texts(of_heading)):
            lines += [Text(plain(heading.removesuffix(", full"), 90), style="bold")]
            lines += [part for entry in texts for part in prose(f"- {entry}", columns_of(width))]
    return to_text(lines, colour=colour) if lines else ""


def scaling_json(figures: Sequence[CellFigure]) -> list[dict[str, Any]]:
    """How cells scale, for programs: an object for each number of threads, with its address."""

    def ends(estimate: Estimate) -> Any:
        return json_ready([estimate.value, estimate.low, estimate.high])

    return [
        {
            "address": scaled.figure.cell.address,
            "threads": scaled.threads,
            "calls_per_second": ends(scaled.all),
            "calls_per_second_each": ends(scaled.each),
            "efficiency": ends(scaled.efficiency.ratio) if scaled.efficiency else None,
        }
        for scaled in scaling(figures)
    ]
