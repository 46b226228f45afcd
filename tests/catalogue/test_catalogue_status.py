"""What authorities say, as data: the rows themselves, and what is wrong with a broken file."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import pytest

from perbyte.advise import Asked, Standing
from perbyte.catalogue import load
from perbyte.catalogue.questions import check_questions, questions
from perbyte.catalogue.status import check_statuses, own_profile, profiles, statuses
from perbyte.errors import DataFileError
from perbyte.report.advicewords import quote_text

GOOD = """
authority = "Nobody"
title = "Nobody at all"
profile = true
closed = true

[documents.paper]
title = "A paper"
published = "2001"
retrieved = "2026-11"

[[rows]]
algorithms = "sha-256"
uses = ["hash-collision"]
status = "fine"
effect = "allowed"
document = "paper"
section = "1"
means = "It may be used, from version 1.2 on."
"""


def standing(algorithm, use, profile, date, *, known=None, protocol="") -> Standing:
    return Asked(date, profile, 0.0, known).standing(algorithm, use, protocol)


def effect(name: str, use: str, profile: str, year: int = 2026) -> str:
    return standing(load().algorithms[name], use, profile, datetime.date(year, 6, 1)).effect


@pytest.mark.parametrize(
    ("name", "use", "profile", "year", "expected"),
    [
        ("aes-128-xts", "encrypt", "nist", 2026, "allowed"),
        ("aes-128-xts", "encrypt", "cnsa2", 2026, "forbidden"),
        ("aes-256-xts", "encrypt", "cnsa2", 2026, "allowed"),
        ("aes-128-ecb", "encrypt", "none", 2026, "forbidden"),
        ("sha-1", "hmac", "nist", 2026, "discouraged"),
        ("sha-1", "hmac", "nist", 2031, "forbidden"),
        ("des-ede3-cbc", "encrypt", "nist", 2023, "discouraged"),
        ("des-ede3-cbc", "encrypt", "nist", 2024, "forbidden"),
        ("des-ede3-cbc", "decrypt", "nist", 2026, "discouraged"),
        ("rsa-pss-2048", "sign", "nist", 2030, "allowed"),
        ("rsa-pss-2048", "sign", "nist", 2031, "discouraged"),
        ("ecdsa-p384", "sign", "nist", 2036, "discouraged"),
        ("rsa-pss-2048", "sign", "nist", 2036, "discouraged"),
        ("rsa-1024", "sign", "nist", 2015, "forbidden"),
        ("dsa-2048", "sign", "nist", 2026, "forbidden"),
        ("sha-1", "hmac", "nist", 2020, "allowed"),
        ("sha-1", "sign", "ietf", 2026, "forbidden"),
        ("x25519mlkem768", "kex", "ietf", 2026, "allowed"),
        ("ecdsa-p256", "sign", "ietf", 2020, "allowed"),
        ("ecdsa-p256", "sign", "ietf", 2027, "allowed"),
        ("aes-128-gcm-siv", "encrypt", "bsi", 2026, "allowed"),
        ("aes-256-xts", "encrypt", "bsi", 2026, "discouraged"),
        ("rsa-pss-3072", "sign", "bsi", 2035, "allowed"),
        ("rsa-pss-2048", "sign", "bsi", 2026, "forbidden"),
        ("ecdsa-p256", "sign", "bsi", 2035, "discouraged"),
        ("ed25519", "sign", "bsi", 2026, "discouraged"),
        ("slh-dsa-sha2-128s", "sign", "bsi", 2026, "discouraged"),
        ("dsa-2048", "sign", "nist", 2023, "discouraged"),
        ("x25519mlkem768", "kex", "nist", 2026, "allowed"),
        ("x25519", "kex", "nist", 2026, "forbidden"),
        ("shake256", "hash-collision", "nist", 2026, "allowed"),
        ("kmac128", "mac", "nist", 2026, "allowed"),
        ("aes-256-cmac", "mac", "nist", 2026, "allowed"),
        ("aes-128-cmac", "mac", "ietf", 2026, "allowed"),
        ("ml-dsa-65", "sign", "ietf", 2026, "allowed"),
        ("slh-dsa-sha2-128f", "sign", "ietf", 2026, "allowed"),
        ("ascon-hash256", "hash-collision", "ietf", 2026, "discouraged"),
        ("sha-1", "hash-collision", "bsi", 2026, "forbidden"),
        ("sha-512-256", "hash-collision", "nist", 2026, "allowed"),
        ("slh-dsa-shake-192s", "sign", "bsi", 2026, "allowed"),
        ("classic-mceliece-6688128", "kex", "bsi", 2026, "discouraged"),
        ("ecdsa-secp256k1", "sign", "nist", 2026, "forbidden"),
        ("cast5-cbc", "encrypt", "none", 2010, "discouraged"),
        ("ml-dsa-65", "sign", "bsi", 2026, "discouraged"),
        ("ecdh-p256", "kex", "bsi", 2031, "discouraged"),
        ("ecdh-p256", "kex", "bsi", 2032, "forbidden"),
        ("ml-kem-768", "kex", "cnsa2", 2026, "forbidden"),
        ("ml-kem-1024", "kex", "cnsa2", 2026, "allowed"),
        ("chacha20-poly1305", "encrypt", "ietf", 2026, "allowed"),
        ("chacha20-poly1305", "encrypt", "nist", 2026, "forbidden"),
        ("md5", "hash-collision", "none", 2010, "allowed"),
        ("md5", "hash-collision", "none", 2026, "forbidden"),
        ("serpent-256-xts", "encrypt", "none", 2026, "allowed"),
    ],
)
def test_statuses_hold_for_a_use_a_profile_and_a_date(name, use, profile, year, expected):
    assert effect(name, use, profile, year) == expected


def test_what_nobody_speaks_of_is_silent_and_the_suite_of_national_systems_binds_nobody_else():
    this_standing = standing(
        load().algorithms["serpent-256-xts"], "encrypt", "none", datetime.date(2026, 6, 1)
    )
    assert this_standing.silent
    assert "cnsa2" in profiles()
    assert effect("aes-128-gcm", "encrypt", "none") == "allowed"


def test_every_row_names_its_document_and_drafts_are_drafts():
    for authority in statuses().values():
        for row in authority.rows:
            document = authority.documents[row.document]
            assert not row.confirmed or document.retrieved
            assert ("draft" in f"{document.title} {document.revision}") <= document.draft


def test_an_open_list_rules_nothing_out_and_a_closed_one_does():
    day = datetime.date(2026, 6, 1)
    newer = standing(load().algorithms["ascon-aead128"], "encrypt", "ietf", day)
    assert (newer.out, newer.unlisted, newer.silent) == (False, "IETF", False)
    assert standing(load().algorithms["ascon-aead128"], "encrypt", "cnsa2", day).out


def test_a_protocol_has_rows_of_its_own():
    curve, day = load().algorithms["ecdh-p256"], datetime.date(2026, 6, 1)
    assert standing(curve, "kex", "bsi", day).effect == "discouraged"
    this_standing = standing(curve, "kex", "bsi", day, protocol="tls")
    assert this_standing.effect == "allowed"
    assert {quote.document.title.partition(":")[0] for quote in this_standing.quotes} == {"TR-02102-2"}
    late = datetime.date(2032, 6, 1)
    assert standing(curve, "kex", "bsi", late, protocol="tls").out, (
        "what is forbidden in general counts there too"
    )


MINE = """
authority = "Our house"
title = "Our house's rules"
extends = ["nist"]
closed = true

[documents.rules]
title = "House rules"
published = "2026-01"
retrieved = "2026-01"

[[rows]]
algorithms = "chacha20-poly1305"
uses = ["encrypt"]
status = "allowed here"
effect = "allowed"
document = "rules"
section = "3"
means = "Our telephones have no AES."

[[rows]]
algorithms = "aes-128-*"
uses = ["encrypt"]
status = "too short for us"
effect = "forbidden"
document = "rules"
section = "4"
means = "We take keys of 256 bits."
"""


def test_a_profile_of_ones_own_stands_on_that_of_an_authority(tmp_path):
    path = tmp_path / "house.toml"
    path.write_text(MINE)
    name, known = own_profile(path, load().algorithms)
    assert name == "house"
    day = datetime.date(2026, 6, 1)

    def found(algorithm: str, profile: str = name):
        return standing(load().algorithms[algorithm], "encrypt", profile, day, known=known)

    assert [
        found(word).effect for word in ("chacha20-poly1305", "aes-256-gcm", "aes-128-gcm", "aes-256-ocb")
    ] == [*("allowed", "allowed", "forbidden", "forbidden")]
    assert "We take keys of 256 bits" in quote_text(found("aes-128-gcm").quotes[0])
    assert found("aes-128-gcm", "none").effect == "allowed", "it binds nobody else"


def test_the_documented_profile_is_one(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "advise.md").read_text(encoding="utf-8")
    [text] = re.findall(r"```toml\n(authority.*?)```", page, re.DOTALL)
    path = tmp_path / "house.toml"
    path.write_text(text)
    _, known = own_profile(path, load().algorithms)
    seal = load().algorithms["aes-128-gcm"]
    late = standing(seal, "encrypt", "house", datetime.date(2028, 1, 1), known=known)
    assert (late.out, late.quotes[0].row.section) == (True, "4.1")
    assert not standing(seal, "encrypt", "house", datetime.date(2027, 12, 31), known=known).out


@pytest.mark.parametrize(
    ("file", "old", "new", "complaint"),
    [
        ("nist.toml", "", "", "is a profile of Perbyte's"),
        ("house.toml", '"nist"', '"nobody"', "there is no 'nobody'"),
        ("house.toml", '"aes-128-*"', '"aes-127-*"', "the catalogue has no such algorithm"),
    ],
)
def test_a_profile_of_ones_own_that_cannot_be_is_refused(tmp_path, file, old, new, complaint):
    path = tmp_path / file
    path.write_text(MINE.replace(old, new) if old else MINE)
    with pytest.raises(DataFileError, match=complaint):
        own_profile(path, load().algorithms)


def test_every_question_can_be_asked_of_the_catalogue():
    assert list(check_questions(questions(), load().algorithms, load().contracts)) == []
    assert list(check_statuses(statuses(), load().algorithms)) == []
    from perbyte.cli.advise import QUESTIONS

    assert set(QUESTIONS) == set(questions())


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('effect = "allowed"', 'effect = "secure"', "effect"),
        ('document = "paper"', 'document = "papers"', "there is no document 'papers'"),
        ('uses = ["hash-collision"]', "uses = []", "uses"),
        ('status = "fine"', 'status = " "', "status"),
        ('status = "fine"', 'status = "fine"\nsecure = true', "secure"),
        ('published = "2001"', 'published = "last year"', "published"),
        ('section = "1"\n', "", "section"),
        ("It may be used, from version 1.2 on.", "It may. Or not.", "is not one sentence"),
        ("It may be used, from version 1.2 on.", "yes", "is not one sentence"),
        (
            'effect = "allowed"',
            'effect = "allowed"\nfrom = 2031-01-01\nuntil = 2030-01-01',
            "ends before it begins",
        ),
    ],
)
def test_a_broken_file_is_refused_with_its_place(tmp_path, old, new, complaint):
    (tmp_path / "status").mkdir()
    path = tmp_path / "status" / "nobody.toml"
    path.write_text(GOOD)
    assert list(check_statuses(statuses(tmp_path), ["sha-256"])) == []
    assert old in GOOD
    path.write_text(GOOD.replace(old, new))
    statuses.cache_clear()
    with pytest.raises(DataFileError, match=r"nobody\.toml") as raises:
        statuses(tmp_path)
    assert complaint in str(raises.value)


def test_a_draft_forbids_nothing(tmp_path):
    (tmp_path / "status").mkdir()
    (tmp_path / "status" / "nobody.toml").write_text(
        GOOD.replace('published = "2001"', 'published = "2001"\ndraft = true').replace(
            '"allowed"', '"forbidden"'
        )
    )
    with pytest.raises(DataFileError, match="a draft forbids nothing yet"):
        statuses(tmp_path)


def test_contradictions_are_complained_about(tmp_path):
    (tmp_path / "status").mkdir()
    path = tmp_path / "status" / "nobody.toml"
    path.write_text(GOOD.replace('retrieved = "2026-11"', "").replace('"sha-256"', '"sha-257"'))
    complaints = "\n".join(check_statuses(statuses(tmp_path), ["sha-256"]))
    assert "the catalogue has no such algorithm" in complaints
    assert "confirmed by a document that was not retrieved" in complaints
    path.write_text(GOOD.replace('retrieved = "2026-11"', 'retrieved = "1999"'))
    statuses.cache_clear()
    assert "retrieved before it was published" in "\n".join(check_statuses(statuses(tmp_path), ["sha-256"]))


def test_a_question_about_what_is_not_there_is_complained_about(tmp_path):
    (tmp_path / "advise").mkdir()
    (tmp_path / "advise" / "odd.toml").write_text(
        """
title = "Odd?"
asks = "Nothing."
[[tasks]]
name = "odd"
title = "odd"
unit = "thing"
algorithms = ["sha-257", "aes-128-xts", "sha-256"]
work.hash = { digest = 1 }
sizes = [8]
contract = "oneshot/1"
"""
    )
    complaints = "\n".join(check_questions(questions(tmp_path), load().algorithms, load().contracts))
    assert "the catalogue has no algorithm 'sha-257'" in complaints
    assert "aes-128-xts is not measured under oneshot/1" in complaints
