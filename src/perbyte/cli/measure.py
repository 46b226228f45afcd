"""`perbyte measure`: the main job."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from perbyte import extras
from perbyte.cli.declared import argument, flag, group, option, takes
from perbyte.cli.options import PROFILE, Additions, Listed, Output, PolicyOptions, note
from perbyte.cli.sections import SectionedCommand
from perbyte.errors import UsageError
from perbyte.model import Policy
from perbyte.model.cell import STATES, is_state
from perbyte.places import require_writable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perbyte.app.conducting import Conducted
    from perbyte.catalogue import Selector, Suite
    from perbyte.measure import Request

QUICK_SUITE = ("*/{aes-128-ctr,aes-256-gcm,chacha20-poly1305,sha-256}/{encrypt,seal,digest}",)
QUICK_SIZES = (64, 1024, 16384)
QUICK_BUDGET_S = 10.0
SHOWN = 8  # reasons for which cells are not in a plan

SECTIONS = {
    "What to measure": ("suite", "sizes", "operations", "contracts", "cpus", "states", "threads", "input"),
    "How long, and where": ("budget", "precision", "epochs", "cores", "gentle", "seed"),
    "What to add": ("rate", "limits", "count", "memory", "leak", "profile"),
    "The run, and its output": (
        "out",
        "report",
        "resume",
        "dry_run",
        "as_json",
        "as_csv",
        "unit",
        "quiet",
    ),
}
EPILOG = """\b
Selectors are cell addresses with globs:
  openssl/aes-*-gcm/*@16,8192        runner/algorithm/operation@sizes
  '*/sha-256'                        every runner, default sizes
  '*/aes-128-ctr+cpu=soft,full'      with and without CPU acceleration
  '*/aes-128-gcm@1350+state=loop,cold,first'  also with emptied caches, and in fresh processes
  '*/aes-128-ctr+contract=message'   whole messages instead of one long stream
"""


@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """What is measured, how, and what is printed."""

    selectors: tuple[str, ...] = argument(nargs=-1, metavar="[SELECTOR]...")
    suite: str | None = option(
        "--suite", metavar="NAME", help="A suite instead of selectors: perbyte list suites."
    )
    sizes: tuple[str, ...] | None = option("--size", type=Listed(), default=None, help="Sizes: 16,1KiB,10MB.")
    operations: tuple[str, ...] | None = option(
        "--operation", type=Listed(), default=None, help="Operations: encrypt,decrypt,digest..."
    )
    contracts: tuple[str, ...] | None = option(
        "--contract", type=Listed(), default=None, help="What one call is: stream, message..."
    )
    cpus: tuple[str, ...] | None = option("--cpu", type=Listed(), default=None, help="CPU tiers: full,soft.")
    states: tuple[str, ...] | None = option(
        "--state", type=Listed(), default=None, help="State before a call: loop,cold,first,idle."
    )
    threads: str | None = option("--threads", help="Numbers of cores to use at once: 1,2,all.")
    policy: PolicyOptions = group(PolicyOptions)
    input: Path | None = option(
        "--input", type=click.Path(path_type=Path), help="Measure on this file's bytes."
    )
    out: Path | None = option("--out", type=click.Path(path_type=Path), help="Run directory to create.")
    report: Path | None = option(
        "--report", type=click.Path(path_type=Path), help="Also write the run as one HTML file."
    )
    resume: Path | None = option(
        "--resume", type=click.Path(path_type=Path), help="Continue an interrupted run."
    )
    dry_run: bool = flag("--dry-run", help="Print the plan and stop.")
    output: Output = group(Output)
    beside: Additions = group(Additions)
    profile: bool = flag("--profile", help=PROFILE)


@click.command("measure", cls=SectionedCommand, sections=SECTIONS, epilog=EPILOG)
@takes(MeasureOptions)
def command(options: MeasureOptions) -> int:
    """Measure the speed of algorithms in cycles per byte; every result is checked before it is timed.

    A cell is one algorithm, operation and size of a library. Without a selector: a quick suite of about ten seconds.
    """
    from perbyte.cli.conduct import with_behaviours
    from perbyte.cli.ending import note_losses, note_profile
    from perbyte.cli.report import write_html
    from perbyte.cli.show import print_run
    from perbyte.measure import note_after

    if options.report:
        extras.require("report", "A page")
        require_writable(options.report)
    suite = None
    selectors: tuple[Selector, ...] = ()
    if options.suite:
        suite, options = _of_suite(options.suite, options)
    if options.resume:
        done = _resume(options.resume, options)
    else:
        request, input_facts = _read_request(options)
        selectors = request.selectors
        if options.dry_run:
            as_json = options.output.as_json
            return _print_plan(request, _policy(options), as_json=as_json, lenient=suite is not None)
        done = _measure(request, input_facts, options, suite)
    beside, quiet = options.beside, options.output.quiet
    if beside.count or beside.memory:
        done = with_behaviours(done, quiet=quiet)
    if beside.leak:
        from perbyte.app.leaking import with_leaks
        from perbyte.cli.leaking import heard

        done = with_leaks(done, **heard(quiet=quiet))
    print_run(done.run, options.output, beside)
    if suite:
        note(f"{suite.title}: {suite.answers}", quiet=quiet)
        note(f"chart: perbyte report {done.path} --chart {suite.chart}.svg", quiet=quiet)
    note_losses(done.run, quiet=quiet)
    _note_left_out(selectors, quiet=quiet)
    if options.profile:
        note_profile(done.outcome.timing)
    if options.report:
        note(f"report: {write_html(done.run, options.report)}", quiet=quiet)
    note(f"run: {done.path}  ({done.run.measuring_s:.1f} s)", quiet=quiet)
    note_after(done.run.conditions, done.outcome)
    return done.code


def _of_suite(name: str, options: MeasureOptions) -> tuple[Suite, MeasureOptions]:
    """The suite, and its selectors and budget as options, unless the command line has a budget."""
    from perbyte.catalogue import find_suite
    from perbyte.cli.conduct import build_needed
    from perbyte.measure import built_runners

    if options.selectors or options.resume:
        raise UsageError("--suite replaces selectors", hint="leave out the selectors (or --resume)")
    suite = find_suite(name)
    build_needed(["*"], quiet=options.output.quiet)
    selectors = suite.selectors(tuple(spec.name for spec in built_runners()))
    budget = suite.budget_s if options.policy.budget is None else options.policy.budget
    return suite, replace(options, selectors=selectors, policy=replace(options.policy, budget=budget))


def _resume(path: Path, options: MeasureOptions) -> Conducted:
    """Go on with a run. Raises UsageError where the command line says what the run itself knows."""
    from perbyte.cli.conduct import conduct_resumed

    policy = options.policy
    of_plan: tuple[object, ...] = (
        options.selectors,
        options.sizes,
        options.operations,
        options.contracts,
        options.cpus,
    )
    of_plan += (options.states, options.threads, options.input, options.out, options.dry_run)
    if any(of_plan):
        raise UsageError("--resume uses the plan of the run", hint="leave out selectors and plan options")
    given = (policy.precision, policy.epochs, policy.cores, policy.seed)
    if policy.gentle or any(value is not None for value in given):
        raise UsageError(
            "--resume uses the policy of the run", hint="of its options, only --budget can be changed"
        )
    return conduct_resumed(path, quiet=options.output.quiet, budget_s=policy.budget)


def _read_request(options: MeasureOptions) -> tuple[Request, dict[str, str | int] | None]:
    """What the options ask for, and what is known of the file that is measured on."""
    from perbyte.catalogue import load, parse_selector, parse_sizes
    from perbyte.measure import Request
    from perbyte.measure.conduct import describe_input, require_size

    sizes: tuple[int, ...] | None = QUICK_SIZES if not options.selectors else None
    if options.sizes:
        sizes = parse_sizes(",".join(options.sizes))
    input_facts = describe_input(options.input) if options.input else None
    if input_facts:
        sizes = sizes or (int(input_facts["usable_bytes"]),)
    selectors = tuple(parse_selector(text) for text in options.selectors or QUICK_SUITE)
    if input_facts:
        named = [size for selector in selectors for size in selector.sizes or ()]
        require_size(input_facts, {*(sizes or ()), *named})
    if options.beside.limits and not options.output.as_csv:
        selectors += (parse_selector("reference/{limit-*,probe-aesenc}/run@1024+contract=stream/1"),)
    cores = options.policy.cores
    general = read_states(options.states or (), options.threads, cores)
    more = read_states((), options.threads, cores) or ()
    selectors = tuple(
        replace(selector, states=(*selector.states, *more)) if selector.states else selector
        for selector in selectors
    )
    catalogue = load()
    named_contracts = tuple(catalogue.find_contract(name).id for name in options.contracts or ())
    request = Request(
        selectors=selectors,
        sizes=sizes,
        operations=options.operations,
        contracts=named_contracts or None,
        cpus=options.cpus,
        states=general,
    )
    return request, input_facts


def _policy(options: MeasureOptions) -> Policy:
    """The policy; without selectors the quick suite's budget, unless the command line has one."""
    quick = not options.selectors and options.policy.budget is None
    return (replace(options.policy, budget=QUICK_BUDGET_S) if quick else options.policy).policy()


def _measure(
    request: Request, input_facts: dict[str, str | int] | None, options: MeasureOptions, suite: Suite | None
) -> Conducted:
    """Measure what was asked for; only a budget that was given beside selectors is kept to."""
    from perbyte.cli.conduct import budgeted, conduct

    quiet = options.output.quiet
    given = options.policy.budget is not None and suite is None and bool(options.selectors)
    return conduct(
        request,
        _policy(options),
        out=options.out,
        quiet=quiet,
        input_facts=input_facts,
        lenient=suite is not None,
        budget=lambda prepared: budgeted(prepared, raised=not given, quiet=quiet),
    )


def _note_left_out(selectors: Sequence[Selector], *, quiet: bool) -> None:
    """Say which libraries are built and were not asked, because `*` means none that are opt-in."""
    from perbyte.measure import built_runners
    from perbyte.measure.plan import left_out, may_mean

    names = [
        spec.name
        for spec in (built_runners() if selectors else ())
        if any(left_out(selector.runner, spec) for selector in selectors)
        and not any(may_mean(selector, spec) for selector in selectors)
    ]
    if names:
        note(
            f"not asked, though built: {', '.join(names)} ('*' leaves opt-in libraries out; name them, or write '?*')",
            quiet=quiet,
        )


def read_states(
    states: tuple[str, ...], threads: str | None, cores: tuple[int, ...] | None
) -> tuple[str, ...] | None:
    """The states that were requested, numbers of threads among them; None where nothing was said."""
    from perbyte.measure import choose_cores

    if unknown := [state for state in states if not is_state(state)]:
        raise UsageError(
            f"'{unknown[0]}' is not a state", hint=f"there are {', '.join(STATES)} and threads-2"
        )
    words = [word.strip() for word in threads.split(",")] if threads is not None else []
    if not all(word == "all" or (word.isdecimal() and int(word)) for word in words):
        raise UsageError(f"'{threads}' is not a list of numbers of threads", hint="such as 1,2,all")
    if words:
        there = len(choose_cores(cores or ()))
        counts = sorted({there if word == "all" else int(word) for word in words})
        if counts[-1] > there:
            raise UsageError(
                f"{counts[-1]} threads need as many cores, and there are {there} to measure on",
                hint=f"--threads 1,{there}" if there > 1 else "more --cores",
            )
        states += tuple(f"threads-{count}" for count in counts)
    return tuple(dict.fromkeys(states)) or None


def _print_plan(request: Request, policy: Policy, *, as_json: bool, lenient: bool) -> int:
    from perbyte.cli.conduct import build_needed
    from perbyte.measure import foresee, prepare, recall_pace

    build_needed(selector.runner for selector in request.selectors)
    prepared = prepare(request, policy, lenient=lenient)
    pace = recall_pace(prepared.conditions.policy.cores[0])
    plan, seen = prepared.plan, foresee(prepared.plan, policy, prepared.survey.specs, pace)
    if as_json:
        drawn = {
            "cells": [cell.address for cell in plan.cells],
            "twins": [cell.address for cell in plan.twins],
            "failures": [asdict(failure) for failure in plan.failures],
            "policy": asdict(policy),
            "least_s": seen.least_s,
            "wall_s": seen.wall_s,
        }
        print(json.dumps(drawn, indent=1))
        return 0
    for cell in plan.cells:
        print(cell.address)
    unfit = Counter((failure.runner, failure.message) for failure in plan.failures)
    for (runner, message), count in unfit.most_common(SHOWN):
        note(f"not: {runner}: {message}" + (f" ({count:,} cells)" if count > 1 else ""))
    if len(unfit) > SHOWN:
        note(f"not: {len(unfit) - SHOWN:,} reasons more (--json has all)")
    note(
        f"{len(plan.cells):,} cells, {len(plan.twins)} A/A cells, at least {policy.epochs} epochs, "
        f"budget {policy.budget_s:g} s, precision {policy.precision:.3%}, seed {policy.seed}: {seen}"
    )
    for cell, took in seen.alone:
        note(f"longer than the budget: one call of {cell.address} with its check, about {took:.0f} s")
    return 0
