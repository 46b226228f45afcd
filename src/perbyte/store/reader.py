"""Reads a run directory: finished, interrupted, or being written right now.

The order of reading is journal, samples, run.json: a writer compacts the other way round, so whatever it
does meanwhile, nothing is missed and nothing is seen twice. Every file is taken for hostile: what does not
fit the schema raises StoreError with a hint.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from perbyte.model import Burst, Cell, CellFigure, Run, StoredRun
from perbyte.store.beside import leaks_beside, read_behaviours
from perbyte.store.files import CELLS_FILE, LEAK_FILE, RUN_FILE, SAMPLES_GLOB, check_directory, damaged
from perbyte.store.journal import Measured, read_journal
from perbyte.store.state import RunState, read_state

if TYPE_CHECKING:
    import pyarrow as pa

    from perbyte.stats.run_figures import RunFigures


@dataclass(frozen=True, slots=True)
class Known:
    """What a run directory says apart from its samples files: run.json with the journal added to it.

    `pending` are the bursts that only the journal has, with their numbers; `stored` are the samples files.
    """

    state: RunState
    pending: list[tuple[int, Burst]]
    stored: tuple[Path, ...]
    whole_bytes: int
    notes: tuple[str, ...]


def read_known(directory: Path) -> Known:
    """Read run.json and journal and see which samples files there are. Raises StoreError."""
    check_directory(directory)
    events, whole_bytes, note = read_journal(directory)
    stored = tuple(sorted(directory.glob(SAMPLES_GLOB)))
    stored_seq = 0
    if stored and events:
        from perbyte.store.tables import check_file

        stored_seq = max(check_file(place, "samples") for place in stored)
    state = read_state(directory)
    pending = [
        (event.seq, event.burst) for event in events if isinstance(event, Measured) and event.seq > stored_seq
    ]
    for event in events:
        state.apply(event)
    return Known(state, pending, stored, whole_bytes, (note,) if note else ())


def open_run(path: Path) -> Run:
    """Read a run with its figures.

    Figures that were stored are given back; where bursts have come since, or the run was interrupted, they
    are made anew from the samples. Raises StoreError.
    """
    directory = run_directory(path)
    known = read_known(directory)
    state = known.state
    cells = _stored_figures(directory, state)
    if cells is None:
        made = figures_of_stored(state.stored(_bursts(known)))
        cells, state.noise_floor = made.cells, made.noise_floor
        state.failures += made.failures
    return replace(
        state.run(directory, cells),
        behaviours=read_behaviours(directory, state.conditions.run_id),
        leaks=leaks_beside(directory, state.conditions.run_id),
    )


def bursts(path: Path, address: str | None = None) -> Iterator[Burst]:
    """Give back the bursts of a run in the order they were taken, all or those of one cell.

    Raises StoreError.
    """
    directory = run_directory(path)
    yield from _bursts(read_known(directory), address)


def stored_run(path: Path) -> StoredRun:
    """Return all that a run has measured: what going on with it starts from. Raises StoreError."""
    known = read_known(run_directory(path))
    return known.state.stored(_bursts(known))


def figures_of_stored(stored: StoredRun) -> RunFigures:
    """Return the figures that follow from what was measured."""
    from perbyte.stats.run_figures import make_run_figures

    taken: dict[Cell, list[Burst]] = defaultdict(list)
    for burst in stored.bursts:
        taken[burst.cell].append(burst)
    return make_run_figures(
        taken,
        stored.calibrations,
        stored.conditions.policy,
        plan=stored.conditions.plan,
        identities=stored.conditions.identities,
        failures=stored.failures,
        unproven=stored.unproven,
        audits=stored.audits,
    )


def run_directory(path: Path) -> Path:
    """Return the directory of a run, given that or the run.json or leak.json in it."""
    return path.parent if path.name in (RUN_FILE, LEAK_FILE) else path


def samples_tables(known: Known, address: str | None = None) -> Iterator[pa.Table]:
    """Give the samples of a run as Arrow tables, those of the journal last. Raises StoreError."""
    from perbyte.store.tables import read_table, samples_table

    for place in known.stored:
        yield read_table(place, "samples", address)
    pending = [(n, burst) for n, burst in known.pending if address in (None, burst.cell.address)]
    if pending:
        yield samples_table(pending)


def _bursts(known: Known, address: str | None = None) -> Iterator[Burst]:
    if known.stored:
        from perbyte.store.tables import bursts_of, read_table

        for place in known.stored:
            for _, burst in bursts_of(read_table(place, "samples", address)):
                yield burst
    for _, burst in known.pending:
        if address in (None, burst.cell.address):
            yield burst


def _stored_figures(directory: Path, state: RunState) -> tuple[CellFigure, ...] | None:
    """The figures in cells.parquet when nothing was measured after them, else None."""
    if state.figures_seq != state.seq:
        return None
    from perbyte.store.tables import figures_of, read_table

    place = directory / CELLS_FILE
    try:
        return figures_of(read_table(place, "cells"))
    except (ValueError, TypeError) as error:
        raise damaged(place, error) from error
