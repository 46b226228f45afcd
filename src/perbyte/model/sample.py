"""Raw measurements: bursts of samples, the calibration of the process that took them, looks at it from outside."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from perbyte.model.cell import Cell, Process

CycleSource = Literal["pmu", "probe", "none"]
Detector = Literal["reorder-buffer", "front-end"]


class Flag(enum.IntFlag):
    """What the kernel reported between the two probes of a sample."""

    NONE = 0
    SWITCHED = 1  # involuntary context switch
    MIGRATED = 2  # another core afterwards
    FAULTED = 4  # page fault
    COLLECTED = 8  # garbage collection (managed languages)
    FAILED_CALL = 16  # the library reported an error in a timed call


@dataclass(frozen=True, slots=True)
class KnownProbe:
    """What one process found out about the reorder-buffer probe of this processor, for all others.

    `window` is the text in which the runner's framework wrote down the sequence and how sure it is of it; only that
    framework reads it. `floor` and `shared` are what it reads alone and beside another thread, in core cycles; both are
    0 where nobody was alone.
    """

    window: str = ""
    floor: float = 0.0
    shared: float = 0.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """What one runner process found out about its clock when it started.

    `cycle_source` is `pmu`, `probe` (probe-calibrated tick counter) or `none`; `reason` says why when it is
    none. `probe_cycles` is the number of core cycles of one clock probe, its two tick reads included.
    `contention_probe` tells which probe looks for others on the core: `reorder-buffer`, of `contention_length`
    fillers (`contention_window` says which), or `front-end`. `contention_floor` is what it reads on a quiet core, in
    core cycles, `contention_shared` what the former reads at the least beside another hardware thread, and
    `contention_limit` above what it counts as shared; all are 0 when nobody was ever alone. `fixed_ticks` is what a
    sample costs beyond its calls, which is subtracted from every sample. `selfcheck` holds the measured latencies, in
    core cycles, of chains whose true latency is known (name -> cycles). `waited_ms` is how long all this took, `alone`
    the share of its readings that found the core quiet. `processor` says where the number of the
    processor contradicts its caches. `layout_fixed`: address space randomisation was off, as in all
    runs before ADR 59.
    """

    runner: str
    cpu: str
    twin: int
    epoch: int
    cycle_source: CycleSource
    reason: str
    tick_hz: float
    tick_quantum: int
    probe_cycles: float
    contention_floor: float
    fixed_ticks: float
    selfcheck: dict[str, float]
    contention_probe: Detector = "front-end"
    contention_window: str = ""
    processor: str = ""
    contention_length: int = 0
    contention_shared: float = 0.0
    contention_limit: float = 0.0
    waited_ms: float = 0.0
    alone: float = 1.0
    layout_fixed: bool = False

    @property
    def process(self) -> Process:
        """The process this belongs to, as `Cell.process` gives it."""
        return Process(self.runner, self.cpu, self.twin)

    @property
    def known(self) -> KnownProbe:
        """What other processes can use of it."""
        return KnownProbe(self.contention_window, self.contention_floor, self.contention_shared)


# of a burst, with an entry for each sample; the optional ones are empty where nobody told
_PROBES = ("clock_before", "clock_after", "contention_before", "contention_after")
COUNTERS = ("start", "ticks", *_PROBES, "flags")
OPTIONAL = ("cycles", "core")
COLUMNS = (*COUNTERS, *OPTIONAL)


def is_even(samples: Any) -> bool:
    """True when the columns of a burst, or of an answer that holds one, have as many entries as its ticks."""
    taken = len(samples.ticks)
    return all(len(getattr(samples, name)) == taken for name in COUNTERS) and all(
        len(getattr(samples, name)) in (0, taken) for name in OPTIONAL
    )


@dataclass(frozen=True, slots=True)
class Burst:
    """Consecutive samples of one cell, as arrays of equal length. Nothing is ever removed from it.

    Per sample: `start` and `ticks` (tick counter at the start, and ticks that the calls took, fixed cost
    included), `clock_before`/`clock_after` (ticks of the clock probe), `contention_before`/
    `contention_after` (ticks of the contention probe), `flags` (see Flag), `cycles` (PMU cycles; empty where
    there is no PMU), `core` (on which it was taken; empty where the runner does not say). `calls` timed calls make
    one sample. `waits` counts probes that were repeated while waiting for a quiet core, over the burst.
    `piece_bytes`: where not 0, a call was cut into pieces of this length, and each sample is one of them. `forked`: a
    fork of the process took the burst, with its own places in memory (False in runs that did not record it).
    """

    cell: Cell
    epoch: int
    round: int
    calls: int
    start: list[int]
    ticks: list[int]
    clock_before: list[int]
    clock_after: list[int]
    contention_before: list[int]
    contention_after: list[int]
    flags: list[int]
    cycles: list[int]
    waits: int = 0
    core: list[int] = field(default_factory=list)
    piece_bytes: int = 0
    forked: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError when the arrays differ in length."""
        if not is_even(self):
            raise ValueError(f"a burst of {self.cell.address} has arrays of unequal length")

    def __len__(self) -> int:
        return len(self.ticks)

    def map(self, column: Callable[[str], list[int]]) -> Burst:
        """The burst with other samples: `column` gives those of each array, by its name in `COLUMNS`."""
        changed: dict[str, Any] = {name: column(name) for name in COLUMNS}
        return replace(self, **changed)


@dataclass(frozen=True, slots=True)
class Audit:
    """The looks at one cell in one epoch. The arrays have one entry a look: a burst less a shorter one.

    `claimed_ns`: nanoseconds per call by the runner's ticks; `cpu_ns` and `wall_ns`: CPU time of the process as the
    kernel accounts it, and time on the clock, both less what the runner says of its probes; `threads`: CPU time
    over time on the clock of the whole burst; `beside`: CPU time of all threads over that of the busiest. `long`: a
    look lasts so long that few of them tell. `clean_ns`: the runner's lowest time per call in a clean sample of
    these bursts; 0: there was none. `clock_hz` is the rate of the core's clock by the runner's probes or counters,
    `own_hz` by Perbyte's own probe at the same time (0: unknown). `chained_ns`: CPU time per call of chains of
    calls on new data (none: `unchained` says why); `control_ns`: the same of the chain without its calls, measured
    in turn with it (none: the runner does not know that); `repeated_ns`: of chains less control whose data comes
    again every 16 calls, as that of the timed calls does, so that predictors learn it; `afresh`: each of these
    calls prepares its material anew, so that their cost tells nothing; `wrong`: what was wrong with them.
    `children`: processes that the runner has started. `problem`: why no look could be had. `elsewhere`: why its
    results could not be compared on data of other lengths than the run's, where others' could (empty: they could).
    `alone_ns` and `shared_ns`, of Perbyte's own loop only: times per call of samples as short as those of the rounds,
    of those that its probe calls alone on the core, and of those that it does not.
    `compared`: chains of calls that another library, or hashlib, made as well; -1: nobody was to be asked (or an older
    Perbyte looked); `uncompared`: why nobody could. `like_rounds`: core cycles per call (nanoseconds where it has no
    cycles) of clean samples that the process itself took in answer to a question of the rounds, none of its forks.
    `shorter_ns` and `shorter_control_ns`: of chains on shorter data, for as many bytes as the cell has. `fresh`: what
    calls on material that was made for them cost, all that prepares them included, over timed ones, over the same of
    another library. `before_ns`, of cells in a state of their own: CPU time per call beside the call,
    which takes `clean_ns`, less that of the own loop.
    """

    cell: Cell
    epoch: int
    claimed_ns: list[float] = field(default_factory=list)
    cpu_ns: list[float] = field(default_factory=list)
    wall_ns: list[float] = field(default_factory=list)
    threads: list[float] = field(default_factory=list)
    beside: list[float] = field(default_factory=list)
    clock_hz: list[float] = field(default_factory=list)
    own_hz: list[float] = field(default_factory=list)
    clean_ns: float = 0.0
    long: bool = False
    chained_ns: list[float] = field(default_factory=list)
    control_ns: list[float] = field(default_factory=list)
    repeated_ns: list[float] = field(default_factory=list)
    wrong: str = ""
    unchained: str = ""
    afresh: bool = False
    children: int = 0
    problem: str = ""
    elsewhere: str = ""
    alone_ns: list[float] = field(default_factory=list)
    shared_ns: list[float] = field(default_factory=list)
    compared: int = -1
    uncompared: str = ""
    like_rounds: list[float] = field(default_factory=list)
    shorter_ns: list[float] = field(default_factory=list)
    shorter_control_ns: list[float] = field(default_factory=list)
    fresh: list[float] = field(default_factory=list)
    before_ns: list[float] = field(default_factory=list)
