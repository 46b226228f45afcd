"""Figures of eight further sources: how many, what they add up to, and the corners of each table.

Sums were taken by the sources' own columns, by another program than the ones that wrote the files.
"""

from __future__ import annotations

from collections import Counter

import pytest
from figures_of import figure_named, total

from perbyte.studies import find


def test_gladman_has_three_rows_of_set_up_ten_of_encryption_and_des() -> None:
    study = find("gladman-1999")
    assert Counter(figure.place for figure in study.published) == {
        "row Key Set-up (128)": 19,
        "row Key Set-up (192)": 19,
        "row Key Set-up (256)": 19,
        "row Encrypt (128)": 10,
        "sentence above the table": 1,
    }
    assert total(study, place="row Encrypt (128)") == 5814
    assert figure_named(study, "setup-rijndael-128-decrypt").value == 1389
    assert figure_named(study, "setup-twofish-256").value == 15457
    assert figure_named(study, "setup-magenta-256").value == 37
    assert figure_named(study, "encrypt-serpent").value == 952


def test_bingmann_has_61_files_of_two_lengths_on_three_computers() -> None:
    study = find("bingmann-2008")
    assert Counter((figure.machine, figure.size_bytes) for figure in study.published) == {
        (machine, size): 61 for machine in ("p4-3200", "ath-2000", "p3-1000") for size in (64, 65536)
    }
    assert {figure.calls for figure in study.published} == {2}
    assert figure_named(study, "p4-3200-beecrypt-blowfish-ecb-64").value == 8.338685902309351e-05
    assert figure_named(study, "p4-3200-beecrypt-rijndael-ecb-65536").value == 0.002741095582592834
    wanted = "cryptopp/aes-256-ecb/{encrypt,decrypt}@64+contract=rekey/1+cpu=soft"
    assert figure_named(study, "p3-1000-cryptopp-rijndael-ecb-64").cell == wanted


def test_cryptsetup_has_three_whole_listings_and_one_of_encryption() -> None:
    study = find("cryptsetup-2017")
    assert Counter(figure.machine for figure in study.published) == {
        "i7-4720hq": 29,
        "ssd-2016": 29,
        "core2-duo": 24,
        "laptop-2007": 17,
    }
    assert total(study, machine="core2-duo", operation="encrypt") == pytest.approx(1315.4)
    assert total(study, machine="laptop-2007", operation="encrypt") == pytest.approx(1274.4)
    assert figure_named(study, "i7-4720hq-aes-xts-512b-decrypt").value == 2012.9
    assert figure_named(study, "ssd-2016-serpent-cbc-128b-encrypt").value == 75.2
    assert figure_named(study, "ssd-2016-pbkdf2-whirlpool").value == 204161
    assert figure_named(study, "core2-duo-aes-xts-512b-encrypt").cell.startswith(
        "libgcrypt/aes-256-xts/encrypt@65536"
    )


def test_the_paper_on_blake3_has_eight_curves_on_two_machines() -> None:
    study = find("blake3-2020")
    assert set(Counter((figure.machine, figure.algorithm) for figure in study.published).values()) == {16}
    assert len(study.published) == 2 * 8 * 16
    assert figure_named(study, "cascade-lake-blake3-64").value == 3.658508222516906
    assert figure_named(study, "cascade-lake-kangarootwelve-1048576").value == 0.6624442975740585
    assert figure_named(study, "arm1176-blake2bp-64").value == 982.6253155854007
    assert figure_named(study, "arm1176-sha256-1048576").value == 36.51364289598732


def test_aegis_has_five_tables_with_37_speeds() -> None:
    study = find("aegis-2023")
    assert Counter(figure.machine for figure in study.published) == {
        "zen4": 11,
        "m1": 11,
        "graviton": 7,
        "wasm-zen4": 4,
        "wasm-m1": 4,
    }
    assert total(study, machine="zen4") == pytest.approx(253.38e6)
    assert total(study, machine="graviton") == pytest.approx(11.56e6)
    assert total(study, machine="wasm-zen4") == pytest.approx(763.21e3)
    assert figure_named(study, "m1-aegis128l").value == 14270000
    assert figure_named(study, "zen4-aes128-gcm-boring").value == 6330000


def test_the_tables_of_sha_have_68_and_14_figures_of_19_processors() -> None:
    study = find("openssl-sha-2023")
    assert Counter(figure.algorithm for figure in study.published) == {
        "SHA-256": 42,
        "SHA-512": 26,
        "SHA3-256": 14,
    }
    assert len(study.machines) == 19
    assert total(study, algorithm="SHA3-256") == pytest.approx(195.0)
    assert total(study, algorithm="SHA-512", library="OpenSSL, scalar") == pytest.approx(205.01)
    with_instructions = [figure for figure in study.published if figure.library.endswith("SHA instructions")]
    assert {(figure.machine, figure.value) for figure in with_instructions} == {
        ("cannon-lake", 3.55),
        ("rocket-lake", 2.43),
        ("ryzen", 2.05),
        ("goldmont", 4.16),
    }
    for machine in study.machines:
        stands = Counter(
            figure.cell for figure in study.published if figure.machine == machine.id and figure.cell
        )
        assert set(stands.values()) == {1}


def test_the_pentium_has_two_tables_of_six_hash_functions() -> None:
    study = find("ripemd-1996")
    assert Counter(figure.place for figure in study.published) == {
        f"page, table 1, {column}": 6 for column in ("cycles", "Mbit/sec", "relative performance")
    } | {f"paper, table 1, {column}": 6 for column in ("Assembly", "C")}
    assert total(study, place="page, table 1, cycles") == 3500
    assert total(study, place="paper, table 1, Assembly") == pytest.approx(511.4)
    assert total(study, place="paper, table 1, C") == pytest.approx(261.2)
    assert figure_named(study, "ripemd-160-cycles").value == 1013
    assert figure_named(study, "sha-1-buffer-assembly").value == 46.5


@pytest.mark.parametrize("name", ["md4", "md5", "ripemd", "ripemd-128", "sha-1", "ripemd-160"])
def test_the_columns_of_the_page_on_the_pentium_follow_from_each_other(name: str) -> None:
    study = find("ripemd-1996")
    cycles, mbit, relative = (
        figure_named(study, f"{name}-{column}").value for column in ("cycles", "mbit", "relative")
    )
    assert cycles
    assert mbit == pytest.approx(64 * 8 * 90 / cycles, abs=0.06)
    assert relative == pytest.approx(241 / cycles, abs=0.006)


def test_kyber_has_48_figures_on_haswell_and_18_on_the_small_core() -> None:
    study = find("kyber-2020")
    assert Counter(figure.place for figure in study.published) == {
        "table 2": 36, "table 2, in parentheses": 12, "table 3": 18, "2.1": 2,
    }  # fmt: skip
    assert total(study, place="table 2", algorithm="Kyber768") == 883080
    assert total(study, place="table 2", algorithm="Kyber1024-90s") == 2177264
    assert total(study, place="table 3", algorithm="Kyber512") == 4026322
    assert figure_named(study, "kyber-512-decapsulate-with-keygen-avx2").value == 59088
    assert figure_named(study, "kyber-1024-encapsulate-avx2").value == 97324
    assert figure_named(study, "kyber-768-decapsulate-ref").cell.startswith("liboqs/ml-kem-768/decapsulate@0")
