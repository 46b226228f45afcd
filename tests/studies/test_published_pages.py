"""Figures of five pages of programs: how many, what they add up to, and corners, taken from the sources."""

from __future__ import annotations

from collections import Counter

import pytest
from figures_of import total, value

from perbyte.studies import find, judge_in_print


def test_aesbench_has_sixteen_rows_of_eighteen_systems() -> None:
    study = find("lelegard-aes-2026")
    assert len(study.machines) == 18
    assert set(Counter(figure.machine for figure in study.published).values()) == {16}
    assert total(study) == pytest.approx(15195.214)
    assert total(study, algorithm="AES-128-CBC", operation="encrypt") == pytest.approx(254.401)
    assert value(study, "aes-128-ecb-encrypt-whiskey-lake") == 52.031
    assert value(study, "aes-256-gcm-decrypt-apple-m4") == 68.553
    assert value(study, "aes-256-xts-decrypt-cortex-a72") == 0.215
    assert value(study, "aes-128-gcm-encrypt-sapphire-rpd-openssl-3-2-2") == 132.33
    assert value(study, "aes-128-gcm-encrypt-sapphire-rpd-openssl-3-0-7") == 53.196


def test_shabench_has_five_rows_of_seventeen_systems() -> None:
    study = find("lelegard-sha-2026")
    assert len(study.machines) == 17
    assert set(Counter(figure.machine for figure in study.published).values()) == {5}
    assert total(study) == pytest.approx(666.856)
    assert value(study, "sha-1-whiskey-lake") == 9.014
    assert value(study, "sha3-512-apple-m3") == 4.622
    assert value(study, "sha-256-krackan-point") == 18.577
    assert value(study, "sha-512-neoverse-n1-3-30") == 4.281


def test_lib25519_has_seven_columns_and_openssl_five_of_them() -> None:
    study = find("lib25519-2023")
    assert Counter(figure.library for figure in study.published) == {"OpenSSL 3.1.1": 40, "lib25519": 56}
    assert total(study) == 17527992
    assert value(study, "x-key-openssl-zen-3") == 119875
    assert value(study, "ed-msm-lib25519-core-2") == 105382
    assert value(study, "x-dh-openssl-airmont") == 618831
    assert {bool(figure.cell) for figure in study.published if figure.library == "lib25519"} == {False}
    assert {bool(figure.cell) for figure in study.published if figure.library != "lib25519"} == {True}


def test_xxhash_has_a_bandwidth_for_memory_too() -> None:
    study = find("xxhash-2020")
    assert Counter(figure.place for figure in study.published) == {
        "README, benchmarks, bandwidth": 17,
        "README, benchmarks, small data velocity": 16,
    }
    assert total(study, unit="GB/s") == pytest.approx(240.9)
    assert value(study, "xxh3-sse2-bandwidth") == 31.5
    assert value(study, "md5-small") == 7.8
    assert sum(bool(figure.cell) for figure in study.published) == 7


def test_times_and_throughputs_of_the_hashes_in_node_are_one_measurement() -> None:
    study = find("node-hashes-2026")
    assert len(study.published) == 40
    assert total(study, unit="MiB/s") == pytest.approx(30290.6)
    for figure in study.published:
        if figure.unit == "ms":
            throughput = value(study, figure.id.replace("-time", "-throughput"))
            assert throughput
            assert figure.value == pytest.approx(figure.size_bytes / 1048576 / throughput * 1e3, abs=0.00015)


@pytest.mark.parametrize(
    ("name", "machine", "contradicted", "testable"),
    [
        ("lelegard-aes-2026", "krackan-point", set(), 4),
        ("lelegard-aes-2026", "cortex-a72", {"directions-alike-but-for-cbc", "cbc-encryption-dearest"}, 4),
        ("lelegard-sha-2026", "krackan-point", set(), 2),
        ("lelegard-sha-2026", "whiskey-lake", {"sha-256-before-sha-512"}, 2),
        ("lib25519-2023", "zen-3", set(), 3),
        ("lib25519-2023", "airmont", set(), 3),
        ("xxhash-2020", "i7-9700k", set(), 3),
        ("node-hashes-2026", "node-2026", set(), 4),
    ],
)
def test_what_the_pages_say_of_the_claims(
    name: str, machine: str, contradicted: set[str], testable: int
) -> None:
    verdicts = {
        verdict.claim.id: str(verdict.outcome) for verdict in judge_in_print(find(name), machine).verdicts
    }
    assert {id for id, outcome in verdicts.items() if outcome == "not reproduced"} == contradicted
    assert sum(outcome in ("reproduced", "not reproduced") for outcome in verdicts.values()) == testable
