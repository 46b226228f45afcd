"""The reference runner: our own RIPEMD against its published digests, and chains that take every step."""

from __future__ import annotations

import platform
from collections.abc import Iterator

import pytest

from perbyte.model import KnownAnswer
from perbyte.protocol import material
from perbyte.runners import Session
from perbyte.runners.build import BuildState, build
from perbyte.runners.locate import find

pytestmark = pytest.mark.native

SEED = 11
START, OPERAND, MASK = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, (1 << 64) - 1

# The digests that the algorithm's authors published.
RIPEMD = {
    b"": "9f73aa9b372a9dacfb86a6108852e2d9",
    b"a": "486f74f790bc95ef7963cd2382b4bbc9",
    b"abc": "3f14bad4c2f9b0ea805e5485d3d6882d",
    b"message digest": "5f5c7ebe1abbb3c7036482942d5f9d49",
    b"abcdefghijklmnopqrstuvwxyz": "ff6e1547494251a1cca6f005a6eaa2b4",
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789": "ff418a5aed3763d8f2ddf88a29e62486",
    b"1234567890" * 8: "dfd6b45f60fe79bbbde87c6bfc6580a5",
}


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    spec = find("reference")
    outcome = build(spec)
    assert outcome.state not in (BuildState.ABSENT, BuildState.FAILED), outcome.output
    with Session(spec) as started:
        yield started


def output(session: Session, algorithm: str, operation: str, contract: str, size: int, calls: int) -> str:
    handle = session.prepare(algorithm, operation, contract, size, seed=SEED)
    answer = session.check_calls(handle, calls)
    session.release(handle)
    return answer.output


def chains(session: Session) -> list[str]:
    names = {row.algorithm for row in session.hello().operations}
    return sorted(name for name in names if name.startswith("probe-") and name != "probe-empty")


def ripemd(session: Session, contract: str, message: bytes) -> str:
    handle = session.prepare("ripemd", "digest", contract, 64, seed=SEED)
    return session.check_vector(handle, KnownAnswer("ripemd", "digest", "own", message.hex())).output


@pytest.mark.parametrize("message", RIPEMD, ids=len)
@pytest.mark.parametrize("contract", ["oneshot/1", "stream/1"])
def test_ripemd_gives_its_published_digests(session: Session, contract: str, message: bytes):
    assert ripemd(session, contract, message) == RIPEMD[message]


def test_ripemd_has_its_published_collision(session: Session):
    """Wang, Feng, Lai and Yu (2004): an error that keeps short vectors right would hardly keep this."""
    first = (
        "8eaf9f5779f5ec09ba6a4a5711354178a410b4a29f6c2fad2c20560b1179754d"
        "e7aade0bf291bc787d6dbc47b1d1bd9a15205da4ff047181a8584726a54e0661"
    )
    second = first.replace("11354178", "11355178").replace("7d6dbc47", "7d6dc0c7").replace("0661", "06e1")
    assert first != second
    for message in (first, second):
        assert ripemd(session, "oneshot/1", bytes.fromhex(message)) == "dd6478dd9a7d821caa018648e5e792e9"


@pytest.mark.parametrize("size", [1, 55, 56, 63, 64, 65, 119, 120, 1000])
def test_ripemd_does_not_care_how_the_message_comes(session: Session, size: int):
    """Three updates of any length are one message: block borders and padding in every position."""
    whole = ripemd(session, "oneshot/1", material.data(SEED, size) * 3)
    assert output(session, "ripemd", "digest", "stream/1", size, 3) == whole


@pytest.mark.parametrize("steps", [1, 7, 100])
def test_the_chains_compute_what_their_instructions_do(session: Session, steps: int):
    product = sum_ = START
    for _ in range(steps):
        product = product * OPERAND & MASK
        sum_ = (sum_ * OPERAND + OPERAND) & MASK
    expected = {"probe-imul": product, "probe-imul-add": sum_}
    for name in set(chains(session)) & set(expected):
        assert (
            output(session, name, "run", "stream/1", steps, 1) == expected[name].to_bytes(8, "little").hex()
        )


def test_a_chain_goes_on_from_call_to_call_and_begins_anew_with_a_sample(session: Session):
    assert chains(session) or platform.machine() != "x86_64"
    for name in chains(session):
        in_one = output(session, name, "run", "stream/1", 96, 1)
        assert output(session, name, "run", "stream/1", 16, 6) == in_one
        assert output(session, name, "run", "stream/1", 95, 1) != in_one
        handle = session.prepare(name, "run", "stream/1", 96, seed=SEED)
        assert session.check_calls(handle, 1).output == in_one == session.check_calls(handle, 1).output
