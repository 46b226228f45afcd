"""`perbyte conform`: does a runner keep every promise of the protocol? For those who write one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from perbyte.cli.declared import Options, argument, flag, group, option, takes
from perbyte.cli.options import QuietOption, Words, print_json, print_lines
from perbyte.cli.terminal import LiveLine, print_wrapped
from perbyte.errors import EXIT_FINE, EXIT_FOUND
from perbyte.model.cell import FULL

if TYPE_CHECKING:
    from perbyte.runners import RunnerSpec


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
def command(options: _ConformOptions) -> int:
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
    from perbyte.report.conformance import checked_json, checked_lines

    spec = ready_runner(options.name, options.cpus)
    if options.replay:
        return _replay(spec, options.cpus, options.replay)
    checks = []
    for cpu in options.cpus:
        line = LiveLine(quiet=options.notes.quiet)
        try:
            check = check_tier(spec, cpu, every=not options.quick, seed=options.seed, say=line.draw)
        finally:
            line.close()
        checks.append(check)
        if not options.as_json:
            for text in checked_lines(spec.name, check, quick=options.quick):
                print_wrapped(text)
    if options.as_json:
        print_json([checked_json(spec.name, check) for check in checks])
    return EXIT_FOUND if any(check.broken for check in checks) else EXIT_FINE


def _replay(spec: RunnerSpec, cpus: Sequence[str], file: Path) -> int:
    """Print what went otherwise than in a transcript."""
    from perbyte.report.conformance import replay_lines
    from perbyte.runners.conform import replay_file

    code = EXIT_FINE
    for cpu in cpus:
        complaints = replay_file(spec, file, cpu=cpu)
        print_lines(replay_lines(f"{spec.name}, tier {cpu}", file.name, complaints))
        code = EXIT_FOUND if complaints else code
    return code
