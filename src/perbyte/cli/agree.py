"""`perbyte dev agree`: do all libraries compute the same? The checks of a run, on everything, without timing."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from perbyte.cli.options import Listed
from perbyte.cli.terminal import LiveLine, print_listing
from perbyte.errors import EXIT_FINE, EXIT_FOUND
from perbyte.model.cell import FULL


@click.command("agree")
@click.argument("selectors", metavar="[SELECTOR]...", nargs=-1)
@click.option("--cpu", "cpus", type=Listed(), default=(FULL,), help="CPU tiers to check, or '*'.  [full]")
@click.option("--contract", "contracts", type=Listed(), help="Contracts, or globs: '*'.  [the usual ones]")
@click.option("--size", "sizes", metavar="LIST", help="Sizes of data.  [67,4096]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def command(
    selectors: tuple[str, ...],
    cpus: tuple[str, ...],
    contracts: tuple[str, ...] | None,
    sizes: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
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
    from perbyte.catalogue import parse_sizes
    from perbyte.report.agreement import agreement_lines, agreement_listing

    line = LiveLine(quiet=quiet)
    try:
        agreement = agree(
            selectors,
            cpus=cpus,
            contracts=contracts or (),
            sizes=parse_sizes(sizes) if sizes else SIZES,
            tell=line.draw,
        )
    finally:
        line.close()
    if as_json:
        print(json.dumps(asdict(agreement), indent=1))
    else:
        print_listing(agreement_listing(agreement))
        print()
        for text in agreement_lines(agreement):
            print(text)
    return EXIT_FINE if agreement.equal else EXIT_FOUND
