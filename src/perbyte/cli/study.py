"""`perbyte study`: published studies, re-run here and judged claim by claim."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import click

from perbyte import extras
from perbyte.app.lists import runners_by_library
from perbyte.app.runs import open_runs
from perbyte.cli.declared import Options, argument, flag, group, option, takes
from perbyte.cli.doctor import show_rows
from perbyte.cli.options import Html, JsonOption, Output, PolicyOptions
from perbyte.cli.report import HELP, deliver_charts
from perbyte.cli.runs import print_run
from perbyte.cli.streams import note, notes, print_lines
from perbyte.cli.terminal import print_wrapped
from perbyte.datafile import read_text
from perbyte.errors import EXIT_FINE, EXIT_FOUND, UsageError
from perbyte.report.printed import render_judgement
from perbyte.report.studyview import (
    answer_lines,
    claims_page,
    judgement_data,
    seen_rows,
    skeleton_lines,
    study_lines,
)
from perbyte.studies import Judgement, Outcome, find, judge
from perbyte.studies.history import load_history
from perbyte.studies.judge import newest_of_studies
from perbyte.studies.skeleton import About, draw, read_figures, write_study
from perbyte.studies.wording import listing


@click.group("study")
def study_command() -> None:
    """Re-run a published study and judge its claims.

    \b
      perbyte study list
      perbyte study run kompara-2020 --report report.html
      perbyte study judge RUN
    """


@takes("list", JsonOption, study_command)
def list_(options: JsonOption) -> int:
    """List the studies."""
    return show_rows("studies", "*", as_json=options.as_json)


class _StudyOption(Options):
    name: str = argument()


def _print_wrapped(lines: Iterable[str]) -> None:
    for line in "\n".join(lines).split("\n"):
        (print if line.lstrip().startswith("|") else print_wrapped)(line)


@takes("show", _StudyOption, study_command)
def show(options: _StudyOption) -> int:
    """Show a study: its question, method and claims, and what cannot be repeated."""
    _print_wrapped(study_lines(find(options.name)))
    return EXIT_FINE


class _StudyRunOptions(_StudyOption):
    quick: bool = flag("--quick", help="The quick variant: fewer or smaller cells.")
    out: Path | None = option("--out", help="Run directory to create.")
    report: Html | None = option("--report", help="Also write the report here.")
    strict: bool = flag("--strict", help="Exit code 1 if a claim is not reproduced.")
    policy: PolicyOptions = group(PolicyOptions)
    output: Output = group(Output)
    profile: bool = flag("--profile", help="Show where the run spent its time.")


@takes("run", _StudyRunOptions, study_command)
def run(options: _StudyRunOptions) -> int:
    """Measure the cells of study NAME here, judge its claims, and write run, report and charts."""
    from perbyte.app.conducting import conduct, with_counts
    from perbyte.app.requests import budgeted, study_request
    from perbyte.cli.conduct import note_losses
    from perbyte.measure import note_after
    from perbyte.report.gate import profile_lines

    study, output, quick = find(options.name), options.output, options.quick
    given = options.policy.budget is not None
    done = conduct(
        study_request(study, quick=quick),
        options.policy.policy(study.measuring_policy(quick=quick)),
        out=options.out,
        listener=output.listener,
        study=study.name,
        lenient=True,
        budget=partial(budgeted, say=output.note, raised=not given),
        cut=given,  # whole by the study's own budget
    )
    if options.profile:
        notes(profile_lines(done.outcome.timing))
    output.note(f"run: {done.path}  ({done.run.measuring_s:.1f} s of measuring)")
    done = with_counts(done, study, output.listener)
    judgement = judge(study, done.run)
    question, *answers = answer_lines(judgement)
    if output.table:
        _print_wrapped([question])
    print_run(done.run, output)  # who wins and by how much comes first
    if output.table:
        _print_wrapped(["", *answers, ""])
        print(render_judgement(judgement), end="")
    if extras.has("report"):
        from perbyte.report.pages import write_study_pages

        output.note("drawing the page and the charts")
        charts, page = write_study_pages(done.run, done.path, judgement, options.report, note)
        output.note(f"charts: {charts}")
        output.note(f"report: {page}")
    else:
        output.note(f"no page and no charts without the extra 'report': {extras.install_command('report')}")
    note_losses(done.run, quiet=output.quiet)
    note_after(done.run.conditions, done.outcome)
    return done.code or _strictly(options.strict, judgement)


class _JudgeOptions(Options):
    runs: tuple[Path, ...] = argument(nargs=-1, required=True)
    name: str | None = option("--study", help="Study with the claims.  [that of the run]")
    numbers: bool = flag("--numbers", help="Print all deciding numbers.")
    as_json: bool = flag("--json", help="Print JSON.")
    seen: bool = flag("--seen", help="Print the verdicts as lines of the study's seen.csv.")
    strict: bool = flag("--strict", help="Exit code 1 if a claim is not reproduced.")


@takes("judge", _JudgeOptions, study_command)
def judge_(options: _JudgeOptions) -> int:
    """Judge a study's claims on RUNS without measuring."""
    opened = open_runs(options.runs)
    name = options.name or opened[0].conditions.study
    if not name:
        raise UsageError("this run was not made for a study", hint="name one: --study kompara-2020")
    judgement = judge(find(name), opened)
    if options.seen:
        print(seen_rows(judgement, opened), end="")
    elif options.as_json:
        print(json.dumps(judgement_data(judgement), indent=2, ensure_ascii=False))
    else:
        _print_wrapped(answer_lines(judgement))
        print(render_judgement(judgement, numbers=options.numbers), end="")
    return _strictly(options.strict, judgement)


class _PageOptions(_StudyOption):
    runs: tuple[Path, ...] = argument(nargs=-1)
    output: Path | None = option("-o", "--output", help="File to write.  [the terminal]")


@takes("page", _PageOptions, study_command)
def page(options: _PageOptions) -> int:
    """Write the claims of study NAME as a Markdown page, with the verdicts in print and on RUNS."""
    from perbyte.report.files import written

    study, opened = find(options.name), open_runs(options.runs)
    text = claims_page(study, judge(study, opened) if opened else None, opened)
    if options.output is None:
        print(text, end="")
    else:
        written(options.output, lambda part: part.write_text(text, encoding="utf-8"), note)
    return EXIT_FINE


ASKED = ("title", "author", "year", "citation", "question", "machine")  # at the terminal, where not given


class _NewOptions(_StudyOption):
    figures: Path = argument()
    into: Path = option("--into", default=Path("studies"), show_default=True)
    title: str | None = option("--title", help="Title of the publication.")
    author: str | None = option("--author", help="Its authors.")
    year: int | None = option("--year", help="Year of publication.")
    citation: str | None = option("--citation", help="Where it was published.")
    question: str | None = option("--question", help="Its question, in your words.")
    machine: str | None = option("--machine", help="The machine that it used.")
    clock: float | None = option("--clock", help="The machine's clock in GHz, if it is published.")
    contract: str = option(
        "--contract", default="", help="What one timed call is.  [the usual one of most figures]"
    )

    def answers(self, machine: str | None) -> dict[str, Any]:
        """Values, or what is answered at the terminal; `machine`: the table's. Raises UsageError without one."""
        given = {name: getattr(self, name) for name in ASKED}
        given["machine"] = given["machine"] or machine
        missing = [f"--{name}" for name, value in given.items() if value is None]
        if missing and not sys.stdin.isatty():
            verb = "is" if len(missing) == 1 else "are"
            raise UsageError(
                f"{listing(missing)} {verb} not given, and there is no terminal to ask at",
                hint=" ".join(f"{option} ..." for option in missing),
            )
        for name in [name for name, value in given.items() if value is None]:
            given[name] = click.prompt(name.capitalize(), type=int if name == "year" else str, err=True)
        return given


@takes("new", _NewOptions, study_command)
def new(options: _NewOptions) -> int:
    """Write the skeleton of a study NAME from a CSV table of printed FIGURES and a few answers.

    It asks for everything that is not given as an option.
    """
    folder = options.into / options.name
    if folder.exists():
        raise UsageError(f"{folder} exists already", hint="choose another name, or another place with --into")
    table = read_figures(read_text(options.figures), runners=runners_by_library(), place=str(options.figures))
    clock_hz = options.clock * 1e9 if options.clock else None
    about = About(**options.answers(table.machine), clock_hz=clock_hz, contract=options.contract)
    print_lines(skeleton_lines(folder, write_study(folder, draw(about, table))))
    run = f"PERBYTE_STUDIES={options.into} perbyte study run {options.name} --quick"
    note(f"next: write its claims and notes, then {run}")
    return EXIT_FINE


class _TimelineOptions(Options):
    runs: tuple[Path, ...] = argument(nargs=-1)
    charts: tuple[Path, ...] = option("--chart", help="Also write a chart to this file.")


@takes("timeline", _TimelineOptions, study_command)
def timeline(options: _TimelineOptions) -> int:
    """Print the cost of AES, SHA and ChaCha per byte through the years, from all studies and RUNS, with sources.

    Without RUNS: the newest run of each study here.
    """
    from perbyte.report.document import Picture
    from perbyte.report.history import history_chart, timeline_of, timeline_text
    from perbyte.report.pictures import check_chart

    for path in options.charts:
        if path.stem != HELP:
            check_chart(path, ("timeline",))
    history = load_history(open_runs(options.runs or newest_of_studies()))
    print(timeline_text(history), end="")
    if options.charts and (chart := history_chart(timeline_of(history))) is not None:
        drawn = {"timeline": Picture("timeline", "Cycles per byte through the years", chart)}
        deliver_charts(drawn, options.charts)
    return EXIT_FINE


def _strictly(strict: bool, judgement: Judgement) -> int:
    return EXIT_FOUND if strict and judgement.count(Outcome.NOT_REPRODUCED) else EXIT_FINE
