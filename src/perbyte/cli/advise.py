"""`perbyte advise`: what to use on this machine, for this work, and why."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from perbyte import extras
from perbyte.cli.options import Cores, DataRate, DataSize, Listed, PolicyOptions, Seconds, gentle_option, note
from perbyte.cli.sections import SectionedCommand
from perbyte.errors import EXIT_ENVIRONMENT, EXIT_FINE, UsageError
from perbyte.model import Policy, Run
from perbyte.model.cell import COLD, FIRST, IDLE, LOOP, STATES
from perbyte.places import require_writable
from perbyte.report.wording import size_label

if TYPE_CHECKING:
    from perbyte.advise import Case, Together
    from perbyte.app.advising import Wish
    from perbyte.catalogue.questions import Question
    from perbyte.report.advice import Limits, Told
    from perbyte.report.listing import Listing

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
    from perbyte.advise import decide_together
    from perbyte.advise.decision import find_options
    from perbyte.app.advising import Wish, draw_cases, measure_question, read_mix, read_profile
    from perbyte.catalogue.questions import find_question
    from perbyte.cli.conduct import conduct
    from perbyte.cli.ending import note_losses
    from perbyte.cli.measure import read_states
    from perbyte.report.advice import Limits
    from perbyte.report.advicecard import advice_card
    from perbyte.report.advicelibraries import library_table
    from perbyte.report.advicetext import advice_json, render_advice, together_json
    from perbyte.report.listing import records

    if page:
        extras.require("report", "A page")
    profile, known = read_profile(profile)
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
    mixes = [read_mix(task, sizes, histogram) for task in asked.tasks]
    missing: dict[str, str] = {}
    code = EXIT_FINE
    if named:
        from perbyte.app.run_names import find_run
        from perbyte.store import open_run

        run = open_run(find_run(named))
    else:
        policy = PolicyOptions(PRECISION, budget or BUDGET_S, EPOCHS, cores, None, gentle).policy()
        done, missing = measure_question(
            asked,
            mixes,
            wish,
            partial(conduct, policy=policy, quiet=quiet, lenient=True),
            partial(note, quiet=quiet),
        )
        note_losses(done.run, quiet=quiet)
        note(f"run: {done.path}  ({done.run.measuring_s:.1f} s)", quiet=quiet)
        run, code = done.run, done.code
    cases = draw_cases(asked, run, mixes, wish, missing)
    together = decide_together(cases) if len(cases) > 1 and not (mix or asked.alternatives) else None
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
            **({"machines": records(beside)} if beside else {}),
        }
        print(json.dumps(document, indent=1, allow_nan=False))
    else:
        print(render_advice(asked, told, notes, beside, card=card, libraries=libraries), end="")
    lacking = named and not any(find_options(case) for case in cases)
    if lacking:
        note(f"this run has no part of the work; perbyte advise {question} without --run measures it")
    return EXIT_ENVIRONMENT if lacking else code


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


def _beside(question: Question, here: Told, run: Run) -> Listing:
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
