"""How a command that measured ends: a line on the cells that have no figure, and where its time went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from perbyte.cli.options import note, notes
from perbyte.model import Run

if TYPE_CHECKING:
    from perbyte.app.conducting import Conducted
    from perbyte.stats.pairing import Regressions


def note_losses(run: Run, *, quiet: bool) -> None:
    """Say on standard error which cells have no figure."""
    from perbyte.report.gate import losses

    if line := losses(run):
        note(line, quiet=quiet)


def note_end(done: Conducted, *, quiet: bool) -> None:
    """Say which cells have no figure, and learn from the run for the next one."""
    from perbyte.measure import note_after

    note_losses(done.run, quiet=quiet)
    note_after(done.run.conditions, done.outcome)


def note_gaps(addresses: Sequence[str]) -> None:
    """Say which rows of a comparison have no figure on one side."""
    if addresses:
        note(f"missing: {', '.join(addresses)}: nothing is known of what was to be compared there")


def note_regressions(regressions: Regressions, *, one_run: bool, quiet: bool = False) -> None:
    """Say what is slower than a limit allows. `one_run`: both sides were measured in turn."""
    from perbyte.report.gate import regression_lines

    notes(regression_lines(regressions, one_run=one_run), quiet=quiet)


def note_profile(timing: Mapping[str, float]) -> None:
    """Say where the time of a run went."""
    from perbyte.report.gate import profile_lines

    notes(profile_lines(timing))
