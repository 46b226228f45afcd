"""Forms about what exists: an algorithm is or is not to be had, or a claim is out of any run's reach."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perbyte.catalogue import pattern
from perbyte.studies.claims.vocabulary import WHERE, Finding, Form, Kind, Parameter, Scene, State
from perbyte.studies.evidence import Absence, Row


def _provided(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    return [_there(scene, key, rows, wanted=True) for key, rows in _by_runner(scene, p).items()]


def _not_provided(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    return [_there(scene, key, rows, wanted=False) for key, rows in _by_runner(scene, p).items()]


def _by_runner(scene: Scene, p: Mapping[str, Any]) -> dict[tuple[str, str], list[Row]]:
    found: dict[tuple[str, str], list[Row]] = {}
    for row in scene.table.select(p["where"]):
        found.setdefault((str(row.dims["runner"]), row.label), []).append(row)
    return found


def _there(scene: Scene, key: tuple[str, str], rows: list[Row], *, wanted: bool) -> Finding:
    """One figure proves that a library has the algorithm; a library that answered otherwise proves it has not."""
    runner, label = key
    have = next((row.figure for row in rows if row.figure), None)
    if have:
        state = State.YES if wanted else State.NO
        library = " ".join(part for part in (have.library, have.library_version) if part)
        return Finding(state, f"{library} ({runner}) has {label}.")
    if pattern.is_pattern(runner):
        return Finding(State.UNPROVIDED, f"No runner that measured here has {label}: {rows[0].reason}.")
    if runner not in scene.table.runners:
        return Finding(State.UNPROVIDED, f"{runner} is not among the runners that measured here.")
    if all(row.absence is Absence.UNPROVIDED for row in rows):
        state = State.NO if wanted else State.YES
        return Finding(state, f"{runner} measured here but has no {label}: {rows[0].reason}.")
    return Finding(State.UNMEASURED, f"{runner}, {label}: {rows[0].reason}.")


def _out_of_reach(scene: Scene, p: Mapping[str, Any]) -> list[Finding]:
    why = p["why"].strip()
    return [Finding(State.UNPROVIDED, why if why.endswith(".") else f"{why}.")]


FORMS = (
    Form("provided", "the library of each runner has the algorithm", (WHERE,), _provided),
    Form("not_provided", "the library of each runner lacks the algorithm", (WHERE,), _not_provided),
    Form(
        "out_of_reach",
        "no measurement of speed here can decide it; always 'not measurable here'",
        (Parameter("why", Kind.TEXT, "what would be needed"),),
        _out_of_reach,
    ),
)
