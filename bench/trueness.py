"""How true the figures are: loops of known cost, and four libraries beside ordinary programs that make the same calls.

    .venv/bin/python bench/trueness.py [--processes 24] [--grain 64] [--only LIBRARY]

The chains (imul 3, imul + add 4, crc32 3, aesenc 4 on Zen and 3 on recent Intel, empty call 0 cycles) go through
the whole pipeline. The ordinary programs (bench/ordinary.cpp) share no code with Perbyte; the system places each of
their processes, so that a distribution stands beside a figure: the midmean of the processes with its interval. Half of
them call libraries through the linkage table, half without it, and the heap of each holds something else before. Their
buffers begin on whole lines, as Perbyte's do, or on any `--grain` bytes. They do not look for neighbours: believe them
on a quiet host only. Prints before and after for how much of the time the cores' siblings were active. Takes some four
minutes.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from neighbours import say_siblings

from perbyte.stats.estimate import midmean, midmean_half_width

HERE = Path(__file__).parent
SIZES = (16, 256, 8192)
ROWS = {
    "ctr": "aes-128-ctr/encrypt",
    "gcm": "aes-128-gcm/seal",
    "sha256": "sha-256/digest",
    "hmac": "hmac-sha-256/mac",
}
# programs call libraries in one of these ways; what short calls cost hangs on it by 1 to 2 %
CALLERS = ((), ("-fno-plt",))
KNOWN = {"probe-imul": 3.0, "probe-imul-add": 4.0, "probe-crc32": 3.0}


def measure(*selectors: str) -> list[dict[str, object]]:
    with tempfile.TemporaryDirectory() as temporary:
        command = [sys.executable, "-m", "perbyte.cli", "measure", *selectors, "--json", "--quiet"]
        done = subprocess.run(
            [*command, "--budget", "30s", "--out", str(Path(temporary) / "run")],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        sys.exit(f"perbyte measure ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)["cells"]


def chains() -> None:
    print("loops of known cost, cycles per instruction (empty: per call)")
    for cell in measure("reference/probe-*/run@1024"):
        name = cell["algorithm"]
        value = cell["cycles_per_call" if name == "probe-empty" else "cycles_per_byte"]
        goal = KNOWN.get(name)
        remark = f"goal {goal:.2f}, off by {100 * (value / goal - 1):+.3f} %" if goal else ""
        print(f"  {name:16} {value:8.4f}  {remark}")


def cells_at_hand() -> list[tuple[str, str, int, str]]:
    """Library, what the ordinary program calls it, size, and Perbyte's selector."""
    cells = [
        (library, what, size, f"{library}/{row}@{size}")
        for library in ("openssl", "libgcrypt", "nettle", "cryptopp")
        for what, row in ROWS.items()
        for size in SIZES
    ]
    return [*cells, ("openssl", "ed25519", 64, "openssl/ed25519/sign@64")]


def build(program: Path, flags: tuple[str, ...]) -> str:
    libraries = ["-lcrypto", "-lgcrypt", "-lnettle", "-lcryptopp"]
    source = str(HERE / "ordinary.cpp")
    subprocess.run(["c++", "-O2", *flags, "-o", str(program), source, *libraries], check=True)
    return str(program)


def ordinary(processes: int, grain: int, only: str) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        programs = [build(Path(temporary) / f"ordinary-{n}", flags) for n, flags in enumerate(CALLERS)]
        cells = [cell for cell in cells_at_hand() if only in cell[0]]
        measured = {
            (cell["runner"], cell["algorithm"], cell["size_bytes"]): cell
            for cell in measure(*(selector for *_, selector in cells))
        }
        core = str(max(os.sched_getaffinity(0)))
        print(f"\nbeside ordinary programs, {processes} processes each, core cycles a call")
        off, unexplained = [], 0
        for library, what, size, selector in cells:
            asked = (library, what, str(size), core, str(grain))
            values = np.sort([float(run(programs[n % len(programs)], *asked)) for n in range(processes)])
            cell = measured.get((library, selector.split("/")[1].split("@")[0], size))
            if not cell or not cell["cycles_per_call"]:
                print(f"  {selector:36} not measured")
                continue
            middle, ours = midmean(values), cell["cycles_per_call"]
            theirs = 100 * midmean_half_width(values, 0.95) / middle
            apart = 100 * (ours / middle - 1)
            half = 50 * (cell["interval_high"] - cell["interval_low"]) / ours
            off.append(abs(apart))
            remark = "" if abs(apart) <= 1 else "  more than 1 %, within both intervals"
            if abs(apart) > max(1, math.hypot(half, theirs)):
                remark, unexplained = "  MORE THAN 1 %", unexplained + 1
            print(
                f"  {selector:36} {ours:10.1f} ±{half:.2f} %  ordinary {middle:10.1f} ±{theirs:.2f} % "
                f"({values[0]:.1f} to {values[-1]:.1f})  {apart:+.2f} %{remark}"
            )
        far = sum(value > 1 for value in off)
        print(
            f"{len(off)} cells: median {statistics.median(off):.2f} % apart, {far} more than 1 %, "
            f"{unexplained} of them beyond both intervals"
        )


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--processes", type=int, default=24)
    asked.add_argument("--grain", type=int, default=64)
    asked.add_argument("--only", default="", help="a library")
    options = asked.parse_args()
    say_siblings("before")
    chains()
    ordinary(options.processes, options.grain, options.only)
    say_siblings("after")
