"""Restless neighbours: processes that work and rest by turns, so that a benchmark can be made on a busy machine.

    .venv/bin/python bench/neighbours.py [--count 2] [--seconds 60] [--seed 1]

Each streams through memory, computes and sleeps, in an order and for durations drawn from the seed. They have the
usual priority and are not pinned, as other people's programs are. `with neighbours(2):` does the same around a
block of Python.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np

WORKING_SET_BYTES = 64 << 20  # more than a shared cache holds
LONGEST_S = 3.0


def live(seed: int, seconds: float) -> None:
    """Work and rest until `seconds` have passed."""
    draw = random.Random(seed)
    source = np.zeros(WORKING_SET_BYTES // 8)
    target = np.empty_like(source)
    small = np.linspace(0.0, 1.0, 4096)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        mood = draw.choice(("stream", "compute", "sleep"))
        until = min(end, time.monotonic() + draw.uniform(0.05, LONGEST_S))
        if mood == "sleep":
            time.sleep(max(0.0, until - time.monotonic()))
        while mood != "sleep" and time.monotonic() < until:
            if mood == "stream":
                np.copyto(target, source)
            else:
                np.sqrt(small * small + 1.0).sum()


@contextlib.contextmanager
def neighbours(count: int, *, seed: int = 1, seconds: float = 3600.0) -> Iterator[None]:
    """Have `count` neighbours while the block runs."""
    command = [sys.executable, __file__, "--count", "1", "--seconds", str(seconds), "--seed"]
    started = [subprocess.Popen([*command, str(seed + number)]) for number in range(count)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.count > 1:
        with neighbours(arguments.count, seed=arguments.seed, seconds=arguments.seconds):
            time.sleep(arguments.seconds)
    else:
        live(arguments.seed, arguments.seconds)


if __name__ == "__main__":
    main()
