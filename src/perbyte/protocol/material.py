"""The bytes all implementations work on (section 3 of `protocol/SPEC.md`, computed a second time), and their places.

Runners make this material themselves; here it serves tests, conformance and anyone who wants to know what
was encrypted. SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014) and
FNV-1a are guards against accidents. Nothing here is fit for secrets.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RING = 16
AAD_BYTES = 16
SHOWN_BYTES = 32
_GAMMA = 0x9E3779B97F4A7C15
_MIX = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_FNV_BASIS = 0xCBF29CE484222325
_FNV_PRIME = 0x100000001B3
_MASK = 2**64 - 1
_FIELD = 15
STEPS = (28071, 24048, 20601, 17649)  # 0.8566749, 0.7338919, 0.6287067 and 0.5385973 times 2^15
LAYOUT_BITS = _FIELD * len(STEPS)


def fnv1a64(units: Iterable[int]) -> int:
    """FNV-1a with 64 bits over bytes, or over words."""
    value = _FNV_BASIS
    for unit in units:
        value = ((value ^ unit) * _FNV_PRIME) & _MASK
    return value


def digest(output: bytes) -> str:
    """The 16 hex digits that `check` and `measure` give for `output`: FNV-1a over words, then over the rest."""
    whole = len(output) // 8 * 8
    words = (word for (word,) in struct.iter_unpack("<Q", output[:whole]))
    return f"{fnv1a64((*words, *output[whole:])):016x}"


def stream(seed: int, label: str, length: int) -> bytes:
    """The first `length` bytes of the stream `label` (`input`, `key/3`, `nonce/0`, `aad`) for `seed`."""
    import numpy as np  # 70 ms, and `RING` is read by each run

    state = np.uint64(seed & _MASK) ^ np.uint64(fnv1a64(label.encode("ascii")))
    return _words(state, np.arange((length + 7) // 8, dtype=np.uint64)).astype("<u8").tobytes()[:length]


def _words(state: NDArray[np.uint64] | np.uint64, number: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The words `number` of the streams that begin at `state`."""
    import numpy as np

    with np.errstate(over="ignore"):
        z = state + np.uint64(_GAMMA) * (number + np.uint64(1))
        z = (z ^ (z >> np.uint64(30))) * np.uint64(_MIX[0])
        z = (z ^ (z >> np.uint64(27))) * np.uint64(_MIX[1])
        return np.asarray(z ^ (z >> np.uint64(31)))


def pair_secrets(seed: int, numbers: NDArray[np.int64], length: int) -> NDArray[np.uint8]:
    """The bytes of the second class, if `random`, in the samples `numbers` of a burst of pairs (section 14).

    A row for each sample; of secrets longer than two times `SHOWN_BYTES` the first and the last `SHOWN_BYTES`.
    """
    import numpy as np

    drawn = np.full(len(numbers), (seed ^ _FNV_BASIS) & _MASK, dtype=np.uint64)
    words = numbers.astype(np.uint64)
    with np.errstate(over="ignore"):
        for unit in (*((words >> np.uint64(8 * i)) & np.uint64(255) for i in range(8)), 1, *[0] * 7):
            drawn = (drawn ^ np.asarray(unit, dtype=np.uint64)) * np.uint64(_FNV_PRIME)
    drawn = _words(drawn ^ np.uint64(fnv1a64(b"leak")), np.zeros(1, dtype=np.uint64))
    state = drawn ^ np.uint64(fnv1a64(b"leak/random"))
    places = shown_places(length)
    blocks = sorted({place // 8 for place in places})
    columns = _words(state[:, None], np.array(blocks, dtype=np.uint64)[None, :]).astype("<u8").view(np.uint8)
    return np.asarray(columns[:, [8 * blocks.index(place // 8) + place % 8 for place in places]])


def shown_places(length: int) -> list[int]:
    """The places of the bytes that `pair_secrets` gives of a secret of `length` bytes."""
    if length <= 2 * SHOWN_BYTES:
        return list(range(length))
    return [*range(SHOWN_BYTES), *range(length - SHOWN_BYTES, length)]


def data(seed: int, size_bytes: int) -> bytes:
    """The data of a run."""
    return stream(seed, "input", size_bytes)


def further_layout(layout: int, forks: int) -> int:
    """Return the layout that comes `forks` forks after `layout`: where a fork lays stack, state and buffers (SPEC 7).

    A layout has four parts of 15 bits, fractions of a page for stack, heap, input and output, the lowest first. Each
    fork adds a step to each, so that few forks see all places: the steps are the inverse powers of the root of
    x^5 = x + 1, which generalise the golden section to four dimensions (an additive recurrence, Niederreiter, "Random
    Number Generation and Quasi-Monte Carlo Methods", 1992, chapter 3). With a random first layout an epoch's mean is
    without bias.
    """
    parts = (
        ((layout >> place * _FIELD) + forks * step) % (1 << _FIELD) << place * _FIELD
        for place, step in enumerate(STEPS)
    )
    return sum(parts)
