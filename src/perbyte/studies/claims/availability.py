"""Claims about what exists: a library has an algorithm or has it not; and claims that no run can decide."""

from __future__ import annotations

from perbyte.catalogue.pattern import is_pattern
from perbyte.datafile import Problem, Text
from perbyte.model.groups import grouped
from perbyte.studies.claims.form import Context, Finding, Form, Said, State, combinations
from perbyte.studies.evidence import Absence, EvidenceRow
from perbyte.studies.model import GROUP
from perbyte.studies.wording import listing

_LACKING = (Absence.UNPROVIDED, Absence.PRINTED_AS_LACKING)


class Provided(Form, frozen=True, kw_only=True, tag="provided"):
    """The library of each runner has the algorithm; with `anywhere` one library is enough.

    With `everywhere` it is the algorithm that is judged: every one of the libraries has it.
    """

    anywhere: bool = False
    everywhere: bool = False

    def __post_init__(self) -> None:
        if self.anywhere and self.everywhere:
            raise Problem("one library cannot be enough and each be needed", key="everywhere")

    def judge(self, context: Context) -> list[Finding]:
        """One finding per runner and algorithm of a group of cells, else one per algorithm."""
        together = self.anywhere or self.everywhere
        rows_of = grouped(
            context.table.select(self.where),
            lambda row: ("*" if together else _runner(row), row.label, str(row.dims["algorithm"])),
        )
        labels = [(runner, label) for runner, label, _ in rows_of]
        findings = []
        for (runner, label, algorithm), rows in rows_of.items():
            several = labels.count((runner, label)) > 1
            name = f"{label} ({algorithm})" if several else label
            if self.everywhere:
                findings.append(_everywhere(context, name, rows))
            elif self.anywhere:
                findings.append(_somewhere(context, name, rows))
            else:
                findings.append(_there(context, runner, name, rows))
        return findings

    def said(self, context: Context) -> Said:
        """The rule and what contradicts it."""
        if self.anywhere:
            return Said("at least one library here has the algorithm", "no library here has it")
        if self.everywhere:
            return Said(
                "the libraries of all runners have the algorithm", "one of the libraries here lacks it"
            )
        return Said("the library here has the algorithm", "the library here lacks it")

    def groups(self, context: Context) -> str:
        """The algorithms of each group of cells, in the library of each runner unless all are judged together."""
        together = self.anywhere or self.everywhere
        return combinations([*([] if together else ["runner"]), GROUP, "algorithm"])


class OutOfReach(Form, frozen=True, kw_only=True, tag="out_of_reach"):
    """No run of the study can decide it: always 'not testable'. `why` says what it would take.

    `measured_by` names the program that measures it outside of studies, where there is one.
    """

    why: Text
    measured_by: str = ""

    @property
    def judged(self) -> bool:
        """False: no run decides it."""
        return False

    def judge(self, context: Context) -> list[Finding]:
        """A finding that is none."""
        why = self.why.strip()
        return [Finding(State.UNPROVIDED, why if why.endswith(".") else f"{why}.")]

    def said(self, context: Context) -> Said:
        """The rule and what contradicts it."""
        if self.measured_by:
            place = f"what {self.measured_by} measures"
            return Said(f"no rule: no run of a study decides it, but {place}", place)
        return Said("no rule: nothing that is measured here decides it", "nothing that is measured here")

    def rule(self, context: Context) -> str:
        """There is none."""
        return self.said(context).rule

    def refuted_by(self, context: Context) -> str:
        """Nothing."""
        return self.said(context).contrary


def _runner(row: EvidenceRow) -> str:
    return str(row.dims["runner"])


def _there(context: Context, runner: str, label: str, rows: list[EvidenceRow]) -> Finding:
    """One figure proves that a library has the algorithm; a library that answered otherwise proves it has not."""
    if finding := _had_or_unprinted(rows, label):
        return finding
    if is_pattern(runner):
        return Finding(State.UNPROVIDED, f"No runner that measured here has {label}: {rows[0].reason}.")
    if runner not in context.table.runners and not context.table.printed:
        return Finding(State.UNPROVIDED, f"{runner} is not among the runners that measured here.")
    if all(row.absence in _LACKING for row in rows):
        return Finding(State.NO, f"{runner} has no {label}: {rows[0].reason}.")
    return Finding(State.UNMEASURED, f"{runner}, {label}: {rows[0].reason}.")


def _somewhere(context: Context, label: str, rows: list[EvidenceRow]) -> Finding:
    """Nobody has it only where every runner that the study names was asked; a runner that is not built may have it."""
    if finding := _had_or_unprinted(rows, label):
        return finding
    named = {runner for row in rows if not is_pattern(runner := _runner(row))}
    if absent := " and ".join(sorted(named - context.table.runners)):
        text = f"No library that measured here has {label}; {absent} did not measure here."
        return Finding(State.UNPROVIDED, text)
    if all(row.absence in _LACKING for row in rows):
        return Finding(State.NO, f"No library that measured here has {label}.")
    return Finding(State.UNMEASURED, f"{label}: {rows[0].reason}.")


def _everywhere(context: Context, label: str, rows: list[EvidenceRow]) -> Finding:
    """One library that lacks it decides; then one that did not measure."""
    findings = {runner: _there(context, runner, label, own) for runner, own in grouped(rows, _runner).items()}
    if without := [runner for runner, finding in findings.items() if finding.state is State.NO]:
        having = [runner for runner, finding in findings.items() if finding.state is State.YES]
        also = f"; {listing(having)} {'has' if len(having) == 1 else 'have'} it" if having else ""
        verb = "lacks" if len(without) == 1 else "lack"
        return Finding(State.NO, f"{listing(without)} {verb} {label}{also}.")
    open_ = next((finding for finding in findings.values() if finding.state is not State.YES), None)
    return open_ or Finding(State.YES, f"{listing(list(findings))} have {label}.")


def _had_or_unprinted(rows: list[EvidenceRow], label: str) -> Finding | None:
    if figure := next((row.figure for row in rows if row.figure), None):
        library = " ".join(part for part in (figure.library, figure.library_version) if part)
        return Finding(State.YES, f"{library} ({figure.cell.runner}) has {label}.")
    if any(row.absence is Absence.NOT_PRINTED for row in rows):
        return Finding(State.NOT_PRINTED, f"{label}: {rows[0].reason}.")
    return None
