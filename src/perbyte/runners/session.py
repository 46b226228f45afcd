"""A conversation with one runner process: one method per verb, typed answers, a time limit on each.

A session is worth one epoch: it is opened, asked, measured by, and closed. Any fault (see perbyte.errors)
kills the process and ends the session; `RunnerRefused` is an ordinary answer and does not. The session
judges no figure and retries nothing: what a fault costs is the caller's decision.
"""

from __future__ import annotations

import functools
import hashlib
import os
import stat
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from msgspec import UNSET, structs

from perbyte.errors import (
    RunnerCrashed,
    RunnerEnded,
    RunnerError,
    RunnerGarbled,
    RunnerRefused,
    RunnerTimedOut,
    RunnerVersionMismatch,
)
from perbyte.model.algorithm import KnownAnswer
from perbyte.model.cell import FULL, Cell
from perbyte.model.run import RunnerIdentity
from perbyte.model.sample import Calibration, KnownProbe
from perbyte.protocol import messages
from perbyte.protocol.codec import AnswerT, decode, encode
from perbyte.protocol.messages import CheckAnswer, HelloAnswer, VerdictAnswer
from perbyte.runners import machinecode, target
from perbyte.runners.process import RunnerProcess
from perbyte.runners.spec import RunnerSpec, not_built
from perbyte.runners.taken import AskedBurst, AskedCheck, Chained, TakenBursts, UnreadBursts, bursts_of

KNOWN_CHAINS = {"add": 1.0, "rotate": 1.0, "imul": 3.0}  # core cycles per instruction of a self-check
CHAIN_TOLERANCE = 0.05
_LARGEST_OBJECT = 4 << 30
_KNOWN_ENVIRONMENT = ("PATH", "HOME", "TMPDIR", "LANG", "JAVA_HOME", "LD_LIBRARY_PATH")
LEAST_ASLEEP_S, ASLEEP_SHARE = 2.0, 0.4  # that a runner may sleep before an answer, of a budget


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Seconds allowed for an answer. `calibrate` and `measure` come on top of the request's own limit.

    `per_byte` is added for every byte that the calls of a request work on: at 2 us it lets the slowest
    cipher of the catalogue finish some tens of times over. `asleep` is for one that takes no CPU time meanwhile.
    """

    hello: float = 30.0
    prepare: float = 60.0
    check: float = 60.0
    calibrate: float = 10.0
    measure: float = 60.0
    release: float = 10.0
    quit: float = 2.0
    asleep: float = 5.0
    per_byte: float = 2e-6

    @classmethod
    def within(cls, budget_s: float) -> Self:
        """The usual limits, less where a run takes less: a runner that gives no answer costs about the budget."""
        usual, least_s = cls(), {"prepare": 10.0, "check": 5.0, "measure": 5.0}
        shorter = {name: min(getattr(usual, name), max(s, budget_s)) for name, s in least_s.items()}
        return replace(
            usual, asleep=min(usual.asleep, max(LEAST_ASLEEP_S, ASLEEP_SHARE * budget_s)), **shorter
        )


class Session:
    """One started runner on one core in one CPU tier. A context manager; leaving it ends the process."""

    def __init__(
        self,
        spec: RunnerSpec,
        *,
        cpu: str = FULL,
        core: int | None = None,
        twin: int = 0,
        limits: TimeLimits | None = None,
        command: Sequence[str] | None = None,
        gentle: bool = False,
    ) -> None:
        """Start the runner. `command` replaces the spec's.

        `gentle`: it gets no priority over other programs. Little is inherited, so that a run does not depend on it.
        Raises UsageError for an unknown tier, EnvironmentLacking when the runner is not built, cannot
        be started or not be pinned, and when it is built for another processor and there is no emulator of that.
        """
        tier = spec.tier(cpu)
        self.spec = spec
        self.cpu = cpu
        self.twin = twin
        self.limits = limits or TimeLimits()
        self.last_id = 0
        self._hello: HelloAnswer | None = None
        self._greeting: messages.Hello | None = None
        self._dismissal: messages.Quit | None = None
        self._sizes: dict[int, int] = {}
        if command is None:
            command = [spec.fill(part) for part in (*spec.command, *tier.arguments)]
            if spec.built and not Path(spec.fill("{out}")).is_dir():
                raise not_built(spec.name)
        values = {name: os.environ[name] for name in _KNOWN_ENVIRONMENT if name in os.environ}
        for more in (spec.environment, tier.environment):
            values |= {name: spec.fill(text) for name, text in more.items()}
        values |= {"PERBYTE_CPU": cpu}
        command, told = target.started(command)
        values |= told
        self.process = RunnerProcess(
            spec.name,
            command,
            environment=values,
            core=core,
            favoured=not gentle,
            undisturbed=spec.undisturbed and not gentle,
            workers=spec.workers,
            directory=spec.here,
            asleep_s=self.limits.asleep,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def layout_fixed(self) -> bool:
        """True when the system does not randomise the addresses of the process as it does by default."""
        return self.process.layout_fixed

    @property
    def alive(self) -> bool:
        """True while the process can still be asked."""
        return self.process.alive and self.process.fault is None

    def greet(self) -> None:
        """Ask who is there without waiting for the answer: `hello` must be the next question. Raises RunnerError."""
        self._greeting = messages.Hello(id=self.next_id())
        self.process.send(encode(self._greeting))

    def hello(self) -> HelloAnswer:
        """Ask who is there; asked once, remembered afterwards.

        Raises RunnerVersionMismatch, and RunnerRefused when another CPU tier is in force than was asked for.
        """
        if self._hello is None:
            if self._greeting is None:
                self.greet()
            assert self._greeting
            answer = self._read(self.process.receive(self.limits.hello), self._greeting, HelloAnswer)
            if answer.tier != self.cpu:
                raise RunnerRefused(
                    f"runner '{self.spec.name}' runs in tier '{answer.tier}', not '{self.cpu}'",
                    code="unsupported",
                )
            self._hello = answer
        return self._hello

    def identity(self) -> RunnerIdentity:
        """Who answers, with the SHA-256 of the object that holds the library's code ('' if unreadable)."""
        hello = self.hello()
        sha256 = file_sha256(hello.object)
        # a program whose code may be in the libraries that it is linked with is no witness of what they lack
        elsewhere = bool(self.spec.link) and hello.object == self.spec.command[0]
        return RunnerIdentity(
            runner=self.spec.name,
            cpu=self.cpu,
            library=hello.library,
            library_version=hello.library_version,
            license=hello.license,
            compiler=hello.compiler,
            flags=hello.flags,
            object_path=hello.object,
            object_sha256=sha256,
            cpu_features=hello.cpu_features,
            sdk=hello.sdk,
            lacks=() if elsewhere else machinecode.lacking(self.spec.language, hello.object, sha256),
            wraps=self.spec.wraps,
        )

    def prepare(
        self,
        algorithm: str,
        operation: str,
        contract: str,
        size_bytes: int,
        *,
        seed: int,
        offset: int = 0,
        input_path: Path | None = None,
    ) -> int:
        """Prepare an operation and return its handle. Raises RunnerRefused (`unsupported`, `bad-size`...).

        `seed` is an unsigned 64-bit integer; ValueError otherwise.
        """
        if not 0 <= seed < 2**64:
            raise ValueError(f"the seed {seed} is not an unsigned 64-bit integer")
        request = messages.Prepare(
            id=self.next_id(),
            algorithm=algorithm,
            operation=operation,
            contract=contract,
            size_bytes=size_bytes,
            seed=seed,
            offset=offset,
            input_path=UNSET if input_path is None else str(input_path),
        )
        limit = self.limits.prepare + self.limits.per_byte * size_bytes
        handle = self.ask(request, messages.PrepareAnswer, limit).handle
        self._sizes[handle] = size_bytes
        self.process.find_workers()
        return handle

    def check_calls(self, handle: int, calls: int) -> CheckAnswer:
        """Make `calls` untimed calls and return what the last one gave."""
        return self.receive_check(self.send_check(handle, calls))[0]

    def send_check(self, handle: int, calls: int) -> AskedCheck:
        """Ask for `calls` untimed calls; `receive_check` must be given what this returns before anything is asked."""
        request = messages.CheckCalls(id=self.next_id(), handle=handle, calls=calls)
        limit = self.limits.check + self._work_s(handle, calls)
        asked = AskedCheck(request, limit, self.process.cpu_s())
        self.process.send(encode(request))
        return asked

    def receive_check(self, asked: AskedCheck) -> tuple[CheckAnswer, float]:
        """Return what the last of the calls gave, and the seconds of CPU time that they took."""
        line = self.process.receive(asked.limit_s)
        cpu_s = self.process.cpu_s() - asked.cpu_s
        return self._read(line, asked.request, CheckAnswer), cpu_s

    def check_vector(self, handle: int, known: KnownAnswer) -> CheckAnswer:
        """Return the output for a known answer's material; RunnerRefused `unsupported` if it does not fit."""
        request = messages.CheckVector(id=self.next_id(), handle=handle, vector=vector_of(known))
        return self.ask(request, CheckAnswer, self.limits.check)

    def round_trip(self, handle: int) -> VerdictAnswer:
        """Run the operation and its inverse on the run's own input."""
        request = messages.CheckRoundTrip(id=self.next_id(), handle=handle)
        return self.ask(request, VerdictAnswer, self.limits.check + self._work_s(handle, 1))

    def forgery(self, handle: int) -> VerdictAnswer:
        """See that changed tags and changed data are refused."""
        request = messages.CheckForgery(id=self.next_id(), handle=handle)
        return self.ask(request, VerdictAnswer, self.limits.check + self._work_s(handle, 1))

    def calibrate(
        self,
        limit_ms: float,
        *,
        epoch: int,
        cores: Sequence[int] = (),
        patience_ms: float = 0.0,
        known: KnownProbe | None = None,
    ) -> Calibration:
        """Let the process look at its clock for about `limit_ms` milliseconds.

        It may use `cores` from then on, the first one first; none: the one it was pinned to. For moments alone on a
        core it waits up to `patience_ms`. `known` is what another process found out (None: find out).
        """
        known = known or KnownProbe()
        request = messages.Calibrate(
            id=self.next_id(),
            limit_ms=limit_ms,
            cores=",".join(map(str, cores)) or UNSET,
            patience_ms=patience_ms or UNSET,
            contention_window=known.window or UNSET,
            contention_floor=known.floor or UNSET,
            contention_shared=known.shared or UNSET,
        )
        limit = (limit_ms + 3 * patience_ms) / 1000 + self.limits.calibrate
        answer = self.ask(request, messages.CalibrateAnswer, limit)
        facts = structs.asdict(answer)
        unlike = [
            f"{name} reads {answer.selfcheck[name]:.4g}, not {known:g}"
            for name, known in KNOWN_CHAINS.items()
            if abs(answer.selfcheck.get(name, known) / known - 1) > CHAIN_TOLERANCE
        ]
        if answer.cycle_source != "none" and unlike:
            facts |= {"cycle_source": "none", "reason": f"the self-check fails: {', '.join(unlike)}"}
        return Calibration(
            runner=self.spec.name,
            cpu=self.cpu,
            twin=self.twin,
            epoch=epoch,
            layout_fixed=self.layout_fixed,
            **{name: facts[name] for name in answer.__struct_fields__ if name in Calibration.__slots__},
        )

    def watch(self, limit_ms: float) -> messages.WatchAnswer:
        """See for `limit_ms` milliseconds who else is on the core; the next call looks at the next core.

        Raises RunnerRefused when the runner cannot do that.
        """
        request = messages.Watch(id=self.next_id(), limit_ms=limit_ms)
        return self.ask(request, messages.WatchAnswer, limit_ms / 1000 + self.limits.calibrate)

    def measure(self, handle: int, *, cell: Cell, epoch: int, round: int, **fields: Any) -> TakenBursts:
        """Take a burst; `fields` are those of `messages.Measure`."""
        request = messages.Measure(id=self.next_id(), handle=handle, **fields)
        return self.take(request, cell=cell, epoch=epoch, round=round)

    def take(self, request: messages.Measure, *, cell: Cell, epoch: int, round: int) -> TakenBursts:
        """Take a burst of `cell`."""
        return self.receive_measure(self.send_measure(request, cell=cell, epoch=epoch, round=round))

    def send_measure(self, request: messages.Measure, *, cell: Cell, epoch: int, round: int) -> AskedBurst:
        """Ask for a burst of `cell`. Nothing else may be asked before `receive_measure` was given what this returns."""
        forks = request.forks or 1
        work_s = self._work_s(request.handle, max(request.calls, 1))
        limit = self.limits.measure + forks * (request.limit_ms / 1000 + work_s)
        asked = AskedBurst(cell, epoch, round, request, limit, self.process.cpu_s(), time.monotonic())
        self.process.send(encode(request))
        return asked

    def receive_measure(self, asked: AskedBurst) -> TakenBursts:
        """Return what was asked for, as soon as it is taken. The orchestrator sleeps until then."""
        return self.read_measure(asked, self.await_measure(asked))

    def await_measure(self, asked: AskedBurst) -> UnreadBursts:
        """Return what was asked for as it came, to be read when there is time. The orchestrator sleeps until then."""
        line = self.process.receive(asked.limit_s)
        return UnreadBursts(line, self.process.cpu_s() - asked.cpu_s, time.monotonic() - asked.since_s)

    def read_measure(self, asked: AskedBurst, unread: UnreadBursts) -> TakenBursts:
        """Read what `await_measure` returned. A fault in it ends the process."""
        answer = self._read(unread.line, asked.request, messages.MeasureAnswer)
        ticks = (answer.whole_ticks, answer.warm_ticks, answer.wait_ticks)
        bursts = bursts_of(asked, answer)
        times = (unread.cpu_s, unread.wall_s)
        return TakenBursts(
            bursts, answer.digest, *times, bool(answer.forked), *ticks, placed=tuple(answer.placed)
        )

    def audit(self, handle: int, *, seed: int, calls: int, control: bool = False, repeat: int = 0) -> Chained:
        """Make a chain of calls that follows from `seed` (SPEC 11); `control`: all that it takes but the timed calls.

        `repeat`: the chain begins anew after so many calls (0: never), so that its data comes again. A runner that does
        not know these does as it always does, and its answer does not say them. Raises
        RunnerRefused (`unsupported`...).
        """
        request = messages.AuditCalls(
            id=self.next_id(),
            handle=handle,
            seed=seed,
            calls=calls,
            control=control or UNSET,
            repeat=repeat or UNSET,
        )
        cpu_s = self.process.cpu_s()
        answer = self.ask(request, messages.AuditAnswer, self.limits.measure + self._work_s(handle, calls))
        return Chained(answer, self.process.cpu_s() - cpu_s)

    def release(self, handle: int) -> None:
        """Free a handle."""
        request = messages.Release(id=self.next_id(), handle=handle)
        self.ask(request, messages.RunnerAnswer, self.limits.release)
        self._sizes.pop(handle, None)

    def dismiss(self) -> None:
        """Tell the process to end without waiting for it; `close` does that. Raises as `exchange` does."""
        if self.alive and not self._unheard:
            self._tell_to_quit()

    def quit(self) -> None:
        """End the process by the protocol. Raises RunnerTimedOut or RunnerCrashed if it does not end well."""
        self._dismissal = self._dismissal or self._tell_to_quit()
        self._read(self.process.receive(self.limits.quit), self._dismissal, messages.RunnerAnswer)
        status = self.process.wait(self.limits.quit)
        if status is None:
            fault: RunnerError = RunnerTimedOut(f"runner '{self.spec.name}' does not end after quit")
        elif status:
            fault = RunnerCrashed(f"runner '{self.spec.name}' ended with status {status} after quit")
        else:
            self.process.fail(RunnerEnded(f"runner '{self.spec.name}' was told to quit"))
            return
        self.process.fail(fault)
        raise fault

    def _tell_to_quit(self) -> messages.Quit:
        self._dismissal = messages.Quit(id=self.next_id())
        self.process.send(encode(self._dismissal))
        return self._dismissal

    def close(self) -> None:
        """End the process, kindly if it lets us, and reap it. Never raises for what the runner does."""
        try:
            if self.alive and not self._unheard:
                self.quit()
        except RunnerError:
            pass  # the runner's figures are in; how it dies changes none of them
        finally:
            self.process.kill()

    @property
    def _unheard(self) -> bool:
        """True while the answer to `greet` is still to come."""
        return self._greeting is not None and self._hello is None

    def ask(self, request: messages.RunnerRequest, answer: type[AnswerT], timeout_s: float) -> AnswerT:
        """Send any request and return its answer. A fault in the answer ends the process."""
        return self._read(self.process.exchange(encode(request), timeout_s), request, answer)

    def _read(self, line: bytes, request: messages.RunnerRequest, answer: type[AnswerT]) -> AnswerT:
        try:
            return decode(line, request, answer)
        except RunnerRefused:
            raise
        except (RunnerGarbled, RunnerVersionMismatch) as fault:
            named = type(fault)(f"runner '{self.spec.name}': {fault}", hint=fault.hint)
            self.process.fail(named)
            raise named from None

    def _work_s(self, handle: int, calls: int) -> float:
        """What `calls` calls may take on top of a time limit, in seconds."""
        return self.limits.per_byte * self._sizes.get(handle, 0) * calls

    def next_id(self) -> int:
        """The id of the request that is made next; `last_id` keeps it."""
        self.last_id += 1
        return self.last_id


def prepare_cell(
    session: Session, cell: Cell, *, seed: int, offset: int = 0, input_path: Path | None = None
) -> int:
    """Prepare the operation of a cell and return its handle; as `Session.prepare`."""
    row = (cell.algorithm, cell.operation, cell.contract, cell.size_bytes)
    return session.prepare(*row, seed=seed, offset=offset, input_path=input_path)


def vector_of(known: KnownAnswer) -> messages.Vector:
    """The material of a known answer as it is sent. What is unset of key and nonce is seeded."""
    return messages.Vector(
        key=known.key or UNSET, nonce=known.nonce or UNSET, aad=known.aad or UNSET, input=known.input
    )


def file_sha256(path: str) -> str:
    """SHA-256 of a regular file as hex, '' when it is none or cannot be read. Unchanged files are not read twice."""
    try:
        status = Path(path).stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST_OBJECT:
            return ""  # a device or a pipe may never end
        return _sha256(path, status.st_mtime_ns, status.st_size)
    except (OSError, ValueError):
        return ""


@functools.lru_cache(maxsize=64)
def _sha256(path: str, _mtime_ns: int, _size: int) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
