from __future__ import annotations

import json

import jsonschema
import pytest

from perbyte import places
from perbyte.errors import RunnerError
from perbyte.protocol import messages
from perbyte.protocol.codec import decode, encode
from perbyte.protocol.schema import schemas, text

ROOM = places.data_dir("protocol") / "schema"


def test_the_files_say_what_the_structs_say():
    expected = {name: text(schema) for name, schema in schemas().items()}
    words = {file.name: file.read_text(encoding="utf-8") for file in ROOM.glob("*.json")}
    assert words == expected, "run: python -c 'from perbyte.protocol.schema import write; write()'"


@pytest.mark.parametrize("file", sorted(ROOM.glob("*.json")), ids=lambda file: file.stem)
def test_every_file_is_a_schema(file):
    jsonschema.Draft202012Validator.check_schema(json.loads(file.read_text()))


def test_every_verb_of_the_specification_has_its_schemas():
    verbs = {
        "hello",
        "prepare",
        "check",
        "calibrate",
        "watch",
        "measure",
        "audit",
        "count",
        "pairs",
        "release",
        "quit",
    }
    names = {f"{verb}.{side}.json" for verb in verbs for side in ("request", "answer")}
    assert {file.name for file in ROOM.glob("*.json")} == names | {"refusal.json"}


def test_what_is_sent_obeys_the_schemas():
    prepared = {"algorithm": "a", "operation": "o", "contract": "c/1", "size_bytes": 1, "seed": 2**64 - 1}
    requests = [
        messages.Hello(id=1),
        messages.Prepare(id=2, offset=0, **prepared),
        messages.Prepare(id=2, offset=0, input_path="file", **prepared),
        messages.CheckCalls(id=3, handle=1, calls=1),
        messages.CheckVector(id=3, handle=1, vector=messages.Vector(input="00ff")),
        messages.CheckRoundTrip(id=3, handle=1),
        messages.CheckForgery(id=3, handle=1),
        messages.Calibrate(id=4, limit_ms=2.5),
        messages.Release(id=5, handle=1),
        messages.Quit(id=6),
    ]
    for request in requests:
        line = json.loads(encode(request))
        jsonschema.validate(line, schemas()[f"{line['verb']}.request.json"])


GOOD = {"id": 4, "ok": True, "handle": 3}
BROKEN = [
    {**GOOD, "handle": "3"},
    {"id": 4, "ok": True},
    {**GOOD, "handle": 2**63},
    {**GOOD, "ok": False},
    [],
    4,
]


@pytest.mark.parametrize("answer", BROKEN, ids=str)
def test_schema_and_codec_refuse_the_same(answer):
    request = messages.Prepare(
        id=4, algorithm="a", operation="o", contract="c/1", size_bytes=1, seed=1, offset=0
    )
    schema = schemas()["prepare.answer.json"]
    jsonschema.validate(GOOD, schema)
    assert decode(json.dumps(GOOD).encode() + b"\n", request, messages.PrepareAnswer).handle == 3
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(answer, schema)
    with pytest.raises(RunnerError):
        decode(json.dumps(answer).encode() + b"\n", request, messages.PrepareAnswer)


SEEDS_BEYOND = [-1, 2**64]


@pytest.mark.parametrize("seed", SEEDS_BEYOND)
def test_a_seed_beyond_64_bits(fake_runners, seed):
    from perbyte.runners import Session

    [spec] = fake_runners({})
    with Session(spec) as session, pytest.raises(ValueError, match="64-bit"):
        session.prepare("aes-128-ecb", "encrypt", "message/1", 16, seed=seed)
