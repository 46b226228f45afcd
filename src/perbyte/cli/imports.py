"""`perbyte import`: other tools' results as runs, for show, compare and report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from perbyte.cli.options import note
from perbyte.errors import EXIT_FINE
from perbyte.exchange.benchmarks import FORMATS
from perbyte.model.text import plain

if TYPE_CHECKING:
    from perbyte.model import Run


@click.group("import")
def command() -> None:
    """Read another tool's listing as a run.

    \b
      openssl speed > listing.txt; perbyte import openssl-speed listing.txt
      perbyte compare 20261103-140501-3f2a listing

    Runs of Perbyte from another machine need no import: copy the directory and name it.
    """


@command.command("openssl-speed")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option("--name", help="Name of the run; several runs get numbers.  [the file's]")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Directory of the run, or of the runs if several."
)
@click.option(
    "--machine", type=click.Path(path_type=Path), help="File of boot messages, /proc/cpuinfo or lscpu."
)
@click.option("--library-version", "version", help="OpenSSL's version, if a listing lacks it.")
@click.option("--join", is_flag=True, help="Make one run of all listings (one machine, one version).")
@click.option("--partial", is_flag=True, help="Take the complete rows of a truncated listing.")
@click.option("--replace", "overwrite", is_flag=True, help="Replace runs of the same name.")
@click.option("-q", "--quiet", is_flag=True, help="No notes.")
def openssl_speed(
    files: tuple[Path, ...],
    name: str | None,
    out: Path | None,
    machine: Path | None,
    version: str | None,
    join: bool,
    partial: bool,
    overwrite: bool,
    quiet: bool,
) -> int:
    """Import the output of `openssl speed`, plain or with -mr, of OpenSSL 0.9.8 to 3.x. `-` is standard input.

    A file may contain several listings: each becomes a run. The tool gives no intervals and no cycles, so the figures
    have none. Boot messages around the tables describe the machine.
    """
    from perbyte.app.importing import read_openssl

    runs = read_openssl(files, name, machine, version or "", join=join, partial=partial)
    _deliver(runs, out, overwrite, quiet)
    return EXIT_FINE


def _importer(form: str) -> click.Command:
    @command.command(form, help=f"Import the output of {form}. `-` is standard input.")
    @click.argument("file", type=click.Path(path_type=Path))
    @click.option("--name", help="Name of the run.  [the file's]")
    @click.option("--out", type=click.Path(path_type=Path), help="Directory of the run.")
    @click.option("--as-runner", "runner", default="", metavar="NAME", help=f"Name of the rows.  [{form}]")
    @click.option(
        "--map",
        "meanings",
        multiple=True,
        metavar="PATTERN=ALGORITHM/OPERATION@SIZE",
        help="The cell for benchmarks whose names match PATTERN.",
    )
    @click.option("--replace", "overwrite", is_flag=True, help="Replace a run of the same name.")
    @click.option("-q", "--quiet", is_flag=True, help="No notes.")
    def importer(
        file: Path,
        name: str | None,
        out: Path | None,
        runner: str,
        meanings: tuple[str, ...],
        overwrite: bool,
        quiet: bool,
    ) -> int:
        from perbyte.app.importing import plain_name
        from perbyte.exchange import make_benchmark_run, read_benchmarks, read_meaning, read_text

        mappings = [read_meaning(text) for text in meanings]
        source = "standard input" if str(file) == "-" else file.name
        readings = read_benchmarks(form, read_text(file), source)
        run = make_benchmark_run(
            readings,
            form,
            name=name or plain_name(file, form),
            source=source,
            runner=runner or form,
            meanings=mappings,
        )
        _deliver([run], out, overwrite, quiet)
        return EXIT_FINE

    return importer


for _form in FORMATS:
    _importer(_form)


def _deliver(runs: list[Run], out: Path | None, overwrite: bool, quiet: bool) -> None:
    """Store the runs and print where, with what is missing and what was not understood."""
    from perbyte.app.importing import store_all
    from perbyte.report.facts import imported_text

    for run, place in store_all(runs, out, overwrite=overwrite):
        print(f"{place}  {imported_text(run)}")
        for text in (*run.conditions.input["missing"], *run.conditions.input["remarks"]):
            note(f"{run.conditions.run_id}: {plain(text, 400)}", quiet=quiet)
