"""`perbyte show`: the table of a run again."""

from __future__ import annotations

from pathlib import Path

import click

from perbyte.cli.options import limits_option, note, output_options, rate_option
from perbyte.cli.run_names import find_run
from perbyte.errors import UsageError
from perbyte.model import Run


@click.command("show")
@click.argument("run", required=False, type=click.Path(path_type=Path))
@output_options
@rate_option
@limits_option
def command(
    run: Path | None,
    as_json: bool,
    as_csv: bool,
    unit: str | None,
    rate: float | None,
    limits: bool,
    quiet: bool,
) -> int:
    """Show RUN: a directory, or a name of `perbyte list runs`; the newest run without it.

    \b
      perbyte show
      perbyte show results/monday --unit MB/s
      perbyte show results/monday --rate 2GB/s
      perbyte show --json | jq '.cells[] | {address, cycles_per_byte}'
    """
    from perbyte.model.text import plain
    from perbyte.store import open_run, unlike_manifest

    place = find_run(run)
    print_run(open_run(place), unit, as_json=as_json, as_csv=as_csv, rate=rate, limits=limits)
    if bad := unlike_manifest(place):
        note(f"damaged: {plain('; '.join(bad), 600)}")
        note(f"the figures are those that were stored; perbyte verify {place} looks closer")
    return 0


def print_run(
    run: Run,
    unit: str | None,
    *,
    as_json: bool,
    as_csv: bool,
    rate: float | None = None,
    limits: bool = False,
) -> None:
    """Print a run in the form that was asked for, with what `rate` (bytes a second) asks of it, and the limits.

    Raises UsageError when two forms were asked for.
    """
    if as_json and as_csv:
        raise UsageError("--json and --csv exclude each other")
    if (rate or limits) and as_csv:
        raise UsageError(f"--{'rate' if rate else 'limits'} is not in the CSV", hint="--json has it")
    if as_json:
        import json

        from perbyte.report.beyond import scaling_json
        from perbyte.report.export import to_json
        from perbyte.report.limit import limits_json
        from perbyte.report.rate import rate_json

        found = to_json(run) | ({"rate": rate_json(run.cells, rate)} if rate else {})
        found |= {"limits": limits_json(run.cells)} if limits else {}
        found |= {"scaling": told} if (told := scaling_json(run.cells)) else {}
        print(json.dumps(found, indent=1, allow_nan=False))
    elif as_csv:
        from perbyte.report.export import to_csv

        print(to_csv(run), end="")
    else:
        from perbyte.report.beyond import render_beyond
        from perbyte.report.text import render_table
        from perbyte.stats.quantity import Unit

        print(render_table(run, unit=Unit(unit) if unit else None), end="")
        if beyond := render_beyond(run.cells):
            print("\n" + beyond, end="")
        if rate:
            from perbyte.report.rate import render_rate

            print("\n" + render_rate(run.cells, rate), end="")
        if limits:
            from perbyte.report.limit import render_limits

            print("\n" + render_limits(run.cells), end="")
