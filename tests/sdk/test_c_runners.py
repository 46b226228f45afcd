"""What every runner on the C SDK owes its readers, whatever library it speaks for: rows that work, contracts that mean
the same thing everywhere, tiers that change the code and not the answers."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator

import pytest

from perbyte.catalogue import load
from perbyte.errors import RunnerRefused
from perbyte.model import Cell, KnownAnswer
from perbyte.protocol import material
from perbyte.protocol.messages import CheckAnswer
from perbyte.runners import Session
from perbyte.runners.build import BuildState, build
from perbyte.runners.locate import RunnerSpec, find
from perbyte.runners.spec import sanitizing

pytestmark = pytest.mark.native

RUNNERS = ("libgcrypt", "cryptopp", "reference")
SIZES = (16, 512, 8192)
SEED = 0x5EED
FAULTED, FAILED_CALL = 4, 16

Row = tuple[str, str, str]


@pytest.fixture(scope="module", params=RUNNERS)
def spec(request: pytest.FixtureRequest) -> RunnerSpec:
    spec = find(request.param)
    outcome = build(spec)
    if outcome.state is BuildState.ABSENT:
        pytest.skip(f"not installed: {outcome.missing}")
    assert outcome.state is not BuildState.FAILED, outcome.output
    return spec


@pytest.fixture(scope="module")
def session(spec: RunnerSpec) -> Iterator[Session]:
    with Session(spec) as started:
        yield started


def rows(session: Session) -> list[Row]:
    return [(row.algorithm, row.operation, row.contract) for row in session.hello().operations]


def fit(algorithm: str, size: int) -> int:
    """The largest size up to `size` that the algorithm takes: 3-Way has blocks of 12 bytes."""
    return size - size % load().find(algorithm).data_multiple_bytes


def after(session: Session, row: Row, size: int, calls: int) -> CheckAnswer:
    handle = session.prepare(*row, fit(row[0], size), seed=SEED, offset=64)
    answer = session.check_calls(handle, calls)
    session.release(handle)
    return answer


def for_vector(session: Session, known: KnownAnswer, contract: str) -> str:
    size = 32 if contract == "pk/1" else fit(known.algorithm, 48)
    handle = session.prepare(known.algorithm, known.operation, contract, size, seed=SEED)
    try:
        return session.check_vector(handle, known).output
    finally:
        session.release(handle)


def test_rows_are_told_once_and_known_to_the_catalogue(session: Session):
    catalogue, listed = load(), rows(session)
    assert len(listed) == len(set(listed)) > 0
    for row in session.hello().operations:
        algorithm = catalogue.find(row.algorithm)
        assert algorithm.id == row.algorithm
        assert row.operation in algorithm.operations
        assert algorithm.kind in catalogue.contracts[row.contract].kinds
        assert row.calls


def test_every_known_answer_of_the_catalogue_comes_out(session: Session):
    """A vector whose lengths are not the row's is refused; of every algorithm at least one must fit."""
    catalogue, fitting, asked = load(), set(), set()
    for algorithm, operation, contract in rows(session):
        for known in catalogue.known_answers(algorithm, operation) if contract != "setup/1" else ():
            asked.add(algorithm)
            with contextlib.suppress(RunnerRefused):
                assert for_vector(session, known, contract) == known.output, (known.source, contract)
                accepted = known.kind in session.spec.accepts.get(algorithm, ())
                assert not known.refused or known.output or accepted, (known.source, contract)
                fitting.add(algorithm)
    assert asked
    assert fitting == asked


def test_whatever_is_listed_can_be_prepared_checked_and_measured(session: Session):
    session.calibrate(5, epoch=0)
    for row in rows(session):
        known = load().find(row[0])
        whole = SIZES[:2] if known.kind == "kdf" else SIZES  # HKDF has a largest length
        for size in (32,) if row[2] in ("pk/1", "password/1") else whole:
            handle = session.prepare(*row, fit(row[0], size), seed=SEED, offset=128)
            cell = Cell(session.spec.name, row[0], row[1], fit(row[0], size), row[2])
            measured = session.measure(handle, cell=cell, epoch=0, round=0, samples=1, limit_ms=1.0, calls=3)
            assert len(measured.burst.ticks) == 1
            if row[1] not in known.randomised:
                assert measured.digest == session.check_calls(handle, 3).digest, cell
            assert not measured.burst.flags[0] & FAILED_CALL, cell
            session.release(handle)


def test_a_fork_takes_a_burst_as_the_process_does(session: Session):
    """The last call's output is that of the process, no burst but a first one meets new pages, and the process goes on
    as before."""
    calibration = session.calibrate(5, epoch=0)
    for row in rows(session)[::7]:
        if row[2] in ("pk/1", "password/1", "draw/1"):  # calls of milliseconds and seconds
            continue
        handle = session.prepare(*row, fit(row[0], 256), seed=SEED, offset=128)
        cell = Cell(session.spec.name, row[0], row[1], fit(row[0], 256), row[2])
        asked = {"cell": cell, "epoch": 0, "round": 0, "samples": 5, "limit_ms": 50.0, "calls": 16}
        faulted = []
        for _ in range(3):
            taken = session.measure(handle, warm_us=200.0, warm_least_us=50.0, forks=1, **asked)
            assert taken.forked, cell
            assert len(taken.burst) == 5
            assert not any(flags & FAILED_CALL for flags in taken.burst.flags), cell
            assert all(calibration.probe_cycles > 0 < before for before in taken.burst.clock_before)
            faulted.append(any(flags & FAULTED for flags in taken.burst.flags))
            if not faulted[-1]:
                break
        # one fault flags its whole burst; under the sanitizers freed memory is not used again, so that each call may
        # touch new pages
        assert not all(faulted) or sanitizing(), cell
        if row[1] not in load().find(row[0]).randomised:
            assert taken.digest == session.check_calls(handle, 16).digest, cell
        session.release(handle)


def test_long_calls_can_be_cut_and_short_ones_refuse(session: Session):
    """Wherever a stream is offered, pieces go through it; what has none answers with whole calls."""
    session.calibrate(5, epoch=0)
    listed = rows(session)
    streams = {row[:2] for row in listed if row[2] == "stream/1"}
    for row in listed:
        if row[2] not in ("stream/1", "oneshot/1", "message/1"):
            continue
        size = fit(row[0], 65536)
        handle = session.prepare(*row, size, seed=SEED, offset=64)
        cell = Cell(session.spec.name, row[0], row[1], size, row[2])
        asked = {"cell": cell, "epoch": 0, "round": 0, "samples": 5, "limit_ms": 50.0, "calls": 1}
        whole = session.measure(handle, **asked).digest
        pieces = session.measure(handle, piece_bytes=4096, **asked).burst
        assert pieces.piece_bytes in (0, 4096)
        if row[2] != "stream/1" and row[:2] not in streams:
            assert pieces.piece_bytes == 0, cell
        assert not any(flags & FAILED_CALL for flags in pieces.flags), cell
        assert session.measure(handle, **asked).digest == whole, "whole calls come back as they were"
        session.release(handle)


def test_calls_on_data_of_their_own_take_the_next_bytes(session: Session):
    """Each block of an area once, from memory or read from a file; then all is as it was."""
    session.calibrate(5, epoch=0)
    blocks = [material.data(SEED, 4 * 96)[at : at + 96] for at in range(0, 4 * 96, 96)]
    for row in rows(session):
        if row[1:] != ("digest", "oneshot/1"):
            continue
        handle = session.prepare(*row, 96, seed=SEED, offset=64)
        cell = Cell(session.spec.name, row[0], row[1], 96, row[2])
        asked = {"cell": cell, "epoch": 0, "round": 0, "samples": 1, "limit_ms": 50.0}
        of_block = [for_vector(session, KnownAnswer(*row[:2], "", input=b.hex()), row[2]) for b in blocks]
        for calls, last in ((1, 0), (3, 2), (4, 3), (6, 1)):
            walked = session.measure(handle, walk_bytes=4 * 96 + 5, calls=calls, **asked).digest
            assert walked == material.digest(bytes.fromhex(of_block[last])), (cell, calls)
        whole = session.measure(handle, calls=3, **asked).digest
        assert whole == material.digest(bytes.fromhex(of_block[0])), "the data is the case's own again"
        with pytest.raises(RunnerRefused, match="needs a file"):
            session.measure(handle, from_disk=True, calls=1, **asked)
        session.release(handle)


def test_operations_without_data_of_their_own_are_refused(session: Session):
    session.calibrate(5, epoch=0)
    for row in [r for r in rows(session) if r[1] in ("open", "sign", "verify")][:3]:
        handle = session.prepare(*row, fit(row[0], 64), seed=SEED, offset=0)
        cell = Cell(session.spec.name, row[0], row[1], fit(row[0], 64), row[2])
        with pytest.raises(RunnerRefused, match="data of its own"):
            session.measure(handle, cell=cell, epoch=0, round=0, samples=1, limit_ms=9.0, walk_bytes=1 << 20)
        session.release(handle)


def test_the_first_call_is_the_same_under_every_contract(session: Session):
    listed = rows(session)
    for algorithm, operation in {row[:2] for row in listed}:
        contracts = [row[2] for row in listed if row[:2] == (algorithm, operation) and row[2] != "pk/1"]
        if not contracts:
            continue
        outputs = {c: after(session, (algorithm, operation, c), 512, 1).output for c in contracts}
        setup = outputs.pop("setup/1", None)
        assert len(set(outputs.values())) == 1, (algorithm, operation)
        if setup is not None:
            assert next(iter(outputs.values())).startswith(setup), (algorithm, operation)
            assert len(setup) == 2 * fit(algorithm, 16)


def test_a_call_takes_key_and_nonce_of_its_turn(session: Session):
    """Call 17 (the 18th) uses entry 1 of the rings: of nonces under message, of both under rekey."""
    catalogue, seen = load(), 0
    for name, operation, contract in rows(session):
        if contract not in ("message/1", "rekey/1", "setup/1") or operation == "open":
            continue
        algorithm, size = catalogue.find(name), fit(name, 16 if contract == "setup/1" else 64)
        turn = {"message/1": (0, 1), "rekey/1": (1, 1), "setup/1": (1, 0)}[contract]
        own = KnownAnswer(
            name,
            operation,
            "own",
            input=material.data(SEED, size).hex(),
            key=material.stream(SEED, f"key/{turn[0]}", algorithm.key_bytes).hex(),
            nonce=material.stream(SEED, f"nonce/{turn[1]}", algorithm.nonce_bytes).hex(),
            aad=material.stream(SEED, "aad", 16).hex() if algorithm.kind == "aead" else "",
        )
        plain = next(c for a, o, c in rows(session) if (a, o) == (name, operation) and c != "setup/1")
        assert after(session, (name, operation, contract), 64, 18).output == for_vector(session, own, plain)
        seen += 1
    assert seen > 50 or session.spec.name == "reference"


def test_a_stream_goes_on_from_call_to_call(session: Session):
    """Two calls of 48 bytes give what one call of 96 gives at its end; for ECB there is nothing to go on."""
    for row in rows(session):
        algorithm = load().find(row[0])
        if row[2] != "stream/1" or algorithm.kind not in ("block-cipher", "stream-cipher"):
            continue
        pieces = algorithm.data_multiple_bytes * (48 // algorithm.data_multiple_bytes)
        data = (material.data(SEED, pieces) * 2).hex()
        whole = for_vector(
            session,
            KnownAnswer(
                *row[:2],
                "own",
                input=data,
                key=material.stream(SEED, "key/0", algorithm.key_bytes).hex(),
                nonce=material.stream(SEED, "nonce/0", algorithm.nonce_bytes).hex(),
            ),
            "stream/1",
        )
        assert after(session, row, pieces, 2).output == whole[2 * pieces :], row


def test_what_has_an_inverse_comes_back_and_forgeries_are_refused(session: Session):
    for row in rows(session):
        if row[2] in ("setup/1", "keystream/1") or row[1] not in (
            "encrypt",
            "decrypt",
            "seal",
            "open",
            "sign",
            "verify",
        ):
            continue
        handle = session.prepare(*row, 32 if row[2] == "pk/1" else fit(row[0], 512), seed=SEED)
        if row[1] != "verify":
            assert session.round_trip(handle).passed, row
        if row[1] in ("open", "verify"):
            verdict = session.forgery(handle)
            assert verdict.passed, (row, verdict.detail)
        session.release(handle)


def test_sizes_are_multiples_of_the_catalogues(session: Session):
    for row in rows(session):
        multiple = load().find(row[0]).data_multiple_bytes
        session.release(session.prepare(*row, 32 if row[2] == "pk/1" else multiple, seed=SEED))
        if multiple > 1:
            with pytest.raises(RunnerRefused) as refusal:
                session.prepare(*row, multiple + 1, seed=SEED)
            assert refusal.value.code == "bad-size"


@pytest.mark.slow
def test_every_tier_gives_the_same_answers(spec: RunnerSpec, session: Session):
    for tier in set(spec.tiers) - {"full"}:
        with Session(spec, cpu=tier) as other:
            assert rows(other) == rows(session)
            for row in rows(session):
                if row[1] in load().find(row[0]).randomised:
                    continue
                for size in (32,) if row[2] in ("pk/1", "password/1") else (16, 1040):
                    theirs, ours = (after(each, row, size, 3).digest for each in (session, other))
                    assert ours == theirs, (tier, row, size)


def test_an_unknown_tier_is_refused(spec: RunnerSpec):
    command = [spec.fill(part) for part in spec.command]
    ended = subprocess.run(
        command, env={"PERBYTE_CPU": "quantum"}, input=b"", capture_output=True, check=False
    )
    assert ended.returncode == 3
    assert b"quantum" in ended.stderr
