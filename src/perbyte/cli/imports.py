"""`perbyte import`: other tools' results as runs, for show, compare and report."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from perbyte.cli.options import note
from perbyte.errors import EXIT_FINE, UsageError
from perbyte.exchange.benchmarks import FORMATS

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
    from perbyte.exchange import join_listings, make_run, read_listings, read_machine, read_text
    from perbyte.model.text import plain

    profile = read_machine(read_text(machine).split("\n")) if machine else None
    listings = []
    for file in files:
        source = "standard input" if str(file) == "-" else file.name
        for listing in read_listings(read_text(file), source, partial=partial):
            listing.version = listing.version or version or ""
            listings.append((listing, source, name or _plain_name(file)))
    if join:
        listings = [(join_listings([entry for entry, _, _ in listings]), *listings[0][1:])]
    titles = [title for _, _, title in listings]
    counts = {title: titles.count(title) for title in titles}
    runs = []
    for number, (listing, source, title) in enumerate(listings):
        several = counts[title] > 1
        title = f"{title}-{titles[: number + 1].count(title)}" if several else title
        runs.append(make_run(listing, name=title, source=source, machine=profile))
        if not runs[-1].cells and not runs[-1].failures:
            text = plain(next(iter(runs[-1].conditions.input["remarks"]), "no row"), 200)
            raise UsageError(
                f"{source}, line {listing.line}: the listing holds nothing Perbyte knows: {text}",
                hint="perbyte list algorithms lists all",
            )
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
        from perbyte.exchange import make_benchmark_run, read_benchmarks, read_meaning, read_text

        mappings = [read_meaning(text) for text in meanings]
        source = "standard input" if str(file) == "-" else file.name
        readings = read_benchmarks(form, read_text(file), source)
        run = make_benchmark_run(
            readings,
            form,
            name=name or _plain_name(file, form),
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
    from perbyte.model.text import plain

    for run in runs:
        if not run.cells and not run.failures:
            text = plain(next(iter(run.conditions.input["remarks"]), "no row"), 200)
            raise UsageError(
                f"nothing in it is known to Perbyte: {text}",
                hint="perbyte list algorithms lists all",
            )
    for run, place in _with_places(runs, out, overwrite):
        _store(run, place, overwrite)
        print(f"{place}  {plain(_summary(run), 200)}")
        for text in (*run.conditions.input["missing"], *run.conditions.input["remarks"]):
            note(f"{run.conditions.run_id}: {plain(text, 400)}", quiet=quiet)


def _with_places(runs: list[Run], out: Path | None, overwrite: bool) -> list[tuple[Run, Path]]:
    """Each run with its directory. Raises UsageError before anything is written when one is taken."""
    from perbyte import places

    home = out or places.runs_home()
    alone = out is not None and len(runs) == 1
    placed = [(run, home if alone else home / run.conditions.run_id) for run in runs]
    if bad := next((name for _, place in placed if (name := place.name) in ("", ".", "..")), None):
        raise UsageError(
            f"{bad!r} is not a valid name of a run", hint="use --name with letters, digits, dot and dash"
        )
    if escaped := next((run for run in runs if "/" in run.conditions.run_id), None):
        raise UsageError(
            f"the name {escaped.conditions.run_id!r} is a path",
            hint="use --name for the name, --out for the place",
        )
    taken = next((place for _, place in placed if (place / "run.json").exists()), None)
    if taken and not overwrite:
        raise UsageError(f"there is a run at {taken} already", hint="use --name, --out or --replace")
    return placed


def _store(run: Run, place: Path, overwrite: bool) -> None:
    from perbyte.store import RunWriter

    with RunWriter.create(place, overwrite=overwrite) as writer:
        writer.begin(run.conditions)
        for failure in run.failures:
            writer.failed(failure)
        writer.finish(run.cells, run.noise_floor, run.measuring_s, run.complete)


def _summary(run: Run) -> str:
    library = next(
        (f"{identity.library} {identity.library_version}".strip() for identity in run.conditions.identities),
        "no cell",
    )
    absent = f", {len(run.failures)} not available" if run.failures else ""
    where = f", {run.conditions.machine.cpu_model}" if run.conditions.machine.cpu_model else ""
    cells = "1 cell" if len(run.cells) == 1 else f"{len(run.cells)} cells"
    return f"{cells}{absent}; {library}{where}" + ("" if run.complete else "; INCOMPLETE")


def _plain_name(file: Path, form: str = "openssl-speed") -> str:
    stem = form if str(file) == "-" else file.stem
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-.") or form
