"""Does a runner make calls on changed inputs (SPEC section 5)? The forgeries of a run are such calls."""

from __future__ import annotations

from collections.abc import Iterator

from perbyte.errors import RunnerRefused
from perbyte.protocol.messages import Operation
from perbyte.runners.changes import Change, Edit, Outcomes, ask
from perbyte.runners.session import Session

TAKERS = ("open", "verify", "decapsulate")
"""Operations whose input another one makes, so that it can be forged."""


def conform_changes(session: Session, row: Operation, handle: int) -> Iterator[tuple[int, str]]:
    """Yield (section of SPEC.md, what was seen instead) for what `changes` must give and does not."""
    if row.operation not in TAKERS:
        return
    try:
        whole = ask(session, handle, [])
    except RunnerRefused as refused:
        yield (
            5,
            f"check with `changes` is refused with {refused.code}: a runner of open, verify or decapsulate must make a "
            "call on its input with the bits flipped that it is given, and say what came out (`outcomes`), because "
            "forgeries are tried by it",
        )
        return
    last = whole.input_bytes - 1
    if last < 0:
        yield 5, "check with `changes` does not say the length of the input (`input_length`)"
        return
    changes: list[Change] = [(Edit("i", at, b"\x01"),) for at in (0, max(0, last - 8), last)]
    changes.append((Edit("i", 0, b"\x10"), Edit("i", last, b"\x40")))
    changes.append((Edit("i", 0, b"\x00"),))
    outcomes = ask(session, handle, changes)
    yield from ((5, what) for what in _wrong(row, outcomes, whole))
    for change, what in (
        ((Edit("i", last + 1, b"\x01"),), "beyond the input"),
        ((Edit("z", 0, b"\x01"),), "`z`"),
    ):
        try:
            ask(session, handle, [change])
            yield 5, f"a change {what} is not refused with malformed"
        except RunnerRefused as refused:
            if refused.code != "malformed":
                yield 5, f"a change {what} is refused with {refused.code}, not malformed"


def _wrong(row: Operation, outcomes: Outcomes, whole: Outcomes) -> Iterator[str]:
    *forged, same = outcomes.changed
    genuine = outcomes.digests[0]
    if not genuine:
        yield "check with `changes` refuses the unchanged input"
        return
    if {outcomes.digests[-1], *whole.digests} != {genuine}:
        yield "check with `changes`: the call on the unchanged input gives something else behind the changes"
    if same != genuine:
        yield "check with `changes`: flipping no bits is not the unchanged input"
    if row.operation == "decapsulate":
        if genuine in forged:
            yield "check with `changes`: a changed ciphertext gives the secret of the genuine one"
    elif any(forged):
        accepted = sum(map(bool, forged))
        yield f"check with `changes`: {accepted} of {len(forged)} changed inputs are accepted"
