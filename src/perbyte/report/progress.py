"""Where a run stands, in a line."""

from __future__ import annotations

from typing import Any


def moment_text(moment: Any) -> str:
    """What a `measure.Moment` says; what a narrow terminal cuts off matters least."""
    rest = (
        "beyond the budget, for the least number of epochs"
        if not moment.left_s
        else f"at most {moment.left_s + moment.after_s:.0f} s left"
        if moment.expected_s is None
        else f"about {moment.expected_s + moment.after_s:.0f} s left"
    )
    parts = [
        f"{moment.elapsed_s:.0f} s, {rest}",
        f"{moment.done} of {moment.total} cells done",
        f"{moment.stage}, {moment.pending} to go",
        f"{moment.clean_share:.0%} clean" if moment.clean_share else "",
        moment.what,
    ]
    return " · ".join(filter(None, parts))
