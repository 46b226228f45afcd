from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from fake_scripts import fault, lie, row

from perbyte.errors import (
    EnvironmentLacking,
    RunnerCrashed,
    RunnerEnded,
    RunnerFlooded,
    RunnerGarbled,
    RunnerRefused,
    RunnerSpokeOutOfTurn,
    RunnerTimedOut,
    RunnerVersionMismatch,
    UsageError,
)
from perbyte.model import Cell, KnownAnswer
from perbyte.protocol import material
from perbyte.runners import Session, TimeLimits, process
from perbyte.runners.process import STDERR_KEPT, has_fixed_layout
from perbyte.runners.spec import RunnerSpec

PATIENT = TimeLimits()  # tests run on busy machines; only a test about time limits may depend on one
HASTY = TimeLimits(measure=0.2, quit=0.3)
CELL = Cell("fake", "aes-128-ecb", "encrypt", 16, "message/1")


def gone(pid: int, within_s: float = 2.0) -> bool:
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        try:
            state, parent = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[:2]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z" and int(parent) != os.getpid():
            return True  # dead; whoever inherited it reaps it in its own time
        time.sleep(0.01)
    return False


def burst(session: Session, handle: int, **more):
    asked = {"samples": 5, "limit_ms": 100.0, "contention_floor": 5000.0, **more}
    return session.measure(handle, cell=CELL, epoch=0, round=0, **asked)


def prepared(session: Session, size: int = 16, contract: str = "message/1") -> int:
    return session.prepare("aes-128-ecb", "encrypt", contract, size, seed=7, offset=64)


def test_a_whole_conversation(fake_runners, spare_core):
    [spec] = fake_runners({"name": "alpha", "library_version": "3.2.1"})
    with Session(spec, core=spare_core, twin=1) as session:
        assert os.sched_getaffinity(session.process.pid) == {spare_core}
        hello = session.hello()
        assert (hello.runner, hello.library_version, hello.tier) == ("alpha", "3.2.1", "full")
        calibration = session.calibrate(5, epoch=2)
        assert calibration.process == ("alpha", "full", 1)
        assert calibration.epoch == 2
        handle = prepared(session)
        taken = burst(session, handle, calls=3)
        assert taken.digest == session.check_calls(handle, 3).digest
        assert taken.burst.cell == CELL
        assert len(taken.burst) == 5
        assert taken.burst.calls == 3
        assert session.round_trip(handle).passed
        session.release(handle)
        with pytest.raises(RunnerRefused) as refused:
            session.check_calls(handle, 1)
        assert refused.value.code == "bad-handle"
        pid = session.process.pid
        assert session.alive
    assert gone(pid)


def test_the_orchestrator_keeps_its_own_cores_and_layout(fake_runners, spare_core):
    before = os.sched_getaffinity(0), Path("/proc/self/personality").read_text()
    [spec] = fake_runners({})
    with Session(spec, core=spare_core) as session:
        assert Path(f"/proc/{session.process.pid}/personality").read_text() == before[1]
    assert (os.sched_getaffinity(0), Path("/proc/self/personality").read_text()) == before


def test_the_system_places_each_process_anew_and_says_where_it_does_not(fake_runners):
    [spec] = fake_runners({})
    if Path("/proc/sys/kernel/randomize_va_space").read_text().strip() != "2":
        pytest.skip("address space randomisation is off here")

    def stack() -> str:
        with Session(spec) as session:
            session.hello()
            assert not session.layout_fixed
            maps = Path(f"/proc/{session.process.pid}/maps").read_text().splitlines()
            return next(line.split()[0] for line in maps if line.endswith("[stack]"))

    assert len({stack() for _ in range(4)}) > 1


@pytest.mark.skipif(not shutil.which("setarch"), reason="setarch is not installed")
def test_a_process_at_one_place_is_said_to_be():
    with subprocess.Popen(["setarch", "-R", "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdin.write(b"here\n")
        child.stdin.flush()
        child.stdout.readline()
        assert has_fixed_layout(child.pid)
        child.stdin.close()


def test_material_is_that_of_the_specification(fake_runners):
    [spec] = fake_runners({})
    with Session(spec) as session:
        handle = session.prepare("sha-256", "digest", "oneshot/1", 100, seed=2**64 - 1)
        import hashlib

        expected = hashlib.sha256(material.data(2**64 - 1, 100)).digest()
        answer = session.check_calls(handle, 4)
        assert answer.output == expected.hex()
        assert answer.digest == material.digest(expected)


def test_a_real_hash_passes_a_known_answer_and_a_liar_fails_it(fake_runners):
    known = KnownAnswer(
        algorithm="sha-256",
        operation="digest",
        source="FIPS 180-4",
        input="616263",
        output="ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    )
    honest, liar = fake_runners({"name": "honest"}, {"name": "liar", "lies": [lie("vector")]})
    for spec, right in ((honest, True), (liar, False)):
        with Session(spec) as session:
            handle = session.prepare("sha-256", "digest", "oneshot/1", 64, seed=1)
            assert (session.check_vector(handle, known).output == known.output) is right


def test_identity_hashes_the_loaded_object(fake_runners):
    import hashlib

    [spec] = fake_runners({})
    with Session(spec) as session:
        identity = session.identity()
    content = Path(identity.object_path).read_bytes()
    assert identity.object_sha256 == hashlib.sha256(content).hexdigest()
    assert identity.runner == spec.name


def test_a_tier_sets_the_environment_and_is_answered(fake_runners):
    [spec] = fake_runners({"tiers": {"soft": 10}, "operations": [row(per_call=160, per_byte=0)]})
    ticks = {}
    for cpu in ("full", "soft"):
        with Session(spec, cpu=cpu) as session:
            assert session.hello().tier == cpu
            ticks[cpu] = burst(session, prepared(session), calls=1000).burst.ticks[0]
    assert 9.5 < ticks["soft"] / ticks["full"] < 10.5


def test_another_tier_than_asked_for_is_refused(fake_runners):
    [spec] = fake_runners({"tier": "full"})
    with Session(spec, cpu="soft") as session, pytest.raises(RunnerRefused):
        session.hello()


def test_an_unknown_tier_and_an_unusable_core(fake_runners):
    [spec] = fake_runners({})
    with pytest.raises(UsageError):
        Session(spec, cpu="no-such-tier")
    before = os.sched_getaffinity(0)
    with pytest.raises(EnvironmentLacking):
        Session(spec, core=4000)
    assert os.sched_getaffinity(0) == before


def test_a_program_that_is_not_there(fake_runners):
    [spec] = fake_runners({})
    with pytest.raises(EnvironmentLacking):
        Session(spec, command=["./no-such-program"])


FAULTS = [
    (fault("measure", "crash"), RunnerCrashed, "SIGSEGV"),
    (fault("measure", "crash", how="SIGKILL"), RunnerCrashed, "SIGKILL"),
    (fault("measure", "crash", how=3), RunnerCrashed, "status 3"),
    (fault("measure", "end"), RunnerEnded, "without an answer"),
    (fault("measure", "close"), RunnerEnded, "closed"),
    (fault("measure", "hang"), RunnerTimedOut, "0."),
    (fault("measure", "spin"), RunnerTimedOut, "0."),
    (fault("measure", "half"), RunnerTimedOut, "0."),
    (fault("measure", "flood"), RunnerFlooded, "1048576"),
    (fault("measure", "text", text="Segmentation fault"), RunnerGarbled, "Segmentation"),
    (fault("measure", "text", text='{"id": 3, "ok": tru'), RunnerGarbled, "runner"),
    (fault("measure", "text", text="\xff\xfe"), RunnerGarbled, "runner"),
    (fault("measure", "text", text="[" * 200_000), RunnerGarbled, "runner"),
    (fault("measure", "stray"), RunnerSpokeOutOfTurn, "runner"),
    (fault("measure", "patch", fields={"id": 99}), RunnerGarbled, "99"),
    (fault("measure", "patch", fields={"ticks": [1]}), RunnerGarbled, "length"),
    (fault("measure", "patch", fields={"ticks": [10**30] * 5}), RunnerGarbled, "runner"),
    (fault("measure", "patch", fields={}, without=["digest"]), RunnerGarbled, "digest"),
    (fault("measure", "patch", fields={"calls": 0}), RunnerGarbled, "runner"),
]


@pytest.mark.parametrize(("script", "error", "words"), FAULTS, ids=[str(n) for n in range(len(FAULTS))])
def test_every_fault_has_its_own_error_and_ends_the_process(fake_runners, script, error, words):
    [spec] = fake_runners({"faults": [script | {"nth": 2}]})
    session = Session(spec, limits=HASTY if error is RunnerTimedOut else PATIENT)
    handle = prepared(session)
    session.measure(handle, cell=CELL, epoch=0, round=0, samples=5, limit_ms=5000)
    started = time.monotonic()

    def twice() -> None:
        burst(session, handle)
        time.sleep(0.2)
        burst(session, handle)  # stray output is seen here at the latest

    with pytest.raises(error, match=words) as first:
        twice()
    assert time.monotonic() - started < 10
    assert not session.alive
    assert gone(session.process.pid)
    with pytest.raises(type(first.value)):
        session.hello()
    session.close()


def test_the_last_words_are_told_and_bounded(fake_runners):
    words = "x" * 20000 + " out of cheese"
    [spec] = fake_runners({"faults": [fault("hello", "crash", stderr=words)]})
    with Session(spec) as session, pytest.raises(RunnerCrashed, match="out of cheese") as crash:
        session.hello()
    assert len(str(crash.value)) < STDERR_KEPT + 300


def test_much_on_stderr_blocks_nobody(fake_runners):
    [spec] = fake_runners({"faults": [fault("hello", "none", stderr="y" * 1_000_000)]})
    with Session(spec) as session:
        assert session.hello().runner == "fake"
        assert len(session.process.stderr) <= STDERR_KEPT


def test_output_before_the_first_question(fake_runners):
    [spec] = fake_runners({"faults": [fault("start", "text", text="welcome")]})
    with Session(spec) as session:
        select.select([session.process._out], [], [], 60)
        with pytest.raises(RunnerSpokeOutOfTurn, match="welcome"):
            session.hello()


def test_another_version(fake_runners):
    [spec] = fake_runners({"protocol": 2})
    with Session(spec) as session, pytest.raises(RunnerVersionMismatch, match="2"):
        session.hello()


def test_a_refusal_is_an_ordinary_answer(fake_runners):
    [spec] = fake_runners({"faults": [fault("prepare", "refuse", code="library", message="no entropy")]})
    with Session(spec) as session:
        with pytest.raises(RunnerRefused, match="no entropy") as refused:
            prepared(session)
        assert refused.value.code == "library"
        assert prepared(session)


def test_a_runner_that_will_not_quit_is_killed(fake_runners):
    [spec] = fake_runners({"faults": [fault("quit", "stay")]})
    session = Session(spec, limits=HASTY)
    session.hello()
    with pytest.raises(RunnerTimedOut):
        session.quit()
    assert gone(session.process.pid)


def test_what_a_runner_started_is_killed_with_it(fake_runners):
    [spec] = fake_runners({"faults": [fault("hello", "fork"), fault("prepare", "crash")]})
    session = Session(spec, limits=HASTY)
    session.hello()
    children = Path(f"/proc/{session.process.pid}/task/{session.process.pid}/children").read_text().split()
    assert len(children) == 1
    with pytest.raises(RunnerCrashed):  # although the child still holds the pipe open
        prepared(session)
    assert gone(int(children[0]))


def test_ctrl_c_in_the_middle_of_an_exchange_leaves_nothing_behind(fake_runners):
    [spec] = fake_runners({"faults": [fault("hello", "hang")]})
    with Session(spec) as session:
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            session.hello()
    assert gone(session.process.pid)


ORPHAN = """
import sys, time
from perbyte.runners.locate import read_spec
from perbyte.runners import Session
from pathlib import Path
session = Session(read_spec(Path(sys.argv[1])))
print(session.process.pid, flush=True)
session.hello()
session.calibrate(1, epoch=0)
"""


@pytest.mark.parametrize("do", ["hang", "spin"])
def test_no_orphan_when_the_orchestrator_is_killed(fake_runners, do):
    [spec] = fake_runners({"faults": [fault("calibrate", do)]})
    orchestrator = subprocess.Popen(
        [sys.executable, "-c", ORPHAN, str(spec.here / "runner.toml")], stdout=subprocess.PIPE, text=True
    )
    assert orchestrator.stdout
    pid = int(orchestrator.stdout.readline())
    time.sleep(0.3)
    orchestrator.kill()
    orchestrator.wait()
    orchestrator.stdout.close()
    assert gone(pid)


def test_the_orchestrator_sleeps_while_it_waits(fake_runners):
    [spec] = fake_runners({"faults": [fault("hello", "slow", seconds=0.5)]})
    with Session(spec) as session:
        before = time.thread_time()
        session.hello()
        assert time.thread_time() - before < 0.1


@pytest.mark.parametrize(
    ("do", "words"),
    [("stop", "is stopped, as by SIGSTOP, for 1 s"), ("hang", "sleeps without taking CPU time, for 1 s")],
)
def test_what_does_not_work_is_not_waited_for(fake_runners, monkeypatch, do, words):
    monkeypatch.setattr(process, "STALLED_S", {"T": 0.6, "S": 0.6})
    [spec] = fake_runners({"faults": [fault("prepare", do)]})
    with Session(spec, limits=PATIENT) as session, pytest.raises(RunnerTimedOut, match=words):
        prepared(session)
    assert gone(session.process.pid)


class Asleep:
    """A clock, and a process that sleeps but for the CPU time that it is given."""

    def __init__(self, monkeypatch, letters):
        self.now = self.cpu_s = 0.0
        for name, value in (
            ("time", SimpleNamespace(monotonic=lambda: self.now)),
            ("cpu_s", lambda pid: self.cpu_s),
            ("states", lambda pids: letters),
            ("descendants", lambda pid: []),
        ):
            monkeypatch.setattr(process, name, value)
        self.pid, self.asleep_s, self._asleep_s = 1, 0.0, 2.0

    def _told(self, what):
        return what

    def answers_after(self, seconds, look_s=0.1):
        """Wait for an answer that comes after a sleep, and after some work."""
        worked = self.now, float("nan")
        for _ in range(round(seconds / look_s)):
            self.now += look_s
            worked = process.RunnerProcess._require_work(self, worked)
        self.cpu_s += 1.0


def test_sleep_before_answers_counts_in_all(monkeypatch):
    sleeper = Asleep(monkeypatch, {"S"})
    sleeper.answers_after(1.0)
    sleeper.answers_after(1.0)
    assert sleeper.asleep_s == pytest.approx(1.8), "the first look of a wait only begins"
    with pytest.raises(RunnerTimedOut, match="sleeps without taking CPU time, for 2 s"):
        sleeper.answers_after(1.0)


@pytest.mark.parametrize("letters", [{"R"}, {"S", "R"}, {"D"}])
def test_what_waits_for_a_core_or_a_disk_does_not_sleep(monkeypatch, letters):
    waiting = Asleep(monkeypatch, letters)
    for _ in range(20):
        waiting.answers_after(1.0)
    assert waiting.asleep_s == 0


def test_what_works_or_wakes_is_waited_for(fake_runners, monkeypatch):
    monkeypatch.setattr(process, "STALLED_S", {"T": 0.6, "S": 60.0})
    [spec] = fake_runners({"faults": [fault("prepare", "slow", seconds=1.2), fault("hello", "spin")]})
    with Session(spec, limits=PATIENT) as session:
        prepared(session)
    with (
        Session(spec, limits=TimeLimits(hello=1.5)) as session,
        pytest.raises(RunnerTimedOut, match="no answer"),
    ):
        session.hello()


def test_a_runner_that_shouts_is_ended(fake_runners, monkeypatch):
    monkeypatch.setattr(process, "STDERR_LIMIT", 3 << 20)
    [spec] = fake_runners({"faults": [fault("prepare", "shout", mebibytes=2), fault("check", "shout")]})
    with Session(spec, limits=PATIENT) as session:
        handle = prepared(session)
        with pytest.raises(RunnerFlooded, match="more than 3 MiB on standard error"):
            session.check_calls(handle, 1)


def test_a_short_run_waits_less_for_an_answer():
    short = TimeLimits.within(4.0)
    assert (short.prepare, short.check, short.measure) == (10.0, 5.0, 5.0)
    assert TimeLimits.within(5.0).hello == TimeLimits().hello
    assert TimeLimits.within(600.0) == TimeLimits()


def test_many_sessions_at_once_keep_apart(fake_runners):
    specs = fake_runners(*({"name": f"r{i}"} for i in range(4)))
    sessions = [Session(spec) for spec in specs]
    try:
        assert [session.hello().runner for session in sessions] == [spec.name for spec in specs]
        descriptors = len(list(Path("/proc/self/fd").iterdir()))
    finally:
        for session in sessions:
            session.close()
    assert len(list(Path("/proc/self/fd").iterdir())) == descriptors - 4 * 4


def test_two_fakes_agree_on_every_byte(fake_runners):
    specs: list[RunnerSpec] = fake_runners({"name": "a"}, {"name": "b", "seed": 99})
    digests = []
    for spec in specs:
        with Session(spec) as session:
            results = []
            for row_ in session.hello().operations:
                for size in (16, 512):
                    handle = session.prepare(row_.algorithm, row_.operation, row_.contract, size, seed=7)
                    results.append([session.check_calls(handle, calls).digest for calls in (1, 2, 17, 18)])
            digests.append(results)
    assert digests[0] == digests[1]
    assert len({tuple(digest) for digest in digests[0]}) > len(digests[0]) / 4
