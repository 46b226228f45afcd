"""`perbyte list`: what there is to choose from."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import click

KINDS = ("algorithms", "runners", "studies", "contracts", "runs")


@click.command("list")
@click.argument("what", type=click.Choice(KINDS))
@click.argument("pattern", required=False, default="*")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(what: str, pattern: str, as_json: bool) -> int:
    """List algorithms, runners, studies, contracts or runs; PATTERN filters by name.

    \b
      perbyte list algorithms 'aes-*'
      perbyte list runners --json
    """
    show_rows(what, pattern, as_json)
    return 0


def show_rows(what: str, pattern: str, as_json: bool) -> None:
    """Print the rows of one kind, as a table or as JSON."""
    from fnmatch import fnmatch

    rows = [row for row in _ROWS[what]() if fnmatch(str(next(iter(row.values()))), pattern)]
    if as_json:
        print(json.dumps(rows, indent=1, default=str))
    else:
        _print_rows(rows)


def _algorithms() -> list[dict[str, Any]]:
    from perbyte.catalogue import load

    return [
        {
            "algorithm": one.id,
            "kind": one.kind,
            "key_bits": one.key_bytes * 8 or "",
            "block_bits": one.block_bytes * 8 or "",
            "year": one.year or "",
            "aliases": ", ".join(one.aliases),
        }
        for one in load().algorithms.values()
    ]


def _runners() -> list[dict[str, Any]]:
    from perbyte.runners import locate

    return [
        {
            "runner": spec.name,
            "library": spec.library,
            "state": "ready"
            if not spec.built or spec.out().is_dir()
            else "opt-in"
            if spec.opt_in
            else "not built",
            "cpu_tiers": ", ".join(spec.tiers),
            "summary": spec.summary,
        }
        for spec in locate()
    ]


def _studies() -> list[dict[str, Any]]:
    from perbyte.studies import studies

    return [
        {
            "study": study.name,
            "year": study.year,
            "title": study.title,
            "published_figures": len(study.published),
        }
        for study in studies()
    ]


def _contracts() -> list[dict[str, Any]]:
    from perbyte.catalogue import load

    return [
        {"contract": one.id, "default_for": ", ".join(one.default_for), "one timed call is": one.meaning}
        for one in load().contracts.values()
    ]


def _runs() -> list[dict[str, Any]]:
    from perbyte import places
    from perbyte.store import runs

    return [dataclasses.asdict(summary) for summary in runs(places.runs_home())]


_ROWS = {
    "algorithms": _algorithms,
    "runners": _runners,
    "studies": _studies,
    "contracts": _contracts,
    "runs": _runs,
}


def _print_rows(rows: list[dict[str, Any]]) -> None:
    if not rows:
        print("none")
        return
    names = list(rows[0])
    widths = [max(len(name), *(len(str(row[name])) for row in rows)) for name in names[:-1]]
    print("  ".join([*(n.ljust(w) for n, w in zip(names, widths, strict=False)), names[-1]]).rstrip())
    for row in rows:
        cells = [str(row[name]).ljust(width) for name, width in zip(names, widths, strict=False)]
        print("  ".join([*cells, str(row[names[-1]])]).rstrip())
