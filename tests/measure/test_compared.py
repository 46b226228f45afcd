"""What others make of a runner's chains, of any length, and calls on fresh material where there are no chains."""

from __future__ import annotations

import random
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from perbyte.catalogue import load
from perbyte.measure import fresh
from perbyte.measure.answers import ELSEWHERE, NOBODY, OWN_KEY, RANDOM, Answers, known_digest
from perbyte.measure.fresh import Fresh
from perbyte.measure.looks import Allowance, Given, question
from perbyte.measure.referees import Referees
from perbyte.measure.sessions import material_seed
from perbyte.measure.validation import ask_others
from perbyte.model import Audit, Cell, Policy
from perbyte.stats.audit import FRESH_REFUSED

HASH = Cell("alpha", "sha-256", "digest", 64, "oneshot/1")
CIPHER = Cell("alpha", "aes-128-ctr", "encrypt", 64, "message/1")
RSA = Cell("alpha", "rsa-2048", "sign", 32, "pk/1")
KEYS = Cell("alpha", "x25519", "keygen", 0, "pk/1")
ECDSA = Cell("alpha", "ecdsa-p256", "sign", 32, "pk/1")


class Others:
    """Other libraries, each with what it gives to every question."""

    def __init__(self, **digests: str) -> None:
        self.digests = digests
        self.asked: list[tuple[str, int, int]] = []

    def others(self, cell: Cell) -> list[Cell]:
        return [Cell(name, *cell.row[2:4], cell.size_bytes, cell.contract) for name in self.digests]

    def runs(self, process: Any) -> bool:
        return True

    def of(self, cell: Cell) -> Any:
        return SimpleNamespace(identity=lambda: SimpleNamespace(library=cell.runner))

    def digest(self, given: Given, other: Cell) -> str:
        self.asked.append((other.runner, given.seed, given.calls))
        return self.digests[other.runner]


def compare(cell: Cell, given: list[Given], others: Any) -> tuple[tuple[int, str], list[tuple[str, str]]]:
    answers = Answers(Policy(), load(), {})
    outcome = answers.compare(cell, 0, given, others, Allowance())
    return outcome, sorted((wrong.cell.runner, wrong.kind) for wrong in answers.disagreements(others))


def chain(cell: Cell, calls: int, *, right: bool = True, seed: int = 5) -> Given:
    known = known_digest(cell, load().find(cell.algorithm), seed, calls, key_seed=Policy().seed) or "0" * 16
    return Given(cell, Policy().seed, seed, calls, known if right else "f" * 16, 1e-5)


def test_a_long_chain_is_held_against_hashlib_also_of_a_runner_that_is_alone() -> None:
    assert compare(HASH, [chain(HASH, 2), chain(HASH, 200, seed=6)], Others()) == ((2, ""), [])
    outcome, wrong = compare(HASH, [chain(HASH, 2), chain(HASH, 200, right=False, seed=6)], Others())
    assert (outcome, wrong) == ((2, ""), [("alpha", "incorrect")])


def test_where_hashlib_does_not_know_another_library_makes_the_chain() -> None:
    given = [Given(CIPHER, 7, 5, 300, "a" * 16, 1e-5)]
    others = Others(beta="a" * 16, gamma="a" * 16)
    assert compare(CIPHER, given, others) == ((1, ""), [])
    assert others.asked == [("beta", 5, 300)], "one is enough that gives the same"
    assert compare(CIPHER, given, Others(beta="b" * 16, gamma="b" * 16))[1] == [("alpha", "incorrect")]
    assert compare(CIPHER, given, Others(beta="b" * 16, gamma="a" * 16))[1] == [("beta", "incorrect")]
    assert compare(CIPHER, given, Others(beta="b" * 16))[1] == [("alpha", "disputed"), ("beta", "disputed")]
    assert compare(CIPHER, given, Others()) == ((0, NOBODY), [])


def test_a_row_that_is_alone_is_held_against_others_until_two_give_the_same() -> None:
    for others, heard, expected in (
        (Others(beta="a" * 16, gamma="b" * 16), (), {"alpha", "beta"}),
        (Others(beta="b" * 16, gamma="b" * 16, delta="a" * 16), (), {"alpha", "beta", "gamma"}),
        (Others(beta="", gamma="a" * 16), (), {"alpha", "gamma"}),
        (Others(beta="b" * 16, gamma="a" * 16), ("beta",), {"alpha", "gamma"}),
        (Others(), (), {"alpha"}),
    ):
        answers = {CIPHER: "a" * 16}
        referees: Any = others
        ask_others(referees, CIPHER, answers, lambda other, o=others: o.digests[other.runner], heard)
        assert {cell.runner for cell in answers} == expected


def test_what_is_drawn_or_signed_by_an_own_key_is_no_fault_and_nobody_vouches_for_it() -> None:
    signed = [Given(RSA, 7, 5, 3, "a" * 16, 1e-3)]
    assert compare(RSA, signed, Others(beta="a" * 16)) == ((1, ""), [])
    assert compare(RSA, signed, Others(beta="b" * 16)) == ((0, OWN_KEY), [])
    assert compare(ECDSA, [Given(ECDSA, 7, 5, 3, "a" * 16, 1e-3)], Others(beta="b" * 16)) == ((0, RANDOM), [])


def test_who_is_no_process_of_the_run_is_asked_nothing() -> None:
    assert list(Referees(Policy()).others(HASH)) == []


def test_of_two_that_differ_others_tell_who_is_wrong() -> None:
    """An honest row must not lose its figure because a wrong one was asked before a third library."""
    asked = (*question(replace(CIPHER, size_bytes=4096)), ELSEWHERE)
    agreed, rival = "a" * 16, replace(CIPHER, runner="beta")
    for others, expected in (
        (Others(beta="b" * 16, gamma=agreed), [("beta", "incorrect", True)]),
        (Others(beta="b" * 16), [("alpha", "disputed", True), ("beta", "disputed", True)]),
    ):
        answers = Answers(Policy(), load(), {asked: (5, 2)})
        answers.lengths[asked] = 3200
        answers.remember(asked, CIPHER, agreed)
        answers.remember(asked, rival, "b" * 16)
        referees: Any = others
        assert [(w.cell.runner, w.kind, w.everywhere) for w in answers.disagreements(referees)] == expected
        assert others.asked == [("gamma", 5, 2)] * ("gamma" in others.digests), "nobody is asked twice"


class Drawing:
    """A process that draws results: `values` in turn."""

    def __init__(self, *values: str, vectors: tuple[str, ...] = ()) -> None:
        self.values, self.vectors, self.turn = values, vectors, -1

    def check_calls(self, handle: int, calls: int) -> Any:
        self.turn += 1
        value = self.values[self.turn % len(self.values)]
        return SimpleNamespace(digest=value, output=value)

    def check_vector(self, handle: int, asked: Any) -> Any:
        self.turn += 1
        return SimpleNamespace(output=self.vectors[self.turn % len(self.vectors)])


@pytest.fixture
def asks() -> Fresh:
    referees: Any = SimpleNamespace(handle=lambda cell, seed=None: 1, others=lambda cell: [])
    return Fresh(load(), referees)


def test_key_pairs_that_come_again_are_no_new_ones(asks: Fresh) -> None:
    pool: Any = Drawing(*(f"{number:x}" for number in range(6)))
    assert "public keys that it drew are the same" in asks.differ(pool, 1, KEYS, 2e-8, 7)
    many: Any = Drawing(*(f"{number:x}" for number in range(fresh.MOST)))
    assert asks.differ(many, 1, KEYS, 2e-8, 7) == ""
    slow: Any = Drawing("a", "b", "c")
    assert asks.differ(slow, 1, KEYS, 0.1, 7) == "", "as few as there is time for"
    assert asks.differ(slow, 1, RSA, 0.1, 7) == "", "nothing of it is drawn"


def test_signatures_by_one_key_have_a_nonce_each(asks: Fresh) -> None:
    def found(values: tuple[str, ...], vectors: tuple[str, ...]) -> str:
        session: Any = Drawing(*values, vectors=vectors)
        return asks.differ(session, 1, ECDSA, 1e-3, 7)

    apart = ("aa01", "bb02", "cc03", "dd04")
    assert found(tuple(f"{number:04x}" + "00" * 2 for number in range(fresh.MOST)), apart) == ""
    assert "follow from each other" in found(("aa01", "bb02", "aa03"), apart)
    assert found(("aa01",), apart) == "", "a library may derive its nonces (RFC 6979)"
    assert "share their nonce" in found(("aa01",), ("aa01", "aa02", "aa03", "aa04"))


def test_a_verdict_that_is_wrong_on_what_nobody_knew_is_wrong(
    asks: Fresh, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = Cell("alpha", "ed25519", "verify", 32, "pk/1")
    vector = fresh._asked(cell, "00", "00", refused=True)
    monkeypatch.setattr(Fresh, "_vectors", lambda self, cell, known, count: lambda: vector)
    process = SimpleNamespace(cpu_s=lambda: 0.0)
    session: Any = SimpleNamespace(process=process, check_vector=lambda *_: None, check_calls=lambda *_: None)
    audit = asks.look(session, 1, Audit(cell, 0), 1e-4, 7)
    assert "took for right a changed message" in audit.wrong


def test_a_chain_is_held_against_calls_with_the_key_of_its_own_epoch() -> None:
    mac = Cell("alpha", "hmac-sha-256", "mac", 64, "message/1")
    made = [known_digest(mac, load().find(mac.algorithm), 5, 2, key_seed=seed) or "" for seed in (7, 8)]
    assert made[0]
    assert made[0] != made[1]
    for key_seed, wrong in ((7, []), (8, [("alpha", "incorrect")])):
        assert compare(mac, [Given(mac, key_seed, 5, 2, made[0], 1e-5)], Others()) == ((1, ""), wrong)


def test_each_epoch_has_a_key_and_a_nonce_of_its_own_where_the_cost_may_hang_on_them() -> None:
    assert material_seed(7, 0, CIPHER) == 7
    assert material_seed(7, 3, HASH) == 7
    drawn = [material_seed(seed, epoch, CIPHER) for seed in (7, 8) for epoch in range(1, 5)]
    assert len({*drawn, 7, 8}) == 10, "runs of neighbouring seeds share none"
    assert material_seed(7, 3, CIPHER) == material_seed(7, 3, replace(CIPHER, runner="beta"))
    assert material_seed(7, 3, replace(CIPHER, state="cold")) == 7


class Timed:
    """A process whose questions take CPU time: `new_s` for what it was never asked, `old_s` else, and noise."""

    def __init__(self, new_s: float, old_s: float, noise_s: float) -> None:
        self.new_s, self.old_s, self.noise_s = new_s, old_s, noise_s
        self.taken_s, self.draw, self.asked = 0.0, random.Random(1), set[Any]()
        self.process = SimpleNamespace(cpu_s=lambda: self.taken_s)

    def check_vector(self, handle: int, asked: Any) -> Any:
        self.taken_s += self.old_s if asked in self.asked else self.new_s
        self.taken_s += self.draw.expovariate(1 / self.noise_s)
        self.asked.add(asked)
        return SimpleNamespace(output="")


@pytest.mark.parametrize("noise_s", [0.5e-6, 5e-6])
@pytest.mark.parametrize(
    ("call_s", "new_s", "least", "most"),
    [
        (15e-9, 30.7e-6, 1, 1),  # an honest call: the first question of two is dearer by 0.7 us
        (100e-6, 30e-6, 1, 1.1),
        (15e-9, 45e-6, FRESH_REFUSED, 1000),  # a memo: what it keeps takes 15 us
        (1e-6, 1e-3, FRESH_REFUSED, 1000),
    ],
)
def test_what_the_noise_of_a_question_explains_is_no_work(
    asks: Fresh, noise_s: float, call_s: float, new_s: float, least: float, most: float
) -> None:
    session: Any = Timed(new_s, 30e-6, noise_s)
    cell = replace(ECDSA, algorithm="ed25519")
    for _ in range(20):
        assert least <= asks.look(session, 1, Audit(cell, 0), call_s, 7).fresh[0] <= most


def test_a_memo_of_a_short_function_is_told_from_the_noise(asks: Fresh) -> None:
    session: Any = Timed(33e-6, 30e-6, 0.5e-6)
    looks = [
        asks.look(session, 1, Audit(replace(ECDSA, algorithm="ed25519"), 0), 15e-9, 7) for _ in range(20)
    ]
    assert min(look.fresh[0] for look in looks) > FRESH_REFUSED
