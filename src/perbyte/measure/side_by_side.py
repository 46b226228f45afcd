"""Calls on much data that are checked by several processes at once, each on a core of its own.

Nothing is timed, so processes may work beside each other. Where other programs wait for a core, one works at a time.
Whoever asks receives each call before its process is asked anything else.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from perbyte.measure.sessions import Sessions
from perbyte.model import Cell, Process
from perbyte.protocol.messages import CheckAnswer
from perbyte.runners.taken import AskedCheck


@dataclass(frozen=True, slots=True)
class CallUnderWay:
    """A call that a process was asked for. `core`: where it works; `before`: the cores that it was pinned to."""

    cell: Cell
    asked: AskedCheck
    core: int | None
    before: frozenset[int]


class SideBySide:
    """Lets as many processes work at once as there are `cores`; one where `crowded` says that others wait."""

    def __init__(
        self,
        sessions: Sessions,
        cores: Sequence[int] = (),
        crowded: Callable[[int], bool] = lambda working: False,
    ) -> None:
        """`crowded` is asked with the number of processes that work already."""
        self._sessions = sessions
        self._cores = tuple(cores)
        self._crowded = crowded
        self._under_way: list[CallUnderWay] = []

    def has(self, cell: Cell) -> bool:
        """True while a call of the cell is under way."""
        return any(call.cell == cell for call in self._under_way)

    def send(self, cell: Cell, handle: int) -> None:
        """Ask for one call of a cell, once `due` has left room for it. Raises RunnerError."""
        session = self._sessions.of(cell)
        pid = session.process.pid
        taken = {call.core for call in self._under_way}
        core = next((core for core in self._cores if core not in taken), None)
        before: frozenset[int] = frozenset()
        if core is not None and len(self._cores) > 1 and session.spec.native:
            with contextlib.suppress(OSError):
                before = frozenset(os.sched_getaffinity(pid))
                os.sched_setaffinity(pid, {core})
        self._under_way.append(CallUnderWay(cell, session.send_check(handle, 1), core, before))

    def due(self, process: Process) -> Iterator[CallUnderWay]:
        """Calls to be received before `process` is asked anything, and before one more is asked for: oldest first."""
        for call in list(self._under_way):
            working = len(self._under_way)
            full = working >= max(len(self._cores), 1) or self._crowded(working)
            if full or call.cell.process == process:
                yield call

    def rest(self) -> Iterator[CallUnderWay]:
        """All that are under way, oldest first."""
        yield from list(self._under_way)

    def receive(self, call: CallUnderWay) -> tuple[CheckAnswer, float]:
        """Wait for a call: its answer, and the seconds of CPU time that it took. Raises RunnerError."""
        self._under_way.remove(call)
        session = self._sessions.of(call.cell)
        try:
            return session.receive_check(call.asked)
        finally:
            if call.before:
                with contextlib.suppress(OSError):
                    os.sched_setaffinity(session.process.pid, call.before)
