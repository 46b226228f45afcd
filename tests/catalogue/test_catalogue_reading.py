import re

import pytest

from perbyte.catalogue import load, read_catalogue
from perbyte.errors import DataFileError, UsageError

TOY = """
[shared]
kind = "stream-cipher"
year = 2001
origin = "nobody"
operations = ["encrypt", "decrypt"]
sources = ["a book"]

[algorithms.toy]
name = "Toy"
key_bytes = 2
nonce_bytes = 1
aliases = ["plaything"]

[algorithms.toy-aead]
name = "Toy AEAD"
kind = "aead"
key_bytes = 2
nonce_bytes = 1
tag_bytes = 1
operations = ["seal", "open"]
"""
CONTRACTS = """
[contracts."stream/1"]
title = "endless"
meaning = "next bytes"
kinds = ["stream-cipher"]
default_for = ["stream-cipher"]

[contracts."stream/10"]
title = "endless"
meaning = "next bytes, otherwise"
kinds = ["stream-cipher"]

[contracts."stream/9"]
title = "endless"
meaning = "next bytes, otherwise"
kinds = ["stream-cipher"]
"""
VECTORS = """
[[vector]]
algorithm = "toy"
operation = "encrypt"
source = "a book, page 1"
key_text = "kk"
nonce = "00"
input_text = "abc"
output = "0a0b0c"

[[vector]]
algorithm = "toy-aead"
operation = "seal"
source = "a book, page 2"
key = "0001"
nonce = "00"
aad = "ff"
input = "01"
output = "0203"
"""


@pytest.fixture
def place(tmp_path):
    (tmp_path / "algorithms").mkdir()
    (tmp_path / "vectors").mkdir()
    (tmp_path / "algorithms" / "toy.toml").write_text(TOY)
    (tmp_path / "contracts.toml").write_text(CONTRACTS)
    (tmp_path / "vectors" / "toy.toml").write_text(VECTORS)
    return tmp_path


def test_shared_fields_hold_unless_overridden_and_the_file_names_the_family(place):
    catalogue = read_catalogue(place)
    toy, aead = catalogue.algorithms.values()
    assert (toy.id, toy.family, toy.kind, toy.operations) == (
        "toy",
        "toy",
        "stream-cipher",
        ("encrypt", "decrypt"),
    )
    assert (aead.kind, aead.operations, aead.sources) == ("aead", ("seal", "open"), ("a book",))


def test_text_stands_for_its_bytes(place):
    (answer,) = read_catalogue(place).known_answers("toy", "encrypt")
    assert (answer.key, answer.input, answer.output) == ("6b6b", "616263", "0a0b0c")


def test_inverse_operations_turn_the_answers_round(place):
    catalogue = read_catalogue(place)
    (answer,) = catalogue.known_answers("plaything", "decrypt")
    assert (answer.operation, answer.input, answer.output) == ("decrypt", "0a0b0c", "616263")
    (answer,) = catalogue.known_answers("toy-aead", "open")
    assert (answer.operation, answer.input, answer.output, answer.aad) == ("open", "0203", "01", "ff")


def test_no_known_answers_is_an_ordinary_answer(place):
    (place / "vectors" / "toy.toml").unlink()
    catalogue = read_catalogue(place)
    assert catalogue.known_answers("toy", "encrypt") == ()
    assert catalogue.known_answers("toy", "sing") == ()


def test_known_answers_of_an_unknown_algorithm_are_refused(place):
    with pytest.raises(UsageError, match="no algorithm 'doll'"):
        read_catalogue(place).known_answers("doll", "encrypt")


def test_the_newest_version_of_a_contract_is_by_number_not_by_letter(place):
    assert read_catalogue(place).find_contract("stream").id == "stream/10"


def test_a_kind_without_default_contract_is_an_error_of_the_room(place):
    with pytest.raises(DataFileError, match="kind 'aead'"):
        read_catalogue(place).default_contract("toy-aead")


def test_version_is_twelve_hex_digits_and_follows_content_and_names(place):
    versions = [read_catalogue(place).version]
    assert re.fullmatch("[0-9a-f]{12}", versions[0])
    assert read_catalogue(place).version == versions[0]
    (place / "README.md").write_text("not data")
    assert read_catalogue(place).version == versions[0]
    (place / "vectors" / "toy.toml").write_text(VECTORS.replace("0a0b0c", "0a0b0d"))
    versions.append(read_catalogue(place).version)
    (place / "algorithms" / "toy.toml").rename(place / "algorithms" / "doll.toml")
    versions.append(read_catalogue(place).version)
    assert len(set(versions)) == 3
    assert re.fullmatch("[0-9a-f]{12}", load().version)


@pytest.mark.parametrize(
    ("path", "old", "new", "complaint"),
    [
        (
            "algorithms/toy.toml",
            "key_bytes = 2",
            "key_bites = 2",
            "'toy': key_bites: unknown key",
        ),
        (
            "algorithms/toy.toml",
            "key_bytes = 2",
            'key_bytes = "two"',
            "'toy': key_bytes: 'two' is not a whole number",
        ),
        ("algorithms/toy.toml", "key_bytes = 2", 'family = "doll"', "'toy': family: unknown key"),
        ("algorithms/toy.toml", 'name = "Toy"', "", "'toy': name: is missing"),
        ("algorithms/toy.toml", "[algorithms.toy]", "[algorithms.toy", "toy.toml"),
        ("algorithms/toy.toml", "[shared]", "[common]", "common: unknown key"),
        ("contracts.toml", "title =", "titel =", "'stream/1': titel: unknown key"),
        ("vectors/toy.toml", "output =", "outcome =", "vector 1': outcome: unknown key"),
        ("vectors/toy.toml", 'input_text = "abc"', 'input_text = "ä"', "'input_text' is not ASCII"),
        (
            "vectors/toy.toml",
            'key_text = "kk"',
            'key_text = "kk"\nkey = "00"',
            "'key_text' is not ASCII or one",
        ),
        ("vectors/toy.toml", 'algorithm = "toy"', "algorithm = 7", "'vector 1': algorithm: must be a text"),
    ],
)
def test_malformed_files_are_named(place, path, old, new, complaint):
    file = place / path
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new, 1))
    with pytest.raises(DataFileError, match=complaint) as raised:
        read_catalogue(place).vectors("toy")
    assert file.name in str(raised.value)


def test_an_id_may_be_given_once_only(place):
    (place / "algorithms" / "zoo.toml").write_text(TOY)
    with pytest.raises(DataFileError, match=r"zoo.toml: the algorithm 'toy' is already defined"):
        read_catalogue(place)


def test_a_missing_or_binary_file_is_an_error_of_the_room(place):
    (place / "contracts.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(DataFileError, match=r"contracts.toml"):
        read_catalogue(place)
    (place / "contracts.toml").unlink()
    with pytest.raises(DataFileError, match=r"contracts.toml"):
        read_catalogue(place)
