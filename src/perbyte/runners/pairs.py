"""Ask a runner for pairs of calls that differ in a secret (SPEC section 14)."""

from __future__ import annotations

import time
from dataclasses import dataclass

from perbyte.model.cell import Cell
from perbyte.model.sample import Burst
from perbyte.protocol import messages
from perbyte.runners.session import Session
from perbyte.runners.taken import columns_of

CALL_S = 1.0  # what a call may take beside the limit, on top of what an answer may


@dataclass(frozen=True, slots=True)
class TakenPairs:
    """A burst of single calls; `order` has the class of each, two make a pair. `failures` by class.

    `wall_s`: seconds from the question to the answer; `cpu_s`: seconds of the process's CPU time in them.
    """

    burst: Burst
    order: str
    failures: tuple[int, int]
    afresh: bool
    wall_s: float = 0.0
    cpu_s: float = 0.0


def take_pairs(
    session: Session, request: messages.TakePairs, *, cell: Cell, epoch: int, round: int
) -> TakenPairs:
    """Take pairs of calls of `cell`. Raises RunnerRefused (`unsupported`, `unknown-verb`...)."""
    limit = request.limit_ms / 1000 + session.limits.measure + CALL_S
    began, began_cpu_s = time.monotonic(), session.process.cpu_s()
    answer = session.ask(request, messages.PairsAnswer, limit)
    wall_s, cpu_s = time.monotonic() - began, session.process.cpu_s() - began_cpu_s
    burst = Burst(
        cell=cell, epoch=epoch, round=round, calls=1, waits=answer.waits, **columns_of(answer, slice(None))
    )
    first, second = answer.failures
    return TakenPairs(burst, answer.order, (first, second), answer.afresh, wall_s, cpu_s)
