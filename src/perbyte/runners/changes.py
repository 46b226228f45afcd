"""Ask a runner for calls on changed material: bits flipped, or parts of another length (SPEC section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import UNSET

from perbyte.errors import RunnerRefused
from perbyte.model.algorithm import KnownAnswer
from perbyte.protocol import messages
from perbyte.runners.session import Session, vector_of

_FIELDS = {"k": "key", "n": "nonce", "a": "aad", "i": "input"}


@dataclass(frozen=True, slots=True)
class Edit:
    """`bits` to be flipped from byte `offset` on of the key, the nonce, the additional data or the input (`place`)."""

    place: str
    offset: int
    bits: bytes


@dataclass(frozen=True, slots=True)
class Put:
    """Take `content` in the place of all that is there."""

    place: str
    content: bytes


Change = tuple[Edit | Put, ...]


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What calls gave: the digest of the output, '' where it was refused.

    The first and the last are those of unchanged material. `input_bytes`: how long the input is.
    """

    digests: Sequence[str]
    input_bytes: int = 0

    @property
    def changed(self) -> Sequence[str]:
        """Those of the changes, in their order."""
        return self.digests[1:-1]


def ask(
    session: Session, handle: int, changes: Sequence[Change], material: KnownAnswer | None = None
) -> Outcomes:
    """Make a call with each of `changes` on `material`, or on the handle's own.

    A runner that does not know changes is asked for one vector after the other. Raises RunnerRefused: of its own
    material such a runner does not change anything, and no runner of one that does not fit.
    """
    vector = UNSET if material is None else vector_of(material)
    told = " ".join("+".join(map(_word, change)) for change in changes)
    request = messages.CheckChanges(id=session.next_id(), handle=handle, changes=told, vector=vector)
    answer = session.ask(request, messages.ChangesAnswer, session.limits.check)
    if answer.outcomes:
        return Outcomes(answer.outcomes, answer.input_length)
    if material is None:
        raise RunnerRefused(f"runner '{session.spec.name}' does not know changes", code="unsupported")
    each = [material, *(changed(material, change) for change in changes), material]
    return Outcomes([_one(session, handle, known) for known in each], len(material.input) // 2)


def _word(edit: Edit | Put) -> str:
    if isinstance(edit, Put):
        return f"{edit.place}={edit.content.hex()}"
    return f"{edit.place}{edit.offset}:{edit.bits.hex()}"


def changed(material: KnownAnswer, change: Change) -> KnownAnswer:
    """`material` with the edits of `change` made."""
    for edit in change:
        field = _FIELDS[edit.place]
        if isinstance(edit, Put):
            material = _with(material, field, edit.content)
            continue
        there = bytearray.fromhex(getattr(material, field))
        for at, bits in enumerate(edit.bits, edit.offset):
            there[at] ^= bits
        material = _with(material, field, there)
    return material


def _with(material: KnownAnswer, field: str, content: bytes | bytearray) -> KnownAnswer:
    parts = {name: getattr(material, name) for name in _FIELDS.values()} | {field: content.hex()}
    return KnownAnswer(material.algorithm, material.operation, material.source, **parts)


def _one(session: Session, handle: int, material: KnownAnswer) -> str:
    """The digest of what one call on `material` gives, '' where it is refused or does not fit the operation."""
    try:
        return session.check_vector(handle, material).digest
    except RunnerRefused as refusal:
        if refusal.code not in ("library", "unsupported"):
            raise
        return ""
