"""How long stored runs take to show: each view as a process of its own, with its memory and how it grows with cells.

    python bench/views.py
    python bench/views.py --cells 251 5000 --times 3

The runs are made up: cells of several libraries at eight sizes, five epochs of four bursts of ten samples each, as the
store writes them.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from atlas import most_memory
from perbyte.model import Burst, Calibration, Cell, Conditions, Machine, Policy, RunnerIdentity
from perbyte.store import RunWriter, stored_run
from perbyte.store.reader import figures_of_stored

ALGORITHMS = ("aes-128-ctr", "aes-256-ctr", "chacha20", "sha-256", "sha-512", "sha3-256", "sha-1")
EPOCHS, BURSTS, SAMPLES = 5, 4, 10
NUMBERS: dict[str, Any] = {"tick_hz": 2.6e9, "tick_quantum": 1, "probe_cycles": 6000.0, "fixed_ticks": 80.0}


def cells(count: int) -> list[Cell]:
    """So many cells, of as few libraries as have them with eight sizes."""
    runners = 1 + count // (8 * len(ALGORITHMS))
    made = (
        Cell(f"lib{runner}", name, "digest" if name[0] == "s" else "encrypt", 16 << (2 * size), "message/1")
        for runner, name, size in itertools.product(range(runners), ALGORITHMS, range(8))
    )
    return list(itertools.islice(made, count))


def burst(cell: Cell, number: int, epoch: int, turn: int, draw: np.random.Generator) -> Burst:
    """A burst on a quiet core."""
    probe = (4000 + draw.integers(0, 8, SAMPLES)).tolist()
    start = 10**12 * epoch + 10**7 * number + 10**6 * turn + 40_000 * np.arange(SAMPLES)
    ticks = 20_000 + 11 * number + draw.integers(0, 40, SAMPLES)
    none, quiet, core = [0] * SAMPLES, [1800] * SAMPLES, [1] * SAMPLES
    taken = [start.tolist(), ticks.tolist(), probe, probe, quiet, quiet, none, []]
    return Burst(cell, epoch, turn, 50, *taken, core=core)


def make_run(place: Path, count: int) -> None:
    """Write a run of `count` cells with its figures."""
    draw, taken = np.random.default_rng(count), cells(count)
    runners = sorted({cell.runner for cell in taken})
    library = ("1.0", "Apache-2.0", "cc", "-O2", "", "", "", "c/1")
    conditions = Conditions(
        run_id=place.name,
        perbyte_version="0.1.0",
        catalogue_version="",
        protocol_version=1,
        started_at="2026-01-01T00:00:00+00:00",
        command=("measure",),
        machine=Machine("made up"),
        policy=Policy(audit=False),
        plan=tuple(cell.address for cell in taken),
        identities=tuple(RunnerIdentity(name, "full", name.title(), *library) for name in runners),
    )
    with RunWriter.create(place) as writer:
        writer.begin(conditions)
        for epoch in range(EPOCHS):
            for name in runners:
                clock = Calibration(
                    name, "full", 0, epoch, "probe", "", contention_floor=1800.0, selfcheck={}, **NUMBERS
                )
                writer.calibrated(clock)
            for number, cell in enumerate(taken):
                for turn in range(BURSTS):
                    writer.measured(burst(cell, number, epoch, turn, draw))
            writer.epoch_done(epoch)
        made = figures_of_stored(stored_run(place))
        writer.finish(made.cells, made.noise_floor, 40.0, True, made.failures)


def measured(words: list[str], times: int) -> tuple[float, int]:
    """The median time of a command in seconds, and the most memory that it had in MB."""
    took, memory = [], 0
    for _ in range(times):
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "perbyte", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        assert process.stderr
        while process.poll() is None:  # what wait4 says of memory is never less than this process has
            memory = max(memory, most_memory(process.pid) >> 10)
            time.sleep(0.01)
        took.append(time.perf_counter() - began)
        if process.returncode:
            complaints = process.stderr.read().decode()
            sys.exit(f"perbyte {' '.join(words)} ended with {process.returncode}: {complaints}")
    return statistics.median(took), memory


def main() -> None:
    """Make the runs and print a line for each view."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cells", type=int, nargs="+", default=[251, 5000])
    parser.add_argument("--times", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        page = str(Path(directory) / "page.html")
        print(f"{'cells':>6} {'view':14} {'s':>6} {'MB':>5} {'s per 1,000 cells':>18}")
        for count in arguments.cells:
            first, second = (str(Path(directory) / f"{name}{count}") for name in "ab")
            for place in (first, second):
                make_run(Path(place), count)
            weight = sum(file.stat().st_size for file in Path(first).iterdir()) / 1e6
            print(f"{count:6} {count * EPOCHS * BURSTS * SAMPLES:,} samples in {weight:.1f} MB", flush=True)
            for view, words in {
                "show": ["show", first],
                "show --json": ["show", first, "--json"],
                "show --anew": ["show", first, "--anew"],
                "compare": ["compare", first, second],
                "query": ["query", "SELECT count(*) FROM cells", first],
                "verify": ["verify", first],
                "report": ["report", first, "-o", page],
            }.items():
                took, memory = measured(words, arguments.times)
                print(f"{count:6} {view:14} {took:6.2f} {memory:5} {1000 * took / count:18.3f}", flush=True)


if __name__ == "__main__":
    main()
