"""The Nettle runner: right in both tiers, in the tier that it says, and equal to OpenSSL where both have something."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pytest

from perbyte.catalogue import load
from perbyte.errors import RunnerError
from perbyte.model import KnownAnswer
from perbyte.protocol import material
from perbyte.runners import Session
from perbyte.runners.locate import RunnerSpec

sys.path.insert(0, str(Path(__file__).parent))

import library_checks as checks

pytestmark = pytest.mark.native

TIERS = ("full", "soft")


@pytest.fixture(scope="module")
def nettle() -> RunnerSpec:
    return checks.built("nettle")


@pytest.fixture(scope="module")
def full(nettle: RunnerSpec) -> checks.Digests:
    return checks.try_everything(nettle, "full")


def test_contracts_agree(full: checks.Digests) -> None:
    checks.assert_contracts_agree(full)


def test_gives_the_same_in_both_tiers(nettle: RunnerSpec, full: checks.Digests) -> None:
    digests = checks.try_everything(nettle, "soft")
    assert digests.keys() == full.keys()
    checks.assert_same(full, digests, at_least=60)


def test_agrees_with_openssl(full: checks.Digests) -> None:
    checks.assert_same(full, checks.try_everything(checks.built("openssl"), "full"), at_least=40)


@pytest.mark.parametrize("cpu", TIERS)
def test_known_answers(nettle: RunnerSpec, cpu: str) -> None:
    counts = checks.count_known_answers(nettle, cpu)
    for algorithm in (
        "aes-128-ecb",
        "aes-128-gcm",
        "chacha20-poly1305",
        "camellia-192-ecb",
        "serpent-256-ecb",
        "twofish-128-ecb",
        "rc2-cbc",
        "sha3-256",
        "md2",
        "gost-94",
        "hmac-sha-256",
    ):
        assert counts[algorithm] > 0, algorithm


def test_offers_what_the_issue_lists(nettle: RunnerSpec) -> None:
    with Session(nettle) as session:
        listed = {row.algorithm for row in session.hello().operations}
    wanted = {
        f"{c}-{k}-{m}" for c in ("aes", "camellia") for k in (128, 192, 256) for m in ("ecb", "cbc", "ctr")
    }
    wanted |= {
        f"{c}-{k}-{m}" for c in ("serpent", "twofish") for k in (128, 256) for m in ("ecb", "cbc", "ctr")
    }
    wanted |= {f"{c}-{m}" for c in ("des", "des-ede3") for m in ("ecb", "cbc", "ctr")}
    wanted |= {"md5", "sha-1", "sha-256", "sha-512", "sha3-256", "ripemd-160", "hmac-sha-256"}
    wanted |= {"aes-128-gcm", "aes-256-gcm", "chacha20-poly1305"}
    assert wanted <= listed
    for algorithm in listed:
        load().find(algorithm)


def test_aes_of_fips_197(nettle: RunnerSpec) -> None:
    known = KnownAnswer(
        "aes-256-ecb",
        "decrypt",
        "FIPS 197, C.3",
        key="000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        input="8ea2b7ca516745bfeafc49904b496089",
    )
    for cpu in TIERS:
        for contract in ("stream/1", "message/1", "rekey/1"):
            with Session(nettle, cpu=cpu) as session:
                handle = session.prepare("aes-256-ecb", "decrypt", contract, 16, seed=1)
                assert session.check_vector(handle, known).output == "00112233445566778899aabbccddeeff"


def test_stream_goes_on_where_message_starts_again(nettle: RunnerSpec) -> None:
    """Three calls of stream/1 hash three times the input; three of oneshot/1 hash it once."""
    data = material.data(checks.SEED, 512)
    with Session(nettle) as session:
        for contract, times in (("stream/1", 3), ("oneshot/1", 1)):
            with checks.prepared(session, "sha-512", "digest", contract, 512) as handle:
                assert session.check_calls(handle, 3).output == hashlib.sha512(data * times).hexdigest()


def test_the_library_names_its_code(nettle: RunnerSpec) -> None:
    """The words are Nettle's own; on a CPU without the instructions both tiers say the same."""
    paths = {}
    for cpu in TIERS:
        with Session(nettle, cpu=cpu) as session:
            hello = session.hello()
            paths[cpu] = {row.algorithm: row.code_path for row in hello.operations}
            if cpu == "full" and "aesni" not in hello.cpu_features:
                pytest.skip("a CPU or a build of Nettle without run-time selection of AES instructions")
    assert paths["full"]["aes-128-ecb"] == "aes"
    assert paths["soft"]["aes-128-ecb"] == "no aes"
    assert paths["soft"]["aes-128-gcm"] == "no aes, no pclmulqdq"


@pytest.mark.parametrize(("cpu", "override"), [("full", "none"), ("soft", "aesni")])
def test_a_tier_that_is_not_in_force_is_refused(nettle: RunnerSpec, cpu: str, override: str) -> None:
    spec = checks.switched(nettle, cpu, {"NETTLE_FAT_OVERRIDE": override})
    with Session(spec, cpu=cpu) as session, pytest.raises(RunnerError):
        session.hello()
