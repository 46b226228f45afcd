"""`perbyte compare`: any number of runs, or two selectors of one run, cell by cell.

Of two selectors only cells that can be compared are paired: same size, same contract, and same operation unless each
side has exactly one. Among them the nearest are paired first, and a cell that has found one takes no other.
Nearness is a matter of addresses alone; no figure is looked at.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from perbyte import places
from perbyte.cli.options import Percent, UnitName, note, rate_option
from perbyte.cli.run_names import find_run, require_distinct, run_named, runs_there_are, where_looked
from perbyte.errors import EXIT_FINE, EXIT_FOUND, EXIT_UNDECIDED, UsageError
from perbyte.model import Cell, CellFigure, NoiseFloor, Run

if TYPE_CHECKING:
    from perbyte.report.grid import Grid
    from perbyte.stats.compare import Comparison
    from perbyte.stats.quantity import Unit

# What has to agree, from the nearest to the farthest. Algorithm before runner: a library is compared with another
# on the same algorithm, and two algorithms only where there is no such pair.
_COMPARABLE = ("size_bytes", "contract")
_NEARNESS = (
    ("algorithm", "runner", "cpu", "state"),
    ("algorithm", "runner", "cpu"),
    ("algorithm", "runner"),
    ("algorithm", "cpu"),
    ("algorithm",),
)
_OTHER_ALGORITHM = (("runner", "cpu"), ("runner",), ("cpu",), ())


@dataclass(frozen=True, slots=True)
class Pairing:
    """`pairs` hold positions in the two sides; `left_a` and `left_b` are positions of cells that found no partner and
    are on one side only.
    """

    pairs: tuple[tuple[int, int], ...]
    left_a: tuple[int, ...]
    left_b: tuple[int, ...]


def pair_cells(a: Sequence[Cell], b: Sequence[Cell]) -> Pairing:
    """Pair the cells of two sides by the rule of docs/cli.md, in the order of `a`, then of `b`.

    A cell never meets itself.
    """
    any_operation = len({cell.operation for cell in a}) == len({cell.operation for cell in b}) == 1
    comparable = _COMPARABLE if any_operation else (*_COMPARABLE, "operation")
    pairs: list[tuple[int, int]] = []
    for ranks in (_NEARNESS, _OTHER_ALGORITHM):
        for rank in ranks:
            pairs += _meet(a, b, pairs, (*comparable, *rank))
        if pairs:
            break
    with_a, with_b = {i for i, _ in pairs}, {j for _, j in pairs}
    return Pairing(
        tuple(sorted(pairs)),
        tuple(i for i, cell in enumerate(a) if i not in with_a and cell not in b),
        tuple(j for j, cell in enumerate(b) if j not in with_b and cell not in a),
    )


def _meet(
    a: Sequence[Cell], b: Sequence[Cell], met: Sequence[tuple[int, int]], fields: Sequence[str]
) -> list[tuple[int, int]]:
    """Pairs that agree in `fields`, of cells that have met nobody yet."""
    with_a, with_b = {i for i, _ in met}, {j for _, j in met}
    waiting: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for j, cell in enumerate(b):
        if j not in with_b:
            waiting[_part(cell, fields)].append(j)
    return [
        (i, j)
        for i, cell in enumerate(a)
        if i not in with_a
        for j in waiting.get(_part(cell, fields), ())
        if b[j] != cell
    ]


def _part(cell: Cell, fields: Sequence[str]) -> tuple[object, ...]:
    return tuple(getattr(cell, field) for field in fields)


SHOWN = 4  # of what a run has, or of the cells beyond a limit, in a message


@dataclass(frozen=True, slots=True)
class Limit:
    """Which cells are slower than the first side by more than `threshold`, and of which that cannot be told.

    `more_s` is how many more seconds of measuring should decide all that is undecided: of the one run, or of each of
    several; infinite where time alone does not.
    """

    threshold: float
    compared: int
    slower: tuple[tuple[str, Comparison], ...]
    undecided: tuple[tuple[str, Comparison], ...]
    more_s: float
    one_run: bool

    @classmethod
    def of(cls, grids: Sequence[Grid], threshold: float, runs: Sequence[Run]) -> Limit:
        """Hold every comparison of `grids`, which are of `runs`, against `threshold`."""
        from perbyte.stats.compare import Answer

        found = [
            (entry.figure.cell.address, entry.comparison)
            for grid in grids
            for entry in grid.entries
            if entry.figure and entry.comparison
        ]
        slower, undecided = (
            tuple(one for one in found if one[1].against(threshold) is answer)
            for answer in (Answer.SLOWER, Answer.UNDECIDED)
        )
        spent = max(run.measuring_s for run in runs)
        more = max((one.seconds_to_decide(threshold, spent) for _, one in undecided), default=0.0)
        return cls(threshold, len(found), slower, undecided, more, len(runs) == 1)

    def lines(self) -> list[str]:
        """What was found, in words, and what would decide the rest."""
        beyond = f"slower by more than {100 * self.threshold:g} %"
        lines = []
        if self.slower:
            lines.append(f"{beyond}, beyond doubt: {_some(self.slower, self.compared)}")
        if not self.undecided:
            return lines or [f"not {beyond}, beyond doubt: {_cells(self.compared)}"]
        lines.append(f"undecided whether {beyond}: {_some(self.undecided, self.compared)}")
        doubts = dict.fromkeys(one.doubt for _, one in self.undecided if one.doubt)
        if doubts:
            said = f"{'; '.join(doubts)}: a quieter moment or core, or a larger --budget, would help"
        elif math.isfinite(self.more_s):
            each = "the run" if self.one_run else "each run"
            said = (
                f"about {max(1, math.ceil(self.more_s)):,} s more of measuring in {each} would decide it here"
            )
        else:
            said = (
                "the noise floor is in the way, or the limit is too near: more time alone would not decide it"
            )
        lines.append(said)
        if not self.one_run:
            lines.append("both builds in one run tell smaller differences: docs/cli.md, 'Is it slower?'")
        return lines

    def as_json(self) -> dict[str, object]:
        """The same for programs; `more_s` is None where time alone does not help."""
        from perbyte.stats.compare import Answer

        answer = Answer.SLOWER if self.slower else Answer.UNDECIDED if self.undecided else Answer.TIED
        return {
            "fail_above": self.threshold,
            "answer": "not slower" if answer is Answer.TIED else answer.value,
            "slower": [address for address, _ in self.slower],
            "undecided": [address for address, _ in self.undecided],
            "more_s": self.more_s if math.isfinite(self.more_s) else None,
        }

    def exit_code(self, undecided_is: str | None) -> int:
        """One of the exit codes of `perbyte.errors`."""
        if self.slower:
            return EXIT_FOUND
        if not self.undecided:
            return EXIT_FINE
        return {None: EXIT_UNDECIDED, "ok": EXIT_FINE, "fail": EXIT_FOUND}[undecided_is]


def _some(found: Sequence[tuple[str, Comparison]], of: int) -> str:
    from perbyte.report.wording import ratio_interval_text, ratio_text

    shown = [
        f"{address} ×{ratio_text(one.ratio)} ({ratio_interval_text(one.ratio)})"
        for address, one in sorted(found, key=lambda one: -one[1].ratio.value)[:SHOWN]
    ]
    more = f" and {len(found) - SHOWN:,} more" if len(found) > SHOWN else ""
    return f"{len(found):,} of {_cells(of)}: {', '.join(shown)}{more}"


@click.command("compare")
@click.argument("sides", nargs=-1, required=True, metavar="A B...")
@click.option(
    "--run", "run", type=click.Path(path_type=Path), help="Run that the selectors mean.  [the newest]"
)
@click.option(
    "--fail-above",
    type=Percent(),
    default=None,
    help="Exit code 1 when another one is slower than A by more, 0 when none is, 5 when that cannot be told.",
)
@click.option(
    "--undecided-is",
    type=click.Choice(("ok", "fail")),
    default=None,
    help="Exit code 0 or 1 instead of 5.  [with --fail-above]",
)
@click.option(
    "--side-by-side", is_flag=True, help="Also the cells that only one run has.  [from three runs on]"
)
@click.option(
    "--unit",
    type=UnitName(),
    default=None,
    help="Unit of the columns.  [cycles/byte where all have cycles, else MB/s]",
)
@rate_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the table.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV instead of the table.")
def command(
    sides: tuple[str, ...],
    run: Path | None,
    fail_above: float | None,
    undecided_is: str | None,
    side_by_side: bool,
    unit: str | None,
    rate: float | None,
    as_json: bool,
    as_csv: bool,
) -> int:
    """Compare two or more runs, or two selectors of one run, cell by cell. Ratios are to the first.

    Imported runs are runs like any other, but have no intervals.

    A regression of a few per cent is told best in one run of both builds, which are measured in turn.

    \b
      perbyte compare 'old/*' 'new/*' --fail-above 1%
      perbyte compare runs/before runs/after --fail-above 5%
      perbyte compare 'openssl/aes-*' 'nettle/aes-*' --run runs/before
      perbyte compare runs/server runs/laptop runs/listing-of-2013
    """
    if len(sides) < 2:
        raise UsageError("a comparison has two sides or more", hint="perbyte compare RUN OTHER-RUN")
    if as_json and as_csv:
        raise UsageError("--json and --csv exclude each other")
    from perbyte.report.export import comparison_csv, comparison_json
    from perbyte.report.rate import rate_json, render_rate
    from perbyte.report.text import render_comparison
    from perbyte.stats.quantity import Unit

    if undecided_is and fail_above is None:
        raise UsageError("--undecided-is goes with --fail-above")
    grids, noise, runs = _sides(
        sides, run, Unit(unit) if unit else None, everything=side_by_side or len(sides) > 2
    )
    figures = [figure for grid in grids for figure in grid.figures]
    limit = None if fail_above is None else Limit.of(grids, fail_above, runs)
    if as_json:
        found = comparison_json(grids, noise) | ({"limit": limit.as_json()} if limit else {})
        found |= {"rate": rate_json(figures, rate)} if rate else {}
        print(json.dumps(found, indent=1, allow_nan=False))
    elif as_csv:
        print(comparison_csv(grids), end="")
    else:
        print(render_comparison(grids, noise), end="")
        if rate:
            print("\n" + render_rate(figures, rate), end="")
    if limit is None:
        return EXIT_FINE
    for line in limit.lines():
        note(line)
    return limit.exit_code(undecided_is)


def _sides(
    sides: Sequence[str], run: Path | None, unit: Unit | None, *, everything: bool
) -> tuple[tuple[Grid, ...], NoiseFloor | None, list[Run]]:
    """The sides as grids, the first one as baseline; the noise floor that counts; the runs they are from."""
    from perbyte.report.grid import compare_pairs, compare_runs
    from perbyte.stats.compare import floor_across
    from perbyte.store import latest, open_run

    places_of = [run_named(side) for side in sides]
    if all(places_of):
        require_distinct([place for place in places_of if place])
        runs = [open_run(place) for place in places_of if place]
        grids = compare_runs(runs, _distinct([_title(side) for side in sides]), unit)
        if not everything:
            grids = _common(grids)
        return grids, floor_across(one.noise_floor for one in runs), runs
    lost = next(side for side, place in zip(sides, places_of, strict=True) if place is None)
    if any(places_of) or len(sides) > 2:
        raise UsageError(
            f"'{lost}' is not a run: {where_looked(lost)}; all sides must be runs", hint=runs_there_are()
        )
    if run is None and latest(places.runs_home()) is None:
        raise UsageError(f"'{lost}' is not a run: {where_looked(lost)}", hint=runs_there_are())
    opened = open_run(find_run(run))
    pairs = _pair_selected(sides[0], sides[1], opened)
    precision = opened.conditions.policy.precision
    return compare_pairs(pairs, sides, opened.noise_floor, unit, precision), opened.noise_floor, [opened]


def _common(grids: tuple[Grid, ...]) -> tuple[Grid, ...]:
    """Leave out what only one of two runs has, and say how much: silence would look like agreement."""
    alone = [0, 0]
    kept = []
    for grid in grids:
        rows = tuple(row for row in grid.rows if all(entry.figure for entry in row.entries))
        for index in (0, 1):
            alone[index] += sum(bool(row.entries[index].figure) for row in grid.rows) - len(rows)
        if rows:
            kept.append(replace(grid, rows=rows))
    if not kept:
        raise UsageError(
            "the two runs have no cell in common", hint="show both: perbyte compare A B --side-by-side"
        )
    _note_left(*alone)
    return tuple(kept)


def _distinct(names: list[str]) -> list[str]:
    """Names of columns: those that occur more than once get their number."""
    return [
        f"{name} ({number})" if names.count(name) > 1 else name for number, name in enumerate(names, start=1)
    ]


def _title(text: str) -> str:
    place = run_named(text)
    return place.resolve().name if place and place.is_dir() else text


def _pair_selected(a: str, b: str, opened: Run) -> list[tuple[CellFigure, CellFigure]]:
    ours, theirs = _selected(a, opened), _selected(b, opened)
    pairing = pair_cells([x.cell for x in ours], [y.cell for y in theirs])
    if not pairing.pairs:
        raise UsageError(
            f"nothing to compare: '{a}' fits {_cells(len(ours))} of the run, '{b}' {_cells(len(theirs))}, none alike",
            hint="cells are alike when size and contract agree, and the operation unless each side has one",
        )
    _note_left(len(pairing.left_a), len(pairing.left_b))
    return [(ours[i], theirs[j]) for i, j in pairing.pairs]


def _selected(text: str, opened: Run) -> list[CellFigure]:
    """The figures a selector means. Raises UsageError when there are none, telling all that `text` was taken for."""
    from perbyte.catalogue import parse_selector

    not_a_run = f"is not a run: {where_looked(text)}"
    try:
        selector = parse_selector(text)
    except UsageError as error:
        raise UsageError(f"'{text}' {not_a_run}; and {error}", hint=runs_there_are()) from error
    found = [figure for figure in opened.cells if selector.matches(figure.cell)]
    if found:
        return found
    said = f"'{text}' fits no cell of the run {opened.conditions.run_id}"
    held = sorted({f"{one.cell.runner}/{one.cell.algorithm}" for one in opened.cells})
    hint = f"that run has {', '.join(held[:SHOWN]) or 'no cells'}{' ...' if len(held) > SHOWN else ''}"
    if not set(text) & set("*?[{@+"):  # then it may have been meant as a run
        said, hint = f"{said}; and it {not_a_run}", f"{hint}; {runs_there_are()}"
    raise UsageError(said, hint=hint)


def _note_left(a: int, b: int) -> None:
    told = [f"{_cells(count)} of {side}" for side, count in (("A", a), ("B", b)) if count]
    if told:
        note(f"left out: {' and '.join(told)} without a counterpart")


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"
