"""Ask a runner for pairs of calls that differ in a secret (SPEC section 14)."""

from __future__ import annotations

import time
from dataclasses import dataclass

from msgspec import UNSET

from perbyte.model.cell import Cell
from perbyte.model.leak import Contrast
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
    session: Session,
    handle: int,
    *,
    cell: Cell,
    epoch: int,
    round: int,
    contrast: Contrast,
    seed: int,
    pairs: int,
    limit_ms: float,
    warm: bool = False,
    evict_bytes: int = 0,
    only: int | None = None,
    contention_floor: float = 0.0,
    contention_tolerance: float = 0.01,
    patience: int = 0,
) -> TakenPairs:
    """Take up to `pairs` pairs for up to `limit_ms` milliseconds.

    Their secrets and their order follow from `seed`. `warm`: a call on a secret of neither class precedes each sample.
    `evict_bytes` of memory are read before each (0: none). `only`: of this class alone. Raises RunnerRefused
    (`unsupported`, `unknown-verb`...).
    """
    request = messages.TakePairs(
        id=session.next_id(),
        handle=handle,
        seed=seed,
        role=contrast.role,
        first=contrast.first,
        second=contrast.second,
        pairs=pairs,
        limit_ms=limit_ms,
        warm=warm or UNSET,
        evict_bytes=evict_bytes or UNSET,
        only=UNSET if only is None else only,
        contention_floor=contention_floor or UNSET,
        contention_tolerance=contention_tolerance,
        patience=patience,
    )
    began, began_cpu_s = time.monotonic(), session.process.cpu_s()
    answer = session.ask(request, messages.PairsAnswer, limit_ms / 1000 + session.limits.measure + CALL_S)
    wall_s, cpu_s = time.monotonic() - began, session.process.cpu_s() - began_cpu_s
    burst = Burst(
        cell=cell, epoch=epoch, round=round, calls=1, waits=answer.waits, **columns_of(answer, slice(None))
    )
    first, second = answer.failures
    return TakenPairs(burst, answer.order, (first, second), answer.afresh, wall_s, cpu_s)
