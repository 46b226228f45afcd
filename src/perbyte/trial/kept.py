"""The program that a trial is compared with: kept when it was measured first, measured again beside every later one.

Figures of another moment are no baseline: clock and neighbours have changed since. The old program itself is kept, so
that both are measured in turn in one run.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from perbyte.atomic import new_directory
from perbyte.model import Policy
from perbyte.trial.building import home
from perbyte.trial.program import digest_of

LEVEL = 0.998
"""Of the run's intervals: two unchanged programs in a thousand may be called changed."""
PRECISION = 0.0008
"""At this level: 0.05 % at 95 %."""
EPOCHS = 8


def in_turn_policy(*, gentle: bool) -> Policy:
    """How two programs are measured in turn."""
    return Policy(precision=PRECISION, level=LEVEL, epochs=EPOCHS, max_epochs=5 * EPOCHS, gentle=gentle)


@dataclass(frozen=True, slots=True)
class Note:
    """What is known of a kept program."""

    flags: str
    digest: str
    kept_at: str


def places_for(told: object, ending: str = "") -> tuple[Path, Path]:
    """Where the present program and the kept one of `told` lie: paths of one length, which moves a program's stack."""
    key = hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16] + ending
    return home() / "new" / key, home() / "old" / key


def keep(now: Path, old: Path, flags: str, files: Sequence[Path]) -> None:
    """Make the present program, of `files` compiled with `flags`, the baseline."""
    moment = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
    note = Note(flags, digest_of(files), moment)
    with new_directory(old) as scratch:
        shutil.copytree(now, scratch, symlinks=True, dirs_exist_ok=True)
        (scratch / "note.json").write_text(json.dumps(asdict(note)), encoding="utf-8")


def read_note(old: Path) -> Note | None:
    """What is known of the kept program; None where none is kept."""
    try:
        fields = json.loads((old / "note.json").read_text(encoding="utf-8"))
        return Note(**fields) if (old / "runner").is_file() else None
    except (OSError, ValueError, TypeError):
        return None
