"""The crew of an epoch: one fresh process for each runner and tier, pinned to the measuring core.

A crew knows which handle belongs to which cell and what each process found out about its clock. A process
that breaks off is replaced a few times, so that it costs the cell it broke off at and no other.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from perbyte.errors import PerbyteError, RunnerError, RunnerRefused
from perbyte.measure.layout import Layout
from perbyte.measure.survey import Survey
from perbyte.model import Calibration, Cell, RunnerIdentity
from perbyte.runners.session import Session, TimeLimits

Process = tuple[str, str, int]

CALIBRATION_MS = 10.0
RESTARTS = 3


class Crew:
    """Sessions by process. A context manager; leaving it ends them all."""

    def __init__(
        self,
        survey: Survey,
        *,
        core: int,
        epoch: int,
        layout: Layout,
        seed: int,
        input_path: Path | None = None,
        limits: TimeLimits | None = None,
    ) -> None:
        self._survey = survey
        self._core = core
        self._epoch = epoch
        self._layout = layout
        self._seed = seed
        self._input_path = input_path
        self._limits = limits
        self._sessions: dict[Process, Session] = {}
        self._handles: dict[Cell, int] = {}
        self._starts: dict[Process, int] = {}
        self.calibrations: dict[Process, Calibration] = {}
        self.identities: dict[Process, RunnerIdentity] = {}
        self.layout_fixed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()

    def start(self, process: Process) -> Calibration:
        """Start, greet and calibrate a process. Raises RunnerError or EnvironmentLacking."""
        runner, cpu, twin = process
        self._starts[process] = self._starts.get(process, 0) + 1
        session = Session(
            self._survey.specs[runner],
            cpu=cpu,
            core=self._core,
            twin=twin,
            environment=self._layout.environment,
            limits=self._limits,
        )
        try:
            session.hello()
            self.identities[process] = session.identity()
            calibration = session.calibrate(CALIBRATION_MS, epoch=self._epoch)
        except BaseException:
            session.close()
            raise
        self.layout_fixed &= session.layout_fixed
        self._sessions[process] = session
        self.calibrations[process] = calibration
        return calibration

    def session(self, cell: Cell) -> Session:
        """The running session of a cell's process. Raises KeyError if it never started."""
        return self._sessions[cell.process]

    def handle(self, cell: Cell) -> int:
        """The handle of a cell, prepared on first use. Raises RunnerError."""
        if cell not in self._handles:
            self._handles[cell] = self.session(cell).prepare(
                cell.algorithm,
                cell.operation,
                cell.contract,
                cell.size_bytes,
                seed=self._seed,
                offset=self._layout.offset,
                input_path=self._input_path,
            )
        return self._handles[cell]

    def release(self, cells: Iterable[Cell]) -> None:
        """Free the handles of `cells`; they are prepared anew when needed again."""
        for cell in cells:
            handle = self._handles.pop(cell, None)
            if handle is not None and self.runs(cell.process):
                self.session(cell).release(handle)

    def runs(self, process: Process) -> bool:
        """True while the process answers."""
        return process in self._sessions and self._sessions[process].alive

    def revive(self, process: Process) -> bool:
        """Replace a process that broke off. False when it broke off too often or does not come up again."""
        if self.runs(process):
            return True
        session = self._sessions.pop(process, None)
        if session:
            session.close()
        self._handles = {cell: handle for cell, handle in self._handles.items() if cell.process != process}
        if self._starts.get(process, 0) > RESTARTS:
            return False
        try:
            self.start(process)
        except PerbyteError:
            return False
        return True


def failure_kind(error: RunnerError) -> str:
    """The `Failure.kind` that stands for a fault."""
    if isinstance(error, RunnerRefused):
        return "unsupported" if error.code == "unsupported" else "refused"
    kinds = {
        "RunnerCrashed": "crashed",
        "RunnerEnded": "crashed",
        "RunnerTimedOut": "timed-out",
    }
    return kinds.get(type(error).__name__, "garbled")
