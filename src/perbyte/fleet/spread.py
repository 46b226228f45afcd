"""Fleets that begin and end with a command: workers of this machine for a map over pieces, machines by SSH.

Results come in the order of the pieces. Only as many are on their way as keep all workers busy, so that memory does not
grow with the number of pieces.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import dask
from distributed import Client, LocalCluster, SSHCluster

from perbyte import extras
from perbyte.errors import EnvironmentLacking, UsageError
from perbyte.fleet.conduct import connected

_AHEAD = 3  # pieces for each thread of a worker
_ALONE_S = 30  # that a worker by SSH looks for a scheduler before it ends


@contextlib.contextmanager
def spread(
    workers: int, address: str | None
) -> Iterator[Callable[[Callable[[Any], Any], Sequence[Any]], Iterator[Any]]]:
    """Give a map on the workers behind the scheduler at `address`, or on `workers` processes of this machine."""
    with contextlib.ExitStack() as stack:
        if address:
            client = stack.enter_context(connected(address))
        else:
            stack.enter_context(dask.config.set({"distributed.worker.daemon": True}))
            cluster = stack.enter_context(
                LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, memory_limit=0)
            )
            client = stack.enter_context(Client(cluster, set_as_default=False))
        threads = sum(
            worker["nthreads"] for worker in client.scheduler_info(n_workers=-1)["workers"].values()
        )
        yield lambda work, pieces: _ordered(client, work, pieces, _AHEAD * max(threads, 1))


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
def by_ssh(hosts: Sequence[str]) -> Iterator[str]:
    """Start a scheduler on the first of `hosts` and a worker on each, as `[USER@]HOST[:PORT]`; give its address.

    Each runs this Python, at its path here. Raises EnvironmentLacking where a machine cannot be reached or does not
    start.
    """
    if importlib.util.find_spec("asyncssh") is None:
        raise EnvironmentLacking("--hosts needs asyncssh", hint=f"run: {extras.install_command('fleet')}")
    names, options = zip(*map(_reached, (hosts[0], *hosts)), strict=True)
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        cluster = SSHCluster(
            list(names),
            connect_options=list(options),
            worker_options={"death_timeout": _ALONE_S},
            worker_class="perbyte.fleet.worker.MeasuringWorker",
            remote_python=sys.executable,
            scheduler_options={"dashboard": False},
        )
    except Exception as error:  # whatever SSH, a shell over there or Dask raises
        raise EnvironmentLacking(
            f"no fleet could be started by SSH: {error}"[:400],
            hint=f"this must work for each: ssh ssh://{hosts[0]} {sys.executable} -m perbyte.cli doctor",
        ) from error
    try:
        yield cluster.scheduler_address
    finally:
        cluster.close()


def _reached(host: str) -> tuple[str, dict[str, Any]]:
    """Name and options for SSH of `[USER@]HOST[:PORT]`. Raises UsageError."""
    match = re.fullmatch(r"(?:([^@\s]+)@)?(\[[0-9a-fA-F:]+\]|[^@:\s\[\]-][^@:\s\[\]]*)(?::(\d{1,5}))?", host)
    if not match:
        raise UsageError(f"'{host[:80]}' is not a host", hint="[USER@]HOST[:PORT], one per line")
    user, name, port = match.groups()
    return name.strip("[]"), ({"username": user} if user else {}) | ({"port": int(port)} if port else {})


def _ordered(client: Client, work: Callable[[Any], Any], pieces: Sequence[Any], ahead: int) -> Iterator[Any]:
    waiting: deque[Any] = deque()
    for piece in pieces:
        waiting.append(client.submit(work, piece, pure=False))
        if len(waiting) >= ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
