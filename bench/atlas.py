"""What an atlas holds and how fast it answers: generated runs of many machines, none of them measured.

    .venv/bin/python bench/atlas.py [--runs 10000] [--cells 1000] [--samples 10] [--machines 100] [--place DIRECTORY]

Writes the runs through the same batches as `perbyte atlas add` (and shows, on a few that it pulls and adds again by
the command, that the rows are the same), packs them, and times `atlas list`, queries, the page, and refiguring of
`--refigured` of the runs without workers, with one and with two. Each is a command of its own, run twice, with the most
memory that it and its children took.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from perbyte.atlas.adding import Incoming, bring, pack, row_of
from perbyte.atlas.index import open_atlas
from perbyte.atlas.reading import pull, read_rows, read_state
from perbyte.model import (
    Calibration,
    Cell,
    CellFigure,
    Conditions,
    Interval,
    Machine,
    NoiseFloor,
    Policy,
    Quality,
    RunnerIdentity,
)
from perbyte.model.naming import slug
from perbyte.store.journal import encode
from perbyte.store.state import RunState
from perbyte.store.tables import SAMPLES, figures_table

RUNNERS = {"openssl": "OpenSSL", "nettle": "Nettle", "libgcrypt": "libgcrypt", "cryptopp": "Crypto++"}
SIZES = (16, 64, 256, 1024, 4096, 8192, 16384, 65536, 262144, 1048576)
BURST = 10


def plan(cells: int) -> list[Cell]:
    """Cells of four libraries at ten sizes."""
    names = (
        "aes-128-gcm",
        "aes-256-gcm",
        "chacha20-poly1305",
        "aes-128-ctr",
        "sha-256",
        "sha-512",
        "sha3-256",
    )
    algorithms = itertools.chain(names, (f"made-{k}" for k in itertools.count()))
    results = []
    for algorithm in algorithms:
        operation = "digest" if algorithm.startswith("sha") else "seal"
        for runner, size in itertools.product(RUNNERS, SIZES):
            results.append(Cell(runner, algorithm, operation, size, "message/1"))
        if len(results) >= cells:
            return results[:cells]
    return results


def generated(
    runs: int, cells: int, samples: int, machines: int, part: range | None = None, seed: int = 7
) -> Iterator[Incoming]:
    """Runs of `machines` machines of ten models, or a part; figures depend on model, machine, cell and chance."""
    cell_list = plan(cells)
    base = np.exp(np.random.default_rng(seed).normal(0, 0.7, cells))
    base *= np.array([100 + cell.size_bytes for cell in cell_list])
    template, addresses = template_samples(cell_list, samples), tuple(cell.address for cell in cell_list)
    libraries = {name: slug(library) for name, library in RUNNERS.items()}
    versions: dict[str, pa.Table] = {}
    for k in part or range(runs):
        draw = np.random.default_rng((seed, k))
        number, version = k * machines // runs, f"3.{k % 6}.0"
        state = state_of(k, number, version, addresses)
        content = encode(state)
        model = number % 10
        cost = base * (1 + 0.1 * model + 0.01 * (number // 10)) * draw.normal(1, 0.002, cells)
        if version not in versions:
            versions[version] = template_figures(cell_list, version, samples)
        table = filled(template, cost, samples, draw)
        row = row_of(state, f"made-{model}-{number:03d}", content, table.num_rows)
        yield Incoming(row, content, with_costs(versions[version], cost), [table], libraries)


def state_of(k: int, number: int, version: str, addresses: tuple[str, ...]) -> RunState:
    """Run `k`, of machine `number`, with one version of all libraries."""
    machine = Machine(
        cpu_model=f"Made CPU {number % 10}",
        cpu_vendor="Made",
        cores=2,
        cpu_flags=("aes", "avx2") if number % 4 else ("avx2",),
        virtualisation=("kvm", "hyper-v", "")[number % 3],
        kernel="6.1",
        architecture="x86_64",
    )
    identities = tuple(
        RunnerIdentity(name, "full", library, version, "", "cc", "", "lib.so", "ab" * 32, "", "c/1")
        for name, library in RUNNERS.items()
    )
    calibrations = [
        Calibration(name, "full", 0, 1, "probe", "", 2.6e9, 26, 6012.5, 2557.25, 78.5, {}) for name in RUNNERS
    ]
    conditions = Conditions(
        run_id=f"made-{k:06d}",
        perbyte_version="0.1.0",
        catalogue_version="c1",
        protocol_version=1,
        started_at=f"2026-{1 + k % 12:02d}-01T00:00:00.{k % 1000:03d}+00:00",
        command=("measure",),
        machine=machine,
        policy=Policy(),
        plan=addresses,
        identities=identities,
    )
    floor, seq = NoiseFloor(0.001 + 0.0005 * (number % 3), ()), 10 * len(addresses)
    return RunState(
        conditions,
        calibrations,
        complete=True,
        noise_floor=floor,
        seq=seq,
        figures=len(addresses),
        figures_seq=seq,
    )


def template_figures(cells: list[Cell], version: str, samples: int) -> pa.Table:
    """Figures of all cells with everything but costs."""
    rest = (samples, samples, 1, (1.0,), (1.0,), 10, Quality.GOOD, "probe")
    return figures_table(
        [
            CellFigure(cell, RUNNERS[cell.runner], version, 1.0, 1.0, Interval(1.0, 1.0), *rest)
            for cell in cells
        ]
    )


def with_costs(template: pa.Table, cost: np.ndarray) -> pa.Table:
    """The template with cycles per call, at 3 GHz."""
    each = np.arange(len(cost) + 1, dtype=np.int32)
    columns = {"cycles_per_call": cost, "ns_per_call": cost / 3}
    columns |= {"interval_low": cost * 0.999, "interval_high": cost * 1.001}
    lists = {"epoch_cycles": cost, "epoch_ns": cost / 3}
    made = {name: pa.array(values) for name, values in columns.items()}
    made |= {
        name: pa.ListArray.from_arrays(pa.array(each), pa.array(values)) for name, values in lists.items()
    }
    for name, values in made.items():
        template = template.set_column(template.schema.get_field_index(name), name, values)
    return template


def template_samples(cells: list[Cell], samples: int) -> pa.Table:
    """Samples of all cells with everything but ticks."""
    n = len(cells) * samples
    which = np.repeat(np.arange(len(cells)), samples)
    columns: dict[str, object] = {}
    for name in (field.name for field in SAMPLES if pa.types.is_dictionary(field.type)):
        words = list(dict.fromkeys(getattr(cell, name) for cell in cells))
        codes = np.array([words.index(getattr(cell, name)) for cell in cells], dtype=np.int32)[which]
        columns[name] = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(words))
    steady = {
        "size_bytes": np.array([cell.size_bytes for cell in cells])[which],
        "burst": which + 1,
        "epoch": 1,
        "round": 1,
        "calls": 10,
        "start": np.arange(n) * 30_000,
        "clock_before": 4264,
        "clock_after": 4264,
        "contention_before": 1820,
        "contention_after": 1820,
    }
    for name in SAMPLES.names:
        if name in ("cycles", "core"):
            columns[name] = pa.nulls(n, pa.int64())
        elif name not in columns:
            columns[name] = pa.array(np.broadcast_to(np.asarray(steady.get(name, 0), dtype=np.int64), n))
    return pa.table([columns[name] for name in SAMPLES.names], schema=SAMPLES)


def filled(template: pa.Table, cost: np.ndarray, samples: int, draw: np.random.Generator) -> pa.Table:
    """The template with ticks of ten calls, to the counter's step of 26."""
    ticks = np.repeat(cost, samples) * 10 * draw.normal(1, 0.003, len(cost) * samples)
    place = template.schema.get_field_index("ticks")
    return template.set_column(place, "ticks", pa.array((ticks / 26).astype(np.int64) * 26))


def most_memory(process: int) -> int:
    """The most memory that a process and its children now have had since they began, in KiB; 0 when it is gone."""
    try:
        text = Path(f"/proc/{process}/status").read_text()
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return 0
    own = next((int(line.split()[1]) for line in text.splitlines() if line.startswith("VmHWM")), 0)
    return own + sum(most_memory(int(child)) for child in children)


def timed(what: str, *words: str, turns: int = 2) -> None:
    """Run `perbyte` and print how long it took and the most memory it had, once cold and once more."""
    for turn in range(turns):
        begun = time.monotonic()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen([sys.executable, "-m", "perbyte.cli", *words], stdout=out, stderr=err)
            most = 0
            while process.poll() is None:
                most = max(most, most_memory(process.pid))
                time.sleep(0.01)
            took = time.monotonic() - begun
            told = err if process.returncode else out
            told.seek(0)
            lines = [line[:60] for line in told.read().decode().strip().splitlines()[-1:]]
        print(f"{what + ' (again)' * turn:44} {took:7.2f} s   {most / 1024:7.0f} MiB   {lines}", flush=True)


def prove_identical(url: str, runs: int = 3) -> None:
    """Pull a few runs, add them by the command to another atlas, and compare what both have of them."""
    atlas = open_atlas(url)
    keys = sorted(atlas.runs)[:: max(len(atlas.runs) // runs, 1)][:runs]
    with tempfile.TemporaryDirectory() as home:
        other = f"{home}/atlas"
        for key, place in zip(keys, pull(atlas, keys, Path(home)), strict=True):
            words = ("atlas", "add", str(place), "--machine", atlas.runs[key].machine, "--atlas", other, "-q")
            subprocess.run([sys.executable, "-m", "perbyte.cli", *words], check=True)
        added = open_atlas(other)
        for table in ("cells", "samples"):
            ours, theirs = (read_rows(each_atlas, keys)[table] for each_atlas in (atlas, added))
            assert all(ours[key].to_pylist() == theirs[key].to_pylist() for key in keys), table
        for key in keys:
            assert atlas.runs[key] == added.runs[key], key
            assert read_state(atlas, key) == read_state(added, key), key
    print(f"{len(keys)} runs are in it as `atlas add` has them")


def few(url: str, runs: int, arguments: argparse.Namespace) -> str:
    """An atlas of `runs` of the runs, to be refigured."""
    place = Path(f"{url}-{runs}")
    if not (place / "atlas.json").is_file():
        part = range(0, arguments.runs, max(arguments.runs // runs, 1))[:runs]
        made = generated(arguments.runs, arguments.cells, arguments.samples, arguments.machines, part)
        bring(open_atlas(str(place), create=True).place, made)
    return str(place)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--cells", type=int, default=1000)
    parser.add_argument("--samples", type=int, default=10, help="samples of a cell")
    parser.add_argument("--machines", type=int, default=100)
    parser.add_argument("--refigured", type=int, default=160, help="runs to refigure")
    parser.add_argument("--place", type=Path, help="where to write; kept, and used again when it is there")
    arguments = parser.parse_args()
    place = arguments.place or Path(tempfile.mkdtemp(prefix="atlas-"))
    url = str(place)
    if not (place / "atlas.json").is_file():
        begun = time.monotonic()
        keys = bring(
            open_atlas(url, create=True).place,
            generated(arguments.runs, arguments.cells, arguments.samples, arguments.machines),
        )
        took = time.monotonic() - begun
        print(f"written: {len(keys):,} runs in {took:.0f} s, {len(keys) / took:.0f} a second")
        begun = time.monotonic()
        before, after = pack(url)
        print(f"packed: {before:,} files to {after:,} in {time.monotonic() - begun:.0f} s")
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"most memory of generating, writing and packing: {most:.0f} MiB")
    prove_identical(url)
    size = sum(file.stat().st_size for file in place.rglob("*") if file.is_file())
    print(f"on disk: {size / 1e9:.2f} GB")
    at = ("--atlas", url)
    timed("list, a row per machine", "atlas", "list", *at)
    timed("list, a row per run", "atlas", "list", "--runs", *at)
    timed("count samples", "atlas", "query", "SELECT count(*) FROM samples", *at)
    timed("sum of ticks of all samples", "atlas", "query", "SELECT sum(ticks) / sum(calls) FROM samples", *at)
    timed(
        "mean ticks a call, by library and size",
        *(
            "atlas",
            "query",
            "SELECT runner, size_bytes, avg(ticks / calls) FROM samples GROUP BY ALL ORDER BY ALL",
            *at,
        ),
    )
    timed(
        "median cost by machine and library",
        *(
            "atlas",
            "query",
            "SELECT machine, library, median(cycles_per_byte) FROM cells GROUP BY ALL ORDER BY ALL",
        ),
        *at,
    )
    with tempfile.TemporaryDirectory() as home:
        timed("page", "report", "--atlas", url, "-o", f"{home}/page.html")
    some = ("atlas", "refigure", "--level", "0.9", "--atlas", few(url, arguments.refigured, arguments))
    timed(f"refigure {arguments.refigured} runs, no workers", *some, turns=1)
    for workers in (1, 2):
        timed(f"refigure them with {workers} workers", *some, "--workers", str(workers), turns=1)
    if not arguments.place:
        shutil.rmtree(place)
        shutil.rmtree(some[-1])


if __name__ == "__main__":
    main()
