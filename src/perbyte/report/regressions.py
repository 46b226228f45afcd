"""A gate's answer in words and as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence

from perbyte.model.text import counted, json_ready
from perbyte.report.wording import ratio_interval_text, ratio_text
from perbyte.stats.compare import Answer
from perbyte.stats.pairing import Named, Regressions

SHOWN = 4  # cells beyond a limit that a message names


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
