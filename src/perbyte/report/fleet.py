"""The machines of a fleet, and what came of a job, as `perbyte fleet` shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from perbyte.model.text import counted, plain
from perbyte.report.listing import Listing, from_records


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
