"""The sessions of an epoch: one fresh process for each runner and tier, on the measuring cores.

They know which handle belongs to which cell and what each process found out about its clock. A process
that breaks off is replaced a few times, so that it costs the cell it broke off at and no other. Whether the
calibration of a process will do is not decided here: whoever keeps the samples admits it or does not.
"""

from __future__ import annotations

import contextlib
import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Self

from perbyte.errors import (
    EnvironmentLacking,
    PerbyteError,
    RunnerCrashed,
    RunnerEnded,
    RunnerError,
    RunnerRefused,
    RunnerTimedOut,
    UsageError,
)
from perbyte.measure.learnt import Learnt, recall
from perbyte.measure.plan import Survey
from perbyte.measure.stalls import Stalls
from perbyte.model import Calibration, Cell, Failure, Policy, Process, RunnerIdentity
from perbyte.model.cell import LOOP
from perbyte.runners.session import Session, TimeLimits, prepare_cell

CALIBRATION_MS = 4.0  # some 200 readings of each chain, which tell the clock within 0.02 %
PATIENCE_MS = 150.0  # more, where a process waits for moments alone on a core
CALIBRATIONS = 3  # looks a process may take at its clock before it is found unlike the one it replaces
RESTARTS = 3

BROKE_OFF = "its process broke off too often"
_RAISED = " raised "  # runners/sdk: python, node, jvm
FORK_DIED = "a fork was ended by signal"  # runners/sdk/c/forked.c
STARTING_FAILS = (RunnerError, EnvironmentLacking, UsageError)  # what may go wrong and is the runner's affair


class Sessions:
    """Sessions by process. A context manager; leaving it ends them all.

    `admit` is told who each process is and what it found out about its clock,
    replacements included, before anything is asked of it. When it says False the process looks at its clock again, and
    is given up when that does not help.
    """

    def __init__(
        self,
        survey: Survey,
        policy: Policy,
        *,
        epoch: int = 0,
        input_path: Path | None = None,
        limits: TimeLimits | None = None,
        admit: Callable[[RunnerIdentity, Calibration], bool] = lambda _identity, _calibration: True,
        learnt: Learnt | None = None,
        stalls: Stalls | None = None,
    ) -> None:
        """`learnt` is what is known of the processor; None: what the machine's file says.

        `stalls`: what runners that gave no answer have cost the run so far.
        """
        self._survey = survey
        self._policy = policy
        cores = policy.cores
        first = epoch % len(cores)  # so that no core has all the beginnings
        self._cores = (*cores[first:], *cores[:first])
        self._learnt = learnt or recall(cores[0])
        self._epoch = epoch
        self._offset = draw_offset(policy.seed, epoch)
        self.input_path = input_path
        self._limits = limits
        self._stalls = stalls or Stalls(policy.budget_s)
        self._admit = admit
        self._sessions: dict[Process, Session] = {}
        self._launched: dict[Process, Session] = {}
        self._handles: dict[Cell, int] = {}
        self._starts: Counter[Process] = Counter()
        self.calibrations: dict[Process, Calibration] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process, session in self._sessions.items():
            self._stalls.note(process, session)
        every = [*self._sessions.values(), *self._launched.values()]
        for session in every:
            with contextlib.suppress(RunnerError):
                session.dismiss()
        for session in every:
            session.close()
        self._sessions.clear()
        self._launched.clear()

    @property
    def seed(self) -> int:
        """What the run's material comes from."""
        return self._policy.seed

    def launch(self, processes: Iterable[Process]) -> None:
        """Start processes side by side on all cores, so that each loads while others do; `start` waits for them.

        One that cannot be started says so there.
        """
        for process, core in zip(processes, itertools.cycle(self._cores), strict=False):
            with contextlib.suppress(*STARTING_FAILS):
                self._launched[process] = session = self._open(process, core)
                session.greet()

    def start(self, process: Process) -> Calibration:
        """Start, greet and calibrate a process. Raises RunnerError, EnvironmentLacking or UsageError."""
        calibration = self._start(process)
        if calibration is None:
            raise EnvironmentLacking(f"the clock of runner '{process[0]}' cannot be relied on")
        return calibration

    def _start(self, process: Process) -> Calibration | None:
        self._starts[process] += 1
        session = self._launched.pop(process, None) or self._open(process, self._cores[0])
        try:
            session.hello()
            identity = session.identity()
            for _ in range(CALIBRATIONS):
                calibration = self._learnt.calibrate(
                    session, CALIBRATION_MS, epoch=self._epoch, cores=self._cores, patience_ms=PATIENCE_MS
                )
                if self._admit(identity, calibration):
                    break
            else:
                session.close()
                return None
        except BaseException:
            self._stalls.note(process, session)
            session.close()
            raise
        self._sessions[process] = session
        self.calibrations[process] = calibration
        return calibration

    def _open(self, process: Process, core: int) -> Session:
        self._stalls.require_patience(process)
        return Session(
            self._survey.specs[process.runner],
            cpu=process.cpu,
            core=core,
            twin=process.twin,
            limits=self._limits,
            gentle=self._policy.gentle,
        )

    def open_alone(self, cell: Cell, core: int) -> tuple[Session, int]:
        """A further process for `cell` on `core`, and its handle; whoever asks ends it.

        It looks at its clock only to find its probes; the calibration of the cell's own process counts. Raises
        RunnerError, EnvironmentLacking.
        """
        session = self._open(cell.process, core)
        try:
            session.hello()
            session.calibrate(CALIBRATION_MS, epoch=self._epoch, cores=[core], known=self._learnt.known)
            return session, self._prepare(session, cell)
        except BaseException:
            session.close()
            raise

    def _prepare(self, session: Session, cell: Cell) -> int:
        seed = self.seed_of(cell)
        return prepare_cell(session, cell, seed=seed, offset=self._offset, input_path=self.input_path)

    def seed_of(self, cell: Cell) -> int:
        """What keys, nonces and messages of a cell come from in this epoch."""
        return material_seed(self._policy.seed, self._epoch, cell)

    def of(self, cell: Cell) -> Session:
        """The running session of a cell's process. Raises KeyError if it never started."""
        return self._sessions[cell.process]

    def handle(self, cell: Cell) -> int:
        """The handle of a cell, prepared on first use. Raises RunnerError."""
        if cell not in self._handles:
            self._handles[cell] = self._prepare(self.of(cell), cell)
        return self._handles[cell]

    def release(self, cells: Iterable[Cell]) -> None:
        """Free the handles of `cells`; they are prepared anew when needed again."""
        for cell in cells:
            handle = self._handles.pop(cell, None)
            if handle is not None and self.runs(cell.process):
                self.of(cell).release(handle)

    def runs(self, process: Process) -> bool:
        """True while the process answers."""
        return process in self._sessions and self._sessions[process].alive

    def revive(self, process: Process) -> bool:
        """Replace a process that broke off.

        False when it broke off too often, does not come up again, or comes up with another clock each time.
        """
        if self.runs(process):
            return True
        if session := self._sessions.pop(process, None):
            self._stalls.note(process, session)
            session.close()
        self._handles = {cell: handle for cell, handle in self._handles.items() if cell.process != process}
        while self._starts[process] <= RESTARTS:
            try:
                if self._start(process):
                    return True
            except STARTING_FAILS:
                return False
        return False


def alike(calibration: Calibration, other: Calibration, policy: Policy) -> bool:
    """True when one calibration may stand for the samples of both processes.

    Two processes of one runner on one core differ in noise only: by some 0.04 % here. What a figure of samples of
    `policy.sample_us` would shift by is at most `policy.precision`, or they are not alike.
    """
    if calibration.cycle_source != other.cycle_source:
        return False
    sample_ticks = policy.sample_us * 1e-6 * calibration.tick_hz
    shift = abs(calibration.fixed_ticks - other.fixed_ticks) / sample_ticks if sample_ticks > 0 else 0.0
    units = [(calibration.tick_hz, other.tick_hz)]
    if calibration.cycle_source != "none":
        units.append((calibration.probe_cycles, other.probe_cycles))
    # written so that what is no number is not alike
    return all(abs(a - b) / a + shift <= policy.precision for a, b in units if a or b)


def failure_of(cell: Cell, error: PerbyteError) -> Failure:
    """What is kept of a cell that a fault of its runner costs, or one that cannot be started."""
    return Failure(_failure_kind(error), cell.runner, str(error), cell.address)


def incorrect(cell: Cell, message: str, expected: str, got: str) -> Failure:
    """What is kept of a cell that computes something wrong."""
    return Failure("incorrect", cell.runner, message, cell.address, expected, got)


def _failure_kind(error: PerbyteError) -> str:
    if isinstance(error, RunnerRefused):
        if error.code == "unsupported":
            return "unsupported"
        # the library's code ended, in a fork of its process, or raised what nobody caught
        return "crashed" if FORK_DIED in str(error) or _RAISED in str(error) else "refused"
    if not isinstance(error, RunnerError):
        return "absent"
    kinds = {RunnerCrashed: "crashed", RunnerEnded: "crashed", RunnerTimedOut: "timed-out"}
    return kinds.get(type(error), "garbled")


PAGE_BYTES = 4096
LINE_BYTES = 64


# whose cost may hang on key, nonce or message; a digest's does not, and one of a password takes long
_VARYING = ("sign", "verify", "encrypt", "decrypt", "seal", "open", "derive", "encapsulate", "decapsulate")


def material_seed(seed: int, epoch: int, cell: Cell) -> int:
    """What keys, nonces and messages of a cell come from in an epoch of a run of `seed`.

    What a signature costs may depend on them: candidates are rejected, four of five in ML-DSA. Sixteen messages of one
    key tell how long those take. So may what a cipher costs, by where its counter begins: AES-128-CTR of libgcrypt on
    512 bytes takes 98 or 102 cycles. With others in each epoch the interval tells how far such luck reaches, and all
    runners have the same in an epoch. Calls in other states than the loop are few, and are held against one output.
    """
    if not epoch or cell.operation not in _VARYING or cell.state != LOOP:
        return seed
    return random.Random(f"material/{seed}/{epoch}").getrandbits(64)


def draw_offset(seed: int, epoch: int) -> int:
    """Return by how many bytes the buffers of an epoch are shifted from a page boundary.

    The system places code, stack and heap of each process anew, as it places a user's program (ADR 59), but mapped
    memory begins on pages. Offsets are whole cache lines: alignment within a line is the caller's choice
    in real programs, and buffers from an allocator start on 16 bytes at least; lines are what all of them share.

    Drawn without replacement: two of three epochs at one offset would agree by accident, and the interval with them.
    """
    lines = list(range((PAGE_BYTES - 1024) // LINE_BYTES))
    random.Random(f"offsets/{seed}").shuffle(lines)
    return LINE_BYTES * lines[epoch % len(lines)]
