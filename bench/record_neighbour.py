"""Record who else is on the cores of this machine, as intervals that bench/policies.py can replay.

    .venv/bin/python bench/record_neighbour.py PREFIX [--seconds 5] [--cores 0,1]

The reference runner looks at its cores every quarter of a microsecond (the verb `watch`), one process a core, all at
once. Writes PREFIX-coreN.csv.gz: `state` (q alone on the core, b another hardware thread active, s the core
taken away), `duration_us`, and `front_end_ratio`, which this recorder does not measure and leaves at 1. Prints for
each core what share of the time it was in which state, and how long the intervals are.
"""

from __future__ import annotations

import argparse
import gzip
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np

from perbyte.errors import PerbyteError
from perbyte.model import Calibration
from perbyte.runners import find
from perbyte.runners.session import Session

PIECE_MS = 250.0  # one answer holds 40,000 intervals at the most
STATES = {"q": "alone", "b": "shared", "s": "taken away"}
Interval = tuple[str, float]


def record(core: int, seconds: float, runner: str) -> tuple[Calibration, list[Interval]]:
    """Intervals of `core` as (state, microseconds); those that a piece of the recording cut in two are joined."""
    with Session(find(runner), core=core) as session:
        session.hello()
        calibration = session.calibrate(20.0, epoch=0, cores=(core,), patience_ms=5000.0)
        results: list[list[str | float]] = []
        spent = 0.0
        while spent < seconds:
            answer = session.watch(min(PIECE_MS, 1000 * (seconds - spent)))
            spent += sum(answer.ticks) / calibration.tick_hz
            if not answer.ticks:
                break
            for state, ticks in zip(answer.state, answer.ticks, strict=True):
                length = ticks / calibration.tick_hz * 1e6
                if results and results[-1][0] == state:
                    results[-1][1] = float(results[-1][1]) + length
                else:
                    results.append([state, length])
        return calibration, [(str(state), float(length)) for state, length in results]


def write(path: Path, intervals: list[Interval]) -> None:
    lines = ["state,duration_us,front_end_ratio"]
    lines += [f"{state},{length:.2f},1.00" for state, length in intervals]
    with path.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
        file.write(("\n".join(lines) + "\n").encode())


def summary(intervals: list[Interval]) -> str:
    """Shares of the time, and quantiles of the lengths in microseconds."""
    whole = sum(length for _, length in intervals)
    parts = []
    for state, name in STATES.items():
        lengths = np.array([length for item, length in intervals if item == state])
        if not len(lengths):
            continue
        middle = " / ".join(f"{value:.0f}" for value in np.quantile(lengths, [0.25, 0.5, 0.75, 0.9]))
        parts.append(f"{name} {lengths.sum() / whole:.1%} ({len(lengths)} times, {middle} us)")
    return "; ".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("prefix", type=Path)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--cores", help="numbers with commas between them; all that may be used by default")
    parser.add_argument("--runner", default="reference")
    given = parser.parse_args()
    cores = [int(c) for c in given.cores.split(",")] if given.cores else sorted(os.sched_getaffinity(0))
    try:
        with ThreadPoolExecutor(len(cores)) as pool:
            result = list(pool.map(lambda core: record(core, given.seconds, given.runner), cores))
    except PerbyteError as error:
        sys.exit(f"{error}\n{error.hint}" if error.hint else str(error))
    for core, (calibration, intervals) in zip(cores, result, strict=True):
        if calibration.contention_probe != "reorder-buffer" or not calibration.contention_shared:
            sys.exit(f"core {core}: the reorder-buffer probe shows no second mode here: nothing to record")
        path = given.prefix.parent / f"{given.prefix.name}-core{core}.csv.gz"
        write(path, intervals)
        assert all(item[0] != other[0] for item, other in pairwise(intervals))
        print(f"{path}: {len(intervals)} intervals; {summary(intervals)}")
    print(
        "alone, shared, taken away; in brackets how often, and quartiles and 90th percentile of the lengths"
    )


if __name__ == "__main__":
    main()
