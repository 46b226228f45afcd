"""How many honest cells the audit refuses or marks on this machine: many cells of the built runners, in short runs.

    .venv/bin/python bench/honest_cells.py [RUNNER ...] [--cells 1000] [--at-once 60] [--core N] [--traffic CORE]
        [--kept FILE --seconds 200]

Cells of symmetric algorithms are drawn at random from what the runners (default: all that are built) offer, at sizes
from 16 B to 16 MB, and measured in runs of `--at-once` cells of one runner, five epochs each with few samples: enough
for the audit, not for figures. `--traffic CORE` moves memory on that core meanwhile. With `--kept` a series is made in
pieces: no run begins after `--seconds`, and the next call with the same file goes on. Prints what was refused and
marked with the reasons, counts, and the upper bound of the rate of refusals at 95 %.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from honest import upper_bound

from perbyte import places
from perbyte.app.conducting import conduct_plan
from perbyte.catalogue import load
from perbyte.errors import PerbyteError
from perbyte.measure import Plan, survey
from perbyte.model import Cell, Doubt, Policy
from perbyte.runners import RunnerSpec, find, locate
from perbyte.store import stored_run

SIZES = (16, 64, 256, 512, 1350, 4096, 8192, 65536, 1 << 20, 4 << 20, 10_000_000, 16_000_000)
OPERATIONS = ("encrypt", "decrypt", "seal", "open", "digest", "mac", "squeeze", "expand")
TRAFFIC_BYTES = 64 << 20


def traffic(core: int) -> None:
    """Move memory on a core until the process is ended."""
    import numpy as np

    os.sched_setaffinity(0, {core})
    item, other = (np.ones(TRAFFIC_BYTES, np.uint8) for _ in range(2))
    while True:
        np.copyto(item, other)


def draw_cells(runner: RunnerSpec, count: int, draw: random.Random) -> tuple[Plan, object]:
    """Cells of a runner, of any size; its survey."""
    surveyed, known = survey([runner], ["full"]), load().algorithms
    rows = [
        row
        for row in surveyed.operations(runner.name, "full")
        if row.operation in OPERATIONS and row.algorithm in known
    ]
    cells: set[Cell] = set()
    for _ in range(20 * count):
        if len(cells) >= count or not rows:
            break
        row, size = draw.choice(rows), draw.choice(SIZES)
        multiple = known[row.algorithm].data_multiple_bytes
        size = -(-size // multiple) * multiple
        if row.operation == "expand" and size > 8192:
            continue
        cells.add(Cell(runner.name, row.algorithm, row.operation, size, row.contract))
    return Plan(tuple(sorted(cells))), surveyed


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runners", nargs="*")
    parser.add_argument("--cells", type=int, default=1000)
    parser.add_argument("--at-once", type=int, default=60)
    parser.add_argument("--core", type=int, default=-1)
    parser.add_argument("--traffic", type=int, default=-1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    given = parser.parse_args()
    until = time.monotonic() + given.seconds
    draw, total, why = random.Random(given.seed), Counter[str](), Counter[str]()
    specs = [find(name) for name in given.runners] or [
        spec for spec in locate([places.data_dir("runners")]) if spec.name not in ("fake", "reference")
    ]
    beside = None
    if given.traffic >= 0:
        beside = multiprocessing.Process(target=traffic, args=(given.traffic,), daemon=True)
        beside.start()
    if given.kept and given.kept.exists():
        seen = json.loads(given.kept.read_text(encoding="utf-8"))
        total.update(seen["total"])
        why.update(seen["why"])
        draw.seed(f"{given.seed} {total['asked']}")
    absent: set[str] = set()
    while total["asked"] < given.cells and len(absent) < len(specs) and time.monotonic() < until:
        spec = draw.choice([each_spec for each_spec in specs if each_spec.name not in absent])
        try:
            plan, result = draw_cells(spec, given.at_once, draw)
        except PerbyteError as error:
            print(f"{spec.name}: {error}", file=sys.stderr)
            absent.add(spec.name)
            continue
        if not plan.cells:
            absent.add(spec.name)
            continue
        policy = Policy(
            precision=0.5,
            budget_s=5.0,
            epochs=5,
            max_epochs=5,
            looks=(1,),
            burst_samples=8,
            warm_us=200.0,
            seed=draw.randrange(1 << 30),
            cores=(given.core,) if given.core >= 0 else (),
        )
        total["asked"] += len(plan.cells)
        accused = False
        with tempfile.TemporaryDirectory() as directory:
            done = conduct_plan(plan, result, policy, out=Path(directory) / "run")
            looks = stored_run(done.path).audits
            total["looks"] += sum(len(look.claimed_ns) for look in looks if look.cell in plan.cells)
            total["seconds"] += round(done.run.measuring_s)
            total["looked at"] += len(
                {look.cell for look in looks if look.claimed_ns and look.cell in plan.cells}
            )
            for failure in done.run.failures:
                total["refused" if failure.kind == "audit" else f"failed: {failure.kind}"] += 1
                if failure.kind in ("audit", "incorrect", "disputed"):
                    print(f"{failure.kind.upper()} {failure.address}: {failure.message}", flush=True)
                    accused = True
            if accused:  # a second run of the same cells may show nothing
                kept = shutil.copytree(done.path, Path(tempfile.mkdtemp(prefix="honest-cells-")) / "run")
                print(f"kept: perbyte show {kept} --audit marked", flush=True)
            for figure in done.run.cells:
                kinds = {warning.kind for warning in figure.warnings}
                total["figures"] += 1
                total["marked ?"] += bool(kinds & {Doubt.AUDIT, Doubt.THREADS})
                total["w"] += Doubt.UNCHAINED in kinds
                for warning in figure.warnings:
                    if warning.kind is Doubt.UNCHAINED:
                        total[f"w of {spec.name}"] += 1
                        reason = re.sub(r"[0-9][0-9.e+-]*", "#", warning.text.partition("(")[2])
                        why[reason.rstrip(")")] += 1
                        print(f"w {figure.cell.address}: {warning.text}", flush=True)
                    if warning.kind in (Doubt.AUDIT, Doubt.THREADS):
                        print(f"? {figure.cell.address}: {warning.text}", flush=True)
            total[f"figures of {spec.name}"] += len(done.run.cells)
        print("  ".join(f"{name} {count}" for name, count in sorted(total.items())), flush=True)
        if given.kept:
            given.kept.write_text(json.dumps({"total": total, "why": why}), encoding="utf-8")
    if beside:
        beside.terminate()
    for reason, count in why.most_common():
        print(f"w {count:>5}: {reason}")
    honest = total["figures"] + total["refused"]
    if honest:
        print(
            f"refused: {total['refused']} of {honest}, below {upper_bound(total['refused'], honest):.2g} at 95%"
        )


if __name__ == "__main__":
    main()
