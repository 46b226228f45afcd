"""What `perbyte list` shows, and that it fits."""

from __future__ import annotations

import json

import pytest

from perbyte.report.listing import Listing, from_records, lines


def lay_out(listing: Listing, width: int | None) -> list[str]:
    return [line for line, _ in lines(listing, width)]


KINDS = ("algorithms", "runners", "studies", "contracts")
ROWS = [
    {"name": "one", "maker": "somebody", "year": 1999, "meaning": "a short one"},
    {"name": "another", "maker": "", "year": "", "meaning": "one whose meaning takes more than a line of it"},
]


def test_as_wide_as_it_is_where_there_is_no_terminal():
    lines = lay_out(from_records(ROWS, "meaning", ("year",)), None)
    assert len(lines) == 3
    assert lines[2].endswith("more than a line of it")


@pytest.mark.parametrize("width", range(58, 120, 7))
def test_the_flowing_column_is_wrapped_and_loses_nothing(width):
    lines = lay_out(from_records(ROWS, "meaning"), width)
    assert max(map(len, lines)) <= width
    column = lines[0].index("meaning")
    flowing_text = " ".join(line[column:].strip() for line in lines[2:])
    assert flowing_text == ROWS[1]["meaning"]
    assert all(line[:column].strip() == "" for line in lines[3:])


def test_what_is_expendable_goes_in_turn_and_only_where_there_is_no_room():
    table = from_records(ROWS, "meaning", ("maker", "year"))
    assert lay_out(table, 60)[0].split() == ["name", "maker", "year", "meaning"]
    assert lay_out(table, 50)[0].split() == ["name", "year", "meaning"]
    assert lay_out(table, 40)[0].split() == ["name", "meaning"]


def test_a_column_in_the_middle_may_flow():
    lines = lay_out(from_records([{"a": "x", "b": "some words to wrap", "c": 7}], "b"), 18)
    assert lines == ["a  b             c", "x  some words    7", "   to wrap"]


@pytest.mark.parametrize("width", [80, 100, 130])
@pytest.mark.parametrize("kind", KINDS)
def test_every_table_fits_the_terminal(perbyte, monkeypatch, kind, width):
    monkeypatch.setenv("COLUMNS", str(width))
    answer = perbyte("list", kind)
    assert answer.returncode == 0
    assert max(map(len, answer.stdout.splitlines())) <= width
    names = [next(iter(row.values())) for row in json.loads(perbyte("list", kind, "--json").stdout)]
    shown = [line.split()[0] for line in answer.stdout.splitlines()[1:] if not line.startswith(" ")]
    assert shown == names


def test_into_a_pipe_go_all_columns_a_row_a_line(perbyte, monkeypatch):
    monkeypatch.delenv("COLUMNS")
    lines = perbyte("list", "algorithms").stdout.splitlines()
    assert len(lines) == 1 + len(json.loads(perbyte("list", "algorithms", "--json").stdout))
    assert lines[0].split() == ["algorithm", "kind", "key_bits", "block_bits", "year", "aliases"]


def test_runs_fit_and_are_called_by_the_name_that_is_accepted(measured):
    world = measured.world
    target = world.home / "runs" / "monday"
    target.parent.mkdir(exist_ok=True)
    target.symlink_to(measured.path)
    for width in ("80", "130"):
        lines = world.perbyte("list", "runs", environment={"COLUMNS": width}).stdout.splitlines()
        assert max(map(len, lines)) <= int(width)
        assert lines[1].split()[0] == "monday"
        assert lines[1].endswith("complete")
    assert world.perbyte("show", "monday").returncode == 0
    [row] = json.loads(world.perbyte("list", "runs", "mon*", "--json").stdout)
    assert row["path"] == str(target)
    assert row["cells"] == 10


def test_operations_are_what_the_runners_say(world, script):
    world.add(script("alpha"), script("beta"))
    rows = json.loads(world.perbyte("list", "operations", "alpha", "--json").stdout)
    assert {row["operation"]: row["contracts"] for row in rows} == {
        "alpha/aes-128-ecb/encrypt": "stream/1, message/1",
        "alpha/aes-128-ecb/decrypt": "stream/1, message/1",
        "alpha/sha-256/digest": "oneshot/1",
    }
    assert {row["cpu_tiers"] for row in rows} == {"full, soft"}
    hashes = world.perbyte("list", "operations", "*/sha-256").stdout.splitlines()
    assert [line.split()[0] for line in hashes[1:]] == ["alpha/sha-256/digest", "beta/sha-256/digest"]
    assert world.perbyte("list", "operations", "*/aes-128-ecb/seal").stdout == "none\n"
    for word in ("*/sha-265", "gamma/*"):
        answer = world.perbyte("list", "operations", word)
        assert answer.returncode == 2
        assert "sha-256" in answer.stderr or "alpha" in answer.stderr


def test_operations_of_a_runner_that_is_not_built(perbyte):
    answer = perbyte("list", "operations", "openssl")
    assert answer.returncode == 3
    assert "perbyte build openssl" in answer.stderr


def test_the_hint_of_a_selector_that_fits_nothing_can_be_followed(world, script):
    world.add(script("alpha"))
    answer = world.perbyte("measure", "alpha/aes-128-ecb/digest", "--dry-run")
    assert answer.returncode == 2
    assert "decrypt, encrypt under the contracts message/1, stream/1" in answer.stderr
    hint = answer.stderr.strip().rpartition("in detail: perbyte ")[2]
    followed = world.perbyte(*hint.split())
    assert followed.returncode == 0, followed.stderr
    assert "alpha/aes-128-ecb/encrypt" in followed.stdout


def test_runners_for_tests_are_shown_to_who_asks_for_them_by_name(perbyte):
    assert "fake" not in perbyte("list", "runners", "f*").stdout
    assert perbyte("list", "runners", "fake").stdout.splitlines()[1].startswith("fake ")
    for words in (("build", "nothing"), ("list", "operations", "nothing/*")):
        answer = perbyte(*words)
        assert answer.returncode == 2
        assert "openssl" in answer.stderr
        assert "fake" not in answer.stderr
