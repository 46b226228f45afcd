"""Transcripts: dialogues as text, in the form of section 10 of `protocol/SPEC.md`.

Parsing, filling in what earlier answers gave, matching answers, judging facts. Whoever replays one brings the
process; nothing here reads files or pipes. `protocol/transcripts/README.md` has the form in full.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from perbyte.errors import RunnerError
from perbyte.runners.session import Session

FAULTS = ("crashed", "ended", "timed-out", "flooded", "out-of-turn", "garbled", "version")
NOT_HERE = ("unknown-verb", "unsupported")  # answers to a verb that a runner may do without
_MARKS = "><=!#"
_FACT = re.compile(r"(?P<left>.+?) (?P<how>==|!=|<=|<) (?P<right>.+)")
_PLACE = re.compile(r"\d+(\.\w+)+")
_COMPARISONS = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le}


@dataclass(frozen=True, slots=True)
class DialogueLine:
    """One line: its mark, the text after it, and its number in the file."""

    mark: str
    text: str
    number: int


@dataclass(frozen=True, slots=True)
class Transcript:
    """A dialogue. `needs` are (algorithm, operation, contract) that a runner must list to be asked.

    `standard` tells that outputs in it are those of a standard, which a toy of the same name does not have. `optional`
    is a verb that a runner may answer by `unknown-verb` or `unsupported`; the dialogue is over then.
    """

    steps: tuple[DialogueLine, ...]
    needs: tuple[tuple[str, ...], ...] = ()
    standard: bool = False
    optional: str = ""

    @property
    def fault(self) -> str:
        """The fault that must be reported, without its details; '' in a good transcript."""
        return next((step.text.split()[0] for step in self.steps if step.mark == "!"), "")


def parse(text: str) -> Transcript:
    """Read a transcript. Raises ValueError with the line number for a line that has no meaning."""
    steps = []
    needs = []
    standard = False
    optional = ""
    for number, line in enumerate(text.splitlines(), start=1):
        mark, rest = line[:1], line[2:]
        if not line:
            continue
        if mark not in _MARKS or line[1:2] not in ("", " "):
            raise ValueError(f"line {number} starts with none of {' '.join(_MARKS)}")
        if mark == "#":
            if rest.startswith("needs: "):
                needs.append(tuple(rest.removeprefix("needs: ").split()))
            standard = standard or rest.startswith("standard:")
            optional = rest.removeprefix("optional: ") if rest.startswith("optional: ") else optional
            continue
        if mark == "!" and rest.split()[:1] not in [[fault] for fault in FAULTS]:
            raise ValueError(f"line {number} names no fault: {rest}")
        if mark == "=" and not _FACT.fullmatch(rest):
            raise ValueError(f"line {number} states no fact: {rest}")
        steps.append(DialogueLine(mark, rest, number))
    return Transcript(tuple(steps), tuple(needs), standard, optional)


def fill(request: str, answers: Sequence[Any]) -> bytes:
    """The line to send for a `>` step: "$3.handle" becomes the field of the third answer.

    A text that is no JSON, or has nothing to fill in, is sent as it stands.
    """
    if '"$' not in request:
        return request.encode() + b"\n"
    return json.dumps(_filled(json.loads(request), answers)).encode() + b"\n"


def matches(pattern: Any, value: Any) -> bool:
    """Whether an answer is what a `<` step wants: "*" is anything, further fields of objects are welcome."""
    if pattern == "*":
        return True
    if isinstance(pattern, dict):
        return isinstance(value, dict) and all(
            name in value and matches(wanted, value[name]) for name, wanted in pattern.items()
        )
    if isinstance(pattern, list):
        return isinstance(value, list) and len(value) == len(pattern) and all(map(matches, pattern, value))
    return type(pattern) is type(value) and bool(pattern == value)


def holds(fact: str, answers: Sequence[Any]) -> bool:
    """Whether the fact of an `=` step is true of the answers so far. Raises ValueError if it makes no sense."""
    match = _FACT.fullmatch(fact)
    if not match:
        raise ValueError(f"no fact: {fact}")
    left, right = (_term(match[side], answers) for side in ("left", "right"))
    try:
        return bool(_COMPARISONS[match["how"]](left, right))
    except TypeError:
        return False


def _term(text: str, answers: Sequence[Any]) -> Any:
    if text.startswith("len "):
        return len(_term(text[4:], answers))
    if _PLACE.fullmatch(text) and not re.fullmatch(r"\d+\.\d+", text):
        return _field(text, answers)
    return json.loads(text)


def _field(place: str, answers: Sequence[Any]) -> Any:
    first, *path = place.split(".")
    try:
        value = answers[int(first) - 1]
        for name in path:
            value = value[int(name)] if isinstance(value, list) else value[name]
    except (LookupError, TypeError, ValueError):
        raise ValueError(f"there is no {place}") from None
    return value


def _filled(value: Any, answers: Sequence[Any]) -> Any:
    if isinstance(value, dict):
        return {name: _filled(item, answers) for name, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, answers) for item in value]
    if isinstance(value, str) and value.startswith("$"):
        return _field(value[1:], answers)
    return value


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
    complaints: list[str] = []
    answers: list[Any] = []
    for step in transcript.steps:
        try:
            if step.mark == ">":
                line = session.process.exchange(fill(step.text, answers), _LIMIT_S)
                answers.append(json.loads(line))
                if answers[-1].get("error") in NOT_HERE and f'"verb": "{transcript.optional}"' in step.text:
                    return complaints
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
