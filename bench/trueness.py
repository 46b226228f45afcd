"""How true the figures are: loops of known cost, and four libraries beside ordinary programs that make the same calls.

    .venv/bin/python bench/trueness.py

The chains (imul 3, imul + add 4, crc32 3, aesenc 4 on Zen and 3 on recent Intel, empty call 0 cycles) go through
the whole pipeline. The ordinary programs (bench/ordinary.cpp) share no code with Perbyte; the system places each of
their processes, so that a distribution stands beside a figure. They do not look for neighbours: believe them on a quiet
host only. Prints before and after for how much of the time the cores' siblings were active. Takes some two minutes.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from neighbours import say_siblings

HERE = Path(__file__).parent
PROCESSES = 12
SIZES = (16, 256, 8192)
ROWS = {
    "ctr": "aes-128-ctr/encrypt",
    "gcm": "aes-128-gcm/seal",
    "sha256": "sha-256/digest",
    "hmac": "hmac-sha-256/mac",
}
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


def ordinary() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        program = str(Path(temporary) / "ordinary")
        source = str(HERE / "ordinary.cpp")
        libraries = ["-lcrypto", "-lgcrypt", "-lnettle", "-lcryptopp"]
        subprocess.run(["c++", "-O2", "-o", program, source, *libraries], check=True)
        cells = cells_at_hand()
        measured = {
            (cell["runner"], cell["algorithm"], cell["size_bytes"]): cell
            for cell in measure(*(selector for *_, selector in cells))
        }
        core = str(max(os.sched_getaffinity(0)))
        print(f"\nbeside ordinary programs, {PROCESSES} processes each, core cycles a call")
        off = []
        for library, what, size, selector in cells:
            values = sorted(float(run(program, library, what, str(size), core)) for _ in range(PROCESSES))
            cell = measured.get((library, selector.split("/")[1].split("@")[0], size))
            if not cell or not cell["cycles_per_call"]:
                print(f"  {selector:36} not measured")
                continue
            middle, ours = statistics.median(values), cell["cycles_per_call"]
            apart = 100 * (ours / middle - 1)
            half = 50 * (cell["interval_high"] - cell["interval_low"]) / ours
            off.append(abs(apart))
            remark = "" if abs(apart) <= 1 else "  MORE THAN 1 %"
            print(
                f"  {selector:36} {ours:10.1f} ±{half:.2f} %  ordinary {middle:10.1f} "
                f"({values[0]:.1f} to {values[-1]:.1f})  {apart:+.2f} %{remark}"
            )
        far = sum(value > 1 for value in off)
        print(f"{len(off)} cells: median {statistics.median(off):.2f} % apart, {far} more than 1 %")


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    say_siblings("before")
    chains()
    ordinary()
    say_siblings("after")
