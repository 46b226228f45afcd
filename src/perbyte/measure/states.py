"""Calls in a state that no loop has, for cells of their own, and loops on several cores at once.

docs/measurement.md says what each state is. Once an epoch, when its rounds are over, each such cell gets processes of
its own, pinned to a core. Emptied are the caches that the core has to itself, in small pages: emptying those that cores
share measures the neighbours' use of memory (38,000 to 60,000 cycles from minute to minute for a call that repeats
within 5 % so). They are emptied for the first call of a process too: what happens to be left in them did not repeat.

Single calls are not warmed up, nor waited for. The calibration of the epoch's process of the runner judges them.
"""

from __future__ import annotations

import math
import mmap
import os
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from msgspec import UNSET

from perbyte.errors import RunnerRefused
from perbyte.measure.cores import Awake
from perbyte.measure.machine import own_cache_bytes
from perbyte.measure.rounds import EpochUnderWay
from perbyte.measure.sessions import STARTING_FAILS, failure_of, incorrect
from perbyte.model import Burst, Cell, CellFigure, Failure, Policy
from perbyte.model.cell import COLD, DISK, EACH, FIRST, IDLE, LOOP, MEMORY, SHARED
from perbyte.protocol.messages import Measure
from perbyte.runners.session import Session
from perbyte.stats.arrays import np
from perbyte.stats.clean import clean_mask

CLEAN_CALLS = {COLD: 100, IDLE: 16, FIRST: 16}  # an epoch
CALLS_A_PROCESS = 10  # where the pages of a process lie decides what a call with emptied caches costs
MOST_CALLS = 3  # times as many, where few are clean
EXPECTED_S = {COLD: 2.0, IDLE: 2.0, FIRST: 2.5, MEMORY: 0.6, DISK: 1.0, EACH: 0.6}  # before it is known
ROUNDS, ROUND_S = 8, 0.05
BURST = {"samples": 1000, "limit_ms": 30.0}
WALK_BYTES = 128 << 20
FROM_MEMORY = {**BURST, "calls": 0, "walk_bytes": WALK_BYTES}
FROM_DISK = {"samples": 4, "limit_ms": 100.0, "calls": 1, "from_disk": True}
_ASKED = {MEMORY: FROM_MEMORY, DISK: FROM_DISK, EACH: {**BURST, "calls": 1}}
EVICTED_TIMES, EVICTED_BYTES = 4, 8 << 20
REST_S = 0.05  # longer than any core waits before it sleeps as deeply as it can
WORK_CALLS = 32  # before a rest
WAITS_MS = 50.0
PRECISION = 0.02  # relative half-width at which such a cell is done


def expected_s(cell: Cell) -> float:
    """Seconds of an epoch that a cell in a state of its own takes, as far as is known beforehand."""
    return EXPECTED_S.get(cell.state, ROUNDS * ROUND_S)


def precise_enough(figure: CellFigure, policy: Policy) -> bool:
    """True where more epochs would tell little more about a cell in a state of its own."""
    return figure.relative_half_width <= max(PRECISION, policy.precision)


@dataclass(slots=True)
class States:
    """The calls of one epoch."""

    epoch: EpochUnderWay
    awake: Awake
    _until: float = math.inf
    _filled: np.ndarray[tuple[int], np.dtype[np.uint64]] | None = None

    def take(self, cells: Sequence[Cell], most_s: float = math.inf) -> dict[Cell, float]:
        """Take the bursts of `cells`; gives the seconds that each took. A fault of a runner costs its own cells.

        In `most_s` seconds, of which each cell gets its part and what others leave: one call whatever the time, and no
        further one once it is over.
        """
        groups: dict[Cell, list[Cell]] = {}
        for cell in cells:
            groups.setdefault(replace(cell, state=LOOP) if cell.threads else cell, []).append(cell)
        took: dict[Cell, float] = {}
        ends = time.monotonic() + most_s
        for done, group in enumerate(groups.values()):
            began = time.monotonic()
            self._until = began + (ends - began) / (len(groups) - done)
            try:
                if group[0].threads:
                    self._together(group)
                else:
                    self._single_calls(group[0])
            except STARTING_FAILS as error:
                for cell in group:
                    self.epoch.fail(failure_of(cell, error))
            took |= dict.fromkeys(group, (time.monotonic() - began) / len(group))
        return took

    def _single_calls(self, cell: Cell) -> None:
        cores = self.epoch.policy.cores
        core = cores[self.epoch.number % len(cores)]
        calibration = self.epoch.sessions.calibrations[cell.process]
        bursts: list[Burst] = []
        clean = 0
        makers = {FIRST: self._first} | dict.fromkeys(_ASKED, self._elsewhere)
        with closing(makers.get(cell.state, self._later)(cell, core)) as calls:
            for burst in calls:
                bursts.append(burst)
                clean += int(clean_mask(burst, calibration, self.epoch.policy)[0])
                wanted = CLEAN_CALLS.get(cell.state, math.inf)
                if clean >= wanted or len(bursts) >= MOST_CALLS * wanted or self._late():
                    break
        self.epoch.keep(_joined(bursts))

    def _first(self, cell: Cell, core: int) -> Generator[Burst, None, None]:
        while True:
            self.epoch.share.give_back()
            with self._alone(cell, core) as (session, handle), _on(core):
                self._empty_caches()
                yield self._one(session, handle, cell)

    def _later(self, cell: Cell, core: int) -> Generator[Burst, None, None]:
        while True:
            with self._alone(cell, core) as (session, handle):
                for _ in range(CALLS_A_PROCESS):
                    self.epoch.share.give_back()
                    session.check_calls(handle, WORK_CALLS)
                    if cell.state == COLD:
                        with _on(core):
                            self._empty_caches()
                            yield self._one(session, handle, cell)
                    else:
                        with self.awake.resting():
                            time.sleep(REST_S)
                            yield self._one(session, handle, cell)

    def _elsewhere(self, cell: Cell, core: int) -> Generator[Burst, None, None]:
        asked: dict[str, Any] = {**_ASKED[cell.state]}
        asked |= {"sample_us": self.epoch.policy.sample_us, "warm_us": self.epoch.policy.warm_us}
        with self._alone(cell, core) as (session, handle):
            for _ in range(ROUNDS):
                self.epoch.share.give_back()
                yield (burst := self._one(session, handle, cell, **asked))
                asked["calls"] = burst.calls  # chosen in the first burst

    def _one(self, session: Session, handle: int, cell: Cell, **asked: Any) -> Burst:
        policy = self.epoch.policy
        measured = session.measure(
            handle,
            cell=cell,
            epoch=self.epoch.number,
            round=1,
            clock_tolerance=policy.clock_tolerance,
            contention_tolerance=policy.contention_tolerance,
            **(asked or {"samples": 1, "calls": 1, "limit_ms": WAITS_MS}),
        )
        expected = self.epoch.ways.digests.get(cell, measured.digest)
        if measured.digest != expected and cell.state != MEMORY:  # whose last call had data of its own
            message = f"the output of a call in state {cell.state} is another than before the timing"
            self.epoch.fail(incorrect(cell, message, expected, measured.digest))
        return measured.burst

    def _together(self, cells: Sequence[Cell]) -> None:
        policy, cores = self.epoch.policy, self.epoch.policy.cores
        burst: dict[str, Any] = {**BURST, "sample_us": policy.sample_us, "warm_us": policy.warm_us}
        fitting = [cell for cell in cells if cell.threads <= len(cores)]
        for cell in (cell for cell in cells if cell not in fitting):
            message = f"{cell.threads} threads need as many cores, and there are {len(cores)}"
            self.epoch.fail(Failure("refused", cell.runner, message, address=cell.address))
        with ExitStack() as stack:
            most = max((cell.threads for cell in fitting), default=0)
            opened = [stack.enter_context(self._alone(cells[0], core)) for core in cores[:most]]
            for turn in range(1, ROUNDS + 1):
                for cell in list(fitting if turn % 2 else fitting[::-1]):
                    shared = cell.state.startswith(SHARED)
                    burst["threads"] = ",".join(map(str, cores[: cell.threads])) if shared else UNSET
                    try:
                        self._at_once(cell, turn, burst, opened[: 1 if shared else cell.threads])
                    except RunnerRefused as error:
                        if not shared:  # the answers of other processes are still to come
                            raise
                        self.epoch.fail(failure_of(cell, error))
                        fitting.remove(cell)
                    self.epoch.share.give_back(cell.threads)
                if self._late():
                    break

    def _at_once(
        self, cell: Cell, turn: int, burst: dict[str, Any], opened: Sequence[tuple[Session, int]]
    ) -> None:
        here: dict[str, Any] = {"cell": cell, "epoch": self.epoch.number, "round": turn}
        asked = [
            session.send_measure(Measure(id=session.next_id(), handle=handle, **burst), **here)
            for session, handle in opened
        ]
        for request, (session, _) in zip(asked, opened, strict=True):
            for taken in session.receive_measure(request).bursts:
                self.epoch.keep(taken)

    def _late(self) -> bool:
        return time.monotonic() >= self._until

    @contextmanager
    def _alone(self, cell: Cell, core: int) -> Iterator[tuple[Session, int]]:
        session, handle = self.epoch.sessions.open_alone(cell, core)
        with session:
            yield session, handle

    def _empty_caches(self) -> None:
        """Read what no cache holds; in small pages, so that no address is remembered either."""
        if self._filled is None:
            memory = mmap.mmap(-1, max(EVICTED_BYTES, EVICTED_TIMES * own_cache_bytes()))
            memory.madvise(mmap.MADV_NOHUGEPAGE)
            self._filled = np.frombuffer(memory, dtype=np.uint64)
            self._filled[:] = 1
        self._filled.sum()


@contextmanager
def _on(core: int) -> Iterator[None]:
    """Stay on `core` for a while."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _joined(bursts: Sequence[Burst]) -> Burst:
    """Single calls as one burst."""

    def column(name: str) -> list[int]:
        parts = [getattr(burst, name) for burst in bursts]
        return [value for part in parts for value in part] if all(parts) else []

    return bursts[0].map(column)
