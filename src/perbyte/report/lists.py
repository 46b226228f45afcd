"""What there is to choose from, as `perbyte list` shows it; rows of a query; machines of a fleet, and its jobs.

Runs and machines of an atlas are listed here too.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from perbyte.model.text import counted, inert, json_ready, plain
from perbyte.report.listing import Head, Listing, columns, from_records

if TYPE_CHECKING:
    from perbyte.atlas.index import RunRow

Row = Mapping[str, Any]
# the column whose text is wrapped, and those that are left out where there is no room, first the one to go first
_LAYOUT: dict[str, tuple[str, tuple[str, ...]]] = {
    "algorithms": ("aliases", ("block_bits", "year")),
    "providers": ("how", ("library",)),
    "suites": ("answers", ("cells", "title")),
    "runners": ("summary", ("library", "cpu_tiers")),
    "operations": ("contracts", ("cpu_tiers",)),
    "studies": ("title", ()),
    "contracts": ("one timed call is", ()),
    "runs": ("measured", ("machine", "seconds", "origin", "state")),
}


def rows_listing(what: str, rows: Sequence[Row]) -> Listing:
    """A listing of rows of one kind, as `app.lists.rows_of` gives them."""
    return from_records([_run_in_short(row) for row in rows] if what == "runs" else rows, *_LAYOUT[what])


def _run_in_short(row: Row) -> Row:
    """The row of a run for the table: what one chooses by. JSON has the rest."""
    state = "complete" if row["complete"] else f"{row['cells']} of {row['planned']} cells: interrupted"
    return {
        "run": row["path"].name,
        "started": str(row["started_at"])[:16].replace("T", " "),
        "measured": row["measured"],
        "cells": row["cells"],
        "seconds": f"{row['measuring_s']:.0f}" if row["measuring_s"] else "",
        "machine": row["cpu_model"],
        "origin": row["study"] or row["origin"],
        "state": row["problem"] or state,
    }


def rows_csv(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """The rows under their names."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(names)
    writer.writerows((inert(json_ready(value)) for value in row) for row in rows)
    return out.getvalue()


def query_listing(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Listing:
    """The rows as a listing, whose last column is wrapped; two columns may have the same name."""
    heads = [Head(name, flows=place == len(names)) for place, name in enumerate(names, 1)]
    return Listing("", heads, [[*map(_text, row)] for row in rows] or [[""] * len(names)])


def query_records(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    """The rows as records; a name that comes again has its number behind it: `a`, `a_2`."""
    keys: list[str] = []
    for name in names:
        numbers = (f"{name}_{number}" for number in itertools.count(2))
        keys.append(name if name not in keys else next(key for key in numbers if key not in (*keys, *names)))
    return [dict(zip(keys, row, strict=True)) for row in rows]


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return plain("; ".join(_text(element) for element in value), 300)
    return f"{value:.7g}" if isinstance(value, float) else "" if value is None else plain(value, 300)


def fleet_listing(machines: Mapping[str, Any], others: Mapping[str, str]) -> Listing:
    """A row for each worker, of what its machine says of itself; `others`: which are another worker's machine."""
    rows = [
        {
            "machine": plain(name + (f" (is {others[name]})" if name in others else ""), 160),
            "model": plain(facts.cpu_model, 60),
            "cores": str(facts.cores),
            "perbyte": plain(f"{facts.perbyte} {facts.commit}".strip(), 40),
            "measures": plain(facts.holder or ", ".join(facts.jobs), 200),
        }
        for name, facts in sorted(machines.items())
    ]
    return from_records(rows, "measures")


def fleet_sum(machines: Mapping[str, Any], others: Mapping[str, str]) -> str:
    """How many machines there are; and how many workers where some are on one machine."""
    workers = f", {counted(len(machines), 'worker')}" if others else ""
    return f"{counted(len(machines) - len(others), 'machine')}{workers}"


def outcome_lines(done: Any) -> Iterator[str]:
    """Where the runs of a job lie, and which machines have none, of a `fleet.conduct.JobOutcome`."""
    for name, path in sorted(done.runs.items()):
        yield f"run: {path}" + (f"  ({done.failed[name]})" if name in done.failed else "")
    for name, why in sorted(done.failed.items()):
        if name not in done.runs:
            yield f"failed: {name}: {why}"
    for name, why in sorted(done.missing.items()):
        yield f"missing: {name}: {why}; continue with: perbyte fleet measure --resume {done.job.id}"


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
