"""How well single calls in states of their own repeat: several runs of the same cells (docs/measurement.md).

    .venv/bin/python bench/states.py [--runs 6] [--budget 15s] [--cells SELECTOR ...]

Prints, for each cell, its figure in each run, (max/min - 1), the largest distance from the median of the runs, and how
many of the intervals hold that median; who was on the cores meanwhile stands above.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from neighbours import say_siblings

CELLS = ["openssl/aes-128-gcm/seal@1350+contract=message/1+state=loop,cold,first,idle"]


def measure(directory: Path, cells: list[str], budget: str) -> dict[str, dict[str, float]]:
    command = [sys.executable, "-m", "perbyte.cli", "measure", *cells, "--json", "--quiet"]
    command += ["--budget", budget, "--out", str(directory)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"perbyte measure ended with {done.returncode}:\n{done.stderr}")
    return {cell["address"]: cell for cell in json.loads(done.stdout)["cells"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--budget", default="20s")
    parser.add_argument("--cells", nargs="+", default=CELLS)
    parser.add_argument("--keep", type=Path, help="a directory for the runs")
    given = parser.parse_args()
    say_siblings("before")
    with tempfile.TemporaryDirectory() as temporary:
        home = given.keep or Path(temporary)
        runs = [measure(home / f"states-{n}", given.cells, given.budget) for n in range(given.runs)]
    say_siblings("after")
    for address in runs[0]:
        result = [run[address] for run in runs if address in run]
        values = [row["cycles_per_call"] or row["ns_per_call"] for row in result]
        middle = statistics.median(values)
        apart = max(abs(value / middle - 1) for value in values)
        holding = sum(
            row["interval_low"] <= middle <= row["interval_high"] for row in result if row["interval_low"]
        )
        shown = " ".join(f"{value:.4g}" for value in values)
        print(f"{address}\n  {shown}  (cycles a call)")
        print(
            f"  max/min - 1: {max(values) / min(values) - 1:.1%}, farthest from the median: {apart:.1%}, "
            f"{holding} of {len(result)} intervals hold it"
        )


if __name__ == "__main__":
    main()
