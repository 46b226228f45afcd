"""The opt-in runners that were built here: right, in every tier, and equal to the others where both have something.

What is not built is skipped with the command that builds it. What a build is made of is pinned, built or not.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest

from perbyte import places
from perbyte.app.agreeing import agree
from perbyte.catalogue import load
from perbyte.errors import RunnerRefused
from perbyte.model import Cell
from perbyte.protocol import material
from perbyte.runners import Session, find
from perbyte.runners.locate import RunnerSpec

sys.path.insert(0, str(Path(__file__).parent))

import library_checks as checks

HOME = places.data_dir("runners")
CRATES = (
    "openssl-1",
    "openssl-next",
    "openssl-fips",
    "openssl-4",
    "aws-lc",
    "boringssl",
    "libsodium",
    "blake3",
    "libaegis",
    "liboqs",
    "botan",
    "wolfssl",
    "libsecp256k1",
    "blst",
    "aws-lc-fips",
    "mbedtls-psa",
    "mbedtls-next",
)
HPKE = ("hpke-x25519-aes-128-gcm", "hpke-x25519-chacha20-poly1305", "hpke-p256-aes-128-gcm")
RIGHT = {
    "openssl-1": ("sha-256", "aes-256-gcm", "aes-128-ccm", "x25519", "ed25519", "ecdsa-p384", "sha3-256"),
    "openssl-next": (
        *("ml-kem-768", "ml-dsa-65", "argon2id-64mib-2-1", "aes-256-gcm-siv", "x25519"),
        *("slh-dsa-shake-192s", "ecdsa-p521", "ecdh-secp256k1"),
        *("ecdsa-brainpoolp384r1", "ffdhe2048", *HPKE),
    ),
    "openssl-fips": ("sha-256", "aes-256-gcm", "ecdsa-p384", "ffdhe2048", "ml-kem-768", "ml-dsa-65"),
    "openssl-4": ("ml-kem-768", "ml-dsa-65", "argon2id-64mib-2-1", "slh-dsa-sha2-256f", "ecdh-p521"),
    "aws-lc": (
        *("ml-kem-768", "ml-dsa-44", "ed25519", "aes-256-gcm", "xchacha20-poly1305", "hkdf-sha-512"),
        *("ecdh-p521", "ecdsa-secp256k1"),
    ),
    "aws-lc-fips": ("ml-kem-768", "ed25519", "aes-256-gcm", "ecdsa-p521"),
    "boringssl": ("ml-kem-1024", "ml-dsa-87", "ecdsa-p521", "aes-128-gcm-siv", "poly1305"),
    "libsecp256k1": ("ecdh-secp256k1", "ecdsa-secp256k1", "schnorr-secp256k1"),
    "blst": ("bls12-381-min-pk",),
    "libsodium": ("ml-kem-768", "aegis-256", "argon2id-64mib-2-1", "blake2b-256", "ed25519"),
    "blake3": ("blake3",),
    "libaegis": ("aegis-128l", "aegis-128x2", "aegis-128x4", "aegis-256", "aegis-256x2", "aegis-256x4"),
    "liboqs": (
        "ml-kem-512",
        "ml-dsa-65",
        "efrodokem-976-shake",
        "classic-mceliece-348864",
        "hqc-192-2023",
        "hss-sha256-h5w8-h5w8",
        "hss-sha256-h10w4-h5w8",
        "xmss-sha2-10-256",
    ),  # Falcon has no known answers: each runner has a pair of its own
    "botan": (
        "ml-kem-768",
        "ml-dsa-65",
        "ascon-aead128",
        "ascon-hash256",
        "argon2id-64mib-2-1",
        "bcrypt-10",
        "ecdsa-p256",
        "slh-dsa-sha2-128f",
        "ecdh-brainpoolp256r1",
        "ffdhe3072",
        "hss-sha256-h10w4-h5w8",
        "xmss-shake256-10-256",
    ),
    "wolfssl": (
        "ml-kem-768",
        "ml-dsa-65",
        "aes-256-gcm-siv",
        "x448",
        "ed448",
        "kmac128",
        "argon2id-64mib-2-1",
    ),
    "wolfssl-package": ("aes-256-gcm", "aes-128-siv", "x25519", "ecdsa-p256", "sha3-256"),
    "nss": ("aes-256-gcm", "chacha20-poly1305", "sha-384", "hmac-sha-256"),
    "gnutls": ("aes-192-gcm", "aes-128-ccm", "sha3-512", "hmac-sha-384"),
    "mbedtls": (
        *("aes-256-gcm", "aes-128-ccm", "aes-256-xts", "hkdf-sha-256", "x25519", "ecdsa-p384"),
        "ecdh-brainpoolp384r1",
    ),
    "mbedtls-next": ("aes-256-gcm", "chacha20-poly1305", "sha-512", "x25519", "ecdsa-p256"),
    "mbedtls-psa": (
        "aes-256-gcm",
        "sha3-256",
        "x25519",
        "ecdh-p521",
        "ecdsa-secp256k1",
        "ecdsa-brainpoolp512r1",
    ),
    "ipsec-mb": ("aes-192-gcm", "chacha20-poly1305", "sha-512"),
    "rustcrypto": (
        "sha-256",
        "aes-128-gcm",
        "xchacha20-poly1305",
        "ed25519",
        "x25519",
        "ml-kem-768",
        "hmac-sha-1",
    ),
    "python-hashlib": ("sha-256", "sha3-256", "hmac-sha-256"),
    "python-cryptography": ("sha-256", "aes-128-gcm", "aes-256-ctr", "ed25519", "x25519"),
    "python-pynacl": ("sha-512", "xchacha20-poly1305", "ed25519", "x25519"),
    "python-pycryptodome": ("sha-256", "aes-256-gcm", "chacha20-poly1305"),
    "python-blake3": ("blake3",),
    "node-crypto": ("sha-256", "aes-128-gcm", "chacha20-poly1305", "ed25519", "x25519"),
    "node-webcrypto": ("sha-256", "hmac-sha-384", "aes-256-gcm", "ed25519", "x25519", "ecdh-p384"),
    "zig": (
        *("sha-256", "aes-256-gcm", "aegis-128l", "ascon-hash256", "kt128", "hkdf-sha-512"),
        *("ed25519", "ecdsa-p384", "ecdh-p256", "ml-kem-768", "ml-dsa-65", "scrypt-16384-8-1"),
    ),
    "node-noble": ("sha-256", "aes-256-gcm", "blake3", "ed25519", "x25519"),
    "bun-noble": ("sha-256", "aes-256-gcm", "blake3", "ed25519", "x25519"),
    "deno-noble": ("sha-256", "aes-256-gcm", "blake3", "ed25519", "x25519"),
    "go": (
        "sha-256",
        "aes-256-gcm",
        "xchacha20-poly1305",
        "ed25519",
        "ecdh-p256",
        "ml-kem-1024",
        "rc4",
        *HPKE,
    ),
    "ring": ("sha-256", "aes-256-gcm", "chacha20-poly1305", "hmac-sha-384", "ed25519"),
    "aws-lc-rs": ("sha3-384", "aes-256-gcm-siv", "ed25519", "ecdh-p384", "ml-kem-768", "ml-dsa-87"),
    "graviola": ("sha3-512", "aes-256-gcm", "xchacha20-poly1305", "ed25519", "ecdh-p256", "ml-kem-768"),
    "blake3-threads": ("blake3",),
    "adiantum": ("adiantum-xchacha12",),
    "xxhash": ("xxh64", "xxh3-64", "xxh3-128"),
    "libxcrypt": ("bcrypt-10",),
    "circl": ("x25519", "x448", "ed448", "ml-dsa-65", "ml-kem-1024", *HPKE),
}
LIKE_OPENSSL = (
    *(
        "aws-lc",
        "aws-lc-fips",
        "boringssl",
        "libsodium",
        "botan",
        "wolfssl",
        "wolfssl-package",
        "gnutls",
        "mbedtls-psa",
        "mbedtls",
    ),
    *("rustcrypto", "ring", "aws-lc-rs", "graviola", "go", "zig", "node-crypto", "node-webcrypto"),
)


IN_PLACE = (
    "go",
    "python-hashlib",
    "python-cryptography",
    "python-pycryptodome",
    "node-crypto",
    "node-webcrypto",
)
# without AES instructions Go's crypto/tls takes another cipher than the one that these rows are of
FULL_ALONE = {"go": "tls13-"}
OF_NEWER = {"mbedtls": "tls13-"}  # that a package of 3.6 has, and one of 2.28 lacks
CHAINED = ("encrypt", "decrypt", "seal", "open", "digest", "mac", "sign")


def built(name: str) -> RunnerSpec:
    spec = find(name)
    if not spec.out().is_dir():
        pytest.skip(f"not built: perbyte build {name}")
    return spec


@pytest.mark.parametrize("name", CRATES)
def test_one_crate_is_pinned_and_no_registry_named(name: str) -> None:
    (line,) = (HOME / name / "crates.txt").read_text(encoding="utf-8").splitlines()
    crate, version, checksum = line.split()
    assert re.fullmatch(r"[a-z0-9-]+", crate)
    assert re.fullmatch(r"\d+\.\d+\.\d+(\+\S+)?", version)
    assert re.fullmatch("[0-9a-f]{64}", checksum)
    for file in (HOME / name).iterdir():
        assert not re.search(r"https?://|crates\.io", file.read_text(encoding="utf-8")), file.name


@pytest.mark.parametrize("name", CRATES)
def test_is_opt_in_says_its_cost_and_explains_itself(name: str) -> None:
    spec = find(name)
    assert spec.opt_in
    assert "to fetch" in spec.cost
    text = " ".join((HOME / name / "README.md").read_text(encoding="utf-8").split())
    assert f"perbyte build {name}" in text


def test_another_checksum_stops_the_build_and_says_which(tmp_path: Path) -> None:
    """With a cargo of our own that only writes the lock file: nothing is fetched."""
    tools, out = tmp_path / "bin", tmp_path / "products" / "blake3"
    tools.mkdir()
    out.mkdir(parents=True)
    cargo = tools / "cargo"
    cargo.write_text(
        '#!/bin/sh\nmkdir vendor\nprintf \'[[package]]\\nname = "blake3"\\nversion = "1.8.7"\\n'
        'checksum = "%064d"\\n\' 7 >Cargo.lock\n'
    )
    cargo.chmod(0o755)
    environment = {"PATH": f"{tools}:/usr/bin:/bin", "PERBYTE_JOBS": "1"}
    done = subprocess.run(
        ["sh", str(HOME / "blake3" / "build.sh"), str(out)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "has the checksum 0000" in done.stderr
    assert not list(out.iterdir())


def test_a_missing_registry_says_what_to_do(tmp_path: Path) -> None:
    tools, out = tmp_path / "bin", tmp_path / "products" / "blake3"
    tools.mkdir()
    out.mkdir(parents=True)
    cargo = tools / "cargo"
    cargo.write_text('#!/bin/sh\n[ "$1" != --version ] || exit 0\necho no network here >&2\nexit 101\n')
    cargo.chmod(0o755)
    done = subprocess.run(
        ["sh", str(HOME / "blake3" / "build.sh"), str(out)],
        env={"PATH": f"{tools}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "no network here" in done.stderr
    assert "could not be fetched" in done.stderr


def test_threads_get_no_real_time_scheduling() -> None:
    """They would keep everything else from every core."""
    assert find("blake3-threads").threads
    assert not find("blake3-threads").undisturbed
    assert find("ring").undisturbed


@pytest.mark.native
@pytest.mark.slow
@pytest.mark.parametrize("name", RIGHT)
def test_known_answers_and_forgeries(name: str) -> None:
    spec = built(name)
    for cpu in spec.tiers:
        counts = checks.count_known_answers(spec, cpu)
        for algorithm in RIGHT[name]:
            assert counts[algorithm] > 0, f"{algorithm} in tier {cpu}"


@pytest.mark.native
@pytest.mark.slow
@pytest.mark.parametrize("name", ["node-crypto", "node-webcrypto"])
def test_a_refused_key_leaves_nothing_behind(name: str) -> None:
    """Cases come and go at the same addresses; what a refused one left was written beyond its end."""
    built(name)
    assert [each.failures for each in agree([f"{name}/*"]).algorithms if each.failures] == []


@pytest.mark.native
def test_one_forged_signature_of_sixteen_is_found_at_each_place() -> None:
    """The one that is changed is at another place in each batch; the other fifteen are genuine."""
    with Session(built("rustcrypto")) as session:
        handle = session.prepare("ed25519", "verify", "many/1", 32, seed=7)
        assert all(session.forgery(handle).passed for _ in range(16))


SIZE, AREA = 96, 4 * 96 + 5


def prepared_digest(session: Session, path: Path | None = None) -> tuple[int, dict]:
    handle = session.prepare("sha-256", "digest", "oneshot/1", SIZE, seed=7, input_path=path)
    session.calibrate(5, epoch=0)
    cell = Cell(session.spec.name, "sha-256", "digest", SIZE, "oneshot/1")
    return handle, {"cell": cell, "epoch": 0, "round": 0, "samples": 3, "limit_ms": 50.0}


@pytest.mark.native
@pytest.mark.parametrize("name", ["go", "jca-sun", "node-crypto", "python-hashlib"])
def test_a_call_reads_its_data_from_the_disk(name: str) -> None:
    """What a language holds of the data before is other data: only a call that reads gives the file's digest."""
    with NamedTemporaryFile(dir=HOME) as file, Session(built(name)) as session:
        file.write(bytes(SIZE))
        file.flush()
        handle, asked = prepared_digest(session, Path(file.name))
        file.seek(0)
        file.write(data := material.data(9, SIZE))
        file.flush()
        try:
            answer = session.measure(handle, from_disk=True, calls=1, **asked)
        except RunnerRefused as error:
            pytest.skip(str(error))  # the sources lie in memory
        assert answer.digest == material.digest(hashlib.sha256(data).digest())
        assert len(answer.burst) == 3


@pytest.mark.native
def test_calls_of_go_walk_through_memory() -> None:
    """And a language that has copies of its data refuses to."""
    data = material.data(7, AREA)
    blocks = [hashlib.sha256(data[at : at + SIZE]).digest() for at in range(0, 4 * SIZE, SIZE)]
    with Session(built("go")) as session:
        handle, asked = prepared_digest(session)
        asked["samples"] = 1
        for calls, last in ((1, 0), (3, 2), (4, 3), (6, 1)):
            walked = session.measure(handle, walk_bytes=AREA, calls=calls, **asked).digest
            assert walked == material.digest(blocks[last]), calls
        assert session.measure(handle, calls=3, **asked).digest == material.digest(blocks[0])
    with Session(built("node-crypto")) as session:
        handle, asked = prepared_digest(session)
        with pytest.raises(RunnerRefused, match="data of its own"):
            session.measure(handle, walk_bytes=AREA, calls=1, **asked)


@pytest.mark.native
def test_javascript_warms_up_before_its_samples_have_their_time() -> None:
    """The loop of a fresh process is made fast for 60 ms; that must not end a burst of 10 ms after one cold call."""
    with Session(built("node-crypto")) as session:
        handle, asked = prepared_digest(session)
        asked |= {"samples": 20, "limit_ms": 10.0, "warm_us": 300.0}
        assert len(session.measure(handle, calls=1, **asked).burst) == 20


@pytest.mark.native
@pytest.mark.slow
@pytest.mark.parametrize("name", RIGHT)
def test_everything_listed_works_alike_in_all_tiers(name: str) -> None:
    spec = built(name)
    full = checks.try_everything(spec, "full")
    assert {key[0] for key in full} <= set(load().algorithms)
    if any(contract in checks.WHOLE_MESSAGES for _, _, contract, _, _ in full):
        checks.assert_contracts_agree(full)
    for cpu in spec.tiers:
        if cpu != "full":
            digests = checks.try_everything(spec, cpu)
            of_full = FULL_ALONE.get(name)
            assert digests.keys() == {key for key in full if not of_full or not key[0].startswith(of_full)}
            checks.assert_same(full, digests, at_least=1)


@pytest.mark.native
@pytest.mark.slow
@pytest.mark.parametrize("name", LIKE_OPENSSL)
def test_agrees_with_openssl(name: str) -> None:
    ours = checks.try_everything(built(name), "full")
    checks.assert_same(ours, checks.try_everything(checks.built("openssl"), "full"), at_least=11)


@pytest.mark.native
@pytest.mark.parametrize("name", IN_PLACE)
def test_audited_calls_give_what_those_of_openssl_give(name: str) -> None:
    """The language takes over new data where the old ones are; afterwards it has the old ones again."""
    with Session(built(name)) as ours, Session(checks.built("openssl")) as theirs:
        there = [
            {(row.algorithm, row.operation, row.contract) for row in session.hello().operations}
            for session in (ours, theirs)
        ]
        rows = [row for row in sorted(there[0] & there[1]) if row[1] in CHAINED]
        rows = [
            row
            for row in rows
            if not row[2].startswith("letter/") and (row[1] != "sign" or row[0] == "ed25519")
        ]
        assert rows
        checks.assert_chains_agree(ours, theirs, rows)


@pytest.mark.native
@pytest.mark.parametrize("name", RIGHT)
def test_says_who_it_is(name: str) -> None:
    with Session(built(name)) as session:
        hello = session.hello()
    assert hello.runner == name
    assert hello.library_version
    named = (HOME / name / "algorithms.txt").read_text(encoding="utf-8").split()
    offered = {row.algorithm for row in hello.operations} - {"probe-imul", "probe-empty"}
    newer = OF_NEWER.get(name)
    assert set(named) == {each for each in offered if not newer or not each.startswith(newer)}
    assert all(row.calls for row in hello.operations)
