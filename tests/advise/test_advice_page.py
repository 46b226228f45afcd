"""The page of an answer, in a real browser at the width of a desk and of a telephone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from made_cases import RUN, case

from perbyte.advise import changes, decide, decide_passwords, decide_together
from perbyte.catalogue.questions import find_question
from perbyte.report.advice import tell
from perbyte.report.advicecard import Advice
from perbyte.report.advicepage import advice_page
from perbyte.report.html import render, write
from perbyte.report.listing import Listing, columns

sys.path.insert(0, str(Path(__file__).parent.parent / "report"))
from browsing import Opened
from test_boxes import BOXES

HASHES = {
    "alpha/sha-256": 2.0,
    "beta/blake2b-512": 3.9,
    "beta/sha3-256": 7.0,
    "alpha/md5": 1.0,
    "alpha/sha-1": 1.9,
}
PASSWORDS = {"alpha/argon2id-64mib-2-1": 3e8, "alpha/bcrypt-10": 1.2e8, "alpha/pbkdf2-sha-256-4096": 3e6}


def hashes() -> Any:
    decision = decide(case("hash", HASHES))
    told = [tell(decision, changes(decision))]
    return advice_page(Advice(find_question("hash"), RUN, told))


def passwords() -> Any:
    decision = decide_passwords(case("password", PASSWORDS), 250e6, 64 << 20)
    return advice_page(Advice(find_question("password"), RUN, [tell(decision)]))


def nothing() -> Any:
    decision = decide(case("tls", {}))
    told = [tell(decision)]
    beside = Listing("Other machines", columns("machine | then"), [("old", "DES")])
    return advice_page(Advice(find_question("tls"), RUN, told, machines=beside))


def libraries() -> Any:
    """TLS, library by library, with bytes on the wire."""
    parts = (
        {"alpha/aes-128-gcm": 0.5, "beta/aes-128-gcm": 0.6, "gamma/aes-128-gcm": 0.3},
        {"alpha/x25519": 1e5, "beta/x25519": 3e5},
        {"alpha/ed25519": 2e5, "beta/ed25519": 1e5, "beta/ml-dsa-65": 9e5},
    )
    cases = [case("tls", costs, task=number) for number, costs in enumerate(parts)]
    together = decide_together(cases)
    told = [tell(decision, changes(decision)) for decision in together.first.decisions]
    return advice_page(Advice(find_question("tls"), RUN, told, together))


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("page", [hashes, passwords, nothing, libraries])
def test_nothing_is_cut_or_overprinted(browser: Any, tmp_path: Path, page: Any, width: int):
    opened = Opened(
        browser, write(page(), tmp_path / "advice.html"), viewport={"width": width, "height": 900}
    )
    assert opened.page.evaluate(BOXES) == []
    opened.clean()
    opened.context.close()


def test_the_page_holds_the_answer_its_reasons_and_its_sources():
    text = render(hashes())
    for word in (
        "SHA-256, in Alpha 1.0",
        "Speed against status: hash",
        "What would change the answer",
        "It would be faster",
        "RFC 6151",
        "looked up 2026-11-23",
        "perbyte advise hash",
        "Figures: run made-up",
    ):
        assert word in text, word
    assert "Other machines" in render(nothing())
    assert "guesses/s" in render(passwords())
    assert "not looked up: unconfirmed" in render(passwords())
    for word in ("What an attacker gains", "GPU gain", "What others recommend", "hashcat"):
        assert word in render(passwords()), word
    for word in ("Library by library", "On the wire", "TLS 1.3 B", "Under one key"):
        assert word in render(libraries()), word
