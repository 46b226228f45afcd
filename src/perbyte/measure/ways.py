"""How the calls of a cell are timed: whole or in pieces, how many in a sample, and how warm.

The probes around a sample vouch for some tens of microseconds. A call on megabytes lasts a thousand times as long, and
is never alone on its core. Where its contract says that bytes are worked off one after the other, consecutive pieces of
the same data are timed, of two lengths: cost against length is a straight line, whose slope is the cost of a byte and
whose intercept is what starting a piece costs.

For how long calls must go untimed before a burst is measured in the run, not assumed. Most cores find the rhythm of a
loop within tens of microseconds. On some (Zen 3) loops of short calls run up to half slower for two milliseconds after
other work, in steps, and what agrees with itself may be such a step. So in the first epochs one burst of each cell is
warmed for as long as the policy allows, and held against the cell's other bursts, which were warmed briefly. Where the
two differ, all bursts are warmed for that long from then on.

On Zen 5 some loops of short calls go on changing between states for tens of milliseconds, and begin in the dear ones.
Their bursts differ by far more than others do. Those of such a cell are warmed for longer from then on.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean

from perbyte.model import Cell, Policy
from perbyte.stats.arrays import np
from perbyte.stats.estimate import median, median_interval

LARGE_BYTES = 1 << 20  # taken for long until the first burst tells
CUT_FROM_SAMPLES = 10  # a call that outlasts so many samples is cut
# the same for whole digests, whose beginning and end are left out: below 0.05 % from here on
WHOLE_DIGEST_S = 1e-3
LONGER = 4  # times the shorter piece
FIRST_BYTES = 4096  # a piece by which the cost of a large call is learnt
# bytes; lengths are multiples of a power of two between these: whole blocks, whole vectors
_UNITS = (64, 4096)


def first_piece(cell: Cell) -> int:
    """Return the length of a piece that tells what a call of a large cell takes; 0 where a call may as well be made."""
    cuttable = cell.contract in ("stream/1", "oneshot/1")
    return FIRST_BYTES if cuttable and cell.size_bytes >= LARGE_BYTES else 0


@dataclass(frozen=True, slots=True)
class Cut:
    """How the calls of a cell are cut: two lengths of pieces in bytes; and what a whole call takes."""

    shorter: int
    longer: int
    call_s: float


def cut_calls(cell: Cell, call_s: float, policy: Policy) -> Cut | None:
    """Return how a cell's calls are cut; None where they stay whole.

    `call_s` is what a whole call takes, in seconds. The shorter piece lasts about `policy.sample_us`.
    """
    sample_s = policy.sample_us * 1e-6
    least = {"stream/1": CUT_FROM_SAMPLES * sample_s, "oneshot/1": WHOLE_DIGEST_S}.get(cell.contract)
    if least is None or call_s < least:
        return None
    goal = cell.size_bytes * sample_s / call_s
    unit = _UNITS[0]
    while 2 * unit <= min(_UNITS[1], goal / 8):
        unit *= 2
    shorter = max(1, round(goal / unit)) * unit
    longer = LONGER * shorter
    return Cut(shorter, longer, call_s) if 2 * longer <= cell.size_bytes else None


FULL_ROUND = 2  # of an epoch; in the first one everything else is cold as well
ENOUGH = 200  # comparisons: their median is known within a tenth of their spread
LEAST = 20
LEVEL = 0.999  # of the interval of that median: one run in a thousand warms for longer without need


# relative standard deviation between the bursts of a process, from which on its cell is warmed for longer
SCATTERED = 0.03
BEYOND = 2.0  # times what cells have in common, that it must be as well
# for how long then: with its samples a burst still fits into a stretch of real-time scheduling
SETTLING_US = 6000.0


@dataclass(frozen=True, slots=True)
class Warm:
    """Microseconds for which calls go untimed before a burst: at the most, and at the least (0: all of `most_us`)."""

    most_us: float
    least_us: float


class Warmth:
    """Decides how briefly a burst may be warmed. `scattered` are the cells whose bursts are warmed for longest."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._ratios: list[float] = []
        self._scatter: dict[Cell, list[float]] = defaultdict(list)
        self.slow = False
        self.scattered: set[Cell] = set()

    @property
    def compares(self) -> bool:
        """True while one burst of each cell is warmed fully, to be compared."""
        return not self.slow and bool(self._policy.warm_least_us) and len(self._ratios) < ENOUGH

    def of(self, cell: Cell, round_number: int = 0) -> Warm:
        """Return how a cell's burst is warmed in a round; round 0 stands for those that are not compared."""
        most_us = self._policy.warm_us
        if cell in self.scattered:
            return Warm(max(most_us, SETTLING_US), 0.0)
        compared = round_number == FULL_ROUND and self.compares
        return Warm(most_us, 0.0 if self.slow or compared else self._policy.warm_least_us)

    def note(self, medians_by_round: Mapping[Cell, Mapping[int, float]]) -> bool:
        """Take over an epoch: of each cell the middle of each burst. Return True when bursts need longer from now on.

        The fully warmed burst is held against the median of the cell's others.
        """
        if self._policy.warm_least_us:
            self._note_scatter(medians_by_round)
        if not self.compares:
            return False
        for by_round in medians_by_round.values():
            full = by_round.get(FULL_ROUND, math.nan)
            others = [value for number, value in by_round.items() if number != FULL_ROUND and value > 0]
            if full > 0 and others:
                self._ratios.append(math.log(median(np.array(others)) / full))
        if len(self._ratios) < LEAST:
            return False
        low, high = median_interval(np.array(self._ratios), LEVEL)
        self.slow = low > self._policy.precision or high < -self._policy.precision
        return self.slow

    def _note_scatter(self, medians_by_round: Mapping[Cell, Mapping[int, float]]) -> None:
        for cell, by_round in medians_by_round.items():
            values = np.array([value for value in by_round.values() if value > 0])
            if len(values) > 1:
                self._scatter[cell].append(float(values.std(ddof=1) / values.mean()) ** 2)
        spread = {cell: math.sqrt(fmean(seen)) for cell, seen in self._scatter.items()}
        # beside a neighbour all cells scatter, and longer warm-ups would help none of them
        usual = median(np.array(list(spread.values()))) if len(spread) >= LEAST else 0.0
        limit = max(SCATTERED, BEYOND * usual)
        self.scattered |= {cell for cell, each in spread.items() if each > limit}


CUT_IN_VAIN = 2  # epochs in which pieces cost more than whole calls: these are timed from then on


@dataclass(slots=True)
class Ways:
    """What later epochs go by.

    `cuts` are the pieces that a call is timed in, None where whole calls are; `single` the cells that are timed call
    by call; `digests` what the outputs of a cell come to.
    """

    warmth: Warmth
    digests: dict[Cell, str] = field(default_factory=dict)
    fixed_calls: dict[Cell, int] = field(default_factory=dict)
    cuts: dict[Cell, Cut | None] = field(default_factory=dict)
    single: set[Cell] = field(default_factory=set)
    _apart: Counter[Cell] = field(default_factory=Counter)

    def note_apart(self, cells: Iterable[Cell]) -> None:
        """Note the cells of which pieces cost more than whole calls in this epoch."""
        for cell in cells:
            self._apart[cell] += 1
            if self._apart[cell] >= CUT_IN_VAIN:
                self.cuts[cell] = None
