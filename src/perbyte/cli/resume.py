"""Go on with an interrupted run.

Plan, policy and what was spent come from the run itself, so that both halves belong together. How it is then
carried out is told in `conduct`, as for any run.
"""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import replace
from pathlib import Path

from perbyte import __version__
from perbyte.catalogue import load
from perbyte.cli.conduct import Conducted, built_runners, carry_out, now
from perbyte.cli.input_file import describe_input
from perbyte.errors import EnvironmentLacking
from perbyte.measure import History, Plan, choose_cores, describe_machine, require_linux, survey
from perbyte.measure.plan import choose_twins
from perbyte.model import parse_address
from perbyte.protocol import PROTOCOL_VERSION
from perbyte.runners import stale


def conduct_resumed(path: Path, *, quiet: bool = False, budget_s: float | None = None) -> Conducted:
    """Go on with an interrupted run under its own plan and policy.

    What was spent of its budget stays spent, after a kill too; only the promised epochs are made all the same.
    `budget_s` is what it may spend from here on instead. Raises IncompatibleRuns when machine, runners,
    input or Perbyte itself are not those the run began with.
    """
    from perbyte.store import RunWriter, resume_state
    from perbyte.store.reader import read_known, run_directory

    require_linux()
    path = run_directory(path)
    conditions, calibrations, bursts, failures = resume_state(path)
    spent_s = read_known(path).state.measuring_s
    policy = replace(conditions.policy, cores=choose_cores(conditions.policy.cores))
    if budget_s:
        policy = replace(policy, budget_s=spent_s + budget_s)
    cells = tuple(parse_address(address) for address in conditions.plan)
    names = sorted({cell.runner for cell in cells})
    specs = built_runners(names)
    if lacking := sorted(set(names) - {spec.name for spec in specs}):
        raise EnvironmentLacking(
            f"runner '{lacking[0]}' of this run is not built",
            way_out=f"run: perbyte build {' '.join(lacking)}",
        )
    if outdated := [spec.name for spec in specs if stale(spec)]:
        raise EnvironmentLacking(
            f"runner '{outdated[0]}' was built from other sources than those that are here",
            way_out=f"run: perbyte build {' '.join(outdated)}",
        )
    found = survey(specs, sorted({cell.cpu for cell in cells} | {"full"}))
    history = History(failures=list(failures), identities=conditions.identities, measuring_s=spent_s)
    for calibration in calibrations:
        history.calibrations[calibration.process, calibration.epoch] = calibration
    for burst in bursts:
        history.bursts[burst.cell].append(burst)
        history.epochs = max(history.epochs, burst.epoch + 1)
    writer = RunWriter.resume(path)
    stored = conditions.input.get("path")
    input_path = Path(stored) if stored else None
    conditions = replace(
        conditions,
        perbyte_version=__version__,
        catalogue_version=load().version,
        protocol_version=PROTOCOL_VERSION,
        policy=replace(conditions.policy, budget_s=policy.budget_s),
        started_at=now(),
        command=tuple(sys.argv[1:]),
        machine=describe_machine(),
        load_before=os.getloadavg(),
        input=dict(describe_input(input_path)) if input_path else {},
    )
    with contextlib.closing(writer):
        writer.begin(conditions)
        plan = Plan(cells, choose_twins(cells))
        return carry_out(plan, found, policy, writer, path, history, quiet, input_path)
