"""What stands beside the speed: limits of keys, remarks, bytes on the wire, attackers, libraries side by side."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_cases import RUN, case

from perbyte.advise import attacks, beside, changes, decide, decide_passwords, decide_together
from perbyte.catalogue import load, pattern
from perbyte.catalogue.facts import (
    HashCost,
    check_facts,
    key_limits,
    limits_of,
    password_costs,
    strength_of,
    strengths,
    uses_of,
    wire_uses,
)
from perbyte.catalogue.questions import find_question
from perbyte.catalogue.status import statuses
from perbyte.errors import DataFileError
from perbyte.model import Doubt, Warning
from perbyte.report.advice import Told, tell
from perbyte.report.advicecard import Advice, advice_card, library_table, render_advice

PASSWORDS = {
    "alpha/argon2id-64mib-2-1": 3e8,
    "alpha/bcrypt-10": 1.2e8,
    "alpha/scrypt-16384-8-1": 1e8,
    "alpha/pbkdf2-sha-256-4096": 3e6,
}


def said(told: Told, heading: str) -> str:
    return " ".join(dict(told.lines).get(heading, ()))


def told_of(made) -> Told:
    decision = decide(made)
    return tell(decision, changes(decision))


def test_every_aead_of_the_status_data_has_limits_of_a_key():
    listed = {
        name
        for name, algorithm in load().algorithms.items()
        if algorithm.kind == "aead"
        for authority in statuses().values()
        for row in authority.rows
        if pattern.matches(name, row.algorithms)
    }
    assert len(listed) > 10
    assert [name for name in sorted(listed) if not limits_of(name)] == []
    asked = {
        name
        for word in ("tls", "disk", "archive", "message")
        for task in find_question(word).tasks
        for name in task.algorithms
    }
    aeads = {name for name in asked if load().algorithms[name].kind == "aead"}
    assert [name for name in sorted(aeads) if not limits_of(name)] == []
    assert list(check_facts(load().place, load().algorithms)) == []


def test_limits_agree_with_what_they_are_computed_from():
    counted = next(limit for limit in limits_of("aes-128-gcm") if limit.nonces == "any")
    assert counted.bytes == 4 + 64.5 - 60 / 2, "16 bytes of sqrt(p) 2^(129/2) blocks at p = 2^-60"
    [tls] = limits_of("aes-128-gcm", "tls")
    assert tls.most_bytes(1 << 14) == 2**counted.bytes, "TLS's records are as long as 2^14 bytes"
    ccm = next(limit for limit in limits_of("aes-128-ccm") if limit.nonces == "counted")
    assert ccm.bytes == 4 + 63 - 60 / 2
    [_, xts, scope] = limits_of("aes-256-xts")
    blocks = 2.0**xts.bytes / 16
    assert blocks**2 / 2**129 == 2**-57
    assert scope.bytes == 4 + 44, "2^44 blocks of 16 bytes, the most that IEEE 1619-2025 takes"


def test_data_above_a_limit_are_told_with_when_to_take_a_new_key():
    within = said(told_of(case("archive", {"alpha/aes-128-gcm": 1.0}, volume_bytes=1e9)), "Under one key")
    assert "AES-128 in GCM (random nonces): 2^32 messages a key" in within
    assert "SP 800-38D, 2007-11-28, section 8.3" in within
    assert "1 GB (--volume) in messages of 64 KiB is within it." in within
    much = said(told_of(case("archive", {"alpha/aes-128-gcm": 1.0}, volume_bytes=1e15)), "Under one key")
    assert "1 PB (--volume) is more than that: take a new key every 256 TiB." in much
    own = said(told_of(case("message", {"alpha/aes-128-gcm": 1.0}, volume_bytes=1e15)), "Under one key")
    assert own.startswith("Each message has a key of its own"), "there, no number of messages is too many"
    disk = said(told_of(case("disk", {"alpha/aes-256-xts": 0.5}, volume_bytes=1.6e13)), "Under one key")
    assert "16 TB (--volume) is more than that: take a new key every 1.00 TiB." in disk
    assert "unconfirmed" in disk


def test_what_a_choice_does_not_do_is_said_with_it_and_not_with_others():
    disk = said(
        told_of(case("disk", {"alpha/aes-256-xts": 0.5, "alpha/adiantum-xchacha12": 9.0})), "What to know"
    )
    assert "It has no integrity" in disk
    assert "SP 800-38E, section 4" in disk
    assert "the whole sector random" not in disk, "Adiantum is not chosen"
    assert "Its length can be extended" in said(told_of(case("hash", {"alpha/sha-256": 2.0})), "What to know")
    cut = said(told_of(case("hash", {"alpha/sha-384": 2.0})), "What to know")
    assert "Its length cannot be extended" in cut
    assert "SHA-512/256" in cut
    assert "half in SHA-512/256" in said(told_of(case("hash", {"alpha/sha-512-256": 2.0})), "What to know")
    assert "as a tree" in said(told_of(case("hash", {"alpha/blake3": 1.0})), "What to know")


def test_authenticated_sectors_are_weighed_against_xts():
    plain = told_of(case("disk", {"alpha/aes-256-xts": 0.5}))
    sealed = told_of(case("disk", {"alpha/aes-256-gcm": 0.75, "beta/aegis-128l": 0.4}, task=1))
    assert sealed.answer == "AEGIS-128L, in Beta 1.0"
    card = advice_card([plain, sealed], alternatives=True)
    assert card.notes == (
        "Cipher for authenticated sectors: ×0.800 (0.798 to 0.802) the cost of cipher for sectors.",
    )
    assert [line.winner for line in card.lines] == [plain.answer, sealed.answer]
    assert "an old one that is put back" in said(sealed, "What to know")


def heads_of(listing) -> list[str]:
    return [column.text for column in listing.columns]


def test_a_card_of_ways_says_why_one_cannot_be_told():
    plain = told_of(case("disk", {"alpha/aes-256-xts": 0.5}))
    made = case("disk", {"alpha/aes-256-gcm": 0.75, "beta/xchacha20-poly1305": 1.0}, task=1)
    warning = Warning(Doubt.UNCHAINED, "its work was not audited on new data")
    unseen = tuple(
        replace(figure, warnings=(warning,)) if figure.cell.runner == "alpha" else figure
        for figure in made.figures
    )
    card = advice_card([plain, told_of(replace(made, figures=unseen))], alternatives=True)
    assert (card.lines[0].sign, card.lines[0].sure) == ("", "")
    assert card.lines[1].sign == "?"
    assert "AES-256 in GCM" in card.lines[1].sure
    assert "Not audited: AES-256 in GCM" in card.lines[1].sure


def test_a_part_of_one_library_does_not_say_that_nobody_has_what_another_has():
    costs = {"alpha/x25519": 9e4, "beta/x25519": 9e4, "beta/ml-kem-768": 3e4}
    made = case("tls", costs, task=1, why_missing={"ml-kem-768": "no library that is built here has it"})
    alone = decide(replace(made, runners=frozenset({"alpha"})))
    reasons = dict(alone.missing)
    assert "there are figures of beta" in reasons["ML-KEM-768"]
    changed = said(tell(alone, changes(alone)), "What would change the answer")
    assert "nothing that is allowed has a figure in this library" in changed


def test_a_repeated_nonce_is_told_as_each_cipher_suffers_it():
    gcm = said(told_of(case("disk", {"alpha/aes-256-gcm": 0.75}, task=1)), "What to know")
    assert "gives the authentication key away" in gcm
    chacha = said(told_of(case("disk", {"alpha/chacha20-poly1305": 2.0}, task=1)), "What to know")
    assert "under that nonce" in chacha
    assert "authentication key" not in chacha


def test_the_curves_that_bsi_prefers_are_asked_about():
    signed = case("signature", {"alpha/ecdsa-p256": 2e5, "alpha/ecdsa-brainpoolp256r1": 2e6}, profile="bsi")
    assert decide(signed).first.algorithm.id == "ecdsa-brainpoolp256r1"
    agreed = case("kem", {"alpha/ecdh-p256": 2e5, "alpha/ecdh-brainpoolp256r1": 2e6}, profile="bsi")
    assert decide(agreed).first.algorithm.id == "ecdh-brainpoolp256r1"


def test_bytes_on_the_wire_stand_beside_cycles():
    costs = {
        "alpha/ed25519": 1e5,
        "alpha/ml-dsa-44": 4e5,
        "alpha/rsa-pss-2048": 9e5,
        "alpha/slh-dsa-sha2-128f": 3e7,
    }
    told = told_of(case("signature", costs))
    # two keys and three signatures: 2 * 32 + 3 * 64, 2 * (256 + 3) + 3 * 256, 2 * 1312 + 3 * 2420, 2 * 32 + 3 * 17088
    wire = said(told, "On the wire")
    assert "Ed25519 256, RSA-PSS-2048 1,286, ML-DSA-44 9,884, SLH-DSA-SHA2-128f 51,328 (!)" in wire
    assert "is more than 14,600 bytes: the first ten segments of a connection" in wire
    assert "DNSSEC, the signature of one answer" in wire
    assert "ML-DSA-44 2,420 (!) (†)" in wire
    assert "(†) has no name in this protocol yet: the figure is what it would take." in wire
    assert "(†)" not in wire.partition("SSH, host key")[0], "TLS has a name for all of these"
    place = {name: number for number, name in enumerate(heads_of(told.table))}
    ml_dsa_row = next(row for row in told.table.rows if row[0] == "ML-DSA-44")
    assert (ml_dsa_row[place["key B"]], ml_dsa_row[place["signature B"]], ml_dsa_row[place["TLS 1.3 B"]]) == (
        "1,312",
        "2,420",
        "9,884",
    )
    exchange = told_of(
        case("kem", {"alpha/x25519": 1e5, "alpha/ml-kem-768": 1e5, "alpha/x25519mlkem768": 2e5})
    )
    assert "X25519 64, ML-KEM-768 2,272, X25519MLKEM768 2,336" in said(exchange, "On the wire")
    assert "On the wire" not in dict(told_of(case("hash", {"alpha/sha-256": 2.0})).lines)


def test_work_for_a_protocol_is_told_in_bytes_of_that_protocol_alone():
    told = told_of(case("tls", {"alpha/ed25519": 1e5, "alpha/ecdsa-p256": 2e5}, task=2))
    assert "TLS 1.3, leaf and intermediate" in said(told, "On the wire")
    assert "SSH" not in said(told, "On the wire")
    assert "SSH B" not in heads_of(told.table)


def test_a_cheaper_library_whose_work_was_not_seen_is_told():
    made = case("tls", {"alpha/aes-128-gcm": 0.5, "beta/aes-128-gcm": 0.4, "alpha/aes-256-gcm": 0.7})
    warning = Warning(Doubt.UNCHAINED, "its work was not audited on new data")
    figures = tuple(
        replace(figure, warnings=(warning,)) if figure.cell.runner == "beta" else figure
        for figure in made.figures
    )
    told = told_of(replace(made, figures=figures))
    assert told.answer == "AES-128 in GCM, in Alpha 1.0"
    assert "In Beta 1.0 it costs ×0.800, but the audit did not confirm its work there" in said(
        told, "How sure"
    )
    assert "the audit did not see" not in said(told_of(made), "How sure")


def test_a_row_behind_because_of_the_audit_is_marked():
    """Else AES-128 stands below AES-256 in silence, as if it were slower."""
    costs = {"alpha/aes-256-gcm": 0.7, "beta/aes-128-gcm": 0.5}
    made = case("archive", costs)
    warning = Warning(Doubt.UNCHAINED, "its work was not audited on new data")
    figures = tuple(
        replace(figure, warnings=(warning,)) if figure.cell.runner == "beta" else figure
        for figure in made.figures
    )
    told = told_of(replace(made, figures=figures))
    assert [row[:2] for row in told.table.rows] == [
        ("AES-256 in GCM", "Alpha 1.0"),
        ("AES-128 in GCM", "Beta 1.0 w"),
    ]
    none = tuple(replace(figure, warnings=(warning,)) for figure in made.figures)
    told_of_none = told_of(replace(made, figures=none))
    assert {row[1] for row in told_of_none.table.rows} == {"Alpha 1.0", "Beta 1.0"}, (
        "none ranks behind another"
    )
    texts = " ".join(text for texts_of in dict(told.lines).values() for text in texts_of)
    assert "w in the table: a warning, that the audit did not confirm" in texts
    assert "w in the table" not in said(told_of(made), "How sure")


def test_ranks_of_unequal_strength_say_so():
    costs = {"alpha/rsa-pss-2048": 1e5, "alpha/ed25519": 2e5, "alpha/ml-dsa-65": 3e5, "alpha/ml-dsa-44": 4e5}
    told = told_of(case("signature", costs))
    strength = said(told, "Strength")
    assert "112 bits RSA-PSS-2048; 128 bits Ed25519; category 2 ML-DSA-44; category 3 ML-DSA-65 (" in strength
    assert "SP 800-57 part 1 revision 5, table 2; SP 800-186, table 1; FIPS 204, table 1" in strength
    place = heads_of(told.table).index("strength")
    assert {row[0]: row[place] for row in told.table.rows} == {
        "RSA-PSS-2048": "112 bits",
        "Ed25519": "128 bits",
        "ML-DSA-44": "category 2",
        "ML-DSA-65": "category 3",
    }
    equal = told_of(case("kem", {"alpha/x25519": 1e5, "alpha/ecdh-p256": 2e5}))
    assert "Strength" not in dict(equal.lines)
    assert "strength" not in heads_of(equal.table)
    assert "category" not in said(told_of(case("hash", {"a/sha-256": 2.0, "a/sha-512": 4.0})), "Strength")


def test_every_public_key_and_hash_that_is_asked_about_has_a_strength(tmp_path):
    asked = {
        name
        for word in ("tls", "kem", "signature", "hash")
        for task in find_question(word).tasks
        for name in task.algorithms
        if load().algorithms[name].kind not in ("aead", "block-cipher")
    }
    assert {name for name in asked if not strength_of(name)} == {"md5", "sha-1"}, "their collisions are known"
    (tmp_path / "strength.toml").write_text(
        'strengths = [{ algorithms = "nothing-1", document = "d", bits = 128 }]'
    )
    assert list(check_facts(tmp_path, load().algorithms)) == [
        "strength.toml: the catalogue has no algorithm 'nothing-1'"
    ]


def test_a_card_for_one_library_says_which_parts_have_nothing():
    cases = [
        case("tls", {"alpha/aes-256-gcm": 0.5, "beta/aes-256-gcm": 0.6}, profile="cnsa2"),
        case("tls", {"alpha/x25519": 1e5}, task=1, profile="cnsa2"),
        case("tls", {"alpha/ed25519": 1e5}, task=2, profile="cnsa2"),
    ]
    together = decide_together(cases)
    told = [tell(decision) for decision in together.first.decisions]
    first = advice_card(told, together).lines[0]
    assert first.about == "one library; key exchange and signature: nothing here"


def test_what_is_unlisted_is_not_called_discouraged():
    costs = {"alpha/ecdsa-p256": 2e5, "alpha/ed25519": 1e5}
    sure = said(told_of(case("tls", costs, task=2, profile="bsi")), "How sure")
    assert sure.endswith("The next, Ed25519, in Alpha 1.0, is unlisted.")
    costs = {"alpha/ecdsa-brainpoolp256r1": 2e6, "alpha/ecdsa-p256": 2e5}
    sure = said(told_of(case("signature", costs, profile="bsi")), "How sure")
    assert sure.endswith("The next, ECDSA on P-256, in Alpha 1.0, is allowed with reserve.")


def test_protocols_send_what_the_catalogue_says_is_long():
    for use in wire_uses():
        assert any(
            use in uses_of(algorithm) and use.bytes(algorithm) for algorithm in load().algorithms.values()
        ), use.name


def test_libraries_stand_side_by_side_with_what_they_lack():
    records = {"alpha/aes-128-gcm": 0.5, "beta/aes-128-gcm": 0.6, "gamma/aes-128-gcm": 0.3}
    exchange = {"alpha/x25519": 1e5, "beta/x25519": 3e5}
    signature = {"alpha/ed25519": 2e5, "beta/ed25519": 1e5}
    cases = [
        case("tls", row_text, task=number) for number, row_text in enumerate((records, exchange, signature))
    ]
    together = decide_together(cases)
    told = [tell(decision) for decision in together.first.decisions]
    listing = library_table(together, [told_part.title for told_part in told])
    assert heads_of(listing)[:4] == ["library", "cipher for records", "key exchange", "signature"]
    first, second, last = listing.rows
    assert first[:4] == ("Alpha 1.0", "AES-128 in GCM", "X25519", "Ed25519")
    assert first[4:] == ("1.00 cycles", "0.400 ms", "×1")
    assert second[0] == "Beta 1.0"
    assert second[-1].startswith("×1.2")
    assert last == ("Gamma 1.0", "has it", "–", "–", "–", "–", "–")
    text = render_advice(Advice(find_question("tls"), RUN, told, together))
    assert "Library by library" in text


def test_passwords_are_held_against_recommendations_and_an_attackers_processor():
    passwords = decide_passwords(case("password", PASSWORDS), 250e6, 64 << 20)
    by_name = {parameter.cost.family: parameter for parameter in passwords.parameters}
    argon, stretched = by_name["argon2id"], by_name["pbkdf2-sha-256"]
    assert argon.words == "64 MiB, 3 passes, 1 lane"
    second = next(
        password_option
        for password_option in beside(argon)
        if "second choice" in password_option.recommended.who
    )
    assert second.share == 1, "RFC 9106's second choice holds 64 MiB for 3 passes"
    assert second.time_ns == pytest.approx(argon.time_ns.value)
    [attack] = attacks(stretched)
    assert attack.guesses_s == pytest.approx(11157200 * 999 / stretched.cost.iterations)
    assert attack.gain == pytest.approx(attack.guesses_s * stretched.time_ns.value / 1e9)
    [bound] = attacks(argon)
    assert bound.guesses_s == pytest.approx(1.792e12 / ((64 << 20) * 8)), "3 passes move the memory 8 times"
    assert bound.gain < attack.gain
    told = tell(passwords)
    assert "Argon2id: 2,048 MiB, 1 pass, 4 lanes (RFC 9106, first choice" in said(
        told, "What others recommend"
    )
    assert "at the most" in said(told, "What an attacker gains")
    assert "hashcat 6.2.6-851" in said(told, "What an attacker gains")
    assert "GPU gain" in heads_of(told.table)


def test_password_hashes_are_named_without_the_parameters_that_nobody_advises():
    told = tell(decide_passwords(case("password", PASSWORDS, profile="nist"), 250e6, 64 << 20))
    assert said(told, "Status").startswith("PBKDF2-HMAC-SHA-256: NIST says")
    assert "Argon2id: NIST does not list it" in said(told, "Ruled out")
    assert "faster" not in said(told, "Ruled out"), "nobody wants a fast one"


def test_of_equal_memory_the_order_is_that_of_owasp():
    """A guess of scrypt takes a little longer here, which is no reason to prefer it."""
    passwords = decide_passwords(
        case("password", PASSWORDS | {"alpha/scrypt-16384-8-1": 1.2e8}), 250e6, 64 << 20
    )
    assert [parameter.cost.family for parameter in passwords.parameters] == [
        "argon2id",
        "scrypt",
        "bcrypt",
        "pbkdf2-sha-256",
    ]
    assert passwords.parameters[0].memory_bytes == passwords.parameters[1].memory_bytes
    assert passwords.parameters[0].weight < passwords.parameters[1].weight


def test_limits_are_of_the_algorithm_and_not_of_one_whose_name_ends_alike():
    assert {limit.document for limit in limits_of("aes-256-gcm-siv")} == {"RFC 8452"}
    assert {limit.document for limit in limits_of("aes-256-siv")} == {"RFC 5297"}


def test_gcm_siv_seals_far_more_messages_than_gcm_does_with_random_nonces():
    """RFC 8452, section 9: each nonce has a key of its own, so 2^32 is GCM's limit and not this one's."""
    [siv] = limits_of("aes-256-gcm-siv")
    gcm = next(limit for limit in limits_of("aes-256-gcm") if limit.nonces == "random")
    assert (siv.messages, siv.message_bytes) == (48, 25)
    assert siv.most_bytes(1 << 16) == 2**16 * gcm.most_bytes(1 << 16)
    much = said(told_of(case("archive", {"alpha/aes-256-gcm-siv": 1.0}, volume_bytes=1e15)), "Under one key")
    assert "1 PB (--volume) in messages of 64 KiB is within it." in much


def test_cautions_that_a_cryptographer_asks_for_are_said():
    aegis = said(told_of(case("disk", {"alpha/aegis-128l": 0.4}, task=1)), "What to know")
    assert "gives the cipher's inner state away" in aegis
    short = said(told_of(case("message", {"alpha/aes-128-gcm": 1.0})), "What to know")
    assert "keys of 128 bits" in short, "one nonce and many keys: the chance grows with their number"
    long = said(told_of(case("message", {"alpha/aes-256-gcm": 1.0})), "What to know")
    assert "keys of 128 bits" not in long
    exchange = said(told_of(case("kem", {"alpha/ml-kem-768": 1e5})), "What to know")
    assert "does not say who the other side is" in exchange
    assert "the hybrid holds as long as one half does" in exchange
    assert "NIST recommends ML-KEM-768" not in exchange
    smallest = said(told_of(case("kem", {"alpha/ml-kem-512": 1e5})), "What to know")
    assert "NIST recommends ML-KEM-768" in smallest
    certified = said(told_of(case("tls", {"alpha/ml-dsa-44": 3e5}, task=2)), "What to know")
    assert "Public certificate authorities certify RSA and ECDSA keys only" in certified
    salted = said(tell(decide_passwords(case("password", PASSWORDS), 250e6, 64 << 20)), "What to know")
    assert "a random salt of its own" in salted


def test_parameters_below_a_minimum_are_called_so():
    quick = decide_passwords(case("password", PASSWORDS), 5e6, 64 << 20)
    text = said(tell(quick), "What others recommend")
    assert "what is chosen here is less than this minimum" in text
    assert text.count("less than this minimum") == 4, "RFC 9106 names no minimum"


LIMIT = 'limits = [{algorithms="x", nonces="any", document="d", section="1", published="2001", means="m"}]'
SENT = (
    'protocols = [{name="x", kind="kex", publics=1, signatures=1, counts="c", limit_bytes=1, '
    'limit="l", document="d"}]'
)
BOTH = 'strengths = [{algorithms="x", document="d", bits=128, category=1}]'
IDLE = 'recommended = []\nattackers = [{family="bcrypt", cost=5, device="d", source="s"}]'
ODD = 'recommended = []\nattackers = [{family="md5", guesses_s=1.0, device="d", source="s"}]'


@pytest.mark.parametrize(
    ("read", "file", "text", "complaint"),
    [
        (key_limits, "key-limits.toml", LIMIT, "limits nothing"),
        (strengths, "strength.toml", BOTH, "bits or category"),
        (wire_uses, "wire.toml", SENT, "key exchange sends replies"),
        (password_costs, "passwords.toml", IDLE, "guesses a second or the bandwidth"),
        (password_costs, "passwords.toml", ODD, "there is no password hash 'md5'"),
    ],
)
def test_a_broken_file_of_facts_is_refused(tmp_path, read, file, text, complaint):
    (tmp_path / file).write_text(text)
    with pytest.raises(DataFileError, match=complaint):
        read(tmp_path)


def test_work_is_what_time_is_proportional_to():
    assert HashCost("bcrypt", cost=12).work == 4 * HashCost("bcrypt", cost=10).work
    assert HashCost("scrypt", n=16384, r=8, p=2).work == 2 * HashCost("scrypt", n=16384, r=8, p=1).work
    assert {password_cost.family for password_cost in password_costs()[1]} == {
        password_cost.family for password_cost in password_costs()[0]
    }
