"""The measuring cores: kept from halting while a run goes on, shared with others, and watched for who was on them.

Between two bursts nobody works on a measuring core for some 100 us. A core that halts meanwhile takes 20 to 50 us to
come back, loses clock and what it had learnt, and a virtual one may find another guest's leftovers in its registers. So
the lowest-priority process there is keeps each of them busy; whoever measures takes the core from it at once. The C SDK
brings the loop along; without a runner that is made with it the cores halt as they like.

While other programs wait for a core, a run leaves them their part of those that it measures on. A burst holds one core
for milliseconds, with a priority that keeps others away, and the next one follows at once. So between two bursts it is
seen whether somebody waits, and the run pauses for as long as it takes to stay within its share. Nothing is lost by
that but time: a burst begins with untimed calls, whatever the core did before.

What `watch_cores` sees decides nothing: `doctor` and the benchmarks say it beside their figures.
"""

from __future__ import annotations

import contextlib
import os
import signal
import statistics
import subprocess
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from perbyte.errors import RunnerRefused
from perbyte.measure.learnt import recall
from perbyte.runners import RunnerSpec, Session


@dataclass(frozen=True, slots=True)
class Awake:
    """The loops that keep cores from halting."""

    loops: tuple[subprocess.Popen[bytes], ...] = ()

    @contextlib.contextmanager
    def resting(self) -> Iterator[None]:
        """Let the cores halt meanwhile."""
        try:
            for process in self.loops:
                process.send_signal(signal.SIGSTOP)
            yield
        finally:
            for process in self.loops:
                process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def kept_awake(specs: Iterable[RunnerSpec], cores: Sequence[int]) -> Iterator[Awake]:
    """Keep `cores` busy at the lowest priority, those for which that succeeds."""
    usable = [spec for spec in specs if spec.native and (not spec.built or spec.out().is_dir())][:1]
    started: list[subprocess.Popen[bytes]] = []
    try:
        for spec, core in ((spec, core) for spec in usable for core in cores):
            with contextlib.suppress(OSError):
                started.append(_loop(spec, core))
        yield Awake(tuple(started))
    finally:
        for process in started:
            process.kill()
            process.wait()


class Aside:
    """Keeps this process off the core a runner measures on, where it may use another one.

    A runner that is woken on our core takes it from us until its burst is over; then nothing gets done meanwhile. A
    context manager, which gives back what it took.
    """

    def __init__(self) -> None:
        self._allowed = os.sched_getaffinity(0)
        self._left = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._left >= 0:
            os.sched_setaffinity(0, self._allowed)

    def leave(self, core: int) -> None:
        """Leave `core` to a runner; -1: nobody knows which."""
        others = self._allowed - {core}
        if core in (-1, self._left) or not others:
            return
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, others)
            self._left = core


def _loop(spec: RunnerSpec, core: int) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [*(spec.fill(part) for part in spec.command), "keep-awake"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        os.sched_setaffinity(process.pid, {core})
    except OSError:
        process.kill()
        process.wait()
        raise
    return process


SLICE_MS = 50.0
BLIP_US = 1.0  # one or two looks


@dataclass(frozen=True, slots=True)
class CoreWatch:
    """What a core was, as shares of the time it was watched.

    `alone_us` is the median length of its quiet intervals, between which it was not alone for more than a look: single
    looks are odd every 61.7 us on some hosts, whatever the neighbours do (ADR 16).
    """

    core: int
    alone: float
    shared: float
    taken: float
    alone_us: float


def watch_cores(spec: RunnerSpec, cores: Sequence[int], seconds: float = 1.0) -> list[CoreWatch]:
    """Watch `cores` by turns, `seconds` in all. Empty where the runner has no detector that could tell.

    Raises RunnerError or EnvironmentLacking when the runner cannot be asked.
    """
    with Session(spec, core=cores[0]) as session:
        session.hello()
        calibration = recall(cores[0]).calibrate(session, 10.0, epoch=0, cores=cores, patience_ms=150.0)
        if not calibration.contention_length:
            return []
        seen: dict[int, list[tuple[str, float]]] = {}
        try:
            for _ in range(max(len(cores), round(seconds * 1000 / SLICE_MS))):
                answer = session.watch(SLICE_MS)
                us = 1e6 / calibration.tick_hz
                spells = zip(answer.state, (ticks * us for ticks in answer.ticks), strict=True)
                seen.setdefault(answer.core, []).extend(spells)
        except RunnerRefused:
            return []
    return [summarise(core, spells) for core, spells in sorted(seen.items())]


def summarise(core: int, spells: Sequence[tuple[str, float]]) -> CoreWatch:
    """Sum up spells of states `q` (alone), `b` (shared) and `s` (taken away), each with its microseconds."""
    whole = sum(us for _, us in spells) or 1.0
    alone, shared, taken = (sum(us for state, us in spells if state == kind) / whole for kind in "qbs")
    quiet: list[float] = []
    goes_on = False
    for state, us in spells:
        if state == "q" and goes_on:
            quiet[-1] += us
        elif state == "q":
            quiet.append(us)
        goes_on = bool(quiet) and (state == "q" or (state == "b" and us < BLIP_US))
    return CoreWatch(core, alone, shared, taken, statistics.median(quiet) if quiet else 0.0)


def noise_note(clean_share: float, cores: Sequence[int]) -> str:
    """Say that this machine is too noisy now, and what helps here."""
    others = os.getloadavg()[0] - 1
    busy = f"other programs keep about {others:.1f} cores busy: end them; " if others > 0.5 else ""
    allowed = sorted(os.sched_getaffinity(0) - set(cores))
    every = ",".join(map(str, sorted([*cores, *allowed])))
    free = f"let it use other cores too (--cores {every}); " if allowed else ""
    return (
        f"too noisy: only {clean_share:.0%} of the samples are clean, because something else uses these cores. "
        f"What helps here: {busy}{free}a larger --budget, another hour, or a machine of one's own "
        "(perbyte doctor watches the cores)"
    )


LEAST_S = 0.02  # between two questions to the system
SHARE = 0.6  # of the cores it measures on, that a run takes at the most while others wait


def programs_running() -> int:
    """How many threads of the machine run or could, this one included; 0 where the system does not say."""
    try:
        running, _, _ = Path("/proc/loadavg").read_text(encoding="ascii").split()[3].partition("/")
        return int(running)
    except (OSError, ValueError, IndexError):
        return 0


class Share:
    """What a run takes of `cores`. `loops`: how many processes of its own keep cores awake, and so run at any time."""

    def __init__(
        self,
        cores: Collection[int] = (),
        loops: int = 0,
        *,
        running: Callable[[], int] = programs_running,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        own_s: Callable[[], float] = time.process_time,
    ) -> None:
        self._cores = len(cores)
        self._mine = loops + 1
        self._running, self._sleep, self._clock, self._own_s = running, sleep, clock, own_s
        self._since, self._own = clock(), own_s()
        self.paused_s = 0.0

    def crowded(self, working: int) -> bool:
        """True where others wait for a core while `working` runners work, or would if one more did."""
        others = self._running() - self._mine - working
        return others > (os.cpu_count() or 1) - (working + 1)

    def give_back(self, at_once: int = 1) -> None:
        """Pause where others wait, to be called while no runner works.

        Since the last call `at_once` runners took a core each, and this process what it took. Others wait where more
        threads could run than there are cores beside those of the runners.
        """
        taken_s = self._clock() - self._since
        if taken_s < LEAST_S:
            return  # it counts with what comes next
        others = self._running() - self._mine
        if self._cores and others > (os.cpu_count() or 1) - at_once:
            worked_s = at_once * taken_s + self._own_s() - self._own
            pause_s = worked_s / (SHARE * self._cores) - taken_s
            if pause_s > 0:
                self._sleep(pause_s)
                self.paused_s += pause_s
        self._since, self._own = self._clock(), self._own_s()
