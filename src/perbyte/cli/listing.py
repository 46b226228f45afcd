"""`perbyte list`: what there is to choose from."""

from __future__ import annotations

import json

import click

from perbyte.app.lists import KINDS, Row, rows_of
from perbyte.cli.options import note

# the column whose text is wrapped, and those that are left out where there is no room, first the one to go first
_LAYOUT: dict[str, tuple[str, tuple[str, ...]]] = {
    "algorithms": ("aliases", ("block_bits", "year")),
    "providers": ("how", ("library",)),
    "suites": ("answers", ("cells", "title")),
    "runners": ("summary", ("library", "cpu_tiers")),
    "operations": ("contracts", ("cpu_tiers",)),
    "studies": ("title", ()),
    "contracts": ("one timed call is", ()),
    "runs": ("measured", ("machine", "seconds", "origin", "state")),
}


@click.command("list")
@click.argument(
    "what",
    type=click.Choice(KINDS),
)
@click.argument("pattern", required=False, default="*")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(what: str, pattern: str, as_json: bool) -> int:
    """List algorithms, providers, runners, operations, suites, studies, contracts or runs. PATTERN filters by name.

    Providers are the runners that have the algorithm PATTERN, built or not, and how to get them. Operations are those
    that the runners report; PATTERN is then a runner or a selector.

    \b
      perbyte list algorithms 'aes-*'
      perbyte list providers ML-KEM-768
      perbyte list runners --json
      perbyte list operations openssl
      perbyte list operations '*/aes-128-gcm'
    """
    show_rows(what, pattern, as_json)
    return 0


def show_rows(what: str, pattern: str, as_json: bool) -> None:
    """Print the rows of one kind, as a table or as JSON."""
    from perbyte.cli.terminal import print_listing
    from perbyte.report.listing import from_records

    rows = rows_of(what, pattern, note)
    if as_json:
        print(json.dumps(rows, indent=1, default=str))
        return
    if what == "runs":
        note("runs made with --out lie where that said, and are named by their directory")
        rows = [_run_in_short(row) for row in rows]
    print_listing(from_records(rows, *_LAYOUT[what]))


def _run_in_short(row: Row) -> Row:
    """The row of a run for the table: what one chooses by. JSON has the rest."""
    state = "complete" if row["complete"] else f"{row['cells']} of {row['planned']} cells: interrupted"
    return {
        "run": row["path"].name,
        "started": str(row["started_at"])[:16].replace("T", " "),
        "measured": row["measured"],
        "cells": row["cells"],
        "seconds": f"{row['measuring_s']:.0f}" if row["measuring_s"] else "",
        "machine": row["cpu_model"],
        "origin": row["study"] or row["origin"],
        "state": row["problem"] or state,
    }
