"""What is here and what there is: doctor, build, list, and the completion of a shell."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import click

from perbyte.app.lists import KINDS, rows_of
from perbyte.cli.declared import Options, argument, flag, option, takes
from perbyte.cli.streams import note, print_json, print_lines
from perbyte.errors import EXIT_ENVIRONMENT, EXIT_FINE


class _DoctorOptions(Options):
    as_json: bool = flag("--json", help="Print JSON.")
    report: Path | None = option(
        "--report", help="Write a description of this core to a file, to send to us."
    )


@takes("doctor", _DoctorOptions)
def doctor_command(options: _DoctorOptions) -> int:
    """Show this machine: CPU, clock source and its self-check, runners, and what is missing.

    Exit code 3 if nothing can be measured here.
    """
    from perbyte.app.checkup import look_around, write_core_report
    from perbyte.report.checkup import checkup_lines

    seen = look_around()
    if options.report:
        write_core_report(options.report, seen.as_json())
        note(
            f"report: {options.report}; send it in, so that this core can be added to the models and to the "
            "table of cores"
        )
    if options.as_json:
        print_json(seen.as_json())
    elif not options.report:
        print_lines(checkup_lines(seen))
    return EXIT_FINE if seen.found else EXIT_ENVIRONMENT


class _BuildOptions(Options):
    names: tuple[str, ...] = argument(nargs=-1, metavar="[RUNNER]...")
    every: bool = flag("--all", help="Also build the opt-in runners.")
    force: bool = flag("--force", help="Also build runners that are up to date.")
    sanitize: bool = flag(
        "--sanitize", help="Build separately with address and undefined-behaviour sanitizers."
    )


@takes("build", _BuildOptions)
def build_command(options: _BuildOptions) -> int:
    """Build runners. Without RUNNER: all except the opt-in ones.

    If a library is not installed, its runner is skipped; everything else works.

    \b
      perbyte build
      perbyte build openssl nettle --force
      perbyte build 'libsecp256k1@*'   (all its versions, each a runner)
      perbyte build --all
    """
    from perbyte.app.building import outcome_line, runners_to_build
    from perbyte.runners import BuildState, build_all

    specs = runners_to_build(options.names, every=options.every)
    for spec in specs:
        if spec.cost and (options.force or not spec.out().is_dir()):
            print(f"{spec.name:18} {spec.cost}", file=sys.stderr, flush=True)
    outcomes = build_all(
        specs,
        force=options.force,
        sanitize=options.sanitize or None,
        done=lambda outcome: print(outcome_line(outcome), flush=True),
    )
    states = [outcome.state for outcome in outcomes]
    lacking = BuildState.FAILED in states or (BuildState.ABSENT in states and options.names)
    return EXIT_ENVIRONMENT if lacking or not any(outcome.usable for outcome in outcomes) else EXIT_FINE


class _ChoiceOptions(Options):
    what: str = argument(type=click.Choice(KINDS))
    pattern: str = argument(required=False, default="*")
    as_json: bool = flag("--json", help="Print JSON.")


@takes("list", _ChoiceOptions)
def list_command(options: _ChoiceOptions) -> int:
    """List algorithms, providers, runners, operations, suites, studies, contracts or runs. PATTERN filters by name.

    Providers are the runners that have the algorithm PATTERN, built or not, and how to get them. Operations are those
    that the runners report; PATTERN is then a runner or a selector.

    \b
      perbyte list algorithms 'aes-*'
      perbyte list providers ML-KEM-768
      perbyte list runners --json
      perbyte list operations openssl
      perbyte list operations '*/aes-128-gcm'
    """
    return show_rows(options.what, options.pattern, as_json=options.as_json)


def show_rows(what: str, pattern: str, *, as_json: bool) -> int:
    """Print the rows of one kind, as a table or as JSON."""
    from perbyte.cli.terminal import print_listing
    from perbyte.report.lists import rows_listing

    rows = rows_of(what, pattern, note)
    if as_json:
        print_json(rows)
        return EXIT_FINE
    if what == "runs":
        note("runs made with --out are in the directory that it named: call them by its path")
    print_listing(rows_listing(what, rows))
    return EXIT_FINE


class _ShellOption(Options):
    shell: Literal["bash", "zsh", "fish"] = argument()


@takes("completion", _ShellOption)
def completion_command(options: _ShellOption) -> int:
    """Print the completion script for SHELL.

    \b
      bash:  eval "$(perbyte completion bash)"
      zsh:   eval "$(perbyte completion zsh)"
      fish:  perbyte completion fish | source
    """
    from click.shell_completion import get_completion_class

    from perbyte.cli.group import commands

    completion = get_completion_class(options.shell)
    assert completion is not None
    print(completion(commands, {}, "perbyte", "_PERBYTE_COMPLETE").source())
    return 0
