"""What became of leaks between runs, or between two selectors of one run, and when that fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from perbyte.app.runs import find_run, require_distinct, run_named
from perbyte.app.verdicts import exit_code
from perbyte.catalogue import parse_selector
from perbyte.errors import EXIT_FINE, UsageError
from perbyte.model import Run
from perbyte.model.leak import LeakFigure
from perbyte.stats.leak import LeakChange, leak_changes
from perbyte.store.beside import is_leak_run, read_leaks

FAILING = ("leak", "new-leak", "unknown")


@dataclass(frozen=True, slots=True)
class ChangedLeaks:
    """The changes from the first side to each other one; `lost` names what only the first side was tested for."""

    known: tuple[LeakChange, ...] = ()
    lost: tuple[str, ...] = ()
    tested: bool = False

    def judge(self, fail_on: Sequence[str]) -> tuple[int, list[LeakChange]]:
        """The exit code and the leaks that decide it: 1 for a leak, 6 for what is lost, 5 for what is not known.

        Raises UsageError where nothing was tested on both sides.
        """
        if not fail_on:
            return EXIT_FINE, []
        if not self.known:
            raise UsageError(
                "no cell was tested for leaks on both sides",
                hint="perbyte measure SELECTOR --leak, on both sides",
            )
        bad = [
            change
            for change in self.known
            if ("leak" in fail_on and change.after.verdict == "leaks")
            or ("new-leak" in fail_on and change.worse)
        ]
        unclear = any(change.after.verdict in ("unknown", "harness") for change in self.known)
        undecided = "unknown" in fail_on and unclear
        return exit_code(detected=bool(bad), missing=bool(self.lost), undecided=undecided), bad


def changes_alone(sides: Sequence[str], run: Path | None) -> ChangedLeaks | None:
    """The changes where the sides are of runs that looked for leaks only; None where no side is of such a run.

    Raises UsageError for a mixture, and where the sides have nothing in common.
    """
    places_of = [run_named(side) for side in sides]
    if run is not None and is_leak_run(find_run(run)) and not any(places_of):
        figures = read_leaks(find_run(run)).figures
        changed = _changes([_selected(side, figures) for side in sides])
    else:
        alone = [place is not None and is_leak_run(place) for place in places_of]
        if not any(alone):
            return None
        if not all(alone):
            raise UsageError(
                "a run with leak tests only can be compared only with such a run",
                hint="measure SELECTOR --leak keeps both in one run",
            )
        require_distinct([place for place in places_of if place])
        changed = _changes([read_leaks(place).figures for place in places_of if place])
    if not changed.known:
        raise UsageError(
            "the sides have no cell and secret in common",
            hint="test the same cells and secrets on both sides",
        )
    return changed


def changes_in_runs(sides: Sequence[str], runs: Sequence[Run]) -> ChangedLeaks:
    """The same of runs with figures; of two selectors where there is one run."""
    if not any(run.leaks for run in runs):
        return ChangedLeaks()
    if len(runs) == 1:
        return _changes([_selected(side, runs[0].leaks) for side in sides])
    return _changes([run.leaks for run in runs])


def _changes(chosen: Sequence[Sequence[LeakFigure]]) -> ChangedLeaks:
    parts = [leak_changes(chosen[0], later) for later in chosen[1:]]
    known = tuple(change for part in parts for change in part.found)
    return ChangedLeaks(known, tuple(name for part in parts for name in part.lost), tested=True)


def _selected(text: str, figures: Sequence[LeakFigure]) -> tuple[LeakFigure, ...]:
    selector = parse_selector(text)
    return tuple(leak for leak in figures if selector.matches(leak.cell))
