"""Other tools' listings, read and stored as runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from perbyte import places
from perbyte.errors import UsageError
from perbyte.exchange import (
    join_listings,
    make_benchmark_run,
    make_run,
    read_benchmarks,
    read_listings,
    read_machine,
    read_meaning,
    read_origin,
    read_text,
)
from perbyte.model import Run
from perbyte.model.text import plain
from perbyte.store import RunWriter

LISTED = "perbyte list algorithms lists all"


def read_openssl(
    files: Sequence[Path], name: str | None, machine: Path | None, version: str, *, join: bool, partial: bool
) -> list[Run]:
    """The listings of `openssl speed` in `files`, a run each, or one of all with `join`.

    `machine` is a file that describes the machine, `version` the library's where a listing lacks it; `partial` takes
    the complete rows of a truncated listing. Raises UsageError where a listing holds nothing that is known.
    """
    profile = read_machine(read_text(machine).split("\n")) if machine else None
    listings = []
    for file in files:
        source = "standard input" if str(file) == "-" else file.name
        for listing in read_listings(read_text(file), source, partial=partial):
            listing.version = listing.version or version
            listings.append((listing, source, name or plain_name(file)))
    if join:
        listings = [(join_listings([entry for entry, _, _ in listings]), *listings[0][1:])]
    titles = [title for _, _, title in listings]
    counts = {title: titles.count(title) for title in titles}
    runs: list[Run] = []
    unknown: list[str] = []
    for number, (listing, source, title) in enumerate(listings):
        several = counts[title] > 1
        title = f"{title}-{titles[: number + 1].count(title)}" if several else title
        run = make_run(listing, name=title, source=source, machine=profile)
        if run.cells or run.failures:
            runs.append(run)
            continue
        text = plain(next(iter(run.conditions.input["remarks"]), "no row"), 200)
        unknown.append(f"{source}, line {listing.line}: the listing holds nothing Perbyte knows: {text}")
    if not runs:
        raise UsageError(unknown[0], hint=LISTED)
    runs[0].conditions.input["remarks"].extend(unknown)
    return runs


def read_tool(file: Path, form: str, name: str | None, runner: str, meanings: Sequence[str]) -> Run:
    """The output of a benchmark tool in `file` as a run; rows are called `runner`, or as the tool is.

    `meanings` say which cell a benchmark is (`exchange.read_meaning`). Raises UsageError for what cannot be read.
    """
    source = "standard input" if str(file) == "-" else file.name
    text = read_text(file)
    return make_benchmark_run(
        read_benchmarks(form, text, source),
        form,
        name=name or plain_name(file, form),
        source=source,
        runner=runner or form,
        meanings=[read_meaning(meaning) for meaning in meanings],
        origin=read_origin(form, text),
    )


def store_all(runs: Sequence[Run], out: Path | None, *, overwrite: bool) -> Iterator[tuple[Run, Path]]:
    """Store imported runs in `out` or the home of runs; give each with its directory once it is stored.

    Raises UsageError, before anything is written, for a run that holds nothing and for a place that is taken.
    """
    for run in runs:
        if not run.cells and not run.failures:
            text = plain(next(iter(run.conditions.input["remarks"]), "no row"), 200)
            raise UsageError(f"nothing in it is known to Perbyte: {text}", hint=LISTED)
    for run, place in _with_places(runs, out, overwrite):
        with RunWriter.create(place, overwrite=overwrite) as writer:
            writer.begin(run.conditions)
            for failure in run.failures:
                writer.failed(failure)
            writer.finish(run.cells, run.noise_floor, run.measuring_s, run.complete)
        yield run, place


def _with_places(runs: Sequence[Run], out: Path | None, overwrite: bool) -> list[tuple[Run, Path]]:
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


def plain_name(file: Path, form: str = "openssl-speed") -> str:
    """A name for a run, from that of its file."""
    stem = form if str(file) == "-" else file.stem
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-.") or form
