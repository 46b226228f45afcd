"""`perbyte advise`: what to use on this machine, for this work, and why."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from perbyte.cli.declared import Options, SectionedCommand, argument, flag, group, option, takes
from perbyte.cli.options import Day, Html, PlaceOptions, PolicyOptions, QuietOption, Rate, Size, Time, Words
from perbyte.cli.streams import note, note_once, print_json
from perbyte.errors import EXIT_FINE, UsageError
from perbyte.model import Policy, Run
from perbyte.model.cell import COLD, FIRST, IDLE

if TYPE_CHECKING:
    from perbyte.advise import Mix, Together
    from perbyte.app.advising import PartAnswer, Wish
    from perbyte.catalogue.questions import Question
    from perbyte.report.advice import Limits, Told

QUESTIONS = (
    *("disk", "tls", "archive", "message", "hash", "checksum", "signature", "kem", "password", "disk-2013"),
)
SECTIONS = {
    "What is allowed": "profile date strength languages",
    "Your work": "rate sizes histogram volume peer mix time_s memory",
    "What else to measure": "threads states disk",
    "How long, and where": "budget cores gentle named",
    "Output": "as_json page quiet",
}
BUDGET_S, PRECISION, EPOCHS = 20.0, 0.01, 3
BEYOND_S, BEYOND_EPOCHS = 30.0, 5


class _AdviseOptions(Options):
    question: str = argument(type=click.Choice(QUESTIONS), metavar="|".join(QUESTIONS[:-1]))
    profile: str = option(
        "--profile", default="none", help="Rules of nist, cnsa2, bsi, ietf, none, or a file (.toml).  [none]"
    )
    date: Day | None = option("--date", help="The day for which the rules count: 2032-01-01.  [today]")
    strength: Literal["128", "192", "256"] | None = option(
        "--strength", help="Bits of security at the least.  [those of the question]"
    )
    languages: Words | None = option("--language", help="Only libraries of these languages: c,java...")
    peer: Literal["no-aes-hardware"] | None = option("--peer", help="What the other side lacks (tls).")
    mix: bool = flag("--mix", help="Take the best library for each part, not one for all (tls).")
    rate: Rate | None = option("--rate", help="Your data rate: 2GB/s.")
    sizes: str | None = option("--sizes", help="Sizes of your messages: 64,1350,16KiB.")
    histogram: Path | None = option("--histogram", help="Your sizes: lines of 'size count'.")
    threads: str | None = option("--threads", help="Also measure on several cores at once: 1,2,all.")
    states: bool = flag("--states", help="Also measure a first call, emptied caches, and after a sleep.")
    volume: Size | None = option("--volume", help="Data under one key: 1TB.")
    disk: Path | None = option("--path", help="Also measure the disk of a directory (disk).")
    time_s: Time = option("--time", default="250ms", help="Time of a password hash.  [250ms]")
    memory: Size = option("--memory", default="64MiB", help="Memory of a password hash.  [64MiB]")
    named: Path | None = option("--run", help="Use this run instead of measuring.")
    budget: Time | None = option("--budget", help=f"Measuring time.  [{BUDGET_S:.0f}s, or more if needed]")
    place: PlaceOptions = group(PlaceOptions)
    as_json: bool = flag("--json", help="Print JSON.")
    page: Html | None = option("--report", help="Also write the answer as an HTML page.")
    notes: QuietOption = group(QuietOption)

    def check(self) -> None:
        """Raise UsageError for what excludes or needs something else, and where the page cannot be written."""
        if self.peer and self.question != "tls":
            raise UsageError("--peer is only for tls", hint="perbyte advise tls --peer no-aes-hardware")
        if self.disk and not self.question.startswith("disk"):
            raise UsageError("--path is only for disk", hint="perbyte advise disk --path DIR")
        if self.memory < 1 << 20 or self.time_s > 60:
            message = "a password hash takes 1 MiB or more and 60 s at the most"
            raise UsageError(message, hint="--time 100ms --memory 19MiB")
        if self.sizes and self.histogram:
            raise UsageError("--sizes and --histogram exclude each other")

    def policy(self, budget_s: float, epochs: int) -> Policy:
        """How a run for an answer measures."""
        return PolicyOptions(
            self.place.gentle, self.place.cores, PRECISION, budget_s, epochs, seed=None
        ).policy()


@takes("advise", _AdviseOptions, cls=SectionedCommand, sections=SECTIONS)
def advise_command(options: _AdviseOptions) -> int:
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
    from perbyte.app.advising import answer_all, draw_cases, lacks_figures, read_mix
    from perbyte.app.requests import read_states
    from perbyte.catalogue.questions import find_question
    from perbyte.report.advice import tell

    asked = find_question(options.question)
    wish = _wish(options, asked)
    options.check()
    beyond = (
        read_states((COLD, FIRST, IDLE) if options.states else (), options.threads, options.place.cores) or ()
    )
    limits = _limits(options)
    mixes = [read_mix(task, options.sizes, options.histogram) for task in asked.tasks]
    run, missing, code = _run(options, asked, mixes, wish)
    cases = draw_cases(asked, run, mixes, wish, missing)
    if options.named and not any(find_options(case) for case in cases):
        raise lacks_figures(options.question, run)
    together = decide_together(cases) if len(cases) > 1 and not (options.mix or asked.alternatives) else None
    told = [
        tell(answer.decided, answer.changes, _beyond(answer, beyond, options, limits), answer.everything)
        for answer in answer_all(cases, wish, together)
    ]
    _print(options, wish, asked, run, told, together)
    return code


def _wish(options: _AdviseOptions, question: Question) -> Wish:

    from perbyte.advise import Asked
    from perbyte.app.advising import Wish, read_profile

    profile, known = read_profile(options.profile)
    day = options.date or datetime.datetime.now(datetime.UTC).date()
    volume, strength = options.volume or question.volume_bytes, int(options.strength or 0)
    asked = Asked(day, profile, volume, known, strength, assumed=options.volume is None)
    work = (options.time_s * 1e9, options.memory, not options.budget)
    return Wish(asked, options.languages or (), bool(options.peer), *work)


def _run(
    options: _AdviseOptions, asked: Question, mixes: Sequence[Mix], wish: Wish
) -> tuple[Run, dict[str, str], int]:

    from perbyte.app.advising import measure_question
    from perbyte.app.conducting import held_said_soon
    from perbyte.app.runs import find_run
    from perbyte.cli.conduct import note_losses
    from perbyte.store import open_run

    if options.named:
        return open_run(find_run(options.named)), {}, EXIT_FINE
    policy = options.policy(options.budget or BUDGET_S, EPOCHS)
    with held_said_soon(policy, note_once):
        done, missing = measure_question(asked, mixes, wish, policy, options.notes.listener)
    note_losses(done.run, quiet=options.notes.quiet)
    options.notes.note(f"run: {done.path}  ({done.run.measuring_s:.1f} s)")
    return done.run, missing, done.code


def _print(
    options: _AdviseOptions,
    wish: Wish,
    asked: Question,
    run: Run,
    told: Sequence[Told],
    together: Together | None,
) -> None:

    from perbyte.app.advising import on_machines
    from perbyte.report.advice import side_by_side
    from perbyte.report.advicecard import Advice, answers_json, render_advice

    machines = side_by_side(*on_machines(asked.study, told[0].decision.case, run)) if asked.study else None
    advice = Advice(asked, run, told, together, options.rate, machines)
    if options.page:
        from perbyte.report.advicepage import advice_page
        from perbyte.report.html import write

        options.notes.note(f"page: {write(advice_page(advice), options.page, note)}")
    if options.as_json:
        named = {"question": options.question, "profile": wish.asked.profile, "date": str(wish.asked.date)}
        print_json(answers_json(advice, named))
    else:
        print(render_advice(advice), end="")


def _limits(options: _AdviseOptions) -> Limits:
    """What lies around a disk's cipher: the disk's own rate where a directory was named, and the kernel's code."""
    from perbyte.measure.disk import disk_rates
    from perbyte.report.advice import Limits
    from perbyte.runners.cryptsetup import kernel_lines

    if options.question != "disk":
        return Limits(rate=options.rate)
    if options.disk is None:
        return Limits(rate=options.rate, kernel=kernel_lines())
    rates = disk_rates(options.disk)
    how = "direct I/O" if rates.direct else "through the page cache, so these rates may be too high"
    size = f"{rates.bytes >> 20} MiB written and read back"
    options.notes.note(f"disk of {options.disk}: {size}, {how}")
    by = {"read": rates.read, "write": rates.write}
    return Limits(options.rate, by, kernel_lines(), "" if rates.direct else how)


def _beyond(answer: PartAnswer, states: tuple[str, ...], options: _AdviseOptions, limits: Limits) -> Limits:
    """`limits` with what the recommended option does in `states` that no loop on one core has: a run of its own."""
    from perbyte.advise import PasswordDecision
    from perbyte.app.advising import beyond_loop
    from perbyte.app.conducting import conduct
    from perbyte.report.advice import beyond_texts

    decision = answer.decided
    if not states or isinstance(decision, PasswordDecision) or not (wanted := beyond_loop(decision, states)):
        return limits
    request, smallest, largest = wanted
    policy = options.policy(BEYOND_S, BEYOND_EPOCHS)
    done = conduct(request, policy, listener=options.notes.listener, lenient=True)
    options.notes.note(f"run: {done.path}  ({done.run.measuring_s:.1f} s)")
    single, together = beyond_texts(decision, done.run.cells, smallest, largest)
    return replace(limits, threads=together, states=single)
