"""What every runner of a library has to stand: all that it lists, at several sizes, through the protocol.

For the test modules of single runners. Builds a runner (or skips the test where the library is absent), opens
sessions, and collects the digest of every operation, so that tiers and runners can be compared with each other.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from perbyte import places
from perbyte.catalogue import load
from perbyte.errors import RunnerRefused
from perbyte.model import Cell, KnownAnswer
from perbyte.protocol.messages import Operation
from perbyte.runners import Session
from perbyte.runners.build import BuildState, build
from perbyte.runners.locate import RunnerSpec, find, read_spec

SDK = places.data_dir("runners") / "sdk" / "c"
SPEC = """\
[runner]
library = "none"
license = "Apache-2.0"
language = "python"
[build]
kind = "python"
[run]
command = ["{program}"]
"""

SIZES = (16, 512, 8192)
SIGNED_SIZES = (20, 32)  # lengths of digests
SLOW = (
    "slh-dsa-",
    "pbkdf2-sha-256-600000",
    "scrypt-",
    "argon2id-",
    "bcrypt-",
)  # one call, and it is not timed
PRE_SHARED = ("rsa-pss-", "ecdsa-secp256k1")  # a digest of SHA-256 and nothing else
WHOLE_MESSAGES = (
    "stream/1",
    "message/1",
    "rekey/1",
    "oneshot/1",
    "object/1",
    "fetch/1",
)  # call 0 is the same message in all of them
ROUND_TRIPS = ("encrypt", "decrypt", "seal", "open", "sign", "encapsulate")
SEED = 20

Digests = dict[tuple[str, str, str, int, int], str]  # algorithm, operation, contract, size, calls


def built(name: str) -> RunnerSpec:
    """The runner, built; skips the test where the library is not installed."""
    spec = find(name)
    outcome = build(spec)
    if outcome.state is BuildState.ABSENT:
        pytest.skip(f"{name}: {', '.join(outcome.missing)}")
    assert outcome.usable, outcome.output
    return spec


def switched(spec: RunnerSpec, cpu: str, environment: dict[str, str]) -> RunnerSpec:
    """The runner with other variables in the place of those that switch a tier on."""
    tier = replace(spec.tiers[cpu], environment=environment)
    return replace(spec, tiers={**spec.tiers, cpu: tier})


@contextmanager
def prepared(session: Session, algorithm: str, operation: str, contract: str, size: int) -> Iterator[int]:
    """A handle, released at the end."""
    handle = session.prepare(algorithm, operation, contract, size, seed=SEED)
    yield handle
    session.release(handle)


def randomised(row: Operation) -> bool:
    """True where two calls, or two handles, on the same input give different outputs by design."""
    known = load().find(row.algorithm)
    return row.operation in known.randomised or (known.fixed_key and row.operation == "decapsulate")


def sizes_of(row: Operation) -> tuple[int, ...]:
    """The sizes at which an operation is tried."""
    known = load().find(row.algorithm)
    if (
        row.algorithm.startswith((*SLOW, *PRE_SHARED))
        or row.contract.startswith("draw/")
        or known.kind
        in (
            "password-hash",
            "kem",
            "key-agreement",
            "handshake",
        )
    ):
        return (32,)
    if known.kind == "kdf":
        return (16, 512)
    return SIGNED_SIZES if known.kind == "signature" else SIZES


def try_everything(spec: RunnerSpec, cpu: str) -> Digests:
    """Prepare, check and measure every listed operation; return the digests after one call and after three."""
    digests: Digests = {}
    with Session(spec, cpu=cpu) as session:
        for row in session.hello().operations:
            if row.operation == "run":  # a loop of known cost
                continue
            for size in sizes_of(row):
                digests |= _try(session, row, size)
    return digests


def _try(session: Session, row: Operation, size: int) -> Digests:
    what = f"{row.algorithm} {row.operation} {row.contract} at {size}"
    slow = row.algorithm.startswith(SLOW) or row.contract.startswith("draw/")
    with prepared(session, row.algorithm, row.operation, row.contract, size) as handle:
        shown = {calls: session.check_calls(handle, calls) for calls in ((1,) if slow else (1, 3))}
        _judge(session, handle, row, what)
        if not slow:
            taken = session.measure(
                handle,
                cell=Cell(session.spec.name, row.algorithm, row.operation, size, row.contract),
                epoch=0,
                round=0,
                samples=1,
                limit_ms=100,
                calls=3,
            )
            assert not any(flags & 16 for flags in taken.burst.flags), f"{what}: a timed call failed"
    known = load().find(row.algorithm)
    tagged = ("digest", "mac", "hash", "derive", "sign", "decapsulate", "aggregate")
    lengths = dict.fromkeys(tagged, known.tag_bytes or shown[1].length) | {"verify": 0}
    lengths |= {"seal": size + known.tag_bytes, "encapsulate": known.ciphertext_bytes + known.tag_bytes}
    lengths |= dict.fromkeys(("encrypt", "decrypt", "open", "expand", "squeeze"), size)
    lengths |= dict.fromkeys(("transfer", "send", "receive", "draw"), size)
    lengths |= dict.fromkeys(("handshake", "client", "server"), known.tag_bytes)
    lengths |= {"keygen": known.public_bytes or shown[1].length}
    lengths |= dict.fromkeys(("load", "store", "sum"), shown[1].length)
    assert shown[1].length == (16 if row.contract == "setup/1" else lengths[row.operation]), what
    if randomised(row):
        return {}
    assert slow or taken.digest == shown[3].digest, f"{what}: the timed calls gave something else"
    return {
        (row.algorithm, row.operation, row.contract, size, calls): answer.digest
        for calls, answer in shown.items()
    }


def _judge(session: Session, handle: int, row: Operation, what: str) -> None:
    """Round trip and forgery: asked of everything, refused as unsupported only where there is nothing to ask."""
    for name, verdict, due in (
        ("round trip", session.round_trip, row.operation in ROUND_TRIPS),
        ("forgery", session.forgery, row.operation in ("open", "verify", "decapsulate")),
    ):
        try:
            answer = verdict(handle)
        except RunnerRefused as refusal:
            _assert_unsupported(refusal, f"{what}: {name}")
            again = row.operation == "open" and row.contract == "letter/1"  # no letter is sealed alike twice
            assert not due or row.contract == "setup/1" or again, f"{what}: no {name}"
        else:
            assert answer.passed, f"{what}: {name}: {answer.detail}"


def assert_contracts_agree(digests: Digests) -> None:
    """Call 0 works on one message with key 0 and nonce 0, whatever the contract."""
    seen: dict[tuple[str, str, int], tuple[str, str]] = {}
    for (algorithm, operation, contract, size, calls), digest in digests.items():
        if calls == 1 and contract in WHOLE_MESSAGES:
            first = seen.setdefault((algorithm, operation, size), (contract, digest))
            assert digest == first[1], f"{algorithm} {operation} at {size}: {contract} is not {first[0]}"
    assert seen


def assert_same(left: Digests, right: Digests, *, at_least: int) -> None:
    """Two tiers or two runners give the same wherever both offer something."""
    shared = left.keys() & right.keys()
    assert len({key[0] for key in shared}) >= at_least
    assert {key: left[key] for key in shared} == {key: right[key] for key in shared}


def assert_chains_agree(ours: Session, theirs: Session, rows: Iterable[tuple[str, str, str]]) -> int:
    """Audited calls of both give the same, and leave each handle as it was; returns how many were forged.

    From one seed come the same data, nonces, keys and forgeries. No runner may open its cases again for each call.
    """
    forged = 0
    for row in rows:
        for size in (32,) if row[2] == "pk/1" else (16, 2048):
            answers = []
            for session in (ours, theirs):
                with prepared(session, *row, size) as handle:
                    before = session.check_calls(handle, 1).digest
                    # the first nonce of a chain from the handle's own seed is the one that was used last
                    first = session.audit(handle, seed=SEED, calls=1).answer
                    chain = session.audit(handle, seed=2**64 - 8, calls=40).answer
                    answers.append((first.digest, chain.digest, chain.length, chain.forged))
                    session.audit(handle, seed=SEED, calls=3, control=True)  # begins, and makes no call
                    assert session.check_calls(handle, 1).digest == before, row
                assert first.failures == chain.failures == 0, row
                assert chain.refused == chain.forged, row
                assert not chain.afresh
            assert answers[0] == answers[1], (row, size)
            forged += chain.forged if row[1] == "open" else 0
    return forged


def count_known_answers(spec: RunnerSpec, cpu: str) -> dict[str, int]:
    """Ask for every known answer of the catalogue that fits; returns how many fitted, by algorithm."""
    counts: dict[str, int] = {}
    with Session(spec, cpu=cpu) as session:
        for row in session.hello().operations:
            known = load().known_answers(row.algorithm, row.operation)
            if row.contract == "setup/1" or not known:
                continue
            with prepared(session, row.algorithm, row.operation, row.contract, sizes_of(row)[0]) as handle:
                for answer in known:
                    counts[row.algorithm] = counts.get(row.algorithm, 0) + _fits(session, handle, answer)
    return counts


def _fits(session: Session, handle: int, known: KnownAnswer) -> bool:
    what = f"{known.algorithm} {known.operation} ({known.source})"
    try:
        answer = session.check_vector(handle, known)
    except RunnerRefused as refusal:
        if known.refused and refusal.code == "library":
            return True
        _assert_unsupported(refusal, what)
        return False
    tolerated = known.output or known.kind in session.spec.accepts.get(known.algorithm, ())
    assert not known.refused or tolerated, f"{what}: accepted"
    output = answer.output if isinstance(answer.output, str) else answer.head
    assert output == known.output[: len(output)], what
    return True


def _assert_unsupported(refusal: RunnerRefused, what: str) -> None:
    assert refusal.code == "unsupported", f"{what}: {refusal}"


def made(name: str, tmp_path_factory: pytest.TempPathFactory) -> RunnerSpec:
    """The runner of a C file beside this one."""
    here = tmp_path_factory.mktemp(name) / name
    here.mkdir()
    sources = [Path(__file__).with_name(f"{name}.c"), *SDK.glob("*.c")]
    flags = ["-O1", "-D_GNU_SOURCE", f"-I{SDK}", "-o", here / name]
    subprocess.run(["cc", *flags, *sources, "-lm", "-ldl", "-lpthread"], check=True)
    (here / "runner.toml").write_text(SPEC.replace("{program}", str(here / name)))
    return read_spec(here / "runner.toml")
