"""Fleets that begin and end with a command: workers of this machine for a map over pieces, machines by SSH.

Results come in the order of the pieces. Only as many are on their way as keep all workers busy, so that memory does not
grow with the number of pieces.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from perbyte.errors import EnvironmentLacking, UsageError
from perbyte.fleet.conduct import connected
from perbyte.fleet.secret import FleetAccess, entry, new_secret

_AHEAD = 3  # pieces for each thread of a worker
_START_S = 60.0  # that a scheduler or worker may take to start over there
_LEAVE_S = 20.0  # and to end


@contextlib.contextmanager
def spread(
    workers: int, scheduler: FleetAccess | None
) -> Iterator[Callable[[Callable[[Any], Any], Sequence[Any]], Iterator[Any]]]:
    """Give a map on the workers behind `scheduler`, or on `workers` processes of this machine, which listen nowhere."""
    if scheduler is None:
        with ProcessPoolExecutor(workers, multiprocessing.get_context("forkserver")) as pool:
            yield lambda work, pieces: _ordered(
                lambda piece: pool.submit(work, piece), pieces, _AHEAD * workers
            )
        return
    with connected(scheduler) as client:
        known = client.scheduler_info(n_workers=-1)["workers"]
        ahead = _AHEAD * max(sum(worker["nthreads"] for worker in known.values()), 1)
        yield lambda work, pieces: _ordered(
            lambda piece: client.submit(work, piece, pure=False), pieces, ahead
        )


def read_hosts(file: Path) -> list[str]:
    """The hosts in a file, one per line; `#` begins a comment. Raises UsageError where there is none."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{file} cannot be read: {error}", hint="a text file with one host per line"
        ) from error
    names = [name for line in lines if (name := line.partition("#")[0].strip())]
    if not names:
        raise UsageError(f"{file} names no host", hint="one host per line: [USER@]HOST[:PORT]")
    return names


@contextlib.contextmanager
def by_ssh(hosts: Sequence[str]) -> Iterator[FleetAccess]:
    """Start a scheduler on the first of `hosts` and a worker on each, as `[USER@]HOST[:PORT]`; give the way to it.

    Each runs this Python, at its path here, and listens only on the address at which SSH reached the first host, or
    from which it reaches that. The fleet's secret is made for this once and goes to their standard input; they end when
    that is closed. Raises EnvironmentLacking where a machine cannot be reached or does not start.
    """
    if shutil.which("ssh") is None:
        raise EnvironmentLacking("--hosts needs ssh", hint="install OpenSSH's client (openssh-client)")
    secret, started = new_secret(), []
    with tempfile.TemporaryDirectory() as place:

        def start(host: str, words: Sequence[str], until: str, number: int) -> str:
            started.append(_start(host, words, secret, Path(place) / str(number)))
            return _awaited(host, started[-1], Path(place) / str(number), until)

        try:
            words = ["scheduler", "--port", "0", "--host"]
            address = start(hosts[0], words, r"scheduler at (tls://\S+)", 0)
            for number, host in enumerate(hosts, 1):
                start(host, ["worker", address], r"joined (\S+)", number)
            yield entry(address, secret)
        finally:
            _leave(started)


def _start(host: str, words: Sequence[str], secret: str, output: Path) -> subprocess.Popen[bytes]:
    """Start a part of a fleet on `host`, without asking anything; what it says goes to the file `output`.

    An option `--host` at the end gets the address of that machine which SSH reached.
    """
    name, options = _reached(host)
    user, port = options.get("username"), options.get("port")
    command = shlex.join(
        [sys.executable, "-m", "perbyte.cli", "fleet", words[0], "--secret", "-", *words[1:]]
    )
    if words[-1] == "--host":
        command += ' "$(echo "$SSH_CONNECTION" | cut -d" " -f3)"'
    where = [*(["-l", user] if user else []), *(["-p", str(port)] if port else []), "--", name]
    with output.open("wb") as file:
        process = subprocess.Popen(
            ["ssh", "-T", "-o", "BatchMode=yes", *where, command],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=file,
            start_new_session=True,  # Ctrl-C is for this process, which then tells the machines
        )
    with contextlib.suppress(BrokenPipeError):
        assert process.stdin is not None
        process.stdin.write(secret.encode())
        process.stdin.flush()
    return process


def _awaited(host: str, process: subprocess.Popen[bytes], output: Path, until: str) -> str:
    """What matches `until` in what a process says. Raises EnvironmentLacking where it ends or waits without that."""
    end = time.monotonic() + _START_S
    while time.monotonic() < end:
        ended = process.poll() is not None
        text = output.read_text(encoding="utf-8", errors="replace")
        if match := re.search(until, text):
            return match[1]
        if ended:
            break
        time.sleep(0.1)
    lines = [line for line in text.splitlines() if line.strip()]
    told = [line for line in lines if line.startswith("error: ")] or lines or ["no answer"]
    raise EnvironmentLacking(
        f"no fleet could be started by SSH on {host}: {told[-1]}"[:400],
        hint=f"this must work for each: ssh ssh://{host} {sys.executable} -m perbyte.cli doctor",
    )


def _leave(started: Sequence[subprocess.Popen[bytes]]) -> None:
    """Let all processes end in order, workers first."""
    for process in reversed(started):
        with contextlib.suppress(OSError):
            assert process.stdin is not None
            process.stdin.close()
    end = time.monotonic() + _LEAVE_S
    for process in reversed(started):
        try:
            process.wait(max(end - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _reached(host: str) -> tuple[str, dict[str, Any]]:
    """Name and options for SSH of `[USER@]HOST[:PORT]`. Raises UsageError."""
    match = re.fullmatch(r"(?:([^@\s]+)@)?(\[[0-9a-fA-F:]+\]|[^@:\s\[\]-][^@:\s\[\]]*)(?::(\d{1,5}))?", host)
    if not match:
        raise UsageError(f"'{host[:80]}' is not a host", hint="[USER@]HOST[:PORT], one per line")
    user, name, port = match.groups()
    return name.strip("[]"), ({"username": user} if user else {}) | ({"port": int(port)} if port else {})


def _ordered(submit: Callable[[Any], Any], pieces: Sequence[Any], ahead: int) -> Iterator[Any]:
    waiting: deque[Any] = deque()
    for piece in pieces:
        waiting.append(submit(piece))
        if len(waiting) >= ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
