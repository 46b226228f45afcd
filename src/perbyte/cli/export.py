"""`perbyte export`: a run in another tool's format."""

from __future__ import annotations

from pathlib import Path

import click

from perbyte.cli.options import note
from perbyte.cli.report import written
from perbyte.errors import EXIT_FINE, UsageError

FORMATS = ("openssl-speed", "csv", "json", "benchfmt", "bencher", "github-action-benchmark")


@click.command("export")
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="json", show_default=True, help="Format."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File to write.  [standard output]")
@click.option("-q", "--quiet", is_flag=True, help="No notes.")
def command(run: Path | None, form: str, output: Path | None, quiet: bool) -> int:
    """Write RUN (default: the newest) as JSON, CSV, a table of `openssl speed`, or for benchmark trackers.

    \b
      perbyte export --format openssl-speed
      perbyte export results/monday --format csv -o monday.csv
      perbyte export --format benchfmt -o new.txt; benchstat old.txt new.txt
    """
    from perbyte.app.run_names import find_run
    from perbyte.store import open_run

    opened = open_run(find_run(run))
    if form == "openssl-speed":
        from perbyte.exchange import write_table

        table = write_table(opened)
        if not table.text:
            raise UsageError(
                "this run has no figure that a table of openssl speed can hold",
                hint="it holds: ciphers stream/1 (encrypt), hashes oneshot/1, MACs message/1, RSA and DSA pk/1",
            )
        if table.left_out:
            first = table.left_out[0]
            note(
                f"{len(table.left_out)} cells do not fit such a table and are left out: {first} ...",
                quiet=quiet,
            )
        text = table.text
    elif form == "csv":
        from perbyte.report.export import to_csv

        text = to_csv(opened)
    elif form == "benchfmt":
        from perbyte.exchange import to_benchfmt

        text = to_benchfmt(opened)
    elif form in ("bencher", "github-action-benchmark"):
        import json

        from perbyte.exchange import to_action, to_bencher

        text = json.dumps(to_bencher(opened) if form == "bencher" else to_action(opened), indent=1) + "\n"
    else:
        import json

        from perbyte.report.export import to_json

        text = json.dumps(to_json(opened), indent=1, allow_nan=False) + "\n"
    if output is None:
        print(text, end="")
        return EXIT_FINE
    written(output, lambda part: part.write_text(text, encoding="utf-8", newline=""))
    note(f"written: {output}", quiet=quiet)
    return EXIT_FINE
