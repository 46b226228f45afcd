"""One epoch's samples: rounds of bursts in random order, until each cell is precise or time is up.

Order is drawn anew each round, so that all cells are measured under the same conditions. A cell leaves at a declared
look when its samples are precise enough; it never leaves because of what its figure is. Cells whose single
call outlasts a sample get the rounds that the epoch's share of the budget allows, at least one.

One burst is under way at any time. What the last one gave is read, kept and looked at while the next one is taken, so
that the measured core does not wait for us.
"""

from __future__ import annotations

import math
import random
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from perbyte.errors import RunnerError
from perbyte.measure.budget import Timing
from perbyte.measure.cores import Aside, Share
from perbyte.measure.costs import Costs
from perbyte.measure.sessions import BROKE_OFF, Sessions, failure_of
from perbyte.measure.tally import Tally
from perbyte.measure.ways import FULL_ROUND, LARGE_BYTES, Warm, Ways, cut_calls, first_piece
from perbyte.model import Burst, Calibration, Cell, Failure, Policy, Process
from perbyte.protocol import messages
from perbyte.protocol.material import LAYOUT_BITS, further_layout
from perbyte.runners.session import Session
from perbyte.runners.taken import AskedBurst, TakenBursts, UnreadBursts
from perbyte.stats.arrays import np
from perbyte.stats.clean import Quiet, find_quiet, judge_samples
from perbyte.stats.figure import PIECES_APART

if TYPE_CHECKING:
    from numpy.typing import NDArray

CLEAN_SHARE = 0.75  # of a burst's samples: so many clean ones end it early
# probes to wait for a quiet core before a sample: a millisecond; ten where a look is cheap
PATIENCE = {"front-end": 120, "reorder-buffer": 40_000}
MOST_BURSTS = 128  # of a cell in an epoch: beyond, others wait for long
MOST_CALLS_PER_S = 2e10  # a core makes some five calls of nothing a nanosecond
WHOLE_CHECK_S = 5e-3  # calls up to this long are taken whole once an epoch, beside their pieces
LONG_BURSTS = 4  # a call that outlasts so many bursts gets few, spread over the rounds of the others
# the rounds that a question for the bursts of several begins with, where forks take them: a question costs as much as
# a burst. By looks where nobody knows how many a cell is worth
QUESTIONS = (1, 3, 5, 9, 17, 33, 65)
NORMAL_QUARTILES = 1.349  # standard deviations between the quartiles of a normal distribution


def burst_request(
    session: Session,
    handle: int,
    policy: Policy,
    calibration: Calibration,
    quiet: Quiet,
    *,
    samples: int,
    clean: int,
    calls: int,
    warm: Warm,
    **fields: Any,
) -> messages.Measure:
    """The request for a burst as all are taken that count: warmed, judged by its probes, waiting for a quiet core.

    `fields`: more of `messages.Measure`.
    """
    return messages.Measure(
        id=session.next_id(),
        handle=handle,
        samples=samples,
        clean=clean,
        limit_ms=policy.burst_limit_ms,
        calls=calls,
        sample_us=policy.sample_us,
        contention_floor=quiet.floor,
        contention_tolerance=quiet.tolerance(policy),
        clock_tolerance=policy.clock_tolerance,
        patience=PATIENCE[calibration.contention_probe],
        warm_us=warm.most_us or UNSET,
        warm_least_us=warm.least_us if warm.most_us and warm.least_us else UNSET,
        **fields,
    )


@dataclass(frozen=True, slots=True)
class _Came:
    """An answer as it came: of whom, to what, and the seconds that it took."""

    session: Session
    asked: AskedBurst
    unread: UnreadBursts
    took_s: float


@dataclass(slots=True)
class EpochUnderWay:
    """The epoch under way.

    `ways` and `costs` are what earlier epochs found out; this one adds to the former. `most_rounds` and `most_samples`:
    in how many rounds a cell takes part, by what earlier epochs showed (None: nothing), and how many samples a burst
    has, at the most.
    """

    number: int
    sessions: Sessions
    policy: Policy
    calibrations: Mapping[tuple[Process, int], Calibration]
    deadline: float
    keep: Callable[[Burst], None]
    fail: Callable[[Failure], None]
    tell: Callable[[Cell, int, int, float], None]
    ways: Ways
    most_rounds: Callable[[Cell], int | None]
    most_samples: Callable[[Cell], int]
    aside: Aside = field(default_factory=Aside)
    share: Share = field(default_factory=Share)
    timing: Timing = field(default_factory=Timing)
    costs: Costs = field(default_factory=Costs)
    tallies: dict[Cell, Tally] = field(default_factory=lambda: defaultdict(Tally))
    _asked: int = 0
    _readings: Mapping[Process, Quiet] = field(default_factory=dict)
    _clean: int = 0
    _taken: int = 0
    _cores: dict[Process, int] = field(default_factory=dict)
    _lost: set[Cell] = field(default_factory=set)
    _done: int = 0
    _places: dict[Cell, int] = field(default_factory=dict)
    _under_way: tuple[Session, AskedBurst, float] | None = None
    _layouts: dict[Cell, int] = field(default_factory=dict)

    def run(self, cells: Sequence[Cell]) -> None:
        """Measure `cells` until all have left or the deadline has passed.

        Whatever the time, cells of short calls get the rounds up to the first look, which cost little and without
        which their figures are worth little, and cells of long calls one burst. A pass over the latter is spread over
        those rounds, so that the others are not kept waiting and still share the conditions with them.
        """
        draw = random.Random(f"order/{self.policy.seed}/{self.number}")
        active = list(cells)
        spread = self.policy.looks[0]
        for round_number in range(1, MOST_BURSTS + 1):
            draw.shuffle(active)
            turn = round_number % spread
            for cell in [c for c in active if not self._long(c) or self._place(c) % spread == turn]:
                due = (
                    not self.tallies[cell].bursts
                    or self._planned(cell)
                    or (round_number <= spread and not self._long(cell))
                )
                if cell in self._lost or (not due and self._late(cell)):
                    continue
                for piece_bytes in self._wanted(cell, round_number):
                    if bursts := self._at_once(cell, round_number):
                        self._burst(cell, round_number, piece_bytes, bursts)
            self._account(self._read(self._receive()))
            active = [cell for cell in active if cell not in self._lost and not self._costly(cell)]
            active = [cell for cell in active if round_number < self._rounds(cell)]
            if round_number in self.policy.looks:
                active = [cell for cell in active if not self.tallies[cell].precise(self.policy)]
            if round_number >= spread and time.monotonic() > self.deadline:
                active = [cell for cell in active if self._planned(cell)]
            self._done = len(cells) - len(active)
            if not active:
                break

    def _layout(self, cell: Cell, round_number: int) -> int:
        if cell not in self._layouts:
            draw = random.Random(f"forks/{self.policy.seed}/{self.number}/{cell.address}")
            self._layouts[cell] = draw.randrange(1, 1 << LAYOUT_BITS)
        return further_layout(self._layouts[cell], round_number - 1)

    def _rounds(self, cell: Cell) -> int:
        looks = self.policy.looks
        return self.most_rounds(cell) or (looks[0] if self.ways.cuts.get(cell) else looks[-1])

    def _planned(self, cell: Cell) -> bool:
        return self._forks(cell) and self.most_rounds(cell) is not None

    def _forks(self, cell: Cell) -> bool:
        return self.policy.forks and cell not in self.ways.single

    def _at_once(self, cell: Cell, round_number: int) -> int:
        """How many rounds' bursts are asked for at once: 0 where they were, in an earlier round."""
        if not self._forks(cell) or self._long(cell):
            return 1
        starts = self._questions(cell)
        if round_number not in starts:
            return 0
        after = min((start for start in starts if start > round_number), default=MOST_BURSTS + 1)
        return min(after - 1, self._rounds(cell)) - round_number + 1

    def _questions(self, cell: Cell) -> set[int]:
        """The rounds at which forks of a cell are asked for: two questions an epoch, where it is known how many.

        A round whose burst is warmed fully, to be compared, is asked for by itself.
        """
        planned = self.most_rounds(cell)
        starts = {1, 1 + (planned + 1) // 2} if planned else set(QUESTIONS)
        if self.ways.warmth.compares:
            starts |= {FULL_ROUND, FULL_ROUND + 1}
        return starts

    def cost_apart(self) -> list[Cell]:
        """Cells of which pieces cost more than whole calls do, so that they tell little about these."""
        return [
            cell
            for cell, tally in self.tallies.items()
            if self.ways.cuts.get(cell)
            and tally.medians
            and float(np.median(tally.medians)) > (1 + PIECES_APART) * tally.whole
        ]

    def _wanted(self, cell: Cell, round_number: int) -> tuple[int, ...]:
        """The bursts of one round: lengths of pieces, 0 for whole calls."""
        if cell not in self.ways.cuts:
            return (first_piece(cell),)
        cut = self.ways.cuts[cell]
        if not cut:
            return (0,)
        whole = round_number == 1 and cut.call_s < WHOLE_CHECK_S
        return (cut.shorter, cut.longer, 0) if whole else (cut.shorter, cut.longer)

    def _costly(self, cell: Cell) -> bool:
        return not self.ways.cuts.get(cell) and self.tallies[cell].costly(self.policy)

    def _late(self, cell: Cell) -> bool:
        return time.monotonic() + self.tallies[cell].longest_s > self.deadline

    def _long(self, cell: Cell) -> bool:
        took = min(self.tallies[cell].shortest_s, self.costs.shortest(cell))
        if math.isfinite(took):  # the shortest: one hiccup of the machine does not make a call long
            return took > LONG_BURSTS * self.policy.burst_limit_ms * 1e-3
        return cell.size_bytes >= LARGE_BYTES

    def _place(self, cell: Cell) -> int:
        return self._places.setdefault(cell, len(self._places))

    def _burst(self, cell: Cell, round_number: int, piece_bytes: int, bursts: int) -> None:
        """Wait for the burst under way, begin another, and look at the former meanwhile."""
        came = self._receive()
        # what cannot be read ends its process, and must not cost the next cell, too
        same_process = came is not None and came.asked.cell.process == cell.process
        taken = self._read(came) if same_process else None
        self.share.give_back()
        try:
            self._begin(cell, round_number, piece_bytes, bursts)
        finally:
            self._account(taken if same_process else self._read(came))

    def _begin(self, cell: Cell, round_number: int, piece_bytes: int, bursts: int) -> None:
        if cell in self._lost:
            return
        if not self.sessions.revive(cell.process):
            self._lose(cell, Failure("crashed", cell.runner, BROKE_OFF, cell.address))
            return
        tally = self.tallies[cell]
        calls = 1 if piece_bytes else tally.calls or self.ways.fixed_calls.get(cell, 0)
        try:
            session, handle = self.sessions.of(cell), self.sessions.handle(cell)
            quiet, samples = self._quiet(cell.process), self.most_samples(cell)
            began = time.monotonic()
            self.aside.leave(self.core_of(cell.process))
            forked = self._forks(cell) and not piece_bytes
            request = burst_request(
                session,
                handle,
                self.policy,
                self.sessions.calibrations[cell.process],
                quiet,
                samples=samples,
                clean=math.ceil(CLEAN_SHARE * samples),
                calls=calls,
                warm=self.ways.warmth.of(cell, round_number),
                piece_bytes=piece_bytes or UNSET,
                forks=bursts if forked else UNSET,
                layout=self._layout(cell, round_number) if forked else UNSET,
            )
            asked = session.send_measure(request, cell=cell, epoch=self.number, round=round_number)
        except RunnerError as error:
            self._lose_by(cell, error)
            return
        self._under_way = (session, asked, began)

    def _receive(self) -> _Came | None:
        if not self._under_way:
            return None
        (session, asked, began), self._under_way = self._under_way, None
        try:
            return _Came(session, asked, session.await_measure(asked), time.monotonic() - began)
        except RunnerError as error:
            self._lose_by(asked.cell, error)
            return None

    def _read(self, came: _Came | None) -> tuple[AskedBurst, TakenBursts, float] | None:
        if not came:
            return None
        try:
            return came.asked, came.session.read_measure(came.asked, came.unread), came.took_s
        except RunnerError as error:
            self._lose_by(came.asked.cell, error)
            return None

    def _lose_by(self, cell: Cell, error: RunnerError) -> None:
        self._lose(cell, failure_of(cell, error))

    def _lose(self, cell: Cell, failure: Failure) -> None:
        self._lost.add(cell)
        self.fail(failure)

    def _account(self, taken: tuple[AskedBurst, TakenBursts, float] | None) -> None:
        if not taken:
            return
        asked, measured, took = taken
        cell, bursts, burst = asked.cell, measured.bursts, measured.bursts[-1]
        samples = sum(map(len, bursts))
        if burst.calls * samples > MOST_CALLS_PER_S * measured.wall_s:
            text = f"says that {burst.calls * samples:.3g} calls took {measured.wall_s:.3g} s"
            self._lose(cell, Failure("garbled", cell.runner, text, cell.address))
            return
        tally = self.tallies[cell]
        self._cores[cell.process] = burst.core[-1] if burst.core else -1
        if not measured.forked:
            self.ways.single.add(cell)
        for taken_burst in bursts:
            self.keep(taken_burst)
        self._note(cell, tally, bursts)
        if not burst.piece_bytes:
            tally.calls, tally.digest = burst.calls, measured.digest
        tally.call_s = self._call_s(cell, burst)
        self._cut(cell, burst, could_be=bool(burst.piece_bytes) or not asked.request.piece_bytes)
        tick_s = 1 / self._tick_hz(cell)
        samples_s = sum(sum(burst.ticks) for burst in bursts) * tick_s
        whole_s = measured.whole_ticks * tick_s
        warm_s = measured.warm_ticks * tick_s
        wait_s = measured.wait_ticks * tick_s
        tally.samples += samples
        tally.sampling_s += max(samples_s, whole_s - warm_s - wait_s)
        self.timing.add_burst(took, samples_s=samples_s, whole_s=whole_s, warm_s=warm_s, wait_s=wait_s)
        tally.longest_s = max(tally.longest_s, took / len(bursts))
        # the runner's waits for a quiet core, and ours for the runner, are no cost of its calls
        own_s = min(max((whole_s or took) - wait_s, samples_s), took)
        tally.shortest_s = min(tally.shortest_s, own_s / len(bursts))
        tally.spent_s += took
        self.tell(cell, asked.round, self._done, self._clean / max(1, self._taken))

    def _cut(self, cell: Cell, burst: Burst, *, could_be: bool) -> None:
        if not could_be:
            self.ways.cuts[cell] = None
        elif cell not in self.ways.cuts and burst.calls == 1:
            self.ways.cuts[cell] = cut_calls(cell, self._call_s(cell, burst), self.policy)

    def core_of(self, process: Process) -> int:
        """The core that the process took its last sample on; -1: nobody knows."""
        return self._cores.get(process, -1)

    def _tick_hz(self, cell: Cell) -> float:
        return max(self.sessions.calibrations[cell.process].tick_hz, 1.0)

    def _call_s(self, cell: Cell, burst: Burst) -> float:
        """Seconds that a whole call takes, by a burst of calls or of pieces."""
        call_s = float(np.median(burst.ticks)) / self._tick_hz(cell) / burst.calls
        return call_s * cell.size_bytes / burst.piece_bytes if burst.piece_bytes else call_s

    def _quiet(self, process: Process) -> Quiet:
        """What a quiet core reads, as far as the processes so far have found out.

        Asked of all of them, so that one which began in a noisy moment is corrected by the others.
        """
        if len(self.calibrations) != self._asked:
            self._asked = len(self.calibrations)
            self._readings = find_quiet(self.calibrations, (), self.policy)
        return self._readings[process]

    def _note(self, cell: Cell, tally: Tally, bursts: Sequence[Burst]) -> None:
        calibration = self.sessions.calibrations[cell.process]
        judged = judge_samples(bursts, calibration, self.policy, self._quiet(cell.process))
        ends = np.cumsum([len(burst) for burst in bursts])[:-1]
        for burst, own_values, kept in zip(
            bursts, np.split(judged.values, ends), np.split(judged.clean, ends), strict=True
        ):
            self._note_burst(cell, tally, burst, own_values[kept])

    def _note_burst(self, cell: Cell, tally: Tally, burst: Burst, values: NDArray[np.float64]) -> None:
        low, middle, high = np.percentile(values, (25, 50, 75)).tolist() if len(values) else [math.nan] * 3
        cut = self.ways.cuts.get(cell)
        if cut and burst.piece_bytes == cut.shorter:
            tally.shorter, middle = middle, math.nan
        elif cut and burst.piece_bytes:
            middle = cell.size_bytes * (middle - tally.shorter) / (cut.longer - cut.shorter)
        elif burst.piece_bytes:
            middle = math.nan
        elif cut:
            tally.whole = middle
        if math.isfinite(middle) and bool(burst.piece_bytes) == bool(cut):
            tally.medians.append(middle)
            if not cut:
                tally.scatter.append(((high - low) / NORMAL_QUARTILES) ** 2)
            if burst.calls > 1:
                tally.by_round[burst.round] = middle
        tally.bursts += 1
        tally.early += burst.round <= self.policy.looks[0]
        self._clean += len(values)
        self._taken += len(burst)
