"""`perbyte build`: make runners for the libraries that are present."""

from __future__ import annotations

import sys

import click

from perbyte.app.building import outcome_line
from perbyte.errors import EXIT_ENVIRONMENT, EXIT_FINE
from perbyte.runners import BuildState


@click.command("build")
@click.argument("names", nargs=-1, metavar="[RUNNER]...")
@click.option("--all", "every", is_flag=True, help="Also build the opt-in runners.")
@click.option("--force", is_flag=True, help="Also build runners that are up to date.")
@click.option(
    "--sanitize", is_flag=True, help="Build separately with address and undefined-behaviour sanitizers."
)
def command(names: tuple[str, ...], every: bool, force: bool, sanitize: bool) -> int:
    """Build runners. Without RUNNER: all except the opt-in ones.

    If a library is not installed, its runner is skipped; everything else works.

    \b
      perbyte build
      perbyte build openssl nettle --force
      perbyte build 'libsecp256k1@*'   (all its versions, each a runner)
      perbyte build --all
    """
    from perbyte.catalogue import pattern
    from perbyte.runners import build_all, find, locate, unfold

    wanted: list[str] = []
    for name in names:
        own, versioned, versions = name.partition("@")
        if versioned:
            find(own)  # says which there are, where there is none of that name
            name_versions = tuple(pattern.expand_braces(versions))
            wanted += unfold(locate(unlisted=True), own, name_versions)
        else:
            wanted.append(name)
    specs = [find(name) for name in wanted] if wanted else [s for s in locate() if every or not s.opt_in]
    for spec in specs:
        if spec.cost and (force or not spec.out().is_dir()):
            print(f"{spec.name:18} {spec.cost}", file=sys.stderr, flush=True)
    outcomes = build_all(
        specs,
        force=force,
        sanitize=sanitize or None,
        done=lambda outcome: print(outcome_line(outcome), flush=True),
    )
    failed = any(outcome.state is BuildState.FAILED for outcome in outcomes)
    absent = any(outcome.state is BuildState.ABSENT for outcome in outcomes)
    nothing = not any(outcome.usable for outcome in outcomes)
    return EXIT_ENVIRONMENT if failed or nothing or (absent and names) else EXIT_FINE
