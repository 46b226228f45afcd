import hashlib
import hmac

import pytest

from perbyte.catalogue import load

IN_HASHLIB = {
    "md5": "md5",
    "sha-1": "sha1",
    "sha-224": "sha224",
    "sha-256": "sha256",
    "sha-384": "sha384",
    "sha-512": "sha512",
    "sha3-224": "sha3_224",
    "sha3-256": "sha3_256",
    "sha3-384": "sha3_384",
    "sha3-512": "sha3_512",
    "blake2b-512": "blake2b",
    "blake2s-256": "blake2s",
}
# What stands here has no published answer that we know of; agreement of libraries covers it.
WITHOUT = {"rc5-32-32-ecb", "rc5-32-32-cbc", "salsa20-12", "camellia-256-xts"}
NEGATIVE = {"aead": "open", "signature": "verify"}


def lacking(catalogue, algorithms):
    """Those without a known answer; where each runner has a key pair of its own, or draws what it gives, is none.

    Of records what arrives is known: the data that were sent.
    """
    return {
        known.id
        for known in algorithms
        if known.kind not in ("probe", "handshake", "records", "random")
        and not known.fixed_key
        and not any(
            not answer.refused
            for operation in known.operations
            for answer in catalogue.known_answers(known.id, operation)
        )
    }


def test_every_algorithm_has_known_answers():
    catalogue = load()
    assert lacking(catalogue, catalogue.algorithms.values()) == WITHOUT


def test_everything_that_can_be_forged_is_tested_by_a_forgery():
    """AEADs, signatures and KEMs: in each runner (see the SDK's `forgery`). Key agreement has nothing to change, so its
    algorithms have a point that must be refused; X25519 and X448 take any input (RFC 7748)."""
    catalogue = load()
    inverse = {"aead": "open", "signature": "verify", "kem": "decapsulate"}
    for known in catalogue.algorithms.values():
        if known.kind in inverse:
            assert inverse[known.kind] in known.operations, known.id
        if known.kind == "key-agreement" and known.id not in ("x25519", "x448"):
            assert any(answer.refused for answer in catalogue.known_answers(known.id, "derive")), known.id


def test_modern_algorithms_with_known_answers_have_negative_ones_too():
    """Older ones and those without are covered by the forgeries that every runner is asked to refuse."""
    catalogue = load()
    refused = {
        known.id
        for known in catalogue.algorithms.values()
        for answer in catalogue.known_answers(known.id, NEGATIVE.get(known.kind, "derive"))
        if answer.refused
    }
    assert {"ed25519", "ed448", "ecdsa-p256", "ml-dsa-65", "aegis-256", "aes-256-ocb"} <= refused
    assert {"slh-dsa-sha2-128s", "slh-dsa-shake-128s", "camellia-128-gcm", "camellia-256-gcm"} <= refused
    assert {"ecdh-p256", "ecdh-p384", "ascon-aead128", "xchacha20-poly1305", "aes-128-ccm"} <= refused


def test_the_ciphertexts_of_ml_kem_include_one_that_is_rejected_implicitly():
    answers = load().known_answers("ml-kem-768", "decapsulate")
    assert any("strcmp" in answer.source for answer in answers)
    assert not any(answer.refused for answer in answers)


def test_signatures_turn_round_into_verifications():
    catalogue = load()
    signed = catalogue.known_answers("ed25519", "sign")
    verified = [answer for answer in catalogue.known_answers("ed25519", "verify") if not answer.refused]
    assert [vector.input for vector in verified] == [vector.input + vector.output for vector in signed]
    assert {vector.output for vector in verified} == {""}


def test_every_family_file_of_vectors_belongs_to_a_family():
    catalogue = load()
    families = {known.family for known in catalogue.algorithms.values()}
    assert {path.stem for path in catalogue.place.glob("vectors/*.toml")} <= families


@pytest.mark.parametrize("name", IN_HASHLIB)
def test_digests_agree_with_hashlib(name):
    answers = load().known_answers(name, "digest")
    assert len(answers) >= 2
    for answer in answers:
        assert hashlib.new(IN_HASHLIB[name], bytes.fromhex(answer.input)).hexdigest() == answer.output, (
            answer.source
        )


@pytest.mark.parametrize("name", ["hmac-md5", "hmac-sha-1", "hmac-sha-256", "hmac-sha-384", "hmac-sha-512"])
def test_macs_agree_with_hashlib(name):
    answers = load().known_answers(name, "mac")
    assert len(answers) >= 3
    for answer in answers:
        got = hmac.new(bytes.fromhex(answer.key), bytes.fromhex(answer.input), IN_HASHLIB[name[5:]])
        assert got.hexdigest() == answer.output, answer.source


def test_more_digests_agree_where_openssl_still_has_them():
    tried = 0
    for name, there in (("md4", "md4"), ("ripemd-160", "ripemd160"), ("whirlpool", "whirlpool")):
        try:
            hashlib.new(there)
        except ValueError:
            continue
        for answer in load().known_answers(name, "digest"):
            assert hashlib.new(there, bytes.fromhex(answer.input)).hexdigest() == answer.output, answer.source
            tried += 1
    if not tried:
        pytest.skip("hashlib has none of MD4, RIPEMD-160 and Whirlpool here")


def test_the_original_ripemd_has_its_published_values():
    answers = {answer.input: answer.output for answer in load().known_answers("ripemd", "digest")}
    assert answers[""] == "9f73aa9b372a9dacfb86a6108852e2d9"
    assert answers[b"abc".hex()] == "3f14bad4c2f9b0ea805e5485d3d6882d"


def test_decrypting_answers_are_the_encrypting_ones_turned_round():
    catalogue = load()
    turned = 0
    for known in catalogue.algorithms.values():
        for there, back in (("encrypt", "decrypt"), ("seal", "open")):
            if there not in known.operations or there in known.randomised:
                continue
            ways = zip(
                catalogue.known_answers(known.id, there),
                [answer for answer in catalogue.known_answers(known.id, back) if not answer.refused],
                strict=True,
            )
            for forth, again in ways:
                assert (again.operation, again.input, again.output) == (back, forth.output, forth.input)
                assert (again.key, again.nonce, again.aad) == (forth.key, forth.nonce, forth.aad)
                turned += 1
    assert turned > 150


def test_no_two_algorithms_share_an_answer_by_mistake():
    """A vector copied under the wrong id would give equal outputs for equal material."""
    seen: dict[tuple[str, str, str, str, str], str] = {}
    catalogue = load()
    for known in catalogue.algorithms.values():
        for answer in catalogue.known_answers(known.id, known.operations[0]):
            if len(answer.output) < 16:
                continue
            material = (answer.key, answer.nonce, answer.aad, answer.input, answer.output)
            assert seen.setdefault(material, known.id) == known.id
