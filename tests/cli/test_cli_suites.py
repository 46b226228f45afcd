"""Suites, providers, and a catalogue of one's own."""

from __future__ import annotations

import json

import pytest
from fake_scripts import row

from perbyte.catalogue import load, parse_selector, suites
from perbyte.runners import locate

ALGORITHM = """
[shared]
kind = "hash"
year = 2026
origin = "nobody"
operations = ["digest"]
sources = ["a book"]

[algorithms.sponge-of-mine]
name = "Sponge of mine"
block_bytes = 8
tag_bytes = 4
aliases = ["mysponge"]
"""
VECTOR = """
[[vector]]
algorithm = "sponge-of-mine"
operation = "digest"
source = "a book, page 3"
output = "01020304"
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    for name, text in (("algorithms", ALGORITHM), ("vectors", VECTOR)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.toml").write_text(text)
    monkeypatch.setenv("PERBYTE_CATALOGUE", str(tmp_path))
    load.cache_clear()
    yield tmp_path
    load.cache_clear()


def test_an_algorithm_of_ones_own_is_found_beside_the_others(perbyte, own):
    rows = json.loads(perbyte("list", "algorithms", "mysponge", "--json").stdout)
    assert [each_row["algorithm"] for each_row in rows] == ["sponge-of-mine"]
    both = json.loads(perbyte("list", "algorithms", "{sha-256,mysponge}", "--json").stdout)
    assert {each_row["algorithm"] for each_row in both} == {"sha-256", "sponge-of-mine"}


@pytest.mark.parametrize(
    ("file", "old", "new", "complaint"),
    [
        ("algorithms/mine.toml", "sponge-of-mine", "sha-256", "'sha-256' is already defined elsewhere"),
        ("algorithms/mine.toml", '"mysponge"', '"sha256"', "the alias 'sha256' already means sha-256"),
        ("algorithms/mine.toml", "tag_bytes = 4", "", "a hash has a tag length"),
        ("algorithms/mine.toml", "tag_bytes", "tag_bites", "tag_bites: unknown key"),
        ("vectors/mine.toml", "01020304", "0102", "the output has 2 bytes, not 4"),
    ],
)
def test_its_mistakes_are_named_with_their_place(perbyte, own, file, old, new, complaint):
    path = own / file
    path.write_text(path.read_text().replace(old, new))
    load.cache_clear()
    answer = perbyte("list", "algorithms")
    assert answer.returncode == 2
    assert complaint in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_directory_without_a_catalogue_is_named(perbyte, tmp_path, monkeypatch):
    monkeypatch.setenv("PERBYTE_CATALOGUE", str(tmp_path / "nowhere"))
    load.cache_clear()
    answer = perbyte("list", "algorithms")
    load.cache_clear()
    assert answer.returncode == 2
    assert "nowhere holds no catalogue" in answer.stderr


def test_a_runner_is_measured_on_it(perbyte, own, fake_runners):
    fake_runners({"name": "alpha", "operations": [row("sponge-of-mine", "digest", "oneshot/1")]})
    answer = perbyte("list", "operations", "alpha")
    assert "sponge-of-mine" in answer.stdout


def test_every_suite_asks_for_what_the_catalogue_has():
    assert set(suites()) == {"tls", "pqc", "hash", "disk", "signatures", "password"}
    for name, suite in suites().items():
        assert suite.title
        assert suite.answers.endswith(".")
        for text in suite.selectors(("openssl", "nettle")):
            selector = parse_selector(text)
            assert selector.runner == "{openssl,nettle}", name
            assert selector.algorithms()
            operations = {
                operation
                for algorithm in selector.algorithms()
                for operation in load().find(algorithm).operations
            }
            assert any(selector.matches_operation("openssl", selector.algorithms()[0], o) for o in operations)


def test_suites_are_listed_and_an_unknown_one_is_refused(perbyte):
    assert "hash" in perbyte("list", "suites").stdout
    answer = perbyte("measure", "--suite", "hush")
    assert answer.returncode == 2
    assert "hash" in answer.stderr
    assert perbyte("measure", "--suite", "hash", "sha-256").returncode == 2


def test_providers_are_told_built_or_not(perbyte):
    rows = json.loads(perbyte("list", "providers", "MLKEM768", "--json").stdout)
    runners = {item["runner"] for item in rows}
    assert {"openssl-4", "aws-lc", "boringssl", "liboqs", "libsodium"} <= runners
    for each_row in rows:
        assert each_row["state"] == "ready" or each_row["how"].startswith(
            f"perbyte build {each_row['runner']}"
        )
    unknown = perbyte("list", "providers", "ml-kem-769")
    assert unknown.returncode == 2
    assert "ml-kem-768" in unknown.stderr


def test_what_runners_are_said_to_have_is_in_the_catalogue():
    for spec in locate():
        file = spec.here / "algorithms.txt"
        if file.is_file():
            named = file.read_text(encoding="utf-8").split()
            assert named == [name for name in load().algorithms if name in named], spec.name
