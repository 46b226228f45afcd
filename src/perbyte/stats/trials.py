"""Rows of a run beside others: a user's program beside the best library or the program of before.

Rows are paired by operation, contract and size. Counts of instructions are compared beside the times.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from perbyte.model import Behaviour, Cell, CellFigure, Run, parse_address
from perbyte.stats.compare import Answer, Comparison, compare

_WORDS = {
    Answer.FASTER: "faster",
    Answer.SLOWER: "slower",
    Answer.TIED: "the same",
    Answer.UNDECIDED: "not known",
}
Row = tuple[str, str, str, int]


@dataclass(frozen=True, slots=True)
class BesideTheBest:
    """A row of the user's beside the best of the others: `ratio` is its cost over theirs. `others` counts them."""

    own: CellFigure
    best: CellFigure
    comparison: Comparison
    others: int


@dataclass(frozen=True, slots=True)
class BaselineChange:
    """What became of one row since the baseline."""

    operation: str
    contract: str
    size_bytes: int
    comparison: Comparison
    algorithm: str = ""

    @property
    def word(self) -> str:
        """The answer of `comparison`: `faster`, `slower`, `the same` or `not known`."""
        return _WORDS[self.comparison.answer]

    @property
    def row(self) -> tuple[str, str, int]:
        """Operation, contract and size."""
        return self.operation, self.contract, self.size_bytes


@dataclass(frozen=True, slots=True)
class CountChange:
    """A cell in two runs or two cells of one: instructions of the second over the first, and what time says.

    `least` and `most` are the ratios of the counts that are nearest and farthest, where they are not exact.
    """

    address: str
    ratio: float
    least: float
    most: float
    comparison: Comparison

    @property
    def exact(self) -> bool:
        """True when each side's processes counted the same."""
        return self.least == self.most

    @property
    def contradicts(self) -> bool:
        """True when one of count and time rises beyond doubt and the other falls."""
        slower = self.comparison.answer is Answer.SLOWER and self.most < 1
        return slower or (self.comparison.answer is Answer.FASTER and self.least > 1)


def beside_the_best(run: Run, own: Collection[str], stored: Sequence[CellFigure] = ()) -> list[BesideTheBest]:
    """Each figure of `own` with the best of the others at the same operation, contract and size.

    `stored` are figures of others from runs that are still true: they count, and the best is one that was measured.
    """
    others_of: dict[tuple[object, ...], list[CellFigure]] = {}
    for other in run.cells:
        if other.cell.runner not in own:
            others_of.setdefault(_row(other.cell)[1:], []).append(other)
    bests = []
    for figure in run.cells:
        row = _row(figure.cell)[1:]
        others = others_of.get(row)
        if figure.cell.runner in own and others:
            in_cycles = all(other.cycles_per_call is not None for other in others)  # as the tables rank them
            best = min(others, key=lambda other: other.per_call if in_cycles else other.ns_per_call)
            number = len(others) + sum(_row(other.cell)[1:] == row for other in stored)
            precision = run.conditions.policy.precision  # the same margin as that of the card below
            compared = compare(best, figure, run.noise_floor, precision=precision)
            bests.append(BesideTheBest(figure, best, compared, number))
    return bests


def changes(run: Run, own: str, before: str) -> list[BaselineChange]:
    """Compare each row of `own` with the same one of `before`."""
    old = {_row(figure.cell): figure for figure in reversed(run.cells) if figure.cell.runner == before}
    changed = []
    for figure in run.cells:
        cell = figure.cell
        if cell.runner == own and (partner := old.get(_row(cell))):
            comparison = compare(partner, figure, run.noise_floor, precision=run.conditions.policy.precision)
            row = (cell.operation, cell.contract, cell.size_bytes, comparison, cell.algorithm)
            changed.append(BaselineChange(*row))
    return changed


def gaps(run: Run, changed: Sequence[BaselineChange]) -> list[str]:
    """The addresses of the run's plan that are in none of `changed`: a program gave no figure there."""
    known = {(change.algorithm, *change.row) for change in changed}
    return [
        address
        for address in run.conditions.plan
        if (cell := parse_address(address)) and _row(cell) not in known
    ]


def count_change(old: Behaviour | None, new: Behaviour | None, comparison: Comparison) -> CountChange | None:
    """Instructions of `new` over those of `old`, beside what time says; None where one was not counted."""
    if not (old and old.call and new and new.call):
        return None
    ratio = new.call.instructions / old.call.instructions
    ends = new.ends[0] / old.ends[1], new.ends[1] / old.ends[0]
    return CountChange(new.cell.address, ratio, *ends, comparison)


def count_changes(run: Run, own: str, before: str, changed: Sequence[BaselineChange]) -> list[CountChange]:
    """Of each row that was counted in both programs: instructions now over those before."""
    counted = {(each.cell.runner, *_row(each.cell)[1:]): each for each in run.behaviours}
    known = (
        count_change(counted.get((before, *row)), counted.get((own, *row)), change.comparison)
        for change in changed
        for row in (change.row,)
    )
    return [*filter(None, known)]


def _row(cell: Cell) -> Row:
    return cell.algorithm, cell.operation, cell.contract, cell.size_bytes
