"""`perbyte export`: a run in another tool's format."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from perbyte.cli.declared import argument, group, option, takes
from perbyte.cli.options import QuietOption, note
from perbyte.errors import EXIT_FINE, UsageError

if TYPE_CHECKING:
    from perbyte.model import Run


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """Which run is written, in which format and where."""

    run: Path | None = argument(required=False)
    form: Literal["openssl-speed", "csv", "json", "benchfmt", "bencher", "github-action-benchmark"] = option(
        "--format", default="json", show_default=True, help="Format."
    )
    output: Path | None = option("-o", "--output", help="File to write.  [standard output]")
    notes: QuietOption = group(QuietOption)


@click.command("export")
@takes(ExportOptions)
def command(options: ExportOptions) -> int:
    """Write RUN (default: the newest) as JSON, CSV, a table of `openssl speed`, or for benchmark trackers.

    \b
      perbyte export --format openssl-speed
      perbyte export results/monday --format csv -o monday.csv
      perbyte export --format benchfmt -o new.txt; benchstat old.txt new.txt
    """
    from perbyte.app.run_names import find_run
    from perbyte.report.files import written
    from perbyte.store import open_run

    text = _text(open_run(find_run(options.run)), options)
    if options.output is None:
        print(text, end="")
        return EXIT_FINE
    written(options.output, lambda part: part.write_text(text, encoding="utf-8", newline=""), note)
    options.notes.note(f"written: {options.output}")
    return EXIT_FINE


def _text(run: Run, options: ExportOptions) -> str:
    from perbyte import exchange
    from perbyte.report import export

    match options.form:
        case "openssl-speed":
            return _table(run, options.notes)
        case "csv":
            return export.to_csv(run)
        case "benchfmt":
            return exchange.to_benchfmt(run)
        case "bencher":
            document: Any = exchange.to_bencher(run)
        case "github-action-benchmark":
            document = exchange.to_action(run)
        case "json":
            document = export.to_json(run)
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def _table(run: Run, notes: QuietOption) -> str:
    """As `openssl speed` prints it. Raises UsageError where no figure fits."""
    from perbyte.exchange import write_table

    table = write_table(run)
    if not table.text:
        raise UsageError(
            "this run has no figure that a table of openssl speed can hold",
            hint="it holds: ciphers stream/1 (encrypt), hashes oneshot/1, MACs message/1, RSA and DSA pk/1",
        )
    if table.left_out:
        notes.note(
            f"{len(table.left_out)} cells do not fit such a table and are left out: {table.left_out[0]} ..."
        )
    return table.text
