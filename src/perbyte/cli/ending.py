"""How a command that measured ends: a line on the cells that have no figure, and where its time went."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from perbyte.app.conducting import WRONG
from perbyte.cli.options import note
from perbyte.model import NOT_REACHED, Failure, Run
from perbyte.model.text import plain

if TYPE_CHECKING:
    from perbyte.stats.regressions import Regressions

BROKEN = frozenset({"crashed", "timed-out", "garbled"})
# what befell the cells, and what to do about it; `{runner}` is the first of theirs
_TOLD = {
    "audit": (
        "refused by the audit",
        "measure them again, with more --budget; refused once more: perbyte conform {runner}",
    ),
    "refused": ("left out", "the list above says why"),
    NOT_REACHED: ("not reached", "the list above says which --budget would do"),
    "absent": ("of runners that do not start", "perbyte doctor"),
    **dict.fromkeys(WRONG, ("with a wrong output", "expected and got are listed above")),
    **dict.fromkeys(BROKEN, ("of runners that broke off", "perbyte conform {runner}")),
}
_SILENT = "unsupported"  # asked of runners that do not have it, mostly by a glob


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


def note_losses(run: Run, *, quiet: bool) -> None:
    """Say on standard error which cells have no figure."""
    if line := losses(run):
        note(line, quiet=quiet)


def note_gaps(addresses: Sequence[str]) -> None:
    """Say which rows of a comparison have no figure on one side."""
    if addresses:
        note(f"missing: {', '.join(addresses)}: nothing is known of what was to be compared there")


def note_regressions(regressions: Regressions, *, one_run: bool, quiet: bool = False) -> None:
    """Say what is slower than a limit allows. `one_run`: both sides were measured in turn."""
    from perbyte.report.regressions import regression_lines

    for line in regression_lines(regressions, one_run=one_run):
        note(line, quiet=quiet)


def note_profile(timing: Mapping[str, float]) -> None:
    """Say where the time of a run went: seconds by part, their share, and a bar."""
    whole = sum(timing.values()) or 1.0
    note(f"where {whole:.1f} s went:")
    for part, seconds in timing.items():
        note(f"  {part:11} {seconds:8.2f} s {seconds / whole:6.1%}  {'#' * round(40 * seconds / whole)}")
