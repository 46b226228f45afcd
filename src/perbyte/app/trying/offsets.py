"""What a function costs on data that do not begin where a cache line does, against data that do.

Buffers of all other measurements begin at lines. A function may take another way for other data, several times as dear,
and its user has such data. Bursts at each offset take turns; their median cost is compared round by round.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from perbyte.errors import RunnerError
from perbyte.measure import Survey
from perbyte.measure.sessions import STARTING_FAILS, Sessions
from perbyte.model import Cell, Policy
from perbyte.runners import TimeLimits
from perbyte.runners.session import prepare_cell

OFFSETS = (1, 4, 8, 17, 31)  # bytes behind the beginning of a line
LINE = 64
ROUNDS, SAMPLES, BURST_MS = 12, 8, 4.0
DEARER = 1.03  # by which it must cost more to be said: lines that are crossed cost most functions less
AGREEING = 0.8  # of the rounds


@dataclass(frozen=True, slots=True)
class OffsetCost:
    """What `cell` costs at the dearest offset, as a multiple; `offset` is None where it costs no more at any."""

    cell: Cell
    offset: int | None
    ratio: float


def look_at_offsets(
    surveyed: Survey, cells: Sequence[Cell], policy: Policy, limits: TimeLimits
) -> list[OffsetCost]:
    """The cost of each cell on data that begin within a line; cells that cannot be prepared so are left out."""
    seen = []
    with Sessions(surveyed, policy, limits=limits) as sessions:
        for cell in cells:
            try:
                if not sessions.runs(cell.process):
                    sessions.start(cell.process)
                seen.append(judged(cell, _rounds(sessions, cell, policy)))
            except (*STARTING_FAILS, RunnerError):
                continue
    return seen


def judged(cell: Cell, rounds: Mapping[int, Sequence[float]]) -> OffsetCost:
    """The dearest offset, of those whose bursts cost more than those of offset 0 in nearly all rounds.

    `rounds`: the cost of the burst of each round, by offset; 0 is among them.
    """
    worst = OffsetCost(cell, None, 1.0)
    for offset, costs in rounds.items():
        ratios = [cost / base for cost, base in zip(costs, rounds[0], strict=True) if base > 0]
        if not offset or not ratios:
            continue
        dearer = sum(ratio > DEARER for ratio in ratios) >= AGREEING * len(ratios)
        middle = statistics.median(ratios)
        if dearer and middle > worst.ratio:
            worst = OffsetCost(cell, offset, middle)
        elif worst.offset is None:
            worst = OffsetCost(cell, None, max(worst.ratio, middle))
    return worst


def _rounds(sessions: Sessions, cell: Cell, policy: Policy) -> dict[int, list[float]]:
    session = sessions.of(cell)
    handles = {
        offset: prepare_cell(session, cell, seed=policy.seed, offset=LINE + offset)
        for offset in (0, *OFFSETS)
    }
    costs: dict[int, list[float]] = {offset: [] for offset in handles}
    draw, calls = random.Random(policy.seed), 0
    for number in range(1, ROUNDS + 1):
        for offset in draw.sample(sorted(handles), len(handles)):
            burst = session.measure(
                handles[offset],
                cell=cell,
                epoch=0,
                round=number,
                samples=SAMPLES,
                calls=calls,
                limit_ms=BURST_MS,
                warm_us=policy.warm_us,
            ).burst
            calls = calls or burst.calls
            costs[offset].append(statistics.median(burst.ticks) / burst.calls)
    for handle in handles.values():
        session.release(handle)
    return costs


def offset_lines(seen: Sequence[OffsetCost]) -> list[str]:
    """One sentence for each cell."""
    lines = []
    for each in seen:
        cell = each.cell
        what = f"{cell.runner}, {cell.operation} {cell.size_bytes} B {cell.contract}"
        if each.offset is None:
            behind = ", ".join(map(str, OFFSETS))
            lines.append(f"{what}: data {behind} bytes behind a line cost ×{each.ratio:.3g} at the most")
        else:
            lines.append(
                f"{what}: data {each.offset} bytes behind a line cost ×{each.ratio:.3g} as much as the table says"
            )
    return lines
