"""Calls whose cost varies at random: single calls in turns, until quantiles can be told or the time is over.

A cell under a contract of `draw/` is no mean of a loop. Each sample is one call, and each call draws its own
randomness, so more calls tell more, whichever process makes them. Once an epoch, when its rounds are over, all such
cells take turns: a burst each, until the epoch's share of the time is over or each has the calls of an epoch. Nothing
is warmed up by calls of 100 ms: one untimed call of each process comes before the first timed one.

What is timed is held against the process's CPU time: a runner that says that its calls took less has used time that
nobody saw. More cannot be asked: no two calls do the same work.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from perbyte.errors import RunnerError
from perbyte.measure.fresh import ASK_S, DRAWN_S, MOST
from perbyte.measure.rounds import EpochUnderWay
from perbyte.measure.sessions import BROKE_OFF, failure_of
from perbyte.model import Burst, Cell, Failure, Policy
from perbyte.stats.draws import ENOUGH_CALLS

BURST_MS, BURST_CALLS = 300.0, 64
# of CPU time, that timed calls may lack: what a burst does besides takes less, and chance does not affect it
UNSEEN_SHARE, UNSEEN_S = 0.1, 5e-3


def wanted_calls(policy: Policy) -> int:
    """How many calls a cell gets in an epoch at the most: all of them in the promised epochs."""
    return math.ceil(ENOUGH_CALLS / policy.epochs)


def calls_of(bursts: Sequence[Burst]) -> int:
    """How many calls a cell has so far."""
    return sum(map(len, bursts))


@dataclass(slots=True)
class _Taken:
    """What a cell got in an epoch: calls, seconds that they say they took, and those of the process.

    `digests`: of what the last call of each burst gave.
    """

    calls: int = 0
    timed_s: float = 0.0
    cpu_s: float = 0.0
    shortest_s: float = math.inf
    digests: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Draws:
    """The calls of one epoch. `known` holds the bursts of the run so far."""

    epoch: EpochUnderWay
    known: Mapping[Cell, Sequence[Burst]]
    _taken: dict[Cell, _Taken] = field(default_factory=dict)

    def take(self, cells: Sequence[Cell], deadline: float) -> dict[Cell, float]:
        """Take the bursts of `cells`, one each at the least; gives the seconds of the shortest burst of each.

        A fault of a runner costs its own cell.
        """
        left = [cell for cell in cells if self._ready(cell)]
        self._taken = {cell: _Taken() for cell in left}
        while left:
            for cell in list(left):
                late = time.monotonic() + self._taken[cell].shortest_s > deadline
                if (self._taken[cell].calls and late) or not self._burst(cell) or self._enough(cell):
                    left.remove(cell)
        for cell, taken in self._taken.items() if self.epoch.policy.audit else ():
            self._judge(cell, taken)
            self._see_pairs(cell, taken)
        return {cell: taken.shortest_s for cell, taken in self._taken.items() if taken.calls}

    def _ready(self, cell: Cell) -> bool:
        try:
            sessions = self.epoch.sessions
            if sessions.revive(cell.process):
                sessions.of(cell).check_calls(sessions.handle(cell), 1)
                return True
            self.epoch.fail(Failure("crashed", cell.runner, BROKE_OFF, cell.address))
        except RunnerError as error:
            self.epoch.fail(failure_of(cell, error))
        return False

    def _enough(self, cell: Cell) -> bool:
        total = calls_of(self.known.get(cell, ()))
        return self._taken[cell].calls >= wanted_calls(self.epoch.policy) or total >= ENOUGH_CALLS

    def _burst(self, cell: Cell) -> bool:
        epoch, sessions, policy = self.epoch, self.epoch.sessions, self.epoch.policy
        epoch.share.give_back()
        taken, began = self._taken[cell], time.monotonic()
        left = ENOUGH_CALLS - calls_of(self.known.get(cell, ()))
        try:
            measured = sessions.of(cell).measure(
                sessions.handle(cell),
                cell=cell,
                epoch=epoch.number,
                round=1,
                samples=max(1, min(BURST_CALLS, left, wanted_calls(policy) - taken.calls)),
                calls=1,
                limit_ms=BURST_MS,
                clock_tolerance=policy.clock_tolerance,
                contention_tolerance=policy.contention_tolerance,
            )
        except RunnerError as error:
            epoch.fail(failure_of(cell, error))
            return False
        epoch.keep(measured.burst)
        tick_hz = max(sessions.calibrations[cell.process].tick_hz, 1.0)
        taken.calls += len(measured.burst)
        taken.digests.append(measured.digest)
        taken.timed_s += sum(measured.burst.ticks) / tick_hz
        taken.cpu_s += measured.cpu_s
        taken.shortest_s = min(taken.shortest_s, time.monotonic() - began)
        return True

    def _see_pairs(self, cell: Cell, taken: _Taken) -> None:
        if cell.operation != "keygen" or not taken.calls:
            return
        sessions = self.epoch.sessions
        with contextlib.suppress(RunnerError):
            count = min(MOST, int(DRAWN_S / (taken.cpu_s / taken.calls + ASK_S)))
            session, handle = sessions.of(cell), sessions.handle(cell)
            taken.digests += [session.check_calls(handle, 1).digest for _ in range(count)]
        if len(set(taken.digests)) < len(taken.digests):
            message = f"two of {len(taken.digests)} public keys that it drew are the same"
            self.epoch.fail(Failure("incorrect", cell.runner, f"audited: {message}", cell.address))

    def _judge(self, cell: Cell, taken: _Taken) -> None:
        if taken.cpu_s > (1 + UNSEEN_SHARE) * taken.timed_s + UNSEEN_S * taken.calls:
            message = (
                f"its process worked for {taken.cpu_s:.3g} s in {taken.calls} calls, "
                f"which are said to have taken {taken.timed_s:.3g} s"
            )
            self.epoch.fail(Failure("audit", cell.runner, message, cell.address))
