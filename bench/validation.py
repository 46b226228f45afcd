"""The study of docs/validation: what the figures are worth, from stored samples and a minute of measuring.

    .venv/bin/python bench/validation.py stored RUN...     runs of the same cells on one machine, four or more
    .venv/bin/python bench/validation.py agreement         ten cells beside `openssl speed`, some 40 s

`stored` judges the samples of the runs again: how often a difference is claimed where there is none (two halves of the
epochs of one run; two runs), how many intervals hold the median of the other runs, what it costs to judge without the
probes, and which estimator follows the neighbours. Cells count whose runners loaded the same objects (SHA-256) in all
runs. `agreement` gives bias and limits of agreement after Bland and Altman (Lancet 1986, 327: 307-310), on logarithms.
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
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from false_claims import Tally, same_code, stored
from neighbours import say_siblings

from perbyte.model import Burst, Calibration, Cell, CellFigure, Run
from perbyte.stats.clean import judge_samples
from perbyte.stats.estimate import midmean
from perbyte.stats.run_figures import make_run_figures
from perbyte.store import bursts, open_run

FEWEST = 5  # clean samples of a cell in an epoch, below which an estimator says nothing
SHORT = 8192  # bytes: of longer messages memory and neighbours decide
AGREEMENT = [
    *(("aes-128-cbc", "aes-128-cbc", "encrypt", size) for size in (64, 1024, 8192)),
    *(("aes-256-ctr", "aes-256-ctr", "encrypt", size) for size in (64, 1024, 8192)),
    ("camellia-128-cbc", "camellia-128-cbc", "encrypt", 1024),
    *(("sha256", "sha-256", "digest", size) for size in (64, 8192)),
    ("sha3-256", "sha3-256", "digest", 8192),
]
Samples = Mapping[Cell, Sequence[Burst]]


def samples_of(path: Path) -> Samples:
    groups: dict[Cell, list[Burst]] = defaultdict(list)
    for burst in bursts(path):
        groups[burst.cell].append(burst)
    return groups


def figures(run: Run, taken: Samples, *, probes: bool = True) -> dict[Cell, CellFigure]:
    """What a run would say of these samples; `probes`: whether those that probes call disturbed are left out."""
    policy, calibrations = replace(run.conditions.policy, audit=False), run.calibrations
    if not probes:
        policy = replace(policy, clock_tolerance=1e6)
        calibrations = tuple(
            replace(calibration, contention_floor=0.0, contention_shared=0.0) for calibration in calibrations
        )
        taken = {
            cell: [replace(item, flags=[0] * len(item.flags)) for item in some]
            for cell, some in taken.items()
        }
    made = make_run_figures(
        taken,
        calibrations,
        policy,
        plan=[cell.address for cell in taken],
        identities=run.conditions.identities,
        failures=(),
        unproven=(),
    )
    return {each_cell.cell: each_cell for each_cell in made.cells}


def cost(figure: CellFigure) -> float:
    return figure.cycles_per_call or figure.ns_per_call


def halves(run: Run, taken: Samples) -> Iterable[tuple[CellFigure, CellFigure]]:
    """Figures of the even and of the odd epochs of a run."""
    parts = [
        figures(run, {cell: [b for b in some if b.epoch % 2 == odd] for cell, some in taken.items()})
        for odd in (0, 1)
    ]
    for cell, item in parts[0].items():
        if cell in parts[1]:
            yield item, parts[1][cell]


def percentiles(values: Sequence[float]) -> str:
    if not values:
        return "none"
    median, high, most = (100 * float(np.quantile(values, at)) for at in (0.5, 0.9, 1.0))
    return f"{median:.2f} % in the median, {high:.2f} % in the 90th percentile, {most:.1f} % at the most"


def others(every: Sequence[dict[Cell, CellFigure]], k: int, cell: Cell) -> float:
    """The median of what all other runs say of a cell; NaN of fewer than three."""
    known = [cost(item[cell]) for i, item in enumerate(every) if i != k and cell in item]
    return statistics.median(known) if len(known) >= 3 else math.nan


def say_false_alarms(paths: Sequence[Path], runs: Sequence[Run], taken: Sequence[Samples]) -> None:
    within = Tally()
    for run, some in zip(runs, taken, strict=True):
        for item, other in halves(run, some):
            within.add(item, other, run.noise_floor)
    between: dict[str, Tally] = {}
    for kind, item, other, floor in stored(paths):
        between.setdefault(kind, Tally()).add(item, other, floor)
    print("False alarms\n")
    for kind, tally in (("halves of one run", within), *between.items()):
        print(f"    {kind:32} {tally}")
        for _, text in sorted(tally.claims, reverse=True)[:3]:
            print(f"        {text}")


def say_coverage(every: Sequence[dict[Cell, CellFigure]]) -> None:
    held: Counter[bool] = Counter()
    for k, run in enumerate(every):
        for cell, figure in run.items():
            truth = others(every, k, cell)
            if truth > 0 and figure.interval.half_width < math.inf and figure.cycles_per_call:
                held[figure.interval.low <= truth <= figure.interval.high] += 1
    total = sum(held.values())
    print(f"\nCoverage: {held[True]} of {total} intervals hold the median of the other runs", end="")
    print(f" ({100 * held[True] / max(1, total):.1f} %)")


def say_probes(
    runs: Sequence[Run], taken: Sequence[Samples], every: Sequence[dict[Cell, CellFigure]]
) -> None:
    """How far from the median of the other runs each run is, with the probes and without: the same samples."""
    without = [figures(run, some, probes=False) for run, some in zip(runs, taken, strict=True)]
    print("\nThe same samples with probes and without, from the median of the other runs (with probes)\n")
    for title, judged in (("with", every), ("without", without)):
        off: list[float] = []
        signed: list[float] = []
        for k, run in enumerate(judged):
            for cell, figure in run.items():
                truth = others(every, k, cell)
                if truth > 0 and cell.size_bytes <= SHORT and figure.cycles_per_call:
                    off.append(abs(cost(figure) / truth - 1))
                    signed.append(cost(figure) / truth - 1)
        bias = 100 * statistics.median(signed) if signed else math.nan
        print(f"    {title:8} {len(off)} figures: {percentiles(off)}; {bias:+.3f} % in the median")


ESTIMATORS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "least of all samples": lambda values, clean: float(values.min()),
    "5th percentile of all": lambda values, clean: float(np.quantile(values, 0.05)),
    "lower quartile of all": lambda values, clean: float(np.quantile(values, 0.25)),
    "median of all": lambda values, clean: float(np.median(values)),
    "mean of all": lambda values, clean: float(values.mean()),
    "least of the clean": lambda values, clean: float(clean.min()),
    "median of the clean": lambda values, clean: float(np.median(clean)),
    "midmean of the clean": lambda values, clean: float(midmean(clean)),
    "mean of the clean": lambda values, clean: float(clean.mean()),
}


def estimates(run: Run, taken: Samples) -> dict[Cell, dict[str, float]]:
    """What each estimator says of a cell: the median over its epochs, in core cycles a call."""
    calibrations: dict[tuple[object, int], Calibration] = {
        (each_calibration.process, each_calibration.epoch): each_calibration
        for each_calibration in run.calibrations
    }
    table = {}
    for cell, some in taken.items():
        per_epoch: dict[str, list[float]] = defaultdict(list)
        for epoch, group in itertools.groupby(sorted(some, key=lambda b: b.epoch), lambda b: b.epoch):
            calibration = calibrations.get((cell.process, epoch))
            if calibration is None or calibration.cycle_source == "none" or cell.size_bytes > SHORT:
                continue
            judged = judge_samples(list(group), calibration, run.conditions.policy)
            values, clean = judged.values[np.isfinite(judged.values)], judged.values[judged.clean]
            if len(clean) >= FEWEST:
                for name, estimate in ESTIMATORS.items():
                    per_epoch[name].append(estimate(values, clean))
        if per_epoch:
            table[cell] = {name: statistics.median(each) for name, each in per_epoch.items()}
    return table


def say_estimators(runs: Sequence[Run], taken: Sequence[Samples]) -> None:
    """How each estimator moves from the run with most clean samples to that with fewest."""
    shares = []
    for run, some in zip(runs, taken, strict=True):
        known = {
            (each_calibration.process, each_calibration.epoch): each_calibration
            for each_calibration in run.calibrations
        }
        clean = total = 0
        for cell, each in list(some.items())[:40]:
            for epoch, group in itertools.groupby(sorted(each, key=lambda b: b.epoch), lambda b: b.epoch):
                if (calibration := known.get((cell.process, epoch))) is not None:
                    mask = judge_samples(list(group), calibration, run.conditions.policy).clean
                    clean, total = clean + int(mask.sum()), total + len(mask)
        shares.append(clean / max(1, total))
    order = sorted(range(len(runs)), key=lambda k: -shares[k])
    quiet, busy = (estimates(runs[k], taken[k]) for k in (order[0], order[-1]))
    both = [cell for cell in quiet if cell in busy]
    print(
        f"\nEstimators, from the quietest run ({100 * shares[order[0]]:.0f} % of the samples clean) to the",
        end="",
    )
    print(f" busiest ({100 * shares[order[-1]]:.0f} %), {len(both)} cells up to 8 KiB\n")
    for name in ESTIMATORS:
        moved = [busy[cell][name] / quiet[cell][name] - 1 for cell in both]
        beside = [quiet[cell][name] / quiet[cell]["midmean of the clean"] - 1 for cell in both]
        print(
            f"    {name:24} {100 * statistics.median(moved):+7.2f} % in the median, "
            f"{percentiles([abs(item) for item in moved])}; beside the midmean "
            f"{100 * statistics.median(beside):+.2f} %"
        )


def say_stored(paths: Sequence[Path]) -> None:
    runs = [run for run in map(open_run, paths) if run.conditions.origin == "measured"]
    models = Counter(run.conditions.machine.cpu_model for run in runs)
    runs = [run for run in runs if run.conditions.machine.cpu_model == models.most_common(1)[0][0]]
    like = frozenset.intersection(*(same_code(runs[0], run) for run in runs))
    taken = [
        {cell: some for cell, some in samples_of(run.path).items() if f"{cell.runner}+{cell.cpu}" in like}
        for run in runs
        if run.path
    ]
    print(
        f"{len(runs)} runs on {models.most_common(1)[0][0]}, the same code of {len(like)} runners and tiers\n"
    )
    say_false_alarms([run.path for run in runs if run.path], runs, taken)
    every = [figures(run, some) for run, some in zip(runs, taken, strict=True)]
    say_coverage(every)
    say_probes(runs, taken, every)
    say_estimators(runs, taken)


def speed_ns(name: str, size: int) -> float:
    """Nanoseconds a call by `openssl speed`, of CPU time as it measures it."""
    command = ["openssl", "speed", "-mr", "-seconds", "1", "-bytes", str(size), "-evp", name]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    value = re.search(r"^\+F:\d+:[^:]+:([\d.]+)", text, re.MULTILINE)
    return size / float(value[1]) * 1e9 if value else math.nan


def say_agreement(budget: str) -> None:
    say_siblings("before")
    contract = {"encrypt": "stream/1", "digest": "oneshot/1"}
    asked = [f"openssl/{a}/{op}@{size}+contract={contract[op]}" for _, a, op, size in AGREEMENT]
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-m", "perbyte.cli", "measure", *asked, "--json", "-q", "--budget", budget]
        done = subprocess.run(
            [*command, "--out", f"{place}/run"], capture_output=True, text=True, check=False
        )
        if not done.stdout:
            sys.exit(done.stderr)
        ours = {cell["address"]: cell["ns_per_call"] for cell in json.loads(done.stdout)["cells"]}
    logs, means = [], []
    for (name, _, _, size), address in zip(AGREEMENT, asked, strict=True):
        theirs, own = speed_ns(name, size), ours.get(address, math.nan)
        print(f"    {address:52} {own:10.1f} ns  openssl speed {theirs:10.1f} ns  {theirs / own:.4f}")
        logs.append(math.log(theirs / own))
        means.append(math.log(theirs * own) / 2)
    say_siblings("after")
    bias, spread = statistics.mean(logs), 1.96 * statistics.stdev(logs)
    slope = statistics.correlation(means, logs)
    print(
        f"\n{len(logs)} cells: openssl speed says {100 * math.expm1(bias):+.2f} % on average, limits of agreement"
    )
    print(f"{100 * math.expm1(bias - spread):+.2f} % to {100 * math.expm1(bias + spread):+.2f} %;", end=" ")
    print(f"correlation of the difference with the length of a call {slope:+.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("stored", "agreement"))
    parser.add_argument("runs", nargs="*", type=Path)
    parser.add_argument("--budget", default="20s", help="of the run beside openssl speed")
    given = parser.parse_args()
    if given.what == "agreement":
        say_agreement(given.budget)
    elif len(given.runs) < 4:
        parser.error("four runs or more")
    else:
        say_stored(given.runs)


if __name__ == "__main__":
    main()
