"""`perbyte compare`: any number of runs, or two selectors of one run, cell by cell.

Cells of two selectors are paired by `stats.pairing`; what is slower by more than a limit, `stats.regressions` says.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from perbyte import places
from perbyte.app.comparing import runs_like
from perbyte.app.gate import SHOWN, Gate, gate_code, gravest
from perbyte.app.run_names import find_run, require_distinct, run_named, runs_there_are, where_looked
from perbyte.cli.compare_leaks import (
    changes_alone,
    changes_in_runs,
    found_in,
    leak_gate,
    read_failing_changes,
    tell_alone,
)
from perbyte.cli.declared import argument, flag, option, takes
from perbyte.cli.ending import note_regressions
from perbyte.cli.options import RATE, UNDECIDED, DataRate, Listed, Percent, UnitName, note, require_one_form
from perbyte.cli.sections import SectionedCommand
from perbyte.errors import EXIT_FINE, EXIT_FOUND, EXIT_MISSING, UsageError
from perbyte.model import Cell, CellFigure, NoiseFloor, Run
from perbyte.report.missing import MissingCell, missing_lines, missing_of_runs, missing_of_sides

if TYPE_CHECKING:
    from perbyte.report.grid import Grid
    from perbyte.stats.leakchange import LeakChanges
    from perbyte.stats.regressions import Regressions
    from perbyte.stats.trials import CountChange

SECTIONS = {
    "What to compare": ("run", "side_by_side"),
    "When to fail": ("fail_above", "fail_above_instructions", "fail_on", "undecided_is", "missing_is"),
    "Output": ("unit", "rate", "as_json", "as_csv"),
}
_MISSING_CODES = {None: EXIT_MISSING, "ok": EXIT_FINE, "fail": EXIT_FOUND}


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """What is compared, which differences fail, and what is printed."""

    sides: tuple[str, ...] = argument(nargs=-1, required=True, metavar="A B...")
    run: Path | None = option(
        "--run", type=click.Path(path_type=Path), help="The run for selectors.  [the newest]"
    )
    fail_above: float | None = option(
        "--fail-above",
        type=Percent(),
        default=None,
        help="Exit code 1 if another side is slower than A by more, 5 if not known.",
    )
    fail_above_instructions: float | None = option(
        "--fail-above-instructions",
        type=Percent(),
        default=None,
        help="Exit code 1 if another side has more instructions than A, by more than this.",
    )
    fail_on: tuple[str, ...] | None = option(
        "--fail-on",
        type=Listed(),
        default=None,
        help="Fail on: leak, new-leak (absent or smaller in A), unknown (code 5).",
    )
    undecided_is: str | None = option("--undecided-is", **UNDECIDED)
    missing_is: str | None = option(
        "--missing-is",
        type=click.Choice(("ok", "fail")),
        default=None,
        help="Exit code 0 or 1 instead of 6 if cells are missing.",
    )
    side_by_side: bool = flag(
        "--side-by-side", help="Also show cells of one run alone.  [from three runs on]"
    )
    unit: str | None = option(
        "--unit",
        type=UnitName(),
        default=None,
        help="Unit of the columns.  [cycles/byte if all sides have cycles, else MB/s]",
    )
    rate: float | None = option("--rate", type=DataRate(), default=None, help=RATE)
    as_json: bool = flag("--json", help="Print JSON instead of the table.")
    as_csv: bool = flag("--csv", help="Print CSV instead of the table.")

    def __post_init__(self) -> None:
        """Raise UsageError for what does not go together."""
        if len(self.sides) < 2:
            raise UsageError("a comparison needs two or more sides", hint="perbyte compare RUN OTHER-RUN")
        require_one_form(as_json=self.as_json, as_csv=self.as_csv)
        if self.undecided_is and self.fail_above is None:
            raise UsageError("--undecided-is goes with --fail-above")
        read_failing_changes(self.fail_on)

    @property
    def figures_only(self) -> bool:
        """True when something was asked for that only figures can answer."""
        gates = (self.fail_above, self.fail_above_instructions)
        return bool(self.as_csv or self.unit or self.rate) or any(gate is not None for gate in gates)


@click.command("compare", cls=SectionedCommand, sections=SECTIONS)
@takes(CompareOptions)
def command(options: CompareOptions) -> int:
    """Compare two or more runs, or two selectors of one run, cell by cell. Ratios are to the first.

    Imported runs have no intervals.

    To find a regression of a few per cent, measure both builds in one run, which takes them in turn.

    \b
      perbyte compare 'old/*' 'new/*' --fail-above 1%
      perbyte compare runs/before runs/after --fail-above 5%
      perbyte compare 'openssl/aes-*' 'nettle/aes-*' --run runs/before
      perbyte compare runs/server runs/laptop runs/listing-of-2013
    """
    from perbyte.report.behaviour import changes, uncounted
    from perbyte.stats.regressions import find_regressions

    failing = read_failing_changes(options.fail_on)
    gate = Gate(options.fail_above, options.fail_above_instructions, options.undecided_is)
    if (alone := changes_alone(options.sides, options.run)) is not None:
        if options.figures_only:
            raise UsageError("these runs have only verdicts on leaks", hint="use only --json and --fail-on")
        return tell_alone(alone, failing, as_json=options.as_json)
    grids, noise, runs, missing = _sides(options)
    limit = None
    if options.fail_above is not None:
        compared = [
            (entry.figure.cell.address, entry.comparison)
            for grid in grids
            for entry in grid.entries
            if entry.figure and entry.comparison
        ]
        limit = find_regressions(compared, options.fail_above, max(run.measuring_s for run in runs))
    counted, leaks = changes(grids, runs), changes_in_runs(options.sides, runs)
    if options.fail_above_instructions is not None and not counted:
        raise UsageError(
            "no cell was counted on both sides", hint="perbyte measure SELECTOR --count, on both sides"
        )
    _print(options, grids, noise, limit, counted, leaks, missing)
    for line in missing_lines(missing):
        note(line)
    absent = _MISSING_CODES[options.missing_is]
    codes = [absent if missing else EXIT_FINE, leak_gate(leaks, failing)]
    if options.fail_above_instructions is not None:
        lost = uncounted(grids, counted)
        code, reason = gate.judge_counts(counted, lost, absent)
        note(reason, quiet=not reason)
        codes.append(code)
    if limit is not None:
        note_regressions(limit, one_run=len(runs) == 1)
        codes.append(gate_code(limit, options.undecided_is))
    return gravest(codes)


def _print(
    options: CompareOptions,
    grids: tuple[Grid, ...],
    noise: NoiseFloor | None,
    limit: Regressions | None,
    counted: Sequence[CountChange],
    leaks: Sequence[LeakChanges],
    missing: Sequence[MissingCell],
) -> None:
    """Print the comparison in the form that was asked for."""
    from perbyte.report.behaviour import change_lines, changes_json
    from perbyte.report.export import comparison_csv, comparison_json
    from perbyte.report.leakchanges import leak_change_lines, leak_changes_json
    from perbyte.report.lines import render_listing
    from perbyte.report.rate import rate_json, rate_listing
    from perbyte.report.regressions import regressions_json
    from perbyte.report.text import render_comparison

    figures = [figure for grid in grids for figure in grid.figures]
    if options.as_json:
        document = comparison_json(grids, noise) | ({"limit": regressions_json(limit)} if limit else {})
        document |= {"rate": rate_json(figures, options.rate)} if options.rate else {}
        document |= {"behaviour": changes_json(counted)} if counted else {}
        document |= {"leaks": leak_changes_json(found_in(leaks))} if leaks else {}
        document |= {"missing": [asdict(cell) for cell in missing]}
        print(json.dumps(document, indent=1, allow_nan=False))
    elif options.as_csv:
        print(comparison_csv(grids), end="")
    else:
        print(render_comparison(grids, noise), end="")
        if options.rate:
            print("\n" + render_listing(rate_listing(figures, options.rate)), end="")
        for line in (*change_lines(counted), *leak_change_lines(found_in(leaks))):
            print(line)


def _sides(
    options: CompareOptions,
) -> tuple[tuple[Grid, ...], NoiseFloor | None, list[Run], list[MissingCell]]:
    """The sides as grids, the first one as baseline; the noise floor that counts; the runs they are from; the gaps."""
    from perbyte.report.grid import compare_pairs, compare_runs
    from perbyte.report.wording import numbered
    from perbyte.stats.across import floor_across
    from perbyte.stats.quantity import Unit
    from perbyte.store import latest, open_run

    sides, run = options.sides, options.run
    unit = Unit(options.unit) if options.unit else None
    everything, gate = options.side_by_side or len(sides) > 2, options.fail_above is not None
    places_of = [run_named(side) for side in sides]
    if all(places_of):
        require_distinct([place for place in places_of if place])
        runs = [open_run(place) for place in places_of if place]
        names = numbered([_title(side) for side in sides])
        across = runs_like(runs)
        grids = compare_runs(runs, names, unit, across)
        missing = missing_of_runs(grids, runs, names, gate=gate)
        if not everything:
            grids = _common(grids, names)
        return grids, floor_across((run.noise_floor for run in runs), across), runs, missing
    lost = next(side for side, place in zip(sides, places_of, strict=True) if place is None)
    if any(places_of) or len(sides) > 2:
        raise UsageError(
            f"'{lost}' is not a run: {where_looked(lost)}; all sides must be runs", hint=runs_there_are()
        )
    if run is None and latest(places.runs_home()) is None:
        raise UsageError(f"'{lost}' is not a run: {where_looked(lost)}", hint=runs_there_are())
    opened = open_run(find_run(run))
    pairs, missing = _pair_selected(sides, opened, gate=gate)
    precision = opened.conditions.policy.precision
    grids = compare_pairs(pairs, sides, opened.noise_floor, unit, precision)
    return grids, opened.noise_floor, [opened], missing


def _common(grids: tuple[Grid, ...], names: Sequence[str]) -> tuple[Grid, ...]:
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
    _note_left(names, alone)
    return tuple(kept)


def _title(text: str) -> str:
    place = run_named(text)
    return place.resolve().name if place and place.is_dir() else text


def _pair_selected(
    sides: Sequence[str], opened: Run, *, gate: bool
) -> tuple[list[tuple[CellFigure, CellFigure]], list[MissingCell]]:
    """The pairs, and the cells that should be there and are not."""
    from perbyte.stats.pairing import pair_cells

    a, b = sides
    ours, theirs = _selected(a, opened), _selected(b, opened)
    pairing = pair_cells([x.cell for x in ours], [y.cell for y in theirs])
    if not pairing.pairs:
        raise UsageError(
            f"nothing to compare: '{a}' fits {_cells(len(ours))} of the run, '{b}' {_cells(len(theirs))}, none alike",
            hint="two cells match if size and contract agree, and the operation unless each side has one",
        )
    _note_left(sides, (len(pairing.left_a), len(pairing.left_b)))
    unpaired = [ours[i].cell for i in pairing.left_a] if gate else []
    missing = missing_of_sides(opened, [_failed(side, opened) for side in sides], sides, unpaired)
    return [(ours[i], theirs[j]) for i, j in pairing.pairs], missing


def _failed(text: str, opened: Run) -> list[Cell]:
    """The cells without a figure that a selector means."""
    from perbyte.catalogue import parse_selector
    from perbyte.report.grid import failed_cells

    selector = parse_selector(text)
    return [cell for cell, _ in failed_cells(opened) if selector.matches(cell)]


def _selected(text: str, opened: Run) -> list[CellFigure]:
    """The figures a selector means. Raises UsageError when there are none, telling all that `text` was taken for."""
    from perbyte.catalogue import parse_selector
    from perbyte.report.grid import failed_cells

    not_a_run = f"is not a run: {where_looked(text)}"
    try:
        selector = parse_selector(text)
    except UsageError as error:
        raise UsageError(f"'{text}' {not_a_run}; and {error}", hint=runs_there_are()) from error
    figures = [figure for figure in opened.cells if selector.matches(figure.cell)]
    if figures:
        return figures
    if lost := [failure for cell, failure in failed_cells(opened) if selector.matches(cell)]:
        raise UsageError(
            f"'{text}' has no figure in the run {opened.conditions.run_id}: {lost[0].address} is {lost[0].kind}",
            hint=lost[0].message,
        )
    message = f"'{text}' fits no cell of the run {opened.conditions.run_id}"
    held = sorted({f"{figure.cell.runner}/{figure.cell.algorithm}" for figure in opened.cells})
    hint = f"that run has {', '.join(held[:SHOWN]) or 'no cells'}{' ...' if len(held) > SHOWN else ''}"
    if not set(text) & set("*?[{@+"):  # then it may have been meant as a run
        message, hint = f"{message}; and it {not_a_run}", f"{hint}; {runs_there_are()}"
    raise UsageError(message, hint=hint)


def _note_left(names: Sequence[str], counts: Sequence[int]) -> None:
    told = [f"{_cells(count)} of {name}" for name, count in zip(names, counts, strict=True) if count]
    if told:
        note(f"left out: {' and '.join(told)} without a counterpart")


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"
