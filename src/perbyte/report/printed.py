"""What `show`, `measure` and `compare` print: the table of a run or of sides, and what is asked for beside figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perbyte.errors import UsageError
from perbyte.model import CellFigure, NoiseFloor, Run
from perbyte.model.text import counted, json_ready
from perbyte.report.behaviour import (
    change_lines,
    changes_json,
    placement_change_lines,
    placement_changes,
    placement_changes_json,
    render_behaviour,
    render_placements,
)
from perbyte.report.beside import (
    handshakes_listing,
    limits_listing,
    rate_json,
    rate_listing,
    render_beyond,
    scaling_json,
)
from perbyte.report.export import comparison_json, to_json
from perbyte.report.gate import MissingCell, missing_of_runs, missing_of_sides, regressions_json
from perbyte.report.grid import Grid, compare_pairs, compare_runs, in_common
from perbyte.report.leaktext import leak_change_lines, leak_changes_json, render_of_run
from perbyte.report.lines import render
from perbyte.report.listing import records
from perbyte.report.text import render_comparison, render_table
from perbyte.report.wording import numbered
from perbyte.stats.across import Across, floor_across
from perbyte.stats.leak import LeakChange
from perbyte.stats.pairing import Regressions, find_regressions
from perbyte.stats.quantity import Unit
from perbyte.stats.trials import CountChange


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
    document |= {"handshakes": records(shaken)} if (shaken := handshakes_listing(run)) else {}
    document |= {"limits": records(limits_listing(run.cells))} if beside.limits else {}
    return document | ({"scaling": scaled} if (scaled := scaling_json(run.cells)) else {})


def render_run(run: Run, unit: str | None, beside: RunExtras) -> str:
    """The table as text, and below it what several cores do and what was asked for."""
    parts = [
        render_table(run, unit=Unit(unit) if unit else None),
        render_beyond(run.cells),
        render([shaken]) if (shaken := handshakes_listing(run)) else "",
        render([rate_listing(run.cells, beside.rate)]) if beside.rate else "",
        render([limits_listing(run.cells)]) if beside.limits else "",
        render_behaviour(run, count=beside.count, memory=beside.memory)
        if beside.count or beside.memory
        else "",
        render_of_run(run.leaks) if beside.leak else "",
        render_placements(run.placements) if beside.places else "",
    ]
    return "\n".join(filter(None, parts))


def render_side_by_side(runs: Mapping[str, Run]) -> str:
    """Several runs as text, a column for each name; one alone as it is."""
    opened = list(runs.values())
    if len(opened) == 1:
        return render_table(opened[0])
    return render_comparison(compare_runs(opened, list(runs)), opened[0].noise_floor)
