"""`perbyte measure`: the main job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from perbyte.app.quantities import read_sizes
from perbyte.cli.declared import Options, SectionedCommand, argument, flag, group, option, takes
from perbyte.cli.options import Additions, CellOptions, Html, Output, PolicyOptions, Words
from perbyte.cli.streams import note, notes, print_json, print_lines
from perbyte.errors import UsageError

if TYPE_CHECKING:
    from perbyte.app.conducting import Conducted
    from perbyte.catalogue import Suite

SECTIONS = {
    "What to measure": "suite sizes operations contracts cpus states threads input",
    "How long, and where": "budget precision epochs cores gentle seed",
    "What to add": "rate limits count memory leak places profile",
    "The run, and its output": "out report resume dry_run as_json as_csv unit quiet",
}
EPILOG = """\b
Selectors are cell addresses with globs:
  openssl/aes-*-gcm/*@16,8192        runner/algorithm/operation@sizes
  '*/sha-256'                        every runner, default sizes
  '*/aes-128-ctr+cpu=soft,full'      with and without CPU acceleration
  '*/aes-128-gcm@1350+state=loop,cold,first'  also with emptied caches, and in fresh processes
  '*/aes-128-ctr+contract=message'   whole messages instead of one long stream
"""


class _MeasureOptions(Options):
    selectors: tuple[str, ...] = argument(nargs=-1, metavar="[SELECTOR]...")
    suite: str | None = option(
        "--suite", metavar="NAME", help="A suite instead of selectors: perbyte list suites."
    )
    cells: CellOptions = group(CellOptions)
    cpus: Words | None = option("--cpu", help="CPU tiers: full,soft.")
    states: Words | None = option("--state", help="A call's: loop,cold,first,idle,memory,disk,each,shared-2.")
    threads: str | None = option("--threads", help="Numbers of cores to use at once: 1,2,all.")
    policy: PolicyOptions = group(PolicyOptions)
    input: Path | None = option("--input", help="Measure on this file's bytes.")
    out: Path | None = option("--out", help="Run directory to create.")
    report: Html | None = option("--report", help="Also write the run as one HTML file.")
    resume: Path | None = option("--resume", help="Continue an interrupted run.")
    dry_run: bool = flag("--dry-run", help="Print the plan and stop.")
    output: Output = group(Output)
    beside: Additions = group(Additions)
    profile: bool = flag("--profile", help="Show where the run spent its time.")


@takes("measure", _MeasureOptions, cls=SectionedCommand, sections=SECTIONS, epilog=EPILOG)
def measure_command(options: _MeasureOptions) -> int:
    """Measure the speed of algorithms in cycles per byte; every result is checked before it is timed.

    A cell is one algorithm, operation and size of a library. Without a selector: a quick suite of about ten seconds.
    """
    from perbyte.app.conducting import conduct
    from perbyte.app.requests import (
        QUICK_BUDGET_S,
        budgeted,
        foresee_request,
        not_asked,
        open_suite,
        read_request,
    )

    if options.suite and (options.selectors or options.resume):
        raise UsageError("--suite replaces selectors", hint="leave out the selectors (or --resume)")
    if options.resume:
        return _tell(_resume(options.resume, options), options, None, [])
    output, cells = options.output, options.cells
    suite, selectors = open_suite(options.suite, output.note) if options.suite else (None, options.selectors)
    usual_s = suite.budget_s if suite else None if selectors else QUICK_BUDGET_S
    budget_s = usual_s if options.policy.budget is None else options.policy.budget
    policy = replace(options.policy, budget=budget_s).policy()
    request, input_facts = read_request(
        selectors,
        read_sizes(cells.sizes),
        cells.operations,
        cells.contracts,
        options.cpus,
        options.states,
        threads=options.threads,
        cores=options.policy.cores,
        data=options.input,
        limits=options.beside.limits and not output.as_csv,
    )
    if options.dry_run:
        foreseen = foresee_request(request, policy, note, lenient=suite is not None)
        if output.as_json:
            print_json(foreseen.as_json())
        else:
            print_lines(cell.address for cell in foreseen.plan.cells)
            notes(foreseen.notes())
        return 0
    kept_to = bool(options.selectors) and options.policy.budget is not None
    done = conduct(
        request,
        policy,
        out=options.out,
        listener=output.listener,
        input_facts=input_facts,
        lenient=suite is not None,
        budget=partial(budgeted, say=output.note, raised=not kept_to),
    )
    return _tell(done, options, suite, not_asked(request))


def _tell(done: Conducted, options: _MeasureOptions, suite: Suite | None, not_asked: Sequence[str]) -> int:

    from perbyte.app.conducting import with_behaviours
    from perbyte.cli.conduct import note_losses
    from perbyte.cli.runs import print_run
    from perbyte.measure import note_after
    from perbyte.report.gate import profile_lines

    beside, output = options.beside, options.output
    done = with_behaviours(done, traced=beside.count or beside.memory, listener=output.listener)
    if beside.leak:
        from perbyte.app.leaking import with_leaks

        done = with_leaks(done, listener=output.listener)
    if beside.places:
        from perbyte.app.placing import with_places

        done = with_places(done, listener=output.listener)
    print_run(done.run, output, beside)
    if suite:
        output.note(f"{suite.title}: {suite.answers}")
        output.note(f"chart: perbyte report {done.path} --chart {suite.chart}.svg")
    note_losses(done.run, quiet=output.quiet)
    if not_asked:
        names = ", ".join(not_asked)
        output.note(
            f"not asked, though built: {names} ('*' leaves opt-in libraries out; name them, or write '?*')"
        )
    if options.profile:
        notes(profile_lines(done.outcome.timing))
    if options.report:
        from perbyte.report.pages import write_run_page

        output.note(f"report: {write_run_page(done.run, options.report, say=note)}")
    output.note(f"run: {done.path}  ({done.run.measuring_s:.1f} s)")
    note_after(done.run.conditions, done.outcome)
    return done.code


def _resume(path: Path, options: _MeasureOptions) -> Conducted:

    from perbyte.app.conducting import conduct_resumed
    from perbyte.app.runs import find_run

    policy, cells = options.policy, options.cells
    of_plan: tuple[object, ...] = (options.selectors, cells.sizes, cells.operations, cells.contracts)
    of_plan += (options.cpus, options.states, options.threads, options.input, options.out, options.dry_run)
    if any(of_plan):
        raise UsageError("--resume uses the plan of the run", hint="leave out selectors and plan options")
    given = (policy.precision, policy.epochs, policy.cores, policy.seed)
    if policy.gentle or any(value is not None for value in given):
        raise UsageError(
            "--resume uses the policy of the run", hint="of its options, only --budget can be changed"
        )
    return conduct_resumed(find_run(path), listener=options.output.listener, budget_s=policy.budget)
