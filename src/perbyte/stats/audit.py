"""Does what a runner says agree with what was seen from outside? Numbers in, a refusal or a doubt out.

Nothing is refused on one look. Where a runner understates the time of its calls, CPU time exceeds what it says in look
after look; a neighbour, an interrupt or a collector of garbage makes some looks differ, to either side. So the quartile
of the looks that lies nearer to what the runner says has to be beyond what noise explains.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from perbyte.model import Audit, Doubt, Warning

# relative differences of times that noise does not explain where three looks in four show them: of many looks, of few.
# Beside a busy neighbour one honest look in five is off by 5 %, so that five of six are in one cell of 600; what is
# small is believed of looks in two epochs
BEYOND, FAR_BEYOND = 0.05, 0.3
MANY, FEW, FEW_LONG = 16, 6, 2  # looks without which nothing is refused; looks of milliseconds are exact
# CPU time over time on the clock from which on more than one thread was at work, and over that of the busiest thread:
# collectors of garbage take up to a quarter (Go) and the schedulers of languages up to a third beside it
THREADS, BESIDE = 1.25, 1.5
ELSEWHERE = 0.7  # of the time of calls, that the process spends on a core at the least
CLOCK_DOUBTED, CLOCK_REFUSED = 0.1, 0.25  # cores differ, and vector code may lower the clock by a fifth
# by which a figure, and for a refusal the upper end of its interval, lies below the lowest clean audited call: a
# collector of garbage, a compiler and neighbours have a part in more of the audited samples, which are few an epoch
FIGURE_DOUBTED, FIGURE_REFUSED, FIGURE_EPOCHS, REFUSED_EPOCHS = 0.25, 0.5, 3, 5
CHAINED, CHAINED_NS = (
    0.35,
    500.0,
)  # by how much a call on new data may cost more: caches, new nonces, the chain
CHAINED_OPEN = 3.0  # opening: its input is sealed first
CACHED_NS = 1e6  # the data of longer calls need not fit the caches, and chains find less of them there
ANEW = "where each call has new data, it prepares its material anew, so that only its results can be compared"
_SCREEN = 0.3  # a single look that is further off asks for more
_POOLED, _POOLED_LOOKS = 0.08, 4  # and so do several that are further off together, before the fifth epoch
_SETTLED_LOOKS = 3


@dataclass(frozen=True, slots=True)
class AuditVerdict:
    """Why a cell's figure is refused (empty: it is not), and what is to be said beside it."""

    refusal: str = ""
    warnings: tuple[Warning, ...] = ()


@dataclass(frozen=True, slots=True)
class Seen:
    """What looks at some cells saw. Ranges over the cells, of each the middle look; None where no look could tell.

    `time`: CPU time by the kernel over what the runner says; `new_data`: cost of a call on new data over that of a
    timed one; `threads`: threads at work, by CPU time over time on the clock and over that of the busiest; `clock`: the
    core's clock by the runner's probe over that by Perbyte's own.
    """

    cells: int
    looks: int
    time: tuple[float, float] | None
    new_data: tuple[float, float] | None
    threads: tuple[float, float] | None
    clock: tuple[float, float] | None
    children: int


def sum_up_audits(by_cell: Iterable[Sequence[Audit]]) -> Seen:
    """Sum up the looks at cells, given by cell, for people who want to see more than a verdict."""
    looked = [mine for audits in by_cell if (mine := [one for one in audits if one.claimed_ns])]
    every = [one for mine in looked for one in mine]

    def span(values: Iterable[Sequence[float]]) -> tuple[float, float] | None:
        middles = [middle for one in values if one and (middle := _middle(one)) > 0]
        return (min(middles), max(middles)) if middles else None

    return Seen(
        cells=len(looked),
        looks=sum(len(one.claimed_ns) for one in every),
        time=span(
            [cpu / said for a in mine for cpu, said in zip(a.cpu_ns, a.claimed_ns, strict=True) if said > 0]
            for mine in looked
        ),
        new_data=span(
            [v / max(1.0, _middle(a.cpu_ns)) for a in mine for v in a.chained_ns] for mine in looked
        ),
        threads=span(
            [max(1.0, *looks) for a in mine for looks in zip(a.threads, a.beside or a.threads, strict=True)]
            for mine in looked
        ),
        clock=span(_clock_ratios(mine) for mine in looked),
        children=max((one.children for one in every), default=0),
    )


def is_suspicious(audits: Sequence[Audit]) -> bool:
    """True when the last of a cell's looks, or all of them together, ask for more looks at it."""
    if not audits or not audits[-1].claimed_ns:
        return False
    low, high = _ratios(audits)
    rates = _clock_ratios(audits)
    own = max(1, len(audits[-1].claimed_ns))
    return (
        max(low[-own:]) > 1 + _SCREEN
        or min(high[-own:]) < 1 - _SCREEN
        or audits[-1].threads[-1] > THREADS
        or max(audits[-1].beside[-1:], default=1.0) > BESIDE
        or audits[-1].cpu_ns[-1] < ELSEWHERE * audits[-1].claimed_ns[-1]
        or bool(rates and abs(math.log(rates[-1])) > math.log1p(CLOCK_DOUBTED))
        or (len(low) >= _POOLED_LOOKS and (_middle(low) > 1 + _POOLED or _middle(high) < 1 - _POOLED))
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
    low, high = _ratios([later])
    rates = _clock_ratios([audit])[first:]
    return (
        len(low) >= _SETTLED_LOOKS
        and _middle(low) < 1 + _POOLED
        and _middle(high) > 1 - _POOLED
        and _middle(later.threads) < THREADS
        and _middle(later.beside or [1.0]) < BESIDE
        and (not rates or abs(math.log(_middle(rates))) < math.log1p(CLOCK_DOUBTED))
    )


def is_unlike(audit: Audit) -> bool:
    """True when the calls on new data of an epoch cost more than the timed ones, as far as a few looks can tell."""
    return bool(audit.chained_ns) and _middle(_excess([audit])) > 1


def judge_audits(audits: Iterable[Audit], figure_ns: float = 0.0, half_width: float = 0.0) -> AuditVerdict:
    """Judge one cell by all looks at it.

    `figure_ns` is its figure in nanoseconds per call, 0 where there is none, `half_width` that of its interval over it.
    """
    audits = list(audits)
    looked = [audit for audit in audits if audit.claimed_ns]
    warnings: list[Warning] = []
    if not looked:
        problem = next((audit.problem for audit in audits if audit.problem), "no look could be had")
        return AuditVerdict(warnings=(Warning(Doubt.AUDIT, f"not audited from outside: {problem}"),))
    low, high = _ratios(looked)
    if (looked[-1].long and len(low) >= FEW_LONG) or (len(low) >= MANY and len(looked) > 1):
        beyond = BEYOND
    else:
        beyond = FAR_BEYOND if len(low) >= FEW else math.inf
    claimed = _middle([value for audit in looked for value in audit.claimed_ns])
    if (least := _lowest(low)) > 1 + beyond:
        seen = f"{claimed * _middle(low):.4g} ns of CPU time" if math.isfinite(least) else "CPU time"
        return AuditVerdict(
            f"the runner says {claimed:.4g} ns per call, the kernel counts {seen} for the same calls "
            f"(at least {least:.3g} times as much in three of four of {len(low)} looks)"
        )
    if (most := -_lowest([-value for value in high])) < 1 - min(beyond, 1.0):
        return AuditVerdict(
            f"the runner says {claimed:.4g} ns per call, but {claimed * _middle(high):.4g} ns went by "
            f"(at most {most:.3g} times as much in three of four of {len(high)} looks)"
        )
    rates = _clock_ratios(looked)
    if len(rates) >= FEW and max(_lowest(rates), _lowest([1 / rate for rate in rates])) > 1 + CLOCK_REFUSED:
        said, own = (
            _middle([v for audit in looked for v in values if v])
            for values in (_clocks(looked), _owns(looked))
        )
        return AuditVerdict(
            f"by the runner's clock probe or counters the core runs at {said / 1e9:.3f} GHz, "
            f"by Perbyte's own probe at {own / 1e9:.3f} GHz"
        )
    if rates and len(rates) >= _POOLED_LOOKS and abs(math.log(_middle(rates))) > math.log1p(CLOCK_DOUBTED):
        text = f"by the runner's clock the core runs at {_middle(rates):.3g} times the rate of Perbyte's own probe"
        warnings.append(Warning(Doubt.AUDIT, text, (_middle(rates),)))
    clean = [audit.clean_ns for audit in looked if audit.clean_ns > 0]
    if figure_ns > 0 and len(clean) >= FIGURE_EPOCHS and min(clean) > (1 + FIGURE_DOUBTED) * figure_ns:
        text = (
            f"the figure is {figure_ns:.4g} ns per call, but the runner itself never said less than "
            f"{min(clean):.4g} ns in clean samples of the audit"
        )
        highest_ns = (1 + half_width) * figure_ns
        if len(clean) >= REFUSED_EPOCHS and min(clean) > (1 + FIGURE_REFUSED) * highest_ns:
            return AuditVerdict(text)
        warnings.append(Warning(Doubt.AUDIT, text, (figure_ns, min(clean))))
    excess = _excess(looked)
    if len(excess) >= (FEW_LONG if looked[-1].long else FEW) and _lowest(excess) > 1:
        chained = _middle([value for audit in looked for value in audit.chained_ns])
        timed = _middle([value for audit in looked for value in audit.cpu_ns])
        return AuditVerdict(
            f"a timed call takes {timed:.4g} ns of CPU time, and {chained:.4g} ns where each call has new data: "
            "more than caches, new nonces and the making of the data explain"
        )
    beyond_figure = _excess(looked, figure_ns) if 0 < figure_ns < CACHED_NS else []
    if len(beyond_figure) >= FIGURE_EPOCHS and _lowest(beyond_figure) > 1:
        chained = _middle([value for audit in looked for value in audit.chained_ns])
        text = f"the figure is {figure_ns:.4g} ns per call, and a call on new data takes {chained:.4g} ns of CPU time"
        warnings.append(Warning(Doubt.AUDIT, text, (figure_ns, chained)))
    if not excess and looked[-1].cell.operation != "run":  # of a known chain, its cost is proof
        why = next((audit.unchained for audit in looked if audit.unchained), ANEW)
        warnings.append(Warning(Doubt.UNCHAINED, f"its work was not audited on new data ({why})"))
    threads = [value for audit in looked for value in audit.threads]
    if len(threads) >= _POOLED_LOOKS and _lowest(threads) > THREADS:
        text = f"more than one thread at work: {_middle(threads):.2f} s of CPU time per second"
        warnings.append(Warning(Doubt.THREADS, text, (_middle(threads),)))
    beside = [value for audit in looked for value in audit.beside]
    if len(beside) >= _POOLED_LOOKS and _lowest(beside) > BESIDE:
        text = f"more than one thread at work: {_middle(beside):.2f} times the CPU time of the busiest"
        warnings.append(Warning(Doubt.THREADS, text, (_middle(beside),)))
    spent = [
        cpu / claimed
        for a in looked
        for cpu, claimed in zip(a.cpu_ns, a.claimed_ns, strict=True)
        if claimed > 0
    ]
    if len(spent) >= _POOLED_LOOKS and -_lowest([-value for value in spent]) < ELSEWHERE:
        text = f"only {100 * _middle(spent):.0f} % of the time of its calls is CPU time of the runner's own process"
        warnings.append(Warning(Doubt.THREADS, text, (_middle(spent),)))
    if children := max(audit.children for audit in looked):
        text = f"the runner works with other processes that it started ({children})"
        warnings.append(Warning(Doubt.THREADS, text, (children,)))
    return AuditVerdict(warnings=tuple(warnings))


def _ratios(audits: Sequence[Audit]) -> tuple[list[float], list[float]]:
    """What was seen over what was said, per look: CPU time of one thread, and time on the clock."""
    low, high = [], []
    for audit in audits:
        beside = audit.beside or [1.0] * len(audit.threads)
        looks = zip(audit.claimed_ns, audit.cpu_ns, audit.wall_ns, audit.threads, beside, strict=True)
        for claimed, cpu, wall, threads, more in looks:
            low.append(cpu / max(threads, more, 1.0) / claimed if claimed > 0 else math.inf)
            high.append(max(cpu, wall) / claimed if claimed > 0 else math.inf)
    return low, high


def _excess(audits: Sequence[Audit], figure_ns: float = 0.0) -> list[float]:
    """The cost of calls on new data over what it may be beside that of the timed ones in the same epoch.

    Where `figure_ns` is given it is held against the figure in place of these.
    """
    found = []
    for audit in audits:
        # the larger: nobody is accused by a doubt
        timed = figure_ns or max(_middle(audit.cpu_ns), _middle(audit.claimed_ns))
        inputs = CHAINED_OPEN if audit.cell.operation == "open" else 1.0
        allowed = (timed * (1 + CHAINED) + CHAINED_NS + audit.chain_ns) * inputs
        found += [value / allowed for value in audit.chained_ns]
    return found


def _clocks(audits: Sequence[Audit]) -> list[float]:
    return [value for audit in audits for value in audit.clock_hz]


def _owns(audits: Sequence[Audit]) -> list[float]:
    return [value for audit in audits for value in audit.own_hz]


def _clock_ratios(audits: Sequence[Audit]) -> list[float]:
    pairs = zip(_clocks(audits), _owns(audits), strict=True)
    return [said / own for said, own in pairs if said > 0 and own > 0]


def _lowest(values: Sequence[float]) -> float:
    """The lower quartile."""
    return sorted(values)[len(values) // 4]


def _middle(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]
