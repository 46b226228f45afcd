"""What cells execute and use, as tables and in words: instructions by kind, memory, how costs depend on places in it.

Counts are exact or say that they are not; they have no interval. Fewer instructions are no proof of speed, so that
where counts and time disagree both are told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from perbyte.model import Behaviour, Cell, CellFigure, Estimate, Run
from perbyte.model.behaviour import KINDS
from perbyte.model.placement import Decider, Placement
from perbyte.model.text import natural, plain
from perbyte.report.document import Block, Heading, Items, Text
from perbyte.report.grid import Entry, Grid
from perbyte.report.listing import Head, Listing
from perbyte.report.wording import (
    percent,
    ratio_interval_text,
    ratio_text,
    size_label,
    three_digits,
    value_text,
)
from perbyte.stats.limits import limits
from perbyte.stats.placement import LEAST_SPREAD, share_change
from perbyte.stats.trials import CountChange, count_change

T = TypeVar("T")
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


def behaviour_parts(run: Run, count: bool = True, memory: bool = True) -> list[Block]:
    """The tables that were requested, and what could not be counted or is not exact, in words."""
    if not any(each.call or each.unknown for each in run.behaviours):
        return [Text("nothing was counted in this run: perbyte measure SELECTOR --count")]
    tables = [*([count_table(run)] if count else []), *([memory_table(run)] if memory else [])]
    told = notes(run.behaviours)
    return [*(table for table in tables if table.rows), *([Items(told)] if told else [])]


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
    counted = [{behaviour.cell: behaviour for behaviour in run.behaviours} for run in runs]
    pairs = known_of_both(grids, counted)
    known = (count_change(old, new, entry.comparison) for old, new, entry in pairs if entry.comparison)
    return [*filter(None, known)]


def known_of_both(grids: Sequence[Grid], known: Sequence[Mapping[Cell, T]]) -> Iterator[tuple[T, T, Entry]]:
    """What is `known` of cells of a comparison in the first side and in another one, whose entry it is.

    `known` is by cell, one for each side or one for both.
    """
    for row in (row for grid in grids for row in grid.rows):
        first = row.entries[0].figure
        old = known[0].get(first.cell) if first else None
        for position, entry in enumerate(row.entries[1:], 1):
            new = known[position % len(known)].get(entry.figure.cell) if entry.figure else None
            if old is not None and new is not None:
                yield old, new, entry


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


NO_PLACES = "no places were drawn in this run: perbyte measure SELECTOR --places"
_OF_PLACES = (
    "Places: processes placed by the system, and in them stack, state, input and output moved on 16 bytes. "
    "Intervals: 95 %. What decides is named without a reason in at most {error} of answers."
)
_WORDS = {
    "stack": "the stack",
    "state": "the library's state",
    "input": "the input",
    "output": "the output",
}


def placement_parts(placements: Sequence[Placement]) -> list[Block]:
    """The answers, each cell with what is told of it."""
    if not placements:
        return [Text(NO_PLACES)]
    ordered = sorted(placements, key=lambda each: natural(each.cell.address))
    legend = _OF_PLACES.format(error=percent(placements[0].error))
    items = [(plain(each.cell.address, 120), *placement_lines(each)) for each in ordered]
    return [Heading("Places in memory"), Items(items), Text(legend)]


def placement_lines(placement: Placement) -> list[str]:
    """What is told of a cell: its spread, its slow places, what decides, what was not looked at."""
    if placement.unknown:
        return [f"not known: {plain(placement.unknown, 300)}"]
    low, *_, high = (each.estimate for each in placement.quantiles)
    middle = placement.quantiles[len(placement.quantiles) // 2].estimate
    processes = len({place.process for place in placement.usual})
    lines = [
        f"{value_text(middle)} {placement.unit} a call at the median place; from the 5th to the 95th percentile "
        f"{value_text(low)} to {value_text(high)} ({len(placement.usual)} places in {processes} processes)"
    ]
    if placement.slow and placement.slower and placement.limit:
        of = (
            "of two heaps the dear one"
            if placement.heaps
            else f"above {placement.limit:.4g} {placement.unit}"
        )
        lines.append(
            f"slow ({of}): {share_text(placement.slow)} of places, which cost {more_text(placement.slower)}"
        )
    lines += [f"decides: {decider_text(each, placement)}" for each in placement.deciders]
    if placement.verdict == "undecided":
        lines.append("places differ, and nothing that was drawn decides which are dear")
    if placement.verdict == "nothing":
        lines.append(f"nothing decides: {_nothing_text(placement)}")
    lines += [f"not told: {missing}" for missing in _not_told(placement)]
    return lines


def share_text(share: Estimate) -> str:
    """A share with its interval."""
    return f"{percent(share.value)} ({percent(share.low)} to {percent(share.high)})"


def more_text(more: Estimate) -> str:
    """By how much something costs more, with the interval."""
    low, high = (f"{100 * end:.1f}" for end in (more.low, more.high))
    return f"{100 * more.value:.1f} % more ({low} to {high} %)"


def decider_text(decider: Decider, placement: Placement | None = None) -> str:
    """What decides, where it makes places dear, and by how much."""
    more = more_text(decider.more)
    if decider.factor == "distance":
        return f"the distance: a program more than 2 GiB from its library costs {more} than one beside it"
    if decider.factor == "process":
        return f"the process, by nothing that is known of it: the dearer half costs {more}"
    if decider.factor.startswith("library"):
        what = (
            "the library's address"
            if decider.factor == "library"
            else "the library's distance from its caller"
        )
        bit = decider.period.bit_length() - 2
        return (
            f"the place of the library: where bit {bit} of {what} is {int(decider.begin > 0)} it costs {more}"
        )
    first, _, second = decider.factor.partition(" - ")
    where = _WORDS[first] if not second else f"{_WORDS[first]} less {_WORDS[second]}"
    end = decider.end % decider.period or decider.period
    text = f"{where} modulo {decider.period:,}: from {decider.begin:,} to below {end:,} it costs {more}"
    if placement and placement.slow and decider.slow:
        all_slow = round(placement.slow.value * len(placement.usual))
        text += f"; {decider.slow} of {all_slow} slow places lie there"
    return text


def _nothing_text(placement: Placement) -> str:
    low, *_, high = (each.estimate for each in placement.quantiles)
    spread = high.value / low.value - 1
    if spread < LEAST_SPREAD:
        return f"90 % of places lie within {percent(spread)}"
    return f"what differs ({percent(spread)} for 90 % of bursts) differs as much at one place"


def _not_told(placement: Placement) -> list[str]:
    missing = [
        f"{name} always lay alike" for name in _WORDS if placement.drawn and name not in placement.drawn
    ]
    if not placement.drawn:
        missing = ["stack and buffers: this runner or this size has one place a process"]
    if placement.near is None:
        missing.append("the distance from the library: it is built in, or it could not be moved")
    if placement.lost:
        missing.append(f"{placement.lost} places where calls were always disturbed")
    return missing


def placement_changes(grids: Sequence[Grid], runs: Sequence[Run]) -> list[tuple[Placement, Placement]]:
    """The cells of a comparison whose places were drawn on both sides; `runs` are its sides, or one run for both."""
    known = [{each.cell: each for each in run.placements if not each.unknown} for run in runs]
    return [(old, new) for old, new, _ in known_of_both(grids, known)]


def placement_change_lines(pairs: Sequence[tuple[Placement, Placement]]) -> list[str]:
    """A line for each cell: what share of places was slow, and is, and what decided, and does."""
    lines = []
    for old, new in pairs:
        before, after = (percent(each.slow.value) if each.slow else "none" for each in (old, new))
        text = f"{new.cell.address}, slow places: {before} → {after}"
        if old.slow and new.slow:
            change = share_change(old.slow, new.slow)
            sign = "not known whether it changed" if change.low <= 0 <= change.high else "it changed"
            text += f" ({sign}: {100 * change.low:+.1f} to {100 * change.high:+.1f} percentage points)"
        lines.append(f"{text}; decides: {_decider_names(old)} → {_decider_names(new)}")
    return lines


def _decider_names(placement: Placement) -> str:
    names = [
        f"{each.factor} modulo {each.period}" if each.factor[0] in "sio" else each.factor
        for each in placement.deciders
    ]
    return ", ".join(names) or ("nothing that was drawn" if placement.verdict == "undecided" else "nothing")


def placement_changes_json(pairs: Sequence[tuple[Placement, Placement]]) -> list[dict[str, Any]]:
    """The same for programs."""
    return [{"before": old.record(), "after": new.record()} for old, new in pairs]
