"""The exit code of a command: one table from verdicts to the codes of `perbyte.errors`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from perbyte.errors import (
    EXIT_ENVIRONMENT,
    EXIT_FINE,
    EXIT_FOUND,
    EXIT_INCORRECT,
    EXIT_INTERRUPTED,
    EXIT_MISSING,
    EXIT_UNDECIDED,
)
from perbyte.model import NOT_REACHED, WRONG, Failure

# the gravest first
GRAVEST = (
    EXIT_INTERRUPTED,
    EXIT_INCORRECT,
    EXIT_FOUND,
    EXIT_ENVIRONMENT,
    EXIT_MISSING,
    EXIT_UNDECIDED,
    EXIT_FINE,
)


def gravest(codes: Iterable[int]) -> int:
    """The code of several verdicts; EXIT_FINE of none."""
    return min(codes, key=GRAVEST.index, default=EXIT_FINE)


def exit_code(
    *,
    interrupted: bool = False,
    wrong: bool = False,
    detected: bool = False,
    empty: bool = False,
    missing: bool = False,
    undecided: bool = False,
) -> int:
    """The code of the gravest verdict that holds.

    `wrong`: an output that is not right. `detected`: what was looked for is there, such as a leak, a row that is
    slower, a rule that is broken. `empty`: nothing was measured. `missing`: of some nothing is known. `undecided`: no
    answer.
    """
    holds = (interrupted, wrong, detected, empty, missing, undecided, True)
    return GRAVEST[holds.index(True)]


def chosen_code(code: int, choice: str | None) -> int:
    """A code, unless somebody chose (`ok` or `fail`) what this verdict means."""
    return {None: code, "ok": EXIT_FINE, "fail": EXIT_FOUND}[choice]


def run_code(failures: Sequence[Failure], *, measured: bool, complete: bool) -> int:
    """The code of a run with `failures`. `measured`: there is a figure.

    An error is what is wrong whatever the machine does: a wrong output, nothing measured at all, an interruption
    (`complete` is False), a cell for which the budget did not suffice. Whatever else keeps a cell from a figure is
    uncertainty.
    """
    missing = any(failure.kind == NOT_REACHED for failure in failures)
    return exit_code(
        interrupted=not complete,
        wrong=any(failure.kind in WRONG for failure in failures),
        empty=not measured and not missing,
        missing=missing,
    )
