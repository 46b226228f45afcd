"""One library for all parts of a piece of work, what mixing would gain, and the cards that say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from made_cases import RUN, case

from perbyte.advise import Case, Together, changes, decide, decide_together
from perbyte.catalogue.questions import find_question
from perbyte.model import Quality
from perbyte.report.advice import tell
from perbyte.report.advicecard import Advice, advice_card, render_advice, together_json
from perbyte.stats.compare import Answer

RECORDS = {"alpha/aes-128-gcm": 0.5, "beta/aes-128-gcm": 0.6, "gamma/aes-128-gcm": 0.3}
EXCHANGE = {"alpha/x25519": 1e5, "beta/x25519": 3e5, "beta/ecdh-p256": 2.9e5}
SIGNATURE = {"alpha/ed25519": 2e5, "beta/ed25519": 1e5}


def parts(*costs: Mapping[str, float]) -> list[Case]:
    return [case("tls", cost, task=number) for number, cost in enumerate(costs)]


def card_of(together: Together):
    told = []
    for number, each_case in enumerate(together.cases):
        everything = decide(each_case)
        decision = together.first.decisions[number] if together.first else everything
        told.append(tell(decision, changes(decision), None, everything))
    return told, advice_card(told, together)


def test_one_library_for_all_parts_and_what_mixing_would_gain():
    together = decide_together(parts(RECORDS, EXCHANGE, SIGNATURE))
    assert [cell.runner for cell in together.ranking] == ["alpha", "beta"], "gamma has records alone"
    assert together.lacks == (("gamma", (1, 2)),)
    assert together.comparison.answer is Answer.SLOWER
    # records x1.2, exchange x2.9 (P-256), signature x0.5: the geometric mean of the three
    assert abs(together.comparison.ratio.value - (1.2 * 2.9 * 0.5) ** (1 / 3)) < 1e-9
    assert [(gain.part, gain.option.runner) for gain in together.gains] == [(0, "gamma"), (2, "beta")]
    told, card = card_of(together)
    whole, *rest = card.lines
    assert (whole.sign, whole.about) == ("►", "one library for all parts")
    assert whole.winner == "Alpha 1.0: AES-128 in GCM, X25519, Ed25519"
    assert "the next library, Beta 1.0, costs ×1.20" in whole.sure
    assert "cipher for records by AES-128 in GCM, in Gamma 1.0, at ×0.600 (0.59" in whole.sure
    assert "signature by Ed25519, in Beta 1.0, at ×0.500" in whole.sure
    assert "key exchange by" not in whole.sure
    assert "0.400 ms of computing a handshake" in whole.cost, "4 * 1e5 and 2 * 2e5 cycles at 2 GHz"
    assert [part.winner for part in rest] == [part.answer for part in told]
    assert all("Alpha" in comparison.answer for comparison in told)
    data = together_json(together)
    assert data["recommended"] == "alpha"
    assert data["ranking"][1]["algorithms"]["exchange"] == "ecdh-p256"
    assert [(gain["task"], gain["runner"], gain["claimed"]) for gain in data["gains"]] == [
        ("records", "gamma", True),
        ("signature", "beta", True),
    ]
    assert data["lacks"] == {"gamma": ["exchange", "signature"]}


def test_the_table_still_has_every_library_and_the_answer_stands_first():
    together = decide_together(parts(RECORDS, EXCHANGE, SIGNATURE))
    told, _ = card_of(together)
    text = render_advice(Advice(find_question("tls"), RUN, told, together), width=80, colour=False)
    lines = text.splitlines()
    assert lines[4].startswith(
        "► Alpha 1.0: AES-128 in GCM, X25519, Ed25519 (one library for all parts)"[:70]
    )
    assert "Gamma 1.0" in text[text.index("cycles/byte") :]
    assert max(map(len, lines)) <= 80


def test_parts_that_nobody_has_do_not_count():
    together = decide_together(parts(RECORDS, {}, {}))
    assert together.parts == (0,)
    assert together.first.runner == "gamma"
    assert decide_together(parts({}, {}, {})).first is None


def test_without_a_library_for_all_parts_the_answer_mixes_and_says_so():
    together = decide_together(parts({"gamma/aes-128-gcm": 0.3}, EXCHANGE, {"beta/ed25519": 1e5}))
    assert together.first is None
    _, card = card_of(together)
    assert "No library here has all parts, so these are mixed." in card.notes[0]
    assert "gamma lacks key exchange and signature" in card.notes[0]
    assert "Gamma" in card.lines[0].winner


def test_doubtful_figures_choose_no_library_beyond_doubt():
    made = parts(RECORDS, EXCHANGE, SIGNATURE)
    noisy = [
        replace(each_case, figures=tuple(replace(each, quality=Quality.NOISY) for each in each_case.figures))
        for each_case in made
    ]
    together = decide_together(noisy)
    _, card = card_of(together)
    assert card.lines[0].sign == "?"
    assert card.lines[0].sure.count("noisy") == 1, "a doubt is told once"
    assert "cheaper: nothing beyond doubt" in card.lines[0].sure


def test_a_tie_of_ciphers_is_broken_by_the_longer_key_and_says_so():
    decision = decide(case("tls", {"alpha/aes-128-gcm": 0.5, "alpha/aes-256-gcm": 0.5004}))
    assert decision.by_key
    assert decision.first.algorithm.id == "aes-256-gcm"
    assert [cell.algorithm.id for cell in decision.equal] == ["aes-128-gcm"]
    told = tell(decision, changes(decision))
    assert "The tie is broken by the longer key." in dict(told.lines)["How sure"][0]
    assert advice_card([told]).lines[0].sign == "="
    alike = decide(case("signature", {"alpha/ed25519": 1e5, "alpha/ecdsa-p256": 1.0001e5}))
    assert not alike.by_key, "lengths of public keys say nothing across families"


def test_a_size_at_which_the_longer_key_ties_says_that_it_was_chosen_by_it():
    short = case("message", {"alpha/aes-128-gcm": 0.5, "alpha/aes-256-gcm": 0.5004}, setup=0.0)
    long_ = case("message", {"alpha/aes-128-gcm": 0.5, "alpha/aes-256-gcm": 0.7})
    figures = tuple(figure for figure in short.figures if figure.cell.size_bytes == 64)
    figures += tuple(figure for figure in long_.figures if figure.cell.size_bytes == 1024)
    decision = decide(replace(short, figures=figures))
    assert decision.first.algorithm.id == "aes-128-gcm"
    sentences = " ".join(dict(tell(decision, changes(decision)).lines)["What would change the answer"])
    assert "For 64 B alone: AES-256 in GCM, in Alpha 1.0 (close, the longer key of a tie)." in sentences


def test_the_rate_of_the_user_takes_the_place_of_those_that_people_have():
    told = tell(decide(case("disk", {"alpha/aes-128-xts": 0.4})))
    assert advice_card([told]).lines[0].cost.startswith("0.20 cores at 1 GB/s, 2.0 at 10 GB/s (")
    assert advice_card([told], rate=5e9).lines[0].cost.startswith("1.0 cores at 5 GB/s (")
