"""What a policy is worth beside recorded neighbours: yield, error and coverage, offline.

    .venv/bin/python bench/policies.py [--traces DIR] [--only NAME ...] [--runs 10] [--policies GLOB ...] [--sizes 4]

Whole runs of the real measuring code on a virtual clock (bench/virtual.py) beside each neighbour that is recorded in
DIR (NAME-core0.csv.gz, NAME-core1.csv.gz, ...; bench/record_neighbour.py makes them). The scripted library's cells
vary as real ones do: each process, each burst and each sample differs a little, and some cells have two modes
a cycle apart. Their true cost is the median over all processes that there could be, so it is known how far
off a figure is and whether its interval holds it. Tune on some neighbours and report others.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from virtual import Virtually, measure_virtually

from perbyte import places
from perbyte.measure.stopping import EPOCH_STEP
from perbyte.model import Cell, Policy
from perbyte.model.figure import Quality
from perbyte.stats.interval import median_spread

TRACES = places.data_dir("runners").parent / "tests" / "measure" / "traces"
SIZES = (16, 256, 1024, 4096)
# algorithm, cycles per call and per byte, spread of processes (uniform, +-) and of bursts (standard deviation),
# slowdown beside a neighbour, mode (cycles more in so many processes of one)
LIBRARY = [
    ("aes-128-ecb", 64, 0.34, 0.0009, 0.0003, 1.7, (1.0, 0.3)),
    ("aes-128-cbc", 40, 2.2, 0.0009, 0.0002, 1.2, None),
    ("aes-128-ctr", 90, 0.4, 0.0017, 0.0005, 1.7, (1.0, 0.45)),
    ("camellia-128-ecb", 60, 19.0, 0.0052, 0.001, 1.5, None),
    ("camellia-256-ecb", 60, 25.0, 0.0035, 0.001, 1.5, None),
    ("aes-256-cbc", 45, 3.0, 0.0026, 0.0005, 1.3, None),
]
CLOCK = {"tick_hz": 2.6e9, "core_hz": 3.65e9, "tick_quantum": 26, "probe_cycles": 12000}
PROBES = {
    "reorder-buffer": {"contention_probe": "reorder-buffer", "contention_cycles": 900.0},
    "front-end": {"contention_cycles": 15000.0},
}


@dataclass(frozen=True)
class Choice:
    """A policy to be judged, with what is no part of the Policy of a run."""

    name: str
    policy: dict[str, Any] = field(default_factory=dict)
    cores: int = 2
    probe: str = "reorder-buffer"
    patience: int = 40_000
    moderated: bool = True  # False: intervals as they were before ADR 17
    step: int = EPOCH_STEP


def choices() -> list[Choice]:
    now = Choice("now")
    before = replace(now, name="intervals before", policy={"epochs": 3}, moderated=False, step=3)
    front = replace(before, name="before", cores=1, probe="front-end", patience=120)
    return [
        replace(front, policy={"epochs": 3, "sample_us": 50.0}),
        replace(front, name="front-end probe, 2 cores", cores=2),
        before,
        now,
        replace(now, name="own spread only", moderated=False),
        replace(now, name="1 core", cores=1),
        *(replace(now, name=f"{us} us", policy={"sample_us": float(us)}) for us in (12, 50, 100)),
        *(replace(now, name=f"bursts of {n}", policy={"burst_samples": n}) for n in (4, 16)),
        *(
            replace(now, name=f"{n} rounds", policy={"looks": looks})
            for n, looks in (("4", (4,)), ("4, 8", (4, 8)), ("8, 16", (8, 16)))
        ),
        *(replace(now, name=f"patience {n}", patience=n) for n in (400, 4000)),
        *(replace(now, name=f"at least {n} epochs", policy={"epochs": n}) for n in (3, 4, 6)),
        *(replace(now, name=f"a look every {n} epochs", step=n) for n in (1, 3)),
    ]


@contextlib.contextmanager
def in_force(choice: Choice) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        enter = stack.enter_context
        enter(mock.patch.dict("perbyte.measure.rounds.PATIENCE", {choice.probe: choice.patience}))
        enter(mock.patch("perbyte.measure.stopping.EPOCH_STEP", choice.step))
        if not choice.moderated:
            enter(mock.patch("perbyte.measure.stopping.common_spread", return_value=None))
            enter(mock.patch("perbyte.stats.run_figures.common_spread", return_value=None))
            enter(mock.patch("perbyte.stats.interval.layout_spread", median_spread))
        yield


def script(traces: list[Path], probe: str, seed: int) -> dict[str, Any]:
    rows = [
        {
            "algorithm": algorithm,
            "operation": "encrypt",
            "contract": "message/1",
            "per_call": per_call,
            "per_byte": per_byte,
            "layout": layout_spread,
            "burst_spread": burst_spread,
            "slowed": slowed,
            **({"modes": {"cycles": modes[0], "share": modes[1]}} if modes else {}),
        }
        for algorithm, per_call, per_byte, layout_spread, burst_spread, slowed, modes in LIBRARY
    ]
    draw = np.random.default_rng(seed)
    return {
        "name": "alpha",
        "seed": seed,
        "clock": {**CLOCK, **PROBES[probe]},
        "noise": {"sample": 0.0007, "probe": 0.0003},
        "neighbour": {
            "cores": [str(path) for path in traces],
            "offset_s": float(draw.uniform(0, 100)),
            "cold": {"relative": 0.02, "us": 100},
        },
        "operations": rows,
    }


def truth(cell: Cell) -> float:
    """Cycles per call, the median over processes; the mixture is drawn, which is exact to 1e-5."""
    row = next(row for row in LIBRARY if row[0] == cell.algorithm)
    base, draw = row[1] + row[2] * cell.size_bytes, np.random.default_rng(1)
    costs = base * (1 + row[3] * draw.uniform(-1, 1, 200_001))
    if row[6]:
        costs += row[6][0] * (draw.random(len(costs)) < row[6][1])
    return float(np.median(costs))


def neighbours(directory: Path) -> dict[str, list[Path]]:
    groups = defaultdict(list)
    for path in sorted(directory.glob("*-core*.csv*")):
        groups[re.sub(r"-core\d+\.csv(\.gz)?$", "", path.name)].append(path)
    return dict(groups)


@dataclass
class Score:
    """What came of all runs of one policy beside one neighbour."""

    seconds: list[float] = field(default_factory=list)
    clean: int = 0
    samples: int = 0
    errors: list[float] = field(default_factory=list)
    held: dict[int, list[bool]] = field(default_factory=lambda: defaultdict(list))
    precise: list[bool] = field(default_factory=list)
    epochs: list[int] = field(default_factory=list)

    def add(self, run: Virtually, truths: dict[Cell, float], precision: float) -> None:
        self.seconds.append(run.seconds)
        for figure in run.outcome.cells:
            true = truths[figure.cell]
            self.samples += figure.samples
            self.clean += figure.clean_samples
            self.errors.append(abs(figure.per_call / true - 1))
            self.held[figure.epochs].append(figure.interval.low <= true <= figure.interval.high)
            self.precise.append(
                figure.relative_half_width <= precision and figure.quality is not Quality.NOISY
            )
            self.epochs.append(figure.epochs)

    def line(self) -> str:
        held = [item for some in self.held.values() for item in some]
        error = np.quantile(self.errors, [0.5, 0.9, 1.0]) * 100
        return (
            f"{np.mean(self.seconds):6.1f} {self.clean / sum(self.seconds):6.0f} {100 * self.clean / self.samples:4.0f}"
            f" {error[0]:7.3f} {error[1]:6.3f} {error[2]:6.2f} {100 * np.mean(self.precise):6.0f}"
            f" {np.mean(self.epochs):6.1f} {100 * np.mean(held):6.1f}   {self.looks()}"
        )

    def looks(self) -> str:
        """Coverage of the figures that ended with so many epochs: a few looks together where few ended there."""
        parts, epochs, some = [], [], []
        for number in sorted(self.held):
            epochs.append(number)
            some += self.held[number]
            if len(some) >= max(40, len(self.errors) / 20) or number == max(self.held):
                name = str(epochs[0]) if len(epochs) == 1 else f"{epochs[0]}-{epochs[-1]}"
                parts.append(f"{name}: {100 * np.mean(some):.0f} of {len(some)}")
                epochs, some = [], []
        return ", ".join(parts)


def score(
    choice: Choice, traces: list[Path], runs: int, seed: int, sizes: tuple[int, ...] = SIZES, **limits: Any
) -> Score:
    total_score, truths = Score(), {}
    policy = Policy(**{**limits, **choice.policy})
    lengths = ",".join(map(str, sizes))
    for number in range(runs):
        with in_force(choice):
            run = measure_virtually(
                script(traces, choice.probe, 1000 * seed + number),
                replace(policy, seed=number),
                ask=f"*/*@{lengths}+contract=*",
                cores=tuple(range(min(choice.cores, len(traces)))),
            )
        truths = truths or {cell: truth(cell) for cell in run.history.bursts}
        total_score.add(run, truths, policy.precision)
    return total_score


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--traces", type=Path, default=TRACES)
    parser.add_argument("--only", nargs="*", default=["*"], help="names of neighbours, or globs")
    parser.add_argument("--policies", nargs="*", default=["*"], help="names of policies, or globs")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e6, help="budget of a run (virtual; none)")
    parser.add_argument("--max-epochs", type=int, default=24)
    parser.add_argument("--sizes", type=int, help="so many lengths from 16 bytes to 8 KiB (default: four)")
    given = parser.parse_args()
    sizes = tuple(16 * round(x) for x in np.linspace(1, 512, given.sizes)) if given.sizes else SIZES
    limits = {"budget_s": given.seconds, "max_epochs": given.max_epochs}
    beside = {
        name: traces
        for name, traces in neighbours(given.traces).items()
        if any(fnmatch.fnmatch(name, glob) for glob in given.only)
    }
    if not beside:
        sys.exit(f"{given.traces} has no recorded neighbour of such a name (NAME-core0.csv.gz)")
    print(
        f"{len(LIBRARY) * len(sizes)} cells, {given.runs} runs each; errors and shares in %, time in s a run"
    )
    for name, traces in beside.items():
        print(f"\n{name:26} time clean/s  %  error: median  90th  worst  precise epochs  held   by epochs")
        for choice in choices():
            if any(fnmatch.fnmatch(choice.name, glob) for glob in given.policies):
                line = score(choice, traces, given.runs, given.seed, sizes, **limits).line()
                print(f"{choice.name:24} {line}", flush=True)


if __name__ == "__main__":
    main()
