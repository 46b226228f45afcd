"""A run leaves others their part: pauses between bursts, real-time stretches that end, and none of it when gentle."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from perbyte import places
from perbyte.measure import run as whole_run
from perbyte.measure.cores import LEAST_S, SHARE, Aside, Share, kept_awake, programs_running
from perbyte.protocol.messages import Measure
from perbyte.runners import find
from perbyte.runners.session import Session


class Made:
    """A clock, a count of threads that could run, and the sleeps that were asked for."""

    def __init__(self, running: int) -> None:
        self.now = self.own = 0.0
        self.running = running
        self.slept: list[float] = []

    def share(self, cores: int, loops: int) -> Share:
        return Share(
            range(cores),
            loops,
            running=lambda: self.running,
            sleep=self.sleep,
            clock=lambda: self.now,
            own_s=lambda: self.own,
        )

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def others(count: int, loops: int) -> Made:
    """`count` programs that could run, beside this one and its loops."""
    return Made(count + loops + 1)


@pytest.mark.parametrize("cores", [1, 2, 8])
@pytest.mark.parametrize("at_once", [1, 2, 4])
@pytest.mark.parametrize("own", [0.0, 0.3])
def test_others_that_wait_get_their_share_of_the_cores_in_the_long_run(monkeypatch, cores, at_once, own):
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    at_once = min(at_once, cores)
    made = others(16, cores)
    share = made.share(cores, cores)
    worked = 0.0
    for burst_s in (0.008, 0.03, 2.0, 0.001) * 5:
        made.now += burst_s
        made.own += own * burst_s
        worked += (at_once + own) * burst_s
        share.give_back(at_once)
    unasked = (at_once + own) * LEAST_S  # what was worked since the last question
    assert worked <= (SHARE + 1e-9) * cores * made.now + unasked
    assert share.paused_s == pytest.approx(sum(made.slept))
    assert bool(made.slept) == (at_once + own > SHARE * cores)


def test_nobody_waits_where_there_is_a_core_for_each(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    for running in (0, 1):
        made = others(running, 1)
        share = made.share(1, 1)
        made.now += 1.0
        share.give_back()
        assert not made.slept
    made = others(2, 1)
    share = made.share(1, 1)
    made.now += 1.0
    share.give_back()
    assert made.slept == [pytest.approx(1 / SHARE - 1)]


def test_what_the_system_does_not_say_makes_no_pause():
    made = Made(0)
    share = made.share(1, 1)
    made.now += 1.0
    share.give_back()
    assert not made.slept


def test_this_process_counts_among_those_that_run():
    assert programs_running() >= 1


def native(name: str = "reference"):
    spec = find(name)
    if not spec.out().is_dir():
        pytest.skip(f"the runner '{name}' is not built")
    return spec


@pytest.mark.native
def test_a_runner_is_urgent_for_no_longer_than_its_samples(spare_core):
    """Where it may have real-time scheduling at all; between two questions it has none."""
    with Session(native(), core=spare_core) as session:
        given = os.sched_getscheduler(session.process.pid)
        session.hello()
        assert os.sched_getscheduler(session.process.pid) == os.SCHED_OTHER
        session.calibrate(5.0, epoch=0)
        handle = session.prepare("probe-imul", "run", "stream/1", 64, seed=1)
        assert os.sched_getscheduler(session.process.pid) == os.SCHED_OTHER
        expected = {os.SCHED_OTHER, given}  # within a burst of 60 ms, 10 of which are urgent
        seen: set[int] = set()
        for _ in range(100):  # whoever looks may be kept from it
            seen |= {os.sched_getscheduler(session.process.pid) for _ in long_burst(session, handle)}
            assert os.sched_getscheduler(session.process.pid) == os.SCHED_OTHER
            if seen == expected:
                break
        assert seen == expected


@pytest.mark.native
def test_a_call_that_outlasts_its_stretch_is_ordinary_again(spare_core):
    """The kernel ends the stretch of a call that nobody knew to be long; the runner lives on."""
    with Session(native(), core=spare_core) as session:
        session.hello()
        session.calibrate(5.0, epoch=0)
        handle = session.prepare("probe-imul", "run", "stream/1", 1 << 28, seed=1)
        looks = long_burst(session, handle, calls=1, seconds=0.15)  # of a call of 0.2 s or so
        seen = [(time.monotonic(), os.sched_getscheduler(session.process.pid)) for _ in looks]
        urgent = [when for when, policy in seen if policy == os.SCHED_FIFO]
        assert not urgent or urgent[-1] - urgent[0] < 0.1, "20 ms, and a step or two of the kernel's timer"
        assert seen[-1][1] == os.SCHED_OTHER
        assert session.alive


def long_burst(session: Session, handle: int, calls: int = 0, seconds: float = 0.05):
    """Ask for a burst of 60 ms, or of one call, and look again and again for `seconds` while it is under way."""
    from perbyte.model import Cell

    cell = Cell("reference", "probe-imul", "run", 64, "stream/1")
    request = Measure(id=session.next_id(), handle=handle, samples=4000, limit_ms=60.0, calls=calls)
    asked = session.send_measure(request, cell=cell, epoch=0, round=1)
    with Aside() as aside:  # whoever shares the core sees nothing of a stretch
        aside.leave(next(iter(os.sched_getaffinity(session.process.pid))))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            yield
            time.sleep(0.001)
        session.receive_measure(asked)


@pytest.mark.native
def test_a_gentle_runner_has_no_priority(spare_core):
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with Session(native(), core=spare_core, gentle=True) as session:
        assert os.sched_getscheduler(session.process.pid) == os.SCHED_OTHER
        assert os.getpriority(os.PRIO_PROCESS, session.process.pid) == max(before, 0)
        session.hello()
        session.calibrate(5.0, epoch=0)
        handle = session.prepare("probe-imul", "run", "stream/1", 64, seed=1)
        assert {os.sched_getscheduler(session.process.pid) for _ in long_burst(session, handle)} == {
            os.SCHED_OTHER
        }


@pytest.mark.native
def test_a_loop_that_keeps_a_core_awake_weighs_nothing_in_a_session_of_its_own(spare_core):
    """Where Linux shares cores between sessions, the lowest priority within ours would still be half of a core."""
    with kept_awake([native()], [spare_core]) as awake:
        [loop] = awake.loops
        assert os.getsid(loop.pid) == loop.pid
        weight, end = Path(f"/proc/{loop.pid}/autogroup"), time.monotonic() + 30
        if weight.is_file() and weight.read_text(encoding="ascii").strip():
            while (
                weight.read_text(encoding="ascii").split()[-1] != "19"
            ):  # it says so itself, when it has begun
                assert time.monotonic() < end
                time.sleep(0.05)


@pytest.mark.parametrize("of_a_test", [False, True])
def test_a_run_cares_for_its_cores_but_where_tests_share_them(lab, ecb, monkeypatch, of_a_test):
    if not of_a_test:
        monkeypatch.delenv(places.TEST_LOCKS)
    awake, shared = [], []

    class Noted(Share):
        def __init__(self, cores, loops):
            shared.append(tuple(cores))
            super().__init__(cores, loops)

    monkeypatch.setattr(whole_run, "Share", Noted)
    monkeypatch.setattr(
        whole_run, "kept_awake", lambda _, cores: awake.append(tuple(cores)) or kept_awake((), ())
    )
    policy = lab.policy()
    lab.run(ecb())
    assert awake == shared == [() if of_a_test else policy.cores]
