"""The history of a function in a directory: an entry for each commit, a picture, an atlas of the runs.

`history.jsonl` holds the entries, `history.svg` the last fifty commits with their changes, `history.md` a table of
these, `atlas` the runs with all their samples, where what an atlas needs is installed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perbyte import extras
from perbyte.cli.options import note
from perbyte.errors import StoreError

if TYPE_CHECKING:
    from perbyte.cli.try_trial import Trial
    from perbyte.model import Run
    from perbyte.report.commits import Track
    from perbyte.runners import RunnerSpec
    from perbyte.trial.commits import Commit, Repository
    from perbyte.trial.kept import BaselineChange

ENTRIES = "history.jsonl"


def add_entry(
    place: Path,
    repository: Repository,
    trial: Trial,
    run: Run,
    spec: RunnerSpec,
    old: Commit,
    changes: Sequence[BaselineChange],
) -> None:
    """Add what was found of the present program, beside that of `old`, and draw the picture anew.

    A commit that is there already is replaced. Raises StoreError where the directory cannot be written.
    """
    from perbyte.report.commits import commits_svg, commits_table

    here = repository.commit("HEAD")
    name = here.short + ("+" if repository.changed(trial.asked.files) else "")
    entry = {
        "function": trial.asked.title,
        "algorithm": trial.asked.algorithm.id,
        "commit": name,
        "subject": here.subject,
        "against": old.short,
        "at": run.conditions.started_at,
        "machine": run.conditions.machine.cpu_model,
        "run": run.conditions.run_id,
        "rows": [_row(run, spec.name, change) for change in changes],
    }
    try:
        place.mkdir(parents=True, exist_ok=True)
        entries = [
            entry
            for entry in read_entries(place)
            if (entry["commit"], entry["function"]) != (name, trial.asked.title)
        ]
        entries.append(entry)
        lines = "".join(json.dumps(entry, sort_keys=True) + "\n" for entry in entries)
        (place / ENTRIES).write_text(lines, encoding="utf-8")
        drawn = tracks(entries)
        (place / "history.svg").write_text(commits_svg(drawn), encoding="utf-8")
        (place / "history.md").write_text(commits_table(drawn), encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{place} cannot be written: {error}") from error
    if extras.has("atlas"):
        from perbyte.app.run_names import find_run
        from perbyte.atlas import add

        add(str(place / "atlas"), [find_run(run.conditions.run_id)])
    else:
        note(
            f"the run was not added to {place / 'atlas'}: {extras.install_command('atlas')}",
            quiet=trial.quiet,
        )
    note(f"history: {place / 'history.svg'}", quiet=trial.quiet)


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


def tracks(entries: Sequence[dict[str, Any]]) -> list[Track]:
    """The rows of all entries, each through the commits."""
    from perbyte.report.commits import Dot, Track
    from perbyte.report.wording import size_label

    dots: dict[tuple[str, str], list[Dot]] = {}
    for entry in entries:
        for row in entry["rows"]:
            title = f"{entry['function']}, {row['operation']} {size_label(row['size_bytes'])}"
            values = (row["cost"], row["low"], row["high"])
            dot = Dot(
                entry["commit"], entry["subject"], entry["machine"], *values, row["verdict"], row["ratio"]
            )
            dots.setdefault((title, row["unit"]), []).append(dot)
    return [Track(title, unit, tuple(told)) for (title, unit), told in dots.items()]


def _row(run: Run, name: str, change: BaselineChange) -> dict[str, Any]:
    """A row's cost per byte and what became of it."""
    figure = next(
        figure
        for figure in run.cells
        if (figure.cell.runner, figure.cell.operation, figure.cell.contract, figure.cell.size_bytes)
        == (name, change.operation, change.contract, change.size_bytes)
    )
    size = change.size_bytes or 1
    return {
        "operation": change.operation,
        "contract": change.contract,
        "size_bytes": change.size_bytes,
        "unit": "cycles/byte" if figure.cycles_per_call is not None else "ns/byte",
        "cost": figure.per_call / size,
        "low": figure.interval.low / size,
        "high": figure.interval.high / size,
        "verdict": change.word,
        "ratio": change.comparison.ratio.value,
        "ratio_low": change.comparison.ratio.low,
        "ratio_high": change.comparison.ratio.high,
    }
