"""The verdict on a leak, from the pairs of all classes and sizes of a row. "Constant time" is never said.

A row leaks where one of its tests rejects at ALPHA after Holm's correction over its contrasts, sizes and four aspects:
the shift of the time; its spread, since a random secret may take now more, now less time than a fixed one; its tails,
where few calls differ; and the single bits and values of a random secret. Its null is the second class against itself;
where that is rejected the harness is at fault and nothing is said. Bits and values have no part in the null: a time
that depends on them does so there as well.

With a limit of one's own (`above`) a row leaks where shift, a quantile or a spot is beyond it at ALPHA, after the same
correction. None is beyond it where the upper ends of all intervals are within: whichever was beyond would have had to
be missed by its own interval, which happens in at most one of 40 cases (intersection-union, Berger 1982).

What became of a leak follows from the verdicts of two sides and their intervals: it is called new where the first side
is not said to leak, larger or smaller where the intervals of both leave each other out.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass

from perbyte.model import Cell
from perbyte.model.leak import Difference, LeakFigure, LeakVerdict, PairFigures, Tails
from perbyte.stats.arrays import np
from perbyte.stats.paired import QUANTILE, holm, normal_p
from perbyte.stats.pairing import pair_cells
from perbyte.stats.pairs import LEAST_PAIRS, Pairs
from perbyte.stats.spots import VALUES

ALPHA = 0.001  # false alarms of a row
TARGET_CYCLES, TARGET_SHARE = 1.0, 1e-4  # what is looked for: a cycle, or as much of a long call
COLD_CYCLES = 4.0  # with emptied caches a tenth of what a line from the next cache costs
RARE_TIMES = 10  # as much in one value of a byte: the pairs that are wanted show it
RARE_DEVIATES = 6.0  # from which one of all values is told
PAIRS_ABOVE = 1 << 19  # that the outermost quantiles need for a limit
TELLING_DEVIATES = 5.0  # that a part has to be beyond a limit to be told among a dozen
# that the half-width of an interval may be: then "no leak" is reached where there is none
SHARE_OF_TARGET = 0.25
# deviation of Hodges and Lehmann's estimate over the mean's, normal noise
SHIFT_EFFICIENCY = math.sqrt(math.pi / 3)
MEDIAN_OF_NORMAL = 0.6744898  # of its distance from the middle, in standard deviations


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on one contrast of a row; fields as those of `LeakFigure`."""

    verdict: LeakVerdict
    p: float
    null_p: float
    target: float
    more_s: float


def usual_target(call: float, *, cycles: bool, cold: bool = False) -> float:
    """Return the difference that is looked for where nobody named one, in the unit of `call`, the time of a call.

    A cycle (`cold`: four), or a ten-thousandth of a call that is longer; of a call in nanoseconds the latter alone.
    """
    least = COLD_CYCLES if cold else TARGET_CYCLES
    return max(least if cycles else 0.0, TARGET_SHARE * call)


def pairs_wanted(
    bursts: Sequence[Pairs],
    target: float | None,
    *,
    cycles: bool,
    above: float | None = None,
    cold: bool = False,
) -> float:
    """Return how many clean pairs tell `target`, or half of `above`; infinite while that is not known.

    From the distances within pairs without their signs: which class was slower plays no part in when to stop, so the
    tests stay true.
    """
    apart = np.concatenate([np.abs(pairs.second - pairs.first)[pairs.clean] for pairs in bursts])
    if len(apart) < LEAST_PAIRS:
        return math.inf
    call = float(np.median(np.concatenate([pairs.first[pairs.clean] for pairs in bursts])))
    goal = above or target or usual_target(call, cycles=cycles, cold=cold)
    deviation = float(np.median(apart)) / MEDIAN_OF_NORMAL + bursts[-1].step
    rare = goal / 2 if above else RARE_TIMES * goal
    pairs = (QUANTILE * SHIFT_EFFICIENCY * deviation / (SHARE_OF_TARGET * goal)) ** 2
    spots = VALUES * (RARE_DEVIATES * deviation / math.sqrt(2) / rare) ** 2 if bursts[-1].drawn else 0.0
    return max(float(LEAST_PAIRS), pairs, spots, float(PAIRS_ABOVE) if above else 0.0)


def judge_row(
    row: Sequence[tuple[PairFigures | None, PairFigures | None]],
    seconds: Sequence[float],
    *,
    target: float | None = None,
    cycles: bool = True,
    above: float | None = None,
    cold: bool = False,
) -> list[Judged]:
    """Judge the contrasts and sizes of one row together. Each has what its pairs say, and what its null says.

    `seconds` is what each took, `target` the difference that is looked for, in cycles or ns (None: `usual_target`,
    with emptied caches if `cold`). `above` is a limit instead: whether what the secret costs is beyond it.
    """
    tests = [_chances(figures) if above is None else _chances_beyond(figures, above) for figures, _ in row]
    adjusted = _adjusted(tests)
    nulls = _adjusted([_chances(null, null=True) for _, null in row])
    judged = []
    for (figures, null), p, null_p, spent in zip(row, adjusted, nulls, seconds, strict=True):
        if figures is None or null is None:
            judged.append(Judged("unknown", p, null_p, above or target or 0.0, 0.0))
            continue
        goal = above or target or usual_target(figures.call, cycles=cycles, cold=cold)
        bound = figures.bound if above is None else figures.cost_bound
        if null_p < ALPHA:
            verdict: LeakVerdict = "harness"
        elif p < ALPHA:
            verdict = "leaks"
        else:
            verdict = "none" if bound <= goal else "unknown"
        times = (bound / goal) ** 2 if above is None else _times_longer(figures, above)
        more = spent * max(times - 1, 0.0) if verdict == "unknown" else 0.0
        judged.append(Judged(verdict, p, null_p, goal, more))
    return judged


def _chances(figures: PairFigures | None, *, null: bool = False) -> list[float]:
    """The p of each aspect that is known, that there is no difference at all; those that a `null` has."""
    if not figures:
        return [1.0]
    parts: list[Difference | Tails | None] = [figures.shift, figures.spread, figures.tails]
    parts += [figures.spots.most.apart] if figures.spots and not null else []
    return [part.p for part in parts if part]


@dataclass(frozen=True, slots=True)
class _Part:
    """A difference, its deviation, its bound, and among how many like it was chosen as the largest."""

    value: float
    deviation: float
    bound: float
    looked: int = 1

    @classmethod
    def of(cls, difference: Difference) -> _Part:
        return cls(difference.value, (difference.high - difference.low) / 2 / QUANTILE, difference.bound)

    def beyond(self, limit: float) -> float:
        """The p that it is no further from 0 than `limit`."""
        if not self.deviation:
            return float(abs(self.value) <= limit)
        return min(1.0, self.looked * normal_p(max(0.0, (abs(self.value) - limit) / self.deviation)))


def _parts(figures: PairFigures) -> list[_Part]:
    """All that a secret may cost: the shift, each quantile, and a spot."""
    parts = [_Part.of(each) for each in (figures.shift, *(figures.tails.apart if figures.tails else ()))]
    if spots := figures.spots:
        spot = spots.most.apart
        parts.append(_Part(spot.value, (spot.high - spot.low) / 2 / QUANTILE, spots.bound, spots.looked))
    return parts


def _chances_beyond(figures: PairFigures | None, limit: float) -> list[float]:
    return [part.beyond(limit) for part in _parts(figures)] if figures else [1.0]


def _times_longer(figures: PairFigures, limit: float) -> float:
    """How many times as long it takes until each part is within the limit, or one beyond it, if all stay as they are.

    0 where one lies so near the limit that no time would tell.
    """
    longest = 0.0
    for part in _parts(figures):
        apart = abs(abs(part.value) - limit)
        if apart < limit / 20:
            return 0.0
        if abs(part.value) > limit:
            return max(1.0, (TELLING_DEVIATES * part.deviation / apart) ** 2)
        longest = max(longest, ((part.bound - abs(part.value)) / apart) ** 2)
    return max(1.0, longest)


def _adjusted(row: Sequence[Sequence[float]]) -> list[float]:
    """The least adjusted p of each member of a row."""
    adjusted = iter(holm([p for chances in row for p in chances]))
    return [min(next(adjusted) for _ in chances) for chances in row]


class Became(enum.StrEnum):
    """What became of it."""

    NEW = "leaks now"
    LARGER = "leaks more"
    SAME = "leaks as before"
    SMALLER = "leaks less"
    GONE = "no longer seen"
    NONE = "no leak on either side"
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class LeakChange:
    """One cell and contrast on two sides."""

    before: LeakFigure
    after: LeakFigure

    @property
    def became(self) -> Became:
        """What the two verdicts and their intervals say."""
        before, after = self.before, self.after
        if after.verdict == "leaks":
            if before.verdict != "leaks":
                return Became.NEW
            if before.unit == after.unit and _beyond(after, before):
                return Became.LARGER
            return Became.SMALLER if before.unit == after.unit and _beyond(before, after) else Became.SAME
        if after.verdict == "none":
            return Became.GONE if before.verdict == "leaks" else Became.NONE
        return Became.UNKNOWN

    @property
    def worse(self) -> bool:
        """True where the second side leaks what the first one does not, or more than it."""
        return self.became in (Became.NEW, Became.LARGER)


@dataclass(frozen=True, slots=True)
class LeakChanges:
    """What both sides looked at, and the names of what one has alone: `lost` of the first, `added` of the second."""

    found: tuple[LeakChange, ...]
    lost: tuple[str, ...]
    added: tuple[str, ...]


def leak_changes(first: Sequence[LeakFigure], later: Sequence[LeakFigure]) -> LeakChanges:
    """Pair the figures of two sides: the same cell, else cells that `stats.pairing` pairs; the same contrast."""
    partners = _partners([figure.cell for figure in first], [figure.cell for figure in later])
    there = {_key(figure.cell, figure): figure for figure in later}
    changes, lost = [], []
    for leak in first:
        other = there.pop(_key(partners.get(leak.cell, leak.cell), leak), None)
        if other:
            changes.append(LeakChange(leak, other))
        else:
            lost.append(_name(leak))
    return LeakChanges(tuple(changes), tuple(lost), tuple(map(_name, there.values())))


def _partners(first: Sequence[Cell], later: Sequence[Cell]) -> dict[Cell, Cell]:
    a = [cell for cell in dict.fromkeys(first) if cell not in later]
    b = [cell for cell in dict.fromkeys(later) if cell not in first]
    return {a[i]: b[j] for i, j in pair_cells(a, b).pairs} if a and b else {}


def _key(cell: Cell, figure: LeakFigure) -> tuple[object, ...]:
    return cell, figure.contrast, figure.cold


def _name(figure: LeakFigure) -> str:
    return f"{figure.cell.address}, {figure.contrast}{', emptied caches' * figure.cold}"


def _beyond(more: LeakFigure, less: LeakFigure) -> bool:
    """True where a part of `more`, its shift or its spread, lies beyond the whole interval of the other's."""
    if not (more.found and less.found):
        return False
    pairs = ((more.found.shift, less.found.shift), (more.found.spread, less.found.spread))
    return any(difference.least > other.bound for difference, other in pairs)
