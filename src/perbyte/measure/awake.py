"""Cores that never halt while a run goes on.

Between two bursts nobody works on a measuring core for some 100 us. A core that halts meanwhile takes 20 to 50 us to
come back, loses clock and what it had learnt, and a virtual one may find another guest's leftovers in its registers. So
the lowest-priority process there is keeps each of them busy; whoever measures takes the core from it at once. The C SDK
brings the loop along; without a runner that is made with it the cores halt as they like.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence

from perbyte.runners import RunnerSpec


@contextlib.contextmanager
def kept_awake(specs: Iterable[RunnerSpec], cores: Sequence[int]) -> Iterator[int]:
    """Keep `cores` busy at the lowest priority; gives the number of cores for which that succeeded."""
    spec = next((spec for spec in specs if spec.native and (not spec.built or spec.out().is_dir())), None)
    started: list[subprocess.Popen[bytes]] = []
    try:
        for core in cores:
            with contextlib.suppress(OSError):
                if spec:
                    started.append(_loop(spec, core))
        yield len(started)
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait()


def _loop(spec: RunnerSpec, core: int) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [*(spec.fill(part) for part in spec.command), "keep-awake"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        process_group=0,
    )
    try:
        os.sched_setaffinity(process.pid, {core})
    except OSError:
        process.kill()
        process.wait()
        raise
    return process
