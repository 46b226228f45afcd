"""A whole run in one process on a virtual clock: the real measuring code, scripted runners, a recorded neighbour.

`measure_virtually` is `perbyte.measure` as it is, with two things put in its place from outside: the session talks to
the fake runner by a function call, and the time it reads is the time that passes on the runner's virtual clock.
So a minute of measuring beside somebody else's load takes a second, and gives the same figures everywhere.
"""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from perbyte import places
from perbyte.catalogue import load, parse_selector
from perbyte.measure import Request, RunOutcome, Watcher, survey
from perbyte.measure.history import RunHistory
from perbyte.measure.learnt import Learnt
from perbyte.measure.plan import draw_plan
from perbyte.measure.run import Measurement
from perbyte.model import Policy
from perbyte.runners.locate import read_spec
from perbyte.runners.session import Session

sys.path.insert(0, str(places.data_dir("runners") / "fake"))

import fake

START_S = 0.04  # a process comes up
EXCHANGE_S = 0.0003  # a request and its answer, beside what the runner does meanwhile
SPEC = """\
[runner]
library = "Fake"
license = "Apache-2.0"
language = "python"
[build]
kind = "python"
[run]
command = ["{python}"]
"""


@dataclass(slots=True)
class VirtualClock:
    """Seconds since the run began. Measuring reads it in place of the machine's clock."""

    now: float = 0.0
    starts: int = 0

    def monotonic(self) -> float:
        return self.now


class Conversation:
    """Stands for the process of a session: lines go to a fake runner in this process."""

    fault: Exception | None = None
    alive = True
    layout_fixed = False
    stderr = ""
    asleep_s = 0.0

    def __init__(self, script: dict[str, Any], clock: VirtualClock) -> None:
        self.clock = clock
        self.line = b""
        clock.now += START_S
        clock.starts += 1
        self.fake = fake.Fake({**script, "start": clock.starts})

    def exchange(self, line: bytes, timeout_s: float) -> bytes:
        self.send(line)
        return self.receive(timeout_s)

    def send(self, line: bytes) -> None:
        self.line = line

    def receive(self, _timeout_s: float) -> bytes:
        simulation = self.fake.simulation
        simulation.now = max(simulation.now, self.clock.now)
        _, answer = self.fake.answer(self.line)
        self.clock.now = simulation.now + EXCHANGE_S
        return json.dumps(answer).encode() + b"\n"

    def cpu_s(self) -> float:
        """The virtual clock: a scripted process is at work all the time."""
        return self.clock.now

    def find_workers(self) -> None:
        """It starts no other processes."""

    def wait(self, _timeout_s: float) -> int:
        return 0

    def fail(self, fault: Exception) -> None:
        self.fault = fault

    def kill(self) -> None:
        self.alive = False


@contextlib.contextmanager
def virtual(scripts: dict[str, dict[str, Any]], clock: VirtualClock) -> Iterator[None]:
    """Let sessions of the runners in `scripts` be fake ones, and measuring read `clock`."""

    class Virtual(Session):
        def __init__(self, spec: Any, **more: Any) -> None:
            conversation = Conversation(scripts[spec.name], clock)
            with mock.patch("perbyte.runners.session.RunnerProcess", return_value=conversation):
                super().__init__(spec, **more)

    with contextlib.ExitStack() as stack:
        for name in ("sessions", "plan"):
            stack.enter_context(mock.patch(f"perbyte.measure.{name}.Session", Virtual))
        time = SimpleNamespace(monotonic=clock.monotonic)
        for name in ("run", "rounds", "budget", "telling", "stopping"):
            stack.enter_context(mock.patch(f"perbyte.measure.{name}.time", time))
        yield


@dataclass(slots=True)
class Kept:
    """A sink that keeps nothing but what the run's history has anyhow."""

    calls: int = field(default=0)

    def __getattr__(self, _name: str) -> Any:
        return lambda *_, **__: None


@dataclass(slots=True)
class Virtually:
    """A run that was made: its outcome, all it knows, and the virtual seconds it took."""

    outcome: RunOutcome
    history: RunHistory
    measurement: Measurement
    seconds: float


def measure_virtually(
    script: dict[str, Any],
    policy: Policy,
    *,
    ask: str,
    cores: tuple[int, ...] = (0,),
    twins: bool = False,
    watcher: Watcher | None = None,
) -> Virtually:
    """Run `ask` under `policy` with one scripted runner of the script's name; `watcher` follows it."""
    clock, name = VirtualClock(), script.get("name", "alpha")
    with tempfile.TemporaryDirectory() as directory, virtual({name: script}, clock):
        here = Path(directory) / name
        here.mkdir()
        (here / "runner.toml").write_text(SPEC)
        surveyed = survey([read_spec(here / "runner.toml")], ["full"])
        plan = draw_plan(Request((parse_selector(ask),)), surveyed, load(), twins=twins)
        began, history = clock.now, RunHistory()
        measurement = Measurement(
            plan,
            surveyed,
            load(),
            replace(policy, cores=cores),
            Kept(),
            watcher=watcher,
            history=history,
            learnt=Learnt(0, file=None),
        )
        outcome = measurement.measure()
        return Virtually(outcome, history, measurement, clock.now - began)
