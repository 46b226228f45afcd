"""`perbyte selftest`: the harness measured against loops of known cost, through the whole pipeline.

`--full` measures loops whose ratios are known exactly: calls of one loop that take so many more steps.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import click

from perbyte.cli.declared import Options, flag, group, option, takes
from perbyte.cli.options import Duration, QuietOption, print_json, print_lines
from perbyte.report.checkup import loops_lines, trials_lines


class _SelftestOptions(Options):
    full: bool = flag(
        "--full", help="Also test slowdowns of 0.25 to 5 %, A/A pairs and intervals (3 minutes)."
    )
    trials: Annotated[int, click.IntRange(1)] = option(
        "--trials", default=6, show_default=True, help="Runs for each budget of --full."
    )
    budget: Duration | None = option("--budget", help="Budget for the runs of --full.  [5 s and 15 s]")
    as_json: bool = flag("--json", help="Print JSON.")
    notes: QuietOption = group(QuietOption)


@takes("selftest", _SelftestOptions)
def command(options: _SelftestOptions) -> int:
    """Measure loops of known cost with the complete method. Exit code 1 if a result is wrong, 5 if not known.

    --full also finds the smallest difference that this machine detects, and its rate of false alarms.

    \b
      perbyte selftest
      perbyte selftest --full
    """
    from perbyte.app.selftest import BUDGETS_S, read_loops, try_slowdowns
    from perbyte.cli.conduct import conduct

    known = read_loops(partial(conduct, quiet=options.notes.quiet))
    document: dict[str, Any] = {"loops": known.readings}
    if not options.as_json:
        print_lines(loops_lines(known.readings, known.floor))
    if options.full:
        budgets_s = (options.budget,) if options.budget else BUDGETS_S
        trials = try_slowdowns(budgets_s, options.trials, partial(conduct, quiet=True), options.notes.note)
        document["full"] = trials.said()
        if not options.as_json:
            print_lines(trials_lines(trials))
    if options.as_json:
        print_json(document)
    return known.code
