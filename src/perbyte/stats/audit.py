"""Does what a runner says agree with what was seen from outside? Numbers in, a refusal or a doubt out.

Nothing is refused on one look, nor in one epoch. Where a runner understates the time of its calls, CPU time exceeds
what it says in look after look; a neighbour, an interrupt or a collector of garbage makes some looks differ, to either
side. So a figure is refused where four epochs of five, each by the majority of its looks, are beyond what noise
explains, and marked where two of five are. If all looks of an epoch are wrong together with probability p, an honest
cell is refused with 5 p^4: below one in 100,000 up to p = 3.7 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from perbyte.model import Audit, Doubt, Warning
from perbyte.stats.newdata import (
    DOUBTED,
    LEAST_LOOKS,
    MISPREDICTED,
    REFUSED,
    Surroundings,
    Work,
    cannot_tell,
    exceeds,
    limits,
    middle,
    seen_on_shorter,
    skips_work,
    work_of,
)

# Epochs that must be beyond a limit: the least number, and the share of those looked at
REFUSED_EPOCHS, REFUSED_OF, DOUBTED_OF = 4, 0.8, 0.4
# By which the runner's word and the kernel may differ, as a share of the time. A prior: where what Perbyte's own loop
# says of its calls differs more from what the kernel counts, twice and three times that are the limits of a mark and of
# a refusal. A look that is 30 % off asks for more looks.
BEYOND, _SCREEN = 0.05, 0.3
# A lie so gross, in three of four of many looks (of work in all, in two epochs), ends a cell while the run goes on: two
# threads on a core slow both accounts, and what a collector of garbage takes beside calls is a third
GROSS, GROSS_EPOCHS = 3.0, 2
FEW, FEW_LONG = 6, 2  # looks without which nothing is said; looks of milliseconds are exact
# CPU time over time on the clock from which on more than one thread was at work: a figure lies below 1/1.25 of what its
# calls took, which is the most that may go unmarked. Beside the busiest thread collectors and schedulers of a language
# work as well, also when nothing is timed; a half is what refuses a figure of one thread
THREADS, BESIDE = 1.25, 1 + REFUSED
FIGURE_EPOCHS = 3  # of clean audited calls, without which they tell nothing of a figure
# epochs of clean samples taken as in the rounds, but by the process itself; by how much they may be above the figure
LIKE_EPOCHS, LIKE = 2, 0.15
# contracts whose calls set one of sixteen keys: a predictor learns these in the rounds and not in the audit
LEARNT_KEYS = ("setup/1", "rekey/1")
# and a stream's calls set no nonce, where those of a chain have a new one each, which some libraries take in lazily
# (SEAL's tables in Crypto++): what calls on new data cost marks such a cell and does not refuse it
MARKED_ONLY = (*LEARNT_KEYS, "stream/1")
ANEW = (
    "where each call has new data, it prepares its material again, so that only its results can be compared"
)
NO_CONTROL = "its runner does not say what a chain takes beside its calls"
# Of calls on fresh material with all that prepares them, over timed ones, over the same of another library: setting a
# key takes some libraries five times as long as others, beside their calls (P-256 in OpenSSL 3 and Nettle)
FRESH_DOUBTED, FRESH_REFUSED = 10.0, 30.0
# of CPU time before a call in a state of its own: honest ones take 120 ns, or 10 % of a call (Zen 5)
BEFORE_NS, BEFORE_SHARE = 100.0, 0.25
_POOLED, _POOLED_LOOKS = 0.08, 2  # several looks that are further off together ask for more
_SETTLED_LOOKS = 3
_DOUBT_LOOKS = 4


@dataclass(frozen=True, slots=True)
class AuditVerdict:
    """Why a cell's figure is refused (empty: it is not), and what is to be said beside it."""

    refusal: str = ""
    warnings: tuple[Warning, ...] = ()


@dataclass(frozen=True, slots=True)
class Printed:
    """A cell's figure: nanoseconds and core cycles (0: unknown) per call; half-width of its interval over it."""

    ns: float
    cycles: float = 0.0
    half_width: float = 0.0


def threads_at_work(audit: Audit) -> list[float]:
    """Threads at work, per look: by time on the clock, or beside the busiest where that is more."""
    return [max(1.0, *pair) for pair in zip(audit.threads, audit.beside or audit.threads, strict=True)]


def is_suspicious(audits: Sequence[Audit]) -> bool:
    """True when the last of a cell's looks, or all of them together, ask for more looks at it."""
    if not audits or not audits[-1].claimed_ns:
        return False
    low, high = time_shares(audits)
    rates = clock_ratios(audits)
    own = max(1, len(audits[-1].claimed_ns))
    return (
        max(low[-own:]) > 1 + _SCREEN
        or min(high[-own:]) < 1 - _SCREEN
        or audits[-1].threads[-1] > THREADS
        or max(audits[-1].beside[-1:], default=1.0) > BESIDE
        or audits[-1].cpu_ns[-1] < audits[-1].claimed_ns[-1] / (1 + REFUSED)
        or bool(rates and _off(rates[-1]) > DOUBTED)
        or (len(low) >= _POOLED_LOOKS and (_low_middle(low) > 1 + _POOLED or middle(high) < 1 - _POOLED))
    )


def is_settled(audit: Audit, first: int) -> bool:
    """True when the looks from `first` on agree with the runner's word, so that no more are needed."""
    later = replace(
        audit,
        **{
            name: getattr(audit, name)[first:]
            for name in ("claimed_ns", "cpu_ns", "wall_ns", "threads", "beside")
        },
    )
    low, high = time_shares([later])
    rates = clock_ratios([audit])[first:]
    return (
        len(low) >= _SETTLED_LOOKS
        and middle(low) < 1 + _POOLED
        and middle(high) > 1 - _POOLED
        and middle(later.threads) < THREADS
        and middle(later.beside or [1.0]) < BESIDE
        and (not rates or _off(middle(rates)) < DOUBTED)
    )


def is_unlike(audit: Audit, around: Surroundings) -> bool:
    """True when the calls on new data of an epoch cost more than the timed ones, as far as a few looks can tell."""
    if any(share > FRESH_DOUBTED for share in audit.fresh):
        return True
    work = work_of([audit], around)
    return bool(work) and 2 * sum(share > DOUBTED for share in work[0].beyond) > len(work[0].beyond)


def is_finished(audits: Sequence[Audit], around: Surroundings) -> bool:
    """True when nothing that was seen of a cell asks for a look in a certain epoch: two epochs, none of them odd."""
    looked = [audit for audit in audits if audit.claimed_ns]
    return (
        len(looked) > 1
        and not is_suspicious(looked)
        and not any(is_unlike(audit, around) or audit.wrong for audit in looked)
        and not any(exceeds(time_shares([audit])[0], 1 + time_limits(around)[0]) for audit in looked)
    )


def gross_lie(audits: Sequence[Audit], around: Surroundings) -> str:
    """Why a cell is refused while the run goes on; empty where nothing is so far off.

    Three of four of many looks (of work all, in two epochs) are beyond what any neighbour, collector or predictor
    explains: such a runner may take the time of all others, since what it says a call takes decides how many of them
    are asked for.
    """
    gross = [
        audit for audit in audits if len(audit.claimed_ns) >= FEW and _lowest(time_shares([audit])[0]) > GROSS
    ]
    skipping = [
        work
        for work in work_of([work for work in audits if work.claimed_ns], around)
        if len(work.far) >= FEW
        and min(work.far) > MISPREDICTED
        and audits[0].cell.contract not in MARKED_ONLY
    ]
    if gross:
        return _time_text(
            time_shares(gross)[0], middle([value for audit in gross for value in audit.claimed_ns])
        )
    return _work_text(skipping) if len(skipping) >= GROSS_EPOCHS else ""


def judge_audits(
    audits: Iterable[Audit], printed: Printed | None = None, around: Surroundings | None = None
) -> AuditVerdict:
    """Judge one cell by all looks at it. `printed`: its figure, None where there is none; `around`: what own looks
    showed in the same run."""
    audits, around = list(audits), around or Surroundings()
    looked = [audit for audit in audits if audit.claimed_ns]
    nothing = printed and printed.ns <= 0
    if not looked and not nothing:
        problem = next((audit.problem for audit in audits if audit.problem), "no look could be had")
        return AuditVerdict(warnings=(Warning(Doubt.AUDIT, f"not audited from outside: {problem}"),))
    work = work_of(looked, around)
    findings: Found = []
    if looked:
        findings += _judge_time(looked, around)
        findings += _judge_clock(looked, around)
        findings += _judge_printed(looked, work, printed, around)
        findings += _judge_clean(looked, printed, around)
        findings += _judge_work(looked, work, around)
        findings += _judge_fresh(looked)
    for refused, warning in findings:
        if refused:
            return AuditVerdict(warning.text)
    if printed and nothing:
        return AuditVerdict(f"its calls would take {printed.ns:.4g} ns, which no call does")
    warnings = [warning for _, warning in findings]
    return AuditVerdict(warnings=(*warnings, *_unchained(audits, looked, around), *_places(looked, around)))


Found = list[tuple[bool, Warning]]


def exceeds_in_epochs(shares: Sequence[float], limit: float) -> bool:
    """True when one value of each epoch is beyond a limit in as many of them as a refusal takes."""
    far = sum(share > limit for share in shares)
    return far >= REFUSED_EPOCHS and far >= REFUSED_OF * len(shares)


def _weigh(beyond_far: Sequence[bool], beyond_near: Sequence[bool], warning: Warning) -> Found:
    """A refusal (True), a mark or nothing, by how many of the epochs looked at are beyond the far and near limit."""
    if exceeds_in_epochs(beyond_far, 0.5):
        return [(True, warning)]
    return [(False, warning)] if sum(beyond_near) >= max(1.0, DOUBTED_OF * len(beyond_near)) else []


def time_limits(around: Surroundings) -> tuple[float, float]:
    """From which share on CPU time that the runner does not say is marked, and refused."""
    return limits(around.time, BEYOND, BEYOND)


def _judge_time(looked: Sequence[Audit], around: Surroundings) -> Found:
    """Is the time that the runner says the time that its calls took?"""
    low, high = time_shares(looked)
    if len(low) < (FEW_LONG if looked[-1].long else FEW):
        return []
    near, far = time_limits(around)
    claimed = middle([value for audit in looked for value in audit.claimed_ns])
    if _lowest(low) > 1 + near:
        seen, side, text = low, 1, _time_text(low, claimed)
        shares = [time_shares([audit])[0] for audit in looked]
    elif (most := -_lowest([-value for value in high])) < 1 - near:
        text = (
            f"the runner says {claimed:.4g} ns per call, but {claimed * middle(high):.4g} ns went by "
            f"(at most {most:.3g} times as much in three of four of {len(high)} looks)"
        )
        seen, side = high, -1
        shares = [[-value for value in time_shares([audit])[1]] for audit in looked]
    else:
        return []
    beyond, beyond_near = (
        [exceeds(values, side + limit, long=audit.long) for values, audit in zip(shares, looked, strict=True)]
        for limit in (far, near)
    )
    return _weigh(beyond, beyond_near, Warning(Doubt.AUDIT, text, (claimed, claimed * middle(seen))))


def _time_text(low: Sequence[float], claimed: float) -> str:
    least = _lowest(low)
    seen = f"{claimed * middle(low):.4g} ns of CPU time" if math.isfinite(least) else "CPU time"
    return (
        f"the runner says {claimed:.4g} ns per call, the kernel counts {seen} for the same calls "
        f"(at least {least:.3g} times as much in three of four of {len(low)} looks)"
    )


def _work_text(work: Sequence[Work]) -> str:
    timed, new = middle([look.timed for look in work]), middle([look.new for look in work])
    return (
        f"a timed call takes {timed:.4g} ns of CPU time, and {new:.4g} ns where each call has new data: "
        "more than memory, the making of the data and what waits for it explain"
    )


def _judge_clock(looked: Sequence[Audit], around: Surroundings) -> Found:
    """Is the unit of its cycles the core's? A clock that is off by a share makes a figure off by it."""
    rates = clock_ratios(looked)
    near, far_off = limits(around.clock)
    if len(rates) < _DOUBT_LOOKS or _off(middle(rates)) <= near:
        return []
    named_hz = middle([hz for audit in looked for hz in audit.clock_hz if hz])
    own = middle([hz for audit in looked for hz in audit.own_hz if hz])
    text = (
        f"by the runner's clock probe or counters the core runs at {named_hz / 1e9:.3f} GHz, by Perbyte's own probe at "
        f"{own / 1e9:.3f} GHz, {middle(rates):.3g} times the rate"
    )
    epochs = [clock_ratios([audit]) for audit in looked if clock_ratios([audit])]
    far = [2 * sum(_off(rate) > far_off for rate in rates) > len(rates) for rates in epochs]
    return _weigh(far, [True] * len(epochs), Warning(Doubt.AUDIT, text, (middle(rates),)))


def _off(rate: float) -> float:
    return max(rate, 1 / rate) - 1


def _judge_printed(
    looked: Sequence[Audit], work: Sequence[Work], printed: Printed | None, around: Surroundings
) -> Found:
    """Is the figure that is shown what its calls cost, timed ones and those on new data, by Perbyte's own clock?

    A shared core slows what was audited and not the clean samples of a figure, by as much as it slows the own loop.
    """
    if not printed or printed.ns <= 0:
        return []
    new = {of_epoch.epoch: of_epoch for of_epoch in work}
    far, of_timed, of_new = [], [], []
    learnt = looked[0].cell.contract in LEARNT_KEYS if looked else False
    for audit in looked:
        own = [rate for rate in audit.own_hz if rate > 0]
        shown = printed.cycles * 1e9 / middle(own) if own and printed.cycles > 0 else printed.ns
        # a thread beside takes CPU time too, and is no part of the call
        timed = [cpu / threads for cpu, threads in zip(audit.cpu_ns, threads_at_work(audit), strict=False)]
        anew = new.get(audit.epoch)
        # a predictor may know its data in one sample and not in the next: what the quicker ones take is sure; of calls
        # on new data only where nothing is put off until a new key or nonce
        sure = max(_lowest(timed), anew.sure if anew and audit.cell.contract not in MARKED_ONLY else 0.0)
        of_timed.append(middle(timed) / shown)
        of_new += [anew.likely / shown] if anew else []
        enough = len(timed) >= (FEW_LONG if audit.long else LEAST_LOOKS)
        allowed = (1 + REFUSED) * (1 + printed.half_width) * around.most_slowed
        # vector code may lower the clock for itself, so its time speaks as well where a figure would be refused
        far.append(enough and not learnt and sure / max(shown, printed.ns) > allowed)
    # looks of single epochs are few, and beside a neighbour a third too long now and then
    shares = [_low_middle(shares) for shares in (of_timed, of_new) if shares]
    near = any(share > (1 + DOUBTED) * around.slowed for share in shares)
    if not near and not any(far):
        return []
    cost = max(shares) * printed.ns  # at the clock of the figure
    text = (
        f"the figure is {printed.ns:.4g} ns per call, and its calls take {cost:.4g} ns of CPU time, "
        f"{max(shares):.3g} times as much"
    )
    return _weigh(far, [near] * len(looked), Warning(Doubt.AUDIT, text, (printed.ns, cost)))


def _judge_clean(looked: Sequence[Audit], printed: Printed | None, around: Surroundings) -> Found:
    """Is the figure what the runner itself said of clean calls while it was audited?

    Of the least of them, and of bursts that are asked for as in the rounds, but not from forks.
    """
    if not printed:
        return []
    clean = [audit.clean_ns for audit in looked if audit.clean_ns > 0]
    near, _ = limits(around.clean)
    doubts: Found = []
    # a mark, never a refusal: audited samples are few and not warmed, and a predictor that has learnt the sixteen keys
    # of the rounds halves an honest key setup (DES-EDE3 in Crypto++)
    if len(clean) >= FIGURE_EPOCHS and min(clean) > (1 + near) * printed.ns:
        text = (
            f"the figure is {printed.ns:.4g} ns per call, but the runner itself never said less than "
            f"{min(clean):.4g} ns in clean samples of the audit"
        )
        doubts.append((False, Warning(Doubt.AUDIT, text, (printed.ns, min(clean)))))
    like = [value for audit in looked for value in audit.like_rounds]
    shown, unit = (printed.cycles, "cycles") if printed.cycles > 0 else (printed.ns, "ns")
    if not doubts and len(like) >= LIKE_EPOCHS and _low_middle(like) > (1 + LIKE) * shown:
        text = (
            f"the figure is {shown:.4g} {unit} per call, but {_low_middle(like):.4g} {unit} where the process itself "
            f"is asked as in the rounds, and not its forks"
        )
        doubts.append((False, Warning(Doubt.AUDIT, text, (shown, _low_middle(like)))))
    return doubts


def _judge_work(looked: Sequence[Audit], work: Sequence[Work], around: Surroundings) -> Found:
    """Do the timed calls do the work that calls on new data do?"""
    if not work:
        return []
    near, far = limits(around.spread)
    long = looked[-1].long
    beyond = [exceeds(look.beyond, near, long=long) for look in work]
    odd = [look for look, is_odd in zip(work, beyond, strict=True) if is_odd] or work
    return _weigh(
        [skips_work(look, far, long=long) and looked[0].cell.contract not in MARKED_ONLY for look in work],
        beyond,
        Warning(
            Doubt.AUDIT,
            _work_text(odd),
            (middle([look.timed for look in odd]), middle([look.new for look in odd])),
        ),
    )


def _judge_fresh(looked: Sequence[Audit]) -> Found:
    """Do calls on fresh material cost what timed ones do, as far as another library shows what setting keys takes?"""
    fresh = [audit.fresh[-1] for audit in looked if audit.fresh]
    if not fresh:
        return []
    text = (
        f"a call on a key or message that nobody knew before takes {middle(fresh):.3g} times as long as a timed one, "
        "beside what another library needs for the same"
    )
    return _weigh(
        [share > FRESH_REFUSED for share in fresh],
        [share > FRESH_DOUBTED for share in fresh],
        Warning(Doubt.AUDIT, text, (middle(fresh),)),
    )


def judge_state(audits: Iterable[Audit]) -> tuple[Warning, ...]:
    """Does the runner of a cell in a state of its own work before its calls?"""
    looked = [audit for audit in audits if audit.before_ns]
    far = [a for a in looked if _lowest(a.before_ns) > BEFORE_NS + BEFORE_SHARE * a.clean_ns]
    if len(far) < max(1.0, DOUBTED_OF * len(looked)):
        return ()
    before, call = middle([middle(a.before_ns) for a in far]), middle([a.clean_ns for a in far])
    text = (
        f"before each call its runner works for {before:.4g} ns untimed, where a call takes {call:.4g} ns in a loop: "
        "that may fill emptied caches"
    )
    return (Warning(Doubt.AUDIT, text, (call, before)),)


def _unchained(audits: Sequence[Audit], looked: Sequence[Audit], around: Surroundings) -> list[Warning]:
    """Why nobody can vouch for the work of its calls, where that is so."""
    if looked[-1].cell.operation == "run":  # of a known chain, its cost is proof
        return []
    why = _unseen(looked, around) or next((audit.elsewhere for audit in audits if audit.elsewhere), "")
    return [Warning(Doubt.UNCHAINED, f"its work was not audited on new data ({why})")] if why else []


def _unseen(looked: Sequence[Audit], around: Surroundings) -> str:
    """Why the cost of its calls on new data tells nothing; empty where it does, and others gave the same."""
    if any(audit.control_ns for audit in looked):
        why = cannot_tell(looked, around)
    else:
        without = NO_CONTROL if any(audit.chained_ns for audit in looked) else ANEW
        why = next((audit.unchained for audit in looked if audit.unchained), without)
    if why and seen_on_shorter(looked, around):
        why = ""
    asked = [audit for audit in looked if audit.compared >= 0]
    if not why and asked and not any(audit.compared for audit in asked):
        why = asked[-1].uncompared
    return why


def _places(looked: Sequence[Audit], around: Surroundings) -> list[Warning]:
    """Where its work is done: threads, processes, another core."""
    warnings = []
    for values, limit, unit in (
        ([value for audit in looked for value in audit.threads], THREADS, "s of CPU time per second"),
        ([value for audit in looked for value in audit.beside], BESIDE, "times the CPU time of the busiest"),
    ):
        if len(values) >= _DOUBT_LOOKS and _lowest(values) > limit:
            text = f"more than one thread at work: {middle(values):.2f} {unit}"
            warnings.append(Warning(Doubt.THREADS, text, (middle(values),)))
    shares = spent(looked)
    if len(shares) >= _DOUBT_LOOKS and -_lowest([-value for value in shares]) < around.on_core / (
        1 + REFUSED
    ):
        text = f"only {100 * middle(shares):.0f} % of the time of its calls is CPU time of the runner's own process"
        warnings.append(Warning(Doubt.THREADS, text, (middle(shares),)))
    if children := max(audit.children for audit in looked):
        text = f"the runner works with other processes that it started ({children})"
        warnings.append(Warning(Doubt.THREADS, text, (children,)))
    return warnings


def time_shares(audits: Sequence[Audit]) -> tuple[list[float], list[float]]:
    """What was seen over what was said, per look: CPU time of one thread, and time on the clock."""
    low, high = [], []
    for audit in audits:
        looks = zip(audit.claimed_ns, audit.cpu_ns, audit.wall_ns, threads_at_work(audit), strict=True)
        for claimed, cpu, wall, threads in looks:
            low.append(cpu / threads / claimed if claimed > 0 else math.inf)
            high.append(max(cpu, wall) / claimed if claimed > 0 else math.inf)
    return low, high


def spent(audits: Sequence[Audit]) -> list[float]:
    """CPU time of the process over what was said, per look."""
    pairs = (pair for audit in audits for pair in zip(audit.cpu_ns, audit.claimed_ns, strict=True))
    return [cpu / claimed for cpu, claimed in pairs if claimed > 0]


def clock_ratios(audits: Sequence[Audit]) -> list[float]:
    """The core's clock by the runner's probe over that by Perbyte's own, per look that has both."""
    pairs = (pair for audit in audits for pair in zip(audit.clock_hz, audit.own_hz, strict=True))
    return [claimed_hz / own for claimed_hz, own in pairs if claimed_hz > 0 and own > 0]


def _lowest(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 4]


def _low_middle(values: Sequence[float]) -> float:
    """The lower median: of two looks the one that says less."""
    return sorted(values)[(len(values) - 1) // 2]
