"""`perbyte compare`: any number of runs, or two selectors of one run, cell by cell.

Cells of two selectors are paired by `stats.pairing`; what is slower by more than a limit, `stats.regressions` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from perbyte.app.comparing import SelectedPairs, read_sides, runs_like
from perbyte.app.gate import gate_code, gravest
from perbyte.app.leak_changes import FAILING, ChangedLeaks, changes_alone, changes_in_runs
from perbyte.app.quantities import read_choices
from perbyte.app.run_names import run_named
from perbyte.cli.declared import argument, flag, group, option, takes
from perbyte.cli.ending import note_regressions
from perbyte.cli.options import GateOptions, RateOption, UnitForms, Words, note, print_json, print_lines
from perbyte.cli.sections import SectionedCommand
from perbyte.errors import EXIT_FINE, EXIT_FOUND, EXIT_MISSING, UsageError
from perbyte.model import NoiseFloor, Run
from perbyte.model.text import counted
from perbyte.report.missing import MissingCell, missing_lines, missing_of_runs, missing_of_sides

if TYPE_CHECKING:
    from perbyte.report.grid import Grid
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
    run: Path | None = option("--run", help="The run for selectors.  [the newest]")
    limits: GateOptions = group(GateOptions)
    fail_on: Words | None = option(
        "--fail-on", help="Fail on: leak, new-leak (absent or smaller in A), unknown (code 5)."
    )
    missing_is: Literal["ok", "fail"] | None = option(
        "--missing-is", help="Exit code 0 or 1 instead of 6 if cells are missing."
    )
    side_by_side: bool = flag(
        "--side-by-side", help="Also show cells of one run alone.  [from three runs on]"
    )
    forms: UnitForms = group(UnitForms)
    beside: RateOption = group(RateOption)

    def __post_init__(self) -> None:
        """Raise UsageError for what does not go together."""
        if len(self.sides) < 2:
            raise UsageError("a comparison needs two or more sides", hint="perbyte compare RUN OTHER-RUN")
        read_choices("--fail-on", self.fail_on, FAILING)

    @property
    def figures_only(self) -> bool:
        """True when something was asked for that only figures can answer."""
        gates = (self.limits.fail_above, self.limits.fail_above_instructions)
        printed = self.forms.as_csv or self.forms.unit or self.beside.rate
        return bool(printed) or any(gate is not None for gate in gates)


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

    gate = options.limits.gate
    if (alone := changes_alone(options.sides, options.run)) is not None:
        if options.figures_only:
            raise UsageError("these runs have only verdicts on leaks", hint="use only --json and --fail-on")
        return _tell_leaks(alone, options)
    shown = _shown(options)
    grids = shown.grids
    limit = None
    if gate.fail_above is not None:
        compared = [
            (entry.figure.cell.address, entry.comparison)
            for grid in grids
            for entry in grid.entries
            if entry.figure and entry.comparison
        ]
        limit = find_regressions(compared, gate.fail_above, max(run.measuring_s for run in shown.runs))
    counted, leaks = changes(grids, shown.runs), changes_in_runs(options.sides, shown.runs)
    if gate.fail_above_instructions is not None and not counted:
        raise UsageError(
            "no cell was counted on both sides", hint="perbyte measure SELECTOR --count, on both sides"
        )
    _print(options, shown, limit, counted, leaks)
    for line in missing_lines(shown.missing):
        note(line)
    absent = _MISSING_CODES[options.missing_is]
    codes = [absent if shown.missing else EXIT_FINE, _judge_leaks(leaks, options)]
    if gate.fail_above_instructions is not None:
        code, reason = gate.judge_counts(counted, uncounted(grids, counted), absent)
        note(reason, quiet=not reason)
        codes.append(code)
    if limit is not None:
        note_regressions(limit, one_run=len(shown.runs) == 1)
        codes.append(gate_code(limit, gate.undecided_is))
    return gravest(codes)


@dataclass(frozen=True, slots=True)
class _Shown:
    """The sides as grids, the first one as baseline; the noise floor that counts; the runs they are from; the gaps."""

    grids: tuple[Grid, ...]
    noise: NoiseFloor | None
    runs: Sequence[Run]
    missing: Sequence[MissingCell]


def _shown(options: CompareOptions) -> _Shown:
    from perbyte.report.grid import compare_pairs, compare_runs, in_common
    from perbyte.report.wording import numbered
    from perbyte.stats.across import floor_across
    from perbyte.stats.quantity import Unit

    unit = Unit(options.forms.unit) if options.forms.unit else None
    sides, gated = options.sides, options.limits.fail_above is not None
    compared = read_sides(sides, options.run)
    if isinstance(compared, SelectedPairs):
        run = compared.run
        _note_left(sides, [len(cells) for cells in compared.alone])
        missing = missing_of_sides(run, compared.failed, sides, compared.alone[0] if gated else [])
        precision = run.conditions.policy.precision
        grids = compare_pairs(compared.pairs, sides, run.noise_floor, unit, precision)
        return _Shown(grids, run.noise_floor, [run], missing)
    names, across = numbered([_title(side) for side in sides]), runs_like(compared)
    grids = compare_runs(compared, names, unit, across)
    missing = missing_of_runs(grids, compared, names, gate=gated)
    if not options.side_by_side and len(sides) == 2:
        grids, alone = in_common(grids)
        if not grids:
            raise UsageError(
                "the two runs have no cell in common", hint="show both: perbyte compare A B --side-by-side"
            )
        _note_left(names, alone)
    return _Shown(grids, floor_across((run.noise_floor for run in compared), across), compared, missing)


def _title(text: str) -> str:
    place = run_named(text)
    return place.resolve().name if place and place.is_dir() else text


def _note_left(names: Sequence[str], counts: Sequence[int]) -> None:
    told = [f"{counted(count)} of {name}" for name, count in zip(names, counts, strict=True) if count]
    if told:
        note(f"left out: {' and '.join(told)} without a counterpart")


def _tell_leaks(changed: ChangedLeaks, options: CompareOptions) -> int:
    """Print changes of leaks alone."""
    from perbyte.report.leakchanges import leak_change_lines, leak_changes_json

    if options.forms.as_json:
        print_json({"leaks": leak_changes_json(changed.known)})
    else:
        print_lines(leak_change_lines(changed.known))
    return _judge_leaks(changed, options)


def _judge_leaks(changed: ChangedLeaks, options: CompareOptions) -> int:
    """The exit code of the gate; what decides it is said."""
    from perbyte.report.leakchanges import leak_notes

    try:
        code, bad = changed.judge(options.fail_on or ())
    finally:
        for text in leak_notes(changed.lost, []):
            note(text)
    for text in leak_notes((), bad):
        note(text)
    return code


def _print(
    options: CompareOptions,
    shown: _Shown,
    limit: Regressions | None,
    counted: Sequence[CountChange],
    leaks: ChangedLeaks,
) -> None:
    """Print the comparison in the form that was asked for."""
    from perbyte.report.behaviour import change_lines, changes_json
    from perbyte.report.export import comparison_csv, comparison_json
    from perbyte.report.leakchanges import leak_change_lines, leak_changes_json
    from perbyte.report.lines import render_listing
    from perbyte.report.rate import rate_json, rate_listing
    from perbyte.report.regressions import regressions_json
    from perbyte.report.text import render_comparison

    grids, noise, rate = shown.grids, shown.noise, options.beside.rate
    figures = [figure for grid in grids for figure in grid.figures]
    if options.forms.as_json:
        document = comparison_json(grids, noise) | ({"limit": regressions_json(limit)} if limit else {})
        document |= {"rate": rate_json(figures, rate)} if rate else {}
        document |= {"behaviour": changes_json(counted)} if counted else {}
        document |= {"leaks": leak_changes_json(leaks.known)} if leaks.tested else {}
        print_json(document | {"missing": [asdict(cell) for cell in shown.missing]})
    elif options.forms.as_csv:
        print(comparison_csv(grids), end="")
    else:
        print(render_comparison(grids, noise), end="")
        if rate:
            print("\n" + render_listing(rate_listing(figures, rate)), end="")
        print_lines((*change_lines(counted), *leak_change_lines(leaks.known)))
