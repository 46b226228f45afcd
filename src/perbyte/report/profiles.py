"""Machines beside each other: the profiles of several runs as rows, one column per run.

What a run does not know stays a dash; rows that differ say so, and of the CPU's features only those are listed that not
all machines have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from perbyte.model import Run
from perbyte.report.conditions import cycle_sources, library_names
from perbyte.report.facts import condition_facts
from perbyte.report.units import percent, plain

_APART = ("CPU features", "a sample is clean when", "input")
_UNKNOWN = "–"


def profile_rows(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Rows of {name, values, differ} over machine, libraries and conditions; a value is `–` where it is not known."""
    columns = [_facts(run) for run in runs]
    names = dict.fromkeys(name for column in columns for name in column)
    rows = []
    for name in names:
        values = [column.get(name, _UNKNOWN) for column in columns]
        rows.append({"name": name, "values": values, "differ": len({*values} - {_UNKNOWN}) > 1})
    return rows


def feature_rows(runs: Sequence[Run]) -> dict[str, Any]:
    """CPU features: how many all machines have, and per run those that not all have.

    Runs that list none (imported ones often do not) are left out of the comparison; `known` counts the others.
    """
    listed = [{*run.conditions.machine.cpu_flags} for run in runs]
    known = [flags for flags in listed if flags]
    shared = set.intersection(*known) if known else set()
    return {
        "known": len(known),
        "shared": len(shared),
        "only": [
            plain(" ".join(sorted(flags - shared)), 1500) if flags else "not listed" for flags in listed
        ],
    }


def _facts(run: Run) -> dict[str, str]:
    conditions = run.conditions
    sources = ", ".join(f"{plain(name, 20)}" for name in sorted(cycle_sources(run)))
    found = {
        "run": plain(conditions.run_id, 80),
        "origin": plain(conditions.origin, 40),
        "started": plain(conditions.started_at, 40),
        "study": plain(conditions.study, 60),
        "source": plain(conditions.input.get("source", ""), 120),
        "libraries": plain("; ".join(library_names(run)), 600),
        "figures": f"{len(run.cells):,}",
        "cycle source": sources,
        "noise floor": percent(run.noise_floor.relative) if run.noise_floor else "",
    }
    for _, facts in condition_facts(run):
        found.update({name: value for name, value in facts if name not in _APART})
    return {name: value for name, value in found.items() if value}
