"""`perbyte compare`: any number of runs, or two selectors of one run, cell by cell.

Cells of two selectors are paired by `stats.pairing`; what is slower by more than a limit, `stats.pairing` says.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from perbyte.app.gate import gate_code
from perbyte.app.quantities import read_choices
from perbyte.app.verdicts import chosen_code, gravest
from perbyte.cli.declared import Options, SectionedCommand, argument, flag, group, option, takes
from perbyte.cli.options import GateOptions, RateOption, StoredOption, UnitForms, Words
from perbyte.cli.streams import note, notes, print_json, print_lines
from perbyte.errors import EXIT_FINE, EXIT_MISSING, UsageError
from perbyte.stats.quantity import Unit

if TYPE_CHECKING:
    from perbyte.app.leak_changes import ChangedLeaks
    from perbyte.report.printed import ComparedSides

SECTIONS = {
    "What to compare": "run side_by_side anew",
    "When to fail": "fail_above fail_above_instructions fail_on undecided_is missing_is",
    "Output": "unit rate as_json as_csv",
}


class _CompareOptions(Options):
    sides: tuple[str, ...] = argument(nargs=-1, required=True, metavar="A B...")
    run: Path | None = option("--run", help="The run for selectors.  [the newest with both]")
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
    stored: StoredOption = group(StoredOption)
    forms: UnitForms = group(UnitForms)
    beside: RateOption = group(RateOption)

    def __post_init__(self) -> None:
        """Raise UsageError for what does not go together."""
        from perbyte.app.leak_changes import FAILING

        if len(self.sides) < 2:
            raise UsageError("a comparison needs two or more sides", hint="perbyte compare RUN OTHER-RUN")
        read_choices("--fail-on", self.fail_on, FAILING)

    @property
    def figures_only(self) -> bool:
        """True when something was asked for that only figures can answer."""
        gates = (self.limits.fail_above, self.limits.fail_above_instructions)
        printed = self.forms.as_csv or self.forms.unit or self.beside.rate
        return bool(printed) or any(gate is not None for gate in gates)


@takes("compare", _CompareOptions, cls=SectionedCommand, sections=SECTIONS)
def compare_command(options: _CompareOptions) -> int:
    """Compare two or more runs, or two selectors of one run, cell by cell. Ratios are to the first.

    Imported runs have no intervals.

    To find a regression of a few per cent, measure both builds in one run, which takes them in turn.

    \b
      perbyte compare 'old/*' 'new/*' --fail-above 1%
      perbyte compare runs/before runs/after --fail-above 5%
      perbyte compare 'openssl/aes-*' 'nettle/aes-*' --run runs/before
      perbyte compare runs/server runs/laptop runs/listing-of-2013
    """
    from perbyte.app.leak_changes import changes_alone, changes_in_runs
    from perbyte.report import printed
    from perbyte.report.behaviour import changes, uncounted
    from perbyte.report.export import comparison_csv
    from perbyte.report.gate import missing_lines, regression_lines

    gate, rate = options.limits.gate, options.beside.rate
    if (alone := changes_alone(options.sides, options.run)) is not None:
        if options.figures_only:
            raise UsageError("these runs have only verdicts on leaks", hint="use only --json and --fail-on")
        return _tell_leaks(alone, options)
    sides = _sides(options)
    if sides.left_out:
        note(sides.left_out)
    limit = None if gate.fail_above is None else sides.regressions(gate.fail_above)
    counted, leaks = changes(sides.grids, sides.runs), changes_in_runs(options.sides, sides.runs)
    if gate.fail_above_instructions is not None and not counted:
        raise UsageError(
            "no cell was counted on both sides", hint="perbyte measure SELECTOR --count, on both sides"
        )
    if options.forms.as_json:
        print_json(printed.sides_json(sides, limit, rate, counted, leaks.known if leaks.tested else None))
    elif options.forms.as_csv:
        print(comparison_csv(sides.grids), end="")
    else:
        print(printed.sides_text(sides, rate, counted, leaks.known), end="")
        if len(sides.runs) == 1 and options.run is None:
            print(f"both from the run {sides.runs[0].conditions.run_id}, the newest that has them")
    notes(missing_lines(sides.missing))
    absent = chosen_code(EXIT_MISSING, options.missing_is)
    codes = [absent if sides.missing else EXIT_FINE, _judge_leaks(leaks, options)]
    if gate.fail_above_instructions is not None:
        code, reason = gate.judge_counts(counted, uncounted(sides.grids, counted), absent)
        note(reason, quiet=not reason)
        codes.append(code)
    if limit is not None:
        notes(regression_lines(limit, one_run=len(sides.runs) == 1))
        codes.append(gate_code(limit, gate.undecided_is))
    return gravest(codes)


def _sides(options: _CompareOptions) -> ComparedSides:
    from perbyte.app.comparing import SelectedPairs, read_sides, runs_like
    from perbyte.app.runs import title_of
    from perbyte.report import printed

    unit = Unit(options.forms.unit) if options.forms.unit else None
    sides, gate = options.sides, options.limits.fail_above is not None
    asked = read_sides(sides, options.run, anew=options.stored.anew)
    if isinstance(asked, SelectedPairs):
        return printed.pairs_as_sides(asked, sides, unit, gate=gate)
    titles, across = [title_of(side) for side in sides], runs_like(asked)
    of_cells = {"gate": gate, "side_by_side": options.side_by_side}
    return printed.runs_as_sides(asked, titles, unit, across, **of_cells)


def _tell_leaks(changed: ChangedLeaks, options: _CompareOptions) -> int:
    from perbyte.report.leaktext import leak_change_lines, leak_changes_json

    if options.forms.as_json:
        print_json({"leaks": leak_changes_json(changed.known)})
    else:
        print_lines(leak_change_lines(changed.known))
    return _judge_leaks(changed, options)


def _judge_leaks(changed: ChangedLeaks, options: _CompareOptions) -> int:
    from perbyte.report.leaktext import leak_notes

    try:
        code, bad = changed.judge(options.fail_on or ())
    finally:
        notes(leak_notes(changed.lost, []))
    notes(leak_notes((), bad))
    return code
