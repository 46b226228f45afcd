"""`perbyte merge`: runs made under the same conditions become one with more epochs."""

from __future__ import annotations

from pathlib import Path

import click

from perbyte import places
from perbyte.cli.options import note, output_options
from perbyte.errors import EXIT_FINE


@click.command("merge")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN RUN...")
@click.option("--out", type=click.Path(path_type=Path), help="Run directory to create.")
@output_options
def command(
    runs: tuple[Path, ...], out: Path | None, as_json: bool, as_csv: bool, unit: str | None, quiet: bool
) -> int:
    """Merge RUNs of the same cells, machine, libraries and policy into one run with the epochs of all.

    Runs that differ in anything a figure depends on are refused: compare them instead.
    """
    from perbyte.cli.run_names import find_runs
    from perbyte.cli.show import print_run
    from perbyte.store import merge

    paths = find_runs(runs)
    out = out or places.runs_home() / "+".join(path.name for path in paths)
    print_run(merge(paths, out), unit, as_json=as_json, as_csv=as_csv)
    note(f"run: {out}", quiet=quiet)
    return EXIT_FINE
