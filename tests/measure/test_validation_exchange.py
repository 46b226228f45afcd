"""Randomised operations: each runner has to understand what the others make."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from perbyte.catalogue import load
from perbyte.errors import RunnerRefused
from perbyte.measure.forgeries import Forgeries
from perbyte.measure.validation import Validation
from perbyte.model import Cell
from perbyte.protocol.messages import CheckAnswer, VerdictAnswer

SIGNATURE = 64


@pytest.fixture(autouse=True)
def no_forgeries(monkeypatch):
    """What stands in for a session here has only what an exchange asks for."""
    for look in ("of_row", "of_cell"):
        monkeypatch.setattr(Forgeries, look, lambda *_: None)


class Signer:
    """A runner of Ed25519-like signatures: a byte that says who signed, and zeros. `knows` are whose it takes."""

    spec = SimpleNamespace(accepts={})

    def __init__(self, mark: int, knows: set[int]) -> None:
        self.mark, self.knows = mark, knows

    def check_vector(self, handle, known):
        if known.source:  # the catalogue's own answers
            raise RunnerRefused("not here", code="unsupported")
        if known.operation == "verify":
            if bytes.fromhex(known.input)[-SIGNATURE] not in self.knows:
                raise RunnerRefused("bad signature", code="library")
            return answer("")
        return answer(f"{self.mark:02x}" + "00" * (SIGNATURE - 1))

    def check_calls(self, handle, calls):
        return answer("")

    def round_trip(self, handle):
        return VerdictAnswer(id=1, ok=True, passed=True, detail="")

    forgery = round_trip


def answer(output: str) -> CheckAnswer:
    return CheckAnswer(
        id=1, ok=True, length=len(output) // 2, digest="0" * 16, head=output[:128], output=output
    )


class Sessions:
    seed = 7

    def __init__(self, signers: dict[str, Signer]) -> None:
        self.signers = signers

    def of(self, cell):
        return self.signers[cell.runner]

    def handle(self, cell):
        return 0

    def revive(self, process):
        return True

    def release(self, cells):
        pass


def examined(algorithm: str = "ecdsa-p256", **knows: set[int]):
    signers = {name: Signer(mark, knows[name]) for mark, name in enumerate(knows)}
    cells = [
        Cell(name, algorithm, operation, 32, "pk/1") for name in knows for operation in ("sign", "verify")
    ]
    return Validation(load(), Sessions(signers)).examine(cells)


def test_who_understand_each_other_pass_and_the_comparisons_are_counted():
    verdicts = examined(alpha={0, 1, 2}, beta={0, 1, 2}, gamma={0, 1, 2})
    assert verdicts.failures == []
    assert verdicts.compared == 6  # signatures of others verified


def test_the_one_that_none_understands_is_wrong():
    verdicts = examined(alpha={0, 1}, beta={0, 1}, gamma={2})
    assert {failure.runner for failure in verdicts.failures} == {"gamma"}
    assert "alpha, beta" in verdicts.failures[0].message
    assert {cell.runner for cell in verdicts.passed} == {"alpha", "beta"}


def test_of_two_that_do_not_both_are_out():
    verdicts = examined(alpha={0}, beta={1})
    assert {failure.address for failure in verdicts.failures} == {
        f"{name}/ecdsa-p256/{operation}@32+contract=pk/1"
        for name in ("alpha", "beta")
        for operation in ("sign", "verify")
    }


@pytest.mark.parametrize("algorithm", ["rsa-pss-2048", "falcon-512"])
def test_runners_with_keys_of_their_own_are_not_asked(algorithm):
    verdicts = examined(algorithm, alpha={0}, beta={1})
    assert verdicts.failures == []
    assert verdicts.compared == 0


class Sealer(Signer):
    """A runner of letters: a byte that says who sealed, then the message as it is."""

    def check_vector(self, handle, known):
        if known.source:
            raise RunnerRefused("not here", code="unsupported")
        if known.operation == "seal":
            return answer(f"{self.mark:02x}" + known.input)
        if int(known.input[:2], 16) not in self.knows:
            raise RunnerRefused("bad letter", code="library")
        return answer(known.input[2:] if self.mark != 3 else "00" * 32)


def sealed(*knows: set[int]):
    sealers = {f"runner{mark}": Sealer(mark, known) for mark, known in enumerate(knows)}
    cells = [
        Cell(name, "hpke-x25519-aes-128-gcm", operation, 32, "letter/1")
        for name in sealers
        for operation in ("seal", "open")
    ]
    return Validation(load(), Sessions(sealers)).examine(cells)


def test_letters_are_opened_by_the_others_and_give_the_message():
    everybody = {0, 1, 2, 3}
    assert sealed(everybody, everybody, everybody).failures == []
    verdicts = sealed(everybody, everybody, everybody, everybody)  # the last one opens them to something else
    assert {failure.runner for failure in verdicts.failures} == {"runner3"}
    verdicts = sealed(everybody, everybody, {2})
    assert {failure.runner for failure in verdicts.failures} == {"runner2"}
