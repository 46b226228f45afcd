"""What ranks before speed: what authorities leave out, the strength asked for, hybrids, and what is deployed."""

from __future__ import annotations

import datetime
from dataclasses import replace

import pytest
from made_cases import case

from perbyte.advise import Sure, changes, decide
from perbyte.report.advice import Told, tell
from perbyte.report.advicecard import advice_card

KEM = {
    "alpha/ml-kem-512": 2e4,
    "alpha/ml-kem-768": 3e4,
    "alpha/ml-kem-1024": 4e4,
    "alpha/x25519": 5e4,
    "alpha/ecdh-brainpoolp256r1": 5e5,
}
SIGN = {"alpha/ml-dsa-44": 9e4, "alpha/ml-dsa-65": 15e4, "alpha/ml-dsa-87": 25e4, "alpha/ed25519": 1e5}


def told_of(question: str, costs: dict[str, float], **asked: object) -> Told:
    made = case(question, costs)
    decision = decide(replace(made, asked=replace(made.asked, **asked)))
    return tell(decision, changes(decision))


def card_of(told: Told) -> str:
    (line,) = advice_card([told]).lines
    return f"{line.winner} {line.sure}"


@pytest.mark.parametrize("day", ["2026-11-27", "2032-01-01", "2036-01-01"])
def test_what_the_profiles_own_authority_leaves_out_is_never_first_nor_certain(day: str):
    date = datetime.date.fromisoformat(day)
    for question, costs, left_out in (("kem", KEM, "ml-kem-512"), ("signature", SIGN, "ml-dsa-44")):
        told = told_of(question, costs, profile="bsi", date=date)
        assert told.decision.first.algorithm.id != left_out
        assert [entry.algorithm.id for entry in told.decision.ranking][-1] == left_out
        alone = told_of(question, {f"alpha/{left_out}": 1e4}, profile="bsi", date=date)
        assert alone.decision.sure is Sure.RESERVED
        assert "not among the recommended parameter sets" in card_of(alone)


def test_bsi_of_2032_names_768_and_of_2036_65_with_their_reserve_on_the_card():
    kem = told_of("kem", KEM, profile="bsi", date=datetime.date(2032, 1, 1))
    assert kem.decision.first.algorithm.id == "ml-kem-768"
    assert "together with a classical key agreement" in card_of(kem)
    sign = told_of("signature", SIGN, profile="bsi", date=datetime.date(2036, 1, 1))
    assert sign.decision.first.algorithm.id == "ml-dsa-65"
    assert "together with a classical signature" in card_of(sign)


def test_a_hybrid_comes_first_whatever_it_costs_and_says_why():
    told = told_of("kem", KEM | {"alpha/x25519mlkem768": 8e4})
    assert told.decision.first.algorithm.id == "x25519mlkem768"
    assert "holds as long as one half does" in card_of(told)
    assert "The next, ML-KEM-768, in Alpha 1.0, costs ×0.3" in card_of(told)


def test_without_a_hybrid_the_card_says_what_is_missing_and_why_it_matters():
    told = told_of("kem", {"alpha/x25519": 5e4, "alpha/ecdh-p256": 7e4})
    card = card_of(told)
    assert told.decision.first.algorithm.id == "x25519"
    assert "With reserve, X25519: What is recorded today" in card
    assert "X25519MLKEM768" in card
    assert "perbyte list providers x25519mlkem768" in card, "a run of others: what is built here is not known"
    assert card.count("With reserve, X25519") == 1
    assert told_of("kem", KEM).decision.first.algorithm.id == "ml-kem-768", (
        "512 is below the question's strength"
    )


def test_strength_that_is_asked_for_ranks_before_speed():
    told = told_of("signature", SIGN, strength=192)
    assert told.decision.first.algorithm.id == "ml-dsa-65"
    assert {entry.algorithm.id for entry in told.decision.ranking if entry.weak} == {"ml-dsa-44", "ed25519"}
    ciphers = told_of("tls", {"alpha/aes-128-gcm": 0.5, "alpha/aes-256-gcm": 0.7}, strength=256)
    assert ciphers.decision.first.algorithm.id == "aes-256-gcm"
    sectors = told_of("disk", {"alpha/aes-128-xts": 0.5, "alpha/aes-256-xts": 0.7}, strength=256)
    assert sectors.decision.first.algorithm.id == "aes-256-xts", "the key of XTS is two keys"
    weak = told_of("signature", {"alpha/ed25519": 1e5}, strength=256)
    assert "weaker than asked for" in card_of(weak)


def test_an_archive_takes_what_formats_write_before_what_nobody_lists():
    costs = {"alpha/aegis-256": 0.3, "alpha/aes-256-ocb": 0.4, "alpha/aes-256-gcm": 0.6}
    told = told_of("archive", costs)
    assert told.decision.first.algorithm.id == "aes-256-gcm"
    assert "it is what formats for archives and backups write" in card_of(told)
    alone = told_of("archive", {"alpha/aegis-256": 0.3})
    assert "does not list it" in card_of(alone)


def test_certificates_count_whole_on_the_wire():
    wire = " ".join(dict(told_of("signature", SIGN).lines)["On the wire"])
    assert "ML-DSA-65 13,831 (!)" in wire
    assert "ML-DSA-44 9,8" in wire
    assert "ML-DSA-44 9,884 (!)" not in wire


def test_a_table_stands_once_and_sealing_beside_encrypting():
    told = told_of("archive", {"alpha/aes-256-gcm": 0.6, "alpha/des-ede3-cfb": 60.0}, volume_bytes=1e6)
    heads = [column.text for column in told.table.columns]
    assert [head for head in heads if head and "KiB" in head] == [
        "seal/encrypt 64 KiB",
        "open/decrypt 64 KiB",
    ]
