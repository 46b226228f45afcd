"""What the machine refuses is told in two lines and exit code 3, not as a defect."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FULL = Path("/dev/full")
PERBYTE = [sys.executable, "-m", "perbyte.cli"]


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
@pytest.mark.parametrize("arguments", [["--help"], ["list", "algorithms"], ["list", "studies", "--json"]])
def test_a_full_disk_behind_stdout_is_an_error_of_the_environment(arguments: list[str]) -> None:
    with FULL.open("w") as full:
        ended = subprocess.run([*PERBYTE, *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
    assert ended.returncode == 3, ended.stderr
    assert "No space left on device" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "Exception ignored" not in ended.stderr


@pytest.mark.parametrize("below", ["", "deeper/still"])
@pytest.mark.parametrize("names", [[], ["reference"], ["reference", "nettle"]])
def test_a_home_that_is_a_file_is_an_error_of_the_environment(
    tmp_path: Path, below: str, names: list[str]
) -> None:
    home = tmp_path / "home"
    home.write_text("a file, where a directory should be")
    _cannot_be_built(home / below, names, "a file is in the way")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc here")
def test_a_home_where_nothing_can_be_created_is_an_error_of_the_environment() -> None:
    # not even root may create a directory there, and the kernel says "no such file" to that
    _cannot_be_built(Path("/proc/perbyte"), ["reference"], "No such file or directory")


def _cannot_be_built(home: Path, names: list[str], why: str) -> None:
    ended = subprocess.run(
        [*PERBYTE, "build", *names],
        env={**os.environ, "PERBYTE_HOME": str(home)},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 3, ended.stderr
    message, hint = ended.stderr.splitlines()
    assert message.startswith(f"error: runners cannot be built in {home}")
    assert why in message
    assert hint.startswith("hint: ")
    assert "PERBYTE_HOME" in hint


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["advise", "disk", "--date", "2032-13-01"], "'2032-13-01' is not a day"),
        (["import", "README.md"], "There are bench-slope, benchfmt"),
        (["import", "README.md"], "A file comes after one of these."),
        (["study", "list", "X"], "perbyte study list takes no more than it has: X is too much"),
        (["history"], "error: no such command 'history'\n"),
        (["try", "a.c", "b.run", "--as", "sha-256", "--baseline"], "--baseline takes no file"),
        (["compare", "--cells"], "Did you mean '--csv'?"),
    ],
)
def test_a_slip_of_the_pen_is_told_with_what_there_is(arguments: list[str], told: str) -> None:
    ended = subprocess.run([*PERBYTE, *arguments], capture_output=True, text=True)
    assert ended.returncode == 2
    assert told in ended.stderr
    assert "%Y" not in ended.stderr
    assert "--help'" not in ended.stderr, "the hint names it"
