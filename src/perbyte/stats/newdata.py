"""What a call on new data costs beside a timed one, held against controls of the same run instead of constants.

A chain of calls (SPEC 11) costs X a call; the same chain without its calls, on the same buffers and in turn with it,
costs K; the timed calls cost T. Of an honest runner X - K - T is what memory takes of a pass over data that was made a
moment ago, which Perbyte's own copying loop shows at the same size in the same minutes, and what two stretches of work
cost that overlap in the rounds and wait for each other in a chain, which no core can hide for longer than its reorder
buffer lasts. What is left, as a share of T, is held against a factor, and where the own loop's looks and the A/A pairs
leave more than that, against a multiple of theirs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from perbyte.model import Audit, Cell

# the loop of `reference` that passes over data and does nothing else
COPYING = Cell("reference", "copy", "run", 1, "stream/1")
# beyond what is allowed for: a figure is marked below 1/1.2 of what its calls cost, and refused below 1/1.5
DOUBTED, REFUSED = 0.2, 0.5
# and where looks at honest work scatter, so many times the 99th percentile of what they leave. An honest epoch exceeds
# twice the 99th percentile less often than once in a hundred, and a refusal asks for four epochs of five
DOUBTED_SPREADS, REFUSED_SPREADS = 2.0, 3.0
# Cycles that one stretch of work can overlap with the next: the longest reorder buffer known holds 576 instructions
# (Lion Cove), and code that fills it at fewer than three a cycle waits for itself in the rounds as well. A prior, of
# which the tick rate of the slowest core known to run Perbyte makes 200 ns where nobody knows the clock. Half of it is
# what marks allow for: of 312 small cells of four libraries on Zen 5 the most was 95 cycles.
OVERLAP_CYCLES, SLOWEST_HZ = 200.0, 1e9
# Calls that overlap in the rounds take an eighth of their latency at the least: two AES rounds a cycle of latency four
OVERLAP = 8.0
# no cipher or hash but trees of them works on longer blocks: a message's end takes one more
BLOCK_BYTES = 256
# What prediction can spare a call whose data comes again: a branch that is not foreseen takes some 20 cycles, and code
# that has one takes four for it when it is. Seen: twice (IDEA's inverses, Zen 5). A predictor that holds 64 Ki branches
# and sees each call's data 16 times a ring spares at most 4096 of them a call, a fifth of a ms on the slowest core.
MISPREDICTED, LEARNT_NS = 6.0, 160e3
SHORT_BYTES = 1 << 16  # up to which samples of the own loop are so short that a clean one tells who was away
SEALING = 1.0  # beside opening the same: a control of `open` seals, and what it takes more counts as dearer
SETUP = "setup/1"  # whose calls take no time for their data
# of a call: where memory takes more of it on new data than that, little can be told of its work
MEMORY_SHARE = 0.2
# Of a call, that it may cost more than a timed one with all that a control is dearer than our own counted as its work:
# a figure that is not marked lies at 0.8 of what its calls cost at the least
HIDDEN = 0.25
# Cycles that the bytes of a key or a nonce take, which are made anew for each call of a chain (SplitMix64, SPEC 3)
MAKING_CYCLES, SETS_KEY = 80.0, ("rekey/1", "setup/1")
# Below so many cycles a call may hide more than half of its work behind what overlaps; where it takes less than a third
# of what calls on new data do, nobody can tell
SHORT_CYCLES, THIRD = 200.0, 3.0
NOISE_SHARE = 0.5  # of a call: noisier chains tell nothing
MOST_SLOWED = 2.0  # two threads of a core have half of it each
LEAST_LOOKS = 3  # at new data in an epoch without which it counts for nothing
_NEARLY_ALL, _QUANTILE = 0.9, 0.99
_BEGUN_ANEW = ("stream/1", "expand/1")  # contracts under which a chain begins and ends in every call


@dataclass(frozen=True, slots=True)
class Memory:
    """What a pass over data takes at one size, in ns: `again`, more where its data was made a moment ago than where it
    is always the same; `control`, of a chain that only copies; `passing`, of a timed pass."""

    again: float
    control: float
    passing: float = math.inf


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What Perbyte's own loop and the A/A pairs showed in this run.

    `memory` by size in bytes. `spread`: the 99th percentile of what their looks leave unexplained, as a share of the
    call; `slowed`: that of the loop's CPU time in an epoch over its least clean time, 1 on a core that nobody shares
    (no look: 2); `shared`: its probe found company that slowed the loop. As shares, the 99th
    percentiles of what cannot be the loop's fault: `time`, by which an epoch's looks and what the loop says of them
    differ; `clock`, the two readings of the core's clock; `clean`, an epoch's least clean time and the run's.
    Without a control of time in three epochs, `time` is a third of what refuses a figure.
    `on_core`: the least share of its time that the loop was given a core.
    """

    memory: Mapping[int, Memory] = field(default_factory=dict)
    spread: float = 0.0
    slowed: float = MOST_SLOWED
    shared: bool = False
    time: float = 0.0
    clock: float = 0.0
    clean: float = 0.0
    on_core: float = 1.0

    @property
    def most_slowed(self) -> float:
        """By how much a neighbour may slow any code: by half where the own loop shows that there is one."""
        return MOST_SLOWED if self.shared else self.slowed

    def at(self, size_bytes: int, control_ns: float) -> Memory:
        """Memory at a size, or at the next larger one that was looked at. Without any, no more than a runner's own
        control says."""
        larger = min((size for size in self.memory if size >= size_bytes), default=None)
        return Memory(control_ns, math.inf) if larger is None else self.memory[larger]


@dataclass(frozen=True, slots=True)
class Work:
    """What calls on new data cost beyond all that explains it, by epoch, in ns and as a share of the timed call.

    `timed`: T; `new`: X - K, `likely` what of it the narrow allowance leaves, and `sure` what no honest call could be
    spared; `beyond`: for each look what is left of X - K - T as a share of T, the narrow allowance taken off, `far`:
    the wide one; `again`: as `far`, of calls whose data comes again as in the rounds (none: nobody asked).
    """

    epoch: int
    timed: float
    new: float
    likely: float
    sure: float
    beyond: tuple[float, ...]
    far: tuple[float, ...]
    again: tuple[float, ...]


def surroundings(audits: Mapping[Cell, Sequence[Audit]], *, without: str = "") -> Surroundings:
    """What is known of a run's surroundings from all audits, by cell; twins of the runner `without` tell nothing of it.

    The looks at the own loop are among the audits, by cells of `COPYING`'s row.
    """
    own = {cell.size_bytes: looks for cell, looks in audits.items() if cell.row == COPYING.row}
    memory: dict[int, Memory] = {}
    left: list[float] = []
    slowed: list[float] = []
    for size, looks in own.items():
        pairs = [
            (new, made, _timed(look))  # with its calls, without them, and as timed
            for look in looks
            for new, made in zip(look.chained_ns, look.control_ns, strict=False)
        ]
        if pairs:
            again = max(0.0, middle([new - made - timed for new, made, timed in pairs]))
            control = max(0.0, middle([made for _, made, _ in pairs]))
            memory[size] = Memory(again, control, middle([timed for _, _, timed in pairs]))
            serial = _overlap_ns(looks)
            # of calls shorter than what overlaps, the noise is no share of the call
            left += [(new - made - timed - again - serial) / max(timed, serial) for new, made, timed in pairs]
        clean = min((look.clean_ns for look in looks if look.clean_ns > 0), default=0.0)
        if size <= SHORT_BYTES:
            slowed += [middle(look.cpu_ns) / clean for look in looks if clean and look.cpu_ns]
            slowed += [MOST_SLOWED for look in looks if not look.clean_ns]
    for cell, looks in audits.items():
        if cell.twin and cell.runner != without:
            first = {audit.epoch: _new(audit) for audit in audits.get(replace(cell, twin=0), ())}
            for look in looks:
                own_new, other, timed = _new(look), first.get(look.epoch, 0.0), _timed(look)
                if own_new and other and timed:
                    overlap = _overlap_ns([look])
                    left.append((abs(own_new - other) - overlap) / max(timed, overlap))
    return Surroundings(
        memory,
        max(0.0, quantile(left, _QUANTILE)),
        min(MOST_SLOWED, max(1.0, quantile(slowed, _QUANTILE))) if slowed else MOST_SLOWED,
        _is_shared(own.values()),
        **_of_time(own.values()),
    )


def _is_shared(own: Iterable[Sequence[Audit]]) -> bool:
    """True where the own loop was slower in company than it ever was alone, or where nobody could tell one from other.

    Company that slows the middle one of its samples beyond 99 of 100 that were alone is on the core, whoever it is;
    what only makes a probe read long, such as an interrupt within it, slows none.
    """
    known = [
        ([v for look in looks for v in look.alone_ns], [v for look in looks for v in look.shared_ns])
        for looks in own
    ]
    told = [(alone, shared) for alone, shared in known if alone]
    if not told:
        return bool(known)
    return any(shared and middle(shared) > quantile(alone, _QUANTILE) for alone, shared in told)


def _of_time(own: Iterable[Sequence[Audit]]) -> dict[str, float]:
    """What the own loop's looks say of time, clock and cores, by the names of `Surroundings`."""
    times: dict[int, list[tuple[float, float]]] = {}
    clocks, clean, given = [], [], []
    for looks in own:
        best = min((look.clean_ns for look in looks if look.clean_ns > 0), default=0.0)
        clean += [look.clean_ns / best - 1 for look in looks if look.clean_ns > 0]
        for look in looks:
            for claimed, cpu, wall in zip(look.claimed_ns, look.cpu_ns, look.wall_ns, strict=True):
                if claimed > 0:
                    times.setdefault(look.epoch, []).append((cpu / claimed, max(cpu, wall) / claimed))
                    given.append(cpu / claimed)
            rates = zip(look.clock_hz, look.own_hz, strict=True)
            clocks += [max(a / b, b / a) - 1 for a, b in rates if a > 0 and b > 0]
    enough = [looks for looks in times.values() if len(looks) >= LEAST_LOOKS]
    apart = [
        value
        for looks in enough
        for value in (middle([low for low, _ in looks]) - 1, 1 - middle([high for _, high in looks]))
    ]
    return {
        # where the control is missing, a time is refused where a figure is
        "time": max(
            0.0,
            quantile(apart, _QUANTILE),
            0.0 if len(enough) >= LEAST_LOOKS or not times else REFUSED / REFUSED_SPREADS,
        ),
        "clock": quantile(clocks, _QUANTILE),
        "clean": quantile(clean, _QUANTILE),
        "on_core": min(1.0, 1 - quantile([1 - ratio for ratio in given], _QUANTILE)) if given else 1.0,
    }


def work_of(audits: Sequence[Audit], around: Surroundings) -> list[Work]:
    """The work of a cell's audited epochs, of those that had chains and controls.

    Not where each link prepares its material again: the first call after that may be dearer than others, which costs
    nobody a figure.
    """
    return [
        work for audit in audits if not audit.afresh and (work := _work(audit, around, control_noise(audits)))
    ]


def _work(audit: Audit, around: Surroundings, noise: float) -> Work | None:
    pairs = list(zip(audit.chained_ns, audit.control_ns, strict=False))
    timed = _timed(audit)
    if not pairs or timed <= 0:
        return None
    cell = audit.cell
    control = middle([control_ns for _, control_ns in pairs])
    memory = around.at(cell.size_bytes, max(0.0, control))
    overlap = _overlap_ns([audit]) * around.most_slowed
    # what is opened was sealed first: a chain has two buffers more, which need not fit where those of the rounds do, so
    # that all its data may come from where a pass over twice as much has it
    moved, known = _moved(cell, around, math.inf), _moved(cell, around, max(0.0, control))
    ending = _ending(cell, timed)
    narrow = memory.again + known + ending + min(overlap / 2, OVERLAP * timed) + noise / 2
    wide = 2 * memory.again + 2 * moved + ending + overlap + 2 * noise
    new = [chained - control for chained, control in pairs]
    learnt = timed <= LEARNT_NS  # so short that predictors know its data when it comes again
    sure = middle(audit.repeated_ns or ([0.0] if learnt else new))
    return Work(
        audit.epoch,
        timed,
        middle(new),
        middle(new) - narrow,
        sure - wide,
        tuple((again - narrow - timed) / timed for again in new),
        tuple((again - wide - timed) / timed for again in new),
        tuple((again - wide - timed) / timed for again in audit.repeated_ns),
    )


def _ending(cell: Cell, timed: float) -> float:
    """Where a chain begins and ends in every call, the end takes a block that the timed calls have put off."""
    return timed * min(1.0, BLOCK_BYTES / max(cell.size_bytes, 1)) if cell.contract in _BEGUN_ANEW else 0.0


def _moved(cell: Cell, around: Surroundings, unknown: float) -> float:
    """What memory may take of an opening because its chain has two buffers more, in ns; `unknown` if nobody looked."""
    if cell.operation != "open":
        return 0.0
    passing = around.at(2 * cell.size_bytes, 0.0).passing
    return passing / 2 if math.isfinite(passing) else unknown


def control_noise(audits: Iterable[Audit]) -> float:
    """How far controls of a cell lie from each other, in ns, nine of ten: so much noise is in a chain's cost."""
    values = [value for audit in audits for value in audit.control_ns]
    centre = middle(values) if values else 0.0
    return quantile([abs(value - centre) for value in values], _NEARLY_ALL) if len(values) > 1 else 0.0


def cannot_tell(audits: Sequence[Audit], around: Surroundings) -> str:
    """Why chains with controls tell nothing of a cell's work, in a few words; empty where they do.

    What a control takes beyond our own may be work of the calls that was moved there: counted as theirs, the call must
    still cost no more than `HIDDEN` above the timed one.
    """
    looked = [audit for audit in audits if audit.control_ns and _timed(audit) > 0]
    if not looked:
        return ""
    cell, timed = looked[-1].cell, middle([_timed(audit) for audit in looked])
    control = middle([value for audit in looked for value in audit.control_ns])
    new = middle([_new(audit) for audit in looked])
    memory, overlap = around.at(cell.size_bytes, 0.0), _overlap_ns(looked)
    own = memory.control if math.isfinite(memory.control) else NOISE_SHARE * timed
    sealed = SEALING * timed if cell.operation == "open" else 0.0
    dearer = max(0.0, control - own - sealed - _free_ns(cell, looked))
    if timed < SHORT_CYCLES / OVERLAP_CYCLES * overlap and new > THIRD * timed:
        return f"calls of {timed:,.0f} ns take {new:,.0f} ns where each waits for the one before it, too much to tell"
    if new + dearer - _explained(cell, timed, memory, around) - overlap / 2 > (1 + HIDDEN) * timed:
        return (
            f"calls of {timed:,.0f} ns take {new:,.0f} ns on new data, beside {control:,.0f} ns of a chain without "
            "them: too much to tell"
        )
    if cell.contract != SETUP and memory.again + _moved(cell, around, 0.0) > MEMORY_SHARE * timed + overlap:
        return f"of calls of {timed:,.0f} ns memory takes too much to tell"
    if (noise := control_noise(looked)) > NOISE_SHARE * timed + overlap:
        return f"chains are up to {noise:,.0f} ns apart, too much beside calls of {timed:,.0f} ns"
    return ""


def _free_ns(cell: Cell, looked: Sequence[Audit]) -> float:
    """What a control may take beyond our own without a question: keys and nonces, and what overlaps in the rounds."""
    making = MAKING_CYCLES * (2 if cell.contract in SETS_KEY else 1)
    return _overlap_ns(looked) * (1 + making / OVERLAP_CYCLES)


def _explained(cell: Cell, timed: float, memory: Memory, around: Surroundings) -> float:
    """What of a call on new data memory and the end of a message explain, in ns."""
    return memory.again + _moved(cell, around, 0.0) + _ending(cell, timed)


def seen_on_shorter(audits: Sequence[Audit], around: Surroundings) -> bool | None:
    """True where the timed calls cost no less than as many bytes of shorter data; None where no look can tell."""
    looked = [audit for audit in audits if audit.shorter_ns and _timed(audit) > 0]
    if not looked:
        return None
    cell, timed = looked[-1].cell, middle([_timed(audit) for audit in looked])
    new = middle([x - k for a in looked for x, k in zip(a.shorter_ns, a.shorter_control_ns, strict=True)])
    control = middle([value for audit in looked for value in audit.shorter_control_ns])
    own = around.at(SHORT_BYTES, 0.0).control
    free = (own + _free_ns(cell, looked)) * cell.size_bytes / SHORT_BYTES
    free += SEALING * timed if cell.operation == "open" else 0.0
    dearer = max(0.0, control - free)
    return math.isfinite(own) and new + dearer <= (1 + HIDDEN) * timed


def limits(spread: float, doubted: float = DOUBTED, refused: float = REFUSED) -> tuple[float, float]:
    """From which share on what nothing explains is marked, and refused, where honest work leaves `spread` unexplained.

    That is the 99th percentile of what the own loop showed in the same run; `doubted` and `refused` are what counts
    where it showed less.
    """
    return max(doubted, DOUBTED_SPREADS * spread), max(refused, REFUSED_SPREADS * spread)


def skips_work(work: Work, far: float, *, long: bool) -> bool:
    """True when an epoch shows that timed calls do less work than others.

    Data that comes again is cheaper to honest code too where its branches depend on the data and a predictor has
    learnt them, in calls so short that it can: of what is new there must be more than that explains.
    """
    if work.timed > LEARNT_NS:
        return exceeds(work.far, far, long=long)
    if work.again and exceeds(work.again, far, long=True) and exceeds(work.far, far, long=long):
        return True
    return exceeds(work.far, MISPREDICTED, long=long)


def exceeds(shares: Sequence[float], limit: float, *, long: bool = False) -> bool:
    """True when the majority of an epoch's looks is beyond a limit, and they are enough."""
    return len(shares) >= (2 if long else LEAST_LOOKS) and 2 * sum(share > limit for share in shares) > len(
        shares
    )


def middle(values: Sequence[float]) -> float:
    """The upper median."""
    return sorted(values)[len(values) // 2]


def quantile(values: Sequence[float], share: float) -> float:
    """The least value that is not below `share` of all (nearest rank); of few values the largest. 0 of none."""
    return sorted(values)[min(len(values) - 1, math.ceil(share * len(values)) - 1)] if values else 0.0


def _timed(audit: Audit) -> float:
    """ns per timed call: the larger of what was said and seen, so that nobody is accused by a doubt."""
    return max(middle(audit.cpu_ns), middle(audit.claimed_ns)) if audit.cpu_ns else 0.0


def _new(audit: Audit) -> float:
    pairs = [new - control for new, control in zip(audit.chained_ns, audit.control_ns, strict=False)]
    return middle(pairs) if pairs else 0.0


def _overlap_ns(audits: Sequence[Audit]) -> float:
    rates = [rate for audit in audits for rate in audit.own_hz if rate > 0]
    return OVERLAP_CYCLES / (middle(rates) if rates else SLOWEST_HZ) * 1e9
