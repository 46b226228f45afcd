"""From how many clean samples does an epoch tell the truth? Coverage of intervals by simulation, as tables.

    .venv/bin/python bench/few_samples.py [--cells 2000] [--seed 1]

Made-up cells of which all is known. Processes differ (uniform), so do bursts, whose samples share it, and each sample
differs a little. Of 200 samples an epoch takes `k` are found clean, in stretches as a neighbour leaves them.
Some of these were disturbed all the same, by amounts with a heavy tail (log-normal, median 15 %, at the most twice the
cost). Two ways of that: a share of the clean ones, and a share of the disturbed ones that no probe saw, which is a
large part of few clean samples. Columns: an interval of 95 % holds the true median in so many per cent of cells, by the
rules of perbyte.stats; in brackets its median half-width in per cent.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from perbyte.stats.epoch import inflation
from perbyte.stats.estimate import median, midmean, midmean_half_width
from perbyte.stats.interval import combined_interval
from perbyte.stats.samples import Floats

COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 30)
TAKEN = 200  # samples of an epoch
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class World:
    """What samples are like, relative to the cost: spread of processes (+-), of bursts and of samples (deviations)."""

    process: float = 0.003
    burst: float = 0.001
    sample: float = 0.003
    stretch: float = 6.0  # clean samples next to each other, on average
    slowed: float = 0.15
    tail: float = 1.0


def draw_epoch(random: np.random.Generator, world: World, clean: int, unseen: float) -> Floats:
    """`clean` samples of a process whose true cost is 1, each disturbed unseen with a chance of `unseen`."""
    starts = random.random(clean) < 1 / world.stretch
    burst = np.cumsum(starts)
    values = (
        1 + world.process * random.uniform(-1, 1) + world.burst * random.standard_normal(clean + 1)[burst]
    )
    values += world.sample * random.standard_normal(clean)
    slowed = np.minimum(world.slowed * np.exp(world.tail * random.standard_normal(clean)), 1.0)
    this_values: Floats = values * np.where(random.random(clean) < unseen, 1 + slowed, 1.0)
    return this_values


def holds(epochs: Sequence[Floats]) -> tuple[bool, float]:
    """Whether the interval of a cell of these epochs holds 1, and its half-width."""
    values = [midmean(epoch) for epoch in epochs]
    halves = [midmean_half_width(epoch, LEVEL) * inflation(epoch) for epoch in epochs]
    interval = combined_interval(median(np.array(values)), values, halves, LEVEL)
    return interval.low <= 1 <= interval.high, interval.half_width


def coverage(
    random: np.random.Generator,
    world: World,
    counts: Sequence[int],
    unseen: Callable[[int], float],
    cells: int,
) -> tuple[float, float]:
    """The share of `cells` whose interval holds, and the median half-width; `counts` are those of their epochs."""
    held = [holds([draw_epoch(random, world, k, unseen(k)) for k in counts]) for _ in range(cells)]
    return float(np.mean([item for item, _ in held])), float(np.median([half for _, half in held]))


def missed(share: float) -> Callable[[int], float]:
    """The part of `k` clean samples that is disturbed where no probe sees `share` of the disturbed ones."""
    return lambda k: min(1.0, share * (TAKEN - k) / k)


WAYS: dict[str, Callable[[int], float]] = {
    "none": lambda _k: 0.0,
    "5 %": lambda _k: 0.05,
    "10 %": lambda _k: 0.10,
    "20 %": lambda _k: 0.20,
    "missed 0.5 %": missed(0.005),
    "missed 1 %": missed(0.01),
    "missed 2 %": missed(0.02),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cells", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    worlds = {"processes differ by 0.3 %": World(), "processes are alike": World(process=0.0)}
    mixes: dict[str, Callable[[int], list[int]]] = {
        "five epochs of k": lambda k: [k] * 5,
        "three epochs of 33, five of k": lambda k: [33] * 3 + [k] * 5,
        "twelve epochs of k": lambda k: [k] * 12,
    }
    for named, world in worlds.items():
        for text, mix in mixes.items():
            print(f"\n{text}, {named}; disturbed unseen:")
            print(f"{'k':>4}" + "".join(f"{way:>17}" for way in WAYS))
            for k in COUNTS:
                random = np.random.default_rng([given.seed, k])
                row = [coverage(random, world, mix(k), unseen, given.cells) for unseen in WAYS.values()]
                print(
                    f"{k:>4}" + "".join(f"{100 * held:9.1f} ({100 * half:4.2g})" for held, half in row),
                    flush=True,
                )


if __name__ == "__main__":
    main()
