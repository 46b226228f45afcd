"""The OpenSSL runners, EVP and low-level: right in every tier, and in the tier that they say."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pytest

from perbyte.catalogue import load
from perbyte.errors import RunnerError, RunnerRefused
from perbyte.model import KnownAnswer
from perbyte.protocol import material
from perbyte.runners import Session
from perbyte.runners.locate import RunnerSpec

sys.path.insert(0, str(Path(__file__).parent))

import library_checks as checks

pytestmark = pytest.mark.native

EVP_TIERS = ("full", "soft", "tables")
LOWLEVEL_TIERS = ("full", "soft")


@pytest.fixture(scope="module")
def evp() -> RunnerSpec:
    return checks.built("openssl")


@pytest.fixture(scope="module")
def lowlevel() -> RunnerSpec:
    return checks.built("openssl-lowlevel")


@pytest.fixture(scope="module")
def evp_full(evp: RunnerSpec) -> checks.Digests:
    return checks.try_everything(evp, "full")


@pytest.fixture(scope="module")
def lowlevel_full(lowlevel: RunnerSpec) -> checks.Digests:
    return checks.try_everything(lowlevel, "full")


def test_evp_contracts_agree(evp_full: checks.Digests) -> None:
    checks.assert_contracts_agree(evp_full)


def test_lowlevel_contracts_agree(lowlevel_full: checks.Digests) -> None:
    checks.assert_contracts_agree(lowlevel_full)


def test_evp_and_lowlevel_agree(evp_full: checks.Digests, lowlevel_full: checks.Digests) -> None:
    checks.assert_same(evp_full, lowlevel_full, at_least=40)


@pytest.mark.slow
@pytest.mark.parametrize("cpu", EVP_TIERS[1:])
def test_evp_gives_the_same_in_every_tier(evp: RunnerSpec, evp_full: checks.Digests, cpu: str) -> None:
    digests = checks.try_everything(evp, cpu)
    assert digests.keys() == evp_full.keys()
    checks.assert_same(evp_full, digests, at_least=50)


@pytest.mark.parametrize("cpu", LOWLEVEL_TIERS)
def test_lowlevel_known_answers(lowlevel: RunnerSpec, cpu: str) -> None:
    counts = checks.count_known_answers(lowlevel, cpu)
    for algorithm in (
        "aes-128-ige",
        "aes-256-ofb",
        "blowfish-64-ecb",
        "des-ede3-cbc",
        "rc4",
        "whirlpool",
        "md4",
    ):
        assert counts[algorithm] > 0, algorithm


@pytest.mark.parametrize("cpu", EVP_TIERS)
def test_evp_known_answers(evp: RunnerSpec, cpu: str) -> None:
    counts = checks.count_known_answers(evp, cpu)
    for algorithm in (
        "aes-128-ecb",
        "aes-256-gcm",
        "chacha20-poly1305",
        "sha3-256",
        "hmac-sha-256",
        "rc2-cbc",
        "x25519",
        "ed448",
        "ecdsa-p384",
        "aes-256-ocb",
        "aes-128-siv",
        "aes-256-xts",
        "kmac256",
        "shake128",
        "hkdf-sha-512",
        "scrypt-16384-8-1",
    ):
        assert counts[algorithm] > 0, algorithm


def test_offers_what_the_issue_lists(evp: RunnerSpec) -> None:
    with Session(evp) as session:
        listed = {row.algorithm for row in session.hello().operations}
    wanted = {
        f"{c}-{k}-{m}" for c in ("aes", "camellia") for k in (128, 192, 256) for m in ("ecb", "cbc", "ctr")
    }
    wanted |= {
        "des-cbc",
        "des-ede3-cbc",
        "chacha20",
        "md5",
        "sha-1",
        "sha-256",
        "sha-512",
        "sha3-256",
        "ripemd-160",
    }
    wanted |= {"whirlpool", "hmac-sha-256", "aes-128-gcm", "aes-256-gcm", "chacha20-poly1305", "rc4"}
    wanted |= {"rsa-512", "rsa-4096", "dsa-512", "dsa-2048"}
    assert wanted <= listed
    for algorithm in listed:
        load().find(algorithm)


def test_aes_of_fips_197(evp: RunnerSpec, lowlevel: RunnerSpec) -> None:
    known = KnownAnswer(
        "aes-128-ecb",
        "encrypt",
        "FIPS 197, C.1",
        key="000102030405060708090a0b0c0d0e0f",
        input="00112233445566778899aabbccddeeff",
    )
    for spec in (evp, lowlevel):
        for contract in ("stream/1", "message/1", "rekey/1"):
            with Session(spec) as session:
                handle = session.prepare("aes-128-ecb", "encrypt", contract, 16, seed=1)
                assert session.check_vector(handle, known).output == "69c4e0d86a7b0430d8cdb78070b4c55a"


def test_stream_goes_on_where_message_starts_again(evp: RunnerSpec) -> None:
    """Three calls of stream/1 hash three times the input; three of oneshot/1 hash it once."""
    data = material.data(checks.SEED, 512)
    with Session(evp) as session:
        for contract, times in (("stream/1", 3), ("oneshot/1", 1)):
            with checks.prepared(session, "sha-256", "digest", contract, 512) as handle:
                assert session.check_calls(handle, 3).output == hashlib.sha256(data * times).hexdigest()


def test_the_tier_is_in_force(evp: RunnerSpec) -> None:
    message = {}
    for cpu in EVP_TIERS:
        with Session(evp, cpu=cpu) as session:
            message[cpu] = session.hello().cpu_features.split(": ")[-1].split()
    for cpu in ("soft", "tables"):
        assert not {"AES-NI", "PCLMULQDQ", "SHA", "VAES", "VPCLMULQDQ", "AES", "PMULL"} & set(message[cpu])
    assert "SSSE3" not in message["tables"]


def test_a_tier_that_is_not_in_force_is_refused(evp: RunnerSpec) -> None:
    """With its switch neutralised, the process must not pretend."""
    for cpu, environment in (
        ("soft", {"OPENSSL_ia32cap": ":", "OPENSSL_armcap": "0xffff"}),
        ("full", {"OPENSSL_ia32cap": "~0x200000200000000", "OPENSSL_armcap": "0"}),
    ):
        spec = checks.switched(evp, cpu, environment)
        with Session(spec, cpu=cpu) as session, pytest.raises(RunnerError):
            session.hello()


def test_a_digest_too_long_for_the_modulus_is_refused(evp: RunnerSpec) -> None:
    with Session(evp) as session:
        with pytest.raises(RunnerRefused, match="at most 53 bytes"):
            session.prepare("rsa-512", "sign", "pk/1", 54, seed=1)
        assert session.prepare("rsa-512", "sign", "pk/1", 36, seed=1) >= 0


def test_rsa_signs_alike_in_every_process(evp: RunnerSpec) -> None:
    """The keys are fixed numbers, and PKCS #1 v1.5 draws nothing."""
    outputs = set()
    for _ in range(2):
        with Session(evp) as session, checks.prepared(session, "rsa-1024", "sign", "pk/1", 32) as handle:
            answer = session.check_calls(handle, 1)
            assert answer.length == 128
            outputs.add(answer.output)
    assert len(outputs) == 1
