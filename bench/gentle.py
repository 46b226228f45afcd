"""What does `--gentle` cost in precision, and what does a run leave to others? Takes some five minutes.

    .venv/bin/python bench/gentle.py
    .venv/bin/python bench/gentle.py --rounds 4 --budget 30s

Measures the same 27 cells with and without `--gentle`, in turn, alone and beside `perbyte build` of all default runners
into a directory of its own, which is begun anew as long as the run goes on. Prints a line per run: cells within the
precision that was asked for, median half-width of the intervals, clean samples, seconds, what the run took of the
machine's CPU time. The load beforehand tells who else was at work.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

CELLS = (
    "{openssl,libgcrypt,nettle}/{aes-128-ctr,sha-256,chacha20-poly1305}/{encrypt,seal,digest}@64,1KiB,8KiB"
)
COMMAND = (sys.executable, "-m", "perbyte.cli")


def build_again(home: Path, over: threading.Event) -> None:
    """Build from nothing again and again, in sessions of their own as another user's shell would."""
    while not over.is_set():
        shutil.rmtree(home, ignore_errors=True)
        words = [*COMMAND, "build"]
        process = subprocess.Popen(
            words,
            env=os.environ | {"PERBYTE_HOME": str(home)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        while process.poll() is None and not over.wait(0.2):
            pass
        if process.poll() is None:
            os.killpg(process.pid, 15)
            process.wait()


def measure(place: Path, budget: str, *, gentle: bool, beside: bool) -> str:
    over = threading.Event()
    builder = threading.Thread(target=build_again, args=(place / "home", over))
    load, began = os.getloadavg()[0], time.monotonic()
    if beside:
        builder.start()
        time.sleep(1.0)
    words = [*COMMAND, "measure", CELLS, "--budget", budget, "--json", "--quiet", "--out", str(place / "run")]
    output = place / "said.json"
    with output.open("w", encoding="utf-8") as file:
        process = subprocess.Popen([*words, *["--gentle"] * gentle], stdout=file, start_new_session=True)
        _, _, used = os.wait4(process.pid, 0)
    took = time.monotonic() - began - beside
    if beside:
        over.set()
        builder.join()
    cells = [
        cell for cell in json.loads(output.read_text(encoding="utf-8"))["cells"] if cell["cycles_per_call"]
    ]
    halves = [(cell["interval_high"] - cell["interval_low"]) / 2 / cell["cycles_per_call"] for cell in cells]
    clean, taken = (sum(cell[name] for cell in cells) for name in ("clean_samples", "samples"))
    share = (used.ru_utime + used.ru_stime) / took / (os.cpu_count() or 1)
    good, middle = sum(cell["quality"] == "good" for cell in cells), statistics.median(halves)
    return (
        f"{'gentle' if gentle else 'usual':7} {'beside a build' if beside else 'alone':15}"
        f"{good:3} of {len(cells)} good, median ±{middle:.3%}, "
        f"clean {clean / taken:.0%}, {took:.0f} s, {share:.0%} of the machine (load before {load:.1f})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--budget", default="20s")
    asked = parser.parse_args()
    for _ in range(asked.rounds):
        for beside in (False, True):
            for gentle in (False, True):
                with tempfile.TemporaryDirectory() as temporary:
                    print(measure(Path(temporary), asked.budget, gentle=gentle, beside=beside), flush=True)


if __name__ == "__main__":
    main()
