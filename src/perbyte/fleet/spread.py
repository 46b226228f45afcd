"""A map over pieces of work on Dask, whose results come in the order of the pieces.

Only as many pieces are on their way as keep all workers busy, so that memory does not grow with the number of pieces.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import dask
from distributed import Client, LocalCluster

from perbyte.fleet.conduct import connected

_AHEAD = 3  # pieces for each thread of a worker


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
        threads = sum(one["nthreads"] for one in client.scheduler_info(n_workers=-1)["workers"].values())
        yield lambda work, pieces: _ordered(client, work, pieces, _AHEAD * max(threads, 1))


def _ordered(client: Client, work: Callable[[Any], Any], pieces: Sequence[Any], ahead: int) -> Iterator[Any]:
    waiting: deque[Any] = deque()
    for piece in pieces:
        waiting.append(client.submit(work, piece, pure=False))
        if len(waiting) >= ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
