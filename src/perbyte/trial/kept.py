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

from perbyte.model import Cell, Run, parse_address
from perbyte.stats.compare import Answer, Comparison, compare
from perbyte.trial.program import home

LEVEL = 0.998
"""Of the run's intervals: two unchanged programs in a thousand may be called changed."""
_WORDS = {
    Answer.FASTER: "faster",
    Answer.SLOWER: "slower",
    Answer.TIED: "the same",
    Answer.UNDECIDED: "not known",
}


@dataclass(frozen=True, slots=True)
class Note:
    """What is known of a kept program."""

    flags: str
    digest: str
    kept_at: str


@dataclass(frozen=True, slots=True)
class BaselineChange:
    """What became of one row since the baseline."""

    operation: str
    contract: str
    size_bytes: int
    comparison: Comparison
    algorithm: str = ""

    @property
    def word(self) -> str:
        """The answer of `comparison`: `faster`, `slower`, `the same` or `not known`."""
        return _WORDS[self.comparison.answer]


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
        fields = json.loads((old / "note.json").read_text(encoding="utf-8"))
        return Note(**fields) if (old / "runner").is_file() else None
    except (OSError, ValueError, TypeError):
        return None


def changes(run: Run, own: str, before: str) -> list[BaselineChange]:
    """Compare each row of `own` with the same one of `before`."""
    changed = []
    for figure in run.cells:
        cell = figure.cell
        partner = next(
            (other for other in run.cells if other.cell.runner == before and _row(other.cell) == _row(cell)),
            None,
        )
        if cell.runner != own or not partner:
            continue
        comparison = compare(partner, figure, run.noise_floor, precision=run.conditions.policy.precision)
        row = (cell.operation, cell.contract, cell.size_bytes, comparison, cell.algorithm)
        changed.append(BaselineChange(*row))
    return changed


def gaps(run: Run, changed: Sequence[BaselineChange]) -> list[str]:
    """The addresses of the run's plan that are in none of `changed`: a program gave no figure there."""
    told = {(change.algorithm, change.operation, change.contract, change.size_bytes) for change in changed}
    return [
        address
        for address in run.conditions.plan
        if (cell := parse_address(address)) and _row(cell) not in told
    ]


def _row(cell: Cell) -> tuple[str, str, str, int]:
    return cell.algorithm, cell.operation, cell.contract, cell.size_bytes
