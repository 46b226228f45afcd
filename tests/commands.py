"""Runs the command in a process of its own without starting an interpreter for each.

A server has loaded the program and forks for each command: a real process, with its own environment, directory, streams
and end, ten times as fast as one that has to load everything. It is started once for each worker of pytest and has one
thread. Of the program it has run nothing but what reads the checkout's own files (the catalogue, the commit), so that a
fork knows nothing of other tests.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import IO, Any

from perbyte import __version__, places
from perbyte.catalogue import load
from perbyte.catalogue.catalogue import SEARCH_VARIABLE

_LONGEST = 1 << 20
_LATE = ("perbyte.fleet", "perbyte.atlas.adding", "perbyte.store.tables")  # they start threads
_AT_START = ("PYTHON", "LC_", "LANG", "OPENBLAS")  # what an interpreter reads when it starts


class CommandServer:
    """The client's side of a server; commands run one after the other."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            words = [sys.executable, __file__, str(theirs.fileno())]
            self._process = subprocess.Popen(words, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        self._turn = threading.Lock()
        self.spent_s = 0.0
        atexit.register(self.close)

    def _ended(self) -> int:
        """Wait for the end of a command; add its CPU time."""
        code, spent_s = json.loads(self._socket.recv(64))
        self.spent_s += spent_s
        return int(code)

    def close(self) -> None:
        """End the server."""
        self._socket.close()
        self._process.wait()

    def run(
        self, words: list[str], environment: Mapping[str, str], limit_s: float, streams: list[IO[Any]]
    ) -> int:
        """Run the command with standard input, output and error as `streams`; return its exit code as `Popen` has it.

        Raises TimeoutExpired, after it was killed, when it takes longer than `limit_s`.
        """
        asked = json.dumps([words, dict(environment), str(Path.cwd())]).encode()
        with self._turn:
            socket.send_fds(self._socket, [asked], [stream.fileno() for stream in streams])
            pid = int(self._socket.recv(64))
            self._socket.settimeout(limit_s)
            try:
                return self._ended()
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                self._socket.settimeout(None)
                self._ended()
                raise subprocess.TimeoutExpired(words, limit_s) from None
            finally:
                self._socket.settimeout(None)


@cache
def server() -> CommandServer:
    """The server of this process."""
    return CommandServer()


def share_builds(home: Path) -> None:
    """Let a home of its own have what the checkout keeps by its SHA-256, for all tests and workers.

    That is what is known of libraries' machine code, and the SDK as trials compile it: otherwise each test
    disassembles OpenSSL and compiles the SDK anew, which takes seconds.
    """
    for name in ("machine-code", "trials/sdk"):
        known = Path(__file__).parents[1] / "build" / name
        known.mkdir(parents=True, exist_ok=True)
        place = home / "build" / __version__ / name
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(known)


def forked_s() -> float:
    """CPU time of the commands that were forked so far."""
    return server().spent_s if server.cache_info().currsize else 0.0


def can_fork(environment: Mapping[str, str], more: Mapping[str, Any]) -> bool:
    """Whether a fork is what a new process would be: nothing was asked that an interpreter hears when it starts."""
    heard = {name for name in {*environment, *os.environ} if name.startswith(_AT_START)}
    return not more and all(environment.get(name) == os.environ.get(name) for name in heard)


def run_command(
    words: list[str], environment: Mapping[str, str], limit_s: float
) -> subprocess.CompletedProcess[str]:
    """Run `perbyte` with `words` to its end; nothing of it is a terminal."""
    with (
        Path(os.devnull).open() as nothing,
        tempfile.TemporaryFile("w+") as out,
        tempfile.TemporaryFile("w+") as err,
    ):
        code = server().run(words, environment, limit_s, [nothing, out, err])
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(["perbyte", *words], code, out.read(), err.read())


def _serve(client: socket.socket) -> None:
    """Fork for each command until the client is gone."""
    while True:
        asked, streams, _, _ = socket.recv_fds(client, _LONGEST, 3)
        if not asked:
            return
        pid = os.fork()
        if not pid:
            client.close()
            _become(*json.loads(asked), streams)
        for stream in streams:
            os.close(stream)
        client.send(str(pid).encode())
        _, status, usage = os.wait4(pid, 0)
        answer = [os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime]
        client.send(json.dumps(answer).encode())


def _become(words: list[str], environment: dict[str, str], directory: str, streams: list[int]) -> None:
    """Be the command, and end as it does."""
    code = 70
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(directory)
        os.environ.clear()
        os.environ.update(environment)
        if SEARCH_VARIABLE in environment:
            load.cache_clear()
        sys.argv = ["perbyte", *words]
        from perbyte.__main__ import main

        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                stream.flush()
    finally:
        os._exit(code)


def _load() -> None:
    """Load the program and the catalogue, and run nothing else of it."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    import numpy  # noqa: F401

    import perbyte

    for module in pkgutil.walk_packages(perbyte.__path__, "perbyte."):
        if not module.name.startswith(_LATE) and not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except ImportError:  # an extra that is not installed
                continue
    os.environ.pop(SEARCH_VARIABLE, None)
    load()
    places.commit()
    threads = len(list(Path("/proc/self/task").iterdir()))
    assert threads == 1, "a fork of several threads may hang"


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _load()
    _serve(socket.socket(fileno=int(sys.argv[1])))
