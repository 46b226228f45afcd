"""`perbyte advise`: what to use on this machine, for this work, and why."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from perbyte import extras
from perbyte.cli.options import Cores, DataRate, DataSize, Listed, PolicyOptions, Seconds, gentle_option, note
from perbyte.cli.sections import SectionedCommand
from perbyte.errors import EXIT_ENVIRONMENT, EXIT_FINE, EnvironmentLacking, UsageError
from perbyte.model import Policy, Run
from perbyte.model.cell import COLD, FIRST, IDLE, LOOP, STATES
from perbyte.places import require_writable
from perbyte.report.wording import size_label

if TYPE_CHECKING:
    from perbyte.advise import Case, Mix, Together
    from perbyte.catalogue.questions import Question, Task
    from perbyte.catalogue.status import Authority
    from perbyte.measure import Survey
    from perbyte.report.advice import Limits, Told
    from perbyte.report.advicetext import Table
    from perbyte.runners import RunnerSpec

QUESTIONS = (
    "disk",
    "tls",
    "archive",
    "message",
    "hash",
    "checksum",
    "signature",
    "kem",
    "password",
    "disk-2013",
)
SECTIONS = {
    "What is allowed": ("profile", "date", "languages"),
    "Your work": ("rate", "sizes", "histogram", "volume", "peer", "mix", "time_s", "memory"),
    "What else to measure": ("threads", "states", "disk"),
    "How long, and where": ("budget", "cores", "gentle", "named"),
    "Output": ("as_json", "page", "quiet"),
}
BUDGET_S, PRECISION, EPOCHS = 20.0, 0.01, 3
BEYOND_S, BEYOND_EPOCHS = 30.0, 5
NO_AES = "no-aes-hardware"


@dataclass(frozen=True, slots=True)
class Wish:
    """What was said on the command line, beside what is measured."""

    profile: str
    date: datetime.date
    volume_bytes: float | None
    languages: tuple[str, ...]
    peer: bool
    time_ns: float
    memory_bytes: int
    known: Mapping[str, Authority] | None = None


@click.command("advise", cls=SectionedCommand, sections=SECTIONS)
@click.argument("question", type=click.Choice(QUESTIONS), metavar="|".join(QUESTIONS[:-1]))
@click.option(
    "--profile", default="none", help="Rules of nist, cnsa2, bsi, ietf, none, or a file (.toml).  [none]"
)
@click.option("--date", type=click.DateTime(["%Y-%m-%d"]), help="The day for which the rules count.  [today]")
@click.option("--language", "languages", type=Listed(), help="Only libraries of these languages: c,java...")
@click.option("--peer", type=click.Choice([NO_AES]), help="What the other side lacks (tls).")
@click.option("--mix", is_flag=True, help="Take the best library for each part, not one for all (tls).")
@click.option("--rate", type=DataRate(), help="Your data rate: 2GB/s.")
@click.option("--sizes", help="Sizes of your messages: 64,1350,16KiB.")
@click.option("--histogram", type=click.Path(path_type=Path), help="Your sizes: lines of 'size count'.")
@click.option("--threads", help="Also measure on several cores at once: 1,2,all.")
@click.option("--states", is_flag=True, help="Also measure a first call, emptied caches, and after a sleep.")
@click.option("--volume", type=DataSize(), help="Data under one key: 1TB.")
@click.option(
    "--path", "disk", type=click.Path(path_type=Path), help="Also measure the disk of a directory (disk)."
)
@click.option("--time", "time_s", type=Seconds(), default="250ms", help="Time of a password hash.  [250ms]")
@click.option("--memory", type=DataSize(), default="64MiB", help="Memory of a password hash.  [64MiB]")
@click.option("--run", "named", type=click.Path(path_type=Path), help="Use this run instead of measuring.")
@click.option("--budget", type=Seconds(), help=f"Measuring time.  [{BUDGET_S:.0f}s, or more if needed]")
@click.option("--cores", "--core", "cores", type=Cores(), help="Cores to measure on.  [all of one kind]")
@gentle_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--report", "page", type=click.Path(path_type=Path), help="Also write the answer as an HTML page."
)
@click.option("-q", "--quiet", is_flag=True, help="No progress and no notes.")
def command(
    question: str,
    profile: str,
    date: datetime.datetime | None,
    languages: tuple[str, ...] | None,
    peer: str | None,
    mix: bool,
    rate: float | None,
    sizes: str | None,
    histogram: Path | None,
    threads: str | None,
    states: bool,
    volume: int | None,
    disk: Path | None,
    time_s: float,
    memory: int,
    named: Path | None,
    budget: float | None,
    cores: tuple[int, ...] | None,
    gentle: bool,
    as_json: bool,
    page: Path | None,
    quiet: bool,
) -> int:
    """Recommend what to use on this machine, and why: allowed by authorities, and measured here.

    \b
      perbyte advise disk
      perbyte advise tls --peer no-aes-hardware --rate 10Gbit/s
      perbyte advise hash --profile nist --date 2036-01-01
      perbyte advise message --histogram sizes.txt --report advice.html
      perbyte advise password --time 100ms --memory 19MiB
    """
    from perbyte.advise.decision import find_options
    from perbyte.catalogue.questions import find_question
    from perbyte.cli.measure import read_states
    from perbyte.report.advice import Limits
    from perbyte.report.advicecard import advice_card
    from perbyte.report.advicelibraries import library_table
    from perbyte.report.advicetext import advice_json, render_advice, together_json

    if page:
        extras.require("report", "A page")
    profile, known = _profile(profile)
    if peer and question != "tls":
        raise UsageError("--peer is only for tls", hint=f"perbyte advise tls --peer {NO_AES}")
    if disk and not question.startswith("disk"):
        raise UsageError("--path is only for disk", hint="perbyte advise disk --path DIR")
    if sizes and histogram:
        raise UsageError("--sizes and --histogram exclude each other")
    if page:
        require_writable(page)
    wanted = read_states((COLD, FIRST, IDLE) if states else (), threads, cores) or ()
    asked = find_question(question)
    wish = Wish(
        profile,
        date.date() if date else datetime.datetime.now(datetime.UTC).date(),
        volume,
        languages or (),
        bool(peer),
        time_s * 1e9,
        memory,
        known,
    )
    limits = Limits(rate=rate)
    if question == "disk":
        limits = _limits(rate, disk, quiet)
    mixes = [_mix(task, sizes, histogram) for task in asked.tasks]
    missing: dict[str, str] = {}
    code = EXIT_FINE
    if named:
        from perbyte.app.run_names import find_run
        from perbyte.store import open_run

        run = open_run(find_run(named))
    else:
        policy = PolicyOptions(PRECISION, budget or BUDGET_S, EPOCHS, cores, None, gentle).policy()
        run, missing, code = _measure(asked, mixes, wish, policy, quiet)
    cases = _cases(asked, run, mixes, wish, missing)
    together = _one_library(cases) if len(cases) > 1 and not (mix or asked.alternatives) else None
    told = _answers(cases, wish, limits, together)
    if wanted:
        policy = PolicyOptions(PRECISION, BEYOND_S, BEYOND_EPOCHS, cores, None, gentle).policy()
        told = [_beyond(advice, wanted, policy, limits, quiet) for advice in told]
    beside = _beside(asked, told[0], run) if asked.study else None
    notes = [*([asked.note] if asked.note else []), _source(run)]
    card = advice_card(told, together, rate, alternatives=asked.alternatives)
    libraries = library_table(together, [advice.title for advice in told]) if together else None
    if page:
        from perbyte.report.advicepage import advice_page
        from perbyte.report.html import write

        note(
            f"page: {write(advice_page(asked, told, run, notes, card, beside, libraries), page)}", quiet=quiet
        )
    if as_json:
        document = {
            "schema_version": 1,
            "question": question,
            "profile": wish.profile,
            "date": str(wish.date),
            "run": str(run.path) if run.path else run.conditions.run_id,
            "tasks": [advice_json(advice) for advice in told],
            **({"together": together_json(together)} if together else {}),
            "notes": notes,
            **({"machines": [dict(zip(beside[0], row, strict=True)) for row in beside[1]]} if beside else {}),
        }
        print(json.dumps(document, indent=1, allow_nan=False))
    else:
        print(render_advice(asked, told, notes, beside, card=card, libraries=libraries), end="")
    lacking = named and not any(find_options(case) for case in cases)
    if lacking:
        note(f"this run has no part of the work; perbyte advise {question} without --run measures it")
    return EXIT_ENVIRONMENT if lacking else code


def _profile(name: str) -> tuple[str, Mapping[str, Authority] | None]:
    """The profile of that name, or that of the user's own file, with all statuses then. Raises UsageError."""
    from perbyte.catalogue import load
    from perbyte.catalogue.status import own_profile, profiles

    if name in profiles():
        return name, None
    path = Path(name)
    if path.suffix == ".toml":
        return own_profile(path, load().algorithms)
    hint = f"there are: {', '.join(profiles())}; a profile of your own is a file that ends in .toml"
    raise UsageError(f"there is no profile '{name}'", hint=hint)


def _limits(rate: float | None, disk: Path | None, quiet: bool) -> Limits:
    """What lies around a disk's cipher: the disk's own rate where a directory was named, and the kernel's code."""
    from perbyte.measure.disk import disk_rates
    from perbyte.report.advice import Limits
    from perbyte.runners.cryptsetup import kernel_lines

    if disk is None:
        return Limits(rate=rate, kernel=kernel_lines())
    rates = disk_rates(disk)
    how = "direct I/O" if rates.direct else "through the page cache, so these rates may be too high"
    note(f"disk of {disk}: {rates.bytes >> 20} MiB written and read back, {how}", quiet=quiet)
    return Limits(
        rate, {"read": rates.read, "write": rates.write}, kernel_lines(), "" if rates.direct else how
    )


def _mix(task: Task, sizes: str | None, histogram: Path | None) -> Mix:
    from perbyte.advise import Mix, read_histogram
    from perbyte.catalogue import load, parse_sizes

    if not task.own_sizes or not (sizes or histogram):
        return Mix(task.sizes)
    multiple = max(load().algorithms[name].data_multiple_bytes for name in task.algorithms)
    if histogram:
        return read_histogram(histogram, multiple)
    named = parse_sizes(str(sizes))
    if odd := [size for size in named if size % multiple]:
        raise UsageError(f"{odd[0]} bytes is not a multiple of {multiple}", hint="leave that size out")
    return Mix(named)


def _cases(
    question: Question, run: Run, mixes: Sequence[Mix], wish: Wish, missing: Mapping[str, str]
) -> list[Case]:
    from perbyte.advise import Asked, Case, View
    from perbyte.catalogue import load

    asked = Asked(wish.date, wish.profile, wish.volume_bytes or question.volume_bytes, wish.known)
    runners = _runners_of(run, wish.languages)
    return [
        Case(
            task,
            asked,
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


def _one_library(cases: Sequence[Case]) -> Together:
    from perbyte.advise import decide_together

    return decide_together(cases)


def _answers(cases: Sequence[Case], wish: Wish, limits: Limits, together: Together | None) -> list[Told]:
    """The answer to each part: by the library that `together` recommends for all, where there is one."""
    from perbyte.advise import changes, decide, decide_passwords
    from perbyte.report.advice import tell

    told = []
    for number, case in enumerate(cases):
        if case.task.use == "password":
            told.append(tell(decide_passwords(case, wish.time_ns, wish.memory_bytes), (), limits))
            continue
        everything = decide(case)
        own = together.first.decisions[number] if together and together.first else everything
        decision = own if own.first else everything
        told.append(tell(decision, changes(decision), limits, everything))
    return told


def _beside(question: Question, here: Told, run: Run) -> Table:
    """The machines of the question's study from its own figures, and this one: then and now."""
    from perbyte.advise import decide
    from perbyte.report.advice import side_by_side
    from perbyte.studies import find, published_run

    study = find(question.study)
    then = datetime.date(study.year, 12, 31)
    case = here.decision.case
    machines = []
    for machine in study.machines:
        now = replace(case, figures=published_run(study, machine.id).cells, floor=None, runners=frozenset())
        machines.append((machine.name, now))
    machines.append((f"{run.conditions.machine.cpu_model or 'this machine'}, measured", case))
    return side_by_side(
        [
            (name, decide(replace(now, asked=replace(now.asked, date=then))), decide(now))
            for name, now in machines
        ],
        study.year,
    )


def _runners_of(run: Run, languages: Sequence[str]) -> frozenset[str]:
    """The run's runners whose language is among `languages`; none as a restriction where all count."""
    if not languages:
        return frozenset()
    known = _languages()
    own = {figure.cell.runner for figure in run.cells}
    return frozenset(name for name in own if known.get(name) in languages) or frozenset({""})


def _languages() -> dict[str, str]:
    from perbyte.runners import locate

    return {spec.name: spec.language for spec in locate()}


def _measure(
    question: Question,
    mixes: Sequence[Mix],
    wish: Wish,
    policy: Policy,
    quiet: bool,
) -> tuple[Run, dict[str, str], int]:
    """Measure what the question needs; also why candidates have no figure, and the exit code."""
    from perbyte.catalogue import parse_selector
    from perbyte.cli.conduct import build_needed, conduct
    from perbyte.cli.ending import note_losses
    from perbyte.measure import Request, built_runners, survey

    build_needed(["*"], quiet=quiet)
    specs = [spec for spec in built_runners() if not wish.languages or spec.language in wish.languages]
    if not specs:
        raise EnvironmentLacking(
            f"no runner in {', '.join(wish.languages)} is built",
            hint="perbyte list runners shows their languages; perbyte build NAME builds one",
        )
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
        first = next(iter(missing.items()), ("", "perbyte list providers NAME tells who has an algorithm"))
        raise EnvironmentLacking(f"no built library has what '{question.title}' needs", hint=": ".join(first))
    request = Request(tuple(parse_selector(text) for text in texts))
    # never cut: a candidate that is left out for want of time would be missing from the answer
    done = conduct(request, policy, quiet=quiet, lenient=True)
    note_losses(done.run, quiet=quiet)
    note(f"run: {done.path}  ({done.run.measuring_s:.1f} s)", quiet=quiet)
    return done.run, missing, done.code


def _selectors(
    task: Task, mix: Mix, surveyed: Survey, specs: Sequence[RunnerSpec], *, everything: bool
) -> list[str]:
    """Selectors of the cells that the task needs: of an opt-in runner only what no other has, or `everything`."""
    from perbyte.catalogue import load

    texts = []
    for name in task.algorithms:
        algorithm = load().algorithms[name]
        work = set(task.operations(algorithm))
        able = [spec for spec in specs if work <= _offered(surveyed, spec.name, "full", name, task.contract)]
        usual = list({spec.library: spec for spec in reversed(able) if not spec.opt_in}.values())
        tiers = ("full", "soft") if algorithm.accelerated_by and mix.sizes and task.own_sizes else ("full",)
        for spec in able if everything or not usual else usual:
            for cpu in tiers:
                if work <= _offered(surveyed, spec.name, cpu, name, task.contract):
                    sizes = ",".join(map(str, mix.sizes))
                    operations = "{" + ",".join(sorted(work)) + "}" if len(work) > 1 else "".join(work)
                    texts.append(
                        f"{spec.name}/{name}/{operations}@{sizes}+contract={task.contract}+cpu={cpu}"
                    )
    return texts


def _offered(surveyed: Survey, runner: str, cpu: str, algorithm: str, contract: str) -> set[str]:
    return {
        row.operation
        for row in surveyed.operations(runner, cpu)
        if row.algorithm == algorithm and row.contract == contract
    }


def _why_missing(question: Question, surveyed: Survey, languages: Sequence[str]) -> dict[str, str]:
    """Why candidates that nobody built offers have no figure, and who would have them."""
    from perbyte.cli.listing import known_algorithms
    from perbyte.runners import locate

    here = {row.algorithm for hello in surveyed.hellos.values() for row in hello.operations}
    names = dict.fromkeys(name for task in question.tasks for name in task.algorithms)
    others = {
        spec.name: known_algorithms(spec.here)
        for spec in locate()
        if (spec.name, "full") not in surveyed.hellos and (not languages or spec.language in languages)
    }
    reasons = {}
    for name in names:
        having = [runner for runner, known in others.items() if name in known]
        if name in here:
            reasons[name] = "no library that is built here has all the operations of this work"
        elif having:
            reasons[name] = f"no library that is built here has it; perbyte build {having[0]} would add one"
        else:
            reasons[name] = "no library that Perbyte measures has it" + (
                " in these languages" if languages else ""
            )
    return reasons


def _beyond(told: Told, states: tuple[str, ...], policy: Policy, limits: Limits, quiet: bool) -> Told:
    """The answer with what the recommended option does in `states` that no loop on one core has: a run of its own."""
    from perbyte.advise import changes, decide
    from perbyte.catalogue import parse_selector
    from perbyte.cli.conduct import conduct
    from perbyte.measure import Request
    from perbyte.report.advice import tell
    from perbyte.report.advicewords import option_text
    from perbyte.report.beyond import states_texts, threads_texts

    first = told.decision.first
    if not first or told.passwords:
        return told
    sizes = sorted(figure.cell.size_bytes for figure in first.best.figures.values())
    cells = [figure.cell for figure in first.best.figures.values()]
    single = [state for state in states if state in STATES and state != LOOP]
    together = [state for state in states if state not in STATES]
    texts = [
        f"{next(cell for cell in cells if cell.size_bytes == size).address}+state={','.join(wanted)}"
        for size, wanted in ((sizes[0], [LOOP, *single] if single else []), (sizes[-1], together))
        if wanted
    ]
    done = conduct(Request(tuple(parse_selector(text) for text in texts)), policy, quiet=quiet, lenient=True)
    note(f"run: {done.path}  ({done.run.measuring_s:.1f} s)", quiet=quiet)

    def headed(lines: tuple[str, ...], size: int) -> tuple[str, ...]:
        operation = next(cell.operation for cell in cells if cell.size_bytes == size)
        return (f"{option_text(first.best)}, {operation}, {size_label(size)}:", *lines) if lines else ()

    unit = told.decision.case.task.unit
    limits = replace(
        limits,
        threads=headed(threads_texts(done.run.cells), sizes[-1]),
        states=headed(states_texts(done.run.cells, unit), sizes[0]),
    )
    everything = decide(replace(told.decision.case, runners=frozenset()))
    return tell(told.decision, changes(told.decision), limits, everything)


def _source(run: Run) -> str:
    """Where the figures are from."""
    conditions = run.conditions
    where = conditions.machine.cpu_model or "this machine"
    when = f"{conditions.started_at[:10]}, on {where}; {run.measuring_s:.0f} s of measuring"
    return f"Figures: run {conditions.run_id}, {when}."
