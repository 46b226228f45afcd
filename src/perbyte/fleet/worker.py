"""A machine's worker: one measuring slot, a name that stays, and patience with schedulers that go away."""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from typing import Any

from distributed import Worker

from perbyte.errors import EnvironmentLacking, UsageError
from perbyte.fleet.machine import NAME, fleet_home, machine_label, stop_all

SLOT = "measure:"
DOOR = "at:"
_DOORS = 1000.0
_REJOIN_S = 2.0
_TAKEN = "name taken"  # what a scheduler answers to the second worker of a name
_TAKEN_S = 330.0  # a scheduler knows a worker that was lost for 300 s


_OTHER_NAME = "one worker a machine is enough; for another machine give another name by --name"


class MeasuringWorker(Worker):  # type: ignore[misc]
    """A Dask worker with the resources `measure:NAME` (one) and `at:NAME`, which pin work to a machine by its name.

    Addresses change when a worker comes back, names do not: work that waits for its machine finds it again.
    """

    def __init__(self, *words: Any, name: Any = None, **more: Any) -> None:
        name = (
            str(name) if name and not str(name).isdecimal() else machine_label()
        )  # SSHCluster numbers its workers
        home = fleet_home() / "dask"
        home.mkdir(parents=True, exist_ok=True)
        settings: dict[str, Any] = {
            "nthreads": 4,
            "resources": {SLOT + name: 1.0, DOOR + name: _DOORS},
            "local_directory": str(home),
            "memory_limit": 0,  # a worker that is paused or killed for its memory would cost a measurement
        }
        super().__init__(*words, **(more | settings), name=name)


def run(address: str, name: str, say: Any, *, host: str | None = None) -> None:
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


async def join(address: str, name: str, say: Any, *, host: str | None = None) -> None:
    """Be a worker of the scheduler at `address` until SIGINT or SIGTERM; join again whenever it was lost.

    Raises EnvironmentLacking where another worker keeps the name for longer than one that was lost would.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
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
                say(
                    f"{text}: {_OTHER_NAME}; trying again, it may be gone soon"
                    if taken
                    else f"{text}: trying again"
                )
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
