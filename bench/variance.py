"""Where the variance of a run's figures is, and what 0.25 % and 1 % would take by the cheapest plan.

    .venv/bin/python bench/variance.py RUN [RUN ...] [--cells]

A figure is the mean of processes, of forks (bursts) within them, of samples within these. For each cell prints what
each of the three adds to the variance of its figure, from samples that are kept, and the numbers that it had. Then the
sum over cells of what a plan takes that reaches the precision with the least time (Kalibera and Jones 2013, section 6),
with the seconds that processes, bursts and samples took in this run by the tick counter. Passes no judgement.
"""

from __future__ import annotations

import argparse
import itertools
import math
import statistics
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from perbyte.model import Burst, Cell
from perbyte.model.cell import LOOP
from perbyte.stats.clean import Grounds, find_quiet
from perbyte.stats.estimate import median, normal_quantile
from perbyte.store.reader import open_run, stored_run

GOALS = (0.0025, 0.01)
SHORT = 8192
QUARTILES = 1.349  # between the quartiles of a normal distribution, in standard deviations


@dataclass(frozen=True)
class Parts:
    """Of one cell: numbers, relative variances of one process, burst and sample, and half-width that was reached."""

    processes: int
    bursts: float
    samples: float
    of_process: float
    of_burst: float
    of_sample: float
    half: float

    def added(self) -> tuple[float, float, float]:
        """What each adds to the variance of the figure."""
        forks = self.processes * self.bursts
        return (
            self.of_process / self.processes,
            self.of_burst / forks,
            self.of_sample / (forks * self.samples),
        )


@dataclass(frozen=True)
class Costs:
    """Seconds of a process (one cell's part of its start), of a burst beyond its samples, and of a sample."""

    process: float
    burst: float
    sample: float

    def least_s(self, parts: Parts, goal: float, level: float) -> float:
        """The time of the cheapest plan for a half-width of `goal`, at two bursts and three processes or more."""
        z = normal_quantile(0.5 + level / 2)
        samples = _between(
            math.sqrt(self.burst / self.sample * parts.of_sample / max(parts.of_burst, 1e-14)), 1, 400
        )
        burst_variance = parts.of_burst + parts.of_sample / samples
        cost = self.burst + samples * self.sample
        bursts = _between(
            math.sqrt(self.process / cost * burst_variance / max(parts.of_process, 1e-14)), 2, 400
        )
        processes = max(3.0, (z / goal) ** 2 * (parts.of_process + burst_variance / bursts))
        return processes * (self.process + bursts * cost)


def _between(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def parts_of(bursts: list[Burst], grounds: Grounds, half: float) -> Parts | None:
    """Return the parts of one cell; None where fewer than three processes hold two bursts with samples."""
    epochs: dict[int, list[Burst]] = defaultdict(list)
    for burst in bursts:
        epochs[burst.epoch].append(burst)
    means, between, within, forks, samples = [], [], [], [], []
    for taken in epochs.values():
        judged = grounds.judge(taken)
        middles = []
        for moment in np.unique(judged.table.moment):
            values = judged.values[judged.clean & (judged.table.moment == moment)]
            if len(values) >= 5:
                low, high = np.percentile(values, (25, 75))
                middles.append(median(values))
                within.append((high - low) / QUARTILES / middles[-1])
                samples.append(len(values))
        if len(middles) >= 2:
            means.append(statistics.fmean(middles))
            between.append(statistics.variance(middles) / means[-1] ** 2)
            forks.append(len(middles))
    if len(means) < 3:
        return None
    of_sample, seen = statistics.fmean(w * w for w in within), statistics.fmean(between)
    n, f = statistics.fmean(samples), statistics.fmean(forks)
    of_epoch = statistics.variance(means) / statistics.fmean(means) ** 2
    # the middle of n samples varies by pi / 2 of their variance over n
    of_burst = max(seen - math.pi / 2 * of_sample / n, 0.0)
    return Parts(len(means), f, n, max(of_epoch - seen / f, 0.0), of_burst, math.pi / 2 * of_sample, half)


def costs_of(bursts: list[Burst], tick_hz: float, cells: int, elapsed_s: float) -> tuple[Costs, str]:
    """Return what things cost, from the tick counter: gaps between samples of a burst, and between bursts of a core."""
    by_core: dict[int, list[tuple[int, int]]] = defaultdict(list)
    sampling = count = 0
    for burst in bursts:
        if len(burst) < 2:
            continue
        gap = statistics.median(np.diff(burst.start))
        sampling, count = sampling + gap * len(burst), count + len(burst)
        by_core[burst.cell.process.cpu or 0].append((burst.start[0], int(burst.start[-1] + gap)))
    gaps: list[int] = []
    for spans in by_core.values():
        spans.sort()
        gaps += [b[0] - a[1] for a, b in itertools.pairwise(spans)]
    beyond = statistics.median(gaps) / tick_hz
    total = elapsed_s * len(by_core)
    sample = sampling / tick_hz / count
    processes = len({(b.cell, b.epoch) for b in bursts})
    rest = total - sampling / tick_hz - beyond * sum(map(len, by_core.values()))
    text = (
        f"{elapsed_s:.1f} s: samples {sampling / tick_hz / total:.0%}, "
        f"bursts beyond them {beyond * sum(map(len, by_core.values())) / total:.0%}, the rest {rest / total:.0%} "
        f"({sample * 1e6:.0f} us a sample, {beyond * 1e3:.2f} ms a burst, "
        f"{rest / processes * 1e3:.1f} ms a cell in an epoch)"
    )
    return Costs(max(rest, 0.0) / processes, beyond, sample), text


def say(run_path: Path, every: bool) -> None:
    run, stored = open_run(run_path), stored_run(run_path)
    policy = run.conditions.policy
    calibrations = {(c.process, c.epoch): c for c in stored.calibrations}
    taken: dict[Cell, list[Burst]] = defaultdict(list)
    for burst in stored.bursts:
        taken[burst.cell].append(burst)
    loops = {c: b for c, b in taken.items() if c.state == LOOP and not c.drawn}
    every_burst = [burst for bursts in loops.values() for burst in bursts]
    grounds = Grounds(calibrations, policy, find_quiet(calibrations, every_burst, policy))
    halves = {
        figure.cell: figure.interval.half_width / (figure.cycles_per_call or figure.ns_per_call)
        for figure in run.cells
    }
    by_cell = {
        cell: parts
        for cell, bursts in loops.items()
        if cell in halves and (parts := parts_of(bursts, grounds, halves[cell]))
    }
    tick_hz = next(iter(calibrations.values())).tick_hz
    costs, text = costs_of(every_burst, tick_hz, len(by_cell), stored.measuring_s)
    print(f"{run_path.name}: {text}")
    if every:
        for cell, parts in sorted(by_cell.items(), key=lambda item: -item[1].half):
            added = parts.added()
            whole = sum(added) or 1.0
            shares = " ".join(f"{part / whole:4.0%}" for part in added)
            numbers = f"{parts.processes:3d} x {parts.bursts:4.1f} x {parts.samples:4.0f}"
            print(f"  {parts.half:6.2%}  {shares}  {numbers}  {cell.address}")
    short = {cell: parts for cell, parts in by_cell.items() if cell.size_bytes <= SHORT}
    shares = np.array([np.array(parts.added()) / (sum(parts.added()) or 1.0) for parts in short.values()])
    print(
        f"  {len(short)} cells up to 8 KiB; median share of the variance: "
        + ", ".join(
            f"{n} {m:.0%}"
            for n, m in zip(("processes", "bursts", "samples"), np.median(shares, axis=0), strict=True)
        )
        + f"; within 0.25 %: {sum(p.half <= 0.0025 for p in short.values())}"
    )
    for goal in GOALS:
        needed = sorted(costs.least_s(parts, goal, policy.level) for parts in short.values())
        nine = needed[: math.ceil(0.9 * len(needed))]
        print(
            f"  least for {goal:.2%}: {sum(needed):.1f} s for all, {sum(nine):.1f} s for the nine tenths that need "
            f"least; dearest {needed[-1]:.1f} s"
        )


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("runs", nargs="+", type=Path)
    asked.add_argument("--cells", action="store_true", help="print each cell, the least precise first")
    options = asked.parse_args()
    for path in options.runs:
        say(path, options.cells)


if __name__ == "__main__":
    main()
