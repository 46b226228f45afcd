"""A fleet's processes: Dask's own scheduler, and the worker of a machine, which has patience with schedulers.

Whoever reaches a scheduler can run programs on the fleet's machines: it listens on loopback unless told otherwise, and
has no dashboard. Encryption is Dask's: its configuration says `tls`, certificates and keys (docs/fleet.md). A worker
has one measuring slot and a name that stays.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections.abc import Callable
from typing import Any

from distributed import Scheduler, Worker
from distributed.security import Security

from perbyte.errors import EnvironmentLacking, UsageError
from perbyte.fleet.machine import NAME, fleet_home, machine_label, stop_all

LOOPBACK = "127.0.0.1"
SLOT = "measure:"
_REJOIN_S = 2.0
_TAKEN = "name taken"  # what a scheduler answers to the second worker of a name
_TAKEN_S = 330.0  # a scheduler knows a worker that was lost for 300 s
_OTHER_NAME = "one worker a machine is enough; for another machine give another name by --name"


class MeasuringWorker(Worker):  # type: ignore[misc]
    """A Dask worker with the resource `measure:NAME`, of which there is one: it pins work to a machine by its name.

    Addresses change when a worker comes back, names do not: work that waits for its machine finds it again.
    """

    def __init__(self, *words: Any, name: Any = None, **more: Any) -> None:
        if not name or str(name).isdecimal():  # SSHCluster numbers its workers
            name = machine_label()
        name = str(name)
        home = fleet_home() / "dask"
        home.mkdir(parents=True, exist_ok=True)
        settings: dict[str, Any] = {
            "nthreads": 4,
            "resources": {SLOT + name: 1.0},
            "local_directory": str(home),
            "memory_limit": 0,  # a worker that is paused or killed for its memory would cost a measurement
        }
        super().__init__(*words, **(more | settings), name=name)


def run_worker(address: str, name: str, say: Callable[[str], None], *, host: str | None = None) -> None:
    """Join as `name`, or by this installation's name where it is empty, until SIGINT or SIGTERM.

    Raises UsageError for a name that no machine can have, and as `join`.
    """
    name = name or machine_label()
    if not NAME.fullmatch(name):
        raise UsageError(
            f"'{name[:80]}' is not a valid name of a machine", hint="small letters, digits, hyphens, dots"
        )
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    asyncio.run(join(address, name, say, host=host))


async def join(address: str, name: str, say: Callable[[str], None], *, host: str | None = None) -> None:
    """Be a worker of the scheduler at `address` until SIGINT or SIGTERM; join again whenever it was lost.

    Raises EnvironmentLacking where another worker keeps the name for longer than one that was lost would.
    """
    stop = _stop_signalled()
    told, taken_since = "", 0.0
    while not stop.is_set():
        ended = asyncio.create_task(stop.wait())
        try:
            async with MeasuringWorker(address, name=name, host=host, death_timeout=20) as worker:
                say(f"joined {address} as {worker.name}")
                told, taken_since = "", 0.0
                await asyncio.wait(
                    {asyncio.create_task(worker.finished()), ended}, return_when=asyncio.FIRST_COMPLETED
                )
                if stop.is_set():
                    say("leaving: the current measurement ends cleanly and is kept")
                    stop_all()
        except (OSError, TimeoutError, ValueError, RuntimeError) as error:
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


def _whole(error: BaseException) -> str:
    """What an error says, with what it came from."""
    texts: list[str] = []
    step: BaseException | None = error
    while step is not None and len(texts) < 10:
        texts.append(str(step))
        step = step.__cause__ or step.__context__
    return " ".join(texts)


def _stop_signalled() -> asyncio.Event:
    """What SIGINT or SIGTERM sets."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


def run_scheduler(host: str, port: int, say: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM. Raises EnvironmentLacking for an address that cannot be had."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        asyncio.run(serve(host, port, say))
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise EnvironmentLacking(
            f"no scheduler can listen on {host}, port {port}: {error}"[:300],
            hint="choose another --host or --port; for TLS, make certificates as in docs/fleet.md",
        ) from error


async def serve(host: str, port: int, say: Callable[[str], None]) -> None:
    """Be a scheduler on `host` until SIGINT or SIGTERM. Raises what the system says of an address it cannot have."""
    stop = _stop_signalled()
    async with Scheduler(host=host, port=port, dashboard=False, security=Security()) as scheduler:
        say(f"scheduler at {scheduler.address}")
        if host == LOOPBACK:
            say(
                "only this machine reaches it: --host ADDRESS lets others in, docs/fleet.md says what that means"
            )
        await stop.wait()
