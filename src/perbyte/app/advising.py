"""What `perbyte advise` measures for a question, and the cases that come of a run."""

from __future__ import annotations

import datetime
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from perbyte.advise import (
    Asked,
    Case,
    Change,
    Decision,
    Mix,
    PasswordDecision,
    Together,
    View,
    changes,
    decide,
    decide_passwords,
    read_histogram,
)
from perbyte.app.building import build_needed
from perbyte.app.conducting import Conducted, conduct
from perbyte.app.listener import NOBODY, Listener
from perbyte.app.requests import budgeted
from perbyte.catalogue import load, parse_selector, parse_sizes
from perbyte.catalogue.questions import Question, Task
from perbyte.catalogue.status import Authority, own_profile, profiles
from perbyte.errors import EnvironmentLacking, UsageError
from perbyte.measure import Request, Survey, built_runners, survey
from perbyte.model import Cell, Policy, Run
from perbyte.model.cell import LOOP, STATES
from perbyte.model.text import plain
from perbyte.runners import RunnerSpec, locate
from perbyte.studies import find, published_run

INTERPRETER_S = 0.4  # from the command to the first line of its code
SLOW_LANGUAGES = ("javascript",)
"""An algorithm is not judged by its form in these unless they are asked for: it runs many times slower than in C."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked for beside the work: rules and day, languages, the other side, a password's time and memory.

    `raised`: a budget that is too small, where nobody named it.
    """

    asked: Asked
    languages: tuple[str, ...]
    peer: bool
    time_ns: float
    memory_bytes: int
    raised: bool = True


@dataclass(frozen=True, slots=True)
class PartAnswer:
    """The answer to a part of a question, what would change it, and the decision among all libraries."""

    decided: Decision | PasswordDecision
    changes: Sequence[Change] = ()
    everything: Decision | None = None


def read_profile(name: str) -> tuple[str, Mapping[str, Authority] | None]:
    """The profile of that name, or that of the user's own file, with all statuses then. Raises UsageError."""
    if name in profiles():
        return name, None
    path = Path(name)
    if path.suffix == ".toml":
        return own_profile(path, load().algorithms)
    hint = f"there are: {', '.join(profiles())}; a profile of your own is a file that ends in .toml"
    raise UsageError(f"there is no profile '{name}'", hint=hint)


def read_mix(task: Task, sizes: str | None, histogram: Path | None) -> Mix:
    """The sizes that count for a task, from words or from a file. Raises UsageError for what does not fit."""
    if not task.own_sizes or not (sizes or histogram):
        return Mix(task.sizes)
    multiple = max(load().algorithms[name].data_multiple_bytes for name in task.algorithms)
    if histogram:
        return read_histogram(histogram, multiple)
    named = parse_sizes(str(sizes))
    if odd := [size for size in named if size % multiple]:
        raise UsageError(f"{odd[0]} bytes is not a multiple of {multiple}", hint="leave that size out")
    return Mix(named)


def draw_cases(
    question: Question, run: Run, mixes: Sequence[Mix], wish: Wish, missing: Mapping[str, str]
) -> list[Case]:
    """What a run holds of each task of a question."""
    runners = _runners_of(run, wish.languages)
    return [
        Case(
            task,
            wish.asked,
            run.cells,
            load(),
            mix,
            run.noise_floor,
            runners,
            View.PEER if wish.peer and task.own_sizes else View.HERE,
            missing,
        )
        for task, mix in zip(question.tasks, mixes, strict=True)
    ]


def answer_all(cases: Sequence[Case], wish: Wish, together: Together | None) -> list[PartAnswer]:
    """The answer to each part: by the library that `together` recommends for all, where there is one."""
    answers = []
    for number, case in enumerate(cases):
        if case.task.use == "password":
            answers.append(PartAnswer(decide_passwords(case, wish.time_ns, wish.memory_bytes)))
            continue
        everything = decide(case)
        own = together.first.decisions[number] if together and together.first else everything
        decision = own if own.first else everything
        answers.append(PartAnswer(decision, changes(decision), everything))
    return answers


def on_machines(study_name: str, case: Case, run: Run) -> tuple[list[tuple[str, Decision, Decision]], int]:
    """The decisions on the machines of a study from its own figures, and here, by the rules of then and of now.

    Also the year of the study.
    """
    study = find(study_name)
    then = datetime.date(study.year, 12, 31)
    machines = []
    for machine in study.machines:
        now = replace(case, figures=published_run(study, machine.id).cells, floor=None, runners=frozenset())
        machines.append((machine.name, now))
    machines.append((f"{run.conditions.machine.cpu_model or 'this machine'}, measured", case))
    decisions = [
        (name, decide(replace(now, asked=replace(now.asked, date=then))), decide(now))
        for name, now in machines
    ]
    return decisions, study.year


def beyond_loop(decision: Decision, states: Sequence[str]) -> tuple[Request, Cell, Cell] | None:
    """What to measure of the recommended option in `states` that no loop on one core has.

    Also its cells of the smallest size, for single calls, and of the largest, for several cores. None without an
    option.
    """
    if not decision.first:
        return None
    cells = [figure.cell for figure in decision.first.best.figures.values()]
    single = [state for state in states if state in STATES and state != LOOP]
    together = [state for state in states if state not in STATES]
    smallest, largest = (end(cells, key=lambda cell: cell.size_bytes) for end in (min, max))
    texts = [
        f"{cell.address}+state={','.join(wanted)}"
        for cell, wanted in ((smallest, [LOOP, *single] if single else []), (largest, together))
        if wanted
    ]
    return Request(tuple(parse_selector(text) for text in texts)), smallest, largest


def _runners_of(run: Run, languages: Sequence[str]) -> frozenset[str]:
    if not languages:
        return frozenset()
    known = {spec.name for spec in locate() if spec.language in languages}
    return frozenset({figure.cell.runner for figure in run.cells} & known or {""})


def lacks_figures(question: str, run: Run) -> EnvironmentLacking:
    """The error of a run that has all of the operations and sizes of a question for no algorithm."""
    held = ", ".join(dict.fromkeys(f"{each.cell.algorithm}@{each.cell.size_bytes}" for each in run.cells))
    message = f"the run {run.conditions.run_id} has no figures for this question: it has {plain(held, 120)}"
    return EnvironmentLacking(message, hint=f"perbyte advise {question} without --run measures")


def measure_question(
    question: Question,
    mixes: Sequence[Mix],
    wish: Wish,
    policy: Policy,
    listener: Listener = NOBODY,
) -> tuple[Conducted, dict[str, str]]:
    """Measure what the question needs; also why candidates have no figure.

    Raises EnvironmentLacking where no library can answer, UsageError for a budget that is too small and is not raised.
    """
    known = sorted({spec.language for spec in locate()})
    if unknown := [name for name in wish.languages if name not in known]:
        hint = f"the languages are {', '.join(known)}"
        raise UsageError(f"no runner is in '{unknown[0]}'", hint=hint)
    build_needed(["*"], listener.say)
    began = time.monotonic() - INTERPRETER_S
    specs = [
        spec
        for spec in built_runners()  # a core is what the others are compared by
        if not spec.threads and (not wish.languages or spec.language in wish.languages)
    ]
    if not specs:
        raise _no_runner(question, wish.languages)
    surveyed = survey(specs, ["full", "soft"])
    texts = [
        text
        for task, mix in zip(question.tasks, mixes, strict=True)
        for text in _selectors(task, mix, surveyed, specs, everything=bool(wish.languages))
    ]
    missing = _why_missing(question, surveyed, wish.languages)
    if not texts and surveyed.failures:
        broken = surveyed.failures[0]
        raise EnvironmentLacking(
            f"no library can answer '{question.title}'", hint=f"{broken.runner}: {broken.message}"
        )
    if not texts:
        first = next(iter(missing.items()), ("", "perbyte list providers ALGORITHM tells who has it"))
        raise EnvironmentLacking(f"no built library has what '{question.title}' needs", hint=": ".join(first))
    request = Request(tuple(parse_selector(text) for text in texts))
    less = "or fewer --sizes or languages"
    budget = partial(budgeted, say=listener.say, raised=wish.raised, hint=less, kept_since=began)
    # never cut: a candidate that is left out for want of time would be missing from the answer
    return conduct(request, policy, listener=listener, lenient=True, budget=budget, cut=False), missing


def _no_runner(question: Question, languages: Sequence[str]) -> EnvironmentLacking:
    """The builds that bring one of the languages asked for, those with most candidates first."""
    specs = [spec for language in languages for spec in locate() if spec.language == language]
    wanted = {name for task in question.tasks for name in task.algorithms}
    has = {spec.name: len(wanted & {*spec.known_algorithms}) for spec in specs}
    first, *more = sorted(filter(has.get, has), key=lambda name: -has[name]) or [*has]
    return EnvironmentLacking(
        f"no runner in {', '.join(languages)} is built",
        hint=f"perbyte build {first}" + (f" (or {', '.join(more)})" if more else ""),
    )


def _selectors(
    task: Task, mix: Mix, surveyed: Survey, specs: Sequence[RunnerSpec], *, everything: bool
) -> list[str]:
    """Selectors of the cells that the task needs: of an opt-in runner only what no other has, or `everything`."""
    texts = []
    for name in task.algorithms:
        algorithm = load().algorithms[name]
        work = set(task.operations(algorithm))
        able = [spec for spec in specs if work <= _offered(surveyed, spec.name, "full", name, task.contract)]
        if not everything:
            able = [spec for spec in able if spec.language not in SLOW_LANGUAGES]
        usual = list({spec.library: spec for spec in reversed(able) if not spec.opt_in}.values())
        tiers = ("full", "soft") if algorithm.accelerated_by and mix.sizes and task.own_sizes else ("full",)
        for spec in able if everything or not usual else usual:
            for cpu in tiers:
                if work <= _offered(surveyed, spec.name, cpu, name, task.contract):
                    texts.append(task.selector(spec.name, algorithm, mix.sizes, [cpu]))
    return texts


def _offered(surveyed: Survey, runner: str, cpu: str, algorithm: str, contract: str) -> set[str]:
    return {
        row.operation
        for row in surveyed.operations(runner, cpu)
        if row.algorithm == algorithm and row.contract == contract
    }


def _why_missing(question: Question, surveyed: Survey, languages: Sequence[str]) -> dict[str, str]:
    slow = {spec.name for spec in locate() if spec.language in SLOW_LANGUAGES and not languages}
    offers = {
        runner: {row.algorithm for row in hello.operations} for (runner, _), hello in surveyed.hellos.items()
    }
    here = {name for runner, known in offers.items() if runner not in slow for name in known}
    only_slow = {name for runner, known in offers.items() if runner in slow for name in known} - here
    names = dict.fromkeys(name for task in question.tasks for name in task.algorithms)
    others = {
        spec.name: spec.known_algorithms
        for spec in locate()
        if (spec.name, "full") not in surveyed.hellos
        and (spec.language in languages if languages else spec.language not in SLOW_LANGUAGES)
    }
    reasons = {}
    for name in names:
        having = [runner for runner, known in others.items() if name in known]
        build = f"; perbyte build {having[0]} would add one" if having else ""
        if name in here:
            reasons[name] = f"no library that is built here has all the operations of this work{build}"
        elif having:
            but = " but in JavaScript" if name in only_slow else ""
            reasons[name] = f"no library that is built here has it{but}{build}"
        elif name in only_slow:
            reasons[name] = (
                "only JavaScript has it here; perbyte advise ... --language javascript counts that"
            )
        else:
            reasons[name] = "no library that Perbyte measures has it" + (
                " in these languages" if languages else ""
            )
    return reasons
