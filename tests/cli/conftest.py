"""The real command in a process of its own, on fake runners and in a home of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fake_scripts import row, write_runner

from commands import can_fork, run_command, share_builds

QUICK = ("--epochs", 1, "--precision", "20%", "-q")  # where the figures are of no interest
COMMAND = (sys.executable, "-m", "perbyte.cli")
LIMIT_S = 300


@dataclass
class World:
    """A home for runs and builds, and a directory of fake runners."""

    home: Path
    runners: Path

    def add(self, *scripts: dict[str, Any]) -> list[Path]:
        return [write_runner(self.runners, script) for script in scripts]

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PERBYTE_")}
        return {
            **kept,
            "PERBYTE_HOME": str(self.home),
            "PERBYTE_TEST_LOCKS": str(self.home),
            "PERBYTE_AUDIT": "off",
            "PERBYTE_BUILD": "off",  # `*` means the scripted runners, and not the libraries of this machine
            "PERBYTE_RUNNERS": str(self.runners),
            "COLUMNS": "100",
        }

    def perbyte(self, *words: object, **more: Any) -> subprocess.CompletedProcess[str]:
        """Run the command to its end; nothing of it is a terminal."""
        environment = self.environment | more.pop("environment", {})
        if can_fork(environment, more):
            return run_command([*map(str, words)], environment, LIMIT_S)
        return subprocess.run(
            [*COMMAND, *map(str, words)],
            env=environment,
            text=True,
            timeout=LIMIT_S,
            check=False,
            **({"capture_output": True, "stdin": subprocess.DEVNULL} | more),
        )

    def start(self, *words: object) -> subprocess.Popen[str]:
        """Start the command and let it run."""
        return subprocess.Popen(
            [*COMMAND, *map(str, words)],
            env=self.environment,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def shown(self, run: Path | str) -> dict[str, Any]:
        """What `show --json` says of a run."""
        answer = self.perbyte("show", run, "--json")
        assert answer.returncode == 0, answer.stderr
        return json.loads(answer.stdout)


def world_in(directory: Path) -> World:
    share_builds(directory / "home")
    return World(directory / "home", directory / "fake-runners")


@pytest.fixture(scope="session")
def make_world() -> Callable[[Path], World]:
    """`make_world(directory)`: a world of one's own."""
    return world_in


@pytest.fixture
def quick() -> tuple[object, ...]:
    return QUICK


@pytest.fixture
def world(tmp_path: Path) -> World:
    return world_in(tmp_path)


@pytest.fixture
def perbyte(
    world: World, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The command within this process, which is quicker: for what starts no runner and measures nothing."""
    from perbyte.cli import main

    for name in list(os.environ):
        if name.startswith("PERBYTE_"):
            monkeypatch.delenv(name)
    for name, value in world.environment.items():
        monkeypatch.setenv(name, value)

    def run(*words: object) -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr(sys, "argv", ["perbyte", *map(str, words)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        sys.stdout.flush()
        out, err = capfd.readouterr()
        assert isinstance(end.value.code, int)
        return subprocess.CompletedProcess(sys.argv, end.value.code, out, err)

    return run


def honest(name: str, **more: Any) -> dict[str, Any]:
    operations = [
        row("aes-128-ecb", operation, contract, per_call=50.0, per_byte=per_byte)
        for operation, per_byte in (("encrypt", 0.5), ("decrypt", 0.75))
        for contract in ("stream/1", "message/1")
    ]
    operations.append(row("sha-256", "digest", "oneshot/1", per_call=400.0, per_byte=4.0))
    return {"name": name, "operations": operations, "noise": {"sample": 0.0005, "probe": 0.0001}, **more}


@pytest.fixture
def script() -> Callable[..., dict[str, Any]]:
    """`script(name, **keys)`: an honest runner of AES-128-ECB and SHA-256."""
    return honest


@dataclass
class Measured:
    """One run that several tests look at: its world, its directory, and what was printed."""

    world: World
    path: Path
    answer: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """A run of two runners, made once for each module that asks for it."""
    world = world_in(tmp_path_factory.mktemp("measured"))
    world.add(honest("alpha"), honest("beta", library="Other", library_version="2.5"))
    path = world.home / "results"
    answer = world.perbyte("measure", "*/aes-128-ecb@16,512", "*/sha-256@64", "--out", path, "--json")
    assert answer.returncode == 0, answer.stderr
    return Measured(world, path, answer)
