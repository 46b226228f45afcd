"""Reads a run directory: finished, interrupted, or being written right now.

The order of reading is journal, samples, run.json: a writer compacts the other way round, so whatever it
does meanwhile, nothing is missed and nothing is seen twice. Every file is taken for hostile: what does not
fit the schema raises StoreError with a hint.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from perbyte import extras
from perbyte.model import Burst, Cell, CellFigure, Doubt, Run, StoredRun, Warning
from perbyte.store.beside import leaks_beside, read_behaviours, read_placements
from perbyte.store.figures import digest_of, read_figures
from perbyte.store.files import (
    CELLS_FILE,
    FIGURES_FILE,
    OLDER_SAMPLES_GLOB,
    SAMPLES_GLOB,
    check_directory,
    damaged,
)
from perbyte.store.journal import Measured, read_journal
from perbyte.store.opening import run_directory, tell_damage
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


def read_known(directory: Path, *, tell: bool = True) -> Known:
    """Read run.json and journal and see which samples files there are; warn where they are not what was written.

    Every reader of a run comes through here. `tell`: whether to warn (`store.opening`). Raises StoreError.
    """
    check_directory(directory)
    if tell:
        tell_damage(directory)
    events, whole_bytes, note = read_journal(directory)
    stored = tuple(sorted([*directory.glob(SAMPLES_GLOB), *directory.glob(OLDER_SAMPLES_GLOB)]))
    stored_seq = max(map(_last_seq, stored)) if stored and events else 0
    state = read_state(directory)
    pending = [
        (event.seq, event.burst) for event in events if isinstance(event, Measured) and event.seq > stored_seq
    ]
    for event in events:
        state.apply(event)
    return Known(state, pending, stored, whole_bytes, (note,) if note else ())


def open_run(path: Path, *, anew: bool = False) -> Run:
    """Read a run with its figures.

    Stored figures are given back, with a warning where other rules made them, if they are of the samples that lie
    there. Where they are not, where bursts have come since, where the run was interrupted, or with `anew`, they are
    made from the samples. A run without samples was imported, and has the figures that came with it. Raises StoreError.
    """
    directory = run_directory(path)
    known = read_known(directory)
    state = known.state
    cells = figures_of_known(directory, known, anew=anew)
    return replace(
        state.run(directory, _with_rules(cells, state.rules) if known.stored else cells),
        behaviours=read_behaviours(directory, state.conditions.run_id),
        leaks=leaks_beside(directory, state.conditions.run_id),
        placements=read_placements(directory, state.conditions.run_id),
    )


def figures_of_known(directory: Path, known: Known, *, anew: bool = False) -> tuple[CellFigure, ...]:
    """The figures of a run, stored or made, as `open_run` says; its state then knows what came of making them."""
    state = known.state
    may = not anew or not (known.stored or known.pending)
    cells = stored_figures(directory, known) if may else None
    if cells is None:
        from perbyte.stats.run_figures import RULES

        made = computed_figures(known)
        before = [failure for failure in state.failures if failure not in state.refused]
        state.failures, state.refused = [*before, *made.failures], [*made.failures]
        cells, state.noise_floor, state.rules = made.cells, made.noise_floor, RULES
    return cells


def stored_figures(directory: Path, known: Known) -> tuple[CellFigure, ...] | None:
    """The stored figures, where nothing was measured after them and they are of these samples, else None.

    Raises StoreError where the file that run.json promises is missing or damaged.
    """
    state = known.state
    if state.figures_seq != state.seq or known.pending:
        return None
    if not state.rules and not os.path.lexists(directory / FIGURES_FILE):
        return _older_figures(directory)
    figures = read_figures(directory)
    of_run = (state.conditions.run_id, state.seq, state.rules)
    if (figures.run_id, figures.seq, figures.rules) != of_run or figures.samples != digest_of(known.stored):
        return None
    return figures.cells


def computed_figures(known: Known) -> RunFigures:
    """The figures that follow from the samples of a run.

    Failures that came of computing the stored ones do not count as known before: their cells' samples tell of others.
    """
    stored = known.state.stored(_bursts(known))
    before = tuple(failure for failure in stored.failures if failure not in known.state.refused)
    return figures_of_stored(replace(stored, failures=before))


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


def samples_tables(known: Known, address: str | None = None) -> Iterator[pa.Table]:
    """Give the samples of a run as Arrow tables, those of the journal last. Raises StoreError."""
    from perbyte.store.samples import columns_of, read_columns
    from perbyte.store.tables import read_table, samples_table

    for place in known.stored:
        if _is_older(place):
            yield read_table(place, "samples", address)
        else:
            yield samples_table(read_columns(place, address))
    pending = [(n, burst) for n, burst in known.pending if address in (None, burst.cell.address)]
    if pending:
        yield samples_table(columns_of(pending))


def read_bursts(place: Path, address: str | None = None) -> Iterator[tuple[int, Burst]]:
    """Give the bursts of a file of samples, all or those of one cell, each with its number.

    Raises StoreError; EnvironmentLacking where an older version wrote the file and Arrow is not installed.
    """
    if _is_older(place):
        _require_arrow()
        from perbyte.store.tables import bursts_of, read_table

        yield from bursts_of(read_table(place, "samples", address))
    else:
        from perbyte.store.samples import read_columns

        yield from read_columns(place, address).bursts()


def copy_in(place: Path) -> bytes:
    """The copy of run.json in a file of samples; empty where there is none that can be read."""
    if _is_older(place):
        from perbyte.store.tables import copy_in as of_parquet

        return of_parquet(place)
    from perbyte.store.samples import copy_in as of_columns

    return of_columns(place)


def _last_seq(place: Path) -> int:
    if _is_older(place):
        _require_arrow()
        from perbyte.store.tables import check_file

        return check_file(place, "samples")
    from perbyte.store.samples import last_seq

    return last_seq(place)


def _is_older(place: Path) -> bool:
    return place.suffix == ".parquet"


def _require_arrow() -> None:
    extras.require("query", "A run of an older Perbyte")


def _bursts(known: Known, address: str | None = None) -> Iterator[Burst]:
    for place in known.stored:
        for _, burst in read_bursts(place, address):
            yield burst
    for _, burst in known.pending:
        if address in (None, burst.cell.address):
            yield burst


def _older_figures(directory: Path) -> tuple[CellFigure, ...]:
    """The figures in cells.parquet, which an older version wrote."""
    _require_arrow()
    from perbyte.store.tables import figures_of, read_table

    place = directory / CELLS_FILE
    try:
        return figures_of(read_table(place, "cells"))
    except (ValueError, TypeError) as error:
        raise damaged(place, error) from error


def _with_rules(cells: tuple[CellFigure, ...], rules: int) -> tuple[CellFigure, ...]:
    """The figures, with a warning where rules other than today's made them."""
    from perbyte.stats.run_figures import RULES

    if rules == RULES:
        return cells
    by = f"by rules {rules}, not {RULES}" if rules else "by an older version, which did not note its rules"
    warning = Warning(Doubt.OLDER_RULES, f"computed {by}: --anew computes it again", (rules, RULES))
    return tuple(replace(figure, warnings=(*figure.warnings, warning)) for figure in cells)
