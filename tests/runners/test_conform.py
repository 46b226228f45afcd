from __future__ import annotations

import pytest
from fake_scripts import fault, lie

from perbyte.runners import conform as conform_module
from perbyte.runners.conform import conform, exercise
from perbyte.runners.session import Session


def test_the_fake_runner_keeps_every_promise(fake_runners):
    [spec] = fake_runners({})
    assert conform(spec) == []


BROKEN = {
    "wrong digest after timing": ({"lies": [lie("measure")]}, 7, "timed calls"),
    "a round trip that fails": ({"lies": [lie("round_trip")]}, 5, "round_trip"),
    "accepted forgeries": ({"lies": [lie("forgery")]}, 5, "forgery"),
    "changed inputs that are not answered": (
        {"faults": [fault("check", "patch", nth=0, fields={"outcomes": []})]},
        5,
        "must make a call on its input with the bits flipped",
    ),
    "changed inputs that are accepted": ({"lies": [lie("forgery")]}, 5, "4 of 4 changed inputs are accepted"),
    "an unknown error code": ({"faults": [fault("no-such-verb", "refuse", code="what")]}, 9, "no code"),
    "a crash": ({"faults": [fault("check", "crash", nth=3)]}, 1, "RunnerCrashed"),
    "garbage": ({"faults": [fault("calibrate", "text", text="?")]}, 1, "RunnerGarbled"),
    "bad handles taken": (
        {"faults": [fault("release", "patch", nth=0, fields={"ok": True})]},
        9,
        "bad-handle",
    ),
    "no way to quit": ({"faults": [fault("quit", "stay")]}, 8, "quit"),
    "no end at end of file": ({"stubborn": True}, 8, "end of file"),
    "a wrong id": ({"faults": [fault("hello", "patch", nth=0, fields={"id": 4})]}, 1, "id"),
    "no operations": ({"operations": []}, 2, "no operations"),
    "a clock that runs backwards": (
        {"faults": [fault("measure", "patch", nth=2, fields={"start": [9, 1]})]},
        7,
        "backwards",
    ),
    "fewer samples than asked for": (
        {"faults": [fault("measure", "patch", nth=0, fields={})], "clock": {"core_hz": 1000.0}},
        7,
        "samples where",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_promise_is_a_complaint(fake_runners, case):
    script, section, words = BROKEN[case]
    [spec] = fake_runners(script)
    complaints = conform(spec, every=False)
    assert any(complaint.section == section and words in complaint.what for complaint in complaints), (
        complaints
    )


def test_a_row_listed_twice(fake_runners):
    row = {"algorithm": "aes-128-ecb", "operation": "encrypt", "contract": "message/1"}
    [spec] = fake_runners({"operations": [row, row]})
    assert [complaint.what for complaint in conform(spec)] == ["listed twice: aes-128-ecb encrypt message/1"]


@pytest.mark.parametrize(("long_s", "most_calls", "most_chained"), [(60.0, 17, 40), (0.0, 2, 4)])
def test_few_calls_are_asked_for_where_one_takes_long(
    fake_runners, monkeypatch, long_s, most_calls, most_chained
):
    asked, chained = [], []
    check, audit = Session.check_calls, Session.audit
    monkeypatch.setattr(conform_module, "LONG_S", long_s)
    monkeypatch.setattr(
        Session, "check_calls", lambda self, handle, calls: asked.append(calls) or check(self, handle, calls)
    )
    monkeypatch.setattr(
        Session,
        "audit",
        lambda self, handle, **how: chained.append(how["calls"]) or audit(self, handle, **how),
    )
    [spec] = fake_runners({"chained": 1.0, "beside": 0.1})
    with Session(spec) as session:
        assert [seen for row in session.hello().operations for seen in exercise(session, row)] == []
    assert (max(asked), max(chained)) == (most_calls, most_chained)
