"""Replay a good transcript against a runner and say where it answers otherwise.

The same dialogues serve runners in every language. Broken transcripts are the other way round, they play a
runner's part; they belong to the tests of the session.
"""

from __future__ import annotations

import json
from typing import Any

from perbyte.errors import RunnerError
from perbyte.protocol.transcript import Transcript, fill, holds, matches
from perbyte.runners.session import Session

_LIMIT_S = 30.0
_SHOWN = 300


def applies(transcript: Transcript, session: Session) -> bool:
    """Whether the runner lists what the transcript needs."""
    listed = {(row.algorithm, row.operation, row.contract) for row in session.hello().operations}
    return all(need in listed for need in transcript.needs)


def replay(transcript: Transcript, session: Session) -> list[str]:
    """Hold the dialogue and return what went otherwise, each with its line number; empty when all is well.

    A fault of the runner ends the replay and is the last entry.
    """
    complaints = []
    answers: list[Any] = []
    for step in transcript.steps:
        try:
            if step.mark == ">":
                line = session.process.exchange(fill(step.text, answers), _LIMIT_S)
                answers.append(json.loads(line))
            elif step.mark == "<" and not matches(json.loads(step.text), answers[-1]):
                complaints.append(f"line {step.number}: answered {_short(answers[-1])}")
            elif step.mark == "=" and not holds(step.text, answers):
                complaints.append(f"line {step.number}: does not hold: {step.text}")
        except (RunnerError, ValueError) as fault:
            return [*complaints, f"line {step.number}: {type(fault).__name__}: {fault}"]
    return complaints


def _short(answer: Any) -> str:
    text = json.dumps(answer)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
