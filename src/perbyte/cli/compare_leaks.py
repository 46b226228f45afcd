"""Leaks in `perbyte compare`: of runs that measured as well, and of runs that looked for nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from perbyte.app.run_names import find_run, require_distinct, run_named
from perbyte.cli.options import note
from perbyte.errors import EXIT_FINE, EXIT_FOUND, EXIT_MISSING, EXIT_UNDECIDED, UsageError

if TYPE_CHECKING:
    from perbyte.model import Run
    from perbyte.model.leak import LeakFigure
    from perbyte.stats.leakchange import LeakChange, LeakChanges

FAILING = ("leak", "new-leak", "unknown")
SHOWN = 4


def read_failing_changes(words: Sequence[str] | None) -> tuple[str, ...]:
    """What `--fail-on` of `compare` named. Raises UsageError for anything else."""
    if unknown := sorted(set(words or ()) - set(FAILING)):
        raise UsageError(f"--fail-on '{unknown[0]}' means nothing", hint=f"there are {', '.join(FAILING)}")
    return tuple(words or ())


def changes_alone(sides: Sequence[str], run: Path | None) -> list[LeakChanges] | None:
    """The changes from the first side to each other one, where the sides are of runs that looked for leaks only.

    None where no side is of such a run. Raises UsageError for a mixture.
    """
    from perbyte.stats.leakchange import leak_changes
    from perbyte.store.leaks import is_leak_run, read_leaks

    places_of = [run_named(side) for side in sides]
    if run is not None and is_leak_run(find_run(run)) and not any(places_of):
        figures = read_leaks(find_run(run)).figures
        chosen = [_selected(side, figures) for side in sides]
    else:
        alone = [place is not None and is_leak_run(place) for place in places_of]
        if not any(alone):
            return None
        if not all(alone):
            raise UsageError(
                "a run that looked for leaks only is compared with its like",
                hint="measure SELECTOR --leak keeps both in one run",
            )
        require_distinct([place for place in places_of if place])
        chosen = [read_leaks(place).figures for place in places_of if place]
    return [leak_changes(chosen[0], later) for later in chosen[1:]]


def changes_in_runs(sides: Sequence[str], runs: Sequence[Run]) -> list[LeakChanges]:
    """The same of runs with figures; of two selectors where there is one run. Empty where nobody looked for leaks."""
    from perbyte.stats.leakchange import leak_changes

    if len(runs) == 1:
        chosen = [_selected(side, runs[0].leaks) for side in sides] if runs[0].leaks else []
    else:
        chosen = [run.leaks for run in runs] if any(run.leaks for run in runs) else []
    return [leak_changes(chosen[0], later) for later in chosen[1:]]


def tell_alone(changes: Sequence[LeakChanges], fail_on: Sequence[str], *, as_json: bool) -> int:
    """Print the changes; the exit code of the gate."""
    from perbyte.report.leakchanges import leak_change_lines, leak_changes_json

    found = found_in(changes)
    if not found:
        raise UsageError("the sides have no cell and secret in common", hint="look at the same on both sides")
    if as_json:
        print(json.dumps({"leaks": leak_changes_json(found)}, indent=1, allow_nan=False))
    else:
        print("\n".join(leak_change_lines(found)))
    return leak_gate(changes, fail_on)


def found_in(changes: Sequence[LeakChanges]) -> list[LeakChange]:
    """All changes, side by side."""
    return [change for part in changes for change in part.found]


def leak_gate(changes: Sequence[LeakChanges], fail_on: Sequence[str]) -> int:
    """The exit code where it was asked for: 1 for a leak, 6 where a side was not looked at, 5 for what is not known."""
    from perbyte.report.leaktext import contrast_text

    found = found_in(changes)
    lost = [name for part in changes for name in part.lost]
    if lost:
        note(f"leaks were looked for on the first side only: {', '.join(lost[:SHOWN])}")
    if not fail_on:
        return EXIT_FINE
    if not found:
        raise UsageError(
            "no cell was looked at for leaks on both sides",
            hint="perbyte measure SELECTOR --leak, on both sides",
        )
    bad = [
        change
        for change in found
        if ("leak" in fail_on and change.after.verdict == "leaks") or ("new-leak" in fail_on and change.worse)
    ]
    if bad:
        names = "; ".join(
            f"{change.after.cell.address}, {contrast_text(change.after)} ({change.became})"
            for change in bad[:SHOWN]
        )
        note(f"the time depends on a secret: {names}{'; ...' * (len(bad) > SHOWN)}")
        return EXIT_FOUND
    if lost:
        return EXIT_MISSING
    unclear = any(change.after.verdict in ("unknown", "harness") for change in found)
    return EXIT_UNDECIDED if "unknown" in fail_on and unclear else EXIT_FINE


def _selected(text: str, figures: Sequence[LeakFigure]) -> tuple[LeakFigure, ...]:
    from perbyte.catalogue import parse_selector

    selector = parse_selector(text)
    return tuple(leak for leak in figures if selector.matches(leak.cell))
