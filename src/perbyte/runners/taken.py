"""What a session gives back of a burst and of an audit, and what it was asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from perbyte.model.cell import Cell
from perbyte.model.sample import COLUMNS, Burst
from perbyte.protocol import messages


@dataclass(frozen=True, slots=True)
class TakenBursts:
    """Bursts, one unless forks or threads took them, and the digest of the last timed call's output, for checks.

    `cpu_s` and `wall_s`: seconds from the question to the answer, of CPU time of the process and on the clock.
    `forked`: forks of the process took them, whose CPU time is not in `cpu_s`. Ticks and
    `placed` are those of the answer (SPEC 7).
    """

    bursts: tuple[Burst, ...]
    digest: str
    cpu_s: float
    wall_s: float
    forked: bool = False
    whole_ticks: int = 0
    warm_ticks: int = 0
    wait_ticks: int = 0
    placed: tuple[int, ...] = ()

    @property
    def burst(self) -> Burst:
        """The burst, where one was asked for."""
        return self.bursts[0]


@dataclass(frozen=True, slots=True)
class UnreadBursts:
    """The answer to a question for bursts as it came; `cpu_s` and `wall_s` as in `TakenBursts`."""

    line: bytes
    cpu_s: float
    wall_s: float


@dataclass(frozen=True, slots=True)
class Chained:
    """What a chain of calls gave, and the seconds of CPU time of the process from the question to the answer."""

    answer: messages.AuditAnswer
    cpu_s: float


@dataclass(frozen=True, slots=True)
class AskedBurst:
    """A burst that was asked for: of which cell, by which request, how long its answer may take, and since when."""

    cell: Cell
    epoch: int
    round: int
    request: messages.Measure
    limit_s: float
    cpu_s: float
    since_s: float


@dataclass(frozen=True, slots=True)
class AskedCheck:
    """Calls without timing that were asked for: by which request, and how long the answer may take.

    `cpu_s`: CPU time that the process had taken before.
    """

    request: messages.CheckCalls
    limit_s: float
    cpu_s: float


def bursts_of(asked: AskedBurst, answer: messages.MeasureAnswer) -> tuple[Burst, ...]:
    """The bursts of an answer: one, or one of each thread, or of each fork, whose rounds follow each other."""
    bursts, begin = [], 0
    for number, count in enumerate(answer.forked or answer.threaded or [len(answer.ticks)]):
        part = slice(begin, begin := begin + count)
        bursts.append(
            Burst(
                cell=asked.cell,
                epoch=asked.epoch,
                round=asked.round + (number if answer.forked else 0),
                calls=answer.calls,
                waits=answer.waits if not number else 0,  # the runner counts them together
                piece_bytes=answer.piece_bytes,
                forked=bool(answer.forked),
                **columns_of(answer, part),
            )
        )
    return tuple(bursts)


def columns_of(answer: messages.SamplesAnswer, part: slice) -> dict[str, Any]:
    """The arrays of a burst, by name, in a `part` of an answer."""
    return {name: getattr(answer, name)[part] for name in COLUMNS}
