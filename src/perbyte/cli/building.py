"""What `perbyte build` and `perbyte doctor` say about the state of runners."""

from __future__ import annotations

from perbyte.runners import BuildOutcome, BuildState


def outcome_line(outcome: BuildOutcome) -> str:
    """One line about a runner; for an absent one the command that brings it."""
    if outcome.state is BuildState.ABSENT:
        way = f"; install: {outcome.install}" if outcome.install else ""
        return f"{outcome.runner:18} absent       lacks {', '.join(outcome.missing)}{way}"
    if outcome.state is BuildState.FAILED:
        said = outcome.output.rstrip()
        return f"{outcome.runner:18} FAILED       after {outcome.seconds:.1f} s; the compiler said:\n{said}"
    took = f"  {outcome.seconds:.1f} s" if outcome.state is BuildState.BUILT else ""
    return f"{outcome.runner:18} {outcome.state.value:12}{took}"
