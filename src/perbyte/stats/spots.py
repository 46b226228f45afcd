"""Whether the time depends on a single byte of a random secret: on one of its bits, or on one of its values.

The bytes of each sample are known, since they were drawn for it from the request's seed, and independently of all else.
So under the null the samples with a value are a random choice of all samples, each with the same chance, whatever their
times are and however these depend on each other. A value that costs ten cycles moves the mean of all by a 25th of one;
the mean of its own samples moves by ten.

The sum over such a choice has a known cumulant function, and Chernoff's bound (1952) on its tail holds for any number
of samples and any times. It is multiplied by the number of bits and values looked at (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from perbyte.model.leak import ByteSpot, ByteSpots, Difference
from perbyte.stats.arrays import np
from perbyte.stats.paired import QUANTILE
from perbyte.stats.samples import Bools, Floats

if TYPE_CHECKING:
    from numpy.typing import NDArray

VALUES, BITS = 256, 8
LEAST_SAMPLES = 4096
ONE_SIDED = 1.644854
_CLIPPED = 1 / 256
_GOLDEN, _CLOSE = 0.6180339887, 1e-5


def find_spot(
    times: Floats, secrets: NDArray[np.uint8], places: Sequence[int], *, step: float
) -> ByteSpots | None:
    """Look for the bit or the value on which `times` depend the most; None where there are too few samples.

    `times` are distances from what is usual at that time; `secrets` has a row of bytes for each, which are those
    of the secret at `places`. What is further out than one in 256 and one `step` of the counter is taken as that far.
    """
    if len(times) < LEAST_SAMPLES or not secrets.shape[1]:
        return None
    low, high = np.quantile(times, (_CLIPPED, 1 - _CLIPPED))
    clipped = np.clip(times, low - step, high + step)
    clipped = clipped - clipped.mean()
    square = float(clipped @ clipped)
    looked = 2 * secrets.shape[1] * (BITS + VALUES)  # twice: either way
    if not square:
        return None
    sets = (np.arange(VALUES)[None, :] >> np.arange(BITS)[:, None]) & 1
    best: tuple[float, int, int, bool] = (0.0, 0, 0, False)
    bound = 0.0
    for place in range(secrets.shape[1]):
        column = secrets[:, place]
        there = np.bincount(column, minlength=VALUES)
        sums = np.bincount(column, weights=clipped, minlength=VALUES)
        for chance, total, number, is_bit in (
            (1 / VALUES, sums, there, False),
            (1 / 2, sets @ sums, sets @ there, True),
        ):
            seen = (number > 0) & (number < len(clipped))
            if not seen.any():
                continue
            rest = len(clipped) - number[seen]
            more = total[seen] / number[seen] + total[seen] / rest
            wide = np.sqrt(square / len(clipped) * (1 / number[seen] + 1 / rest))
            bound = max(bound, float((np.abs(more) + ONE_SIDED * wide).max()))
            deviates = np.abs(total) / math.sqrt(square * chance * (1 - chance))
            top = int(deviates.argmax())
            if deviates[top] > best[0]:
                best = (float(deviates[top]), place, top, is_bit)
    _, place, which, is_bit = best
    column = secrets[:, place]
    chosen = (column >> which & 1).astype(bool) if is_bit else column == which
    p = min(1.0, looked * _chernoff(clipped, chosen, 1 / 2 if is_bit else 1 / VALUES))
    kind: Literal["bit", "value"] = "bit" if is_bit else "value"
    return ByteSpots(
        ByteSpot(places[place], kind, which, _apart(clipped[chosen], clipped[~chosen], p)), bound, looked
    )


def _apart(inside: Floats, outside: Floats, p: float) -> Difference:
    more = float(inside.mean() - outside.mean())
    wide = QUANTILE * math.sqrt(float(inside.var()) / len(inside) + float(outside.var()) / len(outside))
    return Difference(more, more - wide, more + wide, p)


def _chernoff(times: Floats, chosen: Bools, chance: float) -> float:
    """Bound how often a random choice, each with `chance`, is as far from its mean as `chosen`, on its side."""
    values, counts = np.unique(np.round(times, 3), return_counts=True)
    total = float(times[chosen].sum()) - chance * float(times.sum())
    if total < 0:
        values, total = -values, -total
    unit = 1 / max(float(np.abs(values).max()), 1e-300)

    def exponent(slope: float) -> float:
        grown = np.expm1(slope * values)
        return float((counts * (np.log1p(chance * grown) - slope * chance * values)).sum()) - slope * total

    # the exponent is convex: golden section, which asks once a turn
    low, high = 0.0, 40 * unit
    near, far = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_near, at_far = exponent(near), exponent(far)
    while high - low > _CLOSE * unit:
        if at_near < at_far:
            high, far, at_far = far, near, at_near
            near = high - _GOLDEN * (high - low)
            at_near = exponent(near)
        else:
            low, near, at_near = near, far, at_far
            far = low + _GOLDEN * (high - low)
            at_far = exponent(far)
    return math.exp(min(0.0, at_near, at_far))
