"""`perbyte build`: make runners for the libraries that are present."""

from __future__ import annotations

import sys

from perbyte.app.building import outcome_line, runners_to_build
from perbyte.cli.declared import Options, argument, flag, takes
from perbyte.errors import EXIT_ENVIRONMENT, EXIT_FINE
from perbyte.runners import BuildState, build_all


class _BuildOptions(Options):
    names: tuple[str, ...] = argument(nargs=-1, metavar="[RUNNER]...")
    every: bool = flag("--all", help="Also build the opt-in runners.")
    force: bool = flag("--force", help="Also build runners that are up to date.")
    sanitize: bool = flag(
        "--sanitize", help="Build separately with address and undefined-behaviour sanitizers."
    )


@takes("build", _BuildOptions)
def command(options: _BuildOptions) -> int:
    """Build runners. Without RUNNER: all except the opt-in ones.

    If a library is not installed, its runner is skipped; everything else works.

    \b
      perbyte build
      perbyte build openssl nettle --force
      perbyte build 'libsecp256k1@*'   (all its versions, each a runner)
      perbyte build --all
    """
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
