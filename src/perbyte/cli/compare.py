"""`perbyte compare`: two runs, or two selectors of one run, cell by cell; or many runs side by side."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from perbyte.cli.options import Percent
from perbyte.errors import EXIT_FINE, EXIT_FOUND, UsageError
from perbyte.model import Cell, CellFigure, NoiseFloor, Run

if TYPE_CHECKING:
    from perbyte.stats.compare import Comparison


@click.command("compare")
@click.argument("sides", nargs=-1, required=True, metavar="A B...")
@click.option(
    "--run", "run", type=click.Path(path_type=Path), help="Run that the selectors mean.  [the newest]"
)
@click.option(
    "--fail-above",
    type=Percent(),
    default=None,
    help="Exit code 1 when another one is slower than A by more, beyond doubt.",
)
@click.option("--side-by-side", is_flag=True, help="A column per run, also for two.  [from three runs on]")
@click.option(
    "--unit",
    type=click.Choice(["cycles/byte", "cycles/call", "ns/call", "MB/s"]),
    default=None,
    help="Unit of the columns.  [cycles/byte where all have cycles, else MB/s]",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    sides: tuple[str, ...],
    run: Path | None,
    fail_above: float | None,
    side_by_side: bool,
    unit: str | None,
    as_json: bool,
) -> int:
    """Compare A and B: two run directories, or two selectors of one run. Ratios are B over A.

    More runs stand side by side, a column each; ratios are over the first. Imported runs are runs like any other, but
    have no intervals.

    \b
      perbyte compare runs/before runs/after --fail-above 1%
      perbyte compare 'openssl/aes-*' 'nettle/aes-*' --run runs/before
      perbyte compare runs/server runs/laptop runs/listing-of-2013
    """
    if len(sides) < 2:
        raise UsageError("a comparison has two sides or more", way_out="perbyte compare RUN OTHER-RUN")
    if len(sides) > 2 or side_by_side:
        return _compare_many(sides, fail_above, unit, as_json=as_json)
    if unit:
        raise UsageError("--unit belongs to runs side by side", way_out="add --side-by-side")
    return _compare_two(sides[0], sides[1], run, fail_above, as_json=as_json)


def _compare_two(a: str, b: str, run: Path | None, fail_above: float | None, *, as_json: bool) -> int:
    from perbyte.report.verdicts import render_comparison
    from perbyte.stats.compare import compare

    pairs, noise, same_run = _pair_up(a, b, run)
    compared = [(x, y, compare(x, y, noise, same_run=same_run)) for x, y in pairs]
    if as_json:
        rows = [
            {
                "a": x.cell.address,
                "b": y.cell.address,
                "ratio": _finite(c.ratio),
                "interval_low": _finite(c.interval.low),
                "interval_high": _finite(c.interval.high),
                "tie": c.tie,
                "reason": c.reason,
            }
            for x, y, c in compared
        ]
        noise_floor = noise.relative if noise else None
        print(json.dumps({"noise_floor": noise_floor, "comparisons": rows}, indent=1, allow_nan=False))
    else:
        print(render_comparison(compared, noise, names=(_title(a), _title(b))), end="")
    return _exit_code((c for _, _, c in compared), fail_above)


def _compare_many(sides: Sequence[str], fail_above: float | None, unit: str | None, *, as_json: bool) -> int:
    from perbyte.report.sidebyside import render_side_by_side, set_side_by_side, side_records
    from perbyte.report.units import Unit
    from perbyte.store import open_run

    for side in sides:
        if not _is_run(side):
            raise UsageError(
                f"'{side}' is no run; only runs stand side by side",
                way_out="perbyte list runs shows where runs are",
            )
    runs = [open_run(Path(side)) for side in sides]
    names = _distinct([_title(side) for side in sides])
    rows = set_side_by_side(runs)
    if as_json:
        print(json.dumps({"runs": names, "rows": side_records(rows, names)}, indent=1, allow_nan=False))
    else:
        print(render_side_by_side(rows, names, unit=Unit(unit) if unit else None), end="")
    compared = (entry.comparison for row in rows for entry in row.entries if entry.comparison)
    return _exit_code(compared, fail_above)


def _exit_code(compared: Iterable[Comparison], fail_above: float | None) -> int:
    if fail_above is not None and any(not c.tie and c.interval.low > 1 + fail_above for c in compared):
        return EXIT_FOUND
    return EXIT_FINE


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _distinct(names: list[str]) -> list[str]:
    """Names of columns: those that occur more than once get their number."""
    return [
        f"{name} ({number})" if names.count(name) > 1 else name for number, name in enumerate(names, start=1)
    ]


def _title(text: str) -> str:
    return Path(text).resolve().name if Path(text).is_dir() else text


def _pair_up(
    a: str, b: str, run: Path | None
) -> tuple[list[tuple[CellFigure, CellFigure]], NoiseFloor | None, bool]:
    """Cells of A with their counterparts in B, the noise floor that counts, and whether one run holds both."""
    from perbyte.catalogue import parse_selector
    from perbyte.cli.show import newest
    from perbyte.store import open_run

    if _is_run(a) != _is_run(b):
        raise UsageError("compare two runs, or two selectors of one run, not one of each")
    if _is_run(a):
        first, second = open_run(Path(a)), open_run(Path(b))
        found = {figure.cell: figure for figure in second.cells}
        pairs = [(figure, found[figure.cell]) for figure in first.cells if figure.cell in found]
        if not pairs:
            raise UsageError(
                "the two runs have no cell in common",
                way_out="set them side by side: perbyte compare A B --side-by-side",
            )
        return pairs, _larger(first, second), False
    opened = open_run(run or newest())
    left, right = parse_selector(a), parse_selector(b)
    ours = [figure for figure in opened.cells if left.matches(figure.cell)]
    theirs = [figure for figure in opened.cells if right.matches(figure.cell)]
    # encrypt against decrypt is a fair question, when that is what was asked
    named = len({x.cell.operation for x in ours}) == len({y.cell.operation for y in theirs}) == 1
    pairs = [(x, y) for x in ours for y in theirs if _alike(x.cell, y.cell, named) and x.cell != y.cell]
    if not pairs:
        raise UsageError(
            f"nothing to compare: '{a}' fits {len(ours)} cells of the run, '{b}' {len(theirs)}, none alike",
            way_out="cells are alike when size and contract agree, and the operation unless each side has one",
        )
    return pairs, opened.noise_floor, True


def _alike(x: Cell, y: Cell, any_operation: bool) -> bool:
    same = x.size_bytes == y.size_bytes and x.contract == y.contract
    return same and (any_operation or x.operation == y.operation)


def _is_run(text: str) -> bool:
    return (Path(text) / "run.json").is_file() or Path(text).name == "run.json" or Path(text).is_dir()


def _larger(first: Run, second: Run) -> NoiseFloor | None:
    floors = [run.noise_floor for run in (first, second) if run.noise_floor]
    return max(floors, key=lambda floor: floor.relative, default=None)
