"""`perbyte advise` as it is typed: on scripted runners, on a run, and its refusals."""

from __future__ import annotations

import json

import pytest
from fake_scripts import row

SIZES = "1024"


def tls(name: str, **costs: float) -> dict:
    """A runner of record ciphers at so many cycles a byte, in the tier soft ten times dearer for AES."""
    rows = [
        row(algorithm.replace("_", "-"), operation, "message/1", per_call=0.0, per_byte=cost, kind="aead")
        for algorithm, cost in costs.items()
        for operation in ("seal", "open")
    ]
    for each_row in rows:
        if each_row["algorithm"].startswith("aes"):
            each_row["tiers"] = {"soft": 10}
    return {"name": name, "operations": rows, "noise": {"sample": 0.0005, "probe": 0.0001}}


@pytest.fixture(scope="module")
def answered(tmp_path_factory, make_world):
    """One measured answer, for several tests."""
    world = make_world(tmp_path_factory.mktemp("advised"))
    world.add(
        tls("alpha", aes_128_gcm=1.0, aes_256_gcm=1.4, chacha20_poly1305=3.0), tls("beta", aes_128_gcm=1.2)
    )
    page = world.home / "advice.html"
    answer = world.perbyte(
        *("advise", "tls", "--sizes", SIZES, "--language", "python", "--budget", "8s"),
        *("--rate", "1GB/s", "--json", "--report", page),
    )
    assert answer.returncode == 0, answer.stderr
    return world, json.loads(answer.stdout), page, answer


def test_it_measures_and_answers(answered):
    _, document, page, answer = answered
    records, exchange, signature = document["tasks"]
    assert records["recommended"] == "aes-128-gcm"
    assert records["ranking"][0]["options"][0]["runner"] == "alpha"
    assert records["runner_up"] == "aes-256-gcm"
    assert records["sure"] == "certain"
    assert any("takes" in line and "of a core" in line for line in records["said"]["What it costs"])
    assert any("chacha20-poly1305" in json.dumps(entry) for entry in records["ranking"])
    assert exchange["recommended"] is None
    assert "no library" in exchange["missing"][0]["reason"]
    assert signature["answer"].startswith("Nothing")
    assert "AES-128 in GCM" in page.read_text(encoding="utf-8")
    assert "page:" in answer.stderr


def test_a_run_is_used_again_under_another_profile_and_for_another_peer(answered):
    world, document, _, _ = answered
    common = ("advise", "tls", "--sizes", SIZES, "--run", document["run"])
    peer = json.loads(world.perbyte(*common, "--peer", "no-aes-hardware", "--json").stdout)
    assert peer["tasks"][0]["recommended"] == "chacha20-poly1305"
    suite = json.loads(world.perbyte(*common, "--profile", "cnsa2", "--json").stdout)
    assert suite["tasks"][0]["recommended"] == "aes-256-gcm"
    assert {each_row["algorithm"] for each_row in suite["tasks"][0]["ruled_out"]} == {
        "aes-128-gcm",
        "chacha20-poly1305",
    }
    text = world.perbyte(*common).stdout
    assert "AES-128 in GCM, in Fake alpha 1.0" in text
    assert "Profile cnsa2: AES-256 in GCM." in text
    assert "no AES or carry-less multiply instructions (tier soft): ChaCha20-Poly1305" in text
    assert all(len(line) <= 100 for line in text.splitlines())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("disc",), "disc"),
        (("disk", "--profile", "fips"), "there is no profile 'fips'"),
        (("hash", "--peer", "no-aes-hardware"), "--peer is only for tls"),
        (("hash", "--path", "/"), "--path is only for disk"),
        (("disk", "--sizes", "100"), "100 bytes is not a multiple of 16"),
        (("hash", "--sizes", "64", "--histogram", "x"), "exclude each other"),
        (("hash", "--histogram", "/nowhere/sizes"), "cannot be read"),
        (("hash", "--volume", "much"), "'much' is not a size"),
        (("hash", "--date", "soon"), "soon"),
        (("hash", "--run", "/nowhere"), "there is no run"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_way_out(perbyte, words, message):
    answer = perbyte("advise", *words)
    assert answer.returncode == 2
    assert message in answer.stderr
    assert "Traceback" not in answer.stderr


def test_without_a_library_it_says_what_would_help(world):
    world.add(tls("alpha", aes_128_gcm=1.0))
    answer = world.perbyte("advise", "hash", "--language", "cobol", "-q")
    assert answer.returncode == 2
    assert "no runner is in 'cobol'" in answer.stderr
