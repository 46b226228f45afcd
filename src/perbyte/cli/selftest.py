"""`perbyte selftest`: the harness measured against loops of known cost, through the whole pipeline.

`--full` measures loops whose ratios are known exactly: calls of one loop that take so many more steps.
"""

from __future__ import annotations

import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import click

from perbyte.cli.declared import flag, group, option, takes
from perbyte.cli.options import Duration, QuietOption, print_json
from perbyte.errors import EXIT_FINE, EXIT_FOUND, EXIT_INTERRUPTED, EXIT_UNDECIDED, EnvironmentLacking
from perbyte.model import Policy, Run
from perbyte.report.selftest import reading_text, trials_lines
from perbyte.stats.known_loops import LOOP, SLOWDOWNS, Trials, judged, steps

BUDGETS_S = (5.0, 15.0)


@dataclass(frozen=True, slots=True)
class SelftestOptions:
    """How thoroughly, and what is printed."""

    full: bool = flag(
        "--full", help="Also test slowdowns of 0.25 to 5 %, A/A pairs and intervals (3 minutes)."
    )
    trials: Annotated[int, click.IntRange(1)] = option(
        "--trials", default=6, show_default=True, help="Runs for each budget of --full."
    )
    budget: Duration | None = option("--budget", help="Budget for the runs of --full.  [5 s and 15 s]")
    as_json: bool = flag("--json", help="Print JSON.")
    notes: QuietOption = group(QuietOption)


@click.command("selftest")
@takes(SelftestOptions)
def command(options: SelftestOptions) -> int:
    """Measure loops of known cost with the complete method. Exit code 1 if a result is wrong, 5 if not known.

    --full also finds the smallest difference that this machine detects, and its rate of false alarms.

    \b
      perbyte selftest
      perbyte selftest --full
    """
    done = _measured("reference/probe-*/run@1024", Policy(budget_s=20.0), options.notes.quiet)
    readings = [judged(figure) for figure in done.cells]
    floor = done.noise_floor
    document: dict[str, Any] = {"loops": [asdict(reading) for reading in readings]}
    if not options.as_json:
        print("cycles per instruction (the empty call: per call)")
        for reading in readings:
            print(f"  {reading.loop:16} {reading_text(reading)}")
        if floor:
            print(f"A/A pairs: {floor.relative:.3%} at the most, {len(floor.pairs)} pairs")
    if options.full:
        trial = Trials()
        for budget_s in (options.budget,) if options.budget else BUDGETS_S:
            for seed in range(1, options.trials + 1):
                options.notes.note(f"{budget_s:g} s, run {seed} of {options.trials}")
                sizes = ",".join(str(steps(share)) for share in (0.0, *SLOWDOWNS))
                policy = Policy(budget_s=budget_s, seed=seed)
                trial.take(_measured(f"reference/{LOOP}/run@{sizes}", policy, quiet=True), budget_s)
        document["full"] = trial.said()
        if not options.as_json:
            print("\n".join(trials_lines(trial)))
    if options.as_json:
        print_json(document)
    if any(reading.wrong for reading in readings):
        return EXIT_FOUND
    unclear = [each.unclear for each in readings if each.cycles is not None and each.goal is not None]
    return EXIT_UNDECIDED if unclear and all(unclear) else EXIT_FINE


def _measured(selector: str, policy: Policy, quiet: bool) -> Run:
    from perbyte.catalogue import parse_selector
    from perbyte.cli.conduct import conduct
    from perbyte.measure import Request

    with tempfile.TemporaryDirectory() as temporary:
        done = conduct(Request((parse_selector(selector),)), policy, out=Path(temporary) / "run", quiet=quiet)
    if done.code == EXIT_INTERRUPTED:
        raise KeyboardInterrupt
    if not done.run.cells:
        raise EnvironmentLacking("no loop could be measured", hint="see: perbyte doctor")
    return done.run
