"""Tells which tests take more than five seconds of CPU time, and where the time goes; starts the longest first.

A pytest plugin (`tests/conftest.py` loads it). CPU time of the test and of all it started, and not time on the clock:
a busy machine makes no test long. The limit is for a host like that of CONTRIBUTING's table; a slower one, by a loop of
known work, has as much longer. Who needs more is marked `slow`; a long one that is not is listed, and fails a session
with PERBYTE_DURATIONS=strict, as `make test` sets it. What files took is kept in pytest's cache, so that several
workers begin with the longest file and end together.
"""

from __future__ import annotations

import os
import resource
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands import forked_s

LONGEST_S = float(os.environ.get("PERBYTE_TEST_LONGEST_S", "5"))
STRICT = os.environ.get("PERBYTE_DURATIONS") == "strict"
KNOWN_WORK_S = 0.02  # of CPU time that `known_work` takes on the host of the table
TOOK = "perbyte/seconds_of_files"
UNKNOWN_S, SLOW_S = 0.1, 5.0  # that a test may take of which nothing is known
GUIDE = Path(__file__).parents[1] / "CONTRIBUTING.md"


def spent_s() -> float:
    """CPU time that this process and all that has ended of what it started have taken."""
    own, children = (resource.getrusage(kind) for kind in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime + forked_s()


def known_work() -> float:
    """CPU seconds of a loop that is always the same, the least of five."""
    least = float("inf")
    for _ in range(5):
        began, total = time.process_time(), 0
        for number in range(400_000):
            total += number * number & 7
        least = min(least, time.process_time() - began)
    return least


def directory_of(file: str) -> str:
    """The directory under `tests`, which is a row of the table."""
    parts = Path(file).parts
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def with_rows(text: str, rows: dict[str, str]) -> str:
    """CONTRIBUTING's table with these rows of directories in the place of the old ones."""
    lines = text.split("\n")
    return "\n".join(rows.get(line[2:].partition(" |")[0].strip("`"), line) for line in lines)


class Durations:
    """What tests took, by file, and which are too long for one that is not marked."""

    def __init__(self) -> None:
        self.of_files: dict[str, list[float]] = defaultdict(list)
        self.setup_s: dict[str, float] = {}
        self.long: list[tuple[float, str]] = []
        self.slowness = 1.0

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Let a worker have the longest files first; each sees the same cache, which is written at the end."""
        if not hasattr(config, "workerinput"):
            return
        cache = getattr(config, "cache", None)  # a plugin that can be switched off
        known = cache.get(TOOK, {}) if cache else {}
        expected: dict[str, float] = defaultdict(float)
        for item in items:
            expected[item.location[0]] += SLOW_S if item.get_closest_marker("slow") else UNKNOWN_S
        expected.update({file: known[file] for file in expected if file in known})
        items.sort(key=lambda item: -expected[item.location[0]])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        """Note what the fixtures of a test took."""
        return (yield from self._noting(item, "setup_s"))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Note what the call of a test took."""
        return (yield from self._noting(item, "cpu_s"))

    def _noting(self, item: pytest.Item, name: str) -> Iterator[None]:
        before = spent_s()
        try:
            return (yield)
        finally:
            item.user_properties.append((name, spent_s() - before))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect what was noted, here or by a worker."""
        if report.when != "call":
            return
        noted = dict(report.user_properties)
        took = noted.get("cpu_s", 0.0)
        self.of_files[report.nodeid.partition("::")[0]].append(took + noted.get("setup_s", 0.0))
        if took > LONGEST_S and "slow" not in report.keywords:
            self.long.append((took, report.nodeid))

    def too_long(self) -> list[tuple[float, str]]:
        """Tests over the limit of a host like this, the longest first."""
        return sorted((pair for pair in self.long if pair[0] > LONGEST_S * self.slowness), reverse=True)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a session that had a test over the limit, where that was asked for; keep what the files took."""
        if hasattr(session.config, "workerinput"):
            return
        if self.long:
            self.slowness = max(1.0, known_work() / KNOWN_WORK_S)
        if STRICT and self.too_long() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if cache := getattr(session.config, "cache", None):
            known = cache.get(TOOK, {})
            took = {file: round(sum(times), 2) for file, times in self.of_files.items()}
            cache.set(TOOK, known | took)

    def rows(self) -> dict[str, str]:
        """The rows of CONTRIBUTING's table, the directory with most time first."""
        of_directories: dict[str, list[float]] = defaultdict(list)
        for file, times in self.of_files.items():
            of_directories[directory_of(file)] += times
        return {
            name: f"| `{name}` | {len(times):,} | {sum(times):.0f} | {max(times):.1f} |"
            for name, times in sorted(of_directories.items(), key=lambda pair: -sum(pair[1]))
        }

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """List the tests over the limit; with PERBYTE_TEST_TIMES=1 also where the time went, or `write` it."""
        limit_s, too_long = LONGEST_S * self.slowness, self.too_long()
        if too_long:
            terminalreporter.write_line(
                f"tests of more than {limit_s:.3g} s of CPU time, to be shortened or marked slow:"
            )
        for took, name in too_long:
            terminalreporter.write_line(f"TOO LONG {took:6.1f} s  {name}")
        wanted = os.environ.get("PERBYTE_TEST_TIMES")
        if wanted in ("1", "write"):
            for row in self.rows().values():
                terminalreporter.write_line(row)
        if wanted == "write":
            GUIDE.write_text(with_rows(GUIDE.read_text(encoding="utf-8"), self.rows()), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Take part in the session."""
    config.pluginmanager.register(Durations(), "durations-of-tests")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than cores: tests wait for processes a part of their time."""
    return len(os.sched_getaffinity(0)) + 1
