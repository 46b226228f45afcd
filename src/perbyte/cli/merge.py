"""`perbyte merge`: runs made under the same conditions become one with more epochs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from perbyte import places
from perbyte.cli.declared import argument, group, option, takes
from perbyte.cli.options import Output
from perbyte.errors import EXIT_FINE


@dataclass(frozen=True, slots=True)
class MergeOptions:
    """Which runs are merged, and where to."""

    runs: tuple[Path, ...] = argument(nargs=-1, required=True, metavar="RUN RUN...")
    out: Path | None = option("--out", help="Run directory to create.")
    output: Output = group(Output)


@click.command("merge")
@takes(MergeOptions)
def command(options: MergeOptions) -> int:
    """Merge RUNs of the same cells, machine, libraries and policy into one run with the epochs of all.

    Runs are refused if they differ in anything that affects a figure. Compare them instead.
    """
    from perbyte.app.run_names import find_runs
    from perbyte.cli.show import print_run
    from perbyte.store import merge

    paths = find_runs(options.runs)
    out = options.out or places.runs_home() / "+".join(path.name for path in paths)
    print_run(merge(paths, out), options.output)
    options.output.note(f"run: {out}")
    return EXIT_FINE
