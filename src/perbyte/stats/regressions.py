"""Which cells are slower than their partner by more than a threshold: the one rule of every gate.

`perbyte compare --fail-above` and `perbyte try --baseline` ask here, so the same pair gets the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from perbyte.stats.compare import Answer, Comparison

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
