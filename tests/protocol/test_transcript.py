from __future__ import annotations

import json

import pytest

from perbyte.runners.transcripts import fill, holds, matches, parse

ANSWERS = [
    {"id": 1, "handle": 12345678901234567890, "ticks": [3, 4]},
    {"id": 2, "name": "x", "in": {"n": 1.5}},
]


def test_a_transcript_is_read():
    transcript = parse(
        "# why\n# needs: sha-256 digest oneshot/1\n# standard: yes\n"
        '> {"verb": "quit"}\n\n< {}\n= 1 < 2\n! crashed SIGBUS\n> \n'
    )
    assert [(step.mark, step.text, step.number) for step in transcript.steps] == [
        (">", '{"verb": "quit"}', 4),
        ("<", "{}", 6),
        ("=", "1 < 2", 7),
        ("!", "crashed SIGBUS", 8),
        (">", "", 9),
    ]
    assert transcript.needs == (("sha-256", "digest", "oneshot/1"),)
    assert transcript.standard
    assert transcript.fault == "crashed"


@pytest.mark.parametrize("text", ["hello", "! exploded", "!", "= 1", "= a = b", ">{}"])
def test_a_line_without_meaning_is_named(text):
    with pytest.raises(ValueError, match="line 2"):
        parse(f"# first\n{text}\n")


def test_answers_are_filled_in_exactly():
    sent = json.loads(fill('{"handle": "$1.handle", "deep": ["$2.in.n"], "name": "a$1.handle"}', ANSWERS))
    assert sent == {"handle": 12345678901234567890, "deep": [1.5], "name": "a$1.handle"}
    assert fill("no JSON, $1.handle", ANSWERS) == b"no JSON, $1.handle\n"
    with pytest.raises(ValueError, match=r"3\.handle"):
        fill('{"handle": "$3.handle"}', ANSWERS)


@pytest.mark.parametrize(
    ("pattern", "value", "expected"),
    [
        ("*", {"any": 1}, True),
        ({"a": "*"}, {"a": None, "b": 1}, True),
        ({"a": "*"}, {"b": 1}, False),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1}, {"a": 1.0}, False),
        ([1, "*"], [1, 2], True),
        ([1], [1, 2], False),
        ({"a": 1}, [], False),
        ("x", "x", True),
    ],
)
def test_matching(pattern, value, expected):
    assert matches(pattern, value) is expected


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        ("1.ticks.0 < 1.ticks.1", True),
        ("1.ticks == [3, 4]", True),
        ("len 1.ticks == 2", True),
        ("len 1.ticks <= 1", False),
        ("1.id != 2.id", True),
        ('2.name == "x"', True),
        ("2.in.n == 1.5", True),
        ("1.5 == 2.in.n", True),
        ("1.ticks < 5", False),
    ],
)
def test_facts(fact, expected):
    assert holds(fact, ANSWERS) is expected


@pytest.mark.parametrize("fact", ["1.no == 1", "3.id == 1", "what == 1", "1.ticks.9 == 1"])
def test_facts_that_make_no_sense(fact):
    with pytest.raises(ValueError):  # noqa: PT011 - json's words differ between versions
        holds(fact, ANSWERS)
