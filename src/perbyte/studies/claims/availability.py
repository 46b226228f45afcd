"""Claims about what exists: a library has an algorithm or has it not; and claims that no run can decide."""

from __future__ import annotations

from perbyte.catalogue import pattern
from perbyte.datafile import Text
from perbyte.studies.claims.form import Context, Finding, Form, State
from perbyte.studies.evidence import Absence, Row


class Provided(Form, frozen=True, kw_only=True, tag="provided"):
    """The library of each runner has the algorithm."""

    def judge(self, context: Context) -> list[Finding]:
        """One finding per runner and group of cells."""
        found: dict[tuple[str, str], list[Row]] = {}
        for row in context.table.select(self.where):
            found.setdefault((str(row.dims["runner"]), row.label), []).append(row)
        return [_there(context, runner, label, rows) for (runner, label), rows in found.items()]


class OutOfReach(Form, frozen=True, kw_only=True, tag="out_of_reach"):
    """No measurement of speed here can decide it: always 'not testable'. `why` says what it would take."""

    why: Text

    def judge(self, context: Context) -> list[Finding]:
        """A finding that is none."""
        why = self.why.strip()
        return [Finding(State.UNPROVIDED, why if why.endswith(".") else f"{why}.")]


def _there(context: Context, runner: str, label: str, rows: list[Row]) -> Finding:
    """One figure proves that a library has the algorithm; a library that answered otherwise proves it has not."""
    have = next((row.figure for row in rows if row.figure), None)
    if have:
        library = " ".join(part for part in (have.library, have.library_version) if part)
        return Finding(State.YES, f"{library} ({runner}) has {label}.")
    if pattern.is_pattern(runner):
        return Finding(State.UNPROVIDED, f"No runner that measured here has {label}: {rows[0].reason}.")
    if runner not in context.table.runners:
        return Finding(State.UNPROVIDED, f"{runner} is not among the runners that measured here.")
    if all(row.absence is Absence.UNPROVIDED for row in rows):
        return Finding(State.NO, f"{runner} measured here but has no {label}: {rows[0].reason}.")
    return Finding(State.UNMEASURED, f"{runner}, {label}: {rows[0].reason}.")
