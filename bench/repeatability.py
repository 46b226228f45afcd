"""How well a run repeats: several runs of 24 cells, and `openssl speed` beside them in the same minutes.

    .venv/bin/python bench/repeatability.py [--runs 6] [--wide] [--neighbours 0] [--keep DIR]

Each run has a seed of its own. Prints for each cell (max/min - 1) of cycles per byte over the runs, then the median and
the 90th percentile over the cells; and the same for what `openssl speed` says of its own cells (1 s each, as often).
Then how many of the intervals hold the mean of the other runs, by both their errors, and how many pairs of intervals do
not meet. --wide: 155 cells from 16 B to 8 KiB instead, 25 s a run. With --neighbours so many other programs work and
rest meanwhile, as on a shared machine (bench/neighbours.py).
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from neighbours import neighbours, say_siblings

CELLS = [
    "{openssl,libgcrypt,nettle,cryptopp}/aes-128-ecb/encrypt@16,8KiB",
    "{openssl,libgcrypt,nettle,cryptopp}/aes-128-cbc/encrypt@1KiB",
    "{openssl,libgcrypt,nettle,cryptopp}/camellia-128-ecb/encrypt@1KiB",
    "{openssl,libgcrypt,nettle,cryptopp}/sha-256/digest@16,8KiB",
]
LIBRARIES, SIZES = "{openssl,libgcrypt,nettle,cryptopp}", "16,64,512,1KiB,8KiB"
WIDE = [
    f"{LIBRARIES}/{{aes-128-ctr,aes-256-cbc,chacha20}}/encrypt@{SIZES}",
    f"{LIBRARIES}/{{aes-256-gcm,chacha20-poly1305}}/seal@{SIZES}",
    f"{LIBRARIES}/{{sha-256,sha3-256,hmac-sha-256}}@{SIZES}",
    "--budget",
    "25s",
]
OPENSSL_SPEED = [
    ("aes-128-ecb", 16),
    ("aes-128-ecb", 8192),
    ("aes-128-cbc", 1024),
    ("sha256", 16),
    ("sha256", 8192),
]


def measure(directory: Path, cells: list[str], extra: list[str]) -> dict[str, dict[str, Any]]:
    command = [
        sys.executable,
        "-m",
        "perbyte.cli",
        "measure",
        *cells,
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
    """An interval holds where it, widened by the others' error of the mean, reaches their mean (both of 95 %)."""
    held, missed, apart, pairs = [], Counter[str](), 0, 0
    for name in runs[0]:
        cells = [run[name] for run in runs if run.get(name, {}).get("interval_high")]
        if len(cells) < 3:
            continue
        for cell in cells:
            others = [other for other in cells if other is not cell]
            mean = statistics.mean(other["cycles_per_call"] for other in others)
            error = math.hypot(*map(half, others)) / len(others)
            held.append(abs(cell["cycles_per_call"] - mean) <= math.hypot(half(cell), error))
            missed[name] += not held[-1]
        for first, other in itertools.combinations(cells, 2):
            pairs += 1
            apart += max(first["interval_low"], other["interval_low"]) > min(
                first["interval_high"], other["interval_high"]
            )
    print(f"\nintervals that hold the mean of the other runs: {sum(held)} of {len(held)}", end="")
    print(f" ({100 * statistics.mean(held):.1f} %); pairs that do not meet: {apart} of {pairs}")
    for name, times in missed.most_common(8):
        print(f"  {times} of {len(runs)} missed  {name}")


def half(cell: dict[str, Any]) -> float:
    return (cell["interval_high"] - cell["interval_low"]) / 2


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--wide", action="store_true")
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
            seed = ["--seed", str(11 * (number + 1))]
            cells = WIDE if arguments.wide else CELLS
            ours.append(measure(place / f"run-{number}", [*cells, *seed], extra))
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
