"""The verdict on a leak, from the pairs of all classes and sizes of a row. "Constant time" is never said.

A row leaks where one of its tests rejects at ALPHA after Holm's correction over its contrasts, sizes and both aspects:
the shift of the time, and its spread, since a random secret may take now more, now less time than a fixed one. Its null
is the second class against itself; where that is rejected the harness is at fault and nothing is said.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from perbyte.model import Burst, Calibration, Policy
from perbyte.model.leak import LeakVerdict, PairFigures
from perbyte.stats.arrays import np
from perbyte.stats.clean import judge_samples
from perbyte.stats.paired import QUANTILE, compare_pairs, holm
from perbyte.stats.samples import Floats

ALPHA = 0.001  # false alarms of a row
LEAST_PAIRS = 50  # with fewer nothing is said: the normal approximations need as many
TARGET_CYCLES, TARGET_SHARE = 1.0, 1e-4  # what is looked for: a cycle, or as much of a long call
SHARE_OF_TARGET = (
    0.25  # that the half-width of an interval may be: then "no leak" is reached where there is none
)
SHIFT_EFFICIENCY = math.sqrt(
    math.pi / 3
)  # deviation of Hodges and Lehmann's estimate over the mean's, normal noise
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
    table, values, clean = judge_samples([burst], calibration, policy)
    second = np.frombuffer(order.encode("ascii"), dtype=np.uint8) == ord("1")
    timed = calibration.cycle_source != "none"
    scale = calibration.probe_cycles / float(np.median(table.clock)) if timed else 1e9 / calibration.tick_hz
    return Pairs(
        values[~second],
        values[second],
        np.asarray(clean.reshape(-1, 2).all(axis=1)),
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
