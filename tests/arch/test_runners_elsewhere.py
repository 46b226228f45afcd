"""Runners built for other processors and run under an emulator: all of the protocol, and the same bytes as here.

Speed is what an emulator cannot tell, and the runner says so.
"""

from __future__ import annotations

import functools
import math
import sys
from pathlib import Path

import pytest

from perbyte.model import Cell
from perbyte.protocol import messages
from perbyte.runners import Session
from perbyte.runners.conform import conform
from perbyte.runners.target import machine_of

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "sdk"))

import library_checks as checks
from processors import PAIRS, TARGETS, built_for

pytestmark = [pytest.mark.native, pytest.mark.apart]

# Tiers whose switch a library has on another processor than x86-64 as well.
TIERS = {
    ("aarch64-linux-gnu", "openssl"): ("soft", "tables"),
    ("aarch64-linux-gnu", "blake3"): ("soft",),
    ("riscv64-linux-gnu", "blake3"): ("soft",),
    ("s390x-linux-gnu", "blake3"): ("soft",),
}
HAVE_NONE = {"des-ede3-ctr"}  # algorithms of which the catalogue has no known answer for these runners


@functools.cache
def here(name: str) -> checks.Digests:
    """What this machine's own build gives."""
    return checks.try_everything(checks.built(name), "full")


@pytest.mark.parametrize("target", TARGETS)
def test_a_runner_elsewhere_keeps_every_promise(target: str) -> None:
    with built_for(target, "reference") as spec:
        assert machine_of(spec.fill("{executable}")) == target.partition("-")[0]
        assert conform(spec, every=True) == []


@pytest.mark.parametrize("target", TARGETS)
def test_calibration_says_that_it_is_an_emulators_time(target: str) -> None:
    """The emulator's RISC-V passes the self-check (3 : 1 : 1): only who started it knows."""
    with built_for(target, "reference") as spec, Session(spec) as session:
        calibrate = session.calibrate(epoch=0, limit_ms=20, patience_ms=0)
        assert calibrate.cycle_source == "none"
        assert f"qemu-{target.partition('-')[0]}" in calibrate.reason
        assert "emulator" in calibrate.reason
        assert calibrate.tick_hz > 1e6
        assert calibrate.tick_quantum >= 1
        numbers = (
            *calibrate.selfcheck.values(),
            calibrate.probe_cycles,
            calibrate.fixed_ticks,
            calibrate.contention_floor,
        )
        assert all(math.isfinite(number) for number in numbers)


@pytest.mark.parametrize("target", TARGETS)
def test_watching_is_answered(target: str) -> None:
    with built_for(target, "reference") as spec, Session(spec) as session:
        session.calibrate(epoch=0, limit_ms=20, patience_ms=0)
        request = messages.Watch(id=session.next_id(), limit_ms=30)
        answer = session.ask(request, messages.WatchAnswer, 20)
        assert set(answer.state) <= set("qbs")
        assert len(answer.state) == len(answer.ticks) > 0


@pytest.mark.parametrize("target", TARGETS)
def test_chains_of_the_audit_give_what_they_give_here(target: str) -> None:
    def chained(session: Session) -> list[object]:
        results: list[object] = []
        for contract, size in (("oneshot/1", 64), ("oneshot/1", 1000), ("stream/1", 4096)):
            handle = session.prepare("ripemd", "digest", contract, size, seed=7)
            answer = session.audit(handle, seed=2**63 + 5, calls=5).answer
            results.append((answer.length, answer.digest, answer.failures))
            session.release(handle)
        return results

    with Session(checks.built("reference")) as session:
        expected = chained(session)
    with built_for(target, "reference") as spec, Session(spec) as session:
        assert chained(session) == expected


@pytest.mark.parametrize("target", TARGETS)
def test_a_burst_is_taken_and_ends_with_the_right_output(target: str) -> None:
    with built_for(target, "reference") as spec, Session(spec) as session:
        session.calibrate(epoch=0, limit_ms=20, patience_ms=0)
        handle = session.prepare("ripemd", "digest", "oneshot/1", 512, seed=3)
        cell = Cell("reference", "ripemd", "digest", 512, "oneshot/1")
        taken = session.measure(handle, cell=cell, epoch=0, round=0, samples=5, limit_ms=500, calls=4)
        assert len(taken.burst.ticks) == 5
        assert min(taken.burst.ticks) > 0
        assert taken.digest == session.check_calls(handle, 4).digest


@pytest.mark.parametrize("target", TARGETS)
def test_the_reference_gives_the_same_digests_and_its_known_answers(target: str) -> None:
    expected = here("reference")
    with built_for(target, "reference") as spec:
        checks.assert_same(expected, checks.try_everything(spec, "full"), at_least=1)
        assert checks.count_known_answers(spec, "full")["ripemd"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(("target", "name"), PAIRS)
def test_a_library_gives_known_answers_in_every_tier(target: str, name: str) -> None:
    with built_for(target, name) as spec:
        for cpu in ("full", *TIERS.get((target, name), ())):
            counts = checks.count_known_answers(spec, cpu)
            assert len(counts) > 0
            assert not {algorithm for algorithm, fitted in counts.items() if not fitted} - HAVE_NONE


@pytest.mark.slow
@pytest.mark.parametrize(("target", "name"), PAIRS)
def test_a_library_gives_the_same_digests_as_here(target: str, name: str) -> None:
    """Of blake3 and libsodium what OpenSSL has here, too, where they are not built for this machine."""
    with built_for(target, name) as spec:
        digests = checks.try_everything(spec, "full")
    if any(contract in checks.WHOLE_MESSAGES for _, _, contract, _, _ in digests):
        checks.assert_contracts_agree(digests)
    own = checks.find(name)
    if own.opt_in and not own.out().is_dir():
        if name != "libsodium":
            pytest.skip(f"not built for this machine: perbyte build {name}")
        checks.assert_same(digests, here("openssl"), at_least=8)
    else:
        checks.assert_same(digests, here(name), at_least=1)
