"""A test that is long without saying so is named and fails `make test`; CONTRIBUTING says where the time goes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from documents import ROOT

from durations import Durations, pytest_xdist_auto_num_workers, with_rows

BUSY = """
import time, subprocess, sys, pytest

def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

def test_of_its_own(): spin(0.5)
def test_in_a_child(): subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 0.5: pass"])
def test_that_waits(): time.sleep(0.5)
@pytest.mark.slow
def test_that_says_so(): spin(0.5)
"""


@pytest.mark.parametrize(("durations", "code"), [("", 0), ("strict", 1)])
def test_a_test_over_the_limit_is_named_and_fails_a_strict_session(tmp_path, durations, code):
    (tmp_path / "test_busy.py").write_text(BUSY)
    environment = os.environ | {
        "PERBYTE_TEST_LONGEST_S": "0.1", "PERBYTE_TEST_TIMES": "1", "PYTHONPATH": str(ROOT / "tests"),
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


def test_make_test_is_strict_and_begins_with_the_longest_file():
    tests = re.search(r"^TESTS +:= (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert tests
    assert "PERBYTE_DURATIONS=strict" in tests[1]
    assert "--dist loadfile --no-loadscope-reorder" in tests[1]


def test_auto_is_one_worker_more_than_cores():
    assert pytest_xdist_auto_num_workers() == len(os.sched_getaffinity(0)) + 1


class Item:
    """What a worker knows of a test before it runs."""

    def __init__(self, file: str, slow: bool = False) -> None:
        self.location, self.slow = (file, 0, ""), slow

    def get_closest_marker(self, name: str) -> object:
        return name if self.slow and name == "slow" else None


@pytest.mark.parametrize("worker", [False, True])
def test_a_worker_has_the_longest_files_first_and_a_file_stays_together(worker):
    cache = SimpleNamespace(get=lambda *_: {"known.py": 9.0, "short.py": 0.1, "gone.py": 99.0})
    config = SimpleNamespace(cache=cache, **({"workerinput": {}} if worker else {}))
    files = ("short.py", "new.py", "slow.py", "known.py", "slow.py", "new.py")
    items = [Item(file, slow=file == "slow.py") for file in files]
    Durations().pytest_collection_modifyitems(config, items)
    ordered = ("slow.py", "slow.py", "known.py", "new.py", "new.py", "short.py") if worker else files
    assert [item.location[0] for item in items] == list(ordered)


def test_a_host_that_is_slower_has_as_much_longer():
    durations = Durations()
    durations.long = [(9.0, "a"), (12.0, "b")]
    assert [name for _, name in durations.too_long()] == ["b", "a"]
    durations.slowness = 2.0
    assert [name for _, name in durations.too_long()] == ["b"]


def test_rows_of_what_ran_take_the_place_of_the_old_ones():
    durations = Durations()
    for took, setup in ((1.0, 2.0), (0.5, 0.0)):
        noted = [("setup_s", setup), ("cpu_s", took)]
        durations.pytest_runtest_logreport(
            SimpleNamespace(when="call", user_properties=noted, nodeid="tests/a/test_b.py::test", keywords={})
        )
    table = "text\n| `tests/a` | – | – | – |\n| `tests/c` | 1 | 2 | 3.0 |\n"
    assert with_rows(table, durations.rows()) == (
        "text\n| `tests/a` | 2 | 4 | 3.0 |\n| `tests/c` | 1 | 2 | 3.0 |\n"
    )


def test_the_table_of_durations_has_every_directory():
    table = re.findall(
        r"^\| `tests/(\w+)` \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    there = [place.name for place in (ROOT / "tests").iterdir() if any(place.glob("test_*.py"))]
    assert sorted(table) == sorted(there)
