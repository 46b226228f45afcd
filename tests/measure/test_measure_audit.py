"""The audit from outside in a run: honest runners keep their figures, others lose them, each its own only.

The scripted runner really takes the CPU time that `burn` says; CPU time is the kernel's, so a busy machine changes
nothing.
"""

from __future__ import annotations

import secrets
from types import SimpleNamespace
from typing import Any

import pytest
from fake_scripts import lie, row

from perbyte.catalogue import load
from perbyte.measure.audit import Auditor
from perbyte.measure.witness import Witness
from perbyte.model import Cell, Doubt, Policy, Quality

POLICY = {"audit": True, "epochs": 2, "burst_samples": 4, "looks": (1,), "warm_us": 50.0}


@pytest.fixture(autouse=True)
def the_scripts_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The core's clock is the scripts' virtual one."""
    monkeypatch.setattr(Witness, "clock_hz", lambda self: 2.7e9)


def test_an_honest_runner_passes_and_one_that_halves_its_ticks_does_not(
    lab: Any, ecb: Any, address: Any
) -> None:
    done = lab.run(ecb("alpha", burn=1.0), ecb("beta", burn=2.0), **POLICY)
    assert done.failures() == {address("beta"): "audit"}
    assert "ns of CPU time for the same calls" in done.failure(address("beta")).message
    figure = done.figure(address("alpha"))
    assert Doubt.AUDIT not in {warning.kind for warning in figure.warnings}


def test_a_runner_that_says_more_than_went_by_is_refused(lab: Any, ecb: Any, address: Any) -> None:
    done = lab.run(ecb("alpha", burn=0.01, operations=[row(per_call=12e6)]), **POLICY)
    assert done.failures() == {address("alpha"): "audit"}
    assert "went by" in done.failure(address("alpha")).message


def test_every_cell_is_looked_at_in_every_epoch(lab: Any, ecb: Any, address: Any) -> None:
    done = lab.run(ecb("alpha", burn=1.0), **POLICY)
    assert [(audit.cell.address, audit.epoch) for audit in done.notes.all("audited")] == [
        (address("alpha"), 0),
        (address("alpha"), 1),
    ]


@pytest.mark.parametrize(("burn", "failed"), [(1.0, False), (2.0, True)])
def test_of_calls_too_long_for_the_budget_pieces_are_looked_at(lab: Any, burn: float, failed: bool) -> None:
    operation = row("aes-128-ecb", "encrypt", contract="stream/1", per_byte=1600.0)
    runner = {"name": "alpha", "operations": [operation], "pieces": {"restart": 100.0}, "burn": burn}
    done = lab.run(runner, ask="alpha/*@1MiB+contract=stream", budget_s=1.0, sample_us=5000.0, **POLICY)
    assert set(done.failures().values()) == ({"audit"} if failed else set())
    audits = done.notes.all("audited")
    assert audits
    for audit in audits:
        assert "shorter data" in audit.unchained
        assert not audit.long
        assert audit.claimed_ns[0] == pytest.approx(1600.0 * 2**20 / 2.7, rel=0.05)


def test_a_cache_of_answers_is_caught_by_new_data(lab: Any, ecb: Any, address: Any) -> None:
    done = lab.run(
        ecb("alpha", burn=1.0, operations=[_slow()], chained=1.0),
        ecb("beta", burn=1.0, operations=[_slow()], chained=3.0),
        **POLICY,
    )
    assert done.failures() == {address("beta"): "audit"}
    assert "where each call has new data" in done.failure(address("beta")).message


def test_wrong_answers_while_audited_cost_the_wrong_and_a_tie_is_disputed(
    lab: Any, ecb: Any, address: Any
) -> None:
    def named(name: str, **more: Any) -> dict[str, Any]:
        return ecb(name, library=name, burn=1.0, chained=1.0, operations=[_slow()], **more)

    liar = named("beta", lies=[lie("audit")])
    two = lab.run(named("alpha"), liar, **POLICY)
    assert two.failures() == {address("alpha"): "disputed", address("beta"): "disputed"}


def test_two_copies_of_a_liar_do_not_outvote_an_honest_library(lab: Any, ecb: Any, address: Any) -> None:
    given = {"burn": 1.0, "chained": 1.0, "operations": [_slow()]}
    copies = [ecb(name, library="Liar", lies=[lie("audit")], **given) for name in ("beta", "gamma")]
    done = lab.run(ecb("alpha", library="Honest", **given), *copies, **POLICY)
    assert set(done.failures().values()) == {"disputed"}
    assert address("alpha") in done.failures()


def test_forgeries_that_are_accepted_while_audited_are_wrong(
    lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        secrets, "randbits", lambda bits: 64
    )  # a multiple of 8: the first call gets a forgery
    rows = [row("aes-128-gcm", "open", per_call=16e6)]
    given = {"name": "alpha", "operations": rows, "burn": 1.0, "chained": 1.0, "lies": [lie("accept")]}
    done = lab.run(given, ask="alpha/aes-128-gcm/open@16", **POLICY)
    assert [(one.kind, "forgeries were accepted" in one.message) for one in done.outcome.failures] == [
        ("incorrect", True)
    ]


def test_without_the_audit_nobody_is_looked_at(lab: Any, ecb: Any, address: Any) -> None:
    done = lab.run(ecb("alpha", burn=2.0), **{**POLICY, "audit": False})
    assert not done.notes.all("audited")
    assert done.figure(address("alpha")).quality is not Quality.DOUBTED


@pytest.mark.parametrize(("operation", "contract"), [("encrypt", "setup/1"), ("sign", "pk/1")])
def test_what_does_not_work_on_its_data_is_not_asked_with_longer_data(operation: str, contract: str) -> None:
    """The chain's key and the output to be shown take longer than the setup of a short key."""
    auditor = Auditor(Policy(), load(), {}, _ignore, _ignore, Witness([0]))
    nobody: Any = None
    assert auditor.look_larger(nobody, Cell("alpha", "des-ede3-cbc", operation, 8192, contract), 0) == ""


def test_what_a_chain_takes_besides_is_asked_anew_in_each_epoch() -> None:
    """A neighbour slows chains later in the run, and what they take besides with them."""
    link_s = 1e-6
    session = SimpleNamespace(audit=lambda handle, seed, calls: SimpleNamespace(cpu_s=calls * link_s))
    sessions: Any = SimpleNamespace(of=lambda _: session, handle=lambda _: 1, release=lambda _: None)
    auditor = Auditor(Policy(), load(), {}, _ignore, _ignore, Witness([0]))
    cell = Cell("alpha", "hmac-sha-256", "mac", 64, "rekey/1")
    found = [auditor._bare_chain_ns(sessions, cell, 0, 1e-6)]
    link_s = 2e-6
    found += [auditor._bare_chain_ns(sessions, cell, epoch, 1e-6) for epoch in (0, 3)]
    assert found == pytest.approx([1000, 1000, 2000])


def _ignore(*_: object) -> None: ...


def _slow() -> dict[str, Any]:
    return row(per_call=16e6)


@pytest.mark.parametrize(
    ("algorithm", "operation", "compared"),
    [("ed25519", "sign", 1), ("ecdsa-p256", "sign", 0), ("rsa-2048", "sign", 0), ("sha-256", "digest", 1)],
)
def test_what_is_drawn_at_random_is_not_compared(algorithm: str, operation: str, compared: int) -> None:
    """Nor signatures under key pairs that are the runners' own."""
    auditor = Auditor(Policy(), load(), {}, _ignore, _ignore, Witness([0]))
    for runner in ("alpha", "beta"):
        cell = Cell(runner, algorithm, operation, 32, "pk/1")
        auditor._remember(("the same",), cell, runner)
    assert len(auditor._digests) == compared
