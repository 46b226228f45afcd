"""Bursts of pairs of two classes as arrays, and all that the pairs of a case say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perbyte.model import Burst, Calibration, Policy
from perbyte.model.leak import PairFigures
from perbyte.protocol.material import pair_secrets, shown_places
from perbyte.stats.arrays import np
from perbyte.stats.clean import judge_samples
from perbyte.stats.paired import difference, middles, sign_p
from perbyte.stats.samples import Bools, Floats
from perbyte.stats.spots import find_spot
from perbyte.stats.tails import compare_tails

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Secrets = tuple[NDArray[np.uint8], Sequence[int]]

LEAST_PAIRS = 50  # with fewer nothing is said: the normal approximations need as many


@dataclass(frozen=True, slots=True)
class Drawn:
    """What the random secrets of a burst's second class were drawn from: the request's seed, and their length."""

    seed: int
    length: int


@dataclass(frozen=True, slots=True)
class Pairs:
    """Samples of both classes of a burst, by pair: values, whether both are clean, and one step of the counter.

    `number` is the place of the second class's sample in the burst. `drawn` is None where its secrets are not random.
    """

    first: Floats
    second: Floats
    clean: Bools
    step: float
    number: NDArray[np.int64] | None = None
    drawn: Drawn | None = None


def pair_samples(
    burst: Burst, order: str, calibration: Calibration, policy: Policy, drawn: Drawn | None = None
) -> Pairs:
    """Judge the samples of a burst by their probes and lay them out by pair.

    `order` has the class of each sample; two that follow each other make a pair. Values are core cycles, or
    nanoseconds without a cycle source, of one call. `drawn` is where the second class's secrets come from.
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
        np.flatnonzero(second),
        drawn,
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
    return compare_pairs(first, second, moment, step=step, seed=seed, secrets=_secrets(bursts))


def _secrets(bursts: Sequence[Pairs]) -> Secrets | None:
    """The bytes of the second samples of all clean pairs, and where they are in the secret."""
    parts, length = [], 0
    for pairs in bursts:
        if not pairs.drawn or pairs.number is None:
            return None
        length = pairs.drawn.length
        parts.append(pair_secrets(pairs.drawn.seed, pairs.number[pairs.clean], length))
    return np.concatenate(parts), shown_places(length)


def compare_pairs(
    first: Floats,
    second: Floats,
    moment: Sequence[int] | Floats,
    *,
    step: float,
    seed: int,
    secrets: Secrets | None = None,
) -> PairFigures:
    """Compare the samples of two classes, pair by pair.

    `moment` numbers the stretches in which the pairs were taken: distances are from the median of a stretch. `step` is
    one step of the counter in the unit of the samples: as much is spread over by draws from `seed`, so that ranks of
    readings in few steps have no ties and their middle moves with the mean. `secrets` has a row of bytes for
    each second sample, if they are random, and the places of these bytes. Raises ValueError without any pair.
    """
    if not len(first) or len(first) != len(second):
        raise ValueError("pairs of two samples are needed")
    draws = np.random.default_rng(seed)
    a = first + step * (draws.random(len(first)) - 0.5)
    b = second + step * (draws.random(len(second)) - 0.5)
    middle = middles(a, b, np.asarray(moment))
    shift, distance = b - a, np.abs(b - middle) - np.abs(a - middle)
    return PairFigures(
        len(a),
        float(np.median(np.concatenate([first, second]))),
        difference(shift),
        difference(distance),
        sign_p(shift),
        compare_tails(a - middle, b - middle, draws),
        find_spot(second - middle, *secrets, step=step) if secrets else None,
    )
