"""One epoch's samples: rounds of bursts in random order, until each cell is precise or time is up.

Order is drawn anew each round, so that all cells are measured under the same conditions. A cell leaves at a declared
look when its samples are precise enough; it never leaves because of what its figure is. Cells whose single
call outlasts a sample get the rounds that the epoch's share of the budget allows, at least one.
"""

from __future__ import annotations

import math
import random
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from perbyte import stats
from perbyte.errors import RunnerError
from perbyte.measure.sessions import Sessions, failure_kind
from perbyte.model import Burst, Calibration, Cell, Failure, Policy, Process
from perbyte.stats.estimate import midmean_half_width

CLEAN_SHARE = 0.75  # of a burst's samples: so many clean ones end it early
# probes to wait for a quiet core before a sample: a millisecond; ten where a look is cheap
PATIENCE = {"front-end": 120, "reorder-buffer": 40_000}
SHARE_OF_PRECISION = 0.6  # of the precision asked for, that an epoch's samples may use up
LARGE_BYTES = 1 << 20  # taken for long until the first burst tells
LONG_SPENT_S = 0.05  # of an epoch; more calls of a long cell are not worth what they cost the others
_BURSTS_TO_STOP = 4


@dataclass(slots=True)
class Tally:
    """What one cell got in one epoch. `medians`: one value per burst, of its clean samples."""

    medians: list[float] = field(default_factory=list)
    bursts: int = 0
    calls: int = 0
    digest: str = ""
    longest_s: float = 0.0
    shortest_s: float = math.inf
    spent_s: float = 0.0

    def precise(self, policy: Policy) -> bool:
        """True when the bursts fix the epoch's figure well within the precision asked for.

        Bursts are the units, not samples: what a core has learnt about a loop (predictors, alignment of its
        phases) stays for a burst and is drawn anew for the next, so samples of one burst agree too well.
        """
        if len(self.medians) < _BURSTS_TO_STOP:
            return False
        values = np.array(self.medians)
        centre = abs(stats.epoch_value(values))
        # a call of a cycle or less cannot be fixed to a quarter of a per cent of itself, nor need it be
        allowed = max(SHARE_OF_PRECISION * policy.precision * centre, 0.01)
        return midmean_half_width(values, policy.level) <= allowed

    def costly(self, policy: Policy) -> bool:
        """True when single calls are long and more of them would cost more than they tell."""
        long = self.calls == 1 and self.longest_s > policy.burst_limit_ms * 1e-3
        return long and self.spent_s > LONG_SPENT_S


@dataclass(slots=True)
class Epoch:
    """The epoch under way.

    From earlier epochs come `fixed_calls`, calls per sample of long cells, and `took`, seconds per burst.
    """

    number: int
    sessions: Sessions
    policy: Policy
    calibrations: Mapping[tuple[Process, int], Calibration]
    deadline: float
    keep: Callable[[Burst], None]
    fail: Callable[[Failure], None]
    tell: Callable[[Cell, int, int, float], None]
    fixed_calls: dict[Cell, int] = field(default_factory=dict)
    took: dict[Cell, float] = field(default_factory=dict)
    tallies: dict[Cell, Tally] = field(default_factory=lambda: defaultdict(Tally))
    _asked: int = 0
    _readings: Mapping[Process, stats.Quiet] = field(default_factory=dict)
    _clean: int = 0
    _taken: int = 0

    def run(self, cells: Sequence[Cell]) -> None:
        """Measure `cells` until all have left or the deadline has passed.

        Whatever the time, cells of short calls get the rounds up to the first look, which cost little and without
        which their figures are worth little, and cells of long calls one burst. A pass over the latter is spread over
        those rounds, so that the others are not kept waiting and still share the conditions with them.
        """
        draw = random.Random(f"order/{self.policy.seed}/{self.number}")
        active = list(cells)
        spread = self.policy.looks[0]
        for round_number in range(1, self.policy.looks[-1] + 1):
            draw.shuffle(active)
            turn = round_number % spread
            for cell in [c for c in active if not self._long(c) or self._place(c) % spread == turn]:
                due = not self.tallies[cell].bursts or (round_number <= spread and not self._long(cell))
                if not due and self._late(cell):
                    continue
                if not self._burst(cell, round_number):
                    active.remove(cell)
            active = [cell for cell in active if not self.tallies[cell].costly(self.policy)]
            if round_number in self.policy.looks:
                active = [cell for cell in active if not self.tallies[cell].precise(self.policy)]
            self._done = len(cells) - len(active)
            if not active or (round_number >= spread and time.monotonic() > self.deadline):
                break

    def _late(self, cell: Cell) -> bool:
        return time.monotonic() + self.tallies[cell].longest_s > self.deadline

    def _long(self, cell: Cell) -> bool:
        """True when one burst of the cell outlasts the bursts of many others, as far as is known by now."""
        took = min(self.tallies[cell].shortest_s, self.took.get(cell, math.inf))
        if math.isfinite(took):  # the shortest: one hiccup of the machine does not make a call long
            return took > 4e-3 * self.policy.burst_limit_ms
        return cell.size_bytes >= LARGE_BYTES

    def _place(self, cell: Cell) -> int:
        return self._places.setdefault(cell, len(self._places))

    _done: int = 0
    _places: dict[Cell, int] = field(default_factory=dict)

    def _burst(self, cell: Cell, round_number: int) -> bool:
        """Take one burst. False when the cell is lost."""
        if not self.sessions.revive(cell.process):
            self.fail(
                Failure("crashed", cell.runner, "its process broke off too often", address=cell.address)
            )
            return False
        policy, tally = self.policy, self.tallies[cell]
        began = time.monotonic()
        try:
            session, quiet = self.sessions.of(cell), self._quiet(cell.process)
            measured = session.measure(
                self.sessions.handle(cell),
                cell=cell,
                epoch=self.number,
                round=round_number,
                samples=policy.burst_samples,
                clean=math.ceil(CLEAN_SHARE * policy.burst_samples),
                limit_ms=policy.burst_limit_ms,
                calls=tally.calls or self.fixed_calls.get(cell, 0),
                sample_us=policy.sample_us,
                contention_floor=quiet.floor,
                contention_tolerance=quiet.limit / quiet.floor - 1
                if quiet.floor
                else policy.contention_tolerance,
                clock_tolerance=policy.clock_tolerance,
                patience=PATIENCE[self.sessions.calibrations[cell.process].contention_probe],
            )
        except RunnerError as error:
            self.fail(Failure(failure_kind(error), cell.runner, str(error), address=cell.address))
            return False
        self.keep(measured.burst)
        self._note(cell, tally, measured.burst)
        tally.digest = measured.digest
        took = time.monotonic() - began
        tally.longest_s = max(tally.longest_s, took)
        tally.shortest_s = min(tally.shortest_s, took)
        tally.spent_s += took
        self.tell(cell, round_number, self._done, self._clean / max(1, self._taken))
        return True

    def _quiet(self, process: Process) -> stats.Quiet:
        """What a quiet core reads, as far as the processes so far have found out.

        Asked of all of them, so that one which began in a noisy moment is corrected by the others.
        """
        if len(self.calibrations) != self._asked:
            self._asked = len(self.calibrations)
            self._readings = stats.find_quiet(self.calibrations, (), self.policy)
        return self._readings[process]

    def _note(self, cell: Cell, tally: Tally, burst: Burst) -> None:
        calibration = self.sessions.calibrations[cell.process]
        mask = stats.clean_mask(burst, calibration, self.policy, self._quiet(cell.process))
        values = (
            stats.ns_per_call(burst, calibration)
            if calibration.cycle_source == "none"
            else stats.cycles_per_call(burst, calibration)
        )
        if mask.any():
            tally.medians.append(float(np.median(values[mask])))
        tally.bursts += 1
        tally.calls = burst.calls
        self._clean += int(mask.sum())
        self._taken += len(burst)
