"""What is compared: whole runs, or what two selectors mean in one; and by how much runs of one plan differ anyway."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from perbyte import places
from perbyte.app.gate import SHOWN
from perbyte.app.runs import find_run, require_distinct, run_named, runs_there_are, where_looked
from perbyte.catalogue import parse_selector
from perbyte.errors import PerbyteError, UsageError
from perbyte.model import Cell, CellFigure, Conditions, Run
from perbyte.model.text import counted
from perbyte.stats.across import Across, between_runs
from perbyte.stats.pairing import pair_cells
from perbyte.store import latest, open_run, runs

MOST_EARLIER = 16  # runs that are read to know by how much runs differ


@dataclass(frozen=True, slots=True)
class SelectedPairs:
    """The figures of two selectors in `run`, paired by `stats.pairing`.

    `alone`: cells of each side without a counterpart; `failed`: cells without a figure that each side means.
    """

    run: Run
    pairs: Sequence[tuple[CellFigure, CellFigure]]
    alone: tuple[Sequence[Cell], Sequence[Cell]]
    failed: tuple[Sequence[Cell], Sequence[Cell]]


def read_sides(sides: Sequence[str], run: Path | None, *, anew: bool = False) -> list[Run] | SelectedPairs:
    """The runs that all `sides` name, or what two selectors mean in `run` (None: the newest that has both).

    With `anew` their figures are computed again. Raises UsageError for a mixture, for what means nothing, and for
    selectors that have no cell alike.
    """
    places_of = [run_named(side) for side in sides]
    if all(places_of):
        require_distinct([place for place in places_of if place])
        return [open_run(place, anew=anew) for place in places_of if place]
    lost = next(side for side, place in zip(sides, places_of, strict=True) if place is None)
    message = f"'{lost}' is not a run: {where_looked(lost)}"
    if any(places_of):
        raise UsageError(f"{message}; all sides must be runs", hint=runs_there_are())
    if len(sides) > 2:
        message = f"{len(sides)} selectors: two of one run are compared, or any number of runs"
        raise UsageError(message, hint="name two of them; all cells of a run together: perbyte show")
    if run is None and latest(places.runs_home()) is None:
        raise UsageError(message, hint=runs_there_are())
    first, *earlier = [summary.path for summary in runs(places.runs_home())] if run is None else [run]
    try:
        return _pair(sides, open_run(find_run(first), anew=anew))
    except UsageError:
        for path in earlier[:MOST_EARLIER]:
            with contextlib.suppress(PerbyteError):
                return _pair(sides, open_run(path, anew=anew))
        raise


def _pair(sides: Sequence[str], run: Run) -> SelectedPairs:
    (ours, failed_a), (theirs, failed_b) = (_selected(side, run) for side in sides)
    pairing = pair_cells([figure.cell for figure in ours], [figure.cell for figure in theirs])
    if not pairing.pairs:
        raise UsageError(
            f"nothing to compare: '{sides[0]}' fits {counted(len(ours))} of the run, "
            f"'{sides[1]}' {counted(len(theirs))}, none alike",
            hint="two cells match if size and contract agree, and the operation unless each side has one",
        )
    alone = ([ours[i].cell for i in pairing.left_a], [theirs[i].cell for i in pairing.left_b])
    return SelectedPairs(run, [(ours[i], theirs[j]) for i, j in pairing.pairs], alone, (failed_a, failed_b))


def _selected(text: str, run: Run) -> tuple[list[CellFigure], list[Cell]]:
    """The figures and the failed cells that a selector means.

    Raises UsageError where there is no figure, telling all that `text` was taken for.
    """
    try:
        selector = parse_selector(text)
    except UsageError as error:
        message = f"'{text}' is not a run: {where_looked(text)}; and {error}"
        raise UsageError(message, hint=runs_there_are()) from error
    figures = [figure for figure in run.cells if selector.matches(figure.cell)]
    lost = [(cell, failure) for cell, failure in run.failed_cells() if selector.matches(cell)]
    if figures:
        return figures, [cell for cell, _ in lost]
    run_id = run.conditions.run_id
    if lost:
        failure = lost[0][1]
        raise UsageError(
            f"'{text}' has no figure in the run {run_id}: {failure.address} is {failure.kind}",
            hint=failure.message,
        )
    message = f"'{text}' fits no cell of the run {run_id}"
    held = sorted({f"{figure.cell.runner}/{figure.cell.algorithm}" for figure in run.cells})
    hint = f"that run has {', '.join(held[:SHOWN]) or 'no cells'}{' ...' if len(held) > SHOWN else ''}"
    hint += "; --run NAME looks into another"
    if not set(text) & set("*?[{@+"):  # then it may have been meant as a run
        message, hint = f"{message}; and it is not a run: {where_looked(text)}", f"{hint}; {runs_there_are()}"
    raise UsageError(message, hint=hint)


def runs_like(compared: Sequence[Run]) -> Across:
    """What the stored runs that are like the first of `compared`, in machine, plan and code, say of differences."""
    first = compared[0].conditions
    named = {run.conditions.run_id for run in compared}
    like: list[Run] = []
    for summary in runs(places.runs_home()):
        if (
            summary.problem
            or not summary.complete
            or summary.run_id in named
            or summary.planned != len(first.plan)
        ):
            continue
        opened = open_run(summary.path)
        same = opened.conditions
        if (same.machine, sorted(same.plan), _code(same)) == (
            first.machine,
            sorted(first.plan),
            _code(first),
        ):
            like.append(opened)
        if len(like) == MOST_EARLIER:
            break
    return between_runs([{figure.cell: figure for figure in run.cells} for run in like])


def _code(conditions: Conditions) -> set[tuple[str, str, str]]:
    return {(identity.runner, identity.cpu, identity.object_sha256) for identity in conditions.identities}
