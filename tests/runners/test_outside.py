"""What is seen of a process from outside, and that nothing it started outlives it."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time

import pytest

from perbyte.runners.outside import cpu_s, descendants, thread_cpu_s
from perbyte.runners.process import RunnerProcess

# starts a child in a session of its own, disowned by its parent, tells its number and waits
_STRAY = """
import os, sys, time
read, write = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for descriptor in (0, 1, 2, read):
            os.close(descriptor)
        os.write(write, str(os.getpid()).encode())
        time.sleep(600)
    os._exit(0)
os.wait()
sys.stdin.readline()
print(os.read(read, 20).decode(), flush=True)
sys.stdin.readline()
"""

_WORKER = """
import sys, time
for line in sys.stdin:
    until = time.process_time() + 0.2
    while time.process_time() < until: pass
    print("done", flush=True)
"""
_FRONT = f"""
import subprocess, sys
worker = subprocess.Popen([sys.executable, "-c", {_WORKER!r}], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for line in sys.stdin:
    worker.stdin.write(b"\\n")
    worker.stdin.flush()
    print(worker.stdout.readline().decode().strip(), flush=True)
"""


# a thread that works on for some milliseconds after each answer, as a collector does
_COLLECTING = """
import hashlib, sys, threading
data = bytes(10_000_000)
for line in sys.stdin:
    threading.Thread(target=hashlib.sha256, args=[data]).start()
    print(flush=True)
"""


def test_threads_that_work_on_after_an_answer_are_waited_for() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", _COLLECTING], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with child:
        assert child.stdin
        assert child.stdout
        known = 0
        for _ in range(400):  # the machine may be too busy for many
            child.stdin.write(b"\n")
            child.stdin.flush()
            child.stdout.readline()
            known += bool(thread_cpu_s(child.pid))
            if known == 10:
                break
        child.stdin.close()
    assert known == 10


def test_cpu_time_is_that_of_all_threads_and_grows() -> None:
    before = cpu_s(os.getpid())
    while time.process_time() < 0.01 or cpu_s(os.getpid()) - before < 0.005:
        pass
    assert cpu_s(os.getpid()) == pytest.approx(time.process_time(), abs=0.5)
    assert math.isnan(cpu_s(2**22 + 1))


def test_children_of_children_are_seen() -> None:
    program = "import subprocess, sys; subprocess.run(['sleep', '600'])"
    with subprocess.Popen([sys.executable, "-c", program], process_group=0) as process:
        try:
            until = time.monotonic() + 30
            while not descendants(process.pid) and time.monotonic() < until:
                time.sleep(0.01)
            assert len(descendants(process.pid)) == 1
        finally:
            for pid in (*descendants(process.pid), process.pid):
                os.kill(pid, 9)


def test_a_disowned_child_in_a_session_of_its_own_does_not_survive() -> None:
    process = RunnerProcess("stray", [sys.executable, "-c", _STRAY], environment={"PATH": os.environ["PATH"]})
    stray = int(process.exchange(b"\n", 60))
    os.kill(stray, 0)
    process.kill()
    until = time.monotonic() + 30
    while time.monotonic() < until and _lives(stray):
        time.sleep(0.01)
    assert not _lives(stray)


@pytest.mark.parametrize("workers", [True, False])
def test_cpu_time_of_workers_belongs_to_who_started_them(workers: bool) -> None:
    """Only where it was said beforehand; else they are strangers."""
    process = RunnerProcess(
        "front", [sys.executable, "-c", _FRONT], environment={"PATH": os.environ["PATH"]}, workers=workers
    )
    try:
        process.exchange(b"\n", 60)
        process.find_workers()
        assert process.children() == (0 if workers else 1)
        own = cpu_s(process.pid)
        assert (process.cpu_s() - own > 0.1) == workers  # the worker took 0.2 s before it answered
        threads = process.thread_cpu_s()
        assert not threads or len(threads) == 1 + workers
        process.exchange(b"\n", 60)
        assert process.unasked_share() < 0.5
    finally:
        process.kill()


def _lives(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:  # noqa: PTH123 - gone or a zombie
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
