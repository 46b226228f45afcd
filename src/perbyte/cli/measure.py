"""`perbyte measure`: the main job."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from perbyte.cli.options import (
    Listed,
    limits_option,
    note,
    output_options,
    policy_options,
    profile_option,
    rate_option,
)
from perbyte.errors import UsageError
from perbyte.model import Policy
from perbyte.model.cell import STATES, is_state

if TYPE_CHECKING:
    from perbyte.measure import Prepared, Request

QUICK_SUITE = ("*/{aes-128-ctr,aes-256-gcm,chacha20-poly1305,sha-256}/{encrypt,seal,digest}",)
QUICK_SIZES = (64, 1024, 16384)
QUICK_BUDGET_S = 10.0
SHOWN = 8  # reasons for which cells are not in a plan

EPILOG = """\b
Selectors are cell addresses with globs:
  openssl/aes-*-cbc/*@16,8192        runner/algorithm/operation@sizes
  '*/sha-256'                        every runner, default sizes
  '*/aes-128-ctr+cpu=soft,full'      with and without CPU acceleration
  '*/aes-128-gcm@1350+state=loop,cold,first'  single calls with emptied caches, and of fresh processes
  '*/aes-128-cbc+contract=message'   whole messages instead of an endless one
"""


@click.command("measure", epilog=EPILOG)
@click.argument("selectors", nargs=-1, metavar="[SELECTOR]...")
@click.option(
    "--suite", "suite_name", metavar="NAME", help="A suite instead of selectors: perbyte list suites."
)
@click.option("--size", "sizes", type=Listed(), default=None, help="Sizes: 16,1KiB,10MB.")
@click.option("--operation", "operations", type=Listed(), default=None, help="encrypt,decrypt,digest,...")
@click.option(
    "--contract", "contracts", type=Listed(), default=None, help="What one call is: stream, message..."
)
@click.option("--cpu", "cpus", type=Listed(), default=None, help="CPU tiers: full,soft.")
@click.option("--state", "states", type=Listed(), default=None, help="What a call comes after: loop,cold,...")
@click.option("--threads", help="On so many cores at once: 1,2,all.")
@policy_options
@click.option("--input", "input_path", type=click.Path(path_type=Path), help="Measure on this file's bytes.")
@click.option("--out", type=click.Path(path_type=Path), help="Run directory to create.")
@click.option("--resume", type=click.Path(path_type=Path), help="Go on with an interrupted run.")
@click.option("--dry-run", is_flag=True, help="Print the plan and stop.")
@output_options
@rate_option
@limits_option
@profile_option
def command(
    selectors: tuple[str, ...],
    suite_name: str | None,
    sizes: tuple[str, ...] | None,
    operations: tuple[str, ...] | None,
    contracts: tuple[str, ...] | None,
    cpus: tuple[str, ...] | None,
    states: tuple[str, ...] | None,
    threads: str | None,
    precision: float | None,
    budget: float | None,
    epochs: int | None,
    cores: tuple[int, ...] | None,
    seed: int | None,
    gentle: bool,
    input_path: Path | None,
    out: Path | None,
    resume: Path | None,
    dry_run: bool,
    as_json: bool,
    as_csv: bool,
    unit: str | None,
    rate: float | None,
    limits: bool,
    quiet: bool,
    profile: bool,
) -> int:
    """Measure cells in cycles per byte, checked before they are timed.

    Without a selector: a quick suite of about ten seconds.
    """
    from perbyte.catalogue import load, parse_selector, parse_sizes
    from perbyte.cli.conduct import conduct, conduct_resumed
    from perbyte.cli.ending import note_losses, note_profile
    from perbyte.cli.show import print_run
    from perbyte.measure import Request

    if as_json and as_csv:
        raise UsageError("--json and --csv exclude each other")
    suite = None
    if suite_name:
        if selectors or resume:
            raise UsageError(
                "--suite takes the place of selectors", hint="leave the selectors (or --resume) out"
            )
        from perbyte.catalogue import find_suite
        from perbyte.measure import built_runners

        suite = find_suite(suite_name)
        selectors = suite.selectors(tuple(spec.name for spec in built_runners()))
        budget = suite.budget_s if budget is None else budget
    if resume:
        if (
            selectors
            or sizes
            or operations
            or contracts
            or cpus
            or states
            or threads
            or input_path
            or out
            or dry_run
        ):
            raise UsageError(
                "--resume goes on with the run's own plan", hint="leave selectors and plan options out"
            )
        if gentle or any(value is not None for value in (precision, epochs, cores, seed)):
            raise UsageError(
                "--resume goes on under the run's own policy",
                hint="of its options only --budget can be given",
            )
        done = conduct_resumed(resume, quiet=quiet, budget_s=budget)
    else:
        catalogue = load()
        texts = selectors or QUICK_SUITE
        if not selectors and budget is None:
            budget = QUICK_BUDGET_S
        all_sizes = parse_sizes(",".join(sizes)) if sizes else None if selectors else QUICK_SIZES
        input_facts = None
        if input_path:
            from perbyte.measure.conduct import describe_input

            input_facts = describe_input(input_path)
            all_sizes = all_sizes or (int(input_facts["usable_bytes"]),)
        asked = tuple(parse_selector(text) for text in texts)
        if input_facts:
            from perbyte.measure.conduct import require_size

            named = [size for one in asked for size in one.sizes or ()]
            require_size(input_facts, {*(all_sizes or ()), *named})
        if limits and not as_csv:
            asked += (parse_selector("reference/{limit-*,probe-aesenc}/run@1024+contract=stream/1"),)
        general = read_states(states or (), threads, cores)
        more = read_states((), threads, cores) or ()
        asked = tuple(replace(one, states=(*one.states, *more)) if one.states else one for one in asked)
        request = Request(
            selectors=asked,
            sizes=all_sizes,
            operations=operations,
            contracts=tuple(catalogue.find_contract(name).id for name in contracts) if contracts else None,
            cpus=cpus,
            states=general,
        )
        policy = read_policy(precision, budget, epochs, cores, seed, gentle=gentle)
        if dry_run:
            return _print_plan(request, policy, as_json=as_json, lenient=suite is not None)
        given = budget is not None and suite is None and bool(selectors)
        done = conduct(
            request,
            policy,
            out=out,
            quiet=quiet,
            input_facts=input_facts,
            lenient=suite is not None,
            budget=lambda prepared: budgeted(prepared, raised=not given, quiet=quiet),
        )
    print_run(done.run, unit, as_json=as_json, as_csv=as_csv, rate=rate, limits=limits)
    if suite:
        note(f"{suite.title}: {suite.answers}", quiet=quiet)
        note(f"chart: perbyte report {done.path} --chart {suite.chart}.svg", quiet=quiet)
    note_losses(done.run, quiet=quiet)
    if profile:
        note_profile(done.timing)
    note(f"run: {done.path}  ({done.run.measuring_s:.1f} s)", quiet=quiet)
    return done.code


def read_states(
    states: tuple[str, ...], threads: str | None, cores: tuple[int, ...] | None
) -> tuple[str, ...] | None:
    """The states that were asked for, numbers of threads among them; None where nothing was said."""
    from perbyte.measure import choose_cores

    if unknown := [one for one in states if not is_state(one)]:
        raise UsageError(f"'{unknown[0]}' is no state", hint=f"there are {', '.join(STATES)} and threads-2")
    words = [word.strip() for word in threads.split(",")] if threads is not None else []
    if not all(word == "all" or (word.isdecimal() and int(word)) for word in words):
        raise UsageError(f"'{threads}' is no list of numbers of threads", hint="such as 1,2,all")
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


def read_policy(
    precision: float | None,
    budget: float | None,
    epochs: int | None,
    cores: tuple[int, ...] | None,
    seed: int | None,
    *,
    gentle: bool = False,
    start: Policy | None = None,
) -> Policy:
    """The policy `start` (the default one without it) with what was said on the command line."""
    policy = start or Policy()
    if epochs is not None:
        policy = replace(policy, epochs=epochs, max_epochs=max(epochs, policy.max_epochs))
    return replace(
        policy,
        precision=policy.precision if precision is None else precision,
        budget_s=policy.budget_s if budget is None else budget,
        cores=policy.cores if cores is None else cores,
        seed=policy.seed if seed is None else seed,
        gentle=policy.gentle or gentle,
    )


def budgeted(prepared: Prepared, *, raised: bool, quiet: bool) -> Prepared:
    """Say how long it takes. A budget that is far too small is refused, or `raised` where nobody chose it."""
    from perbyte.measure import foresee

    policy, cells = prepared.conditions.policy, len(prepared.plan.cells)
    seen = foresee(prepared.plan, policy, prepared.survey.specs)
    if not seen.fits and raised:
        policy = replace(
            policy, budget_s=float(math.ceil(max(seen.least_s, *(s for _, s in seen.alone), 1.0)))
        )
        note(f"the budget is {policy.budget_s:g} s, because the plan takes as long at the least", quiet=quiet)
        seen = foresee(prepared.plan, policy, prepared.survey.specs)
        prepared = replace(prepared, conditions=replace(prepared.conditions, policy=policy))
    elif not seen.fits:
        enough = f"--budget {math.ceil(seen.least_s)}s"
        if seen.alone:
            cell, took = max(seen.alone, key=lambda one: one[1])
            said = f"one call of {cell.address}, with its data and its check, takes about {took:.0f} s"
        else:
            said = f"{cells:,} cells in {policy.epochs} epochs take about {seen.least_s:.0f} s at the least"
        raise UsageError(
            f"{said}: too much for a budget of {policy.budget_s:g} s",
            hint=f"{enough}, fewer cells or sizes, or fewer --epochs; --dry-run tells how long a plan takes",
        )
    note(f"{cells:,} cell{'s' * (cells != 1)}: {seen}", quiet=quiet)
    return prepared


def _print_plan(request: Request, policy: Policy, *, as_json: bool, lenient: bool) -> int:
    from perbyte.measure import foresee, prepare

    prepared = prepare(request, policy, lenient=lenient)
    plan, seen = prepared.plan, foresee(prepared.plan, policy, prepared.survey.specs)
    if as_json:
        drawn = {
            "cells": [cell.address for cell in plan.cells],
            "twins": [cell.address for cell in plan.twins],
            "failures": [asdict(failure) for failure in plan.failures],
            "policy": asdict(policy),
            "least_s": seen.least_s,
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
