"""A test that is long without saying so is named, and CONTRIBUTING says where the time goes.

With PERBYTE_DURATIONS=strict it also fails the session. That is not the default, because not all tests were measured.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from documents import ROOT

BUSY = """
import time, subprocess, sys, pytest

def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

def test_of_its_own(): spin(0.3)
def test_in_a_child(): subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 0.3: pass"])
def test_that_waits(): time.sleep(0.3)
@pytest.mark.slow
def test_that_says_so(): spin(0.3)
"""


@pytest.mark.parametrize(("durations", "code"), [("", 0), ("strict", 1)])
def test_a_test_over_the_limit_is_named_and_fails_a_strict_session(tmp_path, durations, code):
    (tmp_path / "test_busy.py").write_text(BUSY)
    environment = os.environ | {
        "PERBYTE_TEST_LONGEST_S": "0.2", "PERBYTE_TEST_TIMES": "1", "PYTHONPATH": str(ROOT / "tests"),
        "PERBYTE_DURATIONS": durations,
    }  # fmt: skip
    options = [
        "-q",
        "-p",
        "durations",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
        "-o",
        "markers=slow",
    ]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(tmp_path)],
        env=environment, capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert "4 passed" in ended.stdout, ended.stdout + ended.stderr
    assert ended.returncode == code
    named = re.findall(r"^TOO LONG +[\d.]+ s  test_busy\.py::(\w+)$", ended.stdout, re.MULTILINE)
    assert sorted(named) == ["test_in_a_child", "test_of_its_own"], (
        "waiting takes no CPU time, and slow ones say so"
    )


def test_the_table_of_durations_has_every_directory():
    table = re.findall(
        r"^\| `tests/(\w+)` \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    there = [place.name for place in (ROOT / "tests").iterdir() if any(place.glob("test_*.py"))]
    assert sorted(table) == sorted(there)
