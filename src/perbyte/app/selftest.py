"""The harness measured against loops of known cost, through the whole pipeline (`stats.known_loops`)."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from perbyte.app.conducting import conduct
from perbyte.app.listener import Listener
from perbyte.app.verdicts import exit_code
from perbyte.catalogue import parse_selector
from perbyte.errors import EnvironmentLacking
from perbyte.measure import Request
from perbyte.model import NoiseFloor, Policy, Run
from perbyte.stats.known_loops import LOOP, SLOWDOWNS, LoopReading, Trials, judged, steps

BUDGETS_S = (5.0, 15.0)
_BUDGET_S = 20.0  # of the loops that must read a known cost


@dataclass(frozen=True, slots=True)
class KnownLoops:
    """What was read for the loops, and by how much identical ones differed."""

    readings: Sequence[LoopReading]
    floor: NoiseFloor | None

    @property
    def code(self) -> int:
        """The exit code: 1 where a loop reads wrong, 5 where nothing can be told."""
        unclear = [
            reading.unclear
            for reading in self.readings
            if reading.cycles is not None and reading.goal is not None
        ]
        wrong = any(reading.wrong for reading in self.readings)
        return exit_code(detected=wrong, undecided=bool(unclear) and all(unclear))


def read_loops(listener: Listener) -> KnownLoops:
    """Measure the loops. Raises EnvironmentLacking where none can be."""
    run = _measured("reference/probe-*/run@1024", Policy(budget_s=_BUDGET_S), listener)
    return KnownLoops([judged(figure) for figure in run.cells], run.noise_floor)


def try_slowdowns(budgets_s: Sequence[float], count: int, listener: Listener) -> Trials:
    """Measure loops whose ratios are known in `count` runs of each budget in seconds, and count what was right."""
    trials = Trials()
    sizes = ",".join(str(steps(share)) for share in (0.0, *SLOWDOWNS))
    for budget_s in budgets_s:
        for seed in range(1, count + 1):
            listener.say(f"{budget_s:g} s, run {seed} of {count}")
            policy = Policy(budget_s=budget_s, seed=seed)
            trials.take(_measured(f"reference/{LOOP}/run@{sizes}", policy, listener.hushed()), budget_s)
    return trials


def _measured(selector: str, policy: Policy, listener: Listener) -> Run:
    with tempfile.TemporaryDirectory() as temporary:
        request = Request((parse_selector(selector),))
        done = conduct(request, policy, out=Path(temporary) / "run", listener=listener).whole()
    if not done.run.cells:
        raise EnvironmentLacking("no loop could be measured", hint="see: perbyte doctor")
    return done.run
