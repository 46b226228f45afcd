"""Tells which tests take more than five seconds of CPU time, and where the time goes.

A pytest plugin (`tests/conftest.py` loads it). CPU time of the test and of all it started, and not time on the clock: a
busy machine makes no test long. Who needs more is marked `slow`. Not all tests were measured yet, so that a long one is
a warning, and fails the session with PERBYTE_DURATIONS=strict only.
"""

from __future__ import annotations

import os
import resource
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands import forked_s

LONGEST_S = float(os.environ.get("PERBYTE_TEST_LONGEST_S", "5"))
STRICT = os.environ.get("PERBYTE_DURATIONS") == "strict"


def spent_s() -> float:
    """CPU time that this process and all that has ended of what it started have taken."""
    own, children = (resource.getrusage(kind) for kind in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime + forked_s()


class Durations:
    """What tests took, by directory, and which are too long for one that is not marked."""

    def __init__(self) -> None:
        self.of_directories: dict[str, list[float]] = defaultdict(list)
        self.too_long: list[tuple[float, str]] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Note what the call of a test took."""
        before = spent_s()
        try:
            return (yield)
        finally:
            item.user_properties.append(("cpu_s", spent_s() - before))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect what was noted, here or by a worker."""
        if report.when != "call":
            return
        took = dict(report.user_properties).get("cpu_s", 0.0)
        parts = Path(report.nodeid.partition("::")[0]).parts
        self.of_directories["/".join(parts[:2]) if len(parts) > 2 else parts[0]].append(took)
        if took > LONGEST_S and "slow" not in report.keywords:
            self.too_long.append((took, report.nodeid))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a session that had a test over the limit, where that was asked for."""
        if STRICT and self.too_long and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """List the tests over the limit; with PERBYTE_TEST_TIMES=1 also where the time went."""
        if self.too_long:
            terminalreporter.write_line(
                f"tests of more than {LONGEST_S:g} s of CPU time, to be shortened or marked slow:"
            )
        for took, name in sorted(self.too_long, reverse=True):
            terminalreporter.write_line(f"TOO LONG {took:6.1f} s  {name}")
        if os.environ.get("PERBYTE_TEST_TIMES") == "1":
            for name, times in sorted(self.of_directories.items(), key=lambda pair: -sum(pair[1])):
                terminalreporter.write_line(
                    f"| `{name}` | {len(times):,} | {sum(times):.0f} | {max(times):.1f} |"
                )


def pytest_configure(config: pytest.Config) -> None:
    """Take part in the session."""
    config.pluginmanager.register(Durations(), "durations-of-tests")
