"""Whether a plan fits into its budget, before anything is measured."""

from __future__ import annotations

import math
from dataclasses import replace

from perbyte.app.listener import Say, silent
from perbyte.errors import UsageError
from perbyte.measure import Prepared, foresee, recall_pace
from perbyte.model.text import counted


def budgeted(prepared: Prepared, say: Say = silent, *, raised: bool) -> Prepared:
    """Say how long it takes. A budget that is far too small is `raised` where nobody chose it.

    Raises UsageError where somebody did, with the budget that would do.
    """
    policy, cells = prepared.conditions.policy, len(prepared.plan.cells)
    pace = recall_pace(policy.cores[0])
    seen = foresee(prepared.plan, policy, prepared.survey.specs, pace)
    if not seen.fits and raised:
        policy = replace(
            policy, budget_s=float(math.ceil(max(seen.least_s, *(s for _, s in seen.alone), 1.0)))
        )
        say(f"the budget is {policy.budget_s:g} s, because the plan needs at least that")
        seen = foresee(prepared.plan, policy, prepared.survey.specs, pace)
        prepared = replace(prepared, conditions=replace(prepared.conditions, policy=policy))
    elif not seen.fits:
        enough = f"--budget {math.ceil(seen.least_s)}s"
        if seen.alone:
            cell, took = max(seen.alone, key=lambda timed: timed[1])
            text = f"one call of {cell.address}, with its data and its check, takes about {took:.0f} s"
        else:
            text = f"{cells:,} cells in {policy.epochs} epochs take about {seen.least_s:.0f} s or more"
        raise UsageError(
            f"{text}: too much for a budget of {policy.budget_s:g} s",
            hint=f"{enough}, fewer cells or sizes, or fewer --epochs; --dry-run prints the time of a plan",
        )
    say(f"{counted(cells)}: {seen}")
    return prepared
