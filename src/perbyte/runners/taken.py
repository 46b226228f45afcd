"""What a session gives back of a burst and of an audit, and what it was asked."""

from __future__ import annotations

from dataclasses import dataclass

from perbyte.model.cell import Cell
from perbyte.model.sample import Burst
from perbyte.protocol import messages


@dataclass(frozen=True, slots=True)
class Measured:
    """A burst, and the digest of the last timed call's output, for the check after the timing.

    `cpu_s` and `wall_s`: seconds from the question to the answer, of CPU time of the process and on the clock.
    `forked`: a fork of the process took it, whose CPU time is not in `cpu_s`. `whole_ticks`, `warm_ticks` and
    `wait_ticks`: of the burst, its untimed calls and its looks for a quiet core, as far as the runner says.
    """

    burst: Burst
    digest: str
    cpu_s: float
    wall_s: float
    forked: bool = False
    whole_ticks: int = 0
    warm_ticks: int = 0
    wait_ticks: int = 0


@dataclass(frozen=True, slots=True)
class Chained:
    """What a chain of calls gave, and the seconds of CPU time of the process from the question to the answer."""

    answer: messages.AuditAnswer
    cpu_s: float


@dataclass(frozen=True, slots=True)
class Asked:
    """A burst that was asked for: of which cell, by which request, how long its answer may take, and since when."""

    cell: Cell
    epoch: int
    round: int
    request: messages.Measure
    limit_s: float
    cpu_s: float
    since_s: float
