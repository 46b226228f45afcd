"""What is forged is drawn from the structure of the material, and what comes of it is judged by the operation."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest

from perbyte.errors import RunnerRefused
from perbyte.measure import forging
from perbyte.measure.forging import Stretch
from perbyte.model import KnownAnswer
from perbyte.runners.changes import Edit, Put, ask, changed

TAG = Stretch("tag", "i", 40, 16)
DATA = Stretch("data", "i", 0, 40)


def rng():
    return random.Random(7)


def touched(attempt):
    """The bytes that an attempt flips bits of."""
    return {
        edit.offset + at
        for edit in attempt.change
        if isinstance(edit, Edit)
        for at, bits in enumerate(edit.bits)
        if bits
    }


@pytest.mark.parametrize("length", [1, 31, 32, 33, 640, 1000])
def test_each_32_bytes_and_both_ends_are_touched_by_a_single_bit(length):
    place = Stretch("data", "i", 5, length)
    attempts = forging.in_each(rng(), [place])
    grains = {(next(iter(touched(attempt))) - 5) // 32 for attempt in attempts}
    assert grains == set(range(-(-length // 32)))
    ends = {at for attempt in attempts for at in touched(attempt)}
    assert {5, 4 + length} <= ends
    assert all(sum(bits.bit_count() for edit in a.change for bits in edit.bits) == 1 for a in attempts)


def test_a_dozen_bits_lie_anywhere_and_follow_the_seed():
    places = [TAG, Stretch("additional data", "a", 0, 0), DATA]
    attempts = forging.anywhere(rng(), places)
    assert len(attempts) == 12
    assert attempts == forging.anywhere(rng(), places)
    assert attempts != forging.anywhere(random.Random(8), places)
    assert not forging.anywhere(rng(), [Stretch("nothing", "i", 0, 0)])


@pytest.mark.parametrize(
    "joined",
    [
        lambda tag, got: any(a != b for a, b in zip(tag[:12], got[:12], strict=True)),
        lambda tag, got: any((a ^ b) & 0xF0 for a, b in zip(tag, got, strict=True)),
        lambda tag, got: sum(a - b for a, b in zip(tag, got, strict=True)) % 256 != 0,
        lambda tag, got: (
            bool(int.from_bytes(tag[:8], "big") ^ int.from_bytes(tag[8:], "big"))
            ^ bool(int.from_bytes(got[:8], "big") ^ int.from_bytes(got[8:], "big"))
        ),
        lambda tag, got: sorted(tag) != sorted(got),
        lambda tag, got: all(a != b for a, b in zip(tag, got, strict=True)),
        lambda tag, got: any(got) and tag != got,
    ],
)
def test_a_comparison_that_sees_a_part_or_joins_wrongly_lets_a_change_through(joined):
    tag = random.Random(3).randbytes(16)
    attempts = forging.of_tag(rng(), Stretch("tag", "i", 0, 16), tag)
    attempts += forging.anywhere(rng(), [Stretch("tag", "i", 0, 16)], 40)
    genuine = KnownAnswer("a", "open", "", input=tag.hex())
    got = [bytes.fromhex(changed(genuine, attempt.change).input) for attempt in attempts]
    assert tag not in got
    assert any(not joined(tag, each) for each in got)


def test_a_sealed_text_is_truncated_extended_and_its_borders_are_moved():
    genuine = KnownAnswer("a", "open", "", aad="aa" * 33, input="bb" * 40 + "cc" * 16)
    attempts = forging.of_sealed(rng(), genuine, 16, 1)
    made = [changed(genuine, attempt.change) for attempt in attempts]
    assert all((each.aad, each.input) != (genuine.aad, genuine.input) for each in made)
    assert all(isinstance(edit, Put) for attempt in attempts for edit in attempt.change)
    lengths = {(len(each.aad) // 2, len(each.input) // 2) for each in made}
    assert {(33, 55), (33, 57), (33, 16), (0, 56), (32, 56), (34, 56), (64, 40), (73, 16)} <= lengths
    in_blocks = forging.of_sealed(rng(), genuine, 16, 8)
    assert {len(changed(genuine, each.change).input) // 2 % 8 for each in in_blocks} == {0}


def test_numbers_of_a_signature_are_zero_the_order_and_beyond_it():
    order = forging.ORDERS["ed25519"]
    signature = bytes([7] * 32) + (5).to_bytes(32, "little")
    place = Stretch("signature", "i", 0, 64)
    genuine = KnownAnswer("ed25519", "verify", "", input=signature.hex())
    attempts = list(forging.of_numbers(place, signature, order, lowest_first=True))
    seconds = {
        int.from_bytes(bytes.fromhex(changed(genuine, each.change).input)[32:], "little") for each in attempts
    }
    assert {0, order, 5 + order, 5 + 8 * order, 2**256 - 1} <= seconds
    unreduced = [attempt for attempt in attempts if attempt.kind == forging.UNREDUCED]
    assert len(unreduced) == 15
    assert not any(
        a.kind for a in forging.of_numbers(place, signature, order, lowest_first=True) if a not in unreduced
    )


def test_behind_the_first_zero_of_a_tag_all_is_changed():
    tag = bytes([1, 0, 2, 3])
    attempt = forging.behind_zero(rng(), Stretch("tag", "i", 0, 4), tag)
    assert attempt
    assert touched(attempt) == {2, 3}
    assert forging.behind_zero(rng(), Stretch("tag", "i", 0, 4), b"\1\2\3\0") is None


def test_a_runner_that_knows_no_changes_is_asked_for_one_vector_after_the_other():
    class Old:
        """Takes vectors, ignores changes, and compares the first half of a tag."""

        spec = SimpleNamespace(name="old")
        limits = SimpleNamespace(check=1.0)
        asked = 0

        def next_id(self):
            return 1

        def ask(self, request, answer, timeout_s):
            return answer(id=1, ok=True)

        def check_vector(self, handle, material):
            self.asked += 1
            if not material.input.startswith("ab"):
                raise RunnerRefused("no", code="library")
            return SimpleNamespace(digest="0" * 16)

    old = Old()
    genuine = KnownAnswer("a", "open", "", input="abcd")
    changes = [(Edit("i", 0, b"\1"),), (Edit("i", 1, b"\1"),), (Put("i", b""),)]
    outcomes = ask(old, 0, changes, genuine)
    assert old.asked == 5
    assert list(outcomes.changed) == ["", "0" * 16, ""]
    with pytest.raises(RunnerRefused, match="does not know changes"):
        ask(old, 0, changes)
