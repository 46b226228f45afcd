"""`perbyte export`: a run in another tool's format."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from perbyte.cli.declared import Options, argument, group, option, takes
from perbyte.cli.options import QuietOption, note
from perbyte.errors import EXIT_FINE


class _ExportOptions(Options):
    run: Path | None = argument(required=False)
    form: Literal["openssl-speed", "csv", "json", "benchfmt", "bencher", "github-action-benchmark"] = option(
        "--format", default="json", show_default=True, help="Format."
    )
    output: Path | None = option("-o", "--output", help="File to write.  [standard output]")
    notes: QuietOption = group(QuietOption)


@takes("export", _ExportOptions)
def command(options: _ExportOptions) -> int:
    """Write RUN (default: the newest) as JSON, CSV, a table of `openssl speed`, or for benchmark trackers.

    \b
      perbyte export --format openssl-speed
      perbyte export results/monday --format csv -o monday.csv
      perbyte export --format benchfmt -o new.txt; benchstat old.txt new.txt
    """
    from perbyte.app.run_names import find_run
    from perbyte.report.export import exported
    from perbyte.report.files import written
    from perbyte.store import open_run

    text, left_out = exported(open_run(find_run(options.run)), options.form)
    if left_out:
        options.notes.note(left_out)
    if options.output is None:
        print(text, end="")
        return EXIT_FINE
    written(options.output, lambda part: part.write_text(text, encoding="utf-8", newline=""), note)
    options.notes.note(f"written: {options.output}")
    return EXIT_FINE
