"""How the cells of a run are timed, as far as it found out: whole or in pieces, how many calls, and how warm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from perbyte.measure.pieces import Cut
from perbyte.measure.warmth import Warmth
from perbyte.model import Cell

CUT_IN_VAIN = 2  # epochs in which pieces cost more than whole calls: these are timed from then on


@dataclass(slots=True)
class Ways:
    """What later epochs go by. `took` and `states_s` are seconds of a cell's shortest burst, and of its states.

    `cuts` are the pieces that a call is timed in, None where whole calls are; `single` the cells that are timed call
    by call; `digests` what the outputs of a cell come to.
    """

    warmth: Warmth
    digests: dict[Cell, str] = field(default_factory=dict)
    fixed_calls: dict[Cell, int] = field(default_factory=dict)
    took: dict[Cell, float] = field(default_factory=dict)
    cuts: dict[Cell, Cut | None] = field(default_factory=dict)
    single: set[Cell] = field(default_factory=set)
    states_s: dict[Cell, float] = field(default_factory=dict)
    _apart: Counter[Cell] = field(default_factory=Counter)

    def note_apart(self, cells: Iterable[Cell]) -> None:
        """Note the cells of which pieces cost more than whole calls in this epoch."""
        for cell in cells:
            self._apart[cell] += 1
            if self._apart[cell] >= CUT_IN_VAIN:
                self.cuts[cell] = None
