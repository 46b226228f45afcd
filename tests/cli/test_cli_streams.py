"""Any terminal, any pipe: encodings, closed streams, a full disk, two runs at once."""

from __future__ import annotations

import errno
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from perbyte.cli.streams import note
from perbyte.errors import EXIT_ENVIRONMENT, EnvironmentLacking
from perbyte.model.text import plain_letters
from perbyte.report.pictures import pictures_of, write_charts, written
from perbyte.store import open_run

COMMAND = (sys.executable, "-m", "perbyte.cli")
LIMIT_S = 300
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def shell(world, line):
    """A line of sh in which `perbyte` is the command."""
    words = line.replace("perbyte", " ".join(map(shlex.quote, COMMAND)), 1)
    return subprocess.run(
        ["sh", "-c", words], env=world.environment, capture_output=True, timeout=LIMIT_S, check=False
    )


@pytest.mark.parametrize("encoding", [ASCII, {"PYTHONIOENCODING": "latin-1"}, {"PYTHONIOENCODING": "cp437"}])
@pytest.mark.parametrize("words", [("show",), ("compare",), ("list", "algorithms"), ("study", "list")])
def test_every_encoding_gets_a_table(measured, encoding, words):
    more = {"show": [measured.path], "compare": ["alpha/*", "beta/*", "--run", measured.path]}.get(
        words[0], []
    )
    answer = subprocess.run(
        [*COMMAND, *words, *map(str, more)],
        env=measured.world.environment | encoding,
        capture_output=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout
    assert b"Traceback" not in answer.stderr
    if encoding is ASCII:
        assert answer.stdout.isascii()


def test_what_cannot_be_said_is_said_in_plain_letters():
    def plainly(text, encoding="ascii"):
        with pytest.raises(UnicodeEncodeError) as raised:
            text.encode(encoding)
        return plain_letters(raised.value)[0]

    assert plainly("±") == "+-"
    assert plainly("►", "latin-1") == ">"
    assert plainly("\udcff") == "\\xff", "a byte of an argument that is no UTF-8"
    assert plainly("漢") == "?"


def test_a_closed_output_is_an_error_and_no_traceback(measured):
    for words in ("show", "show --json", "show --csv", "compare 'alpha/*' 'beta/*' --run"):
        run = str(measured.path)
        answer = shell(measured.world, f"perbyte {words} {run} >&-")
        assert answer.returncode == 3, (words, answer.stderr)
        assert b"standard output" in answer.stderr
        assert b"Traceback" not in answer.stderr


def test_a_run_survives_closed_streams(world, script, quick):
    world.add(script("alpha"))
    asked = "perbyte measure alpha/sha-256@16 --epochs 1 --precision 20%"
    blind = shell(world, f"{asked} --out {world.home}/blind >&-")
    assert blind.returncode == 3
    assert b"Traceback" not in blind.stderr
    mute = shell(world, f"{asked} --out {world.home}/mute 2>&-")
    assert mute.returncode == 0
    assert b"sha-256" in mute.stdout
    assert b"Traceback" not in mute.stdout
    neither = shell(world, f"{asked} --out {world.home}/neither >&- 2>&- <&-")
    assert neither.returncode == 3
    for name in ("blind", "mute", "neither"):
        shown = world.shown(world.home / name)
        assert shown["run"]["complete"] is True
        assert len(shown["cells"]) == 1


def test_a_reader_that_leaves_is_no_error(measured):
    answer = shell(measured.world, f"perbyte show {measured.path} | head -1")
    assert answer.stdout.count(b"\n") == 1
    assert answer.stderr == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told(measured):
    answer = shell(measured.world, f"perbyte show {measured.path} > /dev/full")
    assert answer.returncode == 3
    assert b"No space left" in answer.stderr


def test_no_half_file_under_a_final_name(tmp_path):
    target = tmp_path / "report.html"
    target.write_text("whole", encoding="utf-8")

    def fail(part):
        part.write_text("half", encoding="utf-8")
        raise OSError(28, "No space left on device")

    with pytest.raises(EnvironmentLacking, match="No space left"):
        written(target, fail)
    assert target.read_text(encoding="utf-8") == "whole"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert written(target, lambda part: part.write_text("new", encoding="utf-8")) == target
    assert target.read_text(encoding="utf-8") == "new"


def test_no_half_chart_in_the_directory_of_a_study(measured, tmp_path, monkeypatch):
    def fail(chart, part):
        part.write_text("half", encoding="utf-8")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("perbyte.report.pictures.save_chart", fail)
    with pytest.raises(EnvironmentLacking, match="No space left") as raised:
        write_charts(pictures_of(open_run(measured.path)), tmp_path / "charts")
    assert "free some space" in raised.value.hint
    assert not list((tmp_path / "charts").iterdir())


def test_a_directory_that_is_made_is_said(tmp_path, capsys):
    written(tmp_path / "deep" / "down.txt", lambda part: part.write_text("x", encoding="utf-8"), note)
    assert f"directory made: {tmp_path / 'deep'}" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="COLUMNS of a terminal")
def test_forty_columns_are_enough(measured):
    answer = measured.world.perbyte("show", measured.path, environment={"COLUMNS": "40"})
    assert max(map(len, answer.stdout.splitlines())) <= 40


def test_a_disk_that_is_full_elsewhere_is_not_standard_output(perbyte, monkeypatch):
    def full(*_args, **_more):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("perbyte.places.data_dir", full)
    answer = perbyte("list", "suites")
    assert answer.returncode == EXIT_ENVIRONMENT
    assert "a file of Perbyte's, in " in answer.stderr
    assert "standard output" not in answer.stderr
