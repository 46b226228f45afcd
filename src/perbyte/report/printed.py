"""What `show`, `measure`, `compare` and `study judge` print: tables, verdicts, and what is asked for beside figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text as Styled

from perbyte.errors import UsageError
from perbyte.model import CellFigure, NoiseFloor, Run
from perbyte.model.text import counted, json_ready, plain
from perbyte.report.behaviour import (
    behaviour_parts,
    change_lines,
    changes_json,
    placement_change_lines,
    placement_changes,
    placement_changes_json,
    placement_parts,
)
from perbyte.report.beside import (
    beyond_parts,
    bindings_listing,
    draws_listing,
    handshakes_listing,
    limits_listing,
    rate_json,
    rate_listing,
    scaling_json,
)
from perbyte.report.card import comparison_card, run_card
from perbyte.report.document import Heading
from perbyte.report.export import comparison_json, to_json
from perbyte.report.facts import condition_lines, failure_lines, noise_line, warning_texts
from perbyte.report.gate import MissingCell, missing_of_runs, missing_of_sides, regressions_json
from perbyte.report.grid import Grid, compare_pairs, compare_runs, in_common, run_grids
from perbyte.report.leaktext import leak_change_lines, leak_changes_json, leak_parts
from perbyte.report.listing import records
from perbyte.report.marks import UNDECIDED, Mark, warning_mark
from perbyte.report.studyview import decided_first, number_text, outcome_of, tally
from perbyte.report.terminal import Part, render
from perbyte.report.wording import numbered, sentence
from perbyte.stats.across import Across, floor_across
from perbyte.stats.compare import Answer
from perbyte.stats.leak import LeakChange
from perbyte.stats.pairing import Regressions, find_regressions
from perbyte.stats.quantity import Unit
from perbyte.stats.trials import CountChange
from perbyte.studies.model import Judgement, Outcome

_COLOURS = {
    Outcome.REPRODUCED: "green",
    Outcome.NOT_REPRODUCED: "bold red",
    Outcome.INCONCLUSIVE: "yellow",
    Outcome.NOT_TESTABLE: "dim",
}


def table_parts(run: Run, unit: Unit | None = None) -> list[Part]:
    """The answer and the whole table of `run` with its legend, failures, noise floor and conditions."""
    grids = run_grids(run, unit)
    parts: list[Part] = [run_card(run, unit), *grids, *([] if grids else [Heading("nothing was measured")])]
    parts += [listing for listing in (bindings_listing(run), draws_listing(run)) if listing.rows]
    if failures := failure_lines(run):
        parts += [Heading("Without a figure"), *failures]
    return [*parts, Styled(), *_warnings(run), noise_line(run.noise_floor), *condition_lines(run)]


def render_table(
    run: Run, *, unit: Unit | None = None, width: int | None = None, colour: bool | None = None
) -> str:
    """Give the table of `run` as text; `width` and `colour` as in `terminal.render`."""
    return render(table_parts(run, unit), width=width, colour=colour)


def render_comparison(
    grids: Sequence[Grid], noise: NoiseFloor | None, *, width: int | None = None, colour: bool | None = None
) -> str:
    """Give grids with a baseline as tables of values and ratios, with what they come to and the noise floor."""
    nothing = [] if grids else ["the runs hold no figures"]
    parts: list[Part] = [comparison_card(grids), *grids, *nothing, Styled()]
    for index, column in enumerate(grids[0].columns[1:] if grids else (), start=1):
        comparisons = [row.entries[index].comparison for grid in grids for row in grid.rows]
        counts = Counter(comparison.direction for comparison in comparisons if comparison)
        shown = [answer for answer in Answer if counts[answer] or answer is not Answer.UNDECIDED]
        texts = (f"{counts[answer]} {answer.value}" for answer in shown)
        parts.append(f"{column.side}: {', '.join(texts)}")
    return render([*parts, *_doubts(grids), noise_line(noise)], width=width, colour=colour)


def render_judgement(
    judgement: Judgement, *, width: int | None = None, colour: bool | None = None, numbers: bool = False
) -> str:
    """Give every claim with its verdict and the sentences that explain it; with `numbers`, those as well."""
    study = judgement.study
    parts: list[Part] = [(plain(study.title, 300), "bold"), plain(study.citation, 600), Styled()]
    parts.append((sentence(tally(judgement)), "bold"))
    for verdict in decided_first(judgement):
        parts += [Styled(), (outcome_of(verdict), _COLOURS[verdict.outcome])]
        parts.append((f"  {plain(verdict.claim.says, 600)}", "bold"))
        parts += [f"  {plain(line, 600)}" for line in verdict.evidence]
        for entry in verdict.numbers if numbers else ():
            parts.append((f"  {plain(entry.group, 80)}: {number_text(entry)}", "dim"))
    return render(parts, width=width, colour=colour)


@dataclass(frozen=True, slots=True)
class ComparedSides:
    """Grids, the first side as baseline; the noise floor that counts; the runs that the sides are from; the gaps.

    `left`: how many cells of each side have no counterpart and are in no grid.
    """

    names: Sequence[str]
    grids: tuple[Grid, ...]
    noise: NoiseFloor | None
    runs: Sequence[Run]
    missing: Sequence[MissingCell]
    left: Sequence[int] = ()

    @property
    def figures(self) -> list[CellFigure]:
        """Those of all sides, grid by grid."""
        return [figure for grid in self.grids for figure in grid.figures]

    @property
    def left_out(self) -> str:
        """What is in no grid, in a line; empty where there is nothing."""
        sides = zip(self.left, self.names, strict=False)
        told = [f"{counted(count)} of {name}" for count, name in sides if count]
        return f"left out: {' and '.join(told)} without a counterpart" if told else ""

    def regressions(self, share: float) -> Regressions:
        """What is slower than the first side by more than `share`."""
        compared = [
            (entry.figure.cell.address, entry.comparison)
            for grid in self.grids
            for entry in grid.entries
            if entry.figure and entry.comparison
        ]
        return find_regressions(compared, share, max(run.measuring_s for run in self.runs))


def pairs_as_sides(pairs: Any, names: Sequence[str], unit: Unit | None, *, gate: bool) -> ComparedSides:
    """Two selectors of a run, paired as an `app.comparing.SelectedPairs`; `gate` as in `missing_of_runs`."""
    run = pairs.run
    missing = missing_of_sides(run, pairs.failed, names, pairs.alone[0] if gate else [])
    grids = compare_pairs(pairs.pairs, names, run.noise_floor, unit, run.conditions.policy.precision)
    return ComparedSides(names, grids, run.noise_floor, [run], missing, [len(cells) for cells in pairs.alone])


def runs_as_sides(
    runs: Sequence[Run],
    titles: Sequence[str],
    unit: Unit | None,
    across: Across,
    *,
    gate: bool,
    side_by_side: bool,
) -> ComparedSides:
    """Whole runs; `side_by_side`: also cells that only one of two has. Raises UsageError if two share none."""
    names, alone = numbered(titles), [0]
    grids = compare_runs(runs, names, unit, across)
    missing = missing_of_runs(grids, runs, names, gate=gate)
    if not side_by_side and len(runs) == 2:
        grids, alone = in_common(grids)
        if not grids:
            raise UsageError(
                "the two runs have no cell in common", hint="show both: perbyte compare A B --side-by-side"
            )
    floor = floor_across((run.noise_floor for run in runs), across)
    return ComparedSides(names, grids, floor, runs, missing, alone)


def sides_json(
    sides: ComparedSides,
    limit: Regressions | None,
    rate: float | None,
    counted: Sequence[CountChange],
    leaks: Sequence[LeakChange] | None,
) -> dict[str, Any]:
    """The comparison for programs. `rate` in bytes per second; `leaks` is None where nothing was tested."""
    document = comparison_json(sides.grids, sides.noise)
    if limit:
        document["limit"] = regressions_json(limit)
    if rate:
        document["rate"] = rate_json(sides.figures, rate)
    if placed := placement_changes(sides.grids, sides.runs):
        document["places"] = json_ready(placement_changes_json(placed))
    if counted:
        document["behaviour"] = changes_json(counted)
    if leaks is not None:
        document["leaks"] = leak_changes_json(leaks)
    return document | {"missing": sides.missing}


def sides_text(
    sides: ComparedSides, rate: float | None, counted: Sequence[CountChange], leaks: Sequence[LeakChange]
) -> str:
    """The comparison for people."""
    text = render_comparison(sides.grids, sides.noise)
    if rate:
        text += "\n" + render([rate_listing(sides.figures, rate)])
    placed = placement_change_lines(placement_changes(sides.grids, sides.runs))
    return text + "".join(
        f"{line}\n" for line in (*change_lines(counted), *leak_change_lines(leaks), *placed)
    )


@dataclass(frozen=True, slots=True)
class RunExtras:
    """What is shown beside the figures; `rate` in bytes per second."""

    rate: float | None = None
    limits: bool = False
    count: bool = False
    memory: bool = False
    leak: bool = False
    places: bool = False


def run_json(run: Run, beside: RunExtras) -> dict[str, Any]:
    """The run for programs; counts, memory, leaks and places are in it wherever they were measured."""
    document = to_json(run)
    document |= {"rate": rate_json(run.cells, beside.rate)} if beside.rate else {}
    document |= {"handshakes": records(shaken)} if (shaken := handshakes_listing(run)).rows else {}
    document |= {"limits": records(limits_listing(run.cells))} if beside.limits else {}
    return document | ({"scaling": scaled} if (scaled := scaling_json(run.cells)) else {})


def render_run(run: Run, unit: str | None, beside: RunExtras) -> str:
    """The table as text, and below it what several cores do and what was asked for."""
    extras: tuple[Sequence[Part], ...] = (
        beyond_parts(run.cells),
        [shaken] if (shaken := handshakes_listing(run)).rows else [],
        [rate_listing(run.cells, beside.rate)] if beside.rate else [],
        [limits_listing(run.cells)] if beside.limits else [],
        behaviour_parts(run, beside.count, beside.memory) if beside.count or beside.memory else [],
        leak_parts(run.leaks) if beside.leak else [],
        placement_parts(run.placements) if beside.places else [],
    )
    shown = (part for parts in extras if parts for part in (Styled(), *parts))
    return render([*table_parts(run, Unit(unit) if unit else None), *shown])


def render_side_by_side(runs: Mapping[str, Run]) -> str:
    """Several runs as text, a column for each name; one alone as it is."""
    opened = list(runs.values())
    if len(opened) == 1:
        return render_table(opened[0])
    return render_comparison(compare_runs(opened, list(runs)), opened[0].noise_floor)


def _warnings(run: Run) -> list[str]:
    """What the mark of a warning means in this run; a doubt with a mark of its own says itself."""
    warnings = (warning for figure in run.cells for warning in figure.warnings)
    every = warning_texts(warning for warning in warnings if warning_mark(warning) is Mark.WARNING)
    more = [f"{counted(len(every) - 4, 'more kind')}: perbyte report"] if every[4:] else []
    return [f"{Mark.WARNING}: {text}" for text in (*every[:4], *more)]


def _doubts(grids: Sequence[Grid]) -> list[str]:
    """Why nothing is claimed of some cells, each reason once with how many there are."""
    doubted = [
        entry.comparison
        for grid in grids
        for entry in grid.entries
        if entry.comparison and entry.comparison.doubt
    ]
    lines = []
    for head, known in ((UNDECIDED, False), ("the factor is uncertain", True)):
        doubts = Counter(each.doubt for each in doubted if (each.direction is not Answer.UNDECIDED) is known)
        told = [f"{doubt} ({count:,})" for doubt, count in doubts.most_common()]
        lines += [f"{head}: {', '.join(told)}"] if told else []
    return lines
