"""What is written whole or not at all: a failure leaves what was there, and nothing beside it."""

from __future__ import annotations

import pytest

from perbyte.atomic import new_directory, new_file


@pytest.mark.parametrize("durable", [False, True])
def test_a_file_takes_its_name_when_it_is_whole(tmp_path, durable):
    place = tmp_path / "a.npz"
    place.write_text("old")
    with new_file(place, durable=durable) as new:
        assert new.suffix == place.suffix, "some writers go by it"
        new.write_text("new")
        assert place.read_text() == "old"
    assert place.read_text() == "new"
    assert [file.name for file in tmp_path.iterdir()] == ["a.npz"]


def write_half(place):
    with new_file(place) as new:
        new.write_text("half")
        raise RuntimeError


def test_a_file_that_fails_leaves_the_old_one(tmp_path):
    place = tmp_path / "a"
    place.write_text("old")
    with pytest.raises(RuntimeError):
        write_half(place)
    assert place.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["a"]
    with pytest.raises(FileNotFoundError), new_file(place):
        pass  # nothing was written


def test_two_writers_of_one_file_do_not_meet(tmp_path):
    place = tmp_path / "a"
    with new_file(place) as first, new_file(place) as second:
        first.write_text("first")
        second.write_text("second")
    assert place.read_text() == "first", "the last one to end"
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


def test_a_directory_takes_the_place_of_the_old_one_or_leaves_it(tmp_path):
    place = tmp_path / "deep" / "a"
    for text in ("old", "new"):
        with new_directory(place) as new:
            (new / text).touch()
    assert [file.name for file in place.iterdir()] == ["new"]
    with pytest.raises(RuntimeError), new_directory(place) as new:
        raise RuntimeError
    assert [file.name for file in place.iterdir()] == ["new"]
    assert [path.name for path in place.parent.iterdir()] == ["a"]
