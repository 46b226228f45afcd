"""`perbyte compare`: two runs, or two selectors of one run, cell by cell."""

from __future__ import annotations

import json
from pathlib import Path

import click

from perbyte.cli.options import Percent
from perbyte.errors import EXIT_FINE, EXIT_FOUND, UsageError
from perbyte.model import Cell, CellFigure, NoiseFloor, Run


@click.command("compare")
@click.argument("a")
@click.argument("b")
@click.option(
    "--run", "run", type=click.Path(path_type=Path), help="Run that the selectors mean.  [the newest]"
)
@click.option(
    "--fail-above", type=Percent(), default=None, help="Exit code 1 when B is slower by more, beyond doubt."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(a: str, b: str, run: Path | None, fail_above: float | None, as_json: bool) -> int:
    """Compare A and B: two run directories, or two selectors of one run. Ratios are B over A.

    \b
      perbyte compare runs/before runs/after --fail-above 1%
      perbyte compare 'openssl/aes-*' 'nettle/aes-*' --run runs/before
    """
    from perbyte.report.verdicts import render_comparison
    from perbyte.stats.compare import compare

    pairs, noise, same_run = _pair_up(a, b, run)
    compared = [(x, y, compare(x, y, noise, same_run=same_run)) for x, y in pairs]
    if as_json:
        rows = [
            {
                "a": x.cell.address,
                "b": y.cell.address,
                "ratio": c.ratio,
                "interval_low": c.interval.low,
                "interval_high": c.interval.high,
                "tie": c.tie,
                "reason": c.reason,
            }
            for x, y, c in compared
        ]
        print(json.dumps({"noise_floor": noise.relative if noise else None, "comparisons": rows}, indent=1))
    else:
        print(render_comparison(compared, noise, names=(_title(a), _title(b))), end="")
    if fail_above is not None and any(not c.tie and c.interval.low > 1 + fail_above for _, _, c in compared):
        return EXIT_FOUND
    return EXIT_FINE


def _title(text: str) -> str:
    return Path(text).name if Path(text).is_dir() else text


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
                "the two runs have no cell in common", way_out="see what they hold: perbyte show RUN"
            )
        return pairs, _larger(first, second), False
    opened = open_run(run or newest())
    left, right = parse_selector(a), parse_selector(b)
    ours = [figure for figure in opened.cells if left.matches(figure.cell)]
    theirs = [figure for figure in opened.cells if right.matches(figure.cell)]
    pairs = [(x, y) for x in ours for y in theirs if _alike(x.cell, y.cell) and x.cell != y.cell]
    if not pairs:
        raise UsageError(
            f"nothing to compare: '{a}' fits {len(ours)} cells of the run, '{b}' {len(theirs)}, none alike",
            way_out="cells are alike when operation, size and contract agree",
        )
    return pairs, opened.noise_floor, True


def _alike(x: Cell, y: Cell) -> bool:
    return (x.operation, x.size_bytes, x.contract) == (y.operation, y.size_bytes, y.contract)


def _is_run(text: str) -> bool:
    return (Path(text) / "run.json").is_file() or Path(text).name == "run.json" or Path(text).is_dir()


def _larger(first: Run, second: Run) -> NoiseFloor | None:
    floors = [run.noise_floor for run in (first, second) if run.noise_floor]
    return max(floors, key=lambda floor: floor.relative, default=None)
