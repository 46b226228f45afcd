"""What libraries cost, from a run that is still true: measured on this machine since it was started, of the same
builds, under the same policy.

That it is still true is not believed but seen: the best library of each row is measured again in turn with the user's
function. Where its figure is another than the stored one, nothing stored is used.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from perbyte import places
from perbyte.errors import PerbyteError
from perbyte.measure import Survey, describe_machine
from perbyte.model import Cell, CellFigure, Policy, Quality, Run
from perbyte.runners.session import file_sha256
from perbyte.stats.across import floor_across
from perbyte.stats.compare import compare
from perbyte.store import open_run, runs

FRESH_H = 24  # hours after which a run is old, whatever else agrees
NEWEST = 40  # runs that are looked at, and seconds for which they are
LOOK_S = 0.5
_FREE = frozenset({"precision", "budget_s", "epochs", "max_epochs", "seed", "core", "cores"})


@dataclass(frozen=True, slots=True)
class Stored:
    """Figures of libraries from earlier runs; `anchors` are the cheapest of each row, to be measured again."""

    found: dict[Cell, tuple[Run, CellFigure]]

    @property
    def anchors(self) -> tuple[Cell, ...]:
        """One cell for each operation, contract and size."""
        best: dict[tuple[str, str, int], Cell] = {}
        for cell in sorted(self.found, key=lambda cell: self.found[cell][1].ns_per_call):
            best.setdefault((cell.operation, cell.contract, cell.size_bytes), cell)
        return tuple(best.values())

    def lacking(self, cells: Sequence[Cell]) -> list[Cell]:
        """Those of `cells` of which nothing is stored."""
        return [cell for cell in cells if cell not in self.found]

    def untrue(self, now: Run) -> str:
        """Which anchor costs something else in the run `now`, and how much; empty where all agree."""
        for figure in now.cells:
            if figure.cell not in self.found:
                continue
            run, before = self.found[figure.cell]
            noise = floor_across((run.noise_floor, now.noise_floor))
            ratio = compare(before, figure, noise, same_run=False).ratio
            if ratio.above(1) or ratio.below(1):
                name, times = figure.cell.runner, f"{ratio.value:.3g}"
                return (
                    f"the run {run.conditions.run_id} is out of date: {name} costs {times} times as much now"
                )
        return ""

    def kept(self, now: Run) -> list[tuple[Run, CellFigure]]:
        """What is taken from earlier runs: all that `now` did not measure again."""
        again = {figure.cell for figure in now.cells}
        return [figure for cell, figure in self.found.items() if cell not in again]

    def as_json(self, now: Run) -> dict[str, object]:
        """What was not measured again, with the run it is from, as JSON types."""
        return {
            "cells": [
                {
                    "address": figure.cell.address,
                    "cycles_per_call": figure.cycles_per_call,
                    "ns_per_call": figure.ns_per_call,
                    "run": run.conditions.run_id,
                    "started_at": run.conditions.started_at,
                }
                for run, figure in self.kept(now)
            ]
        }


def find_stored(cells: Sequence[Cell], surveyed: Survey, policy: Policy) -> Stored | None:
    """Fresh figures of `cells`, those of libraries, each from the newest run that has a good one; None without any."""
    if not cells:
        return None
    machine, since = describe_machine(), _started()
    oldest = max(since, datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=FRESH_H))
    kept: dict[Cell, tuple[Run, CellFigure]] = {}
    open_cells = set(cells)
    for run in _newest(oldest):
        if (
            run.conditions.machine != machine
            or run.conditions.input
            or not _alike(run.conditions.policy, policy)
        ):
            continue
        figures = [
            figure
            for figure in run.cells
            if figure.cell in open_cells and figure.quality in (Quality.GOOD, Quality.IMPRECISE)
        ]
        same = _same_builds(run, [figure.cell for figure in figures], surveyed)
        for figure in figures:
            if (figure.cell.runner, figure.cell.cpu) in same:
                kept[figure.cell] = (run, figure)
        open_cells -= set(kept)
        if not open_cells:
            break
    return Stored(kept) if kept else None


def last_costs(runners: Sequence[str], algorithm: str) -> dict[str, float]:
    """Nanoseconds a byte of the cheapest cell of each of `runners` in the newest run here that has any, however old."""
    known: dict[str, float] = {}
    for run in _newest(datetime.datetime.min.replace(tzinfo=datetime.UTC)):
        for figure in run.cells:
            if figure.cell.algorithm == algorithm and figure.cell.runner in runners:
                cost = figure.ns_per_call / (figure.cell.size_bytes or 1)
                known[figure.cell.runner] = min(cost, known.get(figure.cell.runner, cost))
        if len(known) == len(runners):
            break
    return known


def _newest(oldest: datetime.datetime) -> Iterator[Run]:
    until = time.monotonic() + LOOK_S
    for summary in runs(places.runs_home())[:NEWEST]:
        if time.monotonic() > until:
            return
        if summary.problem or not summary.complete or not _after(summary.started_at, oldest):
            continue
        try:
            yield open_run(summary.path)
        except PerbyteError:
            continue


def _alike(policy: Policy, other: Policy) -> bool:
    """True where samples are taken and judged by the same rules; how many of them is no matter."""
    return all(
        getattr(policy, field.name) == getattr(other, field.name)
        for field in fields(Policy)
        if field.name not in _FREE
    )


def _same_builds(run: Run, cells: Sequence[Cell], surveyed: Survey) -> set[tuple[str, str]]:
    """Runner and tier of libraries whose object is the one measured, by the same SDK and compiler."""
    known = {(identity.runner, identity.cpu): identity for identity in run.conditions.identities}
    same = set()
    for row in {(cell.runner, cell.cpu) for cell in cells}:
        before, now = known.get(row), surveyed.hellos.get(row)
        if not before or not now:
            continue
        ours = (before.library_version, before.compiler, before.flags, before.sdk)
        if ours != (now.library_version, now.compiler, now.flags, now.sdk):
            continue
        if before.object_sha256 and before.object_sha256 == file_sha256(now.object):
            same.add(row)
    return same


def _after(moment: str, oldest: datetime.datetime) -> bool:
    try:
        return datetime.datetime.fromisoformat(moment) >= oldest
    except (ValueError, TypeError):
        return False


def _started() -> datetime.datetime:
    for line in Path("/proc/stat").read_text(encoding="ascii").splitlines():
        if line.startswith("btime "):
            return datetime.datetime.fromtimestamp(int(line.split()[1]), datetime.UTC)
    return datetime.datetime.now(datetime.UTC)
