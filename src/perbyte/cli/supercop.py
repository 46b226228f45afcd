"""`perbyte supercop`: a whole tree in SUPERCOP's layout, each implementation measured or listed with one reason."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Literal

from perbyte.app.quantities import read_sizes
from perbyte.app.supercop import BAD, MEASURED
from perbyte.cli.conduct import conduct_plan
from perbyte.cli.declared import Options, argument, flag, group, option, takes
from perbyte.cli.options import Duration, GentleOption, QuietOption, Words, note, print_lines
from perbyte.errors import EXIT_FINE, EXIT_INCORRECT

BUDGET_S = 5.0
EPILOG = """\b
  perbyte supercop supercop-20260330 sha256 'crypto_stream/*'
  perbyte supercop supercop-20260330               # the whole tree; run it again to continue
  perbyte supercop supercop-20260330 --compilers all --out results
"""


class _SupercopOptions(Options):
    tree: Path = argument(metavar="DIR")
    primitives: tuple[str, ...] = argument(nargs=-1, metavar="[PRIMITIVE...]")
    out: Path | None = option("--out", help="Directory of the results.  [named after the tree]")
    compilers: Literal["usual", "all"] = option(
        "--compilers",
        default="usual",
        show_default=True,
        help="cc -O3 -march=native, or all installed compilers of the tree's list.",
    )
    sizes: Words | None = option("--size", help="Sizes: 16,1KiB.  [64,4KiB]")
    budget: Duration = option(
        "--budget", default=BUDGET_S, help=f"Measuring time of a primitive.  [{BUDGET_S:g}s]"
    )
    again: bool = flag("--again", help="Repeat finished primitives.")
    how: GentleOption = group(GentleOption)
    notes: QuietOption = group(QuietOption)


@takes("supercop", _SupercopOptions, epilog=EPILOG)
def command(options: _SupercopOptions) -> int:
    """Measure a tree in SUPERCOP's layout. Every implementation gets a figure, or a reason why it has none.

    A failure does not end the run. The same command continues an interrupted run. Each primitive must match the tree's
    checksums, and the known answers of the catalogue. Results: `data` in SUPERCOP's format, and runs of Perbyte.
    """
    from perbyte.app.supercop_tree import open_tree
    from perbyte.report.trials import primitive_line, tree_end

    tree = open_tree(options.tree, options.primitives, options.out, every_compiler=options.compilers == "all")
    job = tree.job(
        read_sizes(options.sizes), options.budget, options.how.gentle, partial(conduct_plan, quiet=True)
    )
    wrong = False
    for number, ((operation, primitive), variants) in enumerate(tree.groups.items(), start=1):
        if not options.again and job.done(variants):
            continue
        outcomes = job.carry_out(variants)
        wrong = wrong or any(outcome.word in BAD for outcome in outcomes)
        told = primitive_line(outcomes, MEASURED)
        print(f"{number}/{len(tree.groups)} crypto_{operation}/{primitive}: {told}", flush=True)
    print_lines(tree_end(tree.journal))
    if tree.left and not options.primitives:
        told = ", ".join(f"{count} of crypto_{name}" for name, count in tree.left.items())
        note(f"primitives of operations that are not measured here: {told}")
    return EXIT_INCORRECT if wrong else EXIT_FINE
