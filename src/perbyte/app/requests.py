"""What is asked of a run, as a request: texts and options, a suite or a study; and whether its plan fits the budget."""

from __future__ import annotations

import math
import os
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from perbyte.app.building import build_needed
from perbyte.app.conducting import named_without_cells
from perbyte.app.listener import Say, silent
from perbyte.catalogue import Suite, find_suite, load, parse_selector
from perbyte.errors import UsageError
from perbyte.measure import (
    Forecast,
    Plan,
    Prepared,
    Request,
    built_runners,
    choose_cores,
    foresee,
    left_out,
    may_mean,
    prepare,
    recall_pace,
)
from perbyte.measure.cores import programs_running
from perbyte.model import Policy
from perbyte.model.cell import STATES, is_state
from perbyte.model.text import counted

if TYPE_CHECKING:
    from perbyte.studies import Study

T = TypeVar("T")
QUICK_SUITE = ("*/{aes-128-ctr,aes-256-gcm,chacha20-poly1305,sha-256}/{encrypt,seal,digest}",)
QUICK_SIZES = (64, 1024, 16384)
QUICK_BUDGET_S = 10.0
LIMITS = "reference/{limit-*,probe-aesenc}/run@1024+contract=stream/1"
LESS = "fewer cells or sizes, or fewer --epochs; --dry-run prints the time of a plan"
SHOWN = 8  # reasons for which cells are not in a plan


def make_request(
    selectors: Iterable[str],
    sizes: Sequence[int] | None = None,
    operations: Sequence[str] | None = None,
    contracts: Sequence[str] | None = None,
    cpus: Sequence[str] | None = None,
    states: Sequence[str] | None = None,
) -> Request:
    """The request of these texts; `sizes` in bytes. None: not said. Raises UsageError for what does not exist."""
    catalogue = load()
    named = None if contracts is None else [catalogue.find_contract(name).id for name in contracts]
    return Request(
        tuple(map(parse_selector, selectors)),
        _given(sizes),
        _given(operations),
        _given(named),
        _given(cpus),
        _given(states),
    )


def read_request(
    selectors: Sequence[str],
    sizes: Sequence[int] | None,
    *options: Sequence[str] | None,
    threads: str | None = None,
    cores: Sequence[int] | None = None,
    data: Path | None = None,
    limits: bool = False,
) -> tuple[Request, dict[str, str | int] | None]:
    """The request of a command line, and what is known of the file `data` that is measured on.

    `options` are the last four parts of `make_request`; without selectors it is the quick suite. `threads` (`1,2,all`)
    adds states to all selectors, `limits` the cells that figures are held against. Raises UsageError for what does not
    exist, and as `measure.conduct.describe_input`.
    """
    from perbyte.measure.conduct import describe_input, require_size

    usual = sizes or (None if selectors else QUICK_SIZES)
    request = make_request(selectors or QUICK_SUITE, usual, *options)
    facts = describe_input(data) if data else None
    if facts:
        request = replace(request, sizes=request.sizes or (int(facts["usable_bytes"]),))
        named = [size for selector in request.selectors for size in selector.sizes or ()]
        require_size(facts, {*(request.sizes or ()), *named})
    more = read_states((), threads, cores) or ()
    meant = (*request.selectors, parse_selector(LIMITS)) if limits else request.selectors
    request = replace(
        request,
        states=read_states(request.states or (), threads, cores),
        selectors=tuple(
            replace(selector, states=(*selector.states, *more)) if selector.states else selector
            for selector in meant
        ),
    )
    return request, facts


def read_states(
    states: Sequence[str], threads: str | None, cores: Sequence[int] | None
) -> tuple[str, ...] | None:
    """The states that were requested, numbers of threads (`1,2,all`) among them; None where nothing was said.

    Raises UsageError for what is no state, and for more threads than cores.
    """
    if unknown := [state for state in states if not is_state(state)]:
        raise UsageError(
            f"'{unknown[0]}' is not a state", hint=f"there are {', '.join(STATES)}, threads-2 and shared-2"
        )
    words = [word.strip() for word in threads.split(",")] if threads is not None else []
    if not all(word == "all" or (word.isdecimal() and int(word)) for word in words):
        raise UsageError(f"'{threads}' is not a list of numbers of threads", hint="such as 1,2,all")
    told = list(states)
    if words:
        there = len(choose_cores(tuple(cores or ())))
        counts = sorted({there if word == "all" else int(word) for word in words})
        if counts[-1] > there:
            raise UsageError(
                f"{counts[-1]} threads need as many cores, and there are {there} to measure on",
                hint=f"--threads 1,{there}" if there > 1 else "more --cores",
            )
        told += [f"threads-{count}" for count in counts]
    return tuple(dict.fromkeys(told)) or None


def open_suite(name: str, say: Say = silent) -> tuple[Suite, tuple[str, ...]]:
    """A suite, and the selectors that it means here, its runners being built."""
    suite = find_suite(name)
    build_needed(["*"], say)
    return suite, suite.selectors(tuple(spec.name for spec in built_runners()))


def not_asked(request: Request) -> list[str]:
    """Names of runners that are built and were not asked, because `*` means none that are opt-in."""
    return [
        spec.name
        for spec in (built_runners() if request.selectors else ())
        if any(left_out(selector.runner, spec) for selector in request.selectors)
        and not any(may_mean(selector, spec) for selector in request.selectors)
    ]


@dataclass(frozen=True, slots=True)
class Foreseen:
    """A plan, the policy it would be measured by, and how long that would take."""

    plan: Plan
    policy: Policy
    forecast: Forecast
    lacking: tuple[str, ...] = ()  # what was named and is not in the plan, a line each

    def as_json(self) -> dict[str, Any]:
        """All of it as JSON types, addresses for cells."""
        return {
            "cells": [cell.address for cell in self.plan.cells],
            "twins": [cell.address for cell in self.plan.twins],
            "failures": [asdict(failure) for failure in self.plan.failures],
            "lacking": self.lacking,
            "policy": asdict(self.policy),
            "least_s": self.forecast.least_s,
            "wall_s": self.forecast.wall_s,
        }

    def notes(self) -> list[str]:
        """What is not in the plan and why, how long the rest takes, and what outlasts the budget."""
        plan, policy = self.plan, self.policy
        unfit = Counter((failure.runner, failure.message) for failure in plan.failures)
        notes = [*self.lacking] + [
            f"not: {runner}: {message}" + (f" ({counted(count)})" if count > 1 else "")
            for (runner, message), count in unfit.most_common(SHOWN)
        ]
        if len(unfit) > SHOWN:
            notes.append(f"not: {len(unfit) - SHOWN:,} reasons more (--json has all)")
        notes.append(
            f"{counted(len(plan.cells))}, {counted(len(plan.twins), 'A/A cell')}, at least {policy.epochs} epochs, "
            f"budget {policy.budget_s:g} s, precision {policy.precision:.3%}, seed {policy.seed}: {self.forecast}"
        )
        return notes + [
            f"longer than the budget: one call of {cell.address} with its check, about {took:.0f} s"
            for cell, took in self.forecast.alone
        ]


def foresee_request(
    request: Request, policy: Policy, say: Say = silent, *, lenient: bool = False
) -> Foreseen:
    """Draw the plan of a request and foresee its time, as `conduct` would, and measure nothing."""
    build_needed((selector.runner for selector in request.selectors), say)
    prepared = prepare(request, policy, lenient=lenient)
    pace = recall_pace(prepared.conditions.policy.cores[0])
    lacking = [] if lenient else named_without_cells(request.selectors, prepared.plan.cells)
    forecast = foresee(prepared.plan, policy, prepared.survey.specs, pace)
    return Foreseen(prepared.plan, policy, forecast, tuple(lacking))


def budgeted(
    prepared: Prepared, say: Say = silent, *, raised: bool, hint: str = LESS, kept_since: float | None = None
) -> Prepared:
    """Say how long it takes. A budget that is far too small is `raised` where nobody chose it.

    Raises UsageError where somebody did, with the budget that would do. `kept_since`: when the command began whose
    budget is kept although no cell is left out, so that what came before and other programs on the cores count.
    """
    policy, cells = prepared.conditions.policy, counted(len(prepared.plan.cells))
    pace, crowd, before_s = recall_pace(policy.cores[0]), 1.0, 0.0
    if kept_since is not None:
        crowd, before_s = programs_running() / (os.cpu_count() or 1), time.monotonic() - kept_since
    seen = foresee(prepared.plan, policy, prepared.survey.specs, pace, max(crowd, 1.0))
    seen = replace(seen, before_s=before_s)
    enough_s = math.ceil(seen.enough_s)
    if not (seen.fits or raised):
        soonest_s = seen.before_s + seen.starts_s + seen.least_s
        text = f"{cells} in {policy.epochs} epochs take about {math.ceil(soonest_s)} s or more"
        for cell, took in sorted(seen.alone, key=lambda timed: timed[1])[-1:]:
            text = f"one call of {cell.address}, with its data and its check, takes about {took:.0f} s"
        text += f": too much for a budget of {policy.budget_s:g} s"
        raise UsageError(text, hint=f"--budget {enough_s}s, {hint}")
    if not seen.fits:
        say(f"the budget is {enough_s} s, because the plan needs at least that")
        policy, seen = replace(policy, budget_s=float(enough_s)), replace(seen, budget_s=enough_s)
        prepared = replace(prepared, conditions=replace(prepared.conditions, policy=policy))
    say(f"{cells}: {seen}{busy_text(policy.cores)}")
    return prepared


def busy_text(cores: Sequence[int]) -> str:
    """Why a run takes longer than foreseen: others use its cores; else empty."""
    there = os.cpu_count() or 1
    load, now = os.getloadavg()[0], programs_running() - 1
    if min(load, now) <= there - len(cores) + 0.5:
        return ""
    return f"; longer, for {counted(now, 'other program')} run on the {counted(there, 'core')}"


def study_request(study: Study, *, quick: bool = False) -> Request:
    """The cells of a study; `quick`: of its quick variant."""
    selectors = tuple(parse_selector(text) for text in study.selectors(quick=quick))
    return Request(selectors, contracts=(study.contract,))


def _given(words: Sequence[T] | None) -> tuple[T, ...] | None:
    return None if words is None else tuple(words)
