"""The Java runner: right whatever the provider and the tier, each algorithm in a machine of its own, dead when killed.

Maven is not called from here unless a runner was built before: `perbyte build jca-sun` and so on builds them. All
checks of outputs share one virtual machine without a warm-up, because speed is no matter here.
"""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from perbyte import places
from perbyte.errors import RunnerCrashed, RunnerRefused
from perbyte.model import Cell
from perbyte.protocol import material
from perbyte.runners import Session
from perbyte.runners.conform import conform
from perbyte.runners.locate import RunnerSpec, find
from perbyte.runners.outside import cpu_s
from perbyte.runners.transcripts import applies, parse, replay

sys.path.insert(0, str(Path(__file__).parent))

import library_checks as checks

pytestmark = pytest.mark.native

PROVIDERS = ("jca-sun", "jca-bc", "jca-conscrypt", "jca-accp")
LEAST = {"jca-sun": 50, "jca-bc": 90, "jca-conscrypt": 20, "jca-accp": 15}
GOOD = sorted((places.data_dir("protocol") / "transcripts" / "good").glob("*.txt"))
CHAINED = [  # of each kind of call, as both providers have it
    ("sha-256", "digest", "oneshot/1"),
    ("sha-256", "digest", "stream/1"),
    *(("hmac-sha-256", "mac", contract) for contract in ("message/1", "rekey/1", "stream/1")),
    *(("aes-128-cbc", "encrypt", contract) for contract in ("message/1", "rekey/1", "setup/1", "stream/1")),
    ("aes-128-cbc", "decrypt", "message/1"),
    ("aes-128-ecb", "encrypt", "message/1"),
    ("chacha20", "encrypt", "message/1"),
    *(
        ("aes-128-gcm", operation, contract)
        for operation in ("seal", "open")
        for contract in ("message/1", "rekey/1")
    ),
    ("rsa-1024", "sign", "pk/1"),
    ("ed25519", "sign", "pk/1"),
]


def built(name: str) -> RunnerSpec:
    spec = find(name)
    if lacking := [program for program in spec.programs if not shutil.which(program)]:
        pytest.skip(f"not installed: {', '.join(lacking)}")
    if not spec.out().is_dir():
        pytest.skip(f"not built; run: perbyte build {name}")
    return checks.built(name)


def hurried(spec: RunnerSpec) -> RunnerSpec:
    """The same runner in one virtual machine for everything, without a warm-up."""
    java, *rest = spec.command
    command = (java, "-Dperbyte.machines=1", *rest, "-Dperbyte.warm_s=0")
    return dataclasses.replace(spec, command=command)


@pytest.fixture(scope="module", params=PROVIDERS)
def spec(request: pytest.FixtureRequest) -> RunnerSpec:
    return hurried(built(request.param))


@pytest.fixture(scope="module")
def session(spec: RunnerSpec) -> Iterator[Session]:
    with Session(spec) as started:
        yield started


@pytest.fixture(scope="module")
def openssl() -> checks.Digests:
    return checks.try_everything(checks.built("openssl"), "full")


@pytest.fixture(scope="module")
def sun() -> RunnerSpec:
    return hurried(built("jca-sun"))


@pytest.mark.slow
def test_everything_is_right_and_agrees_with_openssl(spec: RunnerSpec, openssl: checks.Digests):
    digests = checks.try_everything(spec, "full")
    checks.assert_contracts_agree(digests)
    assert len({key[0] for key in digests}) >= LEAST[spec.name]
    checks.assert_same(digests, openssl, at_least=LEAST[spec.name] // 2)


@pytest.mark.slow
@pytest.mark.parametrize("cpu", ["full", "soft"])
def test_known_answers(spec: RunnerSpec, cpu: str):
    counts = checks.count_known_answers(spec, cpu)
    assert sum(counts.values()) >= 5 * LEAST[spec.name]
    due = ["aes-128-cbc", "sha-256", "hmac-sha-256"]
    if spec.name == "jca-bc":
        due += ["md2", "md4", "ripemd-128", "ripemd-320", "tiger", "whirlpool", "gost-94"]
        due += ["camellia-128-ecb", "idea-ecb", "seed-ecb", "cast5-ecb", "gost28147-ecb", "rc5-32-12-ecb"]
    assert [algorithm for algorithm in due if not counts.get(algorithm)] == []


def test_bouncy_castle_agrees_with_cryptopp_on_what_openssl_lacks():
    rows = ("rc5-32-32-ecb", "gost28147-ecb", "serpent-256-ctr", "twofish-128-cbc")
    with Session(hurried(built("jca-bc"))) as ours, Session(checks.built("cryptopp")) as theirs:
        for algorithm in rows:
            digests = []
            for session in (ours, theirs):
                with checks.prepared(session, algorithm, "encrypt", "rekey/1", 512) as handle:
                    digests.append(session.check_calls(handle, 18).digest)
            assert digests[0] == digests[1], algorithm


def test_hashes_and_macs_agree_with_python(session: Session):
    data = material.data(checks.SEED, 1000)
    key = material.stream(checks.SEED, "key/0", 32)
    for algorithm, theirs in (
        ("md5", "md5"),
        ("sha-1", "sha1"),
        ("sha-256", "sha256"),
        ("sha-512", "sha512"),
    ):
        with checks.prepared(session, algorithm, "digest", "oneshot/1", 1000) as handle:
            assert session.check_calls(handle, 2).output == hashlib.new(theirs, data).hexdigest()
        with checks.prepared(session, algorithm, "digest", "stream/1", 1000) as handle:
            assert session.check_calls(handle, 3).output == hashlib.new(theirs, 3 * data).hexdigest()
    with checks.prepared(session, "hmac-sha-256", "mac", "message/1", 1000) as handle:
        assert session.check_calls(handle, 1).output == hmac.new(key, data, "sha256").hexdigest()


def test_a_mac_keeps_its_key_after_an_endless_message(session: Session):
    """A provider's `reset` may lose it (docs/jca.md); the runner begins in another way."""
    row = ("hmac-sha-256", "mac", "stream/1")
    with checks.prepared(session, *row, 1000) as handle:
        first = session.check_calls(handle, 1).digest
        measured(session, handle, row, calls=500)
        assert session.check_calls(handle, 1).digest == first


@pytest.mark.parametrize("name", ["jca-sun", "jca-bc"])
def test_audited_calls_give_what_those_of_openssl_give(name: str):
    with Session(hurried(built(name))) as ours, Session(checks.built("openssl")) as theirs:
        assert checks.assert_chains_agree(ours, theirs, CHAINED) > 0


def test_what_cannot_be_chained_says_so(sun: RunnerSpec):
    with Session(sun) as session:
        for row in (
            ("ed25519", "verify", "pk/1"),
            ("x25519", "derive", "pk/1"),
            ("probe-imul", "run", "stream/1"),
        ):
            with checks.prepared(session, *row, 32) as handle, pytest.raises(RunnerRefused) as refused:
                session.audit(handle, seed=1, calls=4)
            assert refused.value.code == "unsupported"


def test_the_machines_that_work_are_no_strangers(sun: RunnerSpec):
    """The program that is started only passes questions on; the CPU time of its machines is its own."""
    with Session(sun) as session, checks.prepared(session, "sha-256", "digest", "oneshot/1", 16384):
        assert machines(session)
        assert session.process.children() == 0
        assert session.process.cpu_s() > cpu_s(session.process.pid) + 0.01


@pytest.mark.slow
def test_every_promise_of_the_protocol_is_kept(sun: RunnerSpec):
    assert conform(sun, every=False) == []


@pytest.mark.parametrize("file", GOOD, ids=lambda file: file.stem)
def test_the_good_transcripts_are_followed(sun: RunnerSpec, file: Path):
    transcript = parse(file.read_text(encoding="utf-8"))
    with Session(sun) as session:
        if not applies(transcript, session):
            pytest.skip("does not list what this needs")
    with Session(sun) as session:
        assert replay(transcript, session) == []


def test_the_library_and_the_machine_name_themselves(spec: RunnerSpec, session: Session):
    hello = session.hello()
    identity = session.identity()
    assert hello.runner == spec.name
    assert hello.library == spec.library
    assert hello.license == spec.license
    assert hello.sdk == "java/1"
    assert hello.library_version[0].isdigit()
    assert " on " in hello.library_version
    assert "-XX:+UseSerialGC" in hello.flags
    assert "VM" in hello.compiler
    assert Path(hello.object).is_file()
    assert identity.object_sha256


def test_tiers_are_in_force_and_say_so(spec: RunnerSpec, session: Session):
    assert session.hello().tier == "full"
    assert "-XX:-UseAES" not in session.hello().flags
    with Session(spec, cpu="soft") as soft:
        hello = soft.hello()
    assert hello.tier == "soft"
    assert ("-XX:-UseAES" in hello.flags) == (spec.name in ("jca-sun", "jca-bc"))
    accelerated = {"UseAES", "UseSHA", "UseAESIntrinsics", "UseGHASHIntrinsics", "UseSHA256Intrinsics"}
    assert not set(hello.cpu_features.split()) & accelerated


def test_a_tier_that_nothing_brings_about_is_refused(sun: RunnerSpec):
    """PERBYTE_CPU alone switches nothing off."""
    idle = dataclasses.replace(sun.tier("soft"), arguments=())
    asked = dataclasses.replace(sun, tiers={**sun.tiers, "soft": idle})
    with Session(asked, cpu="soft") as session, pytest.raises(RunnerCrashed, match="not in force"):
        session.hello()


@pytest.mark.parametrize(
    ("name", "algorithm"), [("jca-sun", "tiger"), ("jca-accp", "md2"), ("jca-conscrypt", "blowfish-cbc")]
)
def test_a_provider_without_the_algorithm_says_unsupported(name: str, algorithm: str):
    operation, contract = ("encrypt", "stream/1") if "cbc" in algorithm else ("digest", "oneshot/1")
    with Session(hurried(built(name))) as session:
        assert algorithm not in {row.algorithm for row in session.hello().operations}
        with pytest.raises(RunnerRefused) as refused:
            session.prepare(algorithm, operation, contract, 64, seed=1)
        assert refused.value.code == "unsupported"
        assert session.prepare("sha-256", "digest", "oneshot/1", 64, seed=1)


def test_sizes_that_do_not_fit_are_refused(sun: RunnerSpec):
    with Session(sun) as session:
        for size in (17, 2**31 - 16):  # no whole blocks; no Java array
            with pytest.raises(RunnerRefused) as refused:
                session.prepare("aes-128-cbc", "encrypt", "stream/1", size, seed=1)
            assert refused.value.code == "bad-size"
        assert session.prepare("aes-128-cbc", "encrypt", "stream/1", 16, seed=1)


def test_each_algorithm_has_a_machine_of_its_own():
    with Session(built("jca-sun")) as session:
        session.hello()
        assert len(machines(session)) == 1
        for algorithm in ("md5", "sha-256", "md5"):
            session.prepare(algorithm, "digest", "oneshot/1", 64, seed=1)
        session.prepare("md5", "digest", "stream/1", 512, seed=1)
        pids = machines(session)
        assert len(pids) == 3
    assert all(gone(pid) for pid in pids)


@pytest.mark.parametrize("which", ["front", "first", "last"])
def test_a_machine_that_dies_is_a_crash_and_leaves_nothing_behind(which: str):
    with Session(built("jca-sun")) as session:
        handle = session.prepare("md5", "digest", "oneshot/1", 64, seed=1)
        pids = machines(session)
        victim = {"front": session.process.pid, "first": min(pids), "last": max(pids)}[which]
        os.kill(victim, signal.SIGKILL)
        ask = {"first": lambda: session.calibrate(1, epoch=0)}.get(
            which, lambda: session.check_calls(handle, 1)
        )
        with pytest.raises(RunnerCrashed, match="SIGKILL" if which == "front" else "status 137"):
            ask()
        assert not session.alive
    assert all(gone(pid) for pid in pids)


def test_a_collection_within_a_sample_is_flagged(sun: RunnerSpec):
    row = ("sha-256", "digest", "oneshot/1")
    with Session(sun) as session, checks.prepared(session, *row, 16) as handle:
        flags = measured(
            session, handle, row, calls=2_000_000
        )  # 32 MB of results do not fit the young generation
    assert flags & 8


def measured(session: Session, handle: int, row: tuple[str, str, str], *, calls: int) -> int:
    """Take two samples; the flags of either."""
    taken = session.measure(
        handle,
        cell=Cell(session.spec.name, row[0], row[1], 1000, row[2]),
        epoch=0,
        round=0,
        samples=2,
        limit_ms=2000,
        calls=calls,
    )
    return taken.burst.flags[0] | taken.burst.flags[1]


def machines(session: Session) -> list[int]:
    """Process ids of the virtual machines behind the front."""
    tasks = Path(f"/proc/{session.process.pid}/task")
    return [int(pid) for task in tasks.iterdir() for pid in (task / "children").read_text().split()]


def gone(pid: int) -> bool:
    """True once the process has ended; waits for two seconds at the most."""
    for _ in range(40):
        state = Path(f"/proc/{pid}/stat")
        try:
            if state.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False
