"""Planted faults of each kind are found before anything is timed; the bench has all of them (bench/mutants.py)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from perbyte.measure.referees import own_runners
from perbyte.runners import build, find

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
import mutants  # noqa: E402

pytestmark = pytest.mark.native
SOME = [
    *(
        ("aes-128-gcm", fault)
        for fault in ("", "last-4", "xor", "strcmp", "no-aad", "empty", "aad-64", "17-bytes")
    ),
    *(("ed25519", fault) for fault in ("", "s-plus-l", "byte-skipped", "message-64")),
    *(("ecdsa-p256", fault) for fault in ("", "both-zero", "message-text")),
    *(("rsa-2048", fault) for fault in ("", "short-padding", "negative")),
    *(("ml-kem-768", fault) for fault in ("", "last-32", "xor", "rejects-by-beginning")),
    *(("x25519", fault) for fault in ("", "top-bit", "low-order")),
    *(("aes-128-cmac", fault) for fault in ("", "beyond-70000")),
    *(("ecdh-p256", fault) for fault in ("", "off-curve", "infinity")),
]


@pytest.fixture(scope="module")
def built():
    outcome = build(find("mutants", [BENCH]))
    if not outcome.usable:
        pytest.skip(f"bench/mutants does not build here: {outcome.output}{outcome.install}")


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(("algorithm", "fault"), SOME)
def test_a_planted_fault_is_found_and_nothing_else(algorithm, fault):
    """What is wrong on long data alone, other libraries know, where they are built."""
    if fault in mutants.LONG and len(own_runners()) < 2:
        pytest.skip("no libraries are built")
    failures, _ = mutants.examine(algorithm, fault, seed=7)
    assert bool(failures) == bool(fault), [failure.message for failure in failures]


def test_the_bench_has_more_than_sixty_faults_of_each_kind():
    planted = [fault for _, fault in mutants.faults() if fault]
    assert len(planted) > 60
