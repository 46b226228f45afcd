"""Do intervals hold whose epochs forks made, and what would the median of the epochs give? From a stored run.

    .venv/bin/perbyte study run kompara-2020 --budget 170s --precision 0.01% --out RUN
    .venv/bin/python bench/forked_intervals.py RUN [--orders 10]

The run has to hold far more epochs than a figure needs. Its epochs are put in random order; a cell stops at the first
look that finds it within 0.25 %, by either rule. Its truth is the same estimator over all epochs; the interval is made
narrower by what the epochs that it knows have in common with all, sqrt(1 - n/N). Cells of up to 8 KiB only.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from perbyte.model import Burst, Cell, Interval
from perbyte.stats.clean import Grounds, find_quiet
from perbyte.stats.estimate import median, midmean
from perbyte.stats.figure import Summary, summarise
from perbyte.stats.interval import Spread, combined_interval, find_spread, forked_interval
from perbyte.store import stored_run

LEAST_EPOCHS, LEVEL, GOAL = 30, 0.95, 0.0025
LOOKS = (5, 7, 9, 11, 13, 15, 17, 19, 21, 23)


def by_median(values: Sequence[float], halves: Sequence[float], spread: Spread | None) -> Interval:
    return combined_interval(median(np.array(values)), values, halves, LEVEL, spread)


def by_midmean(values: Sequence[float], halves: Sequence[float], spread: Spread | None) -> Interval:
    return forked_interval(midmean(np.array(values)), values, [0.0] * len(values), LEVEL, spread)


RULES: dict[str, tuple[Callable[..., Interval], Callable[..., float]]] = {
    "median": (by_median, median),
    "midmean": (by_midmean, midmean),
}


def summaries(place: Path) -> list[Summary]:
    run = stored_run(place)
    policy = run.conditions.policy
    calibrations = {(each.process, each.epoch): each for each in run.calibrations}
    grounds = Grounds(calibrations, policy, find_quiet(calibrations, (), policy))
    bursts: dict[Cell, list[Burst]] = {}
    for burst in run.bursts:
        if burst.cell.usual and burst.cell.size_bytes <= 8192:
            bursts.setdefault(burst.cell, []).append(burst)
    made = [summarise(cell, own, grounds) for cell, own in bursts.items()]
    whole = [each for each in made if not each.very_long and not any(epoch.pieces for epoch in each.used)]
    return [each for each in whole if each.quiet and len(each.used) >= LEAST_EPOCHS]


def halves_of(summary: Summary) -> list[float]:
    pairs = zip(summary.values, summary.used, strict=True)
    return [epoch.half * value / epoch.value for value, epoch in pairs]


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("run", type=Path)
    asked.add_argument("--orders", type=int, default=10)
    options = asked.parse_args()
    cells = summaries(options.run)
    epochs = min(len(cell.values) for cell in cells)
    print(f"{len(cells)} cells, {epochs} epochs each, {options.orders} orders")
    known = [(np.array(cell.values), np.array(halves_of(cell))) for cell in cells]
    for name, (rule, located) in RULES.items():
        held, stopped = [], []
        for seed in range(options.orders):
            order = np.random.default_rng(seed).permutation(epochs)
            left = dict(enumerate(known))
            for look in LOOKS:
                spread = find_spread([values[order[:look]].tolist() for values, _ in known])
                for number, (values, halves) in list(left.items()):
                    now = order[:look]
                    interval = rule(values[now].tolist(), halves[now].tolist(), spread)
                    centre = located(values[now])
                    precise = interval.half_width <= GOAL * centre
                    if not precise and look < LOOKS[-1]:
                        continue
                    off = abs(located(values[order]) - centre)
                    held.append(off <= interval.half_width * math.sqrt(1 - look / epochs))
                    stopped.append(look if precise else math.inf)
                    del left[number]
        shares = ", ".join(f"{np.mean([at <= look for at in stopped]):.1%} by {look}" for look in LOOKS[::2])
        print(f"{name:8} {np.mean(held):.1%} of {len(held)} intervals held; within 0.25 %: {shares}")


if __name__ == "__main__":
    main()
