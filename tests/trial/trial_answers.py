"""Build a file into a runner, and ask it for the catalogue's known answers."""

from __future__ import annotations

from pathlib import Path

from perbyte.catalogue import load
from perbyte.errors import RunnerRefused
from perbyte.runners import RunnerSpec, Session
from perbyte.trial.bench import sizes_for
from perbyte.trial.program import build_program
from perbyte.trial.subject import TrialRequest, make_source, read_calls, read_files


def build(place: Path, names: list[Path], algorithm: str, *functions: str, **more) -> RunnerSpec:
    asked = TrialRequest(read_files(names), load().find(algorithm), functions, **more)
    return build_program(make_source(asked, read_calls(asked), ("-O2",), "mine"), place / "mine")


def answers(spec: RunnerSpec, algorithm: str) -> dict[tuple[str, str], int]:
    """How many known answers each operation of the runner gave, and gave right; a wrong one fails the test."""
    outcomes: dict[tuple[str, str], int] = {}
    with Session(spec) as session:
        for row in (
            operation for operation in session.hello().operations if operation.algorithm == algorithm
        ):
            size = sizes_for(load().find(algorithm), (64,) if row.operation != "permute" else None)[0]
            handle = session.prepare(row.algorithm, row.operation, row.contract, size, seed=7, offset=0)
            right = 0
            for known in load().known_answers(algorithm, row.operation):
                try:
                    answer = session.check_vector(handle, known)
                except RunnerRefused as refusal:
                    if refusal.code != "unsupported" and not known.refused:
                        raise
                    right += known.refused and refusal.code == "library"
                    continue
                assert not known.refused or known.output
                assert answer.output == known.output
                right += 1
            outcomes[row.operation, row.contract] = right
    return outcomes
