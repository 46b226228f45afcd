"""Stored runs: which one a word means, a path or the name of a run in the home of runs; and a signature under one.

A path wins over a name, because a path can always be written so that it is no name (`./monday`). Nothing is opened
here beyond `run.json` of the runs that a message has to name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from perbyte import places
from perbyte.app.listener import Say, silent
from perbyte.errors import NoSuchRun, StoreError, UsageError
from perbyte.model import Run
from perbyte.model.text import counted
from perbyte.store.files import LEAK_FILE, RUN_FILE

if TYPE_CHECKING:
    from perbyte.store.signature import Signature

_SHOWN = 3


def newest() -> Path:
    """The newest run's directory. Raises UsageError when there is none."""
    from perbyte.store import latest

    path = latest(places.runs_home())
    if path is None:
        raise UsageError("there is no run yet", hint="make one: perbyte measure")
    return path


def run_named(word: str | Path) -> Path | None:
    """The place of the run that `word` means, or None when it means none. Any directory is taken for a run."""
    place = Path(word)
    try:
        if place.is_dir() or (place.name in (RUN_FILE, LEAK_FILE) and place.is_file()):
            return place
        shelved = places.runs_home() / place
        there = any((shelved / name).is_file() for name in (RUN_FILE, LEAK_FILE))
        return shelved if _is_name(place) and there else None
    except (OSError, ValueError):  # a word too long for a path, or with a zero byte
        return None


def title_of(word: str) -> str:
    """What a run that `word` means is called: its directory, else the word."""
    place = run_named(word)
    return place.resolve().name if place and place.is_dir() else word


def find_run(word: str | Path | None) -> Path:
    """The place of the run that `word` means; of the newest run without a word.

    Raises NoSuchRun, saying where it was looked for and which runs there are.
    """
    if word is None:
        return newest()
    path = run_named(word)
    if path is None:
        raise NoSuchRun(f"there is no run '{str(word)[:200]}': {where_looked(word)}", hint=runs_there_are())
    return path


def find_runs(words: Iterable[str | Path]) -> list[Path]:
    """The places of the runs that `words` mean. Raises NoSuchRun, and UsageError where two words mean one run."""
    paths = [find_run(word) for word in words]
    require_distinct(paths)
    return paths


def open_runs(words: Iterable[str | Path], *, anew: bool = False) -> list[Run]:
    """The runs that `words` mean, with `anew` their figures computed again.

    Raises as `find_runs`, and StoreError where one is damaged.
    """
    from perbyte.store import open_run

    return [open_run(path, anew=anew) for path in find_runs(words)]


def all_runs(say: Say = silent) -> list[Path]:
    """Every stored run that can be read; how many cannot is said. Raises UsageError where there is none."""
    from perbyte.store import leak_runs, runs

    summaries = runs(places.runs_home())
    if broken := sum(bool(summary.problem) for summary in summaries):
        say(f"left out: {counted(broken, 'run')} that cannot be read (perbyte list runs)")
    whole = [summary.path for summary in summaries if not summary.problem] + leak_runs(places.runs_home())
    if not whole:
        raise UsageError("there is no run yet", hint="make one: perbyte measure")
    return whole


def require_distinct(places_of: Sequence[Path]) -> None:
    """Raise UsageError when two of `places_of` are one run: it would be compared with itself, or counted twice."""
    resolved = [(place.parent if place.name == RUN_FILE else place).resolve() for place in places_of]
    if twice := next((place for place in resolved if resolved.count(place) > 1), None):
        raise UsageError(f"the run '{twice.name}' is named twice", hint="name each run once")


def where_looked(word: str | Path) -> str:
    """Say what `word` was tried as."""
    place = Path(word)
    if not _is_name(place):
        return "no such directory"
    return f"no such directory here, and no run of that name in {places.runs_home()}"


def runs_there_are() -> str:
    """Name the newest runs, for a hint."""
    from perbyte.store import runs

    names = [summary.path.name for summary in runs(places.runs_home())]
    if not names:
        return "there is no run yet; make one: perbyte measure"
    more = " ..." if len(names) > _SHOWN else ""
    return f"the newest runs: {', '.join(names[:_SHOWN])}{more} (perbyte list runs)"


def sign_run(path: Path, key: Path) -> Signature:
    """Sign the manifest of a run, which then lists every file. Raises StoreError where that is not what was written."""
    from perbyte.store import sign, verify
    from perbyte.store.beside import decode_leaks, is_leak_run
    from perbyte.store.manifest import Manifest, complete_manifest

    verdict = verify(path, signed=False)
    manifest = verdict.manifest
    if manifest is None and is_leak_run(verdict.path):  # of an older version
        manifest = Manifest(decode_leaks(verdict.path).run_id, 0, True, {}, whole=True)
    if verdict.damaged or manifest is None:
        raise StoreError(
            f"{verdict.path} is damaged or has no manifest", hint=f"perbyte verify {verdict.path}"
        )
    journal = verdict.path / "journal.jsonl"
    if journal.is_file() and journal.stat().st_size:
        raise StoreError(
            f"{verdict.path} has measurements in its journal, outside its manifest",
            hint=f"perbyte recover {verdict.path} --out NEW, or perbyte measure --resume {verdict.path}",
        )
    complete_manifest(verdict.path, manifest)
    if strange := verify(path, signed=True, compute=False).damaged:
        raise StoreError(
            f"{verdict.path / strange[0].name} cannot be signed, and a signature is of everything there",
            hint="move it elsewhere, then sign",
        )
    return sign(verdict.path, key)


def _is_name(place: Path) -> bool:
    return len(place.parts) == 1 and place.name == str(place) and place.name not in ("", "..")
