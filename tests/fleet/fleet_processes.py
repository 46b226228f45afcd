"""A fleet of real processes on this machine: a scheduler, workers with homes of their own, the real command.

`bench/fleet.py` puts each of its machines into a network namespace.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fake_scripts import row, write_runner

from perbyte.store import bursts

LIMIT_S = 300.0
Bursts = Counter[tuple[Any, ...]]


def burst_names(run: Path) -> Bursts:
    """How often each burst is in a run."""
    return Counter(
        (burst.cell.address, burst.epoch, burst.round, tuple(burst.start)) for burst in bursts(run)
    )


def wait_for(what: Callable[[], Any], limit_s: float = LIMIT_S) -> Any:
    """Wait until `what` gives something true, and return that."""
    end = time.monotonic() + limit_s
    while not (outcome := what()):
        assert time.monotonic() < end, f"waited {limit_s} s in vain"
        time.sleep(0.1)
    return outcome


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Fleet:
    """Machines by name; each has a directory with its home and what its worker said."""

    host = "127.0.0.1"

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.port = free_port()
        self.address = f"tls://{self.host}:{self.port}"
        self.guard = ["--secret", str(directory / "secret.pem")]  # each machine has a copy of it
        self.processes: list[subprocess.Popen[str]] = []
        self.joining: list[subprocess.Popen[str]] = []
        self.more: dict[str, str] = {}
        self.identities: dict[str, str] = {}  # of workers that share a machine

    def environment(self, name: str) -> dict[str, str]:
        runners = self.directory / f"{name}.runners"
        if not runners.exists():
            for runner, per_byte in (("alpha", 1.0), ("beta", 2.0)):
                script = {
                    "name": runner,
                    "operations": [row("sha-256", "digest", "oneshot/1", per_byte=per_byte)],
                }
                write_runner(runners, script)
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PERBYTE_", "DASK_"))}
        return kept | {
            "PERBYTE_HOME": str(self.directory / name),
            "PERBYTE_TEST_LOCKS": str(self.directory / name),  # each is a machine
            "PERBYTE_FLEET_MACHINE": self.identities.get(name, name),
            "PERBYTE_AUDIT": "off",  # scripted runners take no time
            "PERBYTE_RUNNERS": str(runners),
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1000",
            "COLUMNS": "200",
            **self.more,
        }

    def scheduler(self) -> subprocess.Popen[str]:
        words = [
            "perbyte.cli",
            "fleet",
            "scheduler",
            "--host",
            self.host,
            "--port",
            str(self.port),
            *self.guard,
        ]
        started = self._start("scheduler", words)
        wait_for(lambda: "scheduler at " in self.said(started) or started.poll() is not None)
        return started

    def worker(self, name: str) -> subprocess.Popen[str]:
        words = ["perbyte.cli", "fleet", "worker", self.address, "--name", name, *self.guard]
        self.joining.append(self._start(name, words))
        return self.joining[-1]

    def command(self, *words: object) -> subprocess.Popen[str]:
        where = ["--scheduler", self.address, *self.guard]
        return self._start("asker", ["perbyte.cli", "fleet", *map(str, words), *where])

    def run(self, *words: object) -> subprocess.CompletedProcess[str]:
        """A command of the one who asks, to its end."""
        where = () if words[0] == "atlas" else ("--scheduler", self.address, *self.guard)
        top = () if words[0] == "atlas" else ("fleet",)
        return subprocess.run(
            self.words("asker", ["perbyte.cli", *top, *map(str, words), *where]),
            env=self.environment("asker"),
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )

    def machines(self) -> set[str]:
        """Those that the fleet says it has; asked when the workers that were started have joined, or are gone."""
        for started in self.joining:
            wait_for(lambda started=started: "joined " in self.said(started) or started.poll() is not None)
        answer = self.run("status", "--json")
        return (
            {document["name"] for document in json.loads(answer.stdout)} if answer.returncode == 0 else set()
        )

    def said(self, process: subprocess.Popen[str]) -> str:
        return Path(process.said).read_text(encoding="utf-8")

    def measuring(self, name: str) -> list[int]:
        """The processes that measure in the home of a machine.

        A process that starts another has a child with its own command line until the child's `execve`.
        Such a child is not counted: it is no second measuring process.
        """
        parents = {}
        for place in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = place.read_bytes().split(b"\0")
                state = (place.parent / "stat").read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            if (
                b"perbyte.cli" in words
                and b"measure" in words
                and str(self.directory / name).encode() in b" ".join(words)
            ):
                parents[int(place.parent.name)] = int(state.rpartition(")")[2].split()[1])
        return [number for number, parent in parents.items() if parent not in parents]

    def run_of(self, name: str) -> Path | None:
        """The run of the newest job on a machine."""
        paths = sorted((self.directory / name / "fleet").glob("*-*-*/*/run/run.json"))
        return paths[-1].parent if paths else None

    def bursts_of(self, name: str) -> Bursts:
        """Those that lie on a machine now."""
        run = self.run_of(name)
        return burst_names(run) if run else Counter()

    def came_back(self, name: str) -> Path:
        """The newest run of a machine that was fetched."""
        return sorted((self.directory / "asker" / "fleet-runs").glob(f"*/{name}"))[-1]

    def words(self, name: str, words: list[str]) -> list[str]:
        """The command that runs a module of Python on a machine."""
        return [sys.executable, "-m", *words]

    def _start(self, name: str, words: list[str]) -> subprocess.Popen[str]:
        directory = self.directory / f"{name}-{len(self.processes)}.txt"
        with directory.open("w", encoding="utf-8") as file:
            process = subprocess.Popen(
                self.words(name, words),
                env=self.environment(name),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                text=True,
            )
        process.said = directory
        self.processes.append(process)
        return process

    def end(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        for place in self.directory.iterdir():
            for number in self.measuring(place.name) if place.is_dir() else ():
                os.kill(number, signal.SIGKILL)
