"""What became of leaks between two sides, in words and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from perbyte.report.leaktext import contrast_text, verdict_text
from perbyte.stats.leak import LeakChange

SHOWN = 4


def leak_change_lines(changes: Sequence[LeakChange]) -> list[str]:
    """A line for each cell and contrast: what became of it, and what each side says."""
    return [
        f"{change.after.cell.address}, {contrast_text(change.after)}: {change.became}: "
        f"{verdict_text(change.before)} → {verdict_text(change.after)}"
        for change in changes
    ]


def leak_changes_json(changes: Sequence[LeakChange]) -> list[dict[str, Any]]:
    """The same for programs."""
    return [
        {
            "address": change.after.cell.address,
            "contrast": contrast_text(change.after),
            "became": change.became.value,
            "worse": change.worse,
            "before": verdict_text(change.before),
            "after": verdict_text(change.after),
            "verdict_before": change.before.verdict,
            "verdict_after": change.after.verdict,
        }
        for change in changes
    ]


def leak_notes(lost: Sequence[str], bad: Sequence[LeakChange]) -> list[str]:
    """What was tested on the first side only, and the leaks at which a gate fails."""
    notes = [f"leaks were tested only on the first side: {', '.join(lost[:SHOWN])}"] if lost else []
    if bad:
        names = "; ".join(
            f"{change.after.cell.address}, {contrast_text(change.after)} ({change.became})"
            for change in bad[:SHOWN]
        )
        notes.append(f"the time depends on a secret: {names}{'; ...' * (len(bad) > SHOWN)}")
    return notes
