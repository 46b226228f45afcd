"""Every published figure of the sources: how many, what they add up to, and the corners of each table.

Sums and corners were taken from the sources by hand and by another program than the one that wrote the files.
"""

from __future__ import annotations

import math
import re
from collections import Counter

import pytest
from figures_of import figure_named, total, value

from perbyte.catalogue import load as load_catalogue
from perbyte.studies import find, judge_in_print, studies
from perbyte.studies.claims.ratios import RatioClaim
from perbyte.studies.evidence import cells_of


def test_all_are_there_in_the_order_of_their_years() -> None:
    assert [study.name for study in studies()] == [
        "roe-1994",
        "ripemd-1996",
        "gladman-1999",
        "bingmann-2008",
        "siedlecki-java",
        "openssl-aesni-2010",
        "openssl-speed-2013",
        "cryptsetup-2017",
        "openssl-chacha-2017",
        "adiantum-2018",
        "coretti-2019",
        "blake3-2020",
        "blake3-btrfs-2020",
        "kompara-2020",
        "kyber-2020",
        "xxhash-2020",
        "aegis-2023",
        "lib25519-2023",
        "openssl-sha-2023",
        "lelegard-aes-2026",
        "lelegard-sha-2026",
        "node-hashes-2026",
    ]


def test_adiantum_has_two_listings_of_68() -> None:
    study = find("adiantum-2018")
    assert Counter(figure.size_bytes for figure in study.published) == {4096: 68, 512: 68}
    assert Counter(figure.library for figure in study.published) == {"NEON": 68, "generic": 68}
    assert len({figure.algorithm for figure in study.published}) == 18
    assert value(study, "adiantum-xchacha12-aes-decrypt-neon-4096") == 10.590
    assert value(study, "adiantum-xchacha12-aes-encrypt-neon-512") == 15.796
    assert value(study, "aes-256-xts-decrypt-neon-4096") == 58.584
    assert value(study, "aes-128-xts-encrypt-generic-512") == 46.177
    assert value(study, "chacha8-decrypt-neon-4096") == 5.063
    assert value(study, "nh-mac-neon-4096") == 1.329
    assert value(study, "hpolyc-xchacha12-aes-encrypt-neon-512") == 18.626


def test_the_list_of_chacha_has_15_processors_42_figures_and_one_of_a_note() -> None:
    study = find("openssl-chacha-2017")
    assert len(study.machines) == 15
    forms = Counter(figure.library.removeprefix("OpenSSL, ") for figure in study.published)
    assert forms == {"scalar": 14, "1xSSSE3": 11, "4xSSSE3": 12, "NxAVX": 5, "XOP": 1}
    assert total(study, library="OpenSSL, scalar") == pytest.approx(119.01)
    assert total(study, library="OpenSSL, 4xSSSE3") == pytest.approx(48.63)
    assert total(study, library="OpenSSL, NxAVX") == pytest.approx(6.11)
    assert value(study, "p4-scalar") == 9.48
    assert value(study, "skylake-x-nxavx") == 0.8
    assert value(study, "via-nano-4xssse3") == 6.05
    stands = [figure for figure in study.published if figure.cell]
    assert len({figure.machine for figure in stands}) == len(stands) == 15
    for figure in stands:
        same = [other.value for other in study.published if other.machine == figure.machine]
        assert figure.value == min(cost for cost in same if cost is not None)


def test_the_benchmark_of_blake3_has_a_table_of_4_and_three_runs_of_8() -> None:
    study = find("blake3-btrfs-2020")
    places = Counter(figure.place for figure in study.published)
    assert places == {"first table": 4, **{f"1,000,000 iterations, -O{level}": 8 for level in (1, 2, 3)}}
    assert total(study, place="first table") == 11126 + 12700 + 16642 + 22505
    assert value(study, "o1-blake3") == 23999
    assert value(study, "o3-blake3-avx2") == 10504
    assert value(study, "o2-null-nop") == 318


def test_the_table_of_aes_ni_has_6_modes_of_5_sizes_in_both_directions() -> None:
    study = find("openssl-aesni-2010")
    assert Counter(figure.algorithm for figure in study.published) == {
        f"AES-128 {mode}": 10 for mode in ("ECB", "CTR", "CBC", "CCM", "OFB", "CFB")
    }
    assert Counter(figure.size_bytes for figure in study.published) == dict.fromkeys(
        (16, 64, 256, 1024, 8192), 12
    )
    assert total(study) == pytest.approx(224.20)
    assert total(study, size_bytes=8192) == pytest.approx(38.29)
    assert value(study, "ecb-encrypt-16") == 4.25
    assert value(study, "cfb-decrypt-8192") == 5.55
    assert value(study, "cbc-encrypt-8192") == 4.06
    assert value(study, "ccm-decrypt-16") == 9.42
    assert figure_named(study, "ccm-decrypt-16").cell == "openssl/aes-128-ccm/open@16+contract=message/1"


def test_kompara_has_26_rows_of_8_figures() -> None:
    study = find("kompara-2020")
    there = [figure for figure in study.published if figure.available]
    assert len(there) == 208
    assert {figure.id for figure in study.published if not figure.available} == {
        "openssl-serpent",
        "openssl-twofish",
    }
    rows = Counter((figure.library, figure.algorithm) for figure in there)
    assert len(rows) == 26
    assert set(rows.values()) == {8}
    assert not [
        figure
        for figure in there
        if figure.library == "OpenSSL" and figure.algorithm in ("Serpent", "Twofish")
    ]
    assert total(study) == pytest.approx(7428.051, abs=1e-9)
    assert total(study, operation="encrypt") == pytest.approx(3721.043, abs=1e-9)
    assert total(study, operation="decrypt") == pytest.approx(3707.008, abs=1e-9)
    assert total(study, algorithm="AES-NI") == pytest.approx(100.375, abs=1e-9)
    assert {figure.unit for figure in study.published} == {"cycles/byte"}


@pytest.mark.parametrize(
    ("id", "printed"),
    [
        ("cryptopp-aes-encrypt-16b", "17.051"),
        ("cryptopp-aes-decrypt-10mb", "18.512"),
        ("cryptopp-aes-ni-decrypt-16b", "6"),
        ("cryptopp-aes-ni-encrypt-10mb", "0.732"),
        ("cryptopp-3des-decrypt-16b", "117.143"),
        ("libgcrypt-aes-encrypt-16b", "13.75"),
        ("libgcrypt-serpent-decrypt-10mb", "32.549"),
        ("nettle-aes-encrypt-16b", "12"),
        ("nettle-serpent-encrypt-512b", "14.115"),
        ("nettle-twofish-decrypt-10mb", "18.323"),
        ("openssl-aes-ni-decrypt-10mb", "0.677"),
        ("openssl-3des-decrypt-10mb", "123.989"),
    ],
)
def test_kompara_keeps_the_printed_digits_with_a_decimal_point(id: str, printed: str) -> None:
    stored = figure_named(find("kompara-2020"), id)
    assert stored.printed == printed
    assert stored.value == float(printed)


def test_kompara_compares_software_aes_with_the_soft_tier_and_aes_ni_with_everything() -> None:
    study = find("kompara-2020")
    assert (
        figure_named(study, "openssl-aes-encrypt-16b").cell
        == "openssl/aes-128-ecb/encrypt@16+cpu=soft+contract=stream/1"
    )
    assert (
        figure_named(study, "openssl-aes-ni-encrypt-16b").cell
        == "openssl/aes-128-ecb/encrypt@16+contract=stream/1"
    )
    assert figure_named(study, "nettle-3des-decrypt-10mb").cell == (
        "nettle/des-ede3-ecb/decrypt@10000000+cpu=soft+contract=stream/1"
    )


def test_openssl_speed_has_27_rows_of_5_and_7_of_4_on_each_of_three_machines() -> None:
    study = find("openssl-speed-2013")
    assert len(study.published) == 3 * (27 * 5 + 7 * 4) == 489
    throughput = [figure for figure in study.published if figure.unit == "1000 bytes/s"]
    assert Counter(figure.machine for figure in throughput) == {
        "pentium-4": 135,
        "dual-xeon": 135,
        "atom-n270": 135,
    }
    assert len({figure.algorithm for figure in throughput}) == 27
    absent = [figure for figure in study.published if not figure.available]
    assert Counter(figure.machine for figure in absent) == {"pentium-4": 10, "dual-xeon": 10, "atom-n270": 35}
    assert {(figure.printed, figure.value) for figure in absent} == {("0.00", None)}
    assert total(study, machine="pentium-4", unit="1000 bytes/s") == pytest.approx(7845162.47)
    assert total(study, machine="dual-xeon", unit="1000 bytes/s") == pytest.approx(7063545.65)
    assert total(study, machine="atom-n270", unit="1000 bytes/s") == pytest.approx(3991891.29)
    assert total(study, unit="s/operation", operation="sign") == pytest.approx(0.861523)
    assert total(study, unit="s/operation", operation="verify") == pytest.approx(0.061456)
    assert total(study, unit="operations/s", operation="sign") == pytest.approx(7954.5)
    assert total(study, unit="operations/s", operation="verify") == pytest.approx(51698.6)


def test_openssl_speed_corners() -> None:
    study = find("openssl-speed-2013")
    assert value(study, "pentium-4-md2-16") == 1955.68
    assert value(study, "pentium-4-rc5-32-12-cbc-16") == 131485.96
    assert value(study, "pentium-4-aes-256-ige-8192") == 35857.51
    assert value(study, "pentium-4-rsa-512-sign-time") == 0.001097
    assert value(study, "dual-xeon-md2-8192") == 10503.78
    assert value(study, "dual-xeon-dsa-2048-verify-rate") == 122.3
    assert value(study, "atom-n270-hmac-md5-8192") == 252152.49
    assert value(study, "atom-n270-rsa-4096-sign-time") == 0.321875
    assert value(study, "atom-n270-camellia-128-cbc-16") is None
    assert value(study, "atom-n270-dsa-2048-verify-rate") == 64.4


def test_siedlecki_has_15_rows_of_3() -> None:
    study = find("siedlecki-java")
    assert len(study.published) == 45
    assert [total(study, size_bytes=size) for size in (128, 256, 512)] == [1443391, 1290405, 1168730]
    assert {(figure.size_bytes, figure.calls) for figure in study.published} == {
        (128, 4_000_000),
        (256, 2_000_000),
        (512, 1_000_000),
    }
    assert value(study, "md5-128") == 5531
    assert value(study, "ripemd-256-256") == 9719
    assert value(study, "gost-94-128") == 742360
    assert value(study, "gost-94-512") == 593656
    assert figure_named(study, "tiger-128").cell == "jca-bc/tiger/digest@128+contract=oneshot/1"


def test_roe_has_18_algorithms_on_two_machines() -> None:
    study = find("roe-1994")
    assert len(study.published) == 36
    kinds = Counter(figure.place for figure in study.published)
    assert kinds == {
        "figure 2, stream ciphers": 10,
        "figure 2, block ciphers": 16,
        "figure 2, hash functions": 10,
    }
    assert total(study, machine="sparc-slc") == pytest.approx(72.100, abs=1e-9)
    assert total(study, machine="alpha-3000") == pytest.approx(565.528, abs=1e-9)
    assert value(study, "sparc-slc-wake") == 14.12
    assert value(study, "alpha-3000-linear-congruential") == 0.738
    assert value(study, "sparc-slc-kaliski-robshaw") == 2.87
    assert value(study, "alpha-3000-dea-1-ede-mode") == 1.2
    assert value(study, "alpha-3000-md2") == 0.755
    empty = {figure.algorithm for figure in study.published if not figure.cell}
    assert empty == {"Clock Controlled", "Linear Congruential", "Kaliski-Robshaw"}
    assert figure_named(study, "sparc-slc-ripe-md").cell.startswith("reference/ripemd/")


def test_the_block_ciphers_of_1994_stand_for_calls_that_need_the_one_before() -> None:
    """The paper encrypts one buffer again and again: no figure of it is held against independent calls."""
    study = find("roe-1994")
    blocks = [figure for figure in study.published if "block ciphers" in figure.place and figure.cell]
    assert len(blocks) == 14
    assert all("-cbc/encrypt@" in figure.cell for figure in blocks)
    groups = {group.name: group for group in study.groups}
    for figure in blocks:
        (group,) = (group for group in study.groups if figure.cell in group.selectors)
        assert group.tags == {"kind": "block"}
        beside = groups[f"independent-{group.name}"]
        assert beside.selectors == (figure.cell.replace("-cbc/", "-ecb/"),)
        assert beside.tags == {"kind": "independent"}
    about = {claim.id: claim.about for claim in study.claims}
    assert about["order-of-block-ciphers"] == "table"
    assert about["order-of-independent-block-ciphers"] == "question"


def test_the_ciphers_beyond_the_basic_set_are_all_that_the_catalogue_has() -> None:
    """None is chosen: every block cipher in ECB, but for the six of the text."""
    study = find("kompara-2020")
    tags = {"kind": "beyond the basic set"}
    named = {
        cell.cell.algorithm
        for group in study.groups
        if group.tags == tags
        for selector in group.selectors
        for cell in cells_of(selector)
    }
    families: dict[str, str] = {}
    for algorithm in load_catalogue().algorithms.values():
        if algorithm.id.endswith("-ecb"):
            families.setdefault(algorithm.family, algorithm.id)
    basic = {"aes", "camellia", "des", "des-ede3", "serpent", "twofish"}
    of = {algorithm.id: algorithm.family for algorithm in load_catalogue().algorithms.values()}
    assert {of[name] for name in named} == set(families) - basic
    assert len(named) == 14


def test_coretti_has_the_example_and_two_ratios_of_the_text() -> None:
    study = find("coretti-2019")
    assert len(study.published) == 11
    assert total(study, unit="s") == pytest.approx(0.483342, abs=1e-9)
    assert value(study, "aes-cbc-ratio") == 2.338246
    assert value(study, "aes-ofb-decrypt") == 0.116244
    assert value(study, "aes-cbc-ratio-evp-text") == 2.5
    assert value(study, "rc2-half-text") == 0.5
    for mode in ("cbc", "ecb", "ofb"):
        encrypt, decrypt = value(study, f"aes-{mode}-encrypt"), value(study, f"aes-{mode}-decrypt")
        assert encrypt is not None
        assert decrypt is not None
        assert value(study, f"aes-{mode}-ratio") == pytest.approx(encrypt / decrypt, rel=1e-4)


@pytest.mark.parametrize("name", [study.name for study in studies()])
def test_a_study_is_complete(name: str) -> None:
    study = find(name)
    assert study.claims
    assert study.assumptions
    assert len(study.notes) > 500
    assert study.selectors()
    assert study.selectors(quick=True)
    assert set(study.measuring_policy(quick=True).__slots__) == set(study.measuring_policy().__slots__)
    assert study.measuring_policy(quick=True).budget_s <= 60
    assert len({claim.id for claim in study.claims}) == len(study.claims)
    assert all(machine.id for machine in study.machines)
    assert {figure.machine for figure in study.published} == {machine.id for machine in study.machines}


def outcomes(name: str, machine: str = "") -> dict[str, str]:
    return {
        verdict.claim.id: str(verdict.outcome) for verdict in judge_in_print(find(name), machine).verdicts
    }


def test_the_printed_table_of_2020_contradicts_five_claims() -> None:
    verdicts = outcomes("kompara-2020")
    assert {id for id, outcome in verdicts.items() if outcome == "not reproduced"} == {
        "aes-ni-gain-by-library",
        "des-slow-per-block",
        "openssl-fastest-aes-ni-above-16",
        "aes-decrypts-slower",
        "aes-decrypts-slower-from-512",
        "serpent-decrypts-slower",
    }
    assert "inconclusive" not in verdicts.values()
    unprinted = {id for id, outcome in verdicts.items() if outcome == "not testable"}
    statistics = {
        claim for claim in unprinted if claim.startswith(("not-normal", "kruskal", "mann", "effects", "p-"))
    }
    assert len(statistics) == 11
    assert unprinted - statistics == {
        "aes-ni-gain-16-dependent",
        "few-ciphers-beyond-the-basic-set",
        "camellia-gains-from-aes-ni",
        "aes-ni-time-independent-of-data",
        "des-and-3des-least-safe",
    }
    assert len(verdicts) == 74
    machine = [claim.id for claim in find("kompara-2020").claims if claim.about == "machine"]
    assert len(machine) == 8
    assert {verdicts[id] for id in machine} == {"reproduced"}


def test_kompara_says_at_each_claim_on_one_or_two_blocks_that_calls_overlap_here() -> None:
    """At 16 and 32 B the experiment is another one, so a claim that names these sizes keeps the caution."""
    cautious = [
        verdict.claim
        for verdict in judge_in_print(find("kompara-2020")).verdicts
        if re.search(r"(?<![\d,])(?:16|32) bytes", verdict.rule)
    ]
    assert len(cautious) == 17
    assert [claim.id for claim in cautious if "overlap" not in claim.reading] == []


def test_faster_is_more_than_nothing_in_coretti_as_everywhere() -> None:
    """A limit of its own made DES in CBC faster to decrypt in the answer of a page and not in its claim."""
    claims = {claim.id: claim for claim in find("coretti-2019").claims}
    faster = claims["cbc-decrypts-faster"]
    assert isinstance(faster, RatioClaim)
    assert (faster.low, faster.words) == (1, ("faster",))


def test_a_statement_that_can_be_read_in_several_ways_counts_once() -> None:
    study = find("coretti-2019")
    readings = {claim.id: claim.reading_of for claim in study.claims if claim.reading_of}
    assert readings == {
        "evp-never-costs": "evp-always-good",
        "lowlevel-order-of-ciphers": "order-of-ciphers",
        "ecb-fastest-mode-of-both-directions": "ecb-fastest-mode",
        "size-does-not-matter-to-cost": "size-does-not-matter",
        "lowlevel-size-does-not-matter": "size-does-not-matter",
    }
    judgement = judge_in_print(study)
    findings = [claim for claim in study.claims if claim.counted_as == "finding"]
    assert sum(judgement.statements("finding").values()) == len(findings) - len(readings)


def test_what_only_a_table_shows_is_no_statement_of_the_author() -> None:
    """Roe draws no conclusion from his figure: of what the text itself says nothing but four sentences is left."""
    judgement = judge_in_print(find("roe-1994"))
    assert sum(judgement.statements("finding").values()) == 4
    assert sum(judgement.statements("table").values()) == 8


FASTEST_LIBRARIES = {
    "AES-NI": "OpenSSL",
    "AES": "OpenSSL",
    "Camellia": "OpenSSL",
    "Serpent": "Nettle",
    "DES": "Libgcrypt",
    "3DES": "Libgcrypt",
    "Twofish": "Libgcrypt",
}


@pytest.mark.parametrize(
    ("sizes", "agreeing"),
    [
        ([16], 2),
        ([32], 2),
        ([512], 7),
        ([10_000_000], 7),
        ([512, 10_000_000], 7),
        ([16, 32, 512, 10_000_000], 5),
    ],
)
def test_how_many_statements_on_the_fastest_library_agree_with_each_reading(
    sizes: list[int], agreeing: int
) -> None:
    """The readings of kompara's advice on libraries, in print: geometric means over both directions and these sizes."""
    costs: dict[str, dict[str, list[float]]] = {}
    for figure in find("kompara-2020").published:
        if figure.size_bytes in sizes and figure.value:
            costs.setdefault(figure.algorithm, {}).setdefault(figure.library, []).append(
                math.log(figure.value)
            )
    cells = {
        algorithm: min(libraries, key=lambda name: math.fsum(libraries[name]) / len(libraries[name]))
        for algorithm, libraries in costs.items()
    }
    assert sum(cells[algorithm] == library for algorithm, library in FASTEST_LIBRARIES.items()) == agreeing


@pytest.mark.parametrize(
    ("name", "machine", "contradicted", "testable"),
    [
        ("siedlecki-java", "core2-duo", set(), 5),
        ("roe-1994", "alpha-3000", set(), 9),
        ("roe-1994", "sparc-slc", set(), 9),
        ("openssl-speed-2013", "pentium-4", {"des-slow", "common-ciphers-cost-less"}, 8),
        ("openssl-speed-2013", "dual-xeon", {"common-ciphers-cost-less"}, 8),
        ("openssl-speed-2013", "atom-n270", {"des-slow"}, 8),
        ("coretti-2019", "core-i5", set(), 0),
        ("adiantum-2018", "cortex-a7", set(), 7),
        ("blake3-btrfs-2020", "xeon-e5-1620", set(), 4),
        ("openssl-chacha-2017", "core2", set(), 0),
        ("openssl-chacha-2017", "ryzen", set(), 1),
        ("openssl-aesni-2010", "westmere", set(), 12),
        ("gladman-1999", "pentium-pro", set(), 13),
        ("ripemd-1996", "pentium-buffer", set(), 7),
        ("ripemd-1996", "pentium-cache", set(), 8),
        ("kyber-2020", "haswell", set(), 8),
        ("kyber-2020", "cortex-m4", set(), 0),
        (
            "bingmann-2008",
            "ath-2000",
            {"cryptopp-consistently-good", "nettle-behind", "libgcrypt-slowest", "3des-slowest"},
            9,
        ),
        ("bingmann-2008", "p4-3200", set(), 9),
        ("cryptsetup-2017", "i7-4720hq", {"serpent-clearly-fastest-in-xts"}, 8),
        ("blake3-2020", "cascade-lake", set(), 12),
        ("aegis-2023", "zen4", set(), 8),
        ("aegis-2023", "m1", {"crates-alike", "four-times-boringssl"}, 8),
        ("openssl-sha-2023", "ryzen", {"ratio-of-one-and-a-half", "zen4-keccak"}, 9),
        ("openssl-sha-2023", "k8", {"sha3-near-plain-sha-256", "zen4-keccak", "ryzen-sha-512"}, 6),
    ],
)
def test_what_the_printed_figures_say_of_the_claims(
    name: str, machine: str, contradicted: set[str], testable: int
) -> None:
    verdicts = outcomes(name, machine)
    assert {id for id, outcome in verdicts.items() if outcome == "not reproduced"} == contradicted
    assert sum(outcome in ("reproduced", "not reproduced") for outcome in verdicts.values()) == testable


def test_the_machines_of_2013_agree_roughly_and_differ() -> None:
    numbers = {
        verdict.claim.id: verdict.numbers for verdict in judge_in_print(find("openssl-speed-2013")).verdicts
    }
    for id, low, high in (("results-carry-over-roughly", 0.788, 0.979), ("machines-differ", 0.734, 0.976)):
        values = [number.value for number in numbers[id]]
        assert len(values) == 9
        assert (min(values), max(values)) == pytest.approx((low, high), abs=0.001)


@pytest.mark.parametrize("name", [study.name for study in studies()])
def test_the_two_sides_of_a_ratio_have_names_of_their_own(name: str) -> None:
    for verdict in judge_in_print(find(name)).verdicts:
        for number in verdict.numbers:
            own, over, other = number.name.partition(" over ")
            assert not over or own != other, f"{verdict.claim.id}: {number.name}"
