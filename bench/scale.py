"""What grows worse than linear: one run of many cells, an atlas of many machines, a fleet of many workers with losses.

    .venv/bin/python bench/scale.py run [SIZE ...]      cells of one run        5,000 16,667 50,000
    .venv/bin/python bench/scale.py atlas [SIZE ...]    machines of an atlas    100 333 1,000
    .venv/bin/python bench/scale.py fleet [SIZE ...]    workers of a fleet      10 33 100

Prints a line for each step: seconds of CPU time and most memory at each size, and the exponent of the time between the
two largest (1 is linear); of a fleet also how long the job took. Nothing is measured: samples are made up. The workers
of a fleet share a few processes, and the command that measures is replaced by one that writes a made-up run; everything
between is real. One process after the other is killed and started again meanwhile, with all its workers.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

BENCH = Path(__file__).resolve().parent
SIZES = {"run": (5000, 16_667, 50_000), "atlas": (100, 333, 1000), "fleet": (10, 33, 100)}
EPOCHS, BURSTS = 3, 2  # of ten samples, of a cell of the large run
ATLAS_CELLS, ATLAS_SAMPLES = 100, 10
FLEET_CELLS, FLEET_S = 40, 2.0
WORKERS_A_PROCESS = 25
KILL_EVERY_S = 4.0
SAYS = "runs are back after"
WORSE = 1.15  # exponent from which on it is said

Line = tuple[float, float]
Lines = dict[str, dict[int, Line]]


def spent(words: Sequence[str]) -> Line:
    """The CPU time of a Python process and its children in seconds, its most memory in MB. Exits where it fails."""
    from atlas import most_memory

    memory = 0
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL, stderr=complaints)
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            memory = max(memory, most_memory(process.pid))
            time.sleep(0.01)
        process.returncode = os.waitstatus_to_exitcode(ended[1])
        complaints.seek(0)
        text = complaints.read().decode()
        if process.returncode:
            sys.exit(f"{' '.join(words)} ended with {process.returncode}: {text[-800:]}")
        if SAYS in text:
            print(text, end="", file=sys.stderr)
    return ended[2].ru_utime + ended[2].ru_stime, memory / 1024


def size_mb(place: Path) -> float:
    """The size of a file, or of all files of a directory, in MB."""
    files = [place] if place.is_file() else [file for file in place.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files) / 1e6


def of_runs(sizes: Sequence[int], place: Path) -> tuple[Lines, dict[int, float]]:
    """Writing and showing one run, by its cells; the size of its files in MB."""
    lines: Lines = {}
    weights = {}
    for size in sizes:
        run = str(place / f"run-{size}")
        steps = {
            "write it and make the figures": [str(Path(__file__)), "write", run, str(size)],
            "show": ["-m", "perbyte", "show", run],
            "show --json": ["-m", "perbyte", "show", run, "--json"],
            "query": ["-m", "perbyte", "query", "SELECT count(*) FROM cells", run],
            "verify (figures anew)": ["-m", "perbyte", "verify", run],
            "report": ["-m", "perbyte", "report", run, "-o", f"{run}.html"],
            "atlas add": ["-m", "perbyte", "atlas", "add", run, "--atlas", f"{run}-atlas"],
        }
        lines |= timed(lines, steps, size)
        weights[size] = size_mb(Path(run))
    return lines, weights


def timed(lines: Lines, steps: dict[str, list[str]], size: int) -> Lines:
    """`lines` with the steps at one size."""
    for name, words in steps.items():
        lines.setdefault(name, {})[size] = spent(words)
        seconds, memory = lines[name][size]
        print(f"  {size:,}: {name}: {seconds:.1f} s, {memory:.0f} MB", file=sys.stderr, flush=True)
    return lines


def write_run(place: Path, size: int) -> None:
    """Write a made-up run with its figures."""
    import views

    views.EPOCHS, views.BURSTS = EPOCHS, BURSTS
    views.make_run(place, size)


def of_atlases(sizes: Sequence[int], place: Path) -> tuple[Lines, dict[int, float]]:
    """Writing, packing, querying and showing an atlas, by its machines."""
    lines: Lines = {}
    weights = {}
    for size in sizes:
        url = str(place / f"atlas-{size}")
        at = ["--atlas", url]
        query = "SELECT machine, library, median(cycles_per_byte) FROM cells GROUP BY ALL ORDER BY ALL"
        steps = {
            "write": [str(Path(__file__)), "fill", url, str(size)],
            "pack": ["-m", "perbyte", "atlas", "pack", *at],
            "list": ["-m", "perbyte", "atlas", "list", *at],
            "query": ["-m", "perbyte", "atlas", "query", query, *at],
            "verify": ["-m", "perbyte", "atlas", "verify", *at],
            "refigure": ["-m", "perbyte", "atlas", "refigure", "--level", "0.9", *at],
            "page": ["-m", "perbyte", "report", *at, "-o", f"{url}.html"],
            "site": ["-m", "perbyte", "atlas", "site", f"{url}-site", *at],
        }
        lines |= timed(lines, steps, size)
        weights[size] = size_mb(Path(url))
        for name, file in {"page": Path(f"{url}.html"), "site": Path(f"{url}-site")}.items():
            print(f"  {size:,}: {name} of {size_mb(file):.1f} MB", file=sys.stderr)
    return lines, weights


def fill_atlas(url: str, size: int) -> None:
    """Write an atlas of made-up machines with a run each."""
    from atlas import generated
    from perbyte.atlas.adding import bring
    from perbyte.atlas.index import open_atlas

    bring(open_atlas(url, create=True).place, generated(size, ATLAS_CELLS, ATLAS_SAMPLES, size))


def of_fleets(sizes: Sequence[int], place: Path) -> tuple[Lines, dict[int, float]]:
    """A job on made-up machines, some of which die and come back, until every run is here and whole."""
    lines: Lines = {}
    weights = {}
    for size in sizes:
        home = place / f"fleet-{size}"
        words = [str(Path(__file__)), "conduct", str(home), str(size)]
        lines |= timed(lines, {"conduct a job with losses": words}, size)
        weights[size] = size_mb(home / "asker")
    return lines, weights


def conduct_fleet(home: Path, size: int) -> None:
    """Conduct a job on `size` workers, killing their processes in turn. Exits with 1 where a run is not back."""
    from perbyte.fleet.conduct import conduct, new_job
    from perbyte.fleet.secret import entry, make_secret

    home.mkdir(parents=True)
    secret = home / "secret.pem"
    make_secret(secret)
    write_run(home / "made", FLEET_CELLS)
    serving = _start(
        home, "fleet", "scheduler", "--host", "127.0.0.1", "--port", "0", "--secret", str(secret)
    )
    address = ""
    while not address:
        time.sleep(0.05)
        address = (
            (home / "scheduler.txt").read_text().partition("scheduler at ")[2].partition("\n")[0].strip()
        )
    names = [f"made-{number:03d}" for number in range(size)]
    groups = [names[first : first + WORKERS_A_PROCESS] for first in range(0, size, WORKERS_A_PROCESS)]
    workers = [_start_workers(home, address, group) for group in groups]
    over, killed = threading.Event(), 0

    def kill_in_turn() -> None:
        nonlocal killed
        while not over.wait(KILL_EVERY_S):
            turn = killed % len(groups)
            if killed >= 2 * len(groups):
                return
            workers[turn].kill()
            workers[turn].wait()
            killed += 1
            workers[turn] = _start_workers(home, address, groups[turn])

    os.environ["PERBYTE_HOME"] = str(home / "asker")
    job = new_job(["measure"])
    threading.Thread(target=kill_in_turn, daemon=True).start()
    began = time.perf_counter()
    try:
        from dataclasses import replace

        done = conduct(
            entry(address, secret), replace(job, machines=tuple(names)), lambda *_: None, patience_s=120
        )
    finally:
        over.set()
        for process in (*workers, serving):
            process.kill()
            process.wait()
    took = time.perf_counter() - began
    bad = {**done.failed, **done.missing}
    print(f"{len(done.runs)} of {size} {SAYS} {took:.1f} s; {killed} processes killed", file=sys.stderr)
    if bad or len(done.runs) < size:
        sys.exit(f"not back: {bad}")


def _start(home: Path, *words: str) -> subprocess.Popen[bytes]:
    with (home / "scheduler.txt").open("wb") as told:
        return subprocess.Popen(
            [sys.executable, "-m", "perbyte.cli", *words],
            stdout=told,
            stderr=subprocess.STDOUT,
            env=os.environ | {"PERBYTE_HOME": str(home / "scheduler")},
        )


def _start_workers(home: Path, address: str, names: Sequence[str]) -> subprocess.Popen[bytes]:
    with (home / "workers.txt").open("ab") as told:
        return subprocess.Popen(
            [sys.executable, str(Path(__file__)), "work", str(home), address, *names],
            stdout=told,
            stderr=subprocess.STDOUT,
            env=os.environ | {"PERBYTE_HOME": str(home / names[0])},
        )


def work(home: Path, address: str, names: Sequence[str]) -> None:
    """Be the workers `names` of a fleet, whose measuring lasts two seconds and gives the made-up run."""
    import shutil

    from perbyte.fleet import machine, worker
    from perbyte.fleet.secret import entry

    def made_up(_: str, place: Path, words: list[str], say: Any) -> tuple[int, str]:
        time.sleep(random.uniform(0.5, 1.5) * FLEET_S)
        part = place / f"part-{os.getpid()}"
        shutil.copytree(home / "made", part)
        part.rename(place / "run")
        say("measured")
        return 0, "measured"

    machine._perbyte = made_up  # the one thing that is not real

    async def join_all() -> None:
        access = entry(address, home / "secret.pem")
        await asyncio.gather(*(worker.join(access, name, print, host="127.0.0.1") for name in names))

    asyncio.run(join_all())


def show(lines: Lines, weights: dict[int, float], what: str) -> None:
    """Print the lines as a table of Markdown."""
    sizes = list(weights)
    print(f"| {what} | " + " | ".join(f"{size:,}" for size in sizes) + " | exponent |")
    print("| --- |" + " --- |" * (len(sizes) + 1))
    for name, at in lines.items():
        entries = [f"{at[size][0]:.1f} s, {at[size][1]:.0f} MB" for size in sizes]
        seconds = {size: at[size][0] for size in sizes}
        print(f"| {name} | {' | '.join(entries)} | {exponent_text(seconds)} |")
    files = [f"{weights[size]:.1f} MB" for size in sizes]
    print(f"| files | {' | '.join(files)} | {exponent_text(weights)} |", flush=True)


def exponent_text(values: dict[int, float]) -> str:
    """The power of the size by which something grows between the two largest sizes."""
    if len(values) < 2:
        return "–"
    (small, low), (large, high) = list(values.items())[-2:]
    exponent = math.log(high / low) / math.log(large / small)
    return f"{exponent:.2f}" + (", worse than linear" if exponent > WORSE else "")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=SIZES)
    parser.add_argument("sizes", type=int, nargs="*", metavar="SIZE")
    arguments = parser.parse_args()
    sizes = arguments.sizes or SIZES[arguments.part]
    parts = {"run": (of_runs, "cells"), "atlas": (of_atlases, "machines"), "fleet": (of_fleets, "workers")}
    part, what = parts[arguments.part]
    with tempfile.TemporaryDirectory(prefix="scale-") as place:
        show(*part(sizes, Path(place)), what)


CHILDREN = {
    "write": lambda place, size: write_run(Path(place), int(size)),
    "fill": lambda url, size: fill_atlas(url, int(size)),
    "conduct": lambda home, size: conduct_fleet(Path(home), int(size)),
    "work": lambda home, address, *names: work(Path(home), address, names),
}

if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] in CHILDREN:
        CHILDREN[sys.argv[1]](*sys.argv[2:])
    else:
        main()
