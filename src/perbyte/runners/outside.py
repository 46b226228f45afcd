"""What the kernel says of a process: the CPU time it took, its threads, and the processes it started.

Read from the kernel's accounts, so it owes nothing to what the process says of itself. Linux only.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Iterable
from pathlib import Path

# collectors of garbage go on for some milliseconds after an answer
_ASLEEP_S, _PAUSE_S = 20e-3, 0.1e-3
_PROCESS_CLOCK = 2  # CPUCLOCK_SCHED of linux/include/linux/posix-timers.h: time on a core, in nanoseconds


def cpu_s(pid: int) -> float:
    """Seconds of CPU time that all threads of a process have taken; NaN where there is no such process."""
    try:
        return time.clock_gettime((~pid << 3) | _PROCESS_CLOCK)
    except OSError:
        return math.nan


def thread_cpu_s(pid: int) -> dict[int, float]:
    """Seconds of CPU time that each living thread of a process has taken; empty where nobody can tell.

    The kernel brings a thread's account up to date when it leaves its core, so the process has to be asleep: it is
    waited for, 20 milliseconds at the most.
    """
    end = time.monotonic() + _ASLEEP_S
    while time.monotonic() < end:
        seconds_of = {}
        with contextlib.suppress(OSError, ValueError, IndexError):
            for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - thrice a look, in a millisecond
                if _content(pid, task, "stat").rpartition(b")")[2].split(None, 1)[0] == b"R":
                    break
                seconds_of[int(task)] = int(_content(pid, task, "schedstat").split()[0]) * 1e-9
            else:
                return seconds_of
        time.sleep(_PAUSE_S)  # its threads may want this very core
    return {}


def states(pids: Iterable[int]) -> set[str]:
    """The states of all threads of processes, as letters of proc(5): R running, S asleep, D at a disk, T stopped."""
    letters = set()
    for pid in pids:
        with contextlib.suppress(OSError, IndexError):
            for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - as above
                letters.add(_content(pid, task, "stat").rpartition(b")")[2].split(None, 1)[0].decode())
    return letters


def _content(pid: int, task: str, name: str) -> bytes:
    with open(f"/proc/{pid}/task/{task}/{name}", "rb") as file:  # noqa: PTH123
        return file.read()


def descendants(pid: int) -> list[int]:
    """The living processes that a process has started, their own included; those it disowned are not seen."""
    pids: list[int] = []
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        children = _children(parent)
        pids += children
        waiting += children
    return pids


def _children(pid: int) -> list[int]:
    children: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError, ValueError):
                children += map(int, (task / "children").read_text(encoding="ascii").split())
    return children


def marked(mark: str, after: int) -> list[int]:
    """The living processes whose environment holds `mark`, whoever is their parent, as far as it can be read.

    Only those with a higher number than `after` are looked at: a process is older than what it starts.
    """
    pids = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit() and int(place.name) > after:
            with contextlib.suppress(OSError):
                if mark.encode() in (place / "environ").read_bytes():
                    pids.append(int(place.name))
    return pids
