"""Which samples are clean, and what a sample says in core cycles and in nanoseconds.

The stance: a sample is judged by the probes that bracket it and by what the kernel reported, never by its
own time. Dropping samples because they are slow biases the result. Nothing is removed here: a mask is
returned, and it can be computed again under another policy.

Tick counters of virtual machines often advance in steps (26 ticks on some AMD hosts). Two readings that
differ by one step are the same reading as far as anyone can tell, so every tolerance has one step added.

What a process found out about a quiet core is held against what its siblings found, before any sample depends on it: a
floor 1.5 % too low calls all honest samples disturbed, one that was learnt beside a neighbour calls all of them clean.
Whoever measures asks the odd process to look again, whoever computes figures takes what the others found.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from perbyte.model import Burst, Calibration, Flag, Policy, Process
from perbyte.stats.arrays import np
from perbyte.stats.estimate import beyond_scatter, midmean
from perbyte.stats.samples import MOMENT_LEAST, Bools, Floats, SampleTable, tabulate

_CLOCK_AGREES = 0.005  # of a clock reading by which the two around a sample may differ
_LOWEST_SHARE = 0.005  # of contention readings that do not even hint at where the floor is
_MODE = 0.01  # the width of a mode of contention readings: what the policy allows a clean one (ADR 13)
# from the lowest readings, in which the mode is looked for: a step of a core's clock is as large
_NEAR = 0.03
_SECONDED = 0.25  # of calibrations that have to agree on a floor which no sample saw, and two at the least
IN_VAIN = 0.01  # of processes that are like their siblings: so many are found unlike, or fewer
LEAST_SIBLINGS = 6  # with fewer, their scatter is not known well enough to say who is the odd one

REORDER_BUFFER = "reorder-buffer"
# Where between the two modes a reading counts as shared, on a logarithmic scale, for processes that do not say it.
_BETWEEN_MODES = 0.22


@dataclass(frozen=True, slots=True)
class Quiet:
    """What the contention probe reads on a quiet core, and up to where a core counts as quiet, in core cycles.

    Both are 0 where the runner has no such probe.
    """

    floor: float
    limit: float

    def tolerance(self, policy: Policy) -> float:
        """By how much a reading may exceed the floor, as a share of it; the policy's where no floor is known."""
        return self.limit / self.floor - 1 if self.floor else policy.contention_tolerance


def own_quiet(calibration: Calibration, policy: Policy) -> Quiet:
    """Return what a process found out by itself.

    The front-end probe may read up to `policy.contention_tolerance` above its floor. The reorder-buffer probe has two
    modes and next to nothing in between, so its limit lies between them.
    """
    floor = calibration.contention_floor
    if calibration.contention_probe != REORDER_BUFFER:
        return Quiet(floor, floor * (1 + policy.contention_tolerance))
    if floor <= 0 or calibration.contention_shared <= floor:
        return Quiet(0.0, 0.0)
    return Quiet(floor, floor * _limit_ratio(calibration))


def _limit_ratio(calibration: Calibration) -> float:
    """The limit of the reorder-buffer probe over its floor."""
    floor = calibration.contention_floor
    if calibration.contention_limit > floor:
        return calibration.contention_limit / floor
    return float((calibration.contention_shared / floor) ** _BETWEEN_MODES)


def clean_mask(burst: Burst, calibration: Calibration, policy: Policy, quiet: Quiet | None = None) -> Bools:
    """Tell which samples of `burst` are clean; one boolean per sample.

    Clean is: the clock probes before and after agree within `policy.clock_tolerance`, the contention probe on
    both sides is within the limit of `quiet` (the calibration's own where None), each with one tick quantum added,
    and no flag is set.
    """
    table = tabulate([burst])
    mask: Bools = (disturbance(table, calibration, policy, quiet) <= 1.0) & (table.flags == 0)
    return mask


@dataclass(frozen=True, slots=True, eq=False)
class JudgedSamples:
    """Samples side by side, what each says per call (per piece), and how far probes and kernel vouch for it.

    `values` are the core cycles, or the nanoseconds without a cycle source; `excess` is that of `disturbance`.
    """

    table: SampleTable
    cycles: Floats
    ns: Floats
    values: Floats
    excess: Floats

    @property
    def clean(self) -> Bools:
        """Which samples are clean, and say something."""
        mask: Bools = (self.excess <= 1.0) & (self.table.flags == 0) & np.isfinite(self.values)
        return mask

    @property
    def failed(self) -> Bools:
        """In which samples the library reported an error."""
        mask: Bools = self.table.flags & int(Flag.FAILED_CALL) != 0
        return mask


def judge_samples(
    bursts: Sequence[Burst], calibration: Calibration, policy: Policy, quiet: Quiet | None = None
) -> JudgedSamples:
    """Return the samples of `bursts` of one process and epoch; parameters as in `clean_mask`."""
    table = tabulate(bursts)
    rate = core_cycles_per_tick(table, calibration)
    cycles, ns = cycles_per_call(table, calibration, rate), ns_per_call(table, calibration)
    values = ns if calibration.cycle_source == "none" else cycles
    return JudgedSamples(table, cycles, ns, values, disturbance(table, calibration, policy, quiet, rate))


@dataclass(frozen=True, slots=True)
class Grounds:
    """What the samples of a run are judged by.

    `calibrations` maps (process, epoch) to what that process found out at its start. `quiet` is what the contention
    probe reads on a quiet core, by process (see `find_quiet`); without it each calibration's own counts.
    """

    calibrations: Mapping[tuple[Process, int], Calibration]
    policy: Policy
    quiet: Mapping[Process, Quiet] = field(default_factory=dict)

    def calibration(self, burst: Burst) -> Calibration | None:
        """What the process of a burst found out; None where nobody knows."""
        return self.calibrations.get((burst.cell.process, burst.epoch))

    def judge(self, bursts: Sequence[Burst]) -> JudgedSamples:
        """Return the samples of bursts of one process and epoch. Raises KeyError without its calibration."""
        process = bursts[0].cell.process
        calibration = self.calibrations[process, bursts[0].epoch]
        return judge_samples(bursts, calibration, self.policy, self.quiet.get(process))


def by_company(burst: Burst, calibration: Calibration, policy: Policy) -> tuple[list[float], list[float]]:
    """Return nanoseconds per call of the clean samples of a short burst, and of those that had company on the core.

    Company is what the contention probe says, and nothing else that makes a sample unclean. Where there is no such
    probe the second list is empty. By the rules of `clean_mask`, without arrays, which would cost more than a handful
    of samples.
    """
    step, limit = max(calibration.tick_quantum, 0), own_quiet(calibration, policy).limit
    alone: list[float] = []
    shared: list[float] = []
    for i, ticks in enumerate(burst.ticks):
        shorter, longer = sorted((burst.clock_before[i], burst.clock_after[i]))
        if burst.flags[i] or longer - shorter > policy.clock_tolerance * shorter + step:
            continue
        others = max(burst.contention_before[i], burst.contention_after[i])
        busy = (
            limit and shorter and (others - step) * 2 * calibration.probe_cycles / (shorter + longer) > limit
        )
        (shared if busy else alone).append(
            (ticks - calibration.fixed_ticks) / burst.calls * 1e9 / calibration.tick_hz
        )
    return alone, shared


def disturbance(
    table: SampleTable,
    calibration: Calibration,
    policy: Policy,
    quiet: Quiet | None = None,
    cycles_per_tick: Floats | None = None,
) -> Floats:
    """Return by how much each sample's worse probe misses, as a multiple of what is allowed; 1 is the limit.

    A probe that a runner does not have (all readings 0) says nothing and gives 0. `cycles_per_tick` saves the
    work of finding it again.
    """
    quantum = float(max(calibration.tick_quantum, 0))
    shorter, longer = np.minimum(table.clock[0], table.clock[1]), np.maximum(table.clock[0], table.clock[1])
    if not longer.any():
        return np.zeros(len(table))
    clock_excess = _ratio(longer - shorter, policy.clock_tolerance * shorter + quantum)
    quiet = quiet or own_quiet(calibration, policy)
    if quiet.floor <= 0 or calibration.probe_cycles <= 0 or not table.contention.any():
        return clock_excess
    rate = core_cycles_per_tick(table, calibration) if cycles_per_tick is None else cycles_per_tick
    excess = np.maximum(table.contention[0], table.contention[1]) * rate - quiet.floor
    contention_excess = excess / (quiet.limit - quiet.floor + quantum * rate)
    worse: Floats = np.maximum(clock_excess, contention_excess)
    return worse


def core_cycles_per_tick(table: SampleTable, calibration: Calibration) -> Floats:
    """Return the core's cycles per tick around each sample; infinite where the clock probe read nothing."""
    return _ratio(float(calibration.probe_cycles), steady_clock(table, calibration))


def steady_clock(table: SampleTable, calibration: Calibration) -> Floats:
    """Return ticks of the clock probe per sample: the mean of both readings, freed of quantisation noise.

    Readings that disagree by more than a tick step and half a per cent are no mean of anything: what
    disturbs a probe makes it longer, so the shorter one counts.

    A reading in steps of q ticks has an error of variance q^2/6, the mean of two q^2/12. Where the readings
    of a moment scatter no more than that, the clock stood still and their mean is better for all of them;
    where they scatter more, the clock moved and each sample keeps its own. In between the readings are shrunk
    towards the mean by the share of the variance that quantisation explains (empirical Bayes; Efron and
    Morris 1975). Readings more than two steps off their moment's middle keep their own value untouched.
    """
    quantum = float(calibration.tick_quantum)
    shorter, longer = np.minimum(table.clock[0], table.clock[1]), np.maximum(table.clock[0], table.clock[1])
    agree = longer - shorter <= _CLOCK_AGREES * shorter + max(quantum, 0.0)
    own: Floats = np.where(agree | (shorter <= 0), (shorter + longer) * 0.5, shorter)
    if quantum <= 0 or len(own) < MOMENT_LEAST:
        return own
    moments = int(table.moment[-1]) + 1
    middle = np.array(
        [midmean(part) for part in np.split(own, np.searchsorted(table.moment, range(1, moments)))]
    )
    near = np.abs(own - middle[table.moment]) <= 2 * quantum
    moment = table.moment[near]
    counts = np.bincount(moment, minlength=moments)
    freedom = int(np.maximum(counts - 1, 0).sum())
    if freedom < MOMENT_LEAST - 1:
        return own
    centre = np.bincount(moment, own[near], moments) / np.maximum(counts, 1)
    apart = own - centre[table.moment]
    scatter = float((apart[near] ** 2).sum()) / freedom
    kept = max(0.0, 1.0 - quantum**2 / 12 / scatter) if scatter else 0.0
    return np.where(near, own - (1 - kept) * apart, own)


def cycles_per_call(
    table: SampleTable, calibration: Calibration, cycles_per_tick: Floats | None = None
) -> Floats:
    """Return core cycles per call, one per sample; NaN where no cycle source can be trusted.

    PMU cycles where the bursts have them, else ticks converted by the clock probes around the sample. What a
    sample costs beyond its calls is subtracted in either case.
    """
    if calibration.cycle_source == "none" or not len(table):
        return np.full(len(table), np.nan)
    rate = core_cycles_per_tick(table, calibration) if cycles_per_tick is None else cycles_per_tick
    if table.cycles is not None:
        return (table.cycles - np.where(np.isfinite(rate), calibration.fixed_ticks * rate, 0.0)) / table.calls
    return (table.ticks - calibration.fixed_ticks) * rate / table.calls


def ns_per_call(table: SampleTable, calibration: Calibration) -> Floats:
    """Return nanoseconds per call, one per sample; what a sample costs beyond its calls is subtracted."""
    if calibration.tick_hz <= 0:
        return np.full(len(table), np.nan)
    return (table.ticks - calibration.fixed_ticks) / table.calls * (1e9 / calibration.tick_hz)


def contention_floor(
    calibrations: Mapping[tuple[Process, int], Calibration], bursts: Iterable[Burst]
) -> float:
    """Re-learn the quiet duration of the contention probe, in core cycles, from a run's own samples.

    Near the lowest readings of the run (after half a per cent that may be accidents) the densest place, one step and 1
    % wide, is a mode: its mean is the floor. Calibrations that found a quieter core than any sample did are believed
    when a quarter of them agree, and two at the least: a single one is an accident. Returns 0.0 when nothing is known.
    """
    by_process: dict[tuple[Process, int], list[Burst]] = {}
    for burst in bursts:
        by_process.setdefault((burst.cell.process, burst.epoch), []).append(burst)
    readings: list[Floats] = []
    step = 0.0
    for key, taken in by_process.items():
        calibration = calibrations.get(key)
        if calibration is None or calibration.probe_cycles <= 0:
            continue
        floor, found_step = _contention_readings(taken, calibration)
        readings.append(floor)
        step = max(step, found_step)
    learnt = np.sort(np.concatenate(readings)) if readings else np.empty(0)
    floors = sorted(c.contention_floor for c in calibrations.values() if c.contention_floor > 0)
    return _lowest_mode(learnt, floors, step)


def find_quiet(
    calibrations: Mapping[tuple[Process, int], Calibration], bursts: Sequence[Burst], policy: Policy
) -> dict[Process, Quiet]:
    """Learn from the whole run what a quiet core reads; by process, since the probe's code may lie differently in each.

    The two modes of the reorder-buffer probe belong to the machine: where processes were alone at times, all share
    the median of what they found. A process that never was is judged by the others, and so is one whose floor of the
    front-end probe is unlike all others'.
    """
    processes = {process for process, _ in calibrations}
    modes = [
        (c.contention_floor, _limit_ratio(c))
        for c in calibrations.values()
        if c.contention_probe == REORDER_BUFFER and c.contention_shared > c.contention_floor > 0
    ]
    shared = Quiet(0.0, 0.0)
    if modes:
        floor = statistics.median(low for low, _ in modes)
        shared = Quiet(floor, floor * statistics.median(ratio for _, ratio in modes))
    taken: dict[Process, list[Burst]] = {process: [] for process in processes}
    for burst in bursts:
        if burst.cell.process in taken:
            taken[burst.cell.process].append(burst)
    floors = sorted(c.contention_floor for c in calibrations.values() if c.contention_probe != REORDER_BUFFER)
    first_guess = floors[(len(floors) - 1) // 4] if floors else 0.0
    quiet_of: dict[Process, Quiet] = {}
    learnt: dict[Process, float] = {}
    for process in processes:
        own = {k: c for k, c in calibrations.items() if k[0] == process}
        if any(c.contention_probe == REORDER_BUFFER for c in own.values()):
            quiet_of[process] = shared
        else:
            learnt[process] = contention_floor(own, taken[process]) if taken[process] else first_guess
    for process, floor in _in_line(learnt, policy.contention_tolerance).items():
        quiet_of[process] = Quiet(floor, floor * (1 + policy.contention_tolerance))
    return quiet_of


def _in_line(floors: Mapping[Process, float], tolerance: float) -> dict[Process, float]:
    """The floors that processes learnt; the others' median for one that would call theirs disturbed, or all clean.

    Where the linker put a probe's code moves its reading a little in each program; by more than what is allowed, and
    beyond the scatter of the others, it is an accident of that process.
    """
    usual_of = {}
    for process, floor in floors.items():
        others = [other for key, other in floors.items() if key != process and other > 0]
        usual = statistics.median(others) if others else floor
        matters = floor * (1 + tolerance) < usual or floor > usual * (1 + tolerance)
        odd = (
            len(others) >= LEAST_SIBLINGS
            and floor > 0
            and matters
            and beyond_scatter(math.log(floor), [math.log(other) for other in others], IN_VAIN)
        )
        usual_of[process] = usual if odd else floor
    return usual_of


def _contention_readings(bursts: Sequence[Burst], calibration: Calibration) -> tuple[Floats, float]:
    """All contention readings in core cycles whose clock can be trusted, and one tick step in core cycles."""
    table = tabulate(bursts)
    allowed = _CLOCK_AGREES * table.clock.min(axis=0) + calibration.tick_quantum
    agree = (np.abs(table.clock[0] - table.clock[1]) <= allowed) & (table.clock.min(axis=0) > 0)
    if not agree.any():
        return np.empty(0), 0.0
    rate = core_cycles_per_tick(table, calibration)[agree]
    return (table.contention[:, agree] * rate).ravel(), calibration.tick_quantum * float(np.median(rate))


def _lowest_mode(learnt: Floats, floors: list[float], step: float) -> float:
    """The mean of the lowest mode of readings, or the median of the calibrations that found a lower one and agree.

    A mode is where readings are densest, not where the lowest ones are: others on a core only add to what the probe
    reads, by amounts that scatter, so of all places near the lowest readings the quiet one holds most.
    """
    learnt = learnt[learnt > 0]
    if not len(learnt):
        return float(np.median(floors)) if floors else 0.0
    start = learnt[min(len(learnt) - 1, max(1, int(_LOWEST_SHARE * len(learnt))))]
    near = learnt[(learnt >= start) & (learnt <= start * (1 + _NEAR) + step)]
    held = np.searchsorted(learnt, near * (1 + _MODE) + step, side="right") - np.searchsorted(learnt, near)
    lowest = near[int(held.argmax())]
    mode = learnt[(learnt >= lowest * 0.999) & (learnt <= lowest * (1 + _MODE) + step)]
    floor = float(mode.mean())
    if not floors or floor <= floors[0] * (1 + _MODE) + step:
        return floor
    least = max(2, math.ceil(_SECONDED * len(floors)))
    for candidate in floors:
        agree = [other for other in floors if candidate <= other <= candidate * (1 + _MODE) + step]
        if len(agree) >= least:
            return min(floor, float(np.median(agree)))
    return floor


def _ratio(above: Floats | float, below: Floats) -> Floats:
    """Divide; infinite where the divisor is not positive."""
    safe = np.where(below > 0, below, 1.0)
    return np.where(below > 0, above / safe, np.inf)


def out_of_line(
    calibration: Calibration, others: Iterable[Calibration], policy: Policy, *, wrong: float = IN_VAIN
) -> bool:
    """True where `calibration` is unlike its siblings among `others`, beyond doubt.

    Unlike is a floor or a limit that lies beyond what the siblings' scatter explains in all but `wrong` of cases (see
    `beyond_scatter`) and that matters: its limit below the siblings' floor, its floor above their limit, or its limit
    above what they read beside another thread. A process that was never alone found no floor and is not judged, and
    neither is one with fewer than LEAST_SIBLINGS. Others of the same process and epoch are earlier looks: they do not
    count.
    """
    if calibration.contention_floor <= 0:
        return False
    own_place = (calibration.process, calibration.epoch)
    alike = [
        other
        for other in others
        if _probe(other) == _probe(calibration)
        and (other.process, other.epoch) != own_place
        and own_quiet(other, policy).floor > 0
    ]
    own = own_quiet(calibration, policy)
    if len(alike) < LEAST_SIBLINGS or own.floor <= 0:
        return False
    quiet = [own_quiet(other, policy) for other in alike]
    usual = Quiet(
        float(np.median([other.floor for other in quiet])), float(np.median([other.limit for other in quiet]))
    )
    shared = float(np.median([other.contention_shared for other in alike])) or math.inf
    if not (own.limit < usual.floor or own.floor > usual.limit or own.limit > shared):
        return False
    return any(
        beyond_scatter(math.log(value), [math.log(value) for value in theirs], wrong / 2)
        for value, theirs in (
            (own.floor, [other.floor for other in quiet]),
            (own.limit, [other.limit for other in quiet]),
        )
    )


def _probe(calibration: Calibration) -> tuple[str, int, str]:
    """Which probe a process uses: the last words of its window only say what sharing costs, and how sure that is."""
    return (
        calibration.contention_probe,
        calibration.contention_length,
        calibration.contention_window.rsplit(" ", 2)[0],
    )
