from dataclasses import replace

import pytest

from perbyte.catalogue import load
from perbyte.catalogue.checking import (
    OPERATIONS,
    check_algorithms,
    check_contracts,
    check_defaults,
    check_vectors,
)
from perbyte.model import Algorithm, Contract, KnownAnswer

CBC = Algorithm(
    id="toy-cbc",
    name="Toy in CBC",
    kind="block-cipher",
    family="toy",
    mode="cbc",
    block_bytes=4,
    key_bytes=2,
    nonce_bytes=4,
    data_multiple_bytes=4,
    year=1999,
    origin="nobody",
    operations=("encrypt", "decrypt"),
    aliases=("plaything",),
    sources=("a book",),
)
GCM = replace(
    CBC,
    id="toy-gcm",
    kind="aead",
    mode="gcm",
    nonce_bytes=12,
    tag_bytes=1,
    data_multiple_bytes=1,
    operations=("seal", "open"),
    aliases=(),
)
HASH = Algorithm(
    id="toyhash",
    name="Toy hash",
    kind="hash",
    family="toy",
    block_bytes=4,
    tag_bytes=3,
    year=1999,
    origin="nobody",
    operations=("digest",),
    sources=("a book",),
)
MAC = replace(HASH, id="toymac", kind="mac", key_bytes=2, operations=("mac",))
KEM = replace(
    HASH,
    id="toykem",
    kind="kem",
    block_bytes=0,
    key_bytes=2,
    ciphertext_bytes=4,
    operations=("encapsulate", "decapsulate"),
)
AGREEMENT = replace(
    KEM, id="toyagree", kind="key-agreement", ciphertext_bytes=0, nonce_bytes=2, operations=("derive",)
)
SIGNATURE = replace(
    AGREEMENT, id="toysign", kind="signature", nonce_bytes=0, operations=("sign", "verify", "keygen")
)
ALL = {known.id: known for known in (CBC, GCM, HASH, MAC, KEM, AGREEMENT, SIGNATURE)}

ANSWER = KnownAnswer(
    algorithm="toy-cbc",
    operation="encrypt",
    source="a book, page 1",
    key="0001",
    nonce="00010203",
    input="00000000",
    output="01020304",
)
SEALED = replace(
    ANSWER, algorithm="toy-gcm", operation="seal", nonce="00" * 12, aad="aa", input="00", output="0102"
)
DIGEST = KnownAnswer(algorithm="toyhash", operation="digest", source="a book", output="010203")
MACED = replace(DIGEST, algorithm="toymac", operation="mac", key="0001")
SECRET = KnownAnswer("toykem", "decapsulate", "a book", key="0001", input="00010203", output="010203")
VERIFIED = KnownAnswer("toysign", "verify", "a book", key="0001", input="aa010203")
FORGED = replace(VERIFIED, input="aa010204", refused=True)
SHARED = KnownAnswer("toyagree", "derive", "a book", key="0001", input="0405", output="010203")


def test_sound_data_give_no_complaint():
    assert list(check_algorithms(ALL)) == []
    assert (
        list(check_vectors(ALL, {"toy": (ANSWER, SEALED, DIGEST, MACED, SECRET, VERIFIED, FORGED, SHARED)}))
        == []
    )


@pytest.mark.parametrize(
    ("known", "complaint"),
    [
        (replace(CBC, id="Toy-cbc"), "an id is made of lower-case letters"),
        (replace(CBC, kind="cypher"), "unknown kind 'cypher'"),
        (replace(KEM, ciphertext_bytes=0), "a kem has a ciphertext length"),
        (replace(CBC, ciphertext_bytes=3), "a kem has a ciphertext length, and nothing else"),
        (replace(KEM, operations=("keygen",)), "do not fit kind 'kem'"),
        (replace(KEM, randomised=("sign",)), "randomised is 'sign', which it does not do"),
        (replace(AGREEMENT, nonce_bytes=1), "is the peer's private key"),
        (replace(CBC, operations=("encrypt",)), "operations 'encrypt' do not fit kind 'block-cipher'"),
        (replace(CBC, operations=()), "operations none do not fit"),
        (
            replace(HASH, operations=("encrypt", "decrypt")),
            "operations 'encrypt', 'decrypt' do not fit kind 'hash'",
        ),
        (replace(CBC, name=""), "the name is missing"),
        (replace(CBC, sources=()), "sources are missing"),
        (replace(CBC, sources=(" ",)), "sources are missing"),
        (replace(CBC, origin=""), "the origin is missing"),
        (replace(CBC, year=0), "0 is not a year"),
        (replace(CBC, accelerated_by=("aes", "mmx")), "unknown CPU feature 'mmx'"),
        (replace(CBC, key_bytes=-1), "a length is negative"),
        (replace(GCM, data_multiple_bytes=0), "multiples of at least 1 byte"),
        (replace(CBC, key_bytes=0), "a block-cipher has a key length"),
        (replace(HASH, key_bytes=1), "a hash has neither key nor nonce"),
        (replace(CBC, block_bytes=0), "a block-cipher has a block length"),
        (replace(HASH, tag_bytes=0), "a hash has a tag length"),
        (replace(CBC, tag_bytes=1), "a block-cipher has no tag"),
        (replace(GCM, mode="", nonce_bytes=0), "an aead has a nonce length"),
        (replace(CBC, mode="abc"), "unknown mode 'abc'"),
        (replace(CBC, id="toy-ecb"), "an id ends with the mode: '-cbc'"),
        (replace(CBC, data_multiple_bytes=1), "data in mode cbc come in multiples of 4, not 1"),
        (replace(CBC, id="toy-ctr", mode="ctr"), "data in mode ctr come in multiples of 1, not 4"),
        (replace(CBC, nonce_bytes=8), "mode cbc has a nonce of 4 bytes, not 8"),
        (replace(CBC, id="toy-ige", mode="ige"), "mode ige has a nonce of 8 bytes, not 4"),
        (replace(CBC, aliases=("Plaything",)), "the alias 'Plaything' is not lower-case"),
        (replace(CBC, aliases=("toy cbc",)), "the alias 'toy cbc' is not lower-case"),
        (replace(CBC, aliases=("toy-cbc",)), "the alias 'toy-cbc' already means toy-cbc"),
        (replace(CBC, aliases=("a", "a")), "the alias 'a' already means toy-cbc"),
    ],
)
def test_each_fault_of_an_algorithm_is_named(known, complaint):
    complaints = list(check_algorithms({known.id: known}))
    assert any(
        each_complaint.startswith(f"{known.id}: ") and complaint in each_complaint
        for each_complaint in complaints
    ), complaints


def test_an_alias_belongs_to_one_algorithm():
    other = replace(HASH, aliases=("plaything",))
    assert list(check_algorithms({CBC.id: CBC, other.id: other})) == [
        "toyhash: the alias 'plaything' already means toy-cbc"
    ]
    other = replace(HASH, aliases=("toy-cbc",))
    assert list(check_algorithms({CBC.id: CBC, other.id: other})) == [
        "toyhash: the alias 'toy-cbc' already means toy-cbc"
    ]


CONTRACTS = {
    "stream/1": Contract(
        "stream/1", "endless", "next bytes", tuple(OPERATIONS), default_for=tuple(OPERATIONS)
    )
}


@pytest.mark.parametrize(
    ("contract", "complaint"),
    [
        (Contract("stream", "t", "m", ()), "an id is a name, a slash and a version"),
        (Contract("stream/0", "t", "m", ()), "an id is a name, a slash and a version"),
        (Contract("other/1", "t", "m", ("cypher",)), "unknown kind 'cypher'"),
        (Contract("other/1", "t", "m", ("hash",), ("mac",)), "default for 'mac', which it does not fit"),
        (
            Contract("other/1", "t", "m", ("hash",), ("hash",)),
            "kind 'hash' has 2 default contracts instead of 1",
        ),
        (Contract("other/1", "", "m", ("hash",)), "title or meaning is missing"),
        (Contract("other/1", "t", "", ("hash",)), "title or meaning is missing"),
    ],
)
def test_each_fault_of_a_contract_is_named(contract, complaint):
    assert list(check_contracts(CONTRACTS)) == []
    complaints = list(check_contracts({**CONTRACTS, contract.id: contract}))
    assert any(complaint in each_complaint for each_complaint in complaints), complaints


def test_an_algorithms_own_contract_must_fit():
    known = {CBC.id: replace(CBC, contract="pk/1")}
    assert list(check_defaults(known, CONTRACTS)) == [
        "toy-cbc: the contract 'pk/1' is none for kind 'block-cipher'"
    ]
    assert list(check_defaults({CBC.id: replace(CBC, contract="stream/1")}, CONTRACTS)) == []


def test_a_kind_without_default_is_named():
    assert "kind 'hash' has 0 default contracts instead of 1" in list(check_contracts({}))


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (replace(ANSWER, algorithm="doll"), "the family 'toy' has no such algorithm"),
        (replace(ANSWER, source=""), "the source is missing"),
        (replace(ANSWER, operation="decrypt"), "not for 'decrypt'"),
        (replace(ANSWER, operation="digest"), "not for 'digest'"),
        (replace(ANSWER, key="000g"), "key is not lower-case hexadecimal"),
        (replace(ANSWER, key="00AB"), "key is not lower-case hexadecimal"),
        (replace(ANSWER, output="010"), "output is not lower-case hexadecimal"),
        (replace(ANSWER, key="00"), "the key has 1 bytes, not 2"),
        (replace(ANSWER, nonce=""), "the nonce has 0 bytes, not 4"),
        (replace(ANSWER, aad="00"), "a block-cipher takes no additional data"),
        (replace(ANSWER, input="0000", output="0000"), "2 bytes of input are no multiple of 4"),
        (replace(ANSWER, input="", output=""), "the input is missing"),
        (
            replace(ANSWER, input="00" * 65540, output="00" * 65540),
            "65540 bytes of input are more than 65536",
        ),
        (replace(ANSWER, output="00" * 8), "the output has 8 bytes, not 4"),
        (replace(SEALED, output="01"), "the output has 1 bytes, not 2"),
        (replace(DIGEST, output="01"), "the output has 1 bytes, not 3"),
        (replace(DIGEST, key="00"), "the key has 1 bytes, not 0"),
        (replace(MACED, key=""), "the key has 0 bytes, not 2"),
        (replace(SECRET, input="000102"), "the ciphertext has 3 bytes, not 4"),
        (replace(VERIFIED, input="0102"), "an input of 2 bytes holds no signature"),
        (replace(FORGED, output="00"), "what is refused has no output, but for a secret of derive"),
        (replace(DIGEST, refused=True), "what is refused is an input of open, verify or derive"),
        (replace(SEALED, operation="open"), "known answers of open are those of seal, or refused"),
    ],
)
def test_each_fault_of_a_known_answer_is_named(answer, complaint):
    complaints = list(check_vectors(ALL, {"toy": (answer,)}))
    assert any(
        each_complaint.startswith("vectors/toy.toml, vector 1 ") and complaint in each_complaint
        for each_complaint in complaints
    ), complaints


def test_a_sealed_text_that_nobody_repeats_is_a_known_answer_of_open():
    known = {GCM.id: replace(GCM, randomised=("seal",))}
    opened = replace(SEALED, operation="open", input=SEALED.output, output=SEALED.input)
    assert list(check_vectors(known, {"toy": (opened,)})) == []
    [complaint] = check_vectors(known, {"toy": (replace(opened, output="00" * 9),)})
    assert "the output has 9 bytes" in complaint


def test_an_operation_may_have_a_contract_of_its_own():
    contracts = load().contracts
    known = replace(load().find("rsa-2048"), contracts={"keygen": "stream/1", "derive": "draw/1"})
    assert list(check_defaults({known.id: known}, contracts)) == [
        "rsa-2048: the contract 'stream/1' is none for kind 'signature'",
        "rsa-2048: a contract of its own for 'derive', which it does not have",
    ]


def test_known_answers_stand_once_and_in_their_family():
    assert list(check_vectors(ALL, {"toy": (ANSWER, replace(ANSWER, source="another book"))})) == [
        "vectors/toy.toml, vector 2 (toy-cbc): duplicate"
    ]
    assert "the family 'doll' has no such algorithm" in next(check_vectors(ALL, {"doll": (ANSWER,)}))


def test_check_of_a_catalogue_reaches_all_three(tmp_path):
    from perbyte.catalogue import read_catalogue

    (tmp_path / "algorithms").mkdir()
    (tmp_path / "vectors").mkdir()
    (tmp_path / "algorithms" / "toy.toml").write_text('[algorithms.toy]\nname = "Toy"\nkind = "hash"\n')
    (tmp_path / "contracts.toml").write_text("")
    (tmp_path / "vectors" / "doll.toml").write_text(
        '[[vector]]\nalgorithm = "toy"\noperation = "digest"\nsource = "x"\n'
    )
    complaints = "\n".join(read_catalogue(tmp_path).check())
    assert "toy: sources are missing" in complaints
    assert "kind 'hash' has 0 default contracts" in complaints
    assert "vectors/doll.toml, vector 1 (toy): the family 'doll' has no such algorithm" in complaints


def test_a_wrong_length_smuggled_into_the_real_catalogue_is_found():
    catalogue = load()
    broken = dict(catalogue.algorithms)
    broken["aes-128-cbc"] = replace(broken["aes-128-cbc"], key_bytes=17)
    complaints = list(check_vectors(broken, {"aes": catalogue.vectors("aes")}))
    assert complaints
    assert all("(aes-128-cbc): the key has 16 bytes, not 17" in complaint for complaint in complaints)
