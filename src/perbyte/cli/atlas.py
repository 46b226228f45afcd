"""`perbyte atlas`: runs of many machines in one place."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perbyte import extras, places
from perbyte.cli.options import Percent, note
from perbyte.cli.terminal import print_listing
from perbyte.errors import EXIT_FINE, EXIT_FOUND, EnvironmentLacking, UsageError
from perbyte.report.listing import from_records

if TYPE_CHECKING:
    from perbyte.atlas import Atlas
    from perbyte.atlas.anew import Over

at = click.option("--atlas", "url", metavar="PLACE", help="Directory, or s3://bucket/path.  [the user's own]")
as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def spread_options(function: Any) -> Any:
    """Add --workers and --scheduler."""
    function = click.option("--scheduler", "address", metavar="ADDRESS", help="Use this Dask scheduler.")(
        function
    )
    return click.option("--workers", default=0, help="Number of processes, by Dask.  [this one]")(function)


@click.group("atlas")
def command() -> None:
    """Keep runs of many machines in one place, and query them.

    \b
      perbyte atlas add                                   the newest run
      perbyte atlas list
      perbyte atlas query "SELECT machine, min(cycles_per_byte) FROM cells
        WHERE algorithm = 'sha-256' GROUP BY machine"
      perbyte report --atlas
    """


@command.command("add")
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path), metavar="[RUN...]")
@at
@click.option("--machine", default="", help="Name of the machine that measured.  [from its profile]")
@click.option(
    "--keep-identities", is_flag=True, help="Keep names of hosts and users, and paths, in the added runs."
)
@click.option("-q", "--quiet", is_flag=True, help="No progress and no notes.")
def add_(runs: tuple[Path, ...], url: str | None, machine: str, keep_identities: bool, quiet: bool) -> int:
    """Add RUNs (the newest without them). A run that the atlas already has is not added again."""
    from perbyte.app.run_names import find_run

    place = placed(url)
    from perbyte.atlas import add

    done = add(
        place,
        [find_run(run) for run in runs or (None,)],
        machine=machine,
        keep_identities=keep_identities,
        watch=lambda key: note(f"added: {key}", quiet=quiet),
    )
    for key in done.known:
        note(f"there already: {key}", quiet=quiet)
    for path, error in done.refused:
        note(f"left out: {path}: {error}")
    if done.refused and not done.new and not done.known:
        raise done.refused[0][1]
    note(f"atlas: {place}", quiet=quiet)
    return EXIT_FOUND if done.refused else EXIT_FINE


@command.command("list")
@at
@click.option("--runs", "by_run", is_flag=True, help="Print a row per run instead of one per machine.")
@as_json_option
def list_(url: str | None, by_run: bool, as_json: bool) -> int:
    """List machines, or runs, newest first."""
    import msgspec

    from perbyte.model.text import plain

    atlas = opened(url)
    listed = sorted(atlas.runs.values(), key=lambda row: (row.started_at, row.key), reverse=True)
    if as_json:
        print(json.dumps([{"key": row.key} | msgspec.to_builtins(row) for row in listed], indent=1))
        return EXIT_FINE
    if by_run:
        rows = [
            {
                "run": row.key,
                "started": row.started_at[:16],
                "cells": f"{row.cells:,}",
                "study": row.study,
                "libraries": ", ".join(row.libraries),
            }
            for row in listed
        ]
    else:
        rows = []
        for machine, runs in atlas.machines().items():
            libraries = sorted({library for run in runs for library in run.libraries})
            rows.append(
                {
                    "machine": machine,
                    "model": runs[0].cpu_model,
                    "provider": runs[0].provider,
                    "runs": f"{len(runs):,}",
                    "cells": f"{sum(run.cells for run in runs):,}",
                    "newest": max(run.started_at for run in runs)[:16],
                    "libraries": ", ".join(libraries),
                }
            )
    if rows:
        print_listing(
            from_records(
                [{name: plain(text, 120) for name, text in row.items()} for row in rows], "libraries"
            )
        )
    note(f"{len(atlas.runs):,} runs of {len(atlas.machines()):,} machines in {atlas.place.url}")
    return EXIT_FINE


@command.command("query")
@click.argument("sql")
@at
@as_json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV instead of the table.")
def query_(sql: str, url: str | None, as_json: bool, as_csv: bool) -> int:
    """Run one SQL statement over all runs of the atlas.

    Views: runs (a row per run), cells (a row per figure), samples (a row per sample); `run` joins them.
    """
    from perbyte.atlas import query
    from perbyte.cli.query import print_rows

    if as_json and as_csv:
        raise UsageError("--json and --csv exclude each other")
    print_rows(*query(opened(url), sql), as_json=as_json, as_csv=as_csv)
    return EXIT_FINE


@command.command("pull")
@click.argument("keys", nargs=-1, required=True, metavar="RUN...")
@at
@click.option("--out", type=click.Path(path_type=Path), help="Directory to write to.  [where runs are]")
@click.option("-q", "--quiet", is_flag=True, help="No notes.")
def pull_(keys: tuple[str, ...], url: str | None, out: Path | None, quiet: bool) -> int:
    """Write RUNs of the atlas as run directories, for show, report, compare and study judge."""
    from perbyte.atlas import pull

    atlas = opened(url)
    full_keys = [atlas.find(key).key for key in keys]
    target = out or places.runs_home()
    pull(atlas, full_keys, target, lambda key: note(f"run: {target / key}", quiet=quiet))
    return EXIT_FINE


@command.command("pack")
@at
def pack_(url: str | None) -> int:
    """Combine many small files into a few large ones. No data are lost, and queries get faster."""
    from perbyte.atlas import pack

    before, after = pack(placed(url))
    note(f"{before:,} files before, {after:,} now")
    return EXIT_FINE


@command.command("site")
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False))
@at
@click.option("--title", default="What cryptography costs", help="Title of the first page.")
@click.option("-q", "--quiet", is_flag=True, help="No notes.")
def site_(directory: Path, url: str | None, title: str, quiet: bool) -> int:
    """Write the atlas as a website into DIRECTORY: pages by algorithm, library, machine and month, search, and data."""
    extras.require("report", "A site")
    atlas = opened(url)
    from perbyte.atlas.export import gather, write_data
    from perbyte.report.site.write import write_site

    try:
        pages = write_site(gather(atlas), directory, lambda place: write_data(atlas, place), title)
    except OSError as error:
        raise EnvironmentLacking(
            f"{directory} cannot be written: {error.strerror}", hint="look at the disk and the permissions"
        ) from None
    note(f"site: {directory / 'index.html'}, {pages:,} pages", quiet=quiet)
    return EXIT_FINE


@command.command("verify")
@at
def verify_(url: str | None) -> int:
    """Compare every file with the index, and check the state of every run. Exit code 1 if something is wrong."""
    from perbyte.atlas.reading import verify
    from perbyte.model.text import plain

    atlas = opened(url, quiet=True)
    wrong = verify(atlas)
    for line in wrong:
        print(plain(line, 400))
    note(f"{len(atlas.runs):,} runs, {len(wrong):,} faults")
    return EXIT_FOUND if wrong else EXIT_FINE


@command.command("refigure")
@at
@click.option("--precision", type=Percent(), help="Half-width at which a figure is good.")
@click.option("--level", type=Percent(), help="Level of the intervals.")
@click.option(
    "--clock-tolerance", type=Percent(), help="Largest difference of the clock around a clean sample."
)
@click.option("--contention-tolerance", type=Percent(), help="Largest contention of a clean sample.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write the figures to this Parquet file."
)
@spread_options
def refigure_(
    url: str | None, output: Path | None, workers: int, address: str | None, **changes: float | None
) -> int:
    """Compute all figures again from the samples under another policy, and show the changes."""
    from perbyte.atlas.anew import refigure

    atlas = opened(url)
    with _spread(workers, address) as over:
        told = refigure(
            atlas, {name: change for name, change in changes.items() if change is not None}, output, over
        )
    for problem in told.problems:
        note(f"left out: {problem}")
    print(f"{told.cells:,} figures of {told.runs:,} runs; {told.differ:,} differ by more than 0.1%")
    for name in sorted({*told.before, *told.after}):
        print(f"{name:10} {told.before[name]:>12,} before {told.after[name]:>12,} after")
    return EXIT_FOUND if told.problems else EXIT_FINE


@command.command("claims")
@click.argument("study")
@at
@spread_options
@as_json_option
def claims_(study: str, url: str | None, workers: int, address: str | None, as_json: bool) -> int:
    """Judge the claims of STUDY on every machine that repeated it."""
    from perbyte.atlas.anew import judge_over

    atlas = opened(url)
    with _spread(workers, address) as over:
        machine_lists = judge_over(atlas, study, over)
    if as_json:
        print(
            json.dumps(
                [asdict(machines) | {"sentence": machines.sentence} for machines in machine_lists], indent=1
            )
        )
        return EXIT_FINE
    for machine_list in machine_lists:
        print(f"{machine_list.claim}: {machine_list.says}\n  {machine_list.sentence}")
    return EXIT_FINE


@contextlib.contextmanager
def _spread(workers: int, address: str | None) -> Iterator[Over]:
    """A map in one process, on so many workers here, or on those behind a scheduler."""
    from perbyte.atlas.anew import one_process

    if not workers and not address:
        yield one_process
        return
    extras.require("fleet", "A fleet")
    from perbyte.fleet.spread import spread

    with spread(workers, address) as over:
        yield over


def placed(url: str | None) -> str:
    """The atlas that is meant: the one named, or the user's own. Raises EnvironmentLacking without its extra."""
    extras.require("atlas", "An atlas")
    return url or str(places.atlas_home())


def opened(url: str | None, *, quiet: bool = False) -> Atlas:
    """Open an atlas, and say what of its index cannot be read."""
    from perbyte.model.text import plain

    place = placed(url)
    from perbyte.atlas import open_atlas

    atlas = open_atlas(place)
    for problem in atlas.problems:
        note(f"note: {plain(problem, 300)}", quiet=quiet)
    return atlas
