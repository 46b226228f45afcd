"""The history of a function in a directory: `history.jsonl` has an entry for each commit, `atlas` the runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perbyte import extras
from perbyte.app.trying.trial import InTurn, Trial
from perbyte.errors import StoreError

if TYPE_CHECKING:
    from perbyte.model import Run
    from perbyte.stats.trials import BaselineChange
    from perbyte.trial.commits import Commit, Repository

ENTRIES = "history.jsonl"


def add_entry(
    place: Path, repository: Repository, trial: Trial, changed: InTurn, old: Commit
) -> list[dict[str, Any]]:
    """Add what became of the present program since `old`; give all entries, the oldest commit first.

    A commit that is there already is replaced. The run is added to the atlas of the history where the extra is
    installed. Raises StoreError where the directory cannot be written.
    """
    here, run = repository.commit("HEAD"), changed.run
    entry = {
        "function": trial.asked.title,
        "algorithm": trial.asked.algorithm.id,
        "commit": here.short + ("+" if repository.changed(trial.asked.files) else ""),
        "subject": here.subject,
        "committed": repository.time(here),
        "against": old.short,
        "at": run.conditions.started_at,
        "machine": run.conditions.machine.cpu_model,
        "run": run.conditions.run_id,
        "rows": [_row(run, changed.name, change) for change in changed.changes],
    }
    same = ("commit", "function")
    try:
        place.mkdir(parents=True, exist_ok=True)
        entries = [other for other in read_entries(place) if any(other[key] != entry[key] for key in same)]
        entries.append(entry)
        entries.sort(key=lambda each: each.get("committed", 0))
        lines = "".join(json.dumps(each, sort_keys=True) + "\n" for each in entries)
        (place / ENTRIES).write_text(lines, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{place} cannot be written: {error}") from error
    if extras.has("atlas"):
        from perbyte.app.run_names import find_run
        from perbyte.atlas import add

        add(str(place / "atlas"), [find_run(run.conditions.run_id)])
    return entries


def read_entries(place: Path) -> list[dict[str, Any]]:
    """The entries of a history, oldest first. A line that was cut off is left out."""
    file = place / ENTRIES
    entries = []
    for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and {"commit", "function", "rows"} <= set(entry):
            entries.append(entry)
    return entries


def _row(run: Run, name: str, change: BaselineChange) -> dict[str, Any]:
    """A row's cost per byte and what became of it."""
    figure = next(
        figure
        for figure in run.cells
        if (figure.cell.runner, figure.cell.operation, figure.cell.contract, figure.cell.size_bytes)
        == (name, *change.row)
    )
    size, ratio = change.size_bytes or 1, change.comparison.ratio
    return {
        "operation": change.operation,
        "contract": change.contract,
        "size_bytes": change.size_bytes,
        "unit": "cycles/byte" if figure.cycles_per_call is not None else "ns/byte",
        "cost": figure.per_call / size,
        "low": figure.interval.low / size,
        "high": figure.interval.high / size,
        "verdict": change.word,
        "ratio": ratio.value,
        "ratio_low": ratio.low,
        "ratio_high": ratio.high,
    }
