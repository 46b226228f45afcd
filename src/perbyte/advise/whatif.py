"""What would change the answer: the same decision under another profile, date, size, library or processor."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass, replace

from perbyte.advise.decision import Decision, View, decide
from perbyte.advise.mix import Mix
from perbyte.catalogue.status import profiles


@dataclass(frozen=True, slots=True)
class Change:
    """`kind` is `processor`, `profile`, `date`, `size` or `library`; `what` the value that it was changed to."""

    kind: str
    what: str | int | datetime.date
    decision: Decision


def changes(decision: Decision) -> tuple[Change, ...]:
    """The changes of one thing at a time under which the recommendation is another one.

    The processor without AES instructions is always among them where its figures are known: people ask.
    """
    return tuple(
        change
        for change in _tried(decision)
        if change.kind == "processor" or _name(change.decision) != _name(decision)
    )


def _name(decision: Decision) -> str:
    return decision.first.algorithm.id if decision.first else ""


def _tried(decision: Decision) -> Iterator[Change]:
    case = decision.case
    if case.view is View.HERE and any(
        figure.cell.cpu == "soft" and figure.cell.algorithm in case.task.algorithms for figure in case.figures
    ):
        without = decide(replace(case, view=View.WITHOUT))
        if without.first:
            yield Change("processor", "no-aes", without)
    for profile in profiles():
        if profile != case.asked.profile and case.task.use:
            asked = replace(case.asked, profile=profile)
            yield Change("profile", profile, decide(replace(case, asked=asked)))
    yield from _dates(decision)
    if len(case.mix.sizes) > 1:
        for size in case.mix.sizes:
            yield Change("size", size, decide(replace(case, mix=Mix((size,)))))
    measured = {figure.cell.runner for figure in case.figures}
    runners = sorted(measured & case.runners if case.runners else measured)
    for runner in runners if len(runners) > 1 else ():
        alone = decide(replace(case, runners=frozenset({runner})))
        if alone.first:
            yield Change("library", runner, alone)


def _dates(decision: Decision) -> Iterator[Change]:
    case = decision.case
    days = {
        day
        for name in case.task.algorithms
        for day in case.asked.turning_days(case.catalogue.algorithms[name], case.task.use)
    }
    for day in sorted(days):
        later = decide(replace(case, asked=replace(case.asked, date=day)))
        if _name(later) != _name(decision):
            yield Change("date", day, later)
            return
