from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pytest

from perbyte import places
from perbyte.protocol import material


def test_fnv1a_by_its_authors_values():
    # Fowler, Noll, Vo: test vectors of 64-bit FNV-1a
    assert material.fnv1a64(b"") == 0xCBF29CE484222325
    assert material.fnv1a64(b"a") == 0xAF63DC4C8601EC8C
    assert material.fnv1a64(b"foobar") == 0x85944171F73967E8


def test_the_digest_takes_words_and_then_the_bytes_that_are_left():
    assert material.digest(b"") == "cbf29ce484222325"
    assert material.digest(b"foobar") == "85944171f73967e8"  # no whole word: FNV-1a as published
    word = int.from_bytes(b"foobarba", "little")
    value = (material.fnv1a64(b"") ^ word) * 0x100000001B3 % 2**64
    for byte in b"zqux":
        value = (value ^ byte) * 0x100000001B3 % 2**64
    assert material.digest(b"foobarbazqux") == f"{value:016x}" == "b1decc74f85da13d"  # stands in SPEC.md


def test_splitmix_by_its_published_outputs():
    # The reference implementation's outputs for seed 1234567; the label is undone by the seed.
    seed = 1234567 ^ material.fnv1a64(b"input")
    words = (6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431)
    expected = b"".join(word.to_bytes(8, "little") for word in words)
    assert material.data(seed, 32) == expected
    assert material.data(seed, 13) == expected[:13]


def test_streams_are_told_apart():
    streams = [material.stream(7, f"{what}/{i}", 32) for what in ("key", "nonce") for i in range(16)]
    streams += [material.data(7, 32), material.stream(7, "aad", 32), material.data(8, 32)]
    assert len(set(streams)) == len(streams)


@pytest.fixture(scope="module")
def toy():
    """The fake runner's own implementation, written apart with the standard library only."""
    file = places.data_dir("runners") / "fake" / "toy.py"
    spec = importlib.util.spec_from_file_location("toy_of_the_fake_runner", file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 64, 1000])
@pytest.mark.parametrize("seed", [0, 7, 2**63, 2**64 - 1])
def test_two_implementations_agree(toy, seed, length):
    for label in ("input", "key/15", "nonce/0", "aad"):
        assert material.stream(seed, label, length) == toy.stream(seed, label, length)


def test_secrets_of_pairs_are_streams_of_a_seed_drawn_for_each_sample():
    seed, number = 2**63 + 5, 7
    begun = (seed ^ 0xCBF29CE484222325) & (2**64 - 1)
    for unit in number.to_bytes(8, "little") + (1).to_bytes(8, "little"):
        begun = (begun ^ unit) * 0x100000001B3 % 2**64
    word = int.from_bytes(material.stream(begun, "leak", 8), "little")
    whole = material.stream(word, "leak/random", 100)
    [short] = material.pair_secrets(seed, np.array([number]), 20)
    [long] = material.pair_secrets(seed, np.array([number]), 100)
    assert bytes(short) == whole[:20]
    assert bytes(long) == whole[:32] + whole[-32:]
    assert material.shown_places(100) == [*range(32), *range(68, 100)]
