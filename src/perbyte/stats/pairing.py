"""Which cell of one side is compared with which of another, by their addresses alone; no figure is looked at.

Only cells that can be compared are paired: same size, same contract, and same operation unless each side has exactly
one. Among them the nearest are paired first, and a cell that has found one takes no other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from perbyte.model import Cell

# What has to agree, from the nearest to the farthest. Algorithm before runner: a library is compared with another
# on the same algorithm, and two algorithms only where there is no such pair.
_COMPARABLE = ("size_bytes", "contract")
_NEARNESS = (
    ("algorithm", "runner", "cpu", "state"),
    ("algorithm", "runner", "cpu"),
    ("algorithm", "runner"),
    ("algorithm", "cpu"),
    ("algorithm",),
)
_OTHER_ALGORITHM = (("runner", "cpu"), ("runner",), ("cpu",), ())


@dataclass(frozen=True, slots=True)
class Pairing:
    """`pairs` hold positions in the two sides; `left_a` and `left_b` are positions of cells that found no partner and
    are on one side only.
    """

    pairs: tuple[tuple[int, int], ...]
    left_a: tuple[int, ...]
    left_b: tuple[int, ...]


def pair_cells(a: Sequence[Cell], b: Sequence[Cell]) -> Pairing:
    """Pair the cells of two sides by the rule of docs/cli.md, in the order of `a`, then of `b`.

    A cell never meets itself.
    """
    any_operation = len({cell.operation for cell in a}) == len({cell.operation for cell in b}) == 1
    comparable = _COMPARABLE if any_operation else (*_COMPARABLE, "operation")
    pairs: list[tuple[int, int]] = []
    for ranks in (_NEARNESS, _OTHER_ALGORITHM):
        for rank in ranks:
            pairs += _meet(a, b, pairs, (*comparable, *rank))
        if pairs:
            break
    with_a, with_b = {i for i, _ in pairs}, {j for _, j in pairs}
    return Pairing(
        tuple(sorted(pairs)),
        tuple(i for i, cell in enumerate(a) if i not in with_a and cell not in b),
        tuple(j for j, cell in enumerate(b) if j not in with_b and cell not in a),
    )


def _meet(
    a: Sequence[Cell], b: Sequence[Cell], met: Sequence[tuple[int, int]], fields: Sequence[str]
) -> list[tuple[int, int]]:
    """Pairs that agree in `fields`, of cells that have met nobody yet."""
    with_a, with_b = {i for i, _ in met}, {j for _, j in met}
    waiting: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for j, cell in enumerate(b):
        if j not in with_b:
            waiting[_part(cell, fields)].append(j)
    return [
        (i, j)
        for i, cell in enumerate(a)
        if i not in with_a
        for j in waiting.get(_part(cell, fields), ())
        if b[j] != cell
    ]


def _part(cell: Cell, fields: Sequence[str]) -> tuple[object, ...]:
    return tuple(getattr(cell, field) for field in fields)
