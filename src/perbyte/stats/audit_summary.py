"""What the audit saw of cells, summed up for people who want to see more than a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from perbyte.model import Audit
from perbyte.stats.audit import clock_ratios, spent, threads_at_work
from perbyte.stats.newdata import middle


@dataclass(frozen=True, slots=True)
class Seen:
    """What looks at some cells saw. Ranges over the cells, of each the middle look; None where no look could tell.

    `time`: CPU time by the kernel over what the runner says; `new_data`: cost of a call on new data, less what a chain
    takes besides where the runner says it, over that of a timed one; `threads`: threads at work, by CPU time over time
    on the clock and over that of the busiest; `clock`: the core's clock by the runner's probe over that by Perbyte's
    own.
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
    told = ([audit for audit in audits if audit.claimed_ns] for audits in by_cell)
    looked = [audits for audits in told if audits]
    every = [audit for of_cell in looked for audit in of_cell]

    def span(values: Iterable[Sequence[float]]) -> tuple[float, float] | None:
        middles = [value for part in values if part and (value := middle(part)) > 0]
        return (min(middles), max(middles)) if middles else None

    return Seen(
        cells=len(looked),
        looks=sum(len(audit.claimed_ns) for audit in every),
        time=span(map(spent, looked)),
        new_data=span([share for audit in audits for share in _new_shares(audit)] for audits in looked),
        threads=span([count for audit in audits for count in threads_at_work(audit)] for audits in looked),
        clock=span(map(clock_ratios, looked)),
        children=max((audit.children for audit in every), default=0),
    )


def _new_shares(audit: Audit) -> list[float]:
    """Cost of calls on new data over that of the timed calls, what a chain takes besides taken off."""
    control = middle(audit.control_ns) if audit.control_ns else 0.0
    return [max(0.0, new - control) / max(1.0, middle(audit.cpu_ns)) for new in audit.chained_ns]
