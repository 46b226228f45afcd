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


def test_a_home_that_is_a_file_is_an_error_of_the_environment(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("a file, where a directory should be")
    ended = subprocess.run(
        [*PERBYTE, "build", "reference"],
        env={**os.environ, "PERBYTE_HOME": str(home)},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 3, ended.stderr
    assert str(home) in ended.stderr
    assert "Traceback" not in ended.stderr
