"""`perbyte dev agree`: do all libraries compute the same? The checks of a run, on everything, without timing."""

from __future__ import annotations

from perbyte.app.quantities import read_sizes
from perbyte.cli.declared import Options, argument, flag, group, option, takes
from perbyte.cli.options import QuietOption, Words, print_json, print_lines
from perbyte.cli.terminal import LiveLine, print_listing
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
def command(options: _AgreeOptions) -> int:
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

    line = LiveLine(quiet=options.notes.quiet)
    try:
        agreement = agree(
            options.selectors,
            cpus=options.cpus,
            contracts=options.contracts or (),
            sizes=read_sizes(options.sizes) or SIZES,
            tell=line.draw,
        )
    finally:
        line.close()
    if options.as_json:
        print_json(agreement)
    else:
        print_listing(agreement_listing(agreement))
        print_lines(["", *agreement_lines(agreement)])
    return EXIT_FINE if agreement.equal else EXIT_FOUND
