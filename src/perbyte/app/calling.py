"""What a program or a notebook calls: measure, load a run, and see it as Arrow tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from perbyte.app.runs import find_run
from perbyte.model import Policy, Run

if TYPE_CHECKING:
    import pyarrow as pa

    from perbyte.app.listener import Listener


def measure(
    *selectors: str,
    sizes: Sequence[int] | None = None,
    operations: Sequence[str] | None = None,
    contracts: Sequence[str] | None = None,
    cpus: Sequence[str] | None = None,
    states: Sequence[str] | None = None,
    policy: Policy | None = None,
    out: Path | str | None = None,
    listener: Listener | None = None,
) -> Run:
    """Measure what `selectors` mean, as `perbyte measure` does, into a new run directory; return the run.

    `sizes` in bytes; a selector's own parts win over all these. `policy` holds budget (seconds), precision, epochs,
    cores and seed; without it the default one, whose budget is raised to what the plan takes at the least. `out` is the
    directory to create, by default one in the home of runs. Cells without a figure are in `failures` of the run, and
    one that was interrupted has `complete` False: neither is an exception.

    Raises UsageError for what does not exist or does not fit into the budget, EnvironmentLacking for what is not here,
    StoreError where nothing can be written. Signals are caught in the main thread only.
    """
    from perbyte.app.conducting import conduct
    from perbyte.app.listener import NOBODY
    from perbyte.app.requests import budgeted, make_request
    from perbyte.errors import UsageError

    if not selectors:
        raise UsageError("nothing to measure: no selector was given", hint="for example '*/sha-256@1KiB'")
    heard = replace(listener or NOBODY, command=("measure", *selectors))
    request = make_request(selectors, sizes, operations, contracts, cpus, states)
    return conduct(
        request,
        policy or Policy(),
        out=Path(out) if out else None,
        listener=heard,
        budget=lambda prepared: budgeted(prepared, heard.say, raised=policy is None),
    ).run


def load(run: Path | str | None = None) -> Run:
    """The run in a directory, or of that name in the home of runs; without a word the newest one.

    Raises NoSuchRun where there is none, StoreError where it is damaged.
    """
    from perbyte.store import open_run

    return open_run(find_run(run))


def cells_table(run: Run) -> pa.Table:
    """The figures of `run` as an Arrow table: the columns of the view `cells` of `perbyte query`, a row a figure.

    Units stand in the names. Raises EnvironmentLacking without the extra 'query'.
    """
    from perbyte import extras

    extras.require("query", "A table")
    from perbyte.store.sql import cells_view

    return cells_view(run)


def samples_table(run: Run) -> pa.Table:
    """All raw samples of a stored run as an Arrow table: the columns of the view `samples`, a row a sample.

    Raises EnvironmentLacking without the extra 'query', UsageError for a run that is not stored, StoreError where its
    files are damaged.
    """
    from perbyte import extras
    from perbyte.errors import UsageError

    extras.require("query", "A table")
    from perbyte.store.sql import samples_view

    if run.path is None:
        raise UsageError("the run is not stored, so its samples are nowhere")
    return samples_view([run])
