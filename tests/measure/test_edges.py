"""Lengths about the end of a block, and counters that carry: what is right passes, what is wrong there is told."""

from __future__ import annotations

import hashlib
import hmac
from types import SimpleNamespace

import pytest

from perbyte.catalogue import load
from perbyte.errors import RunnerRefused
from perbyte.measure import edges
from perbyte.model import Cell, Failure, KnownAnswer
from perbyte.runners.changes import Outcomes, changed

BLOCK = 16


class Asked:
    """A session that computes, with a fault: `wrong` lengths of data, a counter of `width` bytes, or nothing at all."""

    seed = 7

    def __init__(self, *, wrong=(), width=BLOCK, refuses=False):
        self.wrong, self.width, self.refuses = wrong, width, refuses

    def of(self, cell):
        return self

    def handle(self, cell):
        return self

    def digest_of(self, known: KnownAnswer) -> str:
        key, data = bytes.fromhex(known.key), bytes.fromhex(known.input)
        made = hmac.digest(key, data, "sha256") if known.operation == "mac" else hashlib.sha256(data).digest()
        return edges.digest(made[::-1] if len(data) in self.wrong else made)

    def check_vector(self, handle, known: KnownAnswer) -> SimpleNamespace:
        if self.refuses:
            raise RunnerRefused("wraps around", code="library")
        key, counter = bytes.fromhex(known.key), bytearray.fromhex(known.nonce)
        stream = b""
        while 2 * len(stream) < len(known.input):
            stream += hashlib.sha256(key + counter).digest()[:BLOCK]
            low = int.from_bytes(counter[-self.width :], "big") + 1
            counter[-self.width :] = (low % (1 << 8 * self.width)).to_bytes(self.width, "big")
        return SimpleNamespace(output=stream.hex())


def judged(monkeypatch, address: str, **fault: object) -> Failure | None:
    session, cell = Asked(**fault), cell_of(address)

    def ask(_, handle, changes, material):
        if fault.get("refuses"):
            raise RunnerRefused("none", code="unsupported")
        each = [session.digest_of(changed(material, change)) for change in changes]
        return Outcomes(["", *each, ""])

    monkeypatch.setattr(edges, "ask", ask)
    return edges.of_row(session, cell, load().find(cell.algorithm))  # type: ignore[arg-type]


def cell_of(address: str) -> Cell:
    runner, algorithm, operation = address.split("/")
    return Cell(runner, algorithm, operation, 64, "message/1")


@pytest.mark.parametrize(
    "address", ["a/sha-256/digest", "a/hmac-sha-256/mac", "a/aes-128-ctr/encrypt", "a/blake3/digest"]
)
@pytest.mark.parametrize("refuses", [False, True])
def test_what_is_right_or_cannot_be_asked_passes(monkeypatch, address, refuses):
    assert judged(monkeypatch, address, refuses=refuses) is None


@pytest.mark.parametrize("length", [0, 55, 56, 63, 64, 65, 111, 112, 119, 120, 127, 128, 135, 136])
def test_a_padding_that_is_wrong_at_one_length_is_told(monkeypatch, length):
    for address in ("a/sha-256/digest", "a/hmac-sha-256/mac"):
        failure = judged(monkeypatch, address, wrong=(length,))
        assert failure
        assert f"disagrees with hashlib on {length} bytes" in failure.message


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_a_counter_that_does_not_carry_is_told(monkeypatch, width):
    failure = judged(monkeypatch, "a/aes-128-ctr/encrypt", width=width)
    assert failure
    assert f"does not carry beyond {width} bytes" in failure.message
