from __future__ import annotations

import json
import select
import sys
from pathlib import Path

import jsonschema
import msgspec
import pytest
from fake_scripts import row

from perbyte import places
from perbyte.errors import (
    RunnerCrashed,
    RunnerEnded,
    RunnerError,
    RunnerFlooded,
    RunnerGarbled,
    RunnerSpokeOutOfTurn,
    RunnerTimedOut,
    RunnerVersionMismatch,
)
from perbyte.protocol import messages
from perbyte.runners import Session
from perbyte.runners.transcripts import FAULTS, Transcript, applies, fill, parse, replay

ROOM = places.data_dir("protocol") / "transcripts"
GOOD = sorted((ROOM / "good").glob("*.txt"))
BROKEN = sorted((ROOM / "broken").glob("*.txt"))
PLAYER = Path(__file__).parent / "player.py"
ERRORS = {
    "crashed": RunnerCrashed,
    "ended": RunnerEnded,
    "timed-out": RunnerTimedOut,
    "flooded": RunnerFlooded,
    "out-of-turn": RunnerSpokeOutOfTurn,
    "garbled": RunnerGarbled,
    "version": RunnerVersionMismatch,
}
VARIANTS = {"calls": messages.CheckCalls, "vector": messages.CheckVector}
VERBS = {
    "hello": messages.Hello,
    "calibrate": messages.Calibrate,
    "measure": messages.Measure,
    "prepare": messages.Prepare,
}


def read(file: Path) -> Transcript:
    return parse(file.read_text(encoding="utf-8"))


def request_of(text: str) -> messages.RunnerRequest:
    fields = json.loads(text)
    kind = VERBS.get(fields["verb"]) or next(VARIANTS[name] for name in VARIANTS if name in fields)
    return msgspec.json.decode(text.encode(), type=kind)


def ask_all(session: Session, transcript: Transcript) -> None:
    for step in transcript.steps:
        if step.mark == ">":
            request = request_of(step.text)
            hasty = transcript.fault == "timed-out" and not isinstance(request, messages.Hello)
            session.ask(request, request.answer, 0.3 if hasty else 20)


@pytest.mark.parametrize("file", BROKEN, ids=lambda file: file.stem)
def test_a_broken_transcript_is_told_apart(fake_runners, file):
    [spec] = fake_runners({})
    transcript = read(file)
    session = Session(spec, command=[sys.executable, "-E", "-s", "-S", str(PLAYER), str(file)])
    with session:
        if transcript.steps[0].mark == "<":
            select.select([session.process._out], [], [], 60)  # it must have spoken before it is asked
        with pytest.raises(RunnerError) as fault:
            ask_all(session, transcript)
        assert type(fault.value) is ERRORS[transcript.fault], fault.value
        assert "exit status 99" not in str(fault.value)
        assert not session.process.alive


def test_there_is_a_broken_transcript_for_every_fault():
    assert {read(file).fault for file in BROKEN} == set(FAULTS) == set(ERRORS)


@pytest.mark.parametrize("file", GOOD, ids=lambda file: file.stem)
def test_the_fake_runner_follows_the_good_transcripts(fake_runners, file):
    transcript = read(file)
    offered = {"operations": [row(*needed) for needed in transcript.needs]} if transcript.needs else {}
    [spec] = fake_runners({"chained": 1.0, "leak": {}, **offered})
    with Session(spec) as session:
        assert applies(transcript, session)
    complaints = []
    with Session(spec) as session:
        complaints = replay(transcript, session)
    assert bool(complaints) == transcript.standard, complaints
    if transcript.standard:  # a toy has other bytes, but the dialogue goes the same way
        assert all("answered" in complaint and '"ok": true' in complaint for complaint in complaints)


@pytest.mark.parametrize("file", GOOD, ids=lambda file: file.stem)
def test_a_runner_that_answers_otherwise_is_found_out(fake_runners, file):
    lies = [{"in": ["check", "vector", "measure", "round_trip", "forgery"]}]
    patch = {"on": "hello", "do": "patch", "nth": 0, "fields": {"ok": False}}
    broken = {"on": "calibrate", "do": "patch", "nth": 0, "fields": {}, "without": ["selfcheck"]}
    [spec] = fake_runners({"lies": lies, "faults": [patch, broken], "leak": {"cycles": 0}})
    with Session(spec) as session:
        assert replay(read(file), session)


@pytest.mark.parametrize("file", GOOD, ids=lambda file: file.stem)
def test_good_transcripts_obey_the_schemas(file):
    schemas = {
        path.stem: json.loads(path.read_text())
        for path in (places.data_dir("protocol") / "schema").glob("*.json")
    }
    seen = [{"handle": 1}] * 40
    for step in read(file).steps:
        if step.mark == ">":
            try:
                request = json.loads(fill(step.text, seen))
                schema = schemas[f"{request['verb']}.request"]
            except (ValueError, KeyError, TypeError):
                continue  # it is malformed on purpose
            if request.get("algorithm") == "no-such-algorithm":
                continue
            jsonschema.validate(request, schema)
        if step.mark == "<" and json.loads(step.text)["ok"] is False:
            jsonschema.validate(json.loads(step.text), schemas["refusal"])
