"""How well a run repeats: several runs of 24 cells, and `openssl speed` beside them in the same minutes.

    .venv/bin/python bench/repeatability.py [--runs 6] [--neighbours 0] [--keep DIR]

Prints for each cell (max/min - 1) of cycles per byte over the runs, then the median and the 90th percentile
over the cells; and the same for what `openssl speed` says of its own cells (1 s each, as often). Then how many of the
intervals hold the median of all runs, in all and by the number of epochs they stopped at. With --neighbours so many
other programs work and rest meanwhile, as on a shared machine (bench/neighbours.py).
"""

from __future__ import annotations

import argparse
import json
import math
import re
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from neighbours import neighbours, say_siblings

CELLS = [
    "{openssl,libgcrypt,nettle,cryptopp}/aes-128-ecb/encrypt@16,8KiB",
    "{openssl,libgcrypt,nettle,cryptopp}/aes-128-cbc/encrypt@1KiB",
    "{openssl,libgcrypt,nettle,cryptopp}/camellia-128-ecb/encrypt@1KiB",
    "{openssl,libgcrypt,nettle,cryptopp}/sha-256/digest@16,8KiB",
]
OPENSSL_SPEED = [
    ("aes-128-ecb", 16),
    ("aes-128-ecb", 8192),
    ("aes-128-cbc", 1024),
    ("sha256", 16),
    ("sha256", 8192),
]


def measure(directory: Path, extra: list[str]) -> dict[str, dict[str, Any]]:
    command = [
        sys.executable,
        "-m",
        "perbyte.cli",
        "measure",
        *CELLS,
        "--json",
        "--quiet",
        "--out",
        str(directory),
    ]
    done = subprocess.run([*command, *extra], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"perbyte measure ended with {done.returncode}:\n{done.stderr}")
    report = json.loads(done.stdout)
    return {cell["address"]: cell for cell in report["cells"]}


def openssl_speed() -> dict[str, float]:
    table = {}
    for name, size in OPENSSL_SPEED:
        command = ["openssl", "speed", "-mr", "-seconds", "1", "-bytes", str(size), "-evp", name]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        value = re.search(r"^\+F:\d+:[^:]+:([\d.]+)", text, re.MULTILINE)
        if value:
            table[f"openssl speed {name} {size}"] = float(value[1])
    return table


def spread(values: list[float]) -> float:
    return max(values) / min(values) - 1


def summarise(title: str, runs: list[dict[str, float]]) -> None:
    spreads = {
        name: spread([run[name] for run in runs]) for name in runs[0] if all(run.get(name) for run in runs)
    }
    print(f"\n{title}: {len(spreads)} cells, {len(runs)} runs")
    for name, value in sorted(spreads.items(), key=lambda item: item[1]):
        print(f"  {100 * value:8.3f} %  {statistics.median(run[name] for run in runs):14.4f}  {name}")
    ordered = sorted(spreads.values())
    p90 = ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))]
    print(f"  median cell {100 * statistics.median(ordered):.3f} %, 90th percentile {100 * p90:.3f} %")


def say_cover(runs: list[dict[str, dict[str, Any]]]) -> None:
    held: dict[int, list[bool]] = defaultdict(list)
    for name in runs[0]:
        cells = [run[name] for run in runs if name in run]
        middle = statistics.median(cell["cycles_per_call"] for cell in cells)
        for cell in cells:
            low, high = cell["interval_low"] or 0.0, cell["interval_high"] or math.inf
            held[cell["epochs"]].append(low <= middle <= high)
    every = [item for some in held.values() for item in some]
    print(f"\nintervals that hold the median of {len(runs)} runs: {sum(every)} of {len(every)}", end="")
    print(f" ({100 * statistics.mean(every):.1f} %)")
    for epochs, some in sorted(held.items()):
        print(f"  stopped at {epochs:3d} epochs: {sum(some)} of {len(some)}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--neighbours", type=int, default=0, help="so many other programs run meanwhile")
    parser.add_argument("--keep", type=Path, help="keep the run directories here")
    parser.add_argument("--no-openssl-speed", action="store_true")
    arguments, extra = parser.parse_known_args()
    say_siblings("before")
    with tempfile.TemporaryDirectory() as temporary, neighbours(arguments.neighbours):
        place = arguments.keep or Path(temporary)
        place.mkdir(parents=True, exist_ok=True)
        ours, theirs = [], []
        for number in range(arguments.runs):
            ours.append(measure(place / f"run-{number}", extra))
            if not arguments.no_openssl_speed:
                theirs.append(openssl_speed())
            print(f"run {number + 1} of {arguments.runs} done", file=sys.stderr)
    say_siblings("after")
    figures = [{name: cell["cycles_per_byte"] for name, cell in run.items()} for run in ours]
    summarise("perbyte, cycles per byte", figures)
    say_cover(ours)
    if theirs:
        summarise("openssl speed, bytes per second", theirs)


if __name__ == "__main__":
    main()
