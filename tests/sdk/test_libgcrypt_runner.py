"""The libgcrypt runner: the traps of its library, and tiers that really switch instructions off."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator

import pytest

from perbyte.model import KnownAnswer
from perbyte.protocol import material
from perbyte.runners import Session
from perbyte.runners.build import BuildState, build
from perbyte.runners.locate import RunnerSpec, find

pytestmark = pytest.mark.native

SEED = 11
ZERO = "00" * 16
ABC = b"abc".hex()
CRYPTO_FEATURES = {
    *("intel-aesni", "intel-pclmul", "intel-shaext", "intel-vaes-vpclmul", "padlock-aes", "padlock-sha"),
    *("arm-aes", "arm-pmull", "arm-sha1", "arm-sha2", "ppc-vcrypto"),
}
RC2_KEY = "88bca90e90875a7f0f79c384627bafb2"

KNOWN = [
    KnownAnswer("aes-128-ecb", "encrypt", "SP 800-38A F.1.1", "6bc1bee22e409f96e93d7e117393172a",
                "3ad77bb40d7a3660a89ecaf32466ef97", "2b7e151628aed2a6abf7158809cf4f3c"),
    KnownAnswer("rc2-ecb", "encrypt", "RFC 2268: 128 effective bits", "00" * 8, "2269552ab0f85ca6", RC2_KEY),
    KnownAnswer("rc4", "encrypt", "RFC 6229", ZERO, "9ac7cc9a609d1ef7b2932899cde41b97",
                "0102030405060708090a0b0c0d0e0f10"),
    KnownAnswer("serpent-128-ecb", "encrypt", "byte order", ZERO, "264e5481eff42a4606abda06c0bfda3d",
                "80" + "00" * 15),
    KnownAnswer("aes-128-gcm", "seal", "empty message", "", "58e2fccefa7e3061367f1d57a4e7455a", ZERO, "00" * 12),
    KnownAnswer("tiger", "digest", "byte order", ABC, "2aab1484e8c158f2bfb8c5ff41b57a525129131c957b5f93"),
    KnownAnswer("gost-94", "digest", "CryptoPro S-boxes", ABC,
                "b285056dbf18d7392d7677369524dd14747459ed8143997e163b2986f92fd42c"),
    KnownAnswer("ripemd-160", "digest", "authors", ABC, "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"),
]  # fmt: skip


@pytest.fixture(scope="module")
def spec() -> RunnerSpec:
    spec = find("libgcrypt")
    outcome = build(spec)
    if outcome.state is BuildState.ABSENT:
        pytest.skip(f"not installed: {outcome.missing}")
    assert outcome.state is not BuildState.FAILED, outcome.output
    return spec


@pytest.fixture(scope="module", params=["full", "soft", "tables", "no-avx"])
def session(spec: RunnerSpec, request: pytest.FixtureRequest) -> Iterator[Session]:
    with Session(spec, cpu=request.param) as started:
        yield started


def output(session: Session, algorithm: str, operation: str, contract: str, size: int, calls: int) -> str:
    handle = session.prepare(algorithm, operation, contract, size, seed=SEED)
    return session.check_calls(handle, calls).output


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: f"{known.algorithm}: {known.source}")
def test_known_answers_come_out_under_every_contract(session: Session, known: KnownAnswer):
    contracts = [
        row.contract
        for row in session.hello().operations
        if (row.algorithm, row.operation) == (known.algorithm, known.operation) and row.contract != "setup/1"
    ]
    assert len(contracts) >= 2
    for contract in contracts:
        handle = session.prepare(known.algorithm, known.operation, contract, 64, seed=SEED)
        assert session.check_vector(handle, known).output == known.output, contract


@pytest.mark.parametrize(
    ("algorithm", "theirs"),
    [("md5", "md5"), ("sha-1", "sha1"), ("sha-224", "sha224"), ("sha-256", "sha256"), ("sha-384", "sha384"),
     ("sha-512", "sha512"), ("sha3-256", "sha3_256")],
)  # fmt: skip
def test_hashes_agree_with_python(session: Session, algorithm: str, theirs: str):
    data = material.data(SEED, 1000)
    once, thrice = (hashlib.new(theirs, data * times).hexdigest() for times in (1, 3))
    assert output(session, algorithm, "digest", "oneshot/1", 1000, 3) == once
    assert output(session, algorithm, "digest", "stream/1", 1000, 3) == thrice


@pytest.mark.parametrize(
    ("algorithm", "theirs", "key_bytes"),
    [("hmac-md5", "md5", 16), ("hmac-sha-1", "sha1", 20), ("hmac-sha-256", "sha256", 32)],
)
def test_hmac_agrees_with_python(session: Session, algorithm: str, theirs: str, key_bytes: int):
    data = material.data(SEED, 1000)
    first, second = (material.stream(SEED, f"key/{number}", key_bytes) for number in range(2))
    assert (
        output(session, algorithm, "mac", "message/1", 1000, 2) == hmac.new(first, data, theirs).hexdigest()
    )
    assert output(session, algorithm, "mac", "rekey/1", 1000, 2) == hmac.new(second, data, theirs).hexdigest()
    assert (
        output(session, algorithm, "mac", "stream/1", 1000, 2)
        == hmac.new(first, data * 2, theirs).hexdigest()
    )


def test_rsa_signatures_are_those_of_openssl(spec: RunnerSpec):
    """One key, made by the rule of key_numbers.h, and PKCS #1 padding without anything random."""
    theirs = find("openssl")
    if build(theirs).state is BuildState.ABSENT:
        pytest.skip("OpenSSL is not installed")
    with Session(spec) as ours, Session(theirs) as other:
        for bits in (2048, 3072, 4096):
            row = (f"rsa-{bits}", "sign", "pk/1", 32)
            assert output(ours, *row, 1) == output(other, *row, 1), bits


def test_a_tier_takes_away_its_instructions_and_no_others(spec: RunnerSpec):
    features = {}
    for tier in ("full", "soft", "tables", "no-avx"):
        with Session(spec, cpu=tier) as session:
            features[tier] = set(session.hello().cpu_features.split(":"))
    assert features["soft"] == features["full"] - CRYPTO_FEATURES
    assert features["tables"] == features["soft"] - {"intel-ssse3"}
    assert features["no-avx"] == features["full"] - {"intel-avx", "intel-avx2"}


def test_the_library_names_itself(session: Session):
    hello = session.hello()
    assert hello.library == "libgcrypt"
    assert hello.library_version[0].isdigit()
    assert "libgcrypt.so" in hello.object
    assert all(row.calls.startswith("gcry_") for row in hello.operations)


def test_a_weak_key_is_an_answer_and_not_the_end(session: Session):
    handle = session.prepare("des-ecb", "encrypt", "stream/1", 8, seed=SEED)
    with pytest.raises(Exception, match=r"(?i)weak"):
        session.check_vector(handle, KnownAnswer("des-ecb", "encrypt", "weak", "00" * 8, "", "01" * 8))
    assert session.check_calls(handle, 1).length == 8
