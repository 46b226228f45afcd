"""`perbyte import` and `perbyte export`: other tools' results as runs, and a run in another tool's format."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from perbyte.cli.declared import Options, argument, flag, group, option, takes
from perbyte.cli.options import QuietOption
from perbyte.cli.streams import note
from perbyte.errors import EXIT_FINE
from perbyte.exchange.benchmarks import FORMATS
from perbyte.model import Run
from perbyte.model.text import plain


@click.group("import")
def import_command() -> None:
    """Read another tool's listing as a run.

    \b
      openssl speed > listing.txt; perbyte import openssl-speed listing.txt
      perbyte compare 20261103-140501-3f2a listing

    Runs of Perbyte from another machine need no import: copy the directory and name it.
    """


class _ImportOptions(QuietOption):
    name: str | None = option("--name", help="Name of the run; several runs get numbers.  [the file's]")
    out: Path | None = option("--out", help="Directory of the run, or of the runs if several.")
    overwrite: bool = flag("--replace", help="Replace runs of the same name.")


class _SpeedOptions(Options):
    files: tuple[Path, ...] = argument(nargs=-1, required=True, metavar="FILE...")
    machine: Path | None = option("--machine", help="File of boot messages, /proc/cpuinfo or lscpu.")
    version: str = option("--library-version", default="", help="OpenSSL's version, if a listing lacks it.")
    join: bool = flag("--join", help="Make one run of all listings (one machine, one version).")
    partial: bool = flag("--partial", help="Take the complete rows of a truncated listing.")
    place: _ImportOptions = group(_ImportOptions)


@takes("openssl-speed", _SpeedOptions, import_command)
def openssl_speed(options: _SpeedOptions) -> int:
    """Import the output of `openssl speed`, plain or with -mr, of OpenSSL 0.9.8 to 3.x. `-` is standard input.

    A file may contain several listings: each becomes a run. The tool gives no intervals and no cycles, so the figures
    have none. Boot messages around the tables describe the machine.
    """
    from perbyte.app.importing import read_openssl

    of_files = (options.files, options.place.name, options.machine, options.version)
    return _deliver(read_openssl(*of_files, join=options.join, partial=options.partial), options.place)


class _BenchmarkOptions(Options):
    file: Path = argument()
    runner: str = option("--as-runner", default="", metavar="NAME", help="Name of the rows.  [the tool's]")
    meanings: tuple[str, ...] = option(
        "--map",
        metavar="PATTERN=ALGORITHM/OPERATION@SIZE",
        help="The cell for benchmarks whose names match PATTERN.",
    )
    place: _ImportOptions = group(_ImportOptions)


def _importer(form: str) -> click.Command:
    @takes(
        form, _BenchmarkOptions, import_command, help=f"Import the output of {form}. `-` is standard input."
    )
    def importer(options: _BenchmarkOptions) -> int:
        from perbyte.app.importing import read_tool

        run = read_tool(options.file, form, options.place.name, options.runner, options.meanings)
        return _deliver([run], options.place)

    return importer


for _form in FORMATS:
    _importer(_form)


def _deliver(runs: list[Run], place: _ImportOptions) -> int:

    from perbyte.app.importing import store_all
    from perbyte.report.facts import imported_text

    for run, stored in store_all(runs, place.out, overwrite=place.overwrite):
        print(f"{stored}  {imported_text(run)}")
        for text in (*run.conditions.input["missing"], *run.conditions.input["remarks"]):
            place.note(f"{run.conditions.run_id}: {plain(text, 400)}")
    return EXIT_FINE


class _ExportOptions(Options):
    run: Path | None = argument(required=False)
    form: Literal["openssl-speed", "csv", "json", "benchfmt", "bencher", "github-action-benchmark"] = option(
        "--format", default="json", show_default=True, help="Format."
    )
    output: Path | None = option("-o", "--output", help="File to write.  [standard output]")
    notes: QuietOption = group(QuietOption)


@takes("export", _ExportOptions)
def export_command(options: _ExportOptions) -> int:
    """Write RUN (default: the newest) as JSON, CSV, a table of `openssl speed`, or for benchmark trackers.

    \b
      perbyte export --format openssl-speed
      perbyte export results/monday --format csv -o monday.csv
      perbyte export --format benchfmt -o new.txt; benchstat old.txt new.txt
    """
    from perbyte.app.runs import find_run
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
