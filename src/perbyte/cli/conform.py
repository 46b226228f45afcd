"""`perbyte conform`: does a runner keep every promise of the protocol? For those who write one."""

from __future__ import annotations

import shutil
import textwrap
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from perbyte.cli.declared import argument, flag, group, option, takes
from perbyte.cli.options import QuietOption, Words, print_json
from perbyte.cli.terminal import LiveLine
from perbyte.errors import EXIT_FINE, EXIT_FOUND
from perbyte.model.cell import FULL
from perbyte.model.text import plain

if TYPE_CHECKING:
    from perbyte.app.auditing import AuditOutcome
    from perbyte.runners import RunnerSpec
    from perbyte.runners.conform import Complaint


def _replay(spec: RunnerSpec, cpus: Sequence[str], file: Path) -> int:
    """Print what went otherwise than in a transcript."""
    from perbyte.runners.conform import replay_file

    code = EXIT_FINE
    for cpu in cpus:
        complaints = replay_file(spec, file, cpu=cpu)
        text = (
            "is not meant for it" if complaints is None else "holds" if not complaints else "does not hold:"
        )
        print(f"{spec.name}, tier {cpu}: {plain(file.name)} {text}")
        for what in complaints or ():
            print(f"  {plain(what)}")
            code = EXIT_FOUND
    return code


@dataclass(frozen=True, slots=True)
class ConformOptions:
    """Which runner is checked, and how thoroughly."""

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


@click.command("conform")
@takes(ConformOptions)
def command(options: ConformOptions) -> int:
    """Check RUNNER against every rule of protocol/SPEC.md, and list the rules that it breaks.

    Then measure one operation of each kind in a short run, with the audit of `measure`. It checks known answers, CPU
    time by the kernel, calls on new data, threads and processes, and the clock. Exit code 1 if a rule is broken, or
    the audit refuses a figure. The end of the output says what this does not prove.

    \b
      perbyte conform slow-hash
      perbyte conform openssl --cpu full,soft --quick
      perbyte conform slow-hash --replay protocol/transcripts/good/sha-256.txt
    """
    from perbyte.app.auditing import audit_runner
    from perbyte.report.conformance import audit_lines, verdict_lines
    from perbyte.runners import find, not_built
    from perbyte.runners.conform import conform

    name, cpus = options.name, options.cpus
    spec = find(name)
    if spec.built and not spec.out().is_dir():
        raise not_built(name)
    for cpu in cpus:
        spec.tier(cpu)  # raises for an unknown one before the first is asked
    if options.replay:
        return _replay(spec, cpus, options.replay)
    outcomes: dict[str, tuple[list[Complaint], AuditOutcome]] = {}
    for cpu in cpus:
        line, started, label = LiveLine(quiet=options.notes.quiet), time.monotonic(), f"{name}, {cpu}: "
        try:
            told = partial(_show, line, label)
            complaints = conform(spec, cpu=cpu, every=not options.quick, seed=options.seed, tell=told)
            took_s = time.monotonic() - started
            line.draw(f"{label}audit")
            audited = audit_runner(spec, cpu, options.seed)
        finally:
            line.close()
        outcomes[cpu] = complaints, audited
        if not options.as_json:
            for text in verdict_lines(f"{name}, tier {cpu}", complaints, options.quick, took_s):
                _print_item(text)
            for text in audit_lines(audited):
                _print_item(text)
    if options.as_json:
        content = [
            {
                "runner": name,
                "cpu": cpu,
                "complaints": [asdict(complaint) for complaint in complaints],
                "audit": asdict(audited),
            }
            for cpu, (complaints, audited) in outcomes.items()
        ]
        print_json(content)
    return EXIT_FOUND if any(some or audited.refused for some, audited in outcomes.values()) else EXIT_FINE


def _show(line: LiveLine, label: str, what: str) -> None:
    line.draw(label + what)


def _print_item(text: str) -> None:
    """Print text, the lines after the first indented two more than that."""
    indent = " " * (len(text) - len(text.lstrip()))
    columns = max(shutil.get_terminal_size((100, 24)).columns, 40)
    print(
        textwrap.fill(
            text,
            columns,
            subsequent_indent=f"{indent}  ",
            break_on_hyphens=False,
            drop_whitespace=True,
            replace_whitespace=False,
        )
    )
