"""The run: epochs of fresh processes, validation in front, figures behind; everything kept as it comes.

Writes to the Sink it is given and nowhere else. A fault of a runner costs the cell it happens at; an
interruption ends the run early but in order, with figures of what there is. Given the history of an
interrupted run it goes on where that stopped, with what that left of the budget.
"""

from __future__ import annotations

import itertools
import os
import platform
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from perbyte import places
from perbyte.catalogue import Catalogue
from perbyte.measure.audit import Auditor
from perbyte.measure.budget import Budget, Timing
from perbyte.measure.cores import Awake, Share, kept_awake
from perbyte.measure.costs import Costs
from perbyte.measure.draws import Draws
from perbyte.measure.forecast import Pace
from perbyte.measure.history import Admission, Ledger, NullProgress, RunHistory, RunOutcome, Watcher
from perbyte.measure.learnt import Learnt, probe_note, recall
from perbyte.measure.looks import question
from perbyte.measure.nesting import Nesting
from perbyte.measure.plan import Plan, Survey
from perbyte.measure.reach import Reach
from perbyte.measure.referees import Referees
from perbyte.measure.rounds import EpochUnderWay
from perbyte.measure.sessions import STARTING_FAILS, Sessions, failure_of
from perbyte.measure.stalls import Stalls
from perbyte.measure.states import States, expected_s
from perbyte.measure.stopping import SPARSE_FROM, Stopping, imprecise_note
from perbyte.measure.telling import Telling
from perbyte.measure.tiers import look_at_full, unproven_tiers, without_full
from perbyte.measure.validation import SideBySide, Validation, confirm
from perbyte.measure.ways import CUT_FROM_SAMPLES, Warmth, Ways
from perbyte.measure.witness import Witness
from perbyte.model import Cell, Policy, Sink
from perbyte.model.cell import LOOP
from perbyte.runners import RunnerSpec
from perbyte.runners.session import TimeLimits
from perbyte.stats.run_figures import make_run_figures

MOST_CONFIRM_S = 1.0  # of another runner's time, to confirm how many calls a runner says that it has made
STORING_SHARE = 0.01  # of a run's time, that ordering what is stored may take before its end


@dataclass(frozen=True, slots=True)
class _Beside:
    """What accompanies epochs: loops that keep cores awake, the share of them, others, the auditor."""

    awake: Awake
    share: Share
    referees: Referees
    auditor: Auditor


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
        after_s: float = 0.0,
        referees: Callable[[], Sequence[RunnerSpec]] = tuple,
    ) -> None:
        """`learnt` of the processor: None for the machine's file; `pace` is told what the run took.

        `after_s`: seconds that the command will take after the last epoch, for the progress line.

        `referees` gives runners that checks may start, to make calls that nobody else in the run can make.

        `told_s`: the budget, where it is to be kept: a run that would take longer makes fewer epochs, and leaves out
        dear cells. None: all is measured, whatever the time.
        """
        self.plan = plan
        self.survey = survey
        self.catalogue = catalogue
        self.policy = policy
        self._referees = referees
        self._learnt = learnt or recall(policy.cores[0])
        self._ledger = Ledger(plan, sink, history or RunHistory())
        watcher = watcher or NullProgress()
        self._open = partial(
            Sessions,
            survey,
            policy,
            input_path=input_path,
            limits=limits,
            admit=Admission(policy, self._ledger, watcher).admit,
            learnt=self._learnt,
            stalls=Stalls(policy.budget_s),
        )
        self._costs = Costs()
        self._budget = Budget(policy.budget_s, self.history.measuring_s, self._costs)
        self._reach = Reach(policy, told_s, self._costs, pace)
        self._nesting = Nesting(policy, self._costs)
        self._stopping = Stopping(policy, self.history, self._ledger.fail, self._nesting, self._costs)
        self._telling = Telling(plan, watcher, self._ledger, self._budget, self._stopping, after_s)
        self._ways = Ways(Warmth(policy))
        self.timing = Timing()

    @property
    def history(self) -> RunHistory:
        """What is known of the run so far."""
        return self._ledger.history

    def measure(self) -> RunOutcome:
        """Run to the end. KeyboardInterrupt ends it early; the outcome then says `complete=False`."""
        for failure in self.plan.failures:
            self._ledger.fail(failure)
        for tier in unproven_tiers(self.survey, self.catalogue, self.plan.cells):
            if tier.row not in self.history.unproven:
                self._ledger.note_unproven(tier)
        unfit = Counter(failure.message for failure in self.plan.failures if failure.address)
        for message, count in unfit.items():
            self._telling.note(f"left out: {message} ({count} cell{'s' if count > 1 else ''})")
        specs = () if self.policy.gentle else self.survey.specs.values()
        cores, ledger = self.policy.cores, self._ledger
        cared_for = () if places.TEST_LOCKS in os.environ else cores
        try:
            with (
                kept_awake(specs, cared_for) as awake,
                Witness(cores, self._learnt, gentle=self.policy.gentle) as witness,
                Referees(self.policy, self._referees) as referees,
            ):
                known, note = self.history.audits, ledger.sink.audited
                auditor = Auditor(self.policy, self.catalogue, known, note, ledger.fail, witness, referees)
                self._epochs(_Beside(awake, Share(cared_for, len(awake.loops)), referees, auditor))
        except KeyboardInterrupt:
            return self._finish(False)
        return self._finish(True)

    def _epochs(self, beside: _Beside) -> None:
        first = self.history.epochs
        for number in range(first, first + self.policy.max_epochs):
            alive = self._ledger.alive()
            with self.timing.of("statistics"):
                young = self._stopping.young(alive)
                done = min((self.history.epochs_of(cell) for cell in young), default=0)
                if young and self._reach.overdue(self._budget.part_s, done):
                    self._telling.note(self._reach.late(done))
                    self._stopping.budget_ended = True
                    return
                reached = self._ledger.reached(young, self._reach.beyond(young))
                cells = reached if young else self._stopping.due(alive, self._budget)
            if not cells:
                return
            self._epoch(number, cells, beside, first=number == first, promised=bool(young))
            self.history.epochs = number + 1

    def _epoch(
        self, number: int, cells: Sequence[Cell], beside: _Beside, *, first: bool, promised: bool
    ) -> None:
        missing = max(1, self.policy.epochs - min(self.history.epochs_of(cell) for cell in cells))
        self._telling.begin_epoch()
        ledger, ways = self._ledger, self._ways
        name = f"epoch {number + 1}" + (f" of at least {number + missing}" if missing > 1 else "")
        with self._open(epoch=number) as sessions:
            with self.timing.of("starting"), self._budget.outside() if promised else nullcontext():
                cells = self._start(sessions, name, number, cells)
            if first:
                with self.timing.of("checking"):
                    cells = self.plan.of_use(self._validate(sessions, number, cells, beside))
            apart = [cell for cell in cells if cell.state != LOOP]
            drawn = [cell for cell in cells if cell.drawn]
            share_s = self._budget.share_s(cells, max(missing, SPARSE_FROM - number, number // 4), missing)
            draws_s = share_s * len(drawn) / max(1, len(cells))
            apart_s = sum(self._costs.first_look_s.get(cell, expected_s(cell)) for cell in apart)
            share_ends = time.monotonic() + share_s
            # calls in states of their own are repeated in the promised epochs, and seldom in more
            states_end = time.monotonic() + self._budget.share_s(cells, missing, missing)
            epoch = EpochUnderWay(
                number=number,
                sessions=sessions,
                policy=self.policy,
                calibrations=self.history.calibrations,
                deadline=share_ends - draws_s - apart_s,
                keep=ledger.keep,
                fail=ledger.fail,
                tell=lambda cell, round_number, done, clean: self._telling.burst(
                    f"{name}, round {round_number}", cell, len(cells) - done, clean, epoch
                ),
                share=beside.share,
                ways=ways,
                most_rounds=self._rounds,
                most_samples=self._nesting.samples,
                timing=self.timing,
                costs=self._costs,
            )
            with epoch.aside:
                epoch.run([cell for cell in cells if cell.state == LOOP and not cell.drawn])
                rounds_over = time.monotonic()
                if self.policy.audit:
                    with self.timing.of("audit"):
                        beside.auditor.audit(epoch, ledger.lost, self._budget.elapsed_s)
            with self.timing.of("confirming"):
                self._confirm(epoch)
            ending_s = time.monotonic() - rounds_over
            self._take_states(epoch, beside, name, ledger.left(apart), states_end)
            if drawn := ledger.left(drawn):
                self._telling.moment(f"{name}, calls that vary at random", "", number, len(drawn))
                draws = Draws(epoch, self.history.bursts)
                with self.timing.of("samples"):
                    self._costs.note_states(draws.take(drawn, max(share_ends, time.monotonic() + draws_s)))
        self._after(epoch, cells, ending_s, first=first)

    def _after(self, epoch: EpochUnderWay, cells: Sequence[Cell], ending_s: float, *, first: bool) -> None:
        self._telling.end_epoch()
        self._costs.note(
            epoch.tallies,
            first_look=self.policy.looks[0],
            epoch_s=self._telling.epoch_s,
            ending_s=ending_s,
            starts_s=self._costs.starts_s(cells),
        )
        self._nesting.note(epoch.tallies)
        self._note_ways(epoch, first=first)
        self._telling.note_time()
        self._store_epoch(epoch.number)
        self._telling.note_clean(self.policy.cores)

    def _take_states(
        self, epoch: EpochUnderWay, beside: _Beside, name: str, cells: Sequence[Cell], ends: float
    ) -> None:
        if cells:
            self._telling.moment(f"{name}, calls in states of their own", "", epoch.number, len(cells))
            most_s = max(0.0, ends - time.monotonic())
            self._costs.note_states(States(epoch, beside.awake).take(cells, most_s))
            for cell in cells:
                if self.policy.audit and not cell.threads:
                    beside.auditor.look_before(epoch, cell)

    def _note_ways(self, epoch: EpochUnderWay, *, first: bool) -> None:
        if first and platform.machine() == "x86_64":  # elsewhere there is no window probe to be missed
            learnt, specs = epoch.sessions.calibrations.values(), self.survey.specs
            if note := probe_note(each for each in learnt if specs[each.runner].native):
                self._telling.note(note)
        if self._ways.warmth.note({cell: tally.by_round for cell, tally in epoch.tallies.items()}):
            self._telling.note(
                f"short calls keep getting faster for {self.policy.warm_us * 1e-3:g} ms on this core: "
                "bursts are warmed for that long from here on"
            )
        self._ways.note_apart(epoch.cost_apart())

    def _rounds(self, cell: Cell) -> int | None:
        """The rounds of a cell in the next epoch, where that is known: as few as can be where more are in vain."""
        wanted = self._nesting.rounds(cell)
        if wanted and self._ways.cuts.get(cell):
            # where memory decides, bursts differ too much for fewer, and cost too much for more
            return self.policy.looks[0]
        return wanted and min(wanted, self.policy.looks[0]) if cell in self._stopping.out_of_reach else wanted

    def _store_epoch(self, number: int) -> None:
        if self.timing.seconds["storing"] <= STORING_SHARE * self._budget.elapsed_s:
            with self.timing.of("storing"):
                self._ledger.sink.epoch_done(number)

    def _start(self, sessions: Sessions, name: str, number: int, cells: Sequence[Cell]) -> list[Cell]:
        processes = tuple(dict.fromkeys(cell.process for cell in cells))
        sessions.launch(processes)
        for process in processes:
            self._telling.moment(f"{name}, starting", "/".join(process[:2]), number, len(cells))
            began = time.monotonic()
            try:
                sessions.start(process)
            except STARTING_FAILS as error:
                for cell in (each for each in cells if each.process == process):
                    self._ledger.fail(failure_of(cell, error))
            self._costs.start_s[process] = time.monotonic() - began
        return self._ledger.left(cells)

    def _validate(
        self, sessions: Sessions, number: int, cells: Sequence[Cell], beside: _Beside
    ) -> list[Cell]:
        checked, asked = itertools.count(1), sum(not cell.twin for cell in cells)

        def tell(address: str) -> None:
            self._telling.moment(
                f"checking {min(next(checked), asked)} of {asked}", address, number, len(cells)
            )

        large = SideBySide(sessions, () if self.policy.gentle else self.policy.cores, beside.share.crowded)
        validation = Validation(self.catalogue, sessions, tell, side_by_side=large, referees=beside.referees)
        verdicts = validation.examine(cells)
        for failure in verdicts.failures:
            self._ledger.fail(failure)
        for algorithm, operation in sorted(verdicts.alone):
            self._telling.note(
                f"{algorithm} {operation}: one implementation and no known answer; only its round trip was checked"
            )
        for runner, algorithm, kind in sorted(verdicts.accepted):
            self._telling.note(f"{runner}/{algorithm}: accepts {kind} signatures, as its runner.toml says")
        if verdicts.compared:
            self._telling.note(f"{verdicts.compared} outputs compared with those of other runners")
        self._ways.digests = verdicts.digests
        beyond = self._reach.outlasting(verdicts.passed, verdicts.took_s)
        return self._ledger.reached(verdicts.passed, beyond)

    def _confirm(self, epoch: EpochUnderWay) -> None:
        alike: dict[tuple[object, ...], list[Cell]] = defaultdict(list)
        for cell in epoch.tallies:
            alike[question(cell)].append(cell)
        for cell, tally in epoch.tallies.items():
            if cell in self._ledger.lost or not tally.bursts:
                continue
            if tally.calls == 1 and tally.longest_s > CUT_FROM_SAMPLES * self.policy.sample_us * 1e-6:
                self._ways.fixed_calls[cell] = 1
            if not tally.digest or not self.catalogue.find(cell.algorithm).determined(cell.operation):
                continue  # no whole call was timed, or its output is not determined
            while True:
                others = [
                    other
                    for other in alike[question(cell)]
                    if other.runner != cell.runner
                    and other not in self._ledger.lost
                    and tally.calls * epoch.tallies[other].call_s < MOST_CONFIRM_S
                ]
                failure = confirm(epoch.sessions, cell, tally.calls, tally.digest, self._ways.digests, others)
                if failure:
                    self._ledger.fail(failure)
                if failure is None or failure.address == cell.address:
                    break

    def _finish(self, complete: bool) -> RunOutcome:
        alive = self._ledger.alive()
        if complete:  # a look at `full` for each unproven row of which no figure in `full` will tell
            measured = {cell for cell in alive if self.history.bursts.get(cell)}
            for tier in without_full(self.history.unproven.values(), measured):
                self._ledger.note_unproven(look_at_full(self.survey, tier, self.policy))
        with self.timing.of("statistics"):
            made = make_run_figures(
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
            self._ledger.fail(failure)
        elapsed = self._budget.elapsed_s
        if complete and not self.history.measuring_s:
            measuring_s = elapsed - self.timing.seconds["checking"]
            self._reach.tell(measuring_s, made.cells)
        ended = self._stopping.budget_ended or elapsed > self.policy.budget_s
        if complete and (note := imprecise_note(made.cells, self.policy, elapsed if ended else None)):
            self._telling.note(note)
        failures, timing = tuple(self.history.failures), self.timing.shares(self._budget.part_s)
        self._ledger.sink.finish(made.cells, made.noise_floor, elapsed, complete, made.failures)
        over_at = self._telling.over_at
        return RunOutcome(made.cells, failures, made.noise_floor, complete, elapsed, timing, over_at)
