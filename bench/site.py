"""How long a site takes and how large it is: machines that are made up from real runs, and never published.

    .venv/bin/python bench/site.py RUN... [--machines 100] [--cells 1000] [--runs 130] [--place DIRECTORY]

Takes the figures of real runs (run directories), gives each made-up machine costs of its own by model, library and
chance, and writes them into an atlas whose machines, processors and runs are all called made-up. Where the runs have
fewer cells, further sizes are made up by a line through a cell's cost. Of the runs beyond one a machine some machines
have a second and a third date, a few with other versions that are dearer or cheaper. Then `perbyte atlas site` is
timed as a command of its own, and what it wrote is counted.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from perbyte.atlas.adding import Incoming, bring, row_of
from perbyte.atlas.index import open_atlas
from perbyte.model import CellFigure, Interval, Run
from perbyte.model.naming import slug
from perbyte.store import open_run
from perbyte.store.journal import encode
from perbyte.store.state import RunState
from perbyte.store.tables import SAMPLES, figures_table

_SIZES = tuple(16 << k for k in range(17)) + tuple(24 << k for k in range(16))
_MODELS = 12


def enough(runs: Sequence[Run], cells: int) -> list[CellFigure]:
    """So many figures: the runs' own, then further sizes of theirs."""
    table: dict[str, CellFigure] = {}
    for run in runs:
        table.update(
            {each_cell.cell.address: each_cell for each_cell in run.cells if not each_cell.cell.twin}
        )
    own = list(table.values())
    for size, figure in itertools.product(_SIZES, own):
        if len(table) >= cells:
            break
        if not figure.cell.size_bytes or figure.cell.contract.startswith(("pk/", "password/")):
            continue
        cell = replace(figure.cell, size_bytes=size)
        table.setdefault(
            cell.address, scaled(replace(figure, cell=cell), (60 + size) / (60 + figure.cell.size_bytes))
        )
    return list(table.values())[:cells]


def scaled(figure: CellFigure, factor: float) -> CellFigure:
    """The figure with all its costs so many times as large."""
    return replace(
        figure,
        cycles_per_call=figure.cycles_per_call and figure.cycles_per_call * factor,
        ns_per_call=figure.ns_per_call * factor,
        interval=replace(
            figure.interval, low=figure.interval.low * factor, high=figure.interval.high * factor
        )
        if isinstance(figure.interval, Interval)
        else figure.interval,
        epoch_cycles=tuple(value * factor for value in figure.epoch_cycles),
        epoch_ns=tuple(value * factor for value in figure.epoch_ns),
    )


def made_up(real: Sequence[Run], machines: int, cells: int, runs: int) -> Iterator[Incoming]:
    """Runs of made-up machines."""
    figures = enough(real, cells)
    conditions = real[0].conditions
    for k in range(runs):
        machine, turn = k % machines, k // machines
        model, chance = machine % _MODELS, np.random.default_rng((7, machine, turn))
        general = 0.7 + 0.12 * model
        by_library = {
            name: np.random.default_rng((model, *name.encode())).lognormal(0, 0.12)
            for name in {each_figure.cell.runner for each_figure in figures}
        }
        made = []
        for figure in figures:
            factor = general * by_library[figure.cell.runner] * chance.normal(1, 0.003)
            version = figure.library_version
            if turn and figure.cell.runner in ("openssl", "nettle"):
                version += f"-made-up-{turn}"
                factor *= 0.85 if figure.cell.algorithm.startswith("aes") else 1.07
            made.append(replace(scaled(figure, factor), library_version=version))
        profile = (
            replace(conditions.machine, cpu_model=f"Made-up CPU {model}", cores=4, hostname="made-up")
            if hasattr(conditions.machine, "hostname")
            else replace(conditions.machine, cpu_model=f"Made-up CPU {model}", cores=4)
        )
        own = replace(
            conditions,
            run_id=f"made-up-{k:04d}",
            started_at=f"2026-{1 + (machine + 3 * turn) % 9:02d}-{1 + machine % 28:02d}T12:00:00+00:00",
            machine=profile,
            plan=(),
            origin="made up by bench/site.py from real runs; nothing of it was measured on such a machine",
        )
        state = RunState(own, [], complete=True, noise_floor=real[0].noise_floor, figures=len(made))
        content = encode(state)
        libraries = {each_figure.cell.runner: slug(each_figure.library) for each_figure in made}
        row = row_of(state, f"made-up-{model:02d}-{machine:03d}", content, 0)
        yield Incoming(row, content, figures_table(made), [SAMPLES.empty_table()], libraries)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("real", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--machines", type=int, default=100)
    parser.add_argument("--cells", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=130)
    parser.add_argument("--place", type=Path, help="where to write; kept, and the atlas is used again")
    arguments = parser.parse_args()
    place = arguments.place or Path(tempfile.mkdtemp(prefix="site-"))
    url = place / "atlas"
    if not (url / "atlas.json").is_file():
        runs = [open_run(path) for path in arguments.real]
        keys = bring(
            open_atlas(str(url), create=True).place,
            made_up(runs, arguments.machines, arguments.cells, arguments.runs),
        )
        print(f"made up: {len(keys):,} runs of {arguments.machines} machines")
    site = place / "site"
    begun = time.monotonic()
    words = ("atlas", "site", str(site), "--atlas", str(url), "--title", "Made up, never measured")
    subprocess.run([sys.executable, "-m", "perbyte.cli", *words], check=True)
    print(f"site: {time.monotonic() - begun:.1f} s")
    sizes: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for path in site.rglob("*"):
        if path.is_file():
            kind = path.parent.name if path.parent != site else "top"
            sizes[kind] += path.stat().st_size
            counts[kind] += 1
    for kind, size in sorted(sizes.items()):
        print(f"{kind:12} {counts[kind]:6,} files {size / 1e6:9.1f} MB")
    print(f"{'all':12} {sum(counts.values()):6,} files {sum(sizes.values()) / 1e6:9.1f} MB")


if __name__ == "__main__":
    main()
