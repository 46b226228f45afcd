"""Restless neighbours: processes that work and rest by turns, so that a benchmark can be made on a busy machine.

    .venv/bin/python bench/neighbours.py [--count 2] [--seconds 60] [--seed 1]

Each streams through memory, computes and sleeps, in an order and for durations drawn from the seed. They have the
usual priority and are not pinned, as other people's programs are. `with neighbours(2):` does the same around a
block of Python. `say_siblings` tells of the neighbours that nobody here started: for how much of a second other
hardware threads were active on the measuring cores, as `perbyte doctor` sees it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
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


def doctor() -> dict[str, object]:
    """What `perbyte doctor --json` says."""
    command = [sys.executable, "-m", "perbyte.cli", "doctor", "--json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def say_siblings(when: str) -> None:
    """Print how much of the last second each measuring core was its own, so that figures of minutes can be compared."""
    cores = "; ".join(
        f"core {core['core']} alone {core['alone']:.0%}, shared {core['shared']:.0%}, taken away {core['taken']:.0%}"
        for core in doctor()["cores"]
    )
    print(f"siblings {when}: {cores or 'no detector shows them here'}", flush=True)


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
