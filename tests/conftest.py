"""Fixtures that several directories share. `fake_scripts` and `madeup` can be imported by every test module."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from perbyte.runners.locate import read_spec
from perbyte.runners.spec import RunnerSpec

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent / "measure"))
sys.path.insert(0, str(Path(__file__).parent / "runners"))

import fake_scripts

pytest_plugins = ["durations"]

# scripted runners show what takes no time: no audit from outside can vouch for them
os.environ.setdefault("PERBYTE_AUDIT", "off")
# as the command has it; with threads of its own NumPy takes twice the CPU time beside other workers
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@pytest.fixture(scope="session", autouse=True)
def heard() -> Iterator[None]:
    """Let tests and their children hear Ctrl-C in the background too, where a shell has it ignored for all."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, once in a process: Playwright does not start a second time beside itself."""
    sys.path.insert(0, str(Path(__file__).parent / "report"))
    from browsing import launched

    with launched() as opened:
        yield opened


@pytest.fixture
def fake_runners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[RunnerSpec]]:
    """A function from scripts (dicts) to RunnerSpecs of fake runners, found through PERBYTE_RUNNERS."""
    directory = tmp_path / "fake-runners"
    monkeypatch.setenv("PERBYTE_RUNNERS", str(directory))
    monkeypatch.setenv("PERBYTE_TEST_LOCKS", str(tmp_path))

    def write(*scripts: dict[str, Any]) -> list[RunnerSpec]:
        return [read_spec(fake_scripts.write_runner(directory, script) / "runner.toml") for script in scripts]

    return write


@pytest.fixture(scope="session")
def spare_core() -> int:
    """A core that this process may use: the last one, as the orchestrator would choose."""
    return max(os.sched_getaffinity(0))
