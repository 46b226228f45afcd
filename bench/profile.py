"""Where the time of a run goes: the shares of `--profile` over a few runs, and how many cells were precise.

    .venv/bin/python bench/profile.py [--runs 3] [--budget 20s] [--study kompara-2020]

Prints a line for each run and the median of each share. Passes no judgement. How much the siblings of the cores were
active before and after is printed beside it (perbyte doctor).
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

LINE = re.compile(r"^  ([\w-]+) +([\d.]+) s +([\d.]+)%")


def perbyte(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "perbyte.cli", *words], capture_output=True, text=True, check=True
    )


def siblings() -> str:
    cores = json.loads(perbyte("doctor", "--json").stdout)["cores"]
    return ", ".join(f"core {core['core']} shared {core['shared']:.0%}" for core in cores) or "not known"


def run(study: str, budget: str, place: Path) -> dict[str, float]:
    done = perbyte("study", "run", study, "--budget", budget, "--profile", "--out", str(place))
    shares = {m[1]: float(m[3]) for m in map(LINE.match, done.stderr.splitlines()) if m}
    cells = [
        cell
        for cell in json.loads(perbyte("show", str(place), "--json").stdout)["cells"]
        if not cell.get("twin")
    ]
    short = [cell for cell in cells if cell["size_bytes"] <= 8192 and cell["cycles_per_call"]]
    halves = [(cell["interval_high"] - cell["interval_low"]) / 2 / cell["cycles_per_call"] for cell in short]
    precise = sum(half <= 0.0025 for half in halves)
    told = ", ".join(f"{name} {share:.0f} %" for name, share in shares.items())
    print(
        f"{precise} of {len(short)} cells up to 8 KiB within 0.25 %, median {statistics.median(halves):.2%}: {told}"
    )
    return shares


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--runs", type=int, default=3)
    asked.add_argument("--budget", default="20s")
    asked.add_argument("--study", default="kompara-2020")
    options = asked.parse_args()
    print(f"before: {siblings()}")
    with tempfile.TemporaryDirectory() as place:
        runs = [run(options.study, options.budget, Path(place) / str(n)) for n in range(options.runs)]
    print(f"after: {siblings()}")
    for part in runs[0]:
        print(f"{part:11} {statistics.median(run.get(part, 0.0) for run in runs):5.1f} %")


if __name__ == "__main__":
    main()
