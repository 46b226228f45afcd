"""Put one operation of a runner through what sections 3 to 8 of `protocol/SPEC.md` promise about it.

Same output twice, the digest it says it is, `measure` and `check` in agreement, dependence on the seed and on
nothing else, round trips and forgeries, vectors that do not fit, an end to the handle. Whether an output is
*right* is for the validation to say, which has known answers and other libraries to compare with.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from perbyte.errors import RunnerRefused
from perbyte.model.algorithm import KnownAnswer
from perbyte.model.cell import Cell
from perbyte.protocol import CheckAnswer, Operation, material
from perbyte.runners.session import Session

SIZES = (96, 20, 32)  # 96 is a multiple of every block size in use; short keys sign no more than a digest
CALLS = (1, 2, 17)  # 17 is back at the first key and nonce
_RANDOM = ("sign", "encapsulate", "keygen")  # two calls may give two outputs
_OWN_INPUT = ("decapsulate",)  # two handles have two ciphertexts
_ANY_KEY = ("digest", "squeeze", "mac", "expand", "hash", "run")


def exercise(session: Session, row: Operation) -> Iterator[tuple[int, str]]:
    """Yield (section of SPEC.md, what was seen instead) for every promise that is not kept.

    Raises RunnerRefused when a listed operation is refused altogether, RunnerError when the process fails.
    """
    size = fitting_size(session, row)
    handle = prepare(session, row, size)
    shown = {calls: session.check_calls(handle, calls) for calls in CALLS}
    for calls, answer in shown.items():
        if isinstance(answer.output, str) and material.digest(bytes.fromhex(answer.output)) != answer.digest:
            yield 5, "the digest is not that of the output"
        if row.operation not in _RANDOM:
            again = session.check_calls(handle, calls)
            if (again.length, again.digest, again.head) != (answer.length, answer.digest, answer.head):
                yield 5, f"two checks of {calls} calls differ"
    for calls in CALLS:
        taken = session.measure(
            handle,
            cell=Cell(session.spec.name, row.algorithm, row.operation, size, row.contract),
            epoch=0,
            round=0,
            samples=2,
            limit_ms=1000,
            calls=calls,
        )
        if taken.digest != shown[calls].digest and row.operation not in _RANDOM:
            yield 7, f"the digest after {calls} timed calls is not that of check"
        start, ticks = taken.burst.start, taken.burst.ticks
        if any(later < start[i] + ticks[i] for i, later in enumerate(start[1:])):
            yield 7, "samples overlap, or the tick counter runs backwards"
    yield from _material(session, row, size, shown)
    yield from _verdicts(session, row, handle)
    if row.operation not in _RANDOM and session.check_calls(handle, 1).digest != shown[1].digest:
        yield 5, "a check changes what a later check gives"
    session.release(handle)
    try:
        session.check_calls(handle, 1)
        yield 8, "a released handle is still valid"
    except RunnerRefused as refused:
        if refused.code != "bad-handle":
            yield 8, f"a released handle is refused with {refused.code}"


def _material(
    session: Session, row: Operation, size: int, shown: dict[int, CheckAnswer]
) -> Iterator[tuple[int, str]]:
    """What the output must depend on, and what not."""
    if row.operation in (*_RANDOM, *_OWN_INPUT):
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
    odd = KnownAnswer(
        row.algorithm, row.operation, source="", key="ab" * 999, nonce="cd" * 999, input="ef" * 3
    )
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
        except RunnerRefused as refused:
            last = refused
            continue
        try:
            session.check_calls(handle, 1)
            return size
        except RunnerRefused as refused:
            last = refused
        finally:
            session.release(handle)
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
