"""`perbyte atlas`: runs of many machines in one place."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from perbyte import extras, places
from perbyte.app.atlases import atlas_at, atlas_place, spread_over
from perbyte.cli.declared import Options, argument, flag, group, option, takes
from perbyte.cli.options import Forms, QuietOption, SchedulerOptions, Share
from perbyte.cli.streams import note, print_json, print_lines
from perbyte.cli.terminal import print_listing
from perbyte.errors import EXIT_FINE, EXIT_FOUND, EnvironmentLacking
from perbyte.model.text import counted

if TYPE_CHECKING:
    from perbyte.atlas.anew import Over


class _AtlasOption(Options):
    url: str | None = option(
        "--atlas", metavar="PLACE", help="Directory, or s3://bucket/path.  [the user's own]"
    )


class _SpreadOptions(_AtlasOption):
    workers: int = option("--workers", default=0, help="Number of processes.  [this one]")
    at: SchedulerOptions = group(SchedulerOptions)


@click.group("atlas")
def atlas_command() -> None:
    """Keep runs of many machines in one place, and query them.

    \b
      perbyte atlas add                                   the newest run
      perbyte atlas list
      perbyte atlas query "SELECT machine, min(cycles_per_byte) FROM cells
        WHERE algorithm = 'sha-256' GROUP BY machine"
      perbyte report --atlas
    """


class _AddOptions(Options):
    runs: tuple[Path, ...] = argument(nargs=-1, metavar="[RUN...]")
    at: _AtlasOption = group(_AtlasOption)
    machine: str = option(
        "--machine", default="", help="Name of the machine that measured.  [from its profile]"
    )
    keep_identities: bool = flag(
        "--keep-identities", help="Keep names of hosts and users, and paths, in the added runs."
    )
    without_samples: bool = flag(
        "--without-samples", help="Leave out samples and audits: the figures stay, in a tenth of the size."
    )
    notes: QuietOption = group(QuietOption)


@takes("add", _AddOptions, atlas_command)
def add_(options: _AddOptions) -> int:
    """Add RUNs (the newest without them). A run that the atlas already has is not added again."""
    from perbyte.app.runs import find_run

    place = atlas_place(options.at.url)
    from perbyte.atlas import add

    done = add(
        place,
        [find_run(run) for run in options.runs or (None,)],
        machine=options.machine,
        keep_identities=options.keep_identities,
        with_samples=not options.without_samples,
        watch=lambda key: options.notes.note(f"added: {key}"),
    )
    for key in done.known:
        options.notes.note(f"there already: {key}")
    for path, error in done.refused:
        note(f"left out: {path}: {error}")
    if done.refused and not done.new and not done.known:
        raise done.refused[0][1]
    options.notes.note(f"atlas: {place}")
    return EXIT_FOUND if done.refused else EXIT_FINE


class _ListOptions(_AtlasOption):
    by_run: bool = flag("--runs", help="Print a row per run instead of one per machine.")
    as_json: bool = flag("--json", help="Print JSON.")


@takes("list", _ListOptions, atlas_command)
def list_(options: _ListOptions) -> int:
    """List machines, or runs, newest first."""
    import msgspec

    from perbyte.report.lists import machines_listing, runs_listing

    atlas = atlas_at(options.url, note)
    listed = sorted(atlas.runs.values(), key=lambda row: (row.started_at, row.key), reverse=True)
    if options.as_json:
        print_json([{"key": row.key} | msgspec.to_builtins(row) for row in listed])
        return EXIT_FINE
    if listed:
        print_listing(runs_listing(listed) if options.by_run else machines_listing(atlas.machines()))
    note(
        f"{counted(len(atlas.runs), 'run')} of {counted(len(atlas.machines()), 'machine')} in {atlas.place.url}"
    )
    return EXIT_FINE


class _AtlasQueryOptions(Options):
    sql: str = argument()
    at: _AtlasOption = group(_AtlasOption)
    forms: Forms = group(Forms)


@takes("query", _AtlasQueryOptions, atlas_command)
def query_(options: _AtlasQueryOptions) -> int:
    """Run one SQL statement over all runs of the atlas.

    Views: runs (a row per run), cells (a row per figure), samples (a row per sample); `run` joins them.
    """
    from perbyte.atlas import query
    from perbyte.cli.runs import print_rows

    print_rows(*query(atlas_at(options.at.url, note), options.sql), options.forms)
    return EXIT_FINE


class _PullOptions(Options):
    keys: tuple[str, ...] = argument(nargs=-1, required=True, metavar="RUN...")
    at: _AtlasOption = group(_AtlasOption)
    out: Path | None = option("--out", help="Directory to write to.  [where runs are]")
    notes: QuietOption = group(QuietOption)


@takes("pull", _PullOptions, atlas_command)
def pull_(options: _PullOptions) -> int:
    """Write RUNs of the atlas as run directories, for show, report, compare and study judge."""
    from perbyte.atlas import pull

    atlas = atlas_at(options.at.url, note)
    full_keys = [atlas.find(key).key for key in options.keys]
    target = options.out or places.runs_home()
    pull(atlas, full_keys, target, lambda key: options.notes.note(f"run: {target / key}"))
    return EXIT_FINE


@takes("pack", _AtlasOption, atlas_command)
def pack_(options: _AtlasOption) -> int:
    """Combine many small files into a few large ones. No data are lost, and queries get faster."""
    from perbyte.atlas import pack

    before, after = pack(atlas_place(options.url))
    note(f"{before:,} files before, {after:,} now")
    return EXIT_FINE


class _SiteOptions(Options):
    directory: Annotated[Path, click.Path(path_type=Path, file_okay=False)] = argument()
    at: _AtlasOption = group(_AtlasOption)
    title: str = option("--title", default="What cryptography costs", help="Title of the first page.")
    notes: QuietOption = group(QuietOption)


@takes("site", _SiteOptions, atlas_command)
def site_(options: _SiteOptions) -> int:
    """Write the atlas as a website into DIRECTORY: pages by algorithm, library, machine and month, search, and data."""
    extras.require("report", "A site")
    atlas, directory = atlas_at(options.at.url, note), options.directory
    from perbyte.atlas.export import gather, write_data
    from perbyte.report.site.write import write_site

    try:
        pages = write_site(gather(atlas), directory, lambda place: write_data(atlas, place), options.title)
    except OSError as error:
        raise EnvironmentLacking(
            f"{directory} cannot be written: {error.strerror}", hint="look at the disk and the permissions"
        ) from None
    options.notes.note(f"site: {directory / 'index.html'}, {pages:,} pages")
    return EXIT_FINE


@takes("verify", _AtlasOption, atlas_command)
def verify_(options: _AtlasOption) -> int:
    """Compare every file with the index, and check the state of every run. Exit code 1 if something is wrong."""
    from perbyte.atlas.reading import verify
    from perbyte.model.text import plain

    atlas = atlas_at(options.url)
    wrong = verify(atlas)
    for line in wrong:
        print(plain(line, 400))
    note(f"{len(atlas.runs):,} runs, {len(wrong):,} faults")
    return EXIT_FOUND if wrong else EXIT_FINE


CHANGED = ("precision", "level", "clock_tolerance", "contention_tolerance")  # of a policy, by `refigure`


def _spread(options: _SpreadOptions) -> AbstractContextManager[Over]:
    at = options.at
    return spread_over(options.workers, at.address, at.guard.secret, insecure=at.guard.insecure)


class _RefigureOptions(Options):
    precision: Share | None = option("--precision", help="Half-width at which a figure is good.")
    level: Share | None = option("--level", help="Level of the intervals.")
    clock_tolerance: Share | None = option(
        "--clock-tolerance", help="Largest difference of the clock around a clean sample."
    )
    contention_tolerance: Share | None = option(
        "--contention-tolerance", help="Largest contention of a clean sample."
    )
    output: Path | None = option("-o", "--output", help="Write the figures to this Parquet file.")
    over: _SpreadOptions = group(_SpreadOptions)


@takes("refigure", _RefigureOptions, atlas_command)
def refigure_(options: _RefigureOptions) -> int:
    """Compute all figures again from the samples under another policy, and show the changes."""
    from perbyte.atlas.anew import refigure

    atlas = atlas_at(options.over.url, note)
    changes = {name: change for name in CHANGED if (change := getattr(options, name)) is not None}
    with _spread(options.over) as over:
        told = refigure(atlas, changes, options.output, over)
    for problem in told.problems:
        note(f"left out: {problem}")
    print(f"{told.cells:,} figures of {told.runs:,} runs; {told.differ:,} differ by more than 0.1%")
    for name in sorted({*told.before, *told.after}):
        print(f"{name:10} {told.before[name]:>12,} before {told.after[name]:>12,} after")
    return EXIT_FOUND if told.problems else EXIT_FINE


class _ClaimsOptions(Options):
    study: str = argument()
    over: _SpreadOptions = group(_SpreadOptions)
    as_json: bool = flag("--json", help="Print JSON.")


@takes("claims", _ClaimsOptions, atlas_command)
def claims_(options: _ClaimsOptions) -> int:
    """Judge the claims of STUDY on every machine that repeated it."""
    from perbyte.atlas.anew import judge_over

    atlas = atlas_at(options.over.url, note)
    with _spread(options.over) as over:
        judged = judge_over(atlas, options.study, over)
    if options.as_json:
        print_json([asdict(machines) | {"sentence": machines.sentence} for machines in judged])
    else:
        print_lines(f"{claim.claim}: {claim.says}\n  {claim.sentence}" for claim in judged)
    return EXIT_FINE
