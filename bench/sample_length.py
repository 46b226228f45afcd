"""Does a figure depend on how long a sample is? The same cells at 12, 25, 50 and 100 us, in turn.

    .venv/bin/python bench/sample_length.py [--epochs 10] [--rounds 8]

Each epoch is a fresh process of the OpenSSL runner; in each round every cell gives one burst of each length, in an
order drawn anew. Prints for each cell the midmean of its clean samples at the first length (median of epochs), and by
how much the other lengths differ from it, with the 95 % interval of the epochs' differences (Student's t).
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
from collections import defaultdict

import numpy as np
from neighbours import say_siblings
from scipy.stats import t as student

from perbyte.measure.cores import kept_awake
from perbyte.measure.machine import choose_cores
from perbyte.model import Cell, Policy
from perbyte.runners import Session
from perbyte.runners.locate import find
from perbyte.stats.clean import judge_samples, own_quiet
from perbyte.stats.estimate import midmean

LENGTHS_US = (12.0, 25.0, 50.0, 100.0)
CELLS = [
    Cell("openssl", "aes-128-ctr", "encrypt", size, "stream/1", cpu)
    for cpu, size in itertools.product(("full", "tables"), (16, 8192))
]
POLICY = Policy()


def epoch(spec, number, cores, rounds, draw):
    """One process per tier; clean cycles per byte by cell and length."""
    groups = defaultdict(list)
    for cpu in ("full", "tables"):
        with Session(spec, cpu=cpu, core=cores[0]) as session:
            session.hello()
            calibration = session.calibrate(20, epoch=number, cores=cores, patience_ms=2000)
            quiet = own_quiet(calibration, POLICY)
            cells = [cell for cell in CELLS if cell.cpu == cpu]
            handles = {
                c: session.prepare(c.algorithm, c.operation, c.contract, c.size_bytes, seed=7, offset=64)
                for c in cells
            }
            for turn in range(rounds):
                for cell, length in draw.sample(list(itertools.product(cells, LENGTHS_US)), len(cells) * 4):
                    burst = session.measure(
                        handles[cell],
                        cell=cell,
                        epoch=number,
                        round=turn,
                        samples=40,
                        clean=30,
                        limit_ms=12.0,
                        sample_us=length,
                        contention_floor=quiet.floor,
                        contention_tolerance=quiet.tolerance(POLICY),
                        clock_tolerance=POLICY.clock_tolerance,
                        patience=40_000,
                        warm_us=POLICY.warm_us,
                    ).burst
                    judged = judge_samples([burst], calibration, POLICY, quiet)
                    clean = judged.values[judged.clean]
                    groups[cell, length].extend((clean / cell.size_bytes).tolist())
    return groups


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=8)
    given = parser.parse_args()
    spec = find("openssl")
    cores = choose_cores()
    say_siblings("before")
    per_epoch = []
    with kept_awake([spec], cores):
        for number in range(given.epochs):
            this_epoch = epoch(spec, number, cores, given.rounds, random.Random(number))
            per_epoch.append({key: midmean(np.array(v)) for key, v in this_epoch.items() if len(v) >= 20})
    for cell in CELLS:
        whole = [item for item in per_epoch if all((cell, length) in item for length in LENGTHS_US)]
        first = np.array([item[cell, LENGTHS_US[0]] for item in whole])
        line = f"{cell.cpu:7} {cell.size_bytes:5} B  {np.median(first):8.4f} at {LENGTHS_US[0]:g} us"
        for length in LENGTHS_US[1:]:
            apart = 100 * (np.array([item[cell, length] for item in whole]) / first - 1)
            half = student.ppf(0.975, len(apart) - 1) * apart.std(ddof=1) / math.sqrt(len(apart))
            line += f"   {length:g} us {apart.mean():+.3f} ± {half:.3f} %"
        print(line)
    say_siblings("after")


if __name__ == "__main__":
    main()
