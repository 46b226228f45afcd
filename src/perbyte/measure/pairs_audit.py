"""Are the ticks of pairs the time that their calls took? A runner could say of each call what it likes (SPEC 14).

Held against what it does not choose: the calls of a pair take no less CPU time than calls of a loop, by the kernel's
account; ticks and probes are part of the time that went by; and what lies between the ticks of one call and the start
of the next is the same work for either class. Where the ticks say that classes are alike and these gaps differ, the
difference was moved there. A runner can make up all its readings, gaps included. So some bursts are of one class only,
by turns: what they take in the kernel's account differs by what the classes do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from perbyte.model import Burst, Calibration, Cell
from perbyte.runners.pairs import TakenPairs
from perbyte.runners.session import Session
from perbyte.stats.arrays import np
from perbyte.stats.estimate import ranks
from perbyte.stats.samples import Floats

LOOK_S, TIMES = 100e-6, 3  # as a look of the audit is
MOST_CALLS = 1 << 16
TOO_LITTLE = 1 / 1.5  # of what calls in a loop cost, that pairs may say: single calls do not overlap
TOO_MUCH = 1.05  # of the time that went by
LEAST_GAPS = 200  # of each class
ALPHA, LEAST_CYCLES = 1e-6, 5.0  # from which gaps are called different
# of bursts of one class each, four to a block: the most in an epoch, milliseconds of a burst, and of an epoch's time
BLOCKS, BLOCK_MS, BLOCK_SHARE = 12, 4.0, 0.08
USUAL = 1.5  # times the middle gap: longer ones hold a clock probe, a wait or an interrupt


@dataclass(slots=True)
class PairsAudit:
    """What is known of one case from outside."""

    calls_s: list[float] = field(default_factory=list)
    single_s: list[float] = field(default_factory=list)
    gaps: tuple[list[Floats], list[Floats]] = field(default_factory=lambda: ([], []))
    by_class_s: list[float] = field(default_factory=list)
    cycles_per_tick: float = 0.0
    core_hz: float = 0.0
    beyond: float = 0.0

    def look(self, session: Session, handle: int, cell: Cell, calibration: Calibration) -> None:
        """Add what a call of a loop takes by the kernel's account. Raises RunnerError."""

        def cpu_s(calls: int) -> tuple[float, Burst]:
            taken = session.measure(
                handle, cell=cell, epoch=0, round=0, samples=1, limit_ms=60e3, calls=calls
            )
            return taken.cpu_s, taken.burst

        _, single = cpu_s(1)
        call_s = max(1, min(single.ticks)) / max(calibration.tick_hz, 1.0)
        calls = max(1, min(MOST_CALLS, round(LOOK_S / call_s)))
        less, more = cpu_s(calls)[0], cpu_s(TIMES * calls)[0]
        self.calls_s.append((more - less) / (TIMES - 1) / calls)

    def compare(self, take: Callable[[int], TakenPairs], share_s: float) -> None:
        """Add blocks of bursts of one class each, which `take` gives, in an epoch of `share_s` seconds of a case.

        Nothing of runners that do not know it, nor where the operation is prepared for each call, since that may take
        a time of its own for each secret.
        """
        for block in range(min(BLOCKS, int(BLOCK_SHARE * share_s / (4e-3 * BLOCK_MS)))):
            cost_s = [0.0, 0.0]
            for which in ((0, 1, 1, 0), (1, 0, 0, 1))[block % 2]:
                taken = take(which)
                if taken.afresh or set(taken.order) != {str(which)}:
                    return
                cost_s[which] += taken.cpu_s / len(taken.order) / 2
            self.by_class_s.append(cost_s[1] - cost_s[0])

    def note(self, taken: TakenPairs, calibration: Calibration) -> None:
        """Add a burst of pairs."""
        burst, tick_s = taken.burst, 1 / max(calibration.tick_hz, 1.0)
        start, ticks, before, after = (
            np.asarray(column, dtype=float)
            for column in (burst.start, burst.ticks, burst.contention_before, burst.contention_after)
        )
        if len(ticks) < 4:
            return
        self.single_s.append(float(np.median(ticks)) * tick_s)
        told_s = float(ticks.sum() + before.sum() + after.sum()) * tick_s
        self.beyond = max(self.beyond, told_s / taken.wall_s if taken.wall_s > 0 else 0.0)
        # behind the second call of a pair: the class of the next one was drawn by itself
        ends = np.arange(1, len(ticks) - 1, 2)
        gap = start[ends + 1] - start[ends] - ticks[ends] - after[ends] - before[ends + 1]
        if np.median(gap) <= 0:  # a sample that ends when the next one has begun
            self.beyond = math.inf
            return
        usual = gap <= USUAL * np.median(gap)
        second = np.frombuffer(taken.order.encode("ascii"), dtype=np.uint8)[ends] == ord("1")
        for which, of_class in enumerate(self.gaps):
            of_class.append(gap[usual & (second == bool(which))] - float(np.median(gap[usual])))
        clock = float(np.median(np.minimum(burst.clock_before, burst.clock_after)))
        self.cycles_per_tick = calibration.probe_cycles / clock if clock > 0 else 0.0
        self.core_hz = self.cycles_per_tick * calibration.tick_hz

    def wrong(self, shift: float) -> str:
        """What is wrong with the ticks, whose classes differ by `shift` in the unit of the row; empty: nothing."""
        if self.beyond > TOO_MUCH:
            return "the calls of its pairs are said to take more than the time that went by"
        if self.calls_s and self.single_s:
            call_s, single_s = sorted(self.calls_s)[len(self.calls_s) // 4], float(np.median(self.single_s))
            if single_s < TOO_LITTLE * call_s:
                return (
                    f"single calls are said to take {1e9 * single_s:.4g} ns, and calls of a loop take "
                    f"{1e9 * call_s:.4g} ns of CPU time"
                )
        return self._hidden(shift) or self._moved(shift)

    def _hidden(self, shift: float) -> str:
        """What the kernel counts more for one class, where the ticks do not say it."""
        blocks, above = len(self.by_class_s), sum(value > 0 for value in self.by_class_s)
        fewer = min(above, blocks - above)
        p = 2 * sum(math.comb(blocks, count) for count in range(fewer + 1)) / 2**blocks
        apart = float(np.median(self.by_class_s)) * self.core_hz if blocks else 0.0
        if p > ALPHA or abs(apart) < LEAST_CYCLES or abs(apart) < 2 * abs(shift):
            return ""
        return (
            f"the kernel counts {abs(apart):.3g} cycles more for a call of one class than for one of the other, and "
            f"the samples say {abs(shift):.3g}"
        )

    def _moved(self, shift: float) -> str:
        first, second = (np.concatenate(gaps) if gaps else np.zeros(0) for gaps in self.gaps)
        if min(len(first), len(second)) < LEAST_GAPS or not self.cycles_per_tick:
            return ""
        ranked = ranks(np.concatenate([first, second]))[: len(first)]
        total = len(first) + len(second)
        spread = math.sqrt(len(first) * len(second) * (total + 1) / 12)
        deviates = (float(ranked.sum()) - len(first) * (total + 1) / 2) / spread
        p = math.erfc(abs(deviates) / math.sqrt(2))
        apart = float(np.mean(second) - np.mean(first)) * self.cycles_per_tick
        if p > ALPHA or abs(apart) < LEAST_CYCLES or abs(apart) < 2 * abs(shift):
            return ""
        return (
            f"between its samples {abs(apart):.3g} cycles more go by after one class than after the other, and the "
            f"samples themselves say {abs(shift):.3g}"
        )
