"""The scheduler of a fleet: Dask's own, on loopback unless told otherwise, without its dashboard.

Whoever reaches a scheduler can run programs on the fleet's machines; so nobody else's machine reaches it by default.
Encryption is Dask's: its configuration says `tls`, certificates and keys (docs/fleet.md).
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable

from distributed import Scheduler
from distributed.security import Security

from perbyte.errors import EnvironmentLacking

LOOPBACK = "127.0.0.1"
PORT = 8786


def run(host: str, port: int, say: Callable[[str], None]) -> None:
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
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with Scheduler(host=host, port=port, dashboard=False, security=Security()) as scheduler:
        say(f"scheduler at {scheduler.address}")
        if host == LOOPBACK:
            say(
                "only this machine reaches it: --host ADDRESS lets others in, docs/fleet.md says what that means"
            )
        await stop.wait()
