"""Does a runner keep every promise of `protocol/SPEC.md`? Ask it, and list what it does not keep.

Needs no catalogue: what the runner says it can do is what it is held to. Conformance is about the protocol,
not about cryptography: that outputs are *right* is the validation's affair, that they are the same twice, follow
from the material, and agree between `check` and `measure` is looked at here. No figure is judged: the command's other
half is a run (`app.auditing`).
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perbyte.errors import RunnerError, RunnerRefused, UsageError
from perbyte.model.algorithm import KnownAnswer
from perbyte.model.cell import FULL, Cell
from perbyte.protocol import material
from perbyte.protocol.messages import ERROR_CODES, LINE_LIMIT, CheckAnswer, Operation
from perbyte.runners import transcripts
from perbyte.runners.conform_changes import conform_changes
from perbyte.runners.session import Session, TimeLimits
from perbyte.runners.spec import RunnerSpec

SIZES = (96, 20, 32)  # 96 is a multiple of every block size in use; short keys sign no more than a digest
CALLS = (1, 2, 17)  # 17 is back at the first key and nonce
CHAIN = 20  # calls of a chain, which is asked for twice as long once
# Of calls that take longer, some signatures of SLH-DSA and new keys among them, 40 would outlast the limit of an answer
# on a busy host: they are asked for a few at a time
LONG_S, FEW = 0.1, 2
_RANDOM = (
    "sign",
    "encapsulate",
    "keygen",
    "handshake",
    "client",
    "server",
    "draw",
)  # and what is sealed to a public key
_OWN_INPUT = ("decapsulate",)  # two handles have two ciphertexts
_ANY_KEY = ("digest", "squeeze", "mac", "expand", "hash", "run")

_LIMITS = TimeLimits(hello=30, prepare=30, check=30, calibrate=10, measure=30, release=5, quit=1)
_ROW = ("algorithm", "operation", "contract")
_GOOD: dict[str, dict[str, Any]] = {
    "hello": {"protocol": 1},
    "prepare": {**dict.fromkeys(_ROW, ""), "size_bytes": SIZES[0], "seed": 7, "offset": 0},
    "check": {"handle": 0, "calls": 1},
    "calibrate": {"limit_ms": 1},
    "measure": {
        "handle": 0,
        "samples": 2,
        "clean": 0,
        "limit_ms": 5,
        "calls": 1,
        "sample_us": 50,
        "contention_floor": 0,
        "contention_tolerance": 0.01,
        "clock_tolerance": 0.005,
        "patience": 0,
    },
    "release": {"handle": 0},
}


@dataclass(frozen=True, slots=True)
class Complaint:
    """A promise that was not kept: the section of SPEC.md, and what was seen instead."""

    section: int
    what: str


@dataclass(frozen=True, slots=True)
class _Asked:
    """What `conform` was asked, for each of its looks."""

    spec: RunnerSpec
    cpu: str
    every: bool
    rng: random.Random
    tell: Callable[[str], None]

    def open(self) -> Session:
        return Session(self.spec, cpu=self.cpu, limits=_LIMITS)


def conform(
    spec: RunnerSpec,
    *,
    cpu: str = FULL,
    every: bool = True,
    seed: int = 1,
    tell: Callable[[str], None] = lambda _: None,
) -> list[Complaint]:
    """Return all complaints about a runner; an empty list is a clean bill.

    `every` looks at every operation, otherwise at one per operation name and contract; `tell` hears what is looked
    at. Raises EnvironmentLacking when the runner cannot be started; faults while it runs are complaints.
    """
    complaints: list[Complaint] = []
    for look in (_framing, _errors, _operations, _clock, _endings):
        name = look.__name__[1:]
        tell(name)
        try:
            for complaint in look(_Asked(spec, cpu, every, random.Random(seed), tell)):
                complaints.append(complaint)
        except RunnerError as fault:
            complaints.append(Complaint(1, f"{type(fault).__name__} during {name}: {fault}"))
    return complaints


def _framing(asked: _Asked) -> Iterator[Complaint]:
    """Section 1: lines that are no requests, lines at the limit, ids of 64 bits, unknown fields."""
    broken = {
        "an empty line": b"",
        "text": b"hello",
        "an array": b"[]",
        "a number": b"7",
        "null": b"null",
        "half an object": b'{"verb": "hello", "id": 1',
        "two objects": b'{"verb":"hello","id":1,"protocol":1} {}',
        "an object without verb": b'{"id": 1}',
        "an object without id": b'{"verb": "hello", "protocol": 1}',
        "an id that is a text": b'{"verb": "hello", "id": "1", "protocol": 1}',
        "a verb that is a number": b'{"verb": 1, "id": 1}',
        "a line over the limit": b'{"verb": "hello", "id": 1, "x": "' + b"x" * LINE_LIMIT + b'"}',
        "noise": bytes(asked.rng.choice(range(32, 256)) for _ in range(300)),
        "a zero byte": b'{"verb": "hello", \x00 "id": 1}',
    }
    with asked.open() as session:
        for name, line in broken.items():
            answer = _raw(session, line)
            if answer.get("ok") is not False or answer.get("error") != "malformed" or answer.get("id") != 0:
                yield Complaint(1, f"{name} is not answered with id 0 and malformed, but {_short(answer)}")
        harmless = {
            "invalid UTF-8": b'{"verb": "hello\xff", "id": 1, "protocol": 1}',
            "deep nesting": b'{"verb":"hello","id":1,"protocol":1,"x":' + b"[" * 5000 + b"]" * 5000 + b"}",
            "a number beyond 64 bits": b'{"verb": "hello", "id": ' + b"9" * 400 + b', "protocol": 1}',
        }
        for name, line in harmless.items():
            if "ok" not in _raw(session, line):
                yield Complaint(1, f"{name} is not answered with an object that has ok")
        for number in (0, -1, 2**31, 2**63 - 1, -(2**63)):
            answer = _ask(session, "hello", number=number, protocol=1)
            if not answer.get("ok") or answer.get("id") != number:
                yield Complaint(1, f"id {number} is answered with {answer.get('id')}")
        answer = _ask(session, "hello", protocol=1, unknown="field", more=[1, {"a": None}])
        if not answer.get("ok"):
            yield Complaint(1, f"unknown fields are not ignored: {_short(answer)}")
        spaced = b' { "protocol" : 1 , "id" : 5 , "verb" : "\\u0068ello" } '
        if not _raw(session, spaced).get("ok"):
            yield Complaint(1, "white space and escapes of JSON are not understood")
        head = b'{"verb":"hello","id":6,"protocol":1,"x":"'
        longest = head + b"x" * (LINE_LIMIT - len(head) - 3) + b'"}'
        if not _raw(session, longest).get("ok"):
            yield Complaint(1, "a line of exactly the largest size is not understood")


def _errors(asked: _Asked) -> Iterator[Complaint]:
    """Section 9: every error code, and survival after each."""
    with asked.open() as session:
        yield from _expect(session, "unknown-verb", "no-such-verb", {})
        rows = session.hello().operations
        if not rows:
            return
        operation = asked.rng.choice(rows)
        good = {name: getattr(operation, name) for name in _ROW}
        for field in good:
            yield from _expect(session, "unsupported", "prepare", {**good, field: "no-such-thing"})
        yield from _expect(session, "bad-size", "prepare", {**good, "size_bytes": 2**62})
        missing = str(Path(tempfile.gettempdir()) / "perbyte-no-such-file" / "x")
        yield from _expect(session, "input", "prepare", {**good, "input_path": missing})
        with tempfile.NamedTemporaryFile() as short:
            short.write(b"x")
            short.flush()
            yield from _expect(session, "input", "prepare", {**good, "input_path": short.name})
        for verb in ("check", "measure", "release"):
            for handle in (-1, 10**6, 2**63 - 1):
                yield from _expect(session, "bad-handle", verb, {"handle": handle})
        size = fitting_size(session, operation)
        handle = prepare(session, operation, size)
        wrong: dict[type, Any] = {str: 1, int: "1", float: "1"}
        for verb, fields in _GOOD.items():
            values = {**fields, **({**good, "size_bytes": size} if verb == "prepare" else {})}
            if "handle" in values:
                values["handle"] = handle
            for name, value in values.items():
                without = {key: value for key, value in values.items() if key != name}
                other = {**values, name: wrong[type(value)]}
                for sent, why in ((without, f" without {name}"), (other, f" with {name} of another type")):
                    yield from _expect(session, "malformed", verb, sent, exact=True, why=why)
        if not _ask(session, "check", handle=handle, calls=1).get("ok"):
            yield Complaint(9, "a handle does not survive errors")


def _operations(asked: _Asked) -> Iterator[Complaint]:
    """Sections 2 to 8 for what `hello` lists."""
    with asked.open() as session:
        rows = session.hello().operations
        if not rows:
            yield Complaint(2, "no operations")
        names = [_name(row) for row in rows]
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield Complaint(2, f"listed twice: {name}")
        if not asked.every:
            rows = list({(row.operation, row.contract): row for row in reversed(rows)}.values())
        for number, row in enumerate(rows, start=1):
            asked.tell(f"{number} of {len(rows)} operations: {_name(row)}")
            try:
                for section, what in exercise(session, row):
                    yield Complaint(section, f"{_name(row)}: {what}")
            except RunnerRefused as refused:
                text = f"{_name(row)} is listed, but refused with {refused.code}: {refused}"
                yield Complaint(2, text)


def _name(row: Operation) -> str:
    return f"{row.algorithm} {row.operation} {row.contract}"


def _cell(session: Session, row: Operation, size: int) -> Cell:
    return Cell(session.spec.name, row.algorithm, row.operation, size, row.contract)


def _clock(asked: _Asked) -> Iterator[Complaint]:
    """Sections 6 and 7: calibration, and the limits of a burst."""
    with asked.open() as session:
        rates = [session.calibrate(5, epoch=0).tick_hz for _ in range(2)]
        if not 0.5 < rates[0] / rates[1] < 2:
            yield Complaint(6, f"two calibrations give tick rates of {rates[0]:g} and {rates[1]:g}")
        rows = session.hello().operations
        if not rows:
            return
        operation = asked.rng.choice(rows)
        size = fitting_size(session, operation)
        handle = prepare(session, operation, size)
        burst: dict[str, Any] = {"cell": _cell(session, operation, size), "epoch": 0, "round": 0}
        for samples, limit_ms in ((1, 1000), (25, 60_000), (1000, 0), (3, 0)):
            taken = session.measure(handle, **burst, samples=samples, limit_ms=limit_ms, calls=1)
            if limit_ms and len(taken.burst) != samples:
                yield Complaint(7, f"{len(taken.burst)} samples where {samples} were to be had in the time")
            if not limit_ms and len(taken.burst) > 2:
                yield Complaint(7, f"{len(taken.burst)} samples in no time at all")
        chosen = session.measure(handle, **burst, samples=2, limit_ms=100, sample_us=20)
        if chosen.digest != session.check_calls(handle, chosen.burst.calls).digest:
            yield Complaint(7, "with calls chosen by the runner the digest is not that of check")


def replay_file(spec: RunnerSpec, file: Path, *, cpu: str = FULL) -> list[str] | None:
    """Hold a transcript's dialogue with a runner; what went otherwise, or None where it is not meant for the runner.

    Raises UsageError for a file that is no transcript, EnvironmentLacking when the runner cannot be started.
    """
    try:
        transcript = transcripts.parse(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{file} is not a transcript: {error}", hint="see protocol/transcripts/README.md"
        ) from None
    with Session(spec, cpu=cpu, limits=_LIMITS) as session:
        toy = transcript.standard and session.hello().sdk.startswith("fake/")
        if toy or not transcripts.applies(transcript, session):
            return None
    with Session(spec, cpu=cpu, limits=_LIMITS) as session:
        return transcripts.replay(transcript, session)


def _endings(asked: _Asked) -> Iterator[Complaint]:
    """Sections 1 and 8: quit and end of file end the process with status 0 within a second."""
    for name in ("quit", "end of file"):
        with asked.open() as session:
            session.hello()
            try:
                if name == "quit":
                    session.quit()
                else:
                    session.process.end_input()
            except RunnerError as fault:
                yield Complaint(8, f"{name}: {fault}")
                continue
            status = session.process.wait(1.0)
            if status is None:
                yield Complaint(8, f"does not end within a second after {name}")
            elif status:
                yield Complaint(8, f"ends with status {status} after {name}")


def _expect(
    session: Session, code: str, verb: str, fields: dict[str, Any], *, exact: bool = False, why: str = ""
) -> Iterator[Complaint]:
    """Complain unless the request is refused with `code`; `exact`: the fields are all there is to send."""
    answer = _ask(session, verb, **(fields if exact else {**_GOOD.get(verb, {}), **fields}))
    if answer.get("ok") is not False or answer.get("error") != code:
        shown = why or f" {fields}"
        yield Complaint(9, f"{verb}{shown} is not answered with {code}, but {_short(answer)}")
    elif not isinstance(answer.get("message"), str) or answer.get("id") != session.last_id:
        yield Complaint(9, f"the refusal of {verb}{why} lacks message or id: {_short(answer)}")


def _ask(session: Session, verb: str, number: int | None = None, **fields: Any) -> dict[str, Any]:
    if number is None:
        number = session.next_id()
    return _raw(session, json.dumps({"verb": verb, "id": number, **fields}).encode())


def _raw(session: Session, line: bytes) -> dict[str, Any]:
    """The answer to a line that may be anything, as it stands; empty when it is no JSON object."""
    answer = session.process.exchange(line + b"\n", 10)
    try:
        decoded = json.loads(answer)
    except ValueError:
        return {}
    return decoded if isinstance(decoded, dict) else {}


def _short(answer: dict[str, Any]) -> str:
    text = json.dumps(answer)
    known = "" if answer.get("error") in (None, *ERROR_CODES) else " (no code of section 9)"
    return (text if len(text) < 160 else text[:160] + "...") + known


def exercise(session: Session, row: Operation) -> Iterator[tuple[int, str]]:
    """Yield (section of SPEC.md, what was seen instead) for every promise that is not kept.

    Raises RunnerRefused when a listed operation is refused altogether, RunnerError when the process fails.
    """
    size = fitting_size(session, row)
    handle = prepare(session, row, size)
    began = time.monotonic()
    shown = {1: session.check_calls(handle, 1)}
    long = time.monotonic() - began > LONG_S
    counts = tuple(calls for calls in CALLS if calls <= FEW or not long)
    shown |= {calls: session.check_calls(handle, calls) for calls in counts[1:]}
    for calls, answer in shown.items():
        if isinstance(answer.output, str) and material.digest(bytes.fromhex(answer.output)) != answer.digest:
            yield 5, "the digest is not that of the output"
        if not _is_random(row):
            again = session.check_calls(handle, calls)
            if (again.length, again.digest, again.head) != (answer.length, answer.digest, answer.head):
                yield 5, f"two checks of {calls} calls differ"
    for calls in counts:
        cell = _cell(session, row, size)
        taken = session.measure(handle, cell=cell, epoch=0, round=0, samples=2, limit_ms=1000, calls=calls)
        if taken.digest != shown[calls].digest and not _is_random(row):
            yield 7, f"the digest after {calls} timed calls is not that of check"
        start, ticks = taken.burst.start, taken.burst.ticks
        if any(later < start[i] + ticks[i] for i, later in enumerate(start[1:])):
            yield 7, "samples overlap, or the tick counter runs backwards"
    yield from _material(session, row, size, shown)
    yield from _verdicts(session, row, handle)
    yield from conform_changes(session, row, handle)
    yield from _chain(session, row, handle, FEW if long else CHAIN)
    if not _is_random(row) and session.check_calls(handle, 1).digest != shown[1].digest:
        yield 5, "a check changes what a later check gives"
    session.release(handle)
    try:
        session.check_calls(handle, 1)
        yield 8, "a released handle is still valid"
    except RunnerRefused as refused:
        if refused.code != "bad-handle":
            yield 8, f"a released handle is refused with {refused.code}"


def _is_random(row: Operation) -> bool:
    """True where two calls may give two outputs."""
    return row.operation in _RANDOM or (row.operation == "seal" and row.contract.startswith("letter/"))


def _material(
    session: Session, row: Operation, size: int, shown: dict[int, CheckAnswer]
) -> Iterator[tuple[int, str]]:
    """What the output must depend on, and what not."""
    if _is_random(row) or row.operation in _OWN_INPUT:
        return
    moved = prepare(session, row, size, offset=192)
    if session.check_calls(moved, 2).digest != shown[2].digest:
        yield 4, "the output depends on the offset"
    session.release(moved)
    elsewhere = prepare(session, row, size, seed=2**64 - 1)
    other = session.check_calls(elsewhere, 1)
    if other.length and row.operation not in ("verify", "run") and other.digest == shown[1].digest:
        yield 3, "the output does not depend on the seed"
    session.release(elsewhere)
    with tempfile.NamedTemporaryFile() as file:
        file.write(material.data(7, size) + b"more")
        file.flush()
        from_file = prepare(session, row, size, input_path=Path(file.name))
        if session.check_calls(from_file, 1).digest != shown[1].digest:
            yield 4, "the input stream in a file gives another output than the stream itself"
        session.release(from_file)


def _chain(session: Session, row: Operation, handle: int, length: int) -> Iterator[tuple[int, str]]:
    """Section 11, where the runner has it: the same chain of `length` calls twice, another seed, forgeries refused."""
    try:
        first, again, other = (
            session.audit(handle, seed=seed, calls=length).answer for seed in (2**64 - 8, 2**64 - 8, 5)
        )
    except RunnerRefused as refused:
        if refused.code not in ("unsupported", "unknown-verb"):
            yield 11, f"audit is refused with {refused.code}"
        return
    if first.failures or first.forged != first.refused:
        forgeries = f"{first.refused} of {first.forged} forgeries were refused"
        yield 11, f"{first.failures} audited calls failed, {forgeries}"
    if not _is_random(row) and first.digest != again.digest:
        yield 11, "two audits with one seed differ"
    if first.digest == other.digest:
        yield 11, "the digest of an audit does not depend on its seed"
    control = session.audit(handle, seed=5, calls=length, control=True).answer
    if control.failures:
        yield 11, f"{control.failures} calls failed in an audit without calls"
    repeated = session.audit(handle, seed=5, calls=2 * length, repeat=length).answer
    if repeated.repeat and not _is_random(row) and repeated.digest != other.digest:
        restarts = f"a chain that restarts after {length} calls"
        yield 11, f"{restarts} does not end after {2 * length} calls as after {length}"
    after = session.audit(handle, seed=5, calls=length).answer
    if not _is_random(row) and after.digest != other.digest:
        yield 11, "an audit without calls changes the digest of the next"


def _verdicts(session: Session, row: Operation, handle: int) -> Iterator[tuple[int, str]]:
    """Round trips, forgeries, and vectors that do not fit."""
    for name, verdict in (("round_trip", session.round_trip), ("forgery", session.forgery)):
        try:
            if not verdict(handle).passed:
                yield 5, f"{name} does not pass"
        except RunnerRefused as refused:
            if refused.code != "unsupported":
                yield 5, f"{name} is refused with {refused.code}"
            elif name == "forgery" and row.operation in ("open", "verify", "decapsulate"):
                yield 5, "open, verify and decapsulate must look at forgeries"
    odd = KnownAnswer(row.algorithm, row.operation, "", key="ab" * 999, nonce="cd" * 999, input="ef" * 3)
    try:
        session.check_vector(handle, odd)
        if row.operation not in _ANY_KEY:
            yield 5, "a vector with a key and a nonce of 999 bytes is taken"
    except RunnerRefused as refused:
        if refused.code != "unsupported":
            yield 5, f"a vector that does not fit is refused with {refused.code}, not unsupported"


def fitting_size(session: Session, row: Operation) -> int:
    """A size that the operation takes. Raises RunnerRefused when none of SIZES is taken."""
    for size in SIZES:
        try:
            handle = prepare(session, row, size)
            try:
                session.check_calls(handle, 1)
            finally:
                session.release(handle)
            return size
        except RunnerRefused as refused:
            last = refused
    raise last


def prepare(
    session: Session,
    row: Operation,
    size: int,
    *,
    seed: int = 7,
    offset: int = 0,
    input_path: Path | None = None,
) -> int:
    """`session.prepare` for a row of `hello`."""
    return session.prepare(
        row.algorithm, row.operation, row.contract, size, seed=seed, offset=offset, input_path=input_path
    )
