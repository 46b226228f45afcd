from __future__ import annotations

import json
import random

import msgspec
import pytest

from perbyte.errors import (
    RunnerError,
    RunnerFlooded,
    RunnerGarbled,
    RunnerRefused,
    RunnerVersionMismatch,
    UsageError,
)
from perbyte.protocol.codec import decode, encode
from perbyte.protocol.messages import (
    ERROR_CODES,
    LINE_LIMIT,
    Calibrate,
    CalibrateAnswer,
    CheckAnswer,
    CheckCalls,
    CheckForgery,
    CheckRoundTrip,
    CheckVector,
    CountAnswer,
    CountCalls,
    Hello,
    HelloAnswer,
    Measure,
    MeasureAnswer,
    Prepare,
    PrepareAnswer,
    Quit,
    Release,
    Vector,
)

MEASURE = Measure(
    id=9,
    handle=1,
    samples=3,
    clean=0,
    limit_ms=5,
    calls=0,
    sample_us=50,
    contention_floor=5000.5,
    contention_tolerance=0.01,
    clock_tolerance=0.005,
    patience=2,
)
TAKEN = {
    "id": 9,
    "ok": True,
    "calls": 4,
    "start": [1, 2, 3],
    "ticks": [4, 5, 6],
    "clock_before": [7, 7, 7],
    "clock_after": [7, 7, 7],
    "contention_before": [8, 8, 8],
    "contention_after": [8, 8, 8],
    "flags": [0, 1, 31],
    "cycles": [],
    "waits": 0,
    "digest": "0123456789abcdef",
}
HELLO = {
    "id": 1,
    "ok": True,
    "protocol": 1,
    "runner": "r",
    "sdk": "s",
    "library": "l",
    "library_version": "1",
    "license": "MIT",
    "compiler": "",
    "flags": "",
    "object": "",
    "cpu_features": "",
    "tier": "full",
    "operations": [{"algorithm": "a", "operation": "o", "contract": "c/1", "calls": "x()"}],
}


def line(answer: object) -> bytes:
    return json.dumps(answer).encode() + b"\n"


def test_requests_read_as_the_specification_writes_them():
    prepare = Prepare(
        id=2, algorithm="a", operation="o", contract="c/1", size_bytes=16, seed=2**64 - 1, offset=64
    )
    assert json.loads(encode(prepare)) == {
        "verb": "prepare",
        "id": 2,
        "algorithm": "a",
        "operation": "o",
        "contract": "c/1",
        "size_bytes": 16,
        "seed": 2**64 - 1,
        "offset": 64,
    }
    assert json.loads(encode(Hello(id=1))) == {"verb": "hello", "id": 1, "protocol": 1}
    assert json.loads(encode(CheckCalls(id=3, handle=4, calls=5))) == {
        "verb": "check",
        "id": 3,
        "handle": 4,
        "calls": 5,
    }
    vector = CheckVector(id=3, handle=4, vector=Vector(key="00", input=""))
    assert json.loads(encode(vector))["vector"] == {"key": "00", "input": ""}
    assert json.loads(encode(CheckRoundTrip(id=3, handle=4)))["round_trip"] is True
    assert json.loads(encode(CheckForgery(id=3, handle=4)))["forgery"] is True
    assert json.loads(encode(Release(id=5, handle=6))) == {"verb": "release", "id": 5, "handle": 6}
    assert json.loads(encode(Quit(id=7))) == {"verb": "quit", "id": 7}
    assert json.loads(encode(MEASURE))["contention_floor"] == 5000.5
    assert encode(MEASURE).count(b"\n") == 1


def test_a_request_beyond_the_limit_is_not_sent():
    vector = Vector(input="00" * (LINE_LIMIT // 2))
    with pytest.raises(UsageError):
        encode(CheckVector(id=1, handle=1, vector=vector))


def test_good_answers():
    assert decode(line(HELLO), Hello(id=1), HelloAnswer).operations[0].code_path == ""
    taken = decode(line({**TAKEN, "new_field": [1]}), MEASURE, MeasureAnswer)
    assert (taken.ticks, taken.flags, taken.calls) == ([4, 5, 6], [0, 1, 31], 4)
    assert decode(line({**TAKEN, "cycles": [1, 2, 3]}), MEASURE, MeasureAnswer).cycles == [1, 2, 3]
    largest = 2**63 - 1
    assert decode(line({**TAKEN, "start": [largest] * 3}), MEASURE, MeasureAnswer).start[0] == largest


def test_the_wrong_kind_of_answer_is_a_defect_of_the_caller():
    with pytest.raises(TypeError):
        decode(line(TAKEN), MEASURE, HelloAnswer)


@pytest.mark.parametrize("code", ERROR_CODES)
def test_refusals_carry_their_code(code):
    refusal = line({"id": 9, "ok": False, "error": code, "message": "so it is"})
    with pytest.raises(RunnerRefused, match="so it is") as refused:
        decode(refusal, MEASURE, MeasureAnswer)
    assert refused.value.code == code


def test_only_malformed_may_forget_the_id():
    with pytest.raises(RunnerRefused):
        decode(line({"id": 0, "ok": False, "error": "malformed", "message": ""}), MEASURE, MeasureAnswer)
    with pytest.raises(RunnerGarbled):
        decode(line({"id": 0, "ok": False, "error": "library", "message": ""}), MEASURE, MeasureAnswer)


def test_another_version_is_seen_whatever_else_the_answer_holds():
    with pytest.raises(RunnerVersionMismatch):
        decode(b'{"id": 1, "ok": true, "protocol": 2}\n', Hello(id=1), HelloAnswer)
    with pytest.raises(RunnerGarbled):
        decode(b'{"id": 1, "ok": true, "protocol": "2"}\n', Hello(id=1), HelloAnswer)


def test_lines_that_are_too_long_or_not_complete():
    with pytest.raises(RunnerFlooded):
        decode(line({**TAKEN, "x": "y" * LINE_LIMIT}), MEASURE, MeasureAnswer)
    with pytest.raises(RunnerGarbled):
        decode(line(TAKEN)[:-1], MEASURE, MeasureAnswer)


def test_invalid_utf8_in_a_field_nobody_reads():
    with pytest.raises(RunnerGarbled):
        decode(line(TAKEN).replace(b'{"id"', b'{"x": "\xff\xfe", "id"'), MEASURE, MeasureAnswer)


def test_a_quoted_piece_of_a_line_is_harmless():
    with pytest.raises(RunnerGarbled) as garbled:
        decode(b"\x1b[31m\x00" + b"z" * 5000 + b"\n", MEASURE, MeasureAnswer)
    assert "\x1b" not in str(garbled.value)
    assert len(str(garbled.value)) < 400


PREPARE = Prepare(id=4, algorithm="a", operation="o", contract="c", size_bytes=1, seed=1, offset=0)
SHOWN = {"id": 5, "ok": True, "length": 2, "digest": "f" * 16, "head": "0102", "output": "0102"}
CALIBRATED = {
    "id": 6,
    "ok": True,
    "cycle_source": "probe",
    "reason": "",
    "tick_hz": 2.1e9,
    "tick_quantum": 2,
    "probe_cycles": 6000.5,
    "contention_floor": 5000.0,
    "fixed_ticks": 80.0,
    "selfcheck": {"add": 1.0},
}
COUNTED = {
    "id": 7,
    "ok": True,
    "calls": 16,
    "call": {
        "instructions": 1600,
        "kinds": {"aes": 160, "load": 320},
        "system_calls": 0,
        "heap_calls": 16,
        "heap_bytes": 1024,
        "heap_peak": 64,
        "code_lines": 12,
        "code_pages": 3,
    },
    "setup_unknown": "it takes longer than the limit",
    "stack_call": 128,
    "stack_setup": 0,
}
ANSWERS = [
    (Hello(id=1), HelloAnswer, HELLO),
    (MEASURE, MeasureAnswer, TAKEN),
    (PREPARE, PrepareAnswer, {"id": 4, "ok": True, "handle": 3}),
    (CheckCalls(id=5, handle=3, calls=1), CheckAnswer, SHOWN),
    (Calibrate(id=6, limit_ms=5), CalibrateAnswer, CALIBRATED),
    (CountCalls(id=7, handle=3, limit_ms=5), CountAnswer, COUNTED),
]
NASTY = [
    None,
    True,
    -1,
    0,
    2**63,
    2**64,
    10**40,
    1.5,
    1e308,
    "",
    "x",
    "\x00",
    [],
    [[]],
    {},
    [1, "2"],
    [None] * 3,
]


@pytest.mark.parametrize(
    ("request_", "kind", "good"), ANSWERS, ids=lambda value: getattr(value, "__name__", "")
)
def test_no_answer_whatever_raises_anything_but_a_runner_error(request_, kind, good):
    chance = random.Random(7)
    accepted = 0
    for _ in range(3000):
        answer = dict(good)
        for _ in range(chance.randint(1, 2)):
            name = chance.choice(list(answer))
            if chance.random() < 0.2:
                del answer[name]
            else:
                answer[name] = chance.choice(NASTY)
        content = bytearray(line(answer))
        if chance.random() < 0.3:
            content[chance.randrange(len(content) - 1)] = chance.randrange(256)
        try:
            decoded = decode(bytes(content), request_, kind)
        except RunnerError:
            continue
        accepted += 1
        assert decoded.id == request_.id
        assert decoded.ok is True
        if isinstance(decoded, MeasureAnswer):
            assert len(decoded.start) == len(decoded.ticks) == len(decoded.flags) in (1, 2, 3)
            assert all(0 <= value < 2**63 for value in decoded.ticks + decoded.start)
    assert accepted < 1500


def test_answers_survive_a_round_trip_through_their_struct():
    for request_, kind, good in ANSWERS:
        decoded = decode(line(good), request_, kind)
        again = decode(msgspec.json.encode(decoded) + b"\n", request_, kind)
        assert again == decoded


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"calls": 0}, "counts of 0 calls"),
        ({"call": None}, "counts of 16 calls"),
        ({"call": COUNTED["call"] | {"kinds": {"load": 1601}}}, "more instructions of a kind"),
        ({"call": COUNTED["call"] | {"instructions": 0}}, "instructions"),
    ],
)
def test_counts_that_contradict_each_other_are_garbled(change, fault):
    with pytest.raises(RunnerGarbled, match=fault):
        decode(line(COUNTED | change), CountCalls(id=7, handle=3, limit_ms=5), CountAnswer)
