"""Runs and machines of an atlas as lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from perbyte.model.text import plain
from perbyte.report.listing import Head, Listing, columns

if TYPE_CHECKING:
    from perbyte.atlas.index import RunRow


def runs_listing(runs: Iterable[RunRow]) -> Listing:
    """A row for each run."""
    rows = [
        (
            plain(run.key, 120),
            run.started_at[:16],
            f"{run.cells:,}",
            plain(run.study, 120),
            plain(", ".join(run.libraries), 120),
        )
        for run in runs
    ]
    return Listing("Runs", (*columns("run | started | cells | study"), Head("libraries", flows=True)), rows)


def machines_listing(machines: Mapping[str, Sequence[RunRow]]) -> Listing:
    """A row for each machine; its runs are newest first."""
    heads = (*columns("machine | model | provider | runs | cells | newest"), Head("libraries", flows=True))
    rows = [
        (
            plain(machine, 120),
            plain(runs[0].cpu_model, 120),
            plain(runs[0].provider, 120),
            f"{len(runs):,}",
            f"{sum(run.cells for run in runs):,}",
            max(run.started_at for run in runs)[:16],
            plain(", ".join(sorted({library for run in runs for library in run.libraries})), 120),
        )
        for machine, runs in machines.items()
    ]
    return Listing("Machines", heads, rows)
