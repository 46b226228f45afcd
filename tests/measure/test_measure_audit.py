"""The audit from outside in a run: honest runners keep their figures, others lose them, each its own only.

The scripted runner really takes the CPU time that `burn` says; CPU time is the kernel's, so a busy machine changes
nothing.
"""

from __future__ import annotations

import random
import secrets
from typing import Any

import pytest
from fake_scripts import lie, row

from perbyte.catalogue import load
from perbyte.measure import answers, audit
from perbyte.measure.audit import Auditor
from perbyte.measure.looks import Allowance
from perbyte.measure.witness import Witness
from perbyte.model import Cell, Doubt, Policy, Quality
from perbyte.runners.process import RunnerProcess

ELSEWHERE = 1008  # bytes, of a length that no cell has
POLICY = {"audit": True, "epochs": 2, "burst_samples": 4, "looks": (1,), "warm_us": 50.0}
FIVE = {**POLICY, "epochs": 5, "max_epochs": 5}


class Lengths(random.Random):
    """Lots of which all lengths are the same."""

    def randrange(self, *_: int) -> int:  # type: ignore[override]
        """That length."""
        return ELSEWHERE


@pytest.fixture(autouse=True)
def the_scripts_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The core's clock is the scripts' virtual one."""
    monkeypatch.setattr(Witness, "clock_hz", lambda self: 2.7e9)


def test_an_honest_runner_passes_and_one_that_halves_its_ticks_does_not(
    lab: Any, ecb: Any, address: Any
) -> None:
    done = lab.run(ecb("alpha", burn=1.0), ecb("beta", burn=2.0), **FIVE)
    assert done.failures() == {address("beta"): "audit"}
    assert "ns of CPU time for the same calls" in done.failure(address("beta")).message
    figure = done.figure(address("alpha"))
    assert Doubt.AUDIT not in {warning.kind for warning in figure.warnings}


def test_what_few_epochs_show_is_a_doubt(lab: Any, ecb: Any, address: Any) -> None:
    done = lab.run(ecb("alpha", burn=2.0), **POLICY)
    assert not done.failures()
    assert done.figure(address("alpha")).quality is Quality.DOUBTED


def test_a_runner_that_says_more_than_went_by_is_refused(lab: Any, ecb: Any, address: Any) -> None:
    done = lab.run(ecb("alpha", burn=0.01, operations=[row(per_call=12e6)]), **FIVE)
    assert done.failures() == {address("alpha"): "audit"}
    assert "went by" in done.failure(address("alpha")).message


def epochs_looked_at(done: Any, cell: str) -> list[int]:
    return [audit.epoch for audit in done.notes.all("audited") if audit.cell.address == cell]


def test_a_cell_that_is_settled_is_looked_at_again_in_epochs_drawn_by_lot(
    lab: Any, ecb: Any, address: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []
    monkeypatch.setattr(audit, "drawn", lambda share: asked.append(share) or len(asked) == 2)
    monkeypatch.setattr(audit, "is_finished", lambda known, around: len(known) > 1)
    monkeypatch.setattr(audit, "is_suspicious", lambda known: False)
    done = lab.run(ecb("alpha", burn=1.0), **FIVE)
    assert set(asked) == {audit.AGAIN, audit.CHAIN_AGAIN}
    assert epochs_looked_at(done, address("alpha")) == [0, 1, *([2] if asked[1] == audit.AGAIN else [3])]


def test_a_cell_that_is_odd_is_looked_at_in_every_epoch(
    lab: Any, ecb: Any, address: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "drawn", lambda share: False)
    done = lab.run(ecb("alpha", burn=2.0), **FIVE)
    assert epochs_looked_at(done, address("alpha")) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("burn", "failed"), [(1.0, False), (2.0, True)])
def test_of_calls_too_long_for_the_budget_pieces_are_looked_at(lab: Any, burn: float, failed: bool) -> None:
    operation = row("aes-128-ecb", "encrypt", contract="stream/1", per_byte=1600.0)
    runner = {"name": "alpha", "operations": [operation], "pieces": {"restart": 100.0}, "burn": burn}
    done = lab.run(runner, ask="alpha/*@1MiB+contract=stream", budget_s=1.0, sample_us=5000.0, **FIVE)
    assert set(done.failures().values()) == ({"audit"} if failed else set())
    audits = [look for look in done.notes.all("audited") if look.cell.runner == "alpha"]
    assert audits
    for look in audits:
        assert "shorter data" in look.unchained
        assert not look.long
        assert look.claimed_ns[0] == pytest.approx(1600.0 * 2**20 / 2.7, rel=0.05)


@pytest.mark.slow
def test_a_cache_of_answers_is_caught_by_new_data(lab: Any, ecb: Any, address: Any) -> None:
    given = {"burn": 1.0, "operations": [_slow()]}
    done = lab.run(
        ecb("alpha", **given, chained=1.0, beside=0.5),
        ecb("beta", **given, chained=8.0, beside=0.5),
        **FIVE,
    )
    assert done.failures() == {address("beta"): "audit"}
    message = done.failure(address("beta")).message  # of the timed calls, or of the figure
    assert "where each call has new data" in message or "its calls take" in message


def test_what_a_chain_takes_besides_is_no_part_of_its_calls(lab: Any, ecb: Any, address: Any) -> None:
    done = lab.run(ecb("alpha", burn=1.0, operations=[_slow()], chained=1.0, beside=2.0), **FIVE)
    assert not done.failures()
    kinds = {warning.kind for warning in done.figure(address("alpha")).warnings}
    assert Doubt.AUDIT not in kinds
    assert Doubt.UNCHAINED in kinds, "twice a call is too much to tell"


def test_a_runner_that_knows_no_control_is_said_not_to_have_been_audited(
    lab: Any, ecb: Any, address: Any
) -> None:
    done = lab.run(ecb("alpha", burn=1.0, operations=[_slow()], chained=1.0), **POLICY)
    [warning] = [w for w in done.figure(address("alpha")).warnings if w.kind is Doubt.UNCHAINED]
    assert "what a chain takes beside its calls" in warning.text


@pytest.mark.slow
def test_a_lie_at_one_size_costs_that_cell_and_at_two_the_row(lab: Any, ecb: Any) -> None:
    """Calls of 16 bytes are honest; those of more take longer than they say."""
    rows = [row(per_call=16e6, per_byte=0.0)]
    liar = {
        "name": "alpha",
        "operations": rows,
        "burn": 1.0,
        "chained": 1.0,
        "beside": 0.0,
    }

    def refused(name: str, sizes: str, **dearer: float) -> list[str]:
        for turn in range(3):  # beside other work the audit may find too little to refuse anything
            own = f"{name}-{turn}"
            ask = f"{own}/aes-128-ecb@{sizes}+contract=message"
            done = lab.run(liar | {"name": own, "dearer": dearer}, ask=ask, **FIVE)
            if done.failures():
                break
        return sorted(failure.partition("@")[2][:2] for failure in done.failures())

    assert refused("alpha", "16,32", **{"32": 8.0}) == ["32"]
    assert refused("beta", "16,32,48", **{"32": 8.0, "48": 8.0}) == ["16", "32", "48"]


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
    assert [
        (failure.kind, "forgeries were accepted" in failure.message) for failure in done.outcome.failures
    ] == [("incorrect", True)]


REFUSES_ELSEWHERE = {
    "on": "prepare",
    "do": "refuse",
    "code": "bad-size",
    "message": "no",
    "sizes": [ELSEWHERE],
    "nth": 0,
}


@pytest.mark.parametrize(
    "fault",
    [
        REFUSES_ELSEWHERE,
        {"on": "audit", "do": "patch", "fields": {"failures": 1}, "sizes": [ELSEWHERE], "nth": 0},
    ],
)
def test_who_fails_on_other_lengths_where_others_do_not_gains_nothing_by_it(
    lab: Any, ecb: Any, address: Any, fault: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library may have its reasons: its figure stands, as one whose work nobody saw."""
    monkeypatch.setattr(answers, "CHANCE", Lengths())
    monkeypatch.setattr(Allowance, "has", lambda self, takes_s: True)
    given = {"burn": 1.0, "chained": 1.0, "beside": 0.02, "operations": [row(per_call=8e6)]}
    odd = ecb("beta", library="beta", faults=[fault], **given)
    done = lab.run(ecb("alpha", library="alpha", **given), odd, **FIVE)
    assert not done.failures()
    [warning] = [
        warning for warning in done.figure(address("beta")).warnings if warning.kind is Doubt.UNCHAINED
    ]
    assert f"does not work on {ELSEWHERE} bytes, which others take" in warning.text
    assert Doubt.UNCHAINED not in {warning.kind for warning in done.figure(address("alpha")).warnings}
    alone = lab.run(odd | {"name": "gamma"}, **FIVE)
    assert "others take" not in str(alone.figure(address("gamma")).warnings)


def test_a_row_that_is_settled_is_tried_on_other_lengths_all_the_same(
    lab: Any, ecb: Any, address: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the third epoch, whatever the lot and the time say: who works on the run's lengths alone is known."""
    monkeypatch.setattr(answers, "CHANCE", Lengths())
    monkeypatch.setattr(Allowance, "has", lambda self, takes_s: not takes_s)
    monkeypatch.setattr(audit, "drawn", lambda share: False)
    monkeypatch.setattr(audit, "is_finished", lambda known, around: len(known) > 1)
    given = {"burn": 1.0, "chained": 1.0, "beside": 0.02, "operations": [row(per_call=1e5)]}
    odd = ecb("beta", library="beta", faults=[REFUSES_ELSEWHERE], **given)
    done = lab.run(ecb("alpha", library="alpha", **given), odd, **FIVE)
    assert "does not work on" in str(done.figure(address("beta")).warnings)


def test_a_process_that_works_unasked_is_refused_in_four_epochs_of_five(
    lab: Any, ecb: Any, address: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = iter([0.9, 0.1, 0.9, 0.9, 0.9])
    monkeypatch.setattr(RunnerProcess, "unasked_share", lambda self: next(shares, 0.0))
    done = lab.run(ecb("alpha", burn=1.0), **FIVE)
    assert "without a request" in done.failure(address("alpha")).message
    shares = iter([0.9, 0.1, 0.9, 0.1, 0.9])
    assert not lab.run(ecb("beta", burn=1.0), **FIVE).failures()


def test_without_the_audit_nobody_is_looked_at(lab: Any, ecb: Any, address: Any) -> None:
    done = lab.run(ecb("alpha", burn=2.0), **{**POLICY, "audit": False})
    assert not done.notes.all("audited")
    assert done.figure(address("alpha")).quality is not Quality.DOUBTED


def test_who_makes_inputs_untimed_is_not_looked_at_and_it_is_said(
    lab: Any, ecb: Any, address: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of what the kernel counts nobody could tell how much the inputs took."""
    monkeypatch.setattr(audit, "PREPARED", "")  # the beginning of every contract
    done = lab.run(ecb("alpha", burn=2.0), **FIVE)
    assert not done.failures()
    told = [warning.text for warning in done.figure(address("alpha")).warnings if warning.kind is Doubt.AUDIT]
    assert told == ["not audited from outside: it makes an input for each call, which takes CPU time"]


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
        auditor._answers.remember(("the same",), cell, runner)
    assert len(auditor._answers._digests) == compared
