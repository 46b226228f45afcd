"""When a comparison fails: limits on time and on instructions, and the exit code of each answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from perbyte.app.verdicts import chosen_code, exit_code
from perbyte.errors import EXIT_FINE, EXIT_FOUND, EXIT_MISSING, EXIT_UNDECIDED
from perbyte.model.text import counted
from perbyte.stats.pairing import Named, Regressions, find_regressions
from perbyte.stats.trials import CountChange

SHOWN = 4  # cells that a message names


@dataclass(frozen=True, slots=True)
class Gate:
    """Limits as shares, None without; `undecided_is`: `ok`, `fail`, or None for an exit code of its own.

    Without a limit on time, each row that is slower beyond doubt fails, and nothing undecided does.
    """

    fail_above: float | None = None
    fail_above_instructions: float | None = None
    undecided_is: str | None = None

    def judge(self, rows: Sequence[Named], measuring_s: float, *, missing: bool) -> tuple[int, Regressions]:
        """The exit code of compared times, and what is slower. `missing`: nothing is known of some cells."""
        regressions = find_regressions(rows, self.fail_above or 0.0, measuring_s)
        undecided_is = "ok" if self.fail_above is None else self.undecided_is
        return gate_code(regressions, undecided_is, missing=missing), regressions

    def judge_counts(
        self, counted: Sequence[CountChange], lost: Sequence[str], absent: int = EXIT_MISSING
    ) -> tuple[int, str]:
        """The exit code of compared counts and the reason; `absent` where one of `lost` was not counted."""
        if self.fail_above_instructions is None:
            return EXIT_FINE, ""
        limit = self.fail_above_instructions
        more = [change.address for change in counted if change.least > 1 + limit]
        if more:
            return EXIT_FOUND, f"more than {100 * limit:g} % more instructions: {_shown(more)}"
        return (absent, f"not counted on both sides: {_shown(lost)}") if lost else (EXIT_FINE, "")


def gate_code(regressions: Regressions, undecided_is: str | None, *, missing: bool = False) -> int:
    """The exit code of a gate, of those in `perbyte.errors`. `missing`: nothing can be said of some cells."""
    code = exit_code(
        detected=bool(regressions.slower), missing=missing, undecided=bool(regressions.undecided)
    )
    return chosen_code(code, undecided_is) if code == EXIT_UNDECIDED else code


def _shown(addresses: Sequence[str]) -> str:
    return f"{counted(len(addresses))}: {', '.join(addresses[:SHOWN])}"
