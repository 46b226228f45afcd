"""`perbyte study`: published studies, re-run here and judged claim by claim."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from perbyte.cli.options import note, output_options, policy_options, profile_option
from perbyte.errors import EXIT_FINE, EXIT_FOUND, UsageError
from perbyte.places import require_writable

if TYPE_CHECKING:
    from perbyte.model import Run


@click.group("study")
def command() -> None:
    """Re-run a published study and judge its claims.

    \b
      perbyte study list
      perbyte study run kompara-2020 --report report.html
      perbyte study judge RUN
    """


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(as_json: bool) -> int:
    """List the studies."""
    from perbyte.cli.listing import show_rows

    show_rows("studies", "*", as_json)
    return EXIT_FINE


@command.command("show")
@click.argument("name")
def show(name: str) -> int:
    """Show what a study asked, how it measured, what it claims and what cannot be repeated."""
    from perbyte.studies import find

    study = find(name)
    print(f"{study.title}\n{', '.join(study.authors)}, {study.year} ({study.language})\n{study.citation}\n")
    print(f"Question: {study.question}\n")
    print("Method as far as it is published:")
    for line in study.method:
        print(f"  - {line}")
    for machine in study.machines:
        clock = f", {machine.clock_hz / 1e9:g} GHz" if machine.clock_hz else ""
        print(f"Machine: {'; '.join((f'{machine.name}{clock}', *machine.facts))}")
    print("\nAssumptions made here:")
    for assumption in study.assumptions:
        print(f"  - {assumption.what} {assumption.why}")
    print(f"\n{len(study.published)} published figures, {len(study.claims)} claims:")
    for claim in study.claims:
        print(f"  {claim.id:32} {claim.says}")
    print("\nNotes\n")
    print(study.notes.rstrip())
    return EXIT_FINE


@command.command("run")
@click.argument("name")
@click.option("--quick", is_flag=True, help="The quick variant: fewer or smaller cells.")
@click.option("--out", type=click.Path(path_type=Path), help="Run directory to create.")
@click.option("--report", type=click.Path(path_type=Path), help="Also write the report here.")
@click.option("--strict", is_flag=True, help="Exit code 1 when a claim is not reproduced.")
@policy_options
@output_options
@profile_option
def run(
    name: str,
    quick: bool,
    out: Path | None,
    report: Path | None,
    strict: bool,
    precision: float | None,
    budget: float | None,
    epochs: int | None,
    cores: tuple[int, ...] | None,
    seed: int | None,
    gentle: bool,
    as_json: bool,
    as_csv: bool,
    unit: str | None,
    quiet: bool,
    profile: bool,
) -> int:
    """Measure the cells of study NAME here, judge its claims, write run, report and figures."""
    from perbyte.catalogue import parse_selector
    from perbyte.cli.conduct import conduct
    from perbyte.cli.ending import note_losses, note_profile
    from perbyte.cli.measure import budgeted, read_policy
    from perbyte.cli.report import write_charts, write_html
    from perbyte.cli.show import print_run
    from perbyte.measure import Request
    from perbyte.report.text import render_judgement
    from perbyte.studies import find, judge

    study = find(name)
    if report:
        require_writable(report)
    policy = study.measuring_policy(quick=quick)
    policy = read_policy(precision, budget, epochs, cores, seed, gentle=gentle, start=policy)
    request = Request(
        tuple(parse_selector(text) for text in study.selectors(quick=quick)), contracts=(study.contract,)
    )
    done = conduct(
        request,
        policy,
        out=out,
        quiet=quiet,
        study=study.name,
        lenient=True,
        budget=lambda prepared: budgeted(prepared, raised=budget is None, quiet=quiet),
        cut=budget is not None,  # by its own budget a study is measured whole
    )
    if profile:
        note_profile(done.timing)
    note(f"run: {done.path}  ({done.run.measuring_s:.1f} s of measuring)", quiet=quiet)
    judgement = judge(study, done.run)
    if not (as_json or as_csv):
        print(f"{study.question}\n" + "".join(f"  {line}\n" for line in judgement.answers))
    print_run(done.run, unit, as_json=as_json, as_csv=as_csv)
    if not (as_json or as_csv):
        print()
        print(render_judgement(judgement), end="")
    places = [write_html(done.run, done.path / "report.html", judgement)]
    if report:
        places.append(write_html(done.run, report, judgement))
    write_charts(done.run, done.path / "charts", judgement)
    note(f"charts: {done.path / 'charts'}", quiet=quiet)
    note(f"report: {places[-1]}", quiet=quiet)
    note_losses(done.run, quiet=quiet)
    return done.code or _strictly(strict, judgement)


@command.command("judge")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--study", "name", help="Study to judge by.  [the one the run was made for]")
@click.option("--numbers", is_flag=True, help="Print all the numbers that decide.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--strict", is_flag=True, help="Exit code 1 when a claim is not reproduced.")
def judge_(runs: tuple[Path, ...], name: str | None, numbers: bool, as_json: bool, strict: bool) -> int:
    """Judge a study's claims on RUNS without measuring."""
    from perbyte.report.studyview import judgement_data
    from perbyte.report.text import render_judgement
    from perbyte.studies import find, judge

    opened = _opened(runs)
    name = name or opened[0].conditions.study
    if not name:
        raise UsageError("this run was not made for a study", hint="name one: --study kompara-2020")
    judgement = judge(find(name), opened)
    if as_json:
        print(json.dumps(judgement_data(judgement), indent=2, ensure_ascii=False))
    else:
        print(judgement.study.question + "\n" + "".join(f"  {line}\n" for line in judgement.answers))
        print(render_judgement(judgement, numbers=numbers), end="")
    return _strictly(strict, judgement)


@command.command("page")
@click.argument("name")
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File to write.  [the terminal]")
def page(name: str, runs: tuple[Path, ...], output: Path | None) -> int:
    """Write the claims of study NAME as a Markdown page, with the verdicts in print and on RUNS."""
    from perbyte.cli.report import written
    from perbyte.report.studyview import claims_page
    from perbyte.studies import find, judge

    study, opened = find(name), _opened(runs)
    text = claims_page(study, judge(study, opened) if opened else None, opened)
    if output is None:
        print(text, end="")
    else:
        written(output, lambda part: part.write_text(text, encoding="utf-8"))
    return EXIT_FINE


def _opened(runs: tuple[Path, ...]) -> list[Run]:
    from perbyte.cli.run_names import find_runs
    from perbyte.store import open_run

    return [open_run(place) for place in find_runs(runs)]


def _strictly(strict: bool, judgement: object) -> int:
    from perbyte.studies import Judgement, Outcome

    assert isinstance(judgement, Judgement)
    return EXIT_FOUND if strict and judgement.count(Outcome.NOT_REPRODUCED) else EXIT_FINE
