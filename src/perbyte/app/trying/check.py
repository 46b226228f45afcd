"""The first look of `perbyte try`: is the function right, does it come back? Told at once, before anything is measured.

Each program of the user's goes through the validation of a run, cell by cell, with seconds where a run allows a minute,
and is left out at its first fault: what fails for 64 bytes need not fail for 16 KiB as well. That libraries agree at
every size is seen by the validation of the run itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from perbyte.model import Cell, Failure, Policy

if TYPE_CHECKING:
    from perbyte.measure import Survey
    from perbyte.runners.session import TimeLimits

CALL_S = 2.0  # that a checked call may take, unless `--patience` says otherwise
RUN_TIMES = 5.0  # more, where the machine is busy with a run as well


def first_faults(surveyed: Survey, cells: Sequence[Cell], policy: Policy, patience_s: float) -> list[Failure]:
    """What is wrong with the programs of `cells`: the first fault of each, none where all are right."""
    from perbyte.catalogue import load
    from perbyte.measure.sessions import STARTING_FAILS, Sessions
    from perbyte.measure.validation import Validation

    faults: dict[tuple[str, str, int], Failure] = {}
    with Sessions(
        surveyed,
        cores=policy.cores,
        epoch=0,
        seed=policy.seed,
        limits=limits(patience_s),
        gentle=policy.gentle,
    ) as sessions:
        for cell in sorted(cells, key=lambda cell: cell.size_bytes):
            if cell.process in faults:
                continue
            try:
                if not sessions.runs(cell.process):
                    sessions.start(cell.process)
            except STARTING_FAILS as error:
                faults[cell.process] = Failure("crashed", cell.runner, str(error), address=cell.address)
                continue
            if failures := Validation(load(), sessions).examine([cell]).failures:
                faults[cell.process] = _told(failures[0], patience_s)
    return list(faults.values())


def limits(patience_s: float, times: float = 1.0) -> TimeLimits:
    """Time limits under which a call that takes longer than `patience_s` hangs."""
    from perbyte.runners.session import TimeLimits

    each = times * patience_s
    return TimeLimits(hello=each, prepare=each, check=each, measure=each, release=each, quit=0.5)


def _told(failure: Failure, patience_s: float) -> Failure:
    from dataclasses import replace

    if failure.kind != "timed-out":
        return failure
    text = f"no answer within {patience_s:g} s: it hangs, or is slow (--patience 30s waits longer)"
    return replace(failure, message=text)
