"""`perbyte selftest`: the harness measured against loops of known cost, through the whole pipeline.

`--full` measures loops whose ratios are known exactly: calls of one loop that take so many more steps.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from perbyte.cli.options import Seconds, note
from perbyte.errors import EXIT_FINE, EXIT_FOUND, EXIT_INTERRUPTED, EXIT_UNDECIDED, EnvironmentLacking
from perbyte.model import Policy, Run
from perbyte.report.selftest import reading_text, trials_lines
from perbyte.stats.known_loops import LOOP, SLOWDOWNS, Trials, judged, steps

BUDGETS_S = (5.0, 15.0)


@click.command("selftest")
@click.option(
    "--full", is_flag=True, help="Also test slowdowns of 0.25 to 5 %, A/A pairs and intervals (3 minutes)."
)
@click.option(
    "--trials", type=click.IntRange(1), default=6, show_default=True, help="Runs for each budget of --full."
)
@click.option("--budget", type=Seconds(), help="Budget for the runs of --full.  [5 s and 15 s]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def command(full: bool, trials: int, budget: float | None, as_json: bool, quiet: bool) -> int:
    """Measure loops of known cost with the complete method. Exit code 1 if a result is wrong, 5 if not known.

    --full also finds the smallest difference that this machine detects, and its rate of false alarms.

    \b
      perbyte selftest
      perbyte selftest --full
    """
    done = _measured("reference/probe-*/run@1024", Policy(budget_s=20.0), quiet)
    readings = [judged(figure) for figure in done.cells]
    floor = done.noise_floor
    document: dict[str, Any] = {"loops": [asdict(reading) for reading in readings]}
    if not as_json:
        print("cycles per instruction (the empty call: per call)")
        for reading in readings:
            print(f"  {reading.loop:16} {reading_text(reading)}")
        if floor:
            print(f"A/A pairs: {floor.relative:.3%} at the most, {len(floor.pairs)} pairs")
    if full:
        trial = Trials()
        for budget_s in (budget,) if budget else BUDGETS_S:
            for seed in range(1, trials + 1):
                note(f"{budget_s:g} s, run {seed} of {trials}", quiet=quiet)
                sizes = ",".join(str(steps(share)) for share in (0.0, *SLOWDOWNS))
                policy = Policy(budget_s=budget_s, seed=seed)
                trial.take(_measured(f"reference/{LOOP}/run@{sizes}", policy, quiet=True), budget_s)
        document["full"] = trial.said()
        if not as_json:
            print("\n".join(trials_lines(trial)))
    if as_json:
        print(json.dumps(document, indent=1))
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
