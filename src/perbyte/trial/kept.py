"""The program that a trial is compared with: kept when it was measured first, measured again beside every later one.

Figures of another moment are no baseline: clock and neighbours have changed since. The old program itself is kept, so
that both are measured in turn in one run.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from perbyte.model import Run
from perbyte.stats.compare import Comparison
from perbyte.stats.many_epochs import compare_many
from perbyte.trial.program import home

LEVEL = 0.998
"""Beyond doubt: two unchanged programs in a thousand may be called changed."""
SAME_WITHIN = 0.01
"""An interval within this of 1 says that both are the same; a wider one that covers 1 says nothing."""


@dataclass(frozen=True, slots=True)
class Note:
    """What is known of a kept program."""

    flags: str
    digest: str
    kept_at: str


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one row since the baseline. `word` is `faster`, `slower`, `the same` or `not known`."""

    operation: str
    size_bytes: int
    comparison: Comparison
    word: str


def places_of(files: Sequence[Path], words: Sequence[str], index: int) -> tuple[Path, Path]:
    """Where the present program lies and where the kept one: by files and what was asked, not by flags.

    Both paths have one length, because the length of a program's path moves its stack.
    """
    told = json.dumps([[str(file) for file in files], list(words)])
    key = f"{hashlib.sha256(told.encode()).hexdigest()[:16]}-{index}"
    return home() / "new" / key, home() / "old" / key


def keep(now: Path, old: Path, note: Note) -> None:
    """Make the present program the baseline."""
    old.parent.mkdir(parents=True, exist_ok=True)
    scratch = old.with_name(f".{old.name}")
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(now, scratch)
    (scratch / "note.json").write_text(json.dumps(asdict(note)), encoding="utf-8")
    shutil.rmtree(old, ignore_errors=True)
    scratch.rename(old)


def read_note(old: Path) -> Note | None:
    """What is known of the kept program; None where none is kept."""
    try:
        found = json.loads((old / "note.json").read_text(encoding="utf-8"))
        return Note(**found) if (old / "runner").is_file() else None
    except (OSError, ValueError, TypeError):
        return None


def changes(run: Run, mine: str, before: str) -> list[Change]:
    """Compare each row of `mine` with the same one of `before`, at LEVEL."""
    found = []
    for figure in run.cells:
        cell = figure.cell
        partner = next(
            (
                other
                for other in run.cells
                if other.cell.runner == before
                and (other.cell.operation, other.cell.contract, other.cell.size_bytes)
                == (cell.operation, cell.contract, cell.size_bytes)
            ),
            None,
        )
        if cell.runner != mine or not partner:
            continue
        comparison = compare_many(partner, figure, run.noise_floor, LEVEL)
        found.append(Change(cell.operation, cell.size_bytes, comparison, _word(comparison)))
    return found


def _word(comparison: Comparison) -> str:
    ratio = comparison.ratio
    if ratio.above(1):
        return "slower"
    if ratio.below(1):
        return "faster"
    return "the same" if ratio.within(1 / (1 + SAME_WITHIN), 1 + SAME_WITHIN) else "not known"
