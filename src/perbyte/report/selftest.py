"""What `perbyte selftest` says: loops against what they must read, and counts over loops of known ratios."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from perbyte.model import NoiseFloor
from perbyte.stats.known_loops import KNOWN, SLOWDOWNS, LoopReading, Trials


def loops_lines(readings: Sequence[LoopReading], floor: NoiseFloor | None) -> Iterator[str]:
    """What each loop read, and by how much identical ones differed."""
    yield "cycles per instruction (the empty call: per call)"
    for reading in readings:
        yield f"  {reading.loop:16} {reading_text(reading)}"
    if floor:
        yield f"A/A pairs: {floor.relative:.3%} at the most, {len(floor.pairs)} pairs"


def reading_text(reading: LoopReading) -> str:
    """What a loop read, and what it must read."""
    if reading.cycles is None:
        return "no cycle source"
    if reading.goal is None:
        return f"{reading.cycles:9.4f}  (no goal: differs between cores)"
    tolerance = KNOWN[reading.loop][1]
    verdict = "WRONG" if reading.wrong else "not known: too noisy" if reading.unclear else "ok"
    return f"{reading.cycles:9.4f}  must read {reading.goal:.2f} ± {tolerance:.2f}  {verdict}"


def trials_lines(trial: Trials) -> Iterator[str]:
    """The counts: false alarms, intervals that hold the truth, slowdowns found by budget."""
    counts = trial.said()
    pairs, alarms = counts["identical_pairs"], counts["called_different"]
    yield (
        f"the same loop in two runs, called different: {alarms} of {pairs} (at most "
        f"{counts['false_alarms_below']:.1%} of all, with 95 % confidence); differences called the wrong way round: "
        f"{trial.wrong_way}"
    )
    if trial.errors:
        yield (
            f"intervals that hold the true ratio: {sum(trial.held)} of {len(trial.held)}; error of the ratio "
            f"{counts['median_error']:+.3%} in the median, {counts['largest_error']:.3%} at the most"
        )
    budgets = sorted({budget for budget, _ in trial.detected})
    yield ("slowdowns found     " + "".join(f"{budget:>8g} s" for budget in budgets))
    for share in SLOWDOWNS:
        yield (
            f"  {share:<17.2%} "
            + "".join(_found(trial.detected.get((budget, share), [])) for budget in budgets)
        )
    for budget in budgets:
        least = trial.smallest(budget)
        can = f"differences from {least:.2%} on" if math.isfinite(least) else "no such difference reliably"
        yield (f"in runs of {budget:g} s (six cells) this machine can tell {can}, now")


def _found(tries: Sequence[bool]) -> str:
    return f"{f'{sum(tries)} of {len(tries)}':>10}"
