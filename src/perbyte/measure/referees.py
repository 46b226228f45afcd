"""Who else can make the same calls: another library of the run, or one of Perbyte's own runners, started for that.

A chain of calls is compared whatever its length: which of a look's chains counts as compared is not to be known when
it is made. CPython's hashlib answers where it knows the algorithm (`answers.known_digest`), else another library. Own
runners are started at the first question, some at the most, and end with the run; those of the library that is asked
about have no say.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Self

from perbyte import places
from perbyte.errors import PerbyteError, RunnerRefused
from perbyte.measure.looks import Given
from perbyte.measure.sessions import Sessions
from perbyte.model import Cell, Policy, Process
from perbyte.runners import RunnerSpec, locate, stale
from perbyte.runners.session import Session, prepare_cell

# of own runners, those that offer most come first; a start takes some 20 ms
MANY_ROWS = ("openssl", "libgcrypt", "cryptopp", "nettle", "botan", "openssl-lowlevel", "mbedtls", "wolfssl")
MOST_STARTED = 5
MOST_HANDLES = 8  # of a referee: prepared once for all chains of a cell's epoch


def own_runners() -> list[RunnerSpec]:
    """Perbyte's own runners that are built here and can be started at once, those that offer most first."""
    own = [
        spec
        for spec in locate([places.data_dir("runners")])
        if spec.native and not spec.threads and spec.out().is_dir() and not stale(spec)
    ]
    ranks = {name: place for place, name in enumerate(MANY_ROWS)}
    return sorted(own, key=lambda spec: ranks.get(spec.name, len(ranks)))


class Referees:
    """Other libraries that can be asked what a cell was asked. A context manager; leaving it ends what it started."""

    def __init__(self, policy: Policy, specs: Callable[[], Sequence[RunnerSpec]] = tuple) -> None:
        """`specs` gives the runners that may be started, when one is needed; none: only those of the run are asked."""
        self._policy = policy
        self._specs = specs
        self._left: list[RunnerSpec] | None = None
        self._started = 0
        self._sessions: dict[Process, Session] = {}
        self._handles: dict[tuple[Cell, int], int] = {}
        self._run: Sessions | None = None
        self._cells: Sequence[Cell] = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()

    def begin(self, sessions: Sessions, cells: Sequence[Cell]) -> None:
        """Begin with an epoch: its processes, and the cells that they are asked for, quick ones first."""
        self._run, self._cells = sessions, cells

    def of(self, cell: Cell) -> Session:
        """The process of a cell, of the run or an own one. Raises KeyError where it is neither."""
        if self._run and (self._run.runs(cell.process) or cell.process not in self._sessions):
            return self._run.of(cell)
        return self._sessions[cell.process]

    def runs(self, process: Process) -> bool:
        """True while a process answers."""
        own = self._sessions.get(process)
        return bool(own and own.alive) or bool(self._run and self._run.runs(process))

    def others(self, cell: Cell) -> Iterator[Cell]:
        """Cells of other libraries that are asked what `cell` is, one of each library: those of the run first."""
        if not self.runs(cell.process):
            return
        libraries = {self.of(cell).identity().library}
        for other in (*self._rivals(cell), *self._own(cell)):
            with contextlib.suppress(PerbyteError, KeyError):
                library = self.of(other).identity().library
                if library not in libraries:
                    libraries.add(library)
                    yield other

    def _rivals(self, cell: Cell) -> Iterator[Cell]:
        asked = cell.algorithm, cell.operation, cell.contract
        for other in self._cells:
            same = (other.algorithm, other.operation, other.contract) == asked
            if same and other.process != cell.process and self.runs(other.process):
                yield Cell(other.runner, *asked[:2], cell.size_bytes, asked[2], other.cpu, other.twin)

    def _own(self, cell: Cell) -> Iterator[Cell]:
        for process, session in list(self._sessions.items()):
            if session.alive and _offers(session, cell):
                yield _at(cell, process.runner)
        in_run = {other.runner for other in self._cells}
        if self._left is None:
            self._left = list(self._specs())
        while self._left and self._started < MOST_STARTED:
            spec = self._left.pop(0)
            if spec.name in in_run:
                continue
            self._started += 1
            with contextlib.suppress(PerbyteError):
                session = Session(spec, core=self._policy.cores[0], gentle=self._policy.gentle)
                try:
                    session.hello()
                except BaseException:
                    session.close()
                    raise
                other = _at(cell, spec.name)
                self._sessions[other.process] = session
                if _offers(session, cell):
                    yield other

    def output(self, other: Cell, seed: int) -> str:
        """The digest of another library's call on material of `seed`. Raises RunnerError."""
        return self.of(other).check_calls(self.handle(other, seed), 1).digest

    def digest(self, given: Given, other: Cell) -> str:
        """What a chain gives when another library makes it. Raises RunnerError; empty where a call of it failed."""
        handle = self.handle(other, given.key_seed)
        answer = self.of(other).audit(handle, seed=given.seed, calls=given.calls).answer
        return "" if answer.failures else answer.digest

    def handle(self, other: Cell, seed: int | None = None) -> int:
        """The handle of a cell whose material comes from `seed`; None: from whichever. Raises RunnerError."""
        if self._run and other in self._cells and seed in (None, self._run.seed_of(other)):
            return self._run.handle(other)
        seed = self._policy.seed if seed is None else seed
        if (other, seed) not in self._handles:
            own = [known for known in self._handles if known[0].process == other.process]
            for known in own if len(own) >= MOST_HANDLES else ():
                self.of(other).release(self._handles.pop(known))
            self._handles[other, seed] = prepare_cell(self.of(other), other, seed=seed)
        return self._handles[other, seed]

    def end(self) -> None:
        """End with an epoch, whose processes end too."""
        run = self._run
        self._handles = {
            known: handle
            for known, handle in self._handles.items()
            if not (run and run.runs(known[0].process))
        }
        self._run, self._cells = None, ()


def _offers(session: Session, cell: Cell) -> bool:
    row = cell.algorithm, cell.operation, cell.contract
    try:
        return any((o.algorithm, o.operation, o.contract) == row for o in session.hello().operations)
    except RunnerRefused:
        return False


def _at(cell: Cell, runner: str) -> Cell:
    return Cell(runner, cell.algorithm, cell.operation, cell.size_bytes, cell.contract)
