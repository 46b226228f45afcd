"""Merges runs made under the same conditions into one with more epochs.

Runs that differ in anything a figure depends on are refused, naming the fields: a merged figure must be one
that a single longer run could have given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from perbyte.errors import UsageError
from perbyte.model import Burst, Calibration, Failure, Run
from perbyte.store.agreement import differences, require_agreement
from perbyte.store.figures import make_figures
from perbyte.store.reader import open_run, read_known, resume_state, run_directory
from perbyte.store.writer import RunWriter


def merge(paths: Sequence[Path], into: Path) -> Run:
    """Write the samples of all runs into a new run directory and make its figures.

    Epochs are numbered on, because each is a set of fresh processes. Raises IncompatibleRuns naming the
    checked fields that differ, UsageError for fewer than two runs or one given twice, StoreError otherwise.
    """
    directories = [run_directory(path) for path in paths]
    if len(directories) < 2 or len({place.resolve() for place in directories}) < len(directories):
        raise UsageError("merging needs two or more different runs", way_out="name each run once")
    conditions = read_known(directories[0]).state.conditions
    ids = [conditions.run_id]
    for place in directories[1:]:
        other = read_known(place).state.conditions
        found = differences(conditions, other)
        way_out = "compare them instead: perbyte compare A B"
        require_agreement(found, f"{directories[0]} and {place} cannot be merged", way_out)
        if other.run_id in ids:
            raise UsageError(
                f"{place} is a copy of a run that is already given", way_out="name each run once"
            )
        ids.append(other.run_id)
        conditions = replace(
            conditions,
            plan=tuple(dict.fromkeys((*conditions.plan, *other.plan))),
            identities=tuple(dict.fromkeys((*conditions.identities, *other.identities))),
        )
    conditions = replace(conditions, run_id="+".join(ids))
    with RunWriter.create(into) as writer:
        writer.begin(conditions)
        calibrations: list[Calibration] = []
        bursts: list[Burst] = []
        failed: list[Failure] = []
        measuring_s, complete, next_epoch = 0.0, True, 0
        for place in directories:
            state = read_known(place).state
            _, taken_calibrations, taken, failures = resume_state(place)
            shift = next_epoch
            for calibration in taken_calibrations:
                calibrations.append(replace(calibration, epoch=calibration.epoch + shift))
                writer.calibrated(calibrations[-1])
            for burst in taken:
                bursts.append(replace(burst, epoch=burst.epoch + shift))
                writer.measured(bursts[-1])
            for failure in failures:
                failed.append(failure)
                writer.failed(failure)
            epochs = [c.epoch for c in taken_calibrations] + [b.epoch for b in taken]
            next_epoch = shift + max(epochs, default=-1) + 1
            measuring_s += state.measuring_s
            complete = complete and state.complete
        figures, floor = make_figures(conditions, calibrations, bursts, failed)
        writer.finish(figures, floor, measuring_s, complete)
    return open_run(into)
