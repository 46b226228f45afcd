"""What cells execute and use, as tables for a terminal: instructions by kind beside cycles, and memory.

Counts are exact or say that they are not; they have no interval. Fewer instructions are no proof of speed, so that
where counts and time disagree both are told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.text import Text

from perbyte.model import Behaviour, Cell, CellFigure, Run
from perbyte.model.behaviour import KINDS
from perbyte.model.text import natural, plain
from perbyte.report.grid import Grid
from perbyte.report.lines import columns_of, listing_text, prose, to_text
from perbyte.report.listing import Head, Listing
from perbyte.report.wording import percent, ratio_interval_text, ratio_text, size_label, three_digits
from perbyte.stats.limits import limits
from perbyte.stats.trials import CountChange

HEADINGS = {
    "aes": "AES",
    "clmul": "CLMUL",
    "sha": "SHA",
    "multiply": "mul",
    "divide": "div",
    "vector_128": "v128",
    "vector_256": "v256",
    "vector_512": "v512",
}
# heads of the table of memory, with the fields of a record below them
_MEMORY = {
    "stack": "stack_bytes",
    "allocs": "heap_calls",
    "heap": "heap_bytes",
    "peak": "heap_peak_bytes",
    "state": "state_bytes",
    "set-up stack": "setup_stack_bytes",
    "set-up allocs": "setup_heap_calls",
    "set-up heap": "setup_heap_bytes",
    "code": "code_bytes",
    "pages": "code_pages",
}
COUNT_FIELDS = tuple(name for name in Behaviour(Cell("", "", "", 0, "")).record() if name != "address")
SEEN = 0.0005  # a share of the instructions that is not 0.0 % when it is rounded


def per_cycle(behaviour: Behaviour, figure: CellFigure | None) -> float | None:
    """Instructions per core cycle; None without either."""
    if behaviour.call is None or figure is None or not figure.cycles_per_call:
        return None
    return behaviour.call.instructions / figure.cycles_per_call


def count_table(run: Run) -> Listing:
    """Instructions per call, byte and cycle, and by kind in per cent; kinds that nobody executes are left out."""
    known = [behaviour for behaviour in _ordered(run) if behaviour.call]
    kinds = [kind for kind in KINDS if any(_share(behaviour, kind) >= SEEN for behaviour in known)]
    shares = {limit.figure.cell: limit.share.ratio.value for limit in limits(run.cells)}
    heads = ["instr/call", "instr/byte", "instr/cycle"] + ["% of limit"] * bool(shares)
    heads += [f"{HEADINGS.get(kind, kind)} %" for kind in kinds]
    rows = []
    for behaviour in known:
        assert behaviour.call
        size, rate = behaviour.cell.size_bytes, per_cycle(behaviour, run.figure(behaviour.cell))
        texts = [_count(behaviour.call.instructions) + ("" if behaviour.exact else " ~")]
        texts += [
            three_digits(behaviour.call.instructions / size) if size else "–",
            f"{rate:.2f}" if rate else "–",
        ]
        if shares:
            texts.append(f"{100 * shares[behaviour.cell]:.0f}" if behaviour.cell in shares else "–")
        texts += [f"{100 * _share(behaviour, kind):.1f}" for kind in kinds]
        rows.append((*_names(behaviour.cell), *texts))
    return _listing("Instructions", heads, rows)


def memory_table(run: Run) -> Listing:
    """Bytes of stack, heap and code of a call and of the set-up; `state` is what the set-up keeps of the heap."""
    rows = []
    for behaviour in _ordered(run):
        if behaviour.call or behaviour.setup or behaviour.stack:
            record = behaviour.record()
            values = (record[field] for field in _MEMORY.values())
            rows.append(
                (*_names(behaviour.cell), *("–" if each is None else _count(each) for each in values))
            )
    return _listing("Memory, in bytes; allocs are allocations", list(_MEMORY), rows)


def _listing(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Listing:
    """A table whose first columns name the cell; the others are figures."""
    names = (Head(name, once=name != "algorithm") for name in ("algorithm", "operation", "size", "runner"))
    return Listing(title, [*names, *(Head(head, "n") for head in heads)], rows, lead=4)


def render_behaviour(
    run: Run, *, count: bool, memory: bool, width: int | None = None, colour: bool | None = None
) -> str:
    """Give the tables that were requested, and what could not be counted or is not exact, in words."""
    width = columns_of(width)
    if not run.behaviours:
        return "nothing was counted in this run: perbyte measure SELECTOR --count\n"
    lines: list[Text] = []
    for table_of, wanted in ((count_table, count), (memory_table, memory)):
        if wanted and (table := table_of(run)).rows:
            lines += [*listing_text(table, width), Text()]
    for note in notes(run.behaviours):
        lines += prose(f"- {note}", width)
    return to_text(lines, colour=colour)


def notes(behaviours: Sequence[Behaviour]) -> list[str]:
    """What cannot be told, and where two processes counted differently."""
    texts = []
    for behaviour in behaviours:
        address = behaviour.cell.address
        if behaviour.call and not behaviour.exact:
            spread = f"differs by {percent(behaviour.spread)} between two processes"
            how = spread if behaviour.repeated else "is not repeated"
            texts.append(f"~ {address}: the count {how}: its code draws random numbers or waits")
        if behaviour.call and behaviour.calls == 1:
            texts.append(f"{address}: counted over one call, with the frame around it")
        if behaviour.unknown:
            texts.append(f"{address}: instructions not known: {plain(behaviour.unknown, 300)}")
        if behaviour.setup_unknown:
            texts.append(f"{address}: the set-up not known: {plain(behaviour.setup_unknown, 300)}")
    return list(dict.fromkeys(texts))


def changes(grids: Sequence[Grid], runs: Sequence[Run]) -> list[CountChange]:
    """The cells of a comparison that were counted on both sides; `runs` are its sides, or one run for both."""
    counted = [{behaviour.cell: behaviour for behaviour in run.behaviours if behaviour.call} for run in runs]
    changed = []
    for row in (row for grid in grids for row in grid.rows):
        first = row.entries[0].figure
        old = counted[0].get(first.cell) if first else None
        for position, entry in enumerate(row.entries[1:], 1):
            new = counted[position % len(runs)].get(entry.figure.cell) if entry.figure else None
            if old and old.call and new and new.call and entry.comparison:
                ratio = new.call.instructions / old.call.instructions
                ends = new.ends[0] / old.ends[1], new.ends[1] / old.ends[0]
                changed.append(CountChange(new.cell.address, ratio, *ends, entry.comparison))
    return changed


def uncounted(grids: Sequence[Grid], changes: Sequence[CountChange]) -> list[str]:
    """The addresses that were compared, and not counted on both sides."""
    counted = {change.address for change in changes}
    return [
        entry.figure.cell.address
        for grid in grids
        for entry in grid.entries
        if entry.figure and entry.comparison and entry.figure.cell.address not in counted
    ]


def change_lines(changes: Sequence[CountChange]) -> list[str]:
    """A line for each change, and whether count and time disagree."""
    lines = []
    for change in changes:
        ratio = change.comparison.ratio
        word = f"{change.address}: instructions ×{change.ratio:.4f}{'' if change.exact else ' ~'}"
        word += f", time ×{ratio_text(ratio)} ({ratio_interval_text(ratio)})"
        if change.contradicts:
            count, time = ("fewer", "slower") if change.ratio < 1 else ("more", "faster")
            word += f": they disagree, {count} instructions and {time}"
        lines.append(word)
    return lines


def changes_json(changes: Sequence[CountChange]) -> list[dict[str, Any]]:
    """The same for programs."""
    return [
        {
            "address": change.address,
            "instructions_ratio": change.ratio,
            "exact": change.exact,
            "time_ratio": change.comparison.ratio.value,
            "disagree": change.contradicts,
        }
        for change in changes
    ]


def behaviours_json(run: Run) -> list[dict[str, Any]]:
    """Every cell with all that is known, instructions per cycle included."""
    return [
        behaviour.record() | {"instructions_per_cycle": per_cycle(behaviour, run.figure(behaviour.cell))}
        for behaviour in run.behaviours
    ]


def _ordered(run: Run) -> list[Behaviour]:
    def place(behaviour: Behaviour) -> tuple[object, ...]:
        cell = behaviour.cell
        return natural(cell.algorithm), cell.operation, cell.size_bytes, cell.runner

    return sorted(run.behaviours, key=place)


def _names(cell: Cell) -> tuple[str, ...]:
    tier = "" if cell.cpu == "full" else f" ({cell.cpu})"
    return (
        plain(cell.algorithm, 60) + tier,
        cell.operation,
        size_label(cell.size_bytes),
        plain(cell.runner, 40),
    )


def _share(behaviour: Behaviour, kind: str) -> float:
    call = behaviour.call
    return call.kinds.get(kind, 0.0) / call.instructions if call and call.instructions else 0.0


def _count(value: float) -> str:
    return f"{value:,.1f}" if value != int(value) and value < 1000 else f"{value:,.0f}"
