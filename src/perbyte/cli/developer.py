"""`perbyte dev`: runners and the harness put to the test, for those who write one or work on Perbyte itself."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import click

from perbyte.app.quantities import read_sizes
from perbyte.app.verdicts import exit_code
from perbyte.cli.declared import Options, argument, flag, group, option, takes
from perbyte.cli.options import QuietOption, Time, Words
from perbyte.cli.streams import print_json, print_lines
from perbyte.cli.terminal import LiveLine, print_listing, print_wrapped
from perbyte.errors import EXIT_FINE, EXIT_FOUND
from perbyte.model.cell import FULL


class _AgreeOptions(Options):
    selectors: tuple[str, ...] = argument(metavar="[SELECTOR]...", nargs=-1)
    cpus: Words = option("--cpu", default=(FULL,), help="CPU tiers to check, or '*'.  [full]")
    contracts: Words | None = option("--contract", help="Contracts, or globs: '*'.  [the usual ones]")
    sizes: Words | None = option("--size", help="Sizes of data.  [67,4096]")
    as_json: bool = flag("--json", help="Print JSON.")
    notes: QuietOption = group(QuietOption)


@takes("agree", _AgreeOptions)
def agree_command(options: _AgreeOptions) -> int:
    """Check that all built runners compute the same, and count the libraries of each algorithm.

    Known answers, agreement on random data, round trips and forgeries, as before a measurement. Runners take what
    others sign and encapsulate. Nothing is timed. Without a selector: everything (some minutes). Exit code 1 if an
    output differs, or a runner does not start.

    \b
      perbyte dev agree
      perbyte dev agree '*/{sha-*,aes-*}' --contract '*'
      perbyte dev agree --cpu '*' --json
    """
    from perbyte.app.agreeing import SIZES, agree
    from perbyte.report.conformance import agreement_lines, agreement_listing

    sizes = read_sizes(options.sizes) or SIZES
    with closing(LiveLine(quiet=options.notes.quiet)) as line:
        agreement = agree(
            options.selectors,
            cpus=options.cpus,
            contracts=options.contracts or (),
            sizes=sizes,
            tell=line.draw,
        )
    if options.as_json:
        print_json(agreement)
    else:
        print_listing(agreement_listing(agreement))
        print_lines(["", *agreement_lines(agreement)])
    return EXIT_FINE if agreement.equal else EXIT_FOUND


class _ConformOptions(Options):
    name: str = argument(metavar="RUNNER")
    cpus: Words = option("--cpu", default=(FULL,), help="CPU tiers to check: full,soft.  [full]")
    quick: bool = flag("--quick", help="Check one algorithm per operation and contract.")
    seed: Annotated[int, click.IntRange(0)] = option(
        "--seed", default=1, show_default=True, help="Seed for the choice of tests."
    )
    replay: Annotated[Path, click.Path(exists=True, dir_okay=False, path_type=Path)] | None = option(
        "--replay", help="Replay only this transcript (protocol/transcripts)."
    )
    as_json: bool = flag("--json", help="Print JSON.")
    notes: QuietOption = group(QuietOption)


@takes("conform", _ConformOptions)
def conform_command(options: _ConformOptions) -> int:
    """Check RUNNER against every rule of protocol/SPEC.md, and list the rules that it breaks.

    Then measure one operation of each kind in a short run, with the audit of `measure`. It checks known answers, CPU
    time by the kernel, calls on new data, threads and processes, and the clock. Exit code 1 if a rule is broken, or
    the audit refuses a figure. The end of the output says what this does not prove.

    \b
      perbyte conform slow-hash
      perbyte conform openssl --cpu full,soft --quick
      perbyte conform slow-hash --replay protocol/transcripts/good/sha-256.txt
    """
    from perbyte.app.auditing import check_tier, ready_runner
    from perbyte.report.conformance import checked_json, checked_lines, replay_lines
    from perbyte.runners.conform import replay_file

    spec = ready_runner(options.name, options.cpus)
    if options.replay:
        code = EXIT_FINE
        for cpu in options.cpus:
            complaints = replay_file(spec, options.replay, cpu=cpu)
            print_lines(replay_lines(f"{spec.name}, tier {cpu}", options.replay.name, complaints))
            code = EXIT_FOUND if complaints else code
        return code
    checks = []
    for cpu in options.cpus:
        with closing(LiveLine(quiet=options.notes.quiet)) as line:
            check = check_tier(spec, cpu, every=not options.quick, seed=options.seed, say=line.draw)
        checks.append(check)
        if not options.as_json:
            for text in checked_lines(spec.name, check, quick=options.quick):
                print_wrapped(text)
    if options.as_json:
        print_json([checked_json(spec.name, check) for check in checks])
    return exit_code(detected=any(check.broken for check in checks))


class _SelftestOptions(Options):
    full: bool = flag(
        "--full", help="Also test slowdowns of 0.25 to 5 %, A/A pairs and intervals (3 minutes)."
    )
    trials: Annotated[int, click.IntRange(1)] = option(
        "--trials", default=6, show_default=True, help="Runs for each budget of --full."
    )
    budget: Time | None = option("--budget", help="Budget for the runs of --full.  [5 s and 15 s]")
    as_json: bool = flag("--json", help="Print JSON.")
    notes: QuietOption = group(QuietOption)


@takes("selftest", _SelftestOptions)
def selftest_command(options: _SelftestOptions) -> int:
    """Measure loops of known cost with the complete method. Exit code 1 if a result is wrong, 5 if not known.

    --full also finds the smallest difference that this machine detects, and its rate of false alarms.

    \b
      perbyte selftest
      perbyte selftest --full
    """
    from perbyte.app.selftest import BUDGETS_S, read_loops, try_slowdowns
    from perbyte.report.checkup import loops_lines, trials_lines

    known = read_loops(options.notes.listener)
    document: dict[str, Any] = {"loops": known.readings}
    if not options.as_json:
        print_lines(loops_lines(known.readings, known.floor))
    if options.full:
        budgets_s = (options.budget,) if options.budget else BUDGETS_S
        trials = try_slowdowns(budgets_s, options.trials, options.notes.listener)
        document["full"] = trials.said()
        if not options.as_json:
            print_lines(trials_lines(trials))
    if options.as_json:
        print_json(document)
    return known.code
