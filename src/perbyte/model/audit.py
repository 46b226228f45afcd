"""What the orchestrator saw of a cell from outside, beside what the cell's runner said of the same calls."""

from __future__ import annotations

from dataclasses import dataclass, field

from perbyte.model.cell import Cell


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
