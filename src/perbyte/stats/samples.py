"""Bursts as arrays: the samples of one cell in one epoch, side by side.

Burst objects keep lists, because that is what a runner's answer is; statistics want arrays. Nothing is
judged and nothing is left out here. All columns are float64 except `flags`: tick counts stay below 2^53.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from perbyte.model import Burst, Flag
from perbyte.model.cell import FIRST
from perbyte.stats.arrays import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
else:  # names for annotations, which nobody evaluates
    Floats = Bools = object


MOMENT_LEAST = 8  # samples that tell a quantised clock from a moving one


@dataclass(frozen=True, slots=True, eq=False)
class SampleTable:
    """Samples in the order in which they were taken; every array has one entry per sample.

    `clock` and `contention` have two rows: the probe before the sample and the probe after it, in ticks.
    `cycles` is None when any of the bursts has no PMU cycles. `moment` numbers stretches of samples taken in
    one go (from 0): a burst, or several bursts where they are short. `core` is -1 where it is not known.
    """

    moment: NDArray[np.int64]
    calls: Floats
    ticks: Floats
    clock: Floats
    contention: Floats
    flags: NDArray[np.int64]
    cycles: Floats | None
    core: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ticks)


def tabulate(bursts: Sequence[Burst]) -> SampleTable:
    """Lay bursts side by side, in the order given."""
    lengths = [len(burst.ticks) for burst in bursts]
    total = sum(lengths)
    with_pmu = bool(total) and all(len(burst.cycles) == len(burst.ticks) for burst in bursts)
    return SampleTable(
        moment=np.repeat(np.array(_moments(lengths), dtype=np.int64), lengths),
        calls=np.repeat(np.array([float(burst.calls) for burst in bursts]), lengths),
        ticks=_floats((burst.ticks for burst in bursts), total),
        clock=_two_rows(bursts, "clock_before", "clock_after"),
        contention=_two_rows(bursts, "contention_before", "contention_after"),
        flags=np.fromiter(chain.from_iterable(map(_flags, bursts)), np.int64, total),
        cycles=_floats((burst.cycles for burst in bursts), total) if with_pmu else None,
        core=np.fromiter(
            chain.from_iterable(burst.core or [-1] * len(burst) for burst in bursts), np.int64, total
        ),
    )


def _flags(burst: Burst) -> list[int]:
    """The flags that tell against a sample: page faults belong to the first call of a process."""
    return [flags & ~Flag.FAULTED for flags in burst.flags] if burst.cell.state == FIRST else burst.flags


def _moments(lengths: Sequence[int]) -> list[int]:
    """Number the bursts so that those that follow each other share a number until they hold 8 samples."""
    moments: list[int] = []
    moment, held = 0, 0
    for length in lengths:
        if held >= MOMENT_LEAST:
            moment, held = moment + 1, 0
        moments.append(moment)
        held += length
    return moments


def _two_rows(bursts: Sequence[Burst], *names: str) -> Floats:
    columns = [getattr(burst, name) for name in names for burst in bursts]
    return _floats(columns, sum(map(len, columns))).reshape(2, -1)


def _floats(columns: Iterable[list[int]], total: int) -> Floats:
    return np.fromiter(chain.from_iterable(columns), np.float64, total)
