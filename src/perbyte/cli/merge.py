"""`perbyte merge`: runs made under the same conditions become one with more epochs."""

from __future__ import annotations

from pathlib import Path

from perbyte import places
from perbyte.cli.declared import Options, argument, group, option, takes
from perbyte.cli.options import Output
from perbyte.errors import EXIT_FINE


class _MergeOptions(Options):
    runs: tuple[Path, ...] = argument(nargs=-1, required=True, metavar="RUN RUN...")
    out: Path | None = option("--out", help="Run directory to create.")
    output: Output = group(Output)


@takes("merge", _MergeOptions)
def command(options: _MergeOptions) -> int:
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
