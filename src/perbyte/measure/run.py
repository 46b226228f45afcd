"""The run: epochs of fresh processes, validation in front, figures behind; everything kept as it comes.

Writes to the Sink it is given and nowhere else. A fault of a runner costs the cell it happens at; an
interruption ends the run early but in order, with figures of what there is. Given the history of an
interrupted run it goes on where that stopped, with what that left of the budget.
"""

from __future__ import annotations

import platform
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from perbyte import stats
from perbyte.catalogue import Catalogue
from perbyte.errors import RunnerError, RunnerGarbled
from perbyte.measure.audit import Auditor
from perbyte.measure.budget import Budget
from perbyte.measure.cores import kept_awake, noise_note
from perbyte.measure.draws import Draws
from perbyte.measure.history import Moment, NullProgress, RunHistory, RunOutcome, Watcher
from perbyte.measure.learnt import Learnt, probe_note, recall
from perbyte.measure.neighbour import Share
from perbyte.measure.nesting import Nesting
from perbyte.measure.pace import Pace
from perbyte.measure.pieces import CUT_FROM_SAMPLES, Cut
from perbyte.measure.plan import Plan, Survey
from perbyte.measure.reach import Reach
from perbyte.measure.rounds import EpochUnderWay
from perbyte.measure.second_look import SecondLooks
from perbyte.measure.sessions import (
    STARTING_FAILS,
    Sessions,
    alike,
    draw_layout,
    failure_kind,
)
from perbyte.measure.side_by_side import SideBySide
from perbyte.measure.states import States, expected_s
from perbyte.measure.stopping import SPARSE_FROM, Stopping, imprecise_note
from perbyte.measure.tiers import look_at_full, unproven_tiers, without_full
from perbyte.measure.timing import Timing
from perbyte.measure.validation import Validation, confirm
from perbyte.measure.warmth import Warmth
from perbyte.measure.witness import Witness
from perbyte.model import (
    Burst,
    Calibration,
    Cell,
    Failure,
    Policy,
    RunnerIdentity,
    Sink,
    UnprovenTier,
)
from perbyte.model.cell import LOOP
from perbyte.runners.session import TimeLimits

CUT_IN_VAIN = 2  # epochs in which pieces cost more than whole calls: these are timed from then on
NOISY_SHARE = 0.15  # of clean samples, below which a run says what would help
MOST_CONFIRM_S = 1.0  # of another runner's time, to confirm how many calls a runner says that it has made
STORING_SHARE = 0.03  # of a run's time, that ordering what is stored may take before its end
NOTE_EVERY_S = 1.0  # what a kill may make a resumed run forget of the time that was spent


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
        watcher: Watcher | None = None,
        history: RunHistory | None = None,
        input_path: Path | None = None,
        limits: TimeLimits | None = None,
        told_s: float | None = None,
        learnt: Learnt | None = None,
        pace: Pace | None = None,
    ) -> None:
        """`learnt` of the processor: None for the machine's file; `pace` is told what the run took.

        `told_s`: seconds of measuring that were told beforehand, by which the run goes: it makes fewer of the promised
        epochs, and leaves out dear cells, rather than to overrun them by far. None: all is measured, whatever the time.
        """
        self._reach = Reach(policy, told_s)
        self.plan = plan
        self.survey = survey
        self.catalogue = catalogue
        self.policy = policy
        self.sink = sink
        self.cores = policy.cores
        self.watcher = watcher or NullProgress()
        self.history = history or RunHistory()
        self.input_path = input_path
        self.limits = limits
        self._budget = Budget(policy.budget_s, self.history.measuring_s)
        failed = {failure.address for failure in self.history.failures}
        self._lost = {cell for cell in plan.everything if cell.address in failed}
        self._digests: dict[Cell, str] = {}
        self._fixed_calls: dict[Cell, int] = {}
        self._took: dict[Cell, float] = {}
        self._cuts: dict[Cell, Cut | None] = {}
        self._apart: Counter[Cell] = Counter()
        self._single: set[Cell] = set()
        self._done = ((-1, -1), 0)
        self._epoch_s = self._epoch_began = 0.0
        self._noted_s = 0.0
        self._identified: dict[tuple[str, str], RunnerIdentity] = {}
        self._second_looks = SecondLooks()
        self._clean_share = 0.0
        self._clean_shares: list[float] = []
        self._states_s: dict[Cell, float] = {}
        self._learnt = learnt or recall(self.cores[0])
        self._pace = pace
        self._warmth = Warmth(policy)
        self._nesting = Nesting(policy)
        self._stopping = Stopping(policy, self.history, self._fail, self._nesting)
        self.timing = Timing()

    def measure(self) -> RunOutcome:
        """Run to the end. KeyboardInterrupt ends it early; the outcome then says `complete=False`."""
        complete = True
        for failure in self.plan.failures:
            self._fail(failure)
        for tier in unproven_tiers(self.survey, self.catalogue, self.plan.cells):
            if tier.row not in self.history.unproven:
                self._unproven(tier)
        unfit = Counter(failure.message for failure in self.plan.failures if failure.address)
        for message, count in unfit.items():
            self.watcher.note(f"left out: {message} ({count} cell{'s' if count > 1 else ''})")
        specs = () if self.policy.gentle else self.survey.specs.values()
        try:
            with (
                kept_awake(specs, self.cores) as self._awake,
                Witness(self.cores, self._learnt, gentle=self.policy.gentle) as witness,
            ):
                self._share = Share(self.cores, len(self._awake.loops))
                self._auditor = Auditor(
                    self.policy, self.catalogue, self.history.audits, self.sink.audited, self._fail, witness
                )
                self._epochs()
        except KeyboardInterrupt:
            complete = False
        return self._finish(complete)

    @property
    def elapsed_s(self) -> float:
        """Seconds of measuring so far, those of an interrupted part included."""
        return self._budget.elapsed_s

    def _epochs(self) -> None:
        first = self.history.epochs
        for number in range(first, first + self.policy.max_epochs):
            alive = self._alive()
            with self.timing.of("statistics"):
                young = self._stopping.young(alive)
                done = min((self.history.epochs_of(cell) for cell in young), default=0)
                if young and self._reach.overdue(self.elapsed_s, done):
                    self.watcher.note(self._reach.late(done))
                    return
                cells = self._reachable(young) if young else self._stopping.due(alive, self._budget)
            if not cells:
                return
            self._epoch(number, cells, first=number == first, promised=bool(young))
            self.history.epochs = number + 1

    def _alive(self) -> list[Cell]:
        return self.plan.of_use([cell for cell in self.plan.everything if cell not in self._lost])

    def _reachable(self, young: Sequence[Cell]) -> list[Cell]:
        """The cells of the next promised epoch: those that can be measured in the time that was told."""
        beyond = self._reach.beyond(young)
        for cell, failure in beyond.items():
            self._leave(cell, failure)
        return [cell for cell in young if cell not in beyond]

    def _leave(self, cell: Cell, failure: Failure) -> None:
        """Lose a cell that is not reached. Nobody asked for a twin, so nothing is said of it."""
        if cell.twin:
            self._lost.add(cell)
        else:
            self._fail(failure)

    def _epoch(self, number: int, cells: Sequence[Cell], *, first: bool, promised: bool) -> None:
        missing = max(1, self.policy.epochs - min(self.history.epochs_of(cell) for cell in cells))
        began = self._epoch_began = time.monotonic()
        name = f"epoch {number + 1}"
        if missing > 1:
            name += f" of at least {number + missing}"
        with Sessions(
            self.survey,
            cores=self.cores,
            epoch=number,
            layout=draw_layout(self.policy.seed, number),
            seed=self.policy.seed,
            input_path=self.input_path,
            limits=self.limits,
            admit=self._admit,
            learnt=self._learnt,
            gentle=self.policy.gentle,
        ) as sessions:
            with self.timing.of("starting"), self._budget.outside() if promised else nullcontext():
                cells = self._start(sessions, name, number, cells)
            if first:
                with self.timing.of("checking"):
                    cells = self.plan.of_use(self._validate(sessions, number, cells))
            apart = [cell for cell in cells if cell.state != LOOP]
            drawn = [cell for cell in cells if cell.drawn]
            share_s = self._budget.share_s(cells, max(missing, SPARSE_FROM - number, number // 4), missing)
            draws_s = share_s * len(drawn) / max(1, len(cells))
            share_ends = time.monotonic() + share_s
            epoch = EpochUnderWay(
                number=number,
                sessions=sessions,
                policy=self.policy,
                calibrations=self.history.calibrations,
                deadline=share_ends
                - draws_s
                - sum(self._states_s.get(cell, expected_s(cell)) for cell in apart),
                keep=self._keep,
                fail=self._fail,
                tell=lambda cell, round_number, done, clean: self._tell(
                    f"{name}, round {round_number}", cell.address, number, len(cells) - done, clean
                ),
                share=self._share,
                fixed_calls=self._fixed_calls,
                took=self._took,
                cuts=self._cuts,
                warmth=self._warmth,
                timing=self.timing,
                most_rounds=self._rounds,
                most_samples=self._nesting.samples,
                single=self._single,
            )
            with epoch.aside:
                epoch.run([cell for cell in cells if cell.state == LOOP and not cell.drawn])
                rounds_over = time.monotonic()
                if self.policy.audit:
                    with self.timing.of("audit"):
                        self._auditor.audit(sessions, epoch, self._lost, self.elapsed_s)
            with self.timing.of("confirming"):
                self._confirm(sessions, epoch)
            rest_s = time.monotonic() - rounds_over
            if apart := [cell for cell in apart if cell not in self._lost]:
                self._tell(f"{name}, calls in states of their own", "", number, len(apart))
                hooks = (self._digests, self._awake, self._share, self._keep, self._fail)
                self._states_s |= States(sessions, number, self.cores, self.policy, *hooks).take(apart)
            if drawn := [cell for cell in drawn if cell not in self._lost]:
                self._tell(f"{name}, calls that differ by luck", "", number, len(drawn))
                known = self.history.bursts
                draws = Draws(sessions, number, self.policy, known, self._share, self._keep, self._fail)
                with self.timing.of("samples"):
                    self._states_s |= draws.take(drawn, max(share_ends, time.monotonic() + draws_s))
        self._epoch_s = time.monotonic() - began
        self._nesting.note(epoch.tallies, self._epoch_s)
        if first and platform.machine() == "x86_64":  # elsewhere there is no window probe to be missed
            learnt, specs = sessions.calibrations.values(), self.survey.specs
            if note := probe_note(each for each in learnt if specs[each.runner].native):
                self.watcher.note(note)
        if self._warmth.note(tally.by_round for tally in epoch.tallies.values()):
            self.watcher.note(
                f"short calls keep getting faster for {self.policy.warm_us * 1e-3:g} ms on this core: "
                "bursts are warmed for that long from here on"
            )
        for cell in epoch.cost_apart():
            self._apart[cell] += 1
            if self._apart[cell] >= CUT_IN_VAIN:
                self._cuts[cell] = None
        self._note_time()
        self._store_epoch(number)
        self._clean_shares.append(self._clean_share)
        if len(self._clean_shares) == 2 and statistics.mean(self._clean_shares) < NOISY_SHARE:
            self.watcher.note(noise_note(statistics.mean(self._clean_shares), self.cores))
        self._note_costs(epoch, rest_s)

    def _rounds(self, cell: Cell) -> int | None:
        """The rounds of a cell in the next epoch, where that is known: as few as can be where more are in vain."""
        wanted = self._nesting.rounds(cell)
        if wanted and self._cuts.get(cell):
            return self.policy.looks[
                0
            ]  # where memory decides, bursts differ too much for fewer, and cost too much for more
        return wanted and min(wanted, self.policy.looks[0]) if cell in self._stopping.out_of_reach else wanted

    def _store_epoch(self, number: int) -> None:
        """Let the sink put its samples in order, unless that takes more than its share of the run: they are safe."""
        if self.timing.seconds["storing"] <= STORING_SHARE * self.elapsed_s:
            with self.timing.of("storing"):
                self.sink.epoch_done(number)

    def _start(self, sessions: Sessions, name: str, number: int, cells: Sequence[Cell]) -> list[Cell]:
        """Start the processes that the cells need; cells of a process that does not come up are lost."""
        processes = tuple(dict.fromkeys(cell.process for cell in cells))
        sessions.launch(processes)
        for process in processes:
            self._tell(f"{name}, starting", "/".join(process[:2]), number, len(cells))
            began = time.monotonic()
            try:
                sessions.start(process)
            except STARTING_FAILS as error:
                kind = failure_kind(error) if isinstance(error, RunnerError) else "absent"
                for cell in (cell for cell in cells if cell.process == process):
                    self._fail(Failure(kind, cell.runner, str(error), address=cell.address))
            self._budget.note_start(process, time.monotonic() - began)
        return [cell for cell in cells if cell not in self._lost]

    def _admit(self, identity: RunnerIdentity, calibration: Calibration) -> bool:
        """Note who a process is and what it found out about its clock; False when it cannot be used.

        A process that replaces another in mid-epoch goes on with the same cells in the same layout, so its samples and
        those before belong to one figure, for which one calibration must do: it has to be like the other's. The later
        one counts then. Before the first sample it takes the other's place. One with an odd floor looks again.
        """
        first = self._identified.setdefault((identity.runner, identity.cpu), identity)
        if first != identity:
            raise RunnerGarbled(
                f"runner '{identity.runner}' is not what it was when the run began: "
                f"{first.library} {first.library_version} then, {identity.library} {identity.library_version} now"
            )
        key = (calibration.process, calibration.epoch)
        known = self.history.calibrations.get(key)
        if known and self.history.measured(*key) and not alike(known, calibration, self.policy):
            self.watcher.note(
                f"{calibration.runner} (tier {calibration.cpu}) broke off; its replacement has another clock"
            )
            return False
        if self._second_looks.due(calibration, self.history.calibrations.values(), self.policy):
            return False
        if self.history.identity(identity.runner, identity.cpu) != identity:
            self.sink.identified(identity)
            self.history.identities += (identity,)
        self.history.calibrations[key] = calibration
        self.sink.calibrated(calibration)
        return True

    def _note_costs(self, epoch: EpochUnderWay, rest_s: float) -> None:
        """Note what this epoch took, the best guess at what the next one will take."""
        self._budget.note_rest(rest_s)
        self._reach.note(epoch.tallies, self._states_s, self._epoch_s)
        for cell, took in self._states_s.items():
            self._budget.note_first_look(cell, took)
        first_look = self.policy.looks[0]
        for cell, tally in epoch.tallies.items():
            early = sum(
                burst.epoch == epoch.number and burst.round <= first_look
                for burst in self.history.bursts.get(cell, ())
            )
            self._budget.note_first_look(cell, early * tally.spent_s / max(1, tally.bursts))

    def _validate(self, sessions: Sessions, number: int, cells: Sequence[Cell]) -> list[Cell]:
        checked = 0

        def tell(address: str) -> None:
            nonlocal checked
            checked += 1
            self._tell(f"checking {checked} of {len(cells)}", address, number, len(cells))

        large = SideBySide(sessions, () if self.policy.gentle else self.cores, self._share.crowded)
        verdicts = Validation(self.catalogue, sessions, tell, side_by_side=large).examine(cells)
        for failure in verdicts.failures:
            self._fail(failure)
        for algorithm, operation in sorted(verdicts.alone):
            self.watcher.note(
                f"{algorithm} {operation}: one implementation and no known answer; only its round trip was checked"
            )
        if verdicts.compared:
            self.watcher.note(f"{verdicts.compared} outputs compared with those of other runners")
        self._digests = verdicts.digests
        for cell, failure in self._reach.outlasting(verdicts.passed, verdicts.took_s).items():
            self._leave(cell, failure)
        return [cell for cell in verdicts.passed if cell not in self._lost]

    def _confirm(self, sessions: Sessions, epoch: EpochUnderWay) -> None:
        """Compare what the last timed calls gave. A cell that fails now loses all its figures."""
        alike: dict[tuple[object, ...], list[Cell]] = defaultdict(list)
        for cell in epoch.tallies:
            alike[cell.algorithm, cell.operation, cell.size_bytes, cell.contract].append(cell)
        for cell, tally in epoch.tallies.items():
            if cell in self._lost or not tally.bursts:
                continue
            self._took[cell] = tally.shortest_s
            if tally.calls == 1 and tally.longest_s > CUT_FROM_SAMPLES * self.policy.sample_us * 1e-6:
                self._fixed_calls[cell] = 1
            if not tally.digest or not self.catalogue.find(cell.algorithm).determined(cell.operation):
                continue  # no whole call was timed, or its output is not determined
            while True:
                others = [
                    other
                    for other in alike[cell.algorithm, cell.operation, cell.size_bytes, cell.contract]
                    if other.runner != cell.runner
                    and other not in self._lost
                    and tally.calls * epoch.tallies[other].call_s < MOST_CONFIRM_S
                ]
                failure = confirm(sessions, cell, tally.calls, tally.digest, self._digests, others)
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

    def _unproven(self, tier: UnprovenTier) -> None:
        self.history.unproven[tier.row] = tier
        self.sink.unproven(tier)

    def _tell(self, stage: str, what: str, epoch: int, pending: int, clean: float | None = None) -> None:
        if clean is not None:
            self._clean_share = clean
        if self.elapsed_s >= self._noted_s + NOTE_EVERY_S:
            self._note_time()
        known = (len(self._stopping.finished), len(self._lost))
        if self._done[0] != known:  # asked for at each burst
            done = sum(cell in self._stopping.finished or cell in self._lost for cell in self.plan.cells)
            self._done = (known, done)
        self.watcher.moment(
            Moment(
                stage=stage,
                what=what,
                epoch=epoch,
                done=self._done[1],
                total=len(self.plan.cells),
                pending=pending,
                clean_share=self._clean_share,
                elapsed_s=self.elapsed_s,
                left_s=self._budget.left_s,
                expected_s=self._expected_s(),
            )
        )

    def _expected_s(self) -> float | None:
        """Seconds until the cells are precise, or the budget is spent."""
        if self._stopping.epochs_left is None:
            return None
        since_s = time.monotonic() - self._epoch_began
        return min(max(self._stopping.epochs_left * self._epoch_s - since_s, 0.0), self._budget.left_s)

    def _note_time(self) -> None:
        self._noted_s = self.elapsed_s
        self.sink.spent(self._noted_s)

    def _look_at_tiers(self) -> None:
        """Look at `full` for each unproven row of which no figure in `full` will tell."""
        measured = {cell for cell in self._alive() if self.history.bursts.get(cell)}
        for tier in without_full(self.history.unproven.values(), measured):
            self._unproven(look_at_full(self.survey, tier, self.cores, self.policy))

    def _finish(self, complete: bool) -> RunOutcome:
        if complete:
            self._look_at_tiers()
        alive = self._alive()
        with self.timing.of("statistics"):
            made = stats.make_run_figures(
                {cell: self.history.bursts.get(cell, []) for cell in alive},
                self.history.calibrations.values(),
                self.policy,
                plan=[cell.address for cell in self.plan.cells],
                identities=self.history.identities,
                failures=self.history.failures,
                unproven=self.history.unproven.values(),
                audits=[audit for looks in self.history.audits.values() for audit in looks],
            )
        for failure in made.failures:
            self._fail(failure)
        elapsed = self.elapsed_s
        if self._pace and complete and not self.history.measuring_s:
            measuring_s = elapsed - self.timing.seconds["checking"]
            self._reach.tell(self._pace, self._budget.starts_s, measuring_s, made.cells)
        ended = self._stopping.budget_ended or elapsed > self.policy.budget_s
        if complete and (note := imprecise_note(made.cells, self.policy, ended=ended)):
            self.watcher.note(note)
        outcome = RunOutcome(
            made.cells,
            tuple(self.history.failures),
            made.noise_floor,
            complete,
            elapsed,
            self.timing.shares(self._budget.part_s),
        )
        self.sink.finish(outcome.cells, outcome.noise_floor, elapsed, complete)
        return outcome
