"""Merges runs made under the same conditions into one with more epochs.

Runs that differ in anything a figure depends on are refused, naming the fields: a merged figure must be one
that a single longer run could have given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from perbyte.errors import UsageError
from perbyte.model import Row, Run, StoredRun, UnprovenTier
from perbyte.store.agreement import differences, require_agreement
from perbyte.store.reader import figures_of_stored, open_run, read_known, run_directory, stored_run
from perbyte.store.writer import RunWriter


def merge(paths: Sequence[Path], into: Path) -> Run:
    """Write the samples of all runs into a new run directory and make its figures.

    Epochs are numbered on, because each is a set of fresh processes. Raises IncompatibleRuns naming the
    checked fields that differ, UsageError for fewer than two runs or one given twice, StoreError otherwise.
    """
    directories = [run_directory(path) for path in paths]
    if len(directories) < 2 or len({place.resolve() for place in directories}) < len(directories):
        raise UsageError("merging needs two or more different runs", hint="name each run once")
    conditions = read_known(directories[0]).state.conditions
    ids = [conditions.run_id]
    for place in directories[1:]:
        other = read_known(place).state.conditions
        found = differences(conditions, other)
        hint = "compare them instead: perbyte compare A B"
        require_agreement(found, f"{directories[0]} and {place} cannot be merged", hint)
        if other.run_id in ids:
            raise UsageError(f"{place} is a copy of a run that is already given", hint="name each run once")
        ids.append(other.run_id)
        conditions = replace(
            conditions,
            plan=tuple(dict.fromkeys((*conditions.plan, *other.plan))),
            identities=tuple(dict.fromkeys((*conditions.identities, *other.identities))),
        )
    conditions = replace(conditions, run_id="+".join(ids))
    whole = StoredRun(conditions, (), (), (), (), 0.0, True)
    for place in directories:
        whole = _joined(whole, stored_run(place))
    with RunWriter.create(into) as writer:
        writer.begin(conditions)
        for calibration in whole.calibrations:
            writer.calibrated(calibration)
        for tier in whole.unproven:
            writer.unproven(tier)
        for burst in whole.bursts:
            writer.measured(burst)
        made = figures_of_stored(whole)
        for failure in (*whole.failures, *made.failures):
            writer.failed(failure)
        writer.finish(made.cells, made.noise_floor, whole.measuring_s, whole.complete)
    return open_run(into)


def _joined(first: StoredRun, second: StoredRun) -> StoredRun:
    """Return both runs as one: under the conditions of the first, the second one's epochs numbered on."""
    epochs = [one.epoch for one in first.calibrations] + [one.epoch for one in first.bursts]
    shift = 1 + max(epochs, default=-1)
    tiers: dict[Row, UnprovenTier] = {tier.row: tier for tier in first.unproven}
    tiers |= {tier.row: tier for tier in second.unproven if tier.factor or tier.row not in tiers}
    return StoredRun(
        first.conditions,
        first.calibrations + tuple(replace(one, epoch=one.epoch + shift) for one in second.calibrations),
        first.bursts + tuple(replace(one, epoch=one.epoch + shift) for one in second.bursts),
        first.failures + second.failures,
        tuple(tiers.values()),
        first.measuring_s + second.measuring_s,
        first.complete and second.complete,
    )
