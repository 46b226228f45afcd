"""Claims about what exists: a library has an algorithm or has it not; and claims that no run can decide."""

from __future__ import annotations

from perbyte.catalogue.pattern import is_pattern
from perbyte.datafile import Text
from perbyte.studies.claims.form import Context, Finding, Form, Said, State
from perbyte.studies.evidence import Absence, Row

_LACKING = (Absence.UNPROVIDED, Absence.NOT_PRINTED)


class Provided(Form, frozen=True, kw_only=True, tag="provided"):
    """The library of each runner has the algorithm; with `anywhere` one library is enough."""

    anywhere: bool = False

    def judge(self, context: Context) -> list[Finding]:
        """One finding per runner and group of cells; with `anywhere` one per group of cells."""
        found: dict[tuple[str, str], list[Row]] = {}
        for row in context.table.select(self.where):
            runner = "*" if self.anywhere else str(row.dims["runner"])
            found.setdefault((runner, row.label), []).append(row)
        if self.anywhere:
            return [_somewhere(context, label, rows) for (_, label), rows in found.items()]
        return [_there(context, runner, label, rows) for (runner, label), rows in found.items()]

    def said(self, context: Context) -> Said:
        """The rule and what contradicts it."""
        who = "a library" if self.anywhere else "the library of each runner"
        return Said(
            f"{who} here has the algorithm", f"{'no library' if self.anywhere else 'a library'} here lacks it"
        )


class OutOfReach(Form, frozen=True, kw_only=True, tag="out_of_reach"):
    """No measurement of speed here can decide it: always 'not testable'. `why` says what it would take."""

    why: Text

    def judge(self, context: Context) -> list[Finding]:
        """A finding that is none."""
        why = self.why.strip()
        return [Finding(State.UNPROVIDED, why if why.endswith(".") else f"{why}.")]

    def said(self, context: Context) -> Said:
        """The rule and what contradicts it."""
        return Said("no rule: nothing that is measured here decides it", "nothing that is measured here")

    def rule(self, context: Context) -> str:
        """There is none."""
        return self.said(context).rule

    def refuted_by(self, context: Context) -> str:
        """Nothing."""
        return self.said(context).contrary


def _there(context: Context, runner: str, label: str, rows: list[Row]) -> Finding:
    """One figure proves that a library has the algorithm; a library that answered otherwise proves it has not."""
    if found := _having(rows, label):
        return found
    if is_pattern(runner):
        return Finding(State.UNPROVIDED, f"No runner that measured here has {label}: {rows[0].reason}.")
    if runner not in context.table.runners:
        return Finding(State.UNPROVIDED, f"{runner} is not among the runners that measured here.")
    if all(row.absence in _LACKING for row in rows):
        return Finding(State.NO, f"{runner} measured here but has no {label}: {rows[0].reason}.")
    return Finding(State.UNMEASURED, f"{runner}, {label}: {rows[0].reason}.")


def _somewhere(context: Context, label: str, rows: list[Row]) -> Finding:
    """Nobody has it only where every runner that the study names was asked; a runner that is not built may have it."""
    if found := _having(rows, label):
        return found
    named = {runner for row in rows if not is_pattern(runner := str(row.dims["runner"]))}
    absent = sorted(named - context.table.runners)
    if absent:
        why = f"{' and '.join(absent)} did not measure here"
        return Finding(State.UNPROVIDED, f"No library that measured here has {label}; {why}.")
    if all(row.absence in _LACKING for row in rows):
        return Finding(State.NO, f"No library that measured here has {label}.")
    return Finding(State.UNMEASURED, f"{label}: {rows[0].reason}.")


def _having(rows: list[Row], label: str) -> Finding | None:
    for row in rows:
        if row.figure:
            library = " ".join(part for part in (row.figure.library, row.figure.library_version) if part)
            return Finding(State.YES, f"{library} ({row.figure.cell.runner}) has {label}.")
    return None
