"""A gate's answer in words and as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence

from perbyte.model.text import json_ready
from perbyte.report.facts import counted
from perbyte.report.wording import ratio_interval_text, ratio_text
from perbyte.stats.compare import Answer
from perbyte.stats.regressions import Named, Regressions

SHOWN = 4  # cells beyond a limit that a message names


def regression_lines(found: Regressions, *, one_run: bool) -> list[str]:
    """What was found, and what would decide the rest. `one_run`: both sides were measured in turn."""
    beyond = f"slower by more than {100 * found.threshold:g} %"
    lines = []
    if found.slower:
        lines.append(f"{beyond}, beyond doubt: {_named(found.slower, found.compared)}")
    if not found.undecided:
        return lines or [f"not {beyond}, beyond doubt: {counted(found.compared)}"]
    lines.append(f"undecided whether {beyond}: {_named(found.undecided, found.compared)}")
    doubts = dict.fromkeys(comparison.doubt for _, comparison in found.undecided if comparison.doubt)
    if doubts:
        lines.append(f"{'; '.join(doubts)}: a quieter moment or core, or a larger --budget, would help")
    elif math.isfinite(found.more_s):
        seconds, each = max(1, math.ceil(found.more_s)), "the run" if one_run else "each run"
        lines.append(f"about {seconds:,} s more of measuring in {each} would decide it here")
    else:
        lines.append(
            "the noise floor is in the way, or the limit is too near: more time alone would not decide it"
        )
    if not one_run:
        lines.append("both builds in one run tell smaller differences: docs/cli.md, 'Is it slower?'")
    return lines


def regressions_json(found: Regressions) -> dict[str, object]:
    """The same for programs; `more_s` is None where time alone does not help."""
    return {
        "fail_above": found.threshold,
        "answer": "not slower" if found.answer is Answer.TIED else found.answer.value,
        "slower": [address for address, _ in found.slower],
        "undecided": [address for address, _ in found.undecided],
        "more_s": json_ready(found.more_s),
    }


def _named(found: Sequence[Named], of: int) -> str:
    ordered = sorted(found, key=lambda pair: -pair[1].ratio.value)
    shown = [
        f"{address} ×{ratio_text(comparison.ratio)} ({ratio_interval_text(comparison.ratio)})"
        for address, comparison in ordered[:SHOWN]
    ]
    more = f" and {len(found) - SHOWN:,} more" if len(found) > SHOWN else ""
    return f"{len(found):,} of {counted(of)}: {', '.join(shown)}{more}"
