"""What a row executes, uses and tells, on one card of a page: cycles, instructions, memory and leaks by size.

Each comes from a pass of its own: figures from samples, counts from processes that nobody times, leaks from pairs of
calls. They stand side by side, and none is computed from another.
"""

from __future__ import annotations

from collections.abc import Sequence

from perbyte.model import Behaviour, Cell, CellFigure, Run
from perbyte.model.cell import FULL
from perbyte.model.leak import LeakFigure
from perbyte.model.text import natural, plain
from perbyte.report.behaviour import count_table, memory_table, notes, per_cycle
from perbyte.report.html import Block, Section, heading, listed, table, text, unfolding
from perbyte.report.leaktext import contrast_text, verdict_text, worst_of
from perbyte.report.listing import Listing, columns
from perbyte.report.wording import size_label, value_text, width_text
from perbyte.stats.quantity import Unit, read

OPEN = 6  # cards that stand unfolded
_COLUMNS = (
    "size | cycles/byte:n | ±:n | instr/call:n | instr/cycle:n | "
    "stack:n | heap peak:n | state:n | code:n | leaks"
)
_NO = "–"
_WORDS = {"leaks": "yes", "none": "none seen", "unknown": "not known", "harness": "not known"}


def behaviour_section(run: Run) -> Section | None:
    """The tables of what was counted, and a card for each row; None where nobody asked for either."""
    if not (run.behaviours or run.leaks):
        return None
    blocks: list[Block] = []
    for listing in (count_table(run), memory_table(run)):
        blocks += [heading(listing.title), table(listing)] if listing.rows else []
    told = notes(run.behaviours)
    blocks += [listed(told)] if told else []
    cards = row_cards(run)
    blocks += [heading("Row by row")]
    blocks += [unfolding(title, part, open=len(cards) <= OPEN) for title, part in cards]
    return Section("behaviour", "Behaviour", "What rows execute, use and tell", blocks)


def row_cards(run: Run) -> list[tuple[str, list[Block]]]:
    """The title and the content of the card of each row of which more than its time is known."""
    rows: dict[tuple[str, ...], dict[Cell, None]] = {}
    for cell in (*(behaviour.cell for behaviour in run.behaviours), *(leak.cell for leak in run.leaks)):
        of_row = (cell.algorithm, cell.operation, cell.runner, cell.cpu, cell.contract)
        rows.setdefault(of_row, {})[cell] = None
    counted = {behaviour.cell: behaviour for behaviour in run.behaviours}
    cards = []
    for key in sorted(rows, key=lambda row: tuple(map(natural, row))):
        algorithm, operation, runner, tier, contract = (plain(word, 60) for word in key)
        tier = "" if tier == FULL else f" ({tier})"
        cells = sorted(rows[key], key=lambda figure: figure.size_bytes)
        leaks = {cell: [leak for leak in run.leaks if leak.cell == cell] for cell in cells}
        lines = [_line(cell, run.figure(cell), counted.get(cell), leaks[cell]) for cell in cells]
        title = f"{algorithm} {operation}, {runner}{tier}, {contract}"
        blocks = [table(Listing(title, columns(_COLUMNS), lines))]
        told = [(size_label(cell.size_bytes), leak) for cell in cells for leak in leaks[cell]]
        if told:
            blocks.append(
                listed([(size, f"{contrast_text(leak)}: {verdict_text(leak)}") for size, leak in told])
            )
        if any(leak.verdict == "leaks" for some in leaks.values() for leak in some):
            blocks.append(text("The time of this row depends on a secret.", "warned"))
        cards.append((title, blocks))
    return cards


def _line(
    cell: Cell, figure: CellFigure | None, counted: Behaviour | None, leaks: Sequence[LeakFigure]
) -> tuple[str, ...]:
    reading = read(figure, Unit.CYCLES_PER_BYTE) if figure else None
    rate = per_cycle(counted, figure) if counted else None
    call, setup = (counted.call, counted.setup) if counted else (None, None)
    return (
        size_label(cell.size_bytes),
        value_text(reading) if reading else _NO,
        width_text(reading) if reading else _NO,
        f"{call.instructions:,.0f}{'' if counted and counted.exact else ' ~'}" if call else _NO,
        f"{rate:.2f}" if rate else _NO,
        f"{counted.stack:,}" if counted and counted.stack else _NO,
        f"{call.heap_peak:,}" if call else _NO,
        f"{setup.heap_left:,}" if setup else _NO,
        f"{64 * call.code_lines:,}" if call else _NO,
        _WORDS[worst.verdict] if (worst := worst_of(leaks)) else "not looked at",
    )
