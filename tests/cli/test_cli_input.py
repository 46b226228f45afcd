"""--input FILE: the user's own bytes, looked at and refused with a reason before anything is measured."""

from __future__ import annotations

import hashlib
import json
import os

import pytest

from perbyte.errors import EnvironmentLacking, UsageError
from perbyte.measure.conduct import describe_input


@pytest.fixture
def data(tmp_path):
    place = tmp_path / "my data"
    place.write_bytes(bytes(range(256)) * 4 + b"rest")
    return place


def test_what_is_known_of_a_file(data):
    assert describe_input(data) == {
        "path": str(data.resolve()),
        "size_bytes": 1028,
        "usable_bytes": 1024,
        "sha256": hashlib.sha256(data.read_bytes()).hexdigest(),
    }


def test_a_file_is_measured_in_whole_blocks_and_noted(world, script, data, tmp_path, quick):
    world.add(script("alpha"), script("beta"))
    path = tmp_path / "run"
    answer = world.perbyte("measure", "*/sha-256", "--input", data, "--out", path, "--json", *quick)
    assert answer.returncode == 0, answer.stderr
    content = json.loads(answer.stdout)
    assert {cell["size_bytes"] for cell in content["cells"]} == {1024}
    assert content["run"]["input"]["sha256"] == hashlib.sha256(data.read_bytes()).hexdigest()
    again = world.perbyte("measure", "--resume", path, "-q")
    assert again.returncode == 0, again.stderr
    data.write_bytes(b"something else entirely" * 100)
    changed = world.perbyte("measure", "--resume", path, "-q")
    assert changed.returncode == 2
    assert "input" in changed.stderr


def test_sizes_within_the_file_are_parts_of_it(world, script, data, tmp_path, quick):
    world.add(script("alpha"))
    words = (
        "alpha/sha-256",
        "--input",
        data,
        "--size",
        "16,512",
        "--out",
        tmp_path / "run",
        "--json",
        *quick,
    )
    answer = world.perbyte("measure", *words)
    assert {cell["size_bytes"] for cell in json.loads(answer.stdout)["cells"]} == {16, 512}


@pytest.mark.parametrize("words", [("alpha/sha-256", "--size", "16,4096"), ("alpha/sha-256@16,4096",)])
def test_a_size_beyond_the_file_is_refused_before_anything_is_measured(world, perbyte, script, data, words):
    world.add(script("alpha"))
    answer = perbyte("measure", *words, "--input", data)
    assert answer.returncode == 2
    assert answer.stdout == ""
    assert "1028 bytes" in answer.stderr
    assert "4096" in answer.stderr
    assert not (world.home / "runs").exists()


def bad_files(tmp_path):
    (tmp_path / "empty").touch()
    (tmp_path / "short").write_bytes(b"x" * 15)
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    return {
        "missing": (tmp_path / "missing", "No such file"),
        "dangling": (tmp_path / "dangling", "No such file"),
        "empty": (tmp_path / "empty", "0 bytes, less than one block of 16"),
        "short": (tmp_path / "short", "15 bytes, less than one block of 16"),
        "directory": (tmp_path / "directory", "not a regular file"),
        "pipe": (tmp_path / "pipe", "not a regular file"),
        "device": ("/dev/zero", "not a regular file"),
    }


@pytest.mark.parametrize("what", ["missing", "dangling", "empty", "short", "directory", "pipe", "device"])
def test_a_file_that_cannot_be_used_is_refused_with_a_reason(world, perbyte, script, tmp_path, what):
    world.add(script("alpha"))
    place, reason = bad_files(tmp_path)[what]
    answer = perbyte("measure", "alpha/sha-256", "--input", place)
    assert answer.returncode == 2
    assert str(place) in answer.stderr
    assert reason in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_file_that_may_not_be_read(data, monkeypatch):
    if os.geteuid() != 0:
        data.chmod(0)
    else:  # root may read everything, so the refusal is played
        from pathlib import Path

        def refuse(*_args, **_more):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UsageError, match="Permission denied"):
        describe_input(data)


def test_a_file_larger_than_memory_is_refused_unread(tmp_path):
    place = tmp_path / "sparse"
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with place.open("wb") as file:
        file.truncate(memory)
    with pytest.raises(EnvironmentLacking, match="at most a quarter fits") as error:
        describe_input(place)
    assert error.value.hint
