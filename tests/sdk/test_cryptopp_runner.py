"""The Crypto++ runner: which form of each historical cipher it has, and tiers that change the code in use."""

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
ABC = b"abc".hex()
WAKE_KEY = "00112233445566778899aabbccddeeff" * 2

KNOWN = [
    KnownAnswer("wake", "encrypt", "Crypto++ wake.txt, LE", "00" * 12, "ffeeddccdf42b9d4939c3515", WAKE_KEY),
    KnownAnswer("seal-3.0", "encrypt", "SEAL paper of 1997", "00" * 16, "37a005959b84c49ca4be1e050673530f",
                "67452301efcdab8998badcfe10325476c3d2e1f0", "013577af"),
    KnownAnswer("3-way-ecb", "encrypt", "author", "000000010000000100000001", "4059c76e83ae9dc4ad21ecf7",
                "00" * 12),
    KnownAnswer("safer-k64-6-ecb", "encrypt", "author", "0102030405060708", "7d28038633b92eb4", "00" * 8),
    KnownAnswer("rc5-32-12-ecb", "encrypt", "Rivest's example 1", "00" * 8, "21a5dbee154b8f6d", "00" * 16),
    KnownAnswer("rc2-ecb", "encrypt", "RFC 2268: 128 effective bits", "00" * 8, "2269552ab0f85ca6",
                "88bca90e90875a7f0f79c384627bafb2"),
    KnownAnswer("gost28147-ecb", "encrypt", "gostval.dat", "0df82802b741a292", "07f9027df7f7df89",
                "be5ec2006cff9dcf52354959f1ff0cbfe95061b5a648c10387069c25997c0672"),
    KnownAnswer("blowfish-64-ecb", "encrypt", "Schneier", "00" * 8, "4ef997456198dd78", "00" * 8),
    KnownAnswer("cast5-ecb", "encrypt", "RFC 2144", "0123456789abcdef", "238b4fe5847e44b2",
                "0123456712345678234567893456789a"),
    KnownAnswer("idea-ecb", "encrypt", "Lai 1992", "0000000100020003", "11fbed2b01986de5",
                "00010002000300040005000600070008"),
    KnownAnswer("aes-128-gcm", "seal", "empty message", "", "58e2fccefa7e3061367f1d57a4e7455a", "00" * 16,
                "00" * 12),
    KnownAnswer("md2", "digest", "RFC 1319", ABC, "da853b0d3f88d99b30283a69e6ded6bb"),
    KnownAnswer("md4", "digest", "RFC 1320", ABC, "a448017aaf21d8525fc10ae87aa6729d"),
    KnownAnswer("tiger", "digest", "byte order", ABC, "2aab1484e8c158f2bfb8c5ff41b57a525129131c957b5f93"),
    KnownAnswer("ripemd-128", "digest", "authors", ABC, "c14a12199c66e4ba84636b0f69144c77"),
    KnownAnswer("ripemd-256", "digest", "authors", ABC,
                "afbd6e228b9d8cbbcef5ca2d03e6dba10ac0bc7dcbe4680e1e42d2e975459b65"),
    KnownAnswer("ripemd-320", "digest", "authors", ABC,
                "de4c01b3054f8930a79d09ae738e92301e5a17085beffdc1b8d116713e74f82fa942d64cdbc4682d"),
]  # fmt: skip


@pytest.fixture(scope="module")
def spec() -> RunnerSpec:
    return built("cryptopp")


@pytest.fixture(scope="module", params=["full", "soft", "tables"])
def session(spec: RunnerSpec, request: pytest.FixtureRequest) -> Iterator[Session]:
    with Session(spec, cpu=request.param) as started:
        yield started


def built(name: str) -> RunnerSpec:
    spec = find(name)
    outcome = build(spec)
    if outcome.state is BuildState.ABSENT:
        pytest.skip(f"not installed: {outcome.missing}")
    assert outcome.state is not BuildState.FAILED, outcome.output
    return spec


def output(session: Session, algorithm: str, operation: str, contract: str, size: int, calls: int) -> str:
    handle = session.prepare(algorithm, operation, contract, size, seed=SEED)
    answer = session.check_calls(handle, calls)
    session.release(handle)
    return answer.output


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: f"{known.algorithm}: {known.source}")
def test_known_answers_come_out_under_every_contract(session: Session, known: KnownAnswer):
    contracts = [
        row.contract
        for row in session.hello().operations
        if (row.algorithm, row.operation) == (known.algorithm, known.operation) and row.contract != "setup/1"
    ]
    assert len(contracts) >= 2
    for contract in contracts:
        handle = session.prepare(known.algorithm, known.operation, contract, 48, seed=SEED)
        assert session.check_vector(handle, known).output == known.output, contract


def test_hashes_and_hmac_agree_with_python(session: Session):
    data, key = material.data(SEED, 1000), material.stream(SEED, "key/1", 32)
    for algorithm, theirs in (("sha-1", "sha1"), ("sha-256", "sha256"), ("sha3-256", "sha3_256")):
        once, thrice = (hashlib.new(theirs, data * times).hexdigest() for times in (1, 3))
        assert output(session, algorithm, "digest", "oneshot/1", 1000, 3) == once
        assert output(session, algorithm, "digest", "stream/1", 1000, 3) == thrice
    expected = hmac.new(key, data, "sha256").hexdigest()
    assert output(session, "hmac-sha-256", "mac", "rekey/1", 1000, 2) == expected


def test_a_tier_changes_the_code_in_use(spec: RunnerSpec):
    paths, features = {}, {}
    for tier in ("full", "soft", "tables"):
        with Session(spec, cpu=tier) as session:
            hello = session.hello()
            features[tier] = set(hello.cpu_features.split(":"))
            paths[tier] = {row.algorithm: row.code_path for row in hello.operations}
    assert features["soft"] == features["full"] - {"aesni", "clmul", "sha", "aes", "pmull", "sha1", "sha2"}
    assert features["tables"] == features["soft"] - {"ssse3"}
    if "aesni" not in features["full"]:
        pytest.skip("this CPU has no AES-NI")
    assert paths["full"]["aes-128-ctr"] == "AESNI"
    assert paths["full"]["aes-256-gcm"] == "AESNI"
    for tier in ("soft", "tables"):
        assert not {"AESNI", "SHANI", "CLMUL"} & set(paths[tier].values())


def test_shared_rows_agree_with_libgcrypt(spec: RunnerSpec):
    """Two libraries, one input: also what no standard has a vector for, e.g. DES in CTR."""
    with Session(spec) as ours, Session(built("libgcrypt")) as theirs:
        listed = [
            {
                (row.algorithm, row.operation, row.contract)
                for row in session.hello().operations
                if row.contract not in ("pk/1", "password/1")  # those below
            }
            for session in (ours, theirs)
        ]
        shared = listed[0] & listed[1]
        assert len(shared) > 400
        for row in shared:
            for size, calls in ((16, 1), (512, 18)):
                assert output(ours, *row, size, calls) == output(theirs, *row, size, calls), (row, size)


def test_key_derivation_and_curves_agree_with_libgcrypt(spec: RunnerSpec):
    rows = (
        *(("ecdh-p256", "derive", "pk/1"), ("ecdh-p384", "derive", "pk/1"), ("ed25519", "sign", "pk/1")),
        *(("pbkdf2-sha-256-4096", "hash", "password/1"), ("scrypt-16384-8-1", "hash", "password/1")),
    )
    with Session(spec) as ours, Session(built("libgcrypt")) as theirs:
        for row in rows:
            assert output(ours, *row, 32, 2) == output(theirs, *row, 32, 2), row


def test_the_library_names_itself(session: Session):
    hello = session.hello()
    assert hello.library == "Crypto++"
    assert hello.library_version.count(".") == 2
    assert "libcrypto" in hello.object
