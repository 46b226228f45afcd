"""Both ends of a connection in one process: who works when, and that libraries' connections prove themselves."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from perbyte.errors import RunnerRefused
from perbyte.measure.behaviour import SECRET_BYTES, count_cells
from perbyte.model import Cell
from perbyte.runners import Session
from perbyte.runners.build import stale

sys.path.insert(0, str(Path(__file__).parent))

import library_checks as checks

pytestmark = pytest.mark.native

SDK = Path(__file__).parents[2] / "runners" / "sdk" / "c"
# of one handshake: hello, answer, verification, admission, ticket
CLIENT, SERVER = Counter("gvcf"), Counter("adf")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("ends") / "ends_seen"
    sources = [str(Path(__file__).with_name("ends_seen.c")), str(SDK / "ends.c")]
    strict = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-Wall", "-Wextra"]
    subprocess.run(["cc", "-D_GNU_SOURCE", *strict, f"-I{SDK}", "-o", str(made), *sources], check=True)
    return made


def seen(program: Path, operation: str, *calls: int, fault: str = "-") -> tuple[list[str], int, bytes]:
    """What was done in each loop; failures and output of the last."""
    command = [program, operation, fault, *map(str, calls)]
    told, proof, *_ = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")
    failures, _, output = proof.split(" ")
    return [burst.split("|")[1] for burst in told.split(" ")[1:]], int(failures), bytes.fromhex(output)


@pytest.mark.parametrize(("operation", "share"), [("client", CLIENT), ("server", SERVER)])
def test_each_call_is_all_that_an_end_does_and_nothing_of_the_other(
    program: Path, operation: str, share: Counter[str]
) -> None:
    numbers = (1, 4, 2, 16, 3, 1)
    loops, failures, output = seen(program, operation, *numbers)
    for loop, calls in zip(loops, numbers, strict=True):
        assert Counter(loop) == Counter({step: calls * count for step, count in share.items()})
    assert failures == 0
    assert output[:SECRET_BYTES] == bytes([7]) * SECRET_BYTES
    assert output[SECRET_BYTES:] == bytes(
        [0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 1]
    )  # "hello", nothing, one round trip


def test_a_whole_handshake_is_both_ends(program: Path) -> None:
    loops, failures, _ = seen(program, "handshake", 2)
    assert Counter(loops[0]) == Counter({step: 2 * count for step, count in (CLIENT + SERVER).items()})
    assert failures == 0


@pytest.mark.parametrize("operation", ["handshake", "client", "server"])
@pytest.mark.parametrize("fault", ["x", "t", "v", "d"])
def test_what_does_not_prove_itself_has_failed(program: Path, operation: str, fault: str) -> None:
    _, failures, _ = seen(program, operation, 2, fault=fault)
    assert failures


def test_records_are_read_by_the_other_end_before_the_next_sample(program: Path) -> None:
    assert seen(program, "transfer", 2) == (["ptpt"], 0, bytes([1, 2, 3, 4]))
    assert seen(program, "send", 3, 1) == (["ppp", "p"], 0, bytes([1, 2, 3, 4]))
    assert seen(program, "receive", 3, 2) == (["ttt", "tt"], 0, bytes([1, 2, 3, 4]))
    assert seen(program, "receive", 1, fault="t")[2] == bytes([2, 2, 3, 4])  # shown to whoever compares


RUNNERS = (
    "openssl",
    "openssl-next",
    "openssl-4",
    "openssl-1",
    "aws-lc",
    "boringssl",
    "gnutls",
    "wolfssl-package",
    "mbedtls-next",
    "rustls",
    "go",
)


@pytest.mark.parametrize("name", RUNNERS)
def test_every_handshake_is_a_new_one_and_says_what_it_sends(name: str) -> None:
    spec = checks.find(name)
    if not spec.out().is_dir() or stale(spec):
        pytest.skip(f"{name} is not built")
    rows = 0
    with Session(spec) as session:
        for row in session.hello().operations:
            if row.contract != "handshake/1" or (
                row.operation != "handshake" and "x25519-ec" not in row.algorithm
            ):
                continue
            rows += 1
            handle = session.prepare(row.algorithm, row.operation, row.contract, 32, seed=checks.SEED)
            outputs = [
                bytes.fromhex(str(session.check_calls(handle, calls).output)) for calls in (1, 3, 2, 3)
            ]
            assert outputs[0][:SECRET_BYTES] != outputs[1][:SECRET_BYTES], row
            up, down = (
                int.from_bytes(outputs[1][at : at + 4], "big") for at in (SECRET_BYTES, SECRET_BYTES + 4)
            )
            assert 200 < up < 3000, row
            assert 200 < down < 13_000, row
            with pytest.raises(RunnerRefused, match="draws"):
                session.check_vector(handle, checks.KnownAnswer(row.algorithm, row.operation, ""))
            session.release(handle)
    assert rows >= 8, f"{name} has no handshakes"


@pytest.mark.parametrize("name", RUNNERS)
def test_what_a_handshake_sends_is_told_without_counting(name: str) -> None:
    spec = checks.find(name)
    if not spec.out().is_dir() or stale(spec):
        pytest.skip(f"{name} is not built")
    cell = Cell(name, "tls13-x25519-ecdsa-p256", "handshake", 32, "handshake/1")
    (told,) = count_cells({name: spec}, [cell], checks.SEED, traced=False)
    up, down, round_trips = told.wire
    assert (told.call, told.unknown, round_trips) == (None, "", 1)
    assert 200 < up < down < 1200


@pytest.mark.parametrize("name", RUNNERS)
def test_records_arrive_as_they_were_sent(name: str) -> None:
    spec = checks.find(name)
    if not spec.out().is_dir() or stale(spec):
        pytest.skip(f"{name} is not built")
    with Session(spec) as session:
        rows = [row for row in session.hello().operations if row.contract == "record/1"]
        digests: dict[int, set[str]] = {}
        for row in rows:
            for size in (1, 1024, 40_000):
                handle = session.prepare(row.algorithm, row.operation, row.contract, size, seed=checks.SEED)
                digests.setdefault(size, set()).update(session.check_calls(handle, n).digest for n in (1, 5))
                session.release(handle)
    assert rows
    assert all(len(alike) == 1 for alike in digests.values())
