"""A fleet's processes: Dask's own scheduler, and the worker of a machine, which has patience with schedulers.

Members of a fleet run programs on its machines, so only they are heard (`fleet.secret`). A scheduler listens on
loopback unless told otherwise, a worker on the address from which it reaches its scheduler; neither has a port for
HTTP. A worker has one measuring slot and a name that stays.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import time
from collections.abc import Callable
from typing import Any

from distributed import Scheduler, Worker
from distributed.comm import connect, get_address_host
from distributed.security import Security

from perbyte.errors import EnvironmentLacking, UsageError
from perbyte.fleet.machine import NAME, fleet_home, machine_label, stop_all
from perbyte.fleet.secret import FleetAccess, refuse_stranger
from perbyte.measure.labels import keep_label

LOOPBACK = "127.0.0.1"
SLOT = "measure:"
_CONNECT_S = 5.0
_REJOIN_S = 2.0
_TAKEN = "name taken"  # what a scheduler answers to the second worker of a name
_TAKEN_S = 330.0  # a scheduler knows a worker that was lost for 300 s
_OTHER_NAME = "one worker a machine is enough; for another machine give another name by --name"


class FleetScheduler(Scheduler):  # type: ignore[misc]
    """Dask's scheduler, without a port for HTTP."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more, dashboard=False, local_directory=_own_directory())

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Listen nowhere."""


class MeasuringWorker(Worker):  # type: ignore[misc]
    """A Dask worker with the resource `measure:NAME`, of which there is one: it pins work to a machine by its name.

    Addresses change when a worker comes back, names do not: work that waits for its machine finds it again.
    """

    def __init__(self, *words: Any, name: Any = None, **more: Any) -> None:
        name = str(name or machine_label())
        settings: dict[str, Any] = {
            "nthreads": 4,
            "resources": {SLOT + name: 1.0},
            "local_directory": _own_directory(),
            "memory_limit": 0,  # a worker that is paused or killed for its memory would cost a measurement
        }
        super().__init__(*words, **(more | settings), name=name)

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Listen nowhere."""


def silence_dask() -> None:
    """Let Dask print nothing: a lost connection is said in our own words. Its children have levels of their own."""
    for name in ("distributed", "distributed.client", "distributed.gc"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _own_directory() -> str:
    """A directory for Dask, which imports modules from it: not the one in /tmp that another user can have made."""
    home = fleet_home() / "dask"
    home.mkdir(parents=True, exist_ok=True)
    return str(home)


def run_worker(
    scheduler: FleetAccess,
    name: str,
    say: Callable[[str], None],
    *,
    host: str | None = None,
    ends: int | None = None,
) -> None:
    """Join as `name`, or by this installation's name where it is empty, until SIGINT or SIGTERM, or the end of `ends`.

    `ends` is a descriptor that is read until somebody closes its other end. Raises UsageError for a name that no
    machine can have, and as `join`.
    """
    name = name or machine_label()
    if not NAME.fullmatch(name):
        raise UsageError(
            f"'{name[:80]}' is not a valid name of a machine", hint="small letters, digits, hyphens, dots"
        )
    with contextlib.suppress(OSError):
        keep_label(name)  # what is measured here is called so from here on, in fleets and elsewhere
    silence_dask()
    asyncio.run(join(scheduler, name, say, host=host, ends=ends))


async def join(
    scheduler: FleetAccess,
    name: str,
    say: Callable[[str], None],
    *,
    host: str | None = None,
    ends: int | None = None,
) -> None:
    """Be a worker of `scheduler` until it is told to stop (as `run_worker`); join again whenever it was lost.

    Raises EnvironmentLacking where another worker keeps the name for longer than one that was lost would, and where
    the scheduler has another secret.
    """
    stop = _stop_signalled(ends)
    address, told, taken_since = scheduler.address, "", 0.0
    while not stop.is_set():
        ended = asyncio.create_task(stop.wait())
        try:
            here = host or await _reached_from(scheduler)
            async with MeasuringWorker(
                address, name=name, host=here, security=scheduler.security, death_timeout=20
            ) as worker:
                say(f"joined {address} as {worker.name}")
                told, taken_since = "", 0.0
                await asyncio.wait(
                    {asyncio.create_task(worker.finished()), ended}, return_when=asyncio.FIRST_COMPLETED
                )
                if stop.is_set():
                    say("leaving: the current measurement ends cleanly and is kept")
                    stop_all()
        except (OSError, TimeoutError, ValueError, RuntimeError) as error:
            refuse_stranger(address, error)
            taken = _TAKEN in _whole(error)
            if taken:
                taken_since = taken_since or time.monotonic()
                text = f"a worker called {name} is in this fleet already"
                if time.monotonic() - taken_since > _TAKEN_S:
                    raise EnvironmentLacking(text, hint=_OTHER_NAME) from error
            else:
                taken_since = 0.0
                text = f"no scheduler at {address} ({type(error).__name__}: {error})"[:250]
            if text != told:
                more = f"{_OTHER_NAME}; trying again, it may be gone soon" if taken else "trying again"
                say(f"{text}: {more}")
            told = text
        ended.cancel()
        if not stop.is_set():
            await asyncio.wait({asyncio.create_task(stop.wait())}, timeout=_REJOIN_S)


async def _reached_from(scheduler: FleetAccess) -> str:
    """The address of this machine from which it reaches the scheduler. Raises OSError where none answers."""
    arguments = scheduler.security.get_connection_args("worker")
    line = await connect(scheduler.address, timeout=_CONNECT_S, **arguments)
    try:
        host = str(get_address_host(line.local_address))
    finally:
        await line.close()
    return f"[{host}]" if ":" in host else host


def _whole(error: BaseException) -> str:
    """What an error says, with what it came from."""
    texts: list[str] = []
    step: BaseException | None = error
    while step is not None and len(texts) < 10:
        texts.append(str(step))
        step = step.__cause__ or step.__context__
    return " ".join(texts)


def _stop_signalled(ends: int | None) -> asyncio.Event:
    """What SIGINT, SIGTERM or the end of the pipe `ends` sets."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)

    def look(pipe: int) -> None:
        if not os.read(pipe, 4096):
            loop.remove_reader(pipe)
            stop.set()

    if ends is not None:
        with contextlib.suppress(PermissionError):  # a file, which nobody closes
            loop.add_reader(ends, look, ends)
    return stop


def run_scheduler(
    host: str, port: int, security: Security, say: Callable[[str], None], *, ends: int | None = None
) -> None:
    """Serve until SIGINT or SIGTERM, or the end of `ends`. Raises EnvironmentLacking for an address not to be had."""
    silence_dask()
    try:
        asyncio.run(serve(host, port, security, say, ends=ends))
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise EnvironmentLacking(
            f"no scheduler can listen on {host}, port {port}: {error}"[:300],
            hint="choose another --host or --port",
        ) from error


async def serve(
    host: str, port: int, security: Security, say: Callable[[str], None], *, ends: int | None = None
) -> None:
    """Be a scheduler on `host` (as `run_scheduler`). Raises what the system says of an address it cannot have."""
    stop = _stop_signalled(ends)
    protocol = "tls://" if security.require_encryption else "tcp://"
    async with FleetScheduler(host=host, port=port, protocol=protocol, security=security) as scheduler:
        say(f"scheduler at {scheduler.address}")
        if host == LOOPBACK:
            say("it listens on this machine only; --host ADDRESS lets other machines join (docs/fleet.md)")
        await stop.wait()
