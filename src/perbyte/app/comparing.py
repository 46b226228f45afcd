"""What earlier runs of the same plan say of how far two runs differ though nothing has changed."""

from __future__ import annotations

from collections.abc import Sequence

from perbyte import places
from perbyte.model import Conditions, Run
from perbyte.stats.across import Across, between_runs
from perbyte.store import open_run, runs

MOST_EARLIER = 16  # runs that are read to know by how much runs differ


def runs_like(compared: Sequence[Run]) -> Across:
    """What the stored runs that are like the first of `compared`, in machine, plan and code, say of differences."""
    first = compared[0].conditions
    named = {run.conditions.run_id for run in compared}
    like: list[Run] = []
    for summary in runs(places.runs_home()):
        if (
            summary.problem
            or not summary.complete
            or summary.run_id in named
            or summary.planned != len(first.plan)
        ):
            continue
        opened = open_run(summary.path)
        same = opened.conditions
        if (same.machine, sorted(same.plan), _code(same)) == (
            first.machine,
            sorted(first.plan),
            _code(first),
        ):
            like.append(opened)
        if len(like) == MOST_EARLIER:
            break
    return between_runs([{figure.cell: figure for figure in run.cells} for run in like])


def _code(conditions: Conditions) -> set[tuple[str, str, str]]:
    """What was measured, by the objects that hold the libraries' code."""
    return {(identity.runner, identity.cpu, identity.object_sha256) for identity in conditions.identities}
