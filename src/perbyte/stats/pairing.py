"""Which cell of one side is compared with which of another, and which are slower than their partner by a threshold.

Only cells that can be compared are paired, by their addresses alone: same size, same contract, and same operation
unless each side has exactly one. Among them the nearest are paired first, and a cell that has found one takes no other.

The rule of regressions is that of every gate: `perbyte compare --fail-above` and `perbyte try --baseline` ask here, so
the same pair gets the same answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from perbyte.model import Cell
from perbyte.stats.compare import Answer, Comparison

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


Named = tuple[str, Comparison]
"""The address of a cell, and its comparison with the first side."""


@dataclass(frozen=True, slots=True)
class Regressions:
    """Cells that are slower by more than `threshold` (0.01 = 1 %), and those of which that cannot be told.

    `more_s` is how many more seconds of measuring should decide all that is undecided: of the one run, or of each of
    several; infinite where time alone does not.
    """

    threshold: float
    compared: int
    slower: tuple[Named, ...]
    undecided: tuple[Named, ...]
    more_s: float

    @property
    def answer(self) -> Answer:
        """SLOWER where any cell is, else UNDECIDED where that is not known of any, else TIED: none is slower."""
        return Answer.SLOWER if self.slower else Answer.UNDECIDED if self.undecided else Answer.TIED


def find_regressions(compared: Sequence[Named], threshold: float, measuring_s: float) -> Regressions:
    """Hold every comparison against `threshold`; `measuring_s` is what the longest of their runs took."""
    slower, undecided = (
        tuple(pair for pair in compared if pair[1].against(threshold) is answer)
        for answer in (Answer.SLOWER, Answer.UNDECIDED)
    )
    more = (comparison.seconds_to_decide(threshold, measuring_s) for _, comparison in undecided)
    return Regressions(threshold, len(compared), slower, undecided, max(more, default=0.0))
