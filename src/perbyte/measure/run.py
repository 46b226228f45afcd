"""The run: epochs of fresh processes, the gate in front, figures behind; everything kept as it comes.

Writes to the Sink it is given and nowhere else. A fault of a runner costs the cell it happens at; an
interruption ends the run early but in order, with figures of what there is. Given the history of an
interrupted run it goes on where that stopped.
"""

from __future__ import annotations

import dataclasses
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from perbyte import stats
from perbyte.catalogue import Catalogue
from perbyte.errors import PerbyteError, RunnerError
from perbyte.measure.crew import Crew, Process, failure_kind
from perbyte.measure.gate import Gate, confirm
from perbyte.measure.layout import draw_layout
from perbyte.measure.plan import Plan
from perbyte.measure.progress import Moment, Unwatched, Watcher
from perbyte.measure.rounds import Epoch, Floors
from perbyte.measure.survey import Survey
from perbyte.measure.tiers import unproven_rows
from perbyte.model import (
    Burst,
    Calibration,
    Cell,
    CellFigure,
    Failure,
    NoiseFloor,
    Policy,
    Quality,
    RunnerIdentity,
    Sink,
)
from perbyte.runners.session import TimeLimits
from perbyte.stats.compare import noise_floor

EPOCH_STEP = 3  # epochs added between two declared looks
LONG_PRECISION = 0.02  # relative half-width at which a cell of long calls is done
DEAR_S = 0.03  # seconds per burst from which on less will do
DEAR_PRECISION = 0.05
LAYOUT_WARNING = "the system does not allow a fixed memory layout: figures may differ more between runs"


@dataclass(slots=True)
class History:
    """What is known so far: from an interrupted run that goes on, or from this one.

    Cells that stand in `failures` are lost and stay so; `identities` are those the run began with.
    """

    calibrations: dict[tuple[Process, int], Calibration] = field(default_factory=dict)
    bursts: dict[Cell, list[Burst]] = field(default_factory=lambda: defaultdict(list))
    failures: list[Failure] = field(default_factory=list)
    identities: tuple[RunnerIdentity, ...] = ()
    epochs: int = 0
    measuring_s: float = 0.0

    def epochs_of(self, cell: Cell) -> int:
        """In how many epochs the cell was measured."""
        return len({burst.epoch for burst in self.bursts.get(cell, ())})


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run. `complete` is False after an interruption."""

    cells: tuple[CellFigure, ...]
    failures: tuple[Failure, ...]
    noise_floor: NoiseFloor | None
    complete: bool
    measuring_s: float


class Measurement:
    """One run. Use `measure`."""

    def __init__(
        self,
        plan: Plan,
        survey: Survey,
        catalogue: Catalogue,
        policy: Policy,
        sink: Sink,
        *,
        core: int,
        watcher: Watcher | None = None,
        history: History | None = None,
        input_path: Path | None = None,
        limits: TimeLimits | None = None,
    ) -> None:
        self.plan = plan
        self.survey = survey
        self.catalogue = catalogue
        self.policy = policy
        self.sink = sink
        self.core = core
        self.watcher = watcher or Unwatched()
        self.history = history or History()
        self.input_path = input_path
        self.limits = limits
        self._began = time.monotonic()
        failed = {failure.address for failure in self.history.failures}
        self._lost = {cell for cell in plan.everything if cell.address in failed}
        self._identities = {(one.runner, one.cpu): one for one in self.history.identities}
        self._digests: dict[Cell, str] = {}
        self._fixed_calls: dict[Cell, int] = {}
        self._took: dict[Cell, float] = {}
        self._floors: Floors = {}
        self._warnings: set[str] = set()
        self._stage = ""
        self._clean_share = 0.0

    def measure(self) -> Outcome:
        """Run to the end. KeyboardInterrupt ends it early; the outcome then says `complete=False`."""
        complete = True
        for failure in self.plan.failures:
            self._fail(failure)
        unfit = Counter(failure.message for failure in self.plan.failures if failure.address)
        for message, count in unfit.items():
            self.watcher.remark(f"left out: {message} ({count} cell{'s' if count > 1 else ''})")
        try:
            self._epochs()
        except KeyboardInterrupt:
            complete = False
        return self._finish(complete)

    @property
    def elapsed_s(self) -> float:
        """Seconds of measuring so far, those of an interrupted part included."""
        return self.history.measuring_s + time.monotonic() - self._began

    def _epochs(self) -> None:
        first = self.history.epochs
        for number in range(first, first + self.policy.max_epochs):
            cells = self._due()
            if not cells:
                return
            self._epoch(number, cells, first=number == first)
            self.history.epochs = number + 1
            self.sink.epoch_done(number)
            spent = self.elapsed_s > self.policy.budget_s
            if spent and all(self.history.epochs_of(cell) >= self.policy.epochs for cell in self._alive()):
                return

    def _alive(self) -> list[Cell]:
        return [cell for cell in self.plan.everything if cell not in self._lost]

    def _due(self) -> list[Cell]:
        """Cells of the next epoch: those with too few epochs, or, at a declared look, those not precise yet."""
        young = [c for c in self._alive() if self.history.epochs_of(c) < self.policy.epochs]
        if young:
            return young
        due = []
        for cell in self._alive():
            extra = self.history.epochs_of(cell) - self.policy.epochs
            if extra % EPOCH_STEP and extra + self.policy.epochs < self.policy.max_epochs:
                due.append(cell)  # between two looks
            elif self.history.epochs_of(cell) < self.policy.max_epochs and not self._precise(cell):
                due.append(cell)
        if self.elapsed_s > self.policy.budget_s:
            return []
        return due

    def _precise(self, cell: Cell) -> bool:
        figure = self._figure(cell)
        if figure is None:
            return True
        if figure.interval.half_width < 0.05:
            return True
        if figure.quality is Quality.LONG:  # to ask more of them would eat the budget of all others
            dear = self._took.get(cell, 0.0) > DEAR_S
            return figure.relative_half_width <= (DEAR_PRECISION if dear else LONG_PRECISION)
        return figure.relative_half_width <= self.policy.precision and figure.quality is not Quality.NOISY

    def _epoch(self, number: int, cells: Sequence[Cell], *, first: bool) -> None:
        epochs_left = max(1, self.policy.epochs - min(self.history.epochs_of(cell) for cell in cells))
        with Crew(
            self.survey,
            core=self.core,
            epoch=number,
            layout=draw_layout(self.policy.seed, number),
            seed=self.policy.seed,
            input_path=self.input_path,
            limits=self.limits,
        ) as crew:
            cells = self._start(crew, number, cells)
            if first:
                cells = self._pass_gate(crew, number, cells)
            left = max(0.0, self.policy.budget_s - self.elapsed_s)
            epoch = Epoch(
                number=number,
                crew=crew,
                policy=self.policy,
                floors=self._floors,
                deadline=time.monotonic() + left / epochs_left,
                keep=self._keep,
                fail=self._fail,
                tell=lambda cell, round_number, done, clean: self._tell(
                    f"epoch {number + 1}, round {round_number}", cell.address, number, done, len(cells), clean
                ),
                fixed_calls=self._fixed_calls,
                took=self._took,
            )
            epoch.run(cells)
            self._confirm(crew, epoch)
            if not crew.layout_fixed:
                self._warnings.add(LAYOUT_WARNING)

    def _start(self, crew: Crew, number: int, cells: Sequence[Cell]) -> list[Cell]:
        """Start the processes that the cells need; cells of a process that does not come up are lost."""
        for process in dict.fromkeys(cell.process for cell in cells):
            self._tell(f"epoch {number + 1}, starting", "/".join(process[:2]), number, 0, len(cells))
            try:
                calibration = crew.start(process)
            except PerbyteError as error:
                kind = failure_kind(error) if isinstance(error, RunnerError) else "absent"
                for cell in cells:
                    if cell.process == process:
                        self._fail(Failure(kind, cell.runner, str(error), address=cell.address))
                continue
            self.history.calibrations[process, number] = calibration
            self.sink.calibrated(calibration)
            identity = crew.identities[process]
            if self._identities.get((identity.runner, identity.cpu)) != identity:
                self._identities[identity.runner, identity.cpu] = identity
                self.sink.identified(identity)
        return [cell for cell in cells if cell not in self._lost]

    def _pass_gate(self, crew: Crew, number: int, cells: Sequence[Cell]) -> list[Cell]:
        checked = 0

        def tell(address: str) -> None:
            nonlocal checked
            checked += 1
            self._tell("checking", address, number, checked, len(cells))

        verdicts = Gate(self.catalogue, crew, tell).examine(cells)
        for failure in verdicts.failures:
            self._fail(failure)
        for algorithm, operation in sorted(verdicts.alone):
            self.watcher.remark(
                f"{algorithm} {operation}: one implementation and no known answer; only its round trip was checked"
            )
        self._digests = verdicts.digests
        return verdicts.passed

    def _confirm(self, crew: Crew, epoch: Epoch) -> None:
        """Compare what the last timed calls gave. A cell that fails now loses all its figures."""
        alike: dict[tuple[object, ...], list[Cell]] = defaultdict(list)
        for cell in epoch.tallies:
            alike[cell.algorithm, cell.operation, cell.size_bytes, cell.contract].append(cell)
        for cell, tally in epoch.tallies.items():
            if cell in self._lost or not tally.bursts:
                continue
            self._took[cell] = tally.shortest_s
            if tally.calls == 1 and tally.longest_s > self.policy.sample_us * 1e-5:
                self._fixed_calls[cell] = 1
            if self.catalogue.find(cell.algorithm).kind in ("probe", "signature"):
                continue
            while True:
                others = [
                    other
                    for other in alike[cell.algorithm, cell.operation, cell.size_bytes, cell.contract]
                    if other.runner != cell.runner and other not in self._lost
                ]
                failure = confirm(crew, cell, tally.calls, tally.digest, self._digests, others)
                if failure:
                    self._fail(failure)
                if failure is None or failure.address == cell.address:
                    break

    def _keep(self, burst: Burst) -> None:
        self.sink.measured(burst)
        self.history.bursts[burst.cell].append(burst)

    def _fail(self, failure: Failure) -> None:
        if failure.address:
            lost = [cell for cell in self.plan.everything if cell.address == failure.address]
            if any(cell in self._lost for cell in lost):
                return
            self._lost.update(lost)
        self.history.failures.append(failure)
        self.sink.failed(failure)

    def _tell(
        self, stage: str, what: str, epoch: int, done: int, total: int, clean: float | None = None
    ) -> None:
        if clean is not None:
            self._clean_share = clean
        left = max(0.0, self.policy.budget_s - self.elapsed_s)
        self.watcher.moment(Moment(stage, what, epoch, done, total, self._clean_share, self.elapsed_s, left))

    def _figure(self, cell: Cell, floors: Mapping[Process, float] | None = None) -> CellFigure | None:
        bursts = self.history.bursts.get(cell)
        if not bursts:
            return None
        identity = self._identities.get((cell.runner, cell.cpu))
        try:
            return stats.figure(
                cell,
                bursts,
                self.history.calibrations,
                self.policy,
                library=identity.library if identity else "",
                library_version=identity.library_version if identity else "",
                floors=floors,
            )
        except PerbyteError as error:
            self._fail(Failure("refused", cell.runner, str(error), address=cell.address))
            return None

    def _finish(self, complete: bool) -> Outcome:
        kept = [burst for cell in self._alive() for burst in self.history.bursts.get(cell, ())]
        floors = stats.contention_floors(self.history.calibrations, kept) if kept else {}
        figures = [figure for cell in self._alive() if (figure := self._figure(cell, floors))]
        floor = noise_floor(_pairs(figures))
        shown = self._with_warnings([figure for figure in figures if not figure.cell.twin], complete)
        for cell in self.plan.cells:
            if complete and cell not in self._lost and not self.history.bursts.get(cell):
                self._fail(
                    Failure("no-budget", cell.runner, "the budget was spent before", address=cell.address)
                )
        elapsed = self.elapsed_s
        wide = sum(figure.relative_half_width > self.policy.precision for figure in shown)
        if complete and wide:
            spent = elapsed > self.policy.budget_s
            why = (
                f"the budget of {self.policy.budget_s:g} s is spent"
                if spent
                else "more epochs would not help"
            )
            self.watcher.remark(
                f"{why}; {wide} of {len(shown)} cells are less precise than {self.policy.precision:.2%}"
            )
        outcome = Outcome(tuple(shown), tuple(self.history.failures), floor, complete, elapsed)
        self.sink.finish(outcome.cells, floor, elapsed, complete)
        return outcome

    def _with_warnings(self, figures: list[CellFigure], complete: bool) -> list[CellFigure]:
        rows = (
            unproven_rows(self.survey, self.catalogue, figures, core=self.core, policy=self.policy)
            if complete
            else {}
        )
        found = []
        for figure in figures:
            cell = figure.cell
            more = tuple(sorted(self._warnings))
            if text := rows.get((cell.runner, cell.cpu, cell.algorithm, cell.operation, cell.contract)):
                more += (text,)
            found.append(dataclasses.replace(figure, warnings=figure.warnings + more))
        return found


def _pairs(figures: Iterable[CellFigure]) -> list[tuple[CellFigure, CellFigure]]:
    by_cell = {figure.cell: figure for figure in figures}
    return [
        (by_cell[original], figure)
        for cell, figure in by_cell.items()
        if cell.twin and (original := dataclasses.replace(cell, twin=0)) in by_cell
    ]
