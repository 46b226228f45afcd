"""`perbyte compare`: two runs, or two selectors of one run, cell by cell; or many runs side by side."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from perbyte import places
from perbyte.cli.options import Percent, remark
from perbyte.cli.pairing import pair_cells
from perbyte.cli.run_names import find_run, run_named, runs_there_are, where_looked
from perbyte.errors import EXIT_FINE, EXIT_FOUND, UsageError
from perbyte.model import CellFigure, NoiseFloor, Run

if TYPE_CHECKING:
    from perbyte.stats.compare import Comparison

SHOWN = 4  # of what a run has, in a message


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
    type=click.Choice(["cycles/byte", "cycles/call", "ns/call", "MB/s", "calls/s"]),
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
                "ratio": _finite(c.ratio.value),
                "interval_low": _finite(c.ratio.low),
                "interval_high": _finite(c.ratio.high),
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
    from perbyte.stats.quantity import Unit
    from perbyte.store import open_run

    found = [(side, run_named(side)) for side in sides]
    lost = [side for side, place in found if place is None]
    if lost:
        raise UsageError(
            f"'{lost[0]}' is no run: {where_looked(lost[0])}; only runs stand side by side",
            way_out=runs_there_are(),
        )
    runs = [open_run(place) for _, place in found if place]
    names = _distinct([_title(side) for side in sides])
    rows = set_side_by_side(runs)
    if as_json:
        print(json.dumps({"runs": names, "rows": side_records(rows, names)}, indent=1, allow_nan=False))
    else:
        print(render_side_by_side(rows, names, unit=Unit(unit) if unit else None), end="")
    compared = (entry.comparison for row in rows for entry in row.entries if entry.comparison)
    return _exit_code(compared, fail_above)


def _exit_code(compared: Iterable[Comparison], fail_above: float | None) -> int:
    if fail_above is not None and any(not c.tie and c.ratio.low > 1 + fail_above for c in compared):
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
    place = run_named(text)
    return place.resolve().name if place and place.is_dir() else text


def _pair_up(
    a: str, b: str, run: Path | None
) -> tuple[list[tuple[CellFigure, CellFigure]], NoiseFloor | None, bool]:
    """Cells of A with their counterparts in B, the noise floor that counts, and whether one run holds both."""
    from perbyte.store import latest, open_run

    first, second = run_named(a), run_named(b)
    if first and second:
        return _pair_runs(open_run(first), open_run(second))
    if first or second:
        other = b if first else a
        raise UsageError(
            f"'{other}' is no run: {where_looked(other)}; a run is compared with a run",
            way_out=runs_there_are(),
        )
    if run is None and latest(places.runs_home()) is None:
        raise UsageError(f"'{a}' is no run: {where_looked(a)}", way_out=runs_there_are())
    return _pair_selected(a, b, open_run(find_run(run)))


def _pair_runs(
    first: Run, second: Run
) -> tuple[list[tuple[CellFigure, CellFigure]], NoiseFloor | None, bool]:
    from perbyte.stats.compare import larger_floor

    found = {figure.cell: figure for figure in second.cells}
    pairs = [(figure, found[figure.cell]) for figure in first.cells if figure.cell in found]
    if not pairs:
        raise UsageError(
            "the two runs have no cell in common",
            way_out="set them side by side: perbyte compare A B --side-by-side",
        )
    _tell_left(len(first.cells) - len(pairs), len(second.cells) - len(pairs))
    return pairs, larger_floor((first.noise_floor, second.noise_floor)), False


def _pair_selected(
    a: str, b: str, opened: Run
) -> tuple[list[tuple[CellFigure, CellFigure]], NoiseFloor | None, bool]:
    ours, theirs = _selected(a, opened), _selected(b, opened)
    pairing = pair_cells([x.cell for x in ours], [y.cell for y in theirs])
    if not pairing.pairs:
        raise UsageError(
            f"nothing to compare: '{a}' fits {_cells(len(ours))} of the run, '{b}' {_cells(len(theirs))}, none alike",
            way_out="cells are alike when size and contract agree, and the operation unless each side has one",
        )
    _tell_left(len(pairing.left_a), len(pairing.left_b))
    pairs = [(ours[i], theirs[j]) for i, j in pairing.pairs]
    return pairs, opened.noise_floor, True


def _selected(text: str, opened: Run) -> list[CellFigure]:
    """The figures a selector means. Raises UsageError when there are none, telling all that `text` was taken for."""
    from perbyte.catalogue import parse_selector

    not_a_run = f"is no run: {where_looked(text)}"
    try:
        selector = parse_selector(text)
    except UsageError as error:
        raise UsageError(f"'{text}' {not_a_run}; and {error}", way_out=runs_there_are()) from error
    found = [figure for figure in opened.cells if selector.matches(figure.cell)]
    if found:
        return found
    said = f"'{text}' fits no cell of the run {opened.conditions.run_id}"
    held = sorted({f"{one.cell.runner}/{one.cell.algorithm}" for one in opened.cells})
    way_out = f"that run has {', '.join(held[:SHOWN]) or 'no cells'}{' ...' if len(held) > SHOWN else ''}"
    if not set(text) & set("*?[{@+"):  # then it may have been meant as a run
        said, way_out = f"{said}; and it {not_a_run}", f"{way_out}; {runs_there_are()}"
    raise UsageError(said, way_out=way_out)


def _tell_left(a: int, b: int) -> None:
    """Say how many cells a comparison leaves out: silence would look like agreement."""
    told = [f"{_cells(count)} of {side}" for side, count in (("A", a), ("B", b)) if count]
    if told:
        remark(f"left out: {' and '.join(told)} without a counterpart")


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"
