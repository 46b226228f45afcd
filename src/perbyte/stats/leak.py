"""The verdict on a leak, from the pairs of all classes and sizes of a row. "Constant time" is never said.

A row leaks where one of its tests rejects at ALPHA after Holm's correction over its contrasts, sizes and both aspects:
the shift of the time, and its spread, since a random secret may take now more, now less time than a fixed one. Its null
is the second class against itself; where that is rejected the harness is at fault and nothing is said.

What became of a leak follows from the verdicts of two sides and their intervals: it is called new where the first side
is not said to leak, larger or smaller where the intervals of both leave each other out.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass

from perbyte.model import Burst, Calibration, Cell, Policy
from perbyte.model.leak import LeakFigure, LeakVerdict, PairFigures
from perbyte.stats.arrays import np
from perbyte.stats.clean import judge_samples
from perbyte.stats.paired import QUANTILE, compare_pairs, holm
from perbyte.stats.pairing import pair_cells
from perbyte.stats.samples import Floats

ALPHA = 0.001  # false alarms of a row
LEAST_PAIRS = 50  # with fewer nothing is said: the normal approximations need as many
TARGET_CYCLES, TARGET_SHARE = 1.0, 1e-4  # what is looked for: a cycle, or as much of a long call
# that the half-width of an interval may be: then "no leak" is reached where there is none
SHARE_OF_TARGET = 0.25
# deviation of Hodges and Lehmann's estimate over the mean's, normal noise
SHIFT_EFFICIENCY = math.sqrt(math.pi / 3)
MEDIAN_OF_NORMAL = 0.6744898  # of its distance from the middle, in standard deviations


@dataclass(frozen=True, slots=True)
class Pairs:
    """Samples of both classes of a burst, by pair: values, whether both are clean, and one step of the counter."""

    first: Floats
    second: Floats
    clean: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
    step: float


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on one contrast of a row; fields as those of `LeakFigure`."""

    verdict: LeakVerdict
    p: float
    null_p: float
    target: float
    more_s: float


def pair_samples(burst: Burst, order: str, calibration: Calibration, policy: Policy) -> Pairs:
    """Judge the samples of a burst by their probes and lay them out by pair.

    `order` has the class of each sample; two that follow each other make a pair. Values are core cycles, or
    nanoseconds without a cycle source, of one call.
    """
    judged = judge_samples([burst], calibration, policy)
    second = np.frombuffer(order.encode("ascii"), dtype=np.uint8) == ord("1")
    timed = calibration.cycle_source != "none"
    scale = (
        calibration.probe_cycles / float(np.median(judged.table.clock))
        if timed
        else 1e9 / calibration.tick_hz
    )
    return Pairs(
        judged.values[~second],
        judged.values[second],
        np.asarray(judged.clean.reshape(-1, 2).all(axis=1)),
        scale * calibration.tick_quantum,
    )


def pair_figures(bursts: Sequence[Pairs], seed: int) -> PairFigures | None:
    """Compare all clean pairs; None where they are too few to say anything."""
    clean = [pairs.clean for pairs in bursts]
    if sum(int(mask.sum()) for mask in clean) < LEAST_PAIRS:
        return None
    first = np.concatenate([pairs.first[mask] for pairs, mask in zip(bursts, clean, strict=True)])
    second = np.concatenate([pairs.second[mask] for pairs, mask in zip(bursts, clean, strict=True)])
    moment = np.repeat(np.arange(len(bursts), dtype=float), [int(mask.sum()) for mask in clean])
    step = float(np.median([pairs.step for pairs in bursts]))
    return compare_pairs(first, second, moment, step=step, seed=seed)


def usual_target(call: float, *, cycles: bool) -> float:
    """Return the difference that is looked for where nobody named one, in the unit of `call`, the time of a call.

    A cycle, or a ten-thousandth of a call that is longer; of a call in nanoseconds the latter alone.
    """
    return max(TARGET_CYCLES if cycles else 0.0, TARGET_SHARE * call)


def pairs_wanted(bursts: Sequence[Pairs], target: float | None, *, cycles: bool) -> float:
    """Return how many clean pairs tell `target`; infinite while that is not known.

    From the distances within pairs without their signs: which class was slower plays no part in when to stop, so the
    tests stay true.
    """
    apart = np.concatenate([np.abs(pairs.second - pairs.first)[pairs.clean] for pairs in bursts])
    if len(apart) < LEAST_PAIRS:
        return math.inf
    call = float(np.median(np.concatenate([pairs.first[pairs.clean] for pairs in bursts])))
    goal = SHARE_OF_TARGET * (target or usual_target(call, cycles=cycles))
    deviation = float(np.median(apart)) / MEDIAN_OF_NORMAL + bursts[-1].step
    return max(float(LEAST_PAIRS), (QUANTILE * SHIFT_EFFICIENCY * deviation / goal) ** 2)


def judge_row(
    row: Sequence[tuple[PairFigures | None, PairFigures | None]],
    seconds: Sequence[float],
    *,
    target: float | None = None,
    cycles: bool = True,
) -> list[Judged]:
    """Judge the contrasts and sizes of one row together. Each has what its pairs say, and what its null says.

    `seconds` is what each took, `target` the difference that is looked for, in cycles or ns (None: `usual_target`).
    """
    adjusted = _adjusted([figures for figures, _ in row])
    nulls = _adjusted([null for _, null in row])
    judged = []
    for (figures, null), p, null_p, spent in zip(row, adjusted, nulls, seconds, strict=True):
        if figures is None or null is None:
            judged.append(Judged("unknown", p, null_p, target or 0.0, 0.0))
            continue
        goal = target or usual_target(figures.call, cycles=cycles)
        bound = max(figures.shift.bound, figures.spread.bound)
        if null_p < ALPHA:
            verdict: LeakVerdict = "harness"
        elif p < ALPHA:
            verdict = "leaks"
        else:
            verdict = "none" if bound <= goal else "unknown"
        more = spent * ((bound / goal) ** 2 - 1) if verdict == "unknown" else 0.0
        judged.append(Judged(verdict, p, null_p, goal, more))
    return judged


def _adjusted(row: Sequence[PairFigures | None]) -> list[float]:
    """The least adjusted p of each member of a row; 1 where it says nothing."""
    values = [p for figures in row for p in ((figures.shift.p, figures.spread.p) if figures else (1.0, 1.0))]
    adjusted = holm(values)
    return [min(adjusted[i : i + 2]) for i in range(0, len(adjusted), 2)]


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
