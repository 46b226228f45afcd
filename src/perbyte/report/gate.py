"""What a gate says: cells that are slower, cells that a comparison should have and has not, and time spent.

A gate that passes because the cell that got slower is not there would be worse than none. So missing cells have an exit
code of their own, and each is told with the reason. What two runs never had in common is no gap.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

from perbyte.model import NOT_REACHED, WRONG, Cell, Failure, Run, parse_address
from perbyte.model.text import counted, json_ready, plain
from perbyte.report.wording import ratio_interval_text, ratio_text
from perbyte.stats.compare import Answer
from perbyte.stats.pairing import Named, Regressions

if TYPE_CHECKING:
    from perbyte.report.grid import Grid

SHOWN = 4  # cells that a message names
_MEASURED = "measured"  # what listings of other tools leave out is not known to have been asked for
_SILENT = "unsupported"  # asked of runners that do not have it, mostly by a glob


@dataclass(frozen=True, slots=True)
class MissingCell:
    """A cell that `side` lacks, and why."""

    address: str
    side: str
    why: str


def missing_of_runs(
    grids: Iterable[Grid], runs: Sequence[Run], names: Sequence[str], *, gate: bool
) -> list[MissingCell]:
    """Cells of runs side by side that one has and another was to measure; at a gate all that the first one has."""
    cells = []
    for grid in grids:
        for row in grid.rows:
            if not any(entry.figure for entry in row.entries):
                continue
            for entry, run, name in zip(row.entries, runs, names, strict=True):
                failure = entry.failure
                if entry.figure:
                    continue
                if failure and failure.kind != _SILENT and run.conditions.origin == _MEASURED:
                    why = f"{failure.kind}: {failure.message}"
                    cells.append(MissingCell(failure.address or row.cell.address, name, why))
                elif gate and row.entries[0].figure:
                    cells.append(MissingCell(row.cell.address, name, "it has no such cell"))
    if gate:
        told = {(cell.address, cell.side) for cell in cells}
        lost = [cell for run, name in zip(runs, names, strict=True) for cell in _lost(run, name)]
        cells += [cell for cell in lost if (cell.address, cell.side) not in told]
    return cells


def missing_of_sides(
    run: Run, chosen: Sequence[Iterable[Cell]], names: Sequence[str], unpaired: Sequence[Cell]
) -> list[MissingCell]:
    """Cells of a run that were to be measured and are on one of two sides; `unpaired` are the first side's alone.

    `chosen`: the cells without a figure that each side's selector means.
    """
    lost = {loss.address: loss.why for loss in _lost(run, "")}
    missing = [
        MissingCell(cell.address, name, lost[cell.address])
        for cells, name in zip(chosen, names, strict=True)
        for cell in cells
        if cell.address in lost
    ]
    work = attrgetter("algorithm", "operation", "size_bytes", "contract")
    told = {work(parse_address(cell.address)) for cell in missing}
    return missing + [
        MissingCell(cell.address, names[-1], "it has no counterpart")
        for cell in unpaired
        if work(cell) not in told
    ]


def missing_lines(cells: Sequence[MissingCell]) -> list[str]:
    """Which cells are missing; those that lack the same thing are one line."""
    alike: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        alike.setdefault((cell.side, cell.why), []).append(cell.address)
    lines = []
    for (side, why), addresses in alike.items():
        more = f" and {len(addresses) - SHOWN:,} more" if len(addresses) > SHOWN else ""
        told = plain(", ".join(addresses[:SHOWN]), 400)
        lines.append(f"missing in {plain(side, 60)}: {told}{more}: {plain(why, 300)}")
    return lines


def _lost(run: Run, name: str) -> list[MissingCell]:
    if run.conditions.origin != _MEASURED:
        return []
    there = {figure.cell.address for figure in run.cells}
    planned = set(run.conditions.plan) - there
    return [
        MissingCell(failure.address, name, f"{failure.kind}: {failure.message}")
        for failure in run.failures
        if failure.address in planned and failure.kind != _SILENT
    ]


BROKEN = frozenset({"crashed", "timed-out", "garbled"})
# what befell the cells, and what to do about it; `{runner}` is the first of theirs
_TOLD = {
    "audit": (
        "refused by the audit",
        "perbyte show --audit marked tells what decided; measure them again, with more --budget",
    ),
    "refused": ("left out", "the list above says why"),
    NOT_REACHED: ("not reached", "the list above says which --budget would do"),
    "absent": ("of runners that do not start", "perbyte doctor"),
    **dict.fromkeys(WRONG, ("with a wrong output", "expected and got are listed above")),
    **dict.fromkeys(BROKEN, ("of runners that broke off", "perbyte conform {runner}")),
}


def losses(run: Run) -> str:
    """One line on the cells of `run` that have no figure: how many, why, and what to do; empty where all have one."""
    failures_of: dict[tuple[str, str], list[Failure]] = defaultdict(list)
    for failure in run.failures:
        if failure.kind != _SILENT and "+twin=" not in failure.address:
            failures_of[_TOLD.get(failure.kind, (failure.kind, "the list above says why"))].append(failure)
    parts = []
    for (what, advice), failures in failures_of.items():
        cells = sum(bool(failure.address) for failure in failures) or len(failures)
        runner = plain(failures[0].runner, 40)
        parts.append(f"{cells:,} {plain(what, 40)} ({advice.format(runner=runner)})")
    return f"without a figure: {'; '.join(parts)}" if parts else ""


def profile_lines(timing: Mapping[str, float]) -> list[str]:
    """Where the time of a run went: seconds by part, their share, and a bar."""
    whole = sum(timing.values()) or 1.0
    return [
        f"where {whole:.1f} s went:",
        *(
            f"  {part:11} {seconds:8.2f} s {seconds / whole:6.1%}  {'#' * round(40 * seconds / whole)}"
            for part, seconds in timing.items()
        ),
    ]


def gap_lines(addresses: Sequence[str]) -> list[str]:
    """Which rows of a comparison have no figure on one side."""
    told = f"missing: {', '.join(addresses)}: nothing is known of what was to be compared there"
    return [told] if addresses else []


def regression_lines(regressions: Regressions, *, one_run: bool) -> list[str]:
    """What was found, and what would decide the rest. `one_run`: both sides were measured in turn."""
    beyond = f"slower by more than {100 * regressions.threshold:g} %"
    lines = []
    if regressions.slower:
        lines.append(f"{beyond}, beyond doubt: {_named(regressions.slower, regressions.compared)}")
    if not regressions.undecided:
        return lines or [f"not {beyond}, beyond doubt: {counted(regressions.compared, 'cell')}"]
    lines.append(f"undecided whether {beyond}: {_named(regressions.undecided, regressions.compared)}")
    doubts = dict.fromkeys(comparison.doubt for _, comparison in regressions.undecided if comparison.doubt)
    if doubts:
        lines.append(f"{'; '.join(doubts)}: a quieter moment or core, or a larger --budget, would help")
    elif math.isfinite(regressions.more_s):
        seconds, each = max(1, math.ceil(regressions.more_s)), "the run" if one_run else "each run"
        lines.append(f"about {seconds:,} s more of measuring in {each} would decide it here")
    else:
        lines.append(
            "the noise floor is too large, or the limit too close: more time alone would not decide it"
        )
    if not one_run:
        lines.append("both builds in one run tell smaller differences: docs/cli.md, 'Is it slower?'")
    return lines


def regressions_json(regressions: Regressions) -> dict[str, object]:
    """The same for programs; `more_s` is None where time alone does not help."""
    return {
        "fail_above": regressions.threshold,
        "answer": "not slower" if regressions.answer is Answer.TIED else regressions.answer.value,
        "slower": [address for address, _ in regressions.slower],
        "undecided": [address for address, _ in regressions.undecided],
        "more_s": json_ready(regressions.more_s),
    }


def _named(named: Sequence[Named], of: int) -> str:
    ordered = sorted(named, key=lambda pair: -pair[1].ratio.value)
    shown = [
        f"{address} ×{ratio_text(comparison.ratio)} ({ratio_interval_text(comparison.ratio)})"
        for address, comparison in ordered[:SHOWN]
    ]
    more = f" and {len(named) - SHOWN:,} more" if len(named) > SHOWN else ""
    return f"{len(named):,} of {counted(of, 'cell')}: {', '.join(shown)}{more}"
