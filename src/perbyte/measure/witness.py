"""Perbyte's own runner of loops of known cost, asked what the core's clock is."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Self

from perbyte import places
from perbyte.errors import EnvironmentLacking, PerbyteError
from perbyte.measure.learnt import Learnt, recall
from perbyte.model import Calibration, Cell, Process
from perbyte.runners import find
from perbyte.runners.session import Session, prepare_cell
from perbyte.runners.taken import TakenBursts

_WITNESS = Cell("reference", "probe-imul", "run", 64, "stream/1")


class Witness:
    """Perbyte's own runner of loops of known cost: what is the core's clock? A context manager; it may be absent."""

    def __init__(self, cores: Sequence[int], learnt: Learnt | None = None, *, gentle: bool = False) -> None:
        """`learnt` is what is known of the processor; None: what the machine's file says."""
        self._cores = cores
        self._learnt = learnt or recall(cores[0])
        self._gentle = gentle
        self._session: Session | None = None
        self._tried = False
        self.calibrations: dict[Process, Calibration] = {}
        self._handles: dict[Cell, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._session:
            self._session.close()

    def clock_hz(self) -> float:
        """The rate of the core's clock now; 0 where nobody can tell."""
        session = self._begun()
        if not session:
            return 0.0
        try:
            if self.calibrations[_WITNESS.process].cycle_source == "none":  # too busy then, perhaps not now
                self._calibrate(session)
            taken = session.measure(
                self._handles[_WITNESS],
                cell=_WITNESS,
                epoch=0,
                round=0,
                samples=3,
                limit_ms=5.0,
                sample_us=5.0,
            )
        except PerbyteError:
            session.close()
            self._session = None
            return 0.0
        return clock_hz(taken, self.calibrations[_WITNESS.process])

    def of(self, cell: Cell) -> Session:
        """Its session, for a cell of its own. Raises EnvironmentLacking where it cannot be had."""
        if session := self._begun():
            return session
        raise EnvironmentLacking(f"no runner for {cell.address}")

    def handle(self, cell: Cell) -> int:
        """The handle of one of its cells, prepared on first use; the one before it is freed. Raises PerbyteError."""
        if cell not in self._handles:
            for old in [handle for handle in self._handles if handle != _WITNESS]:
                self.of(old).release(self._handles.pop(old))
            self._handles[cell] = prepare_cell(self.of(cell), cell, seed=1)
        return self._handles[cell]

    def _calibrate(self, session: Session) -> None:
        calibration = self._learnt.calibrate(session, 4.0, epoch=0, cores=self._cores, patience_ms=20.0)
        self.calibrations[_WITNESS.process] = calibration

    def _begun(self) -> Session | None:
        if self._tried:
            return self._session
        self._tried = True
        with contextlib.suppress(PerbyteError):
            spec = find(_WITNESS.runner, [places.data_dir("runners")])
            session = Session(spec, core=self._cores[0], gentle=self._gentle)
            try:
                session.hello()
                self._calibrate(session)
                self._handles = {_WITNESS: prepare_cell(session, _WITNESS, seed=1)}
            except BaseException:
                session.close()
                raise
            self._session = session
        return self._session


def clock_hz(taken: TakenBursts, calibration: Calibration) -> float:
    """The rate of the core's clock by the counters of a burst, or by its clock probes; 0 where it has neither."""
    burst = taken.burst
    if burst.cycles and sum(burst.ticks) > 0:
        return sum(burst.cycles) / sum(burst.ticks) * calibration.tick_hz
    readings = [min(pair) for pair in zip(burst.clock_before, burst.clock_after, strict=True)]
    # what disturbs a probe makes it longer
    if calibration.cycle_source == "none" or not readings or min(readings) <= 0:
        return 0.0
    return calibration.tick_hz * calibration.probe_cycles / min(readings)
