"""What became of leaks between two sides, in words and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from perbyte.report.leaktext import contrast_text, verdict_text
from perbyte.stats.leakchange import LeakChange


def leak_change_lines(found: Sequence[LeakChange]) -> list[str]:
    """A line for each cell and contrast: what became of it, and what each side says."""
    return [
        f"{one.after.cell.address}, {contrast_text(one.after)}: {one.became}: "
        f"{verdict_text(one.before)} → {verdict_text(one.after)}"
        for one in found
    ]


def leak_changes_json(found: Sequence[LeakChange]) -> list[dict[str, Any]]:
    """The same for programs."""
    return [
        {
            "address": one.after.cell.address,
            "contrast": contrast_text(one.after),
            "became": one.became.value,
            "worse": one.worse,
            "before": verdict_text(one.before),
            "after": verdict_text(one.after),
            "verdict_before": one.before.verdict,
            "verdict_after": one.after.verdict,
        }
        for one in found
    ]
