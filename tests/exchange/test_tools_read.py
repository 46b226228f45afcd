"""Outputs of tools as these print them, with lines of our own: what becomes a cell, and what a note."""

from __future__ import annotations

import pytest

from perbyte.errors import UsageError
from perbyte.exchange import make_benchmark_run, read_benchmarks, read_origin
from perbyte.model import Run

BSSL = """\
Did 1560 RSA 2048 signing operations in 1000000us (1560.0 ops/sec)
Did 57000 RSA 2048 verify (same key) operations in 1000000us (57000.0 ops/sec)
Did 48000 RSA 2048 verify (fresh key) operations in 1000000us (48000.0 ops/sec)
Did 88000 AEAD-AES-128-GCM seal init operations in 1000000us (88000.0 ops/sec)
Did 4000000 AES-128-GCM (16 bytes) seal operations in 1000000us (4000000.0 ops/sec): 64.0 MB/s
Did 2000000 AEAD-AES-256-GCM open (256 bytes) operations in 1000000us (2000000.0 ops/sec): 512.0 MB/s
Did 1000000 EVP-AES-128-GCM encrypt (1350 bytes) operations in 1000000us (1000000.0 ops/sec): 1350.0 MB/s
Did 500000 SHA-256 (256 bytes) operations in 1000000us (500000.0 ops/sec): 128.0 MB/s
Did 30000 Ed25519 key generation operations in 1000000us (30000.0 ops/sec)
Did 25000 Curve25519 arbitrary point multiplication operations in 1000000us (25000.0 ops/sec)
Did 60000 Curve25519 base-point multiplication operations in 1000000us (60000.0 ops/sec)
Did 9000 ECDH P-256 operations in 1000000us (9000.0 ops/sec)
Did 7000 AES-128-CBC-SHA1 (256 bytes) seal operations in 1000000us (7000.0 ops/sec): 1.8 MB/s
"""
WOLF = """\
 wolfSSL version 5.7.0
wolfCrypt Benchmark (block bytes 1048576, min 1.0 sec each)
RNG                        245 MiB took 1.012 seconds,  242.098 MiB/s Cycles per byte =  10.91
AES-128-CBC-enc            710 MiB took 1.003 seconds,  700.000 MiB/s Cycles per byte =   3.73
AES-128-GCM-dec           1280.0 MiB took 1.000 seconds, 1280.000 MiB/s Cycles per byte = 2.48
SHA                        500 MiB took 1.000 seconds,  500.000 MiB/s
RSA     2048   public      40200 ops took 1.000 sec, avg 0.025 ms, 40200.0 ops/sec
ECDSA [      SECP256R1]   256     sign     43500 ops took 1.001 sec, avg 0.023 ms, 43500.0 ops/sec
CURVE  25519   agree       25000 ops took 1.000 sec, avg 0.040 ms, 25000.0 ops/sec
ML-KEM  512    128  encap  90000 ops took 1.000 sec, avg 0.011 ms, 90000.0 ops/sec
"""
CRYPTSETUP = """\
# Tests are approximate using memory only (no storage IO).
PBKDF2-sha1      1702231 iterations per second for 256-bit key
argon2id      4 iterations, 116417 memory, 4 parallel threads (CPUs) for 256-bit key (requested 2000 ms time)
[  106.196295] random: uninitialized urandom read (16 bytes read)
#     Algorithm |       Key |      Encryption |      Decryption
        aes-cbc        128b      1000.0 MiB/s      4000.0 MiB/s
    serpent-cbc        128b               N/A               N/A
        aes-xts        256b      2000.0 MiB/s      2000.0 MiB/s
xchacha12,aes-adiantum        256b       100.0 MiB/s       110.0 MiB/s
"""
MBED = """\
  SHA-256                  :       8000 KiB/s,         12 cycles/byte
  AES-CBC-128              :      12000 KiB/s,        100 ns/byte
  AES-XTS-256              :       8000 KiB/s,          9 cycles/byte
  AES-GCM-128              :       2400 KiB/s,         40 cycles/byte
  MD5                      :       6889 KB/s
  CTR_DRBG (NOPR)          :       3000 KiB/s,         30 cycles/byte
  RSA-2048                 :   5000  public/s
  ECDSA-secp256r1          :    1500  sign/s
"""
LIBTEST = """\
test sha256_10                      ... bench:          59 ns/iter (+/- 0) = 169 MB/s
test bench::aes_gcm_128_seal_16384  ... bench:       3,494.25 ns/iter (+/- 1,187.1) = 4688 MB/s
test md5_update_1024                ... bench:         100 ns/iter (+/- 1) = 10240 MB/s
"""
CONSOLE = """\
Run on (8 X 3600 MHz CPU s)
---------------------------------------------------------------
Benchmark                     Time             CPU   Iterations
---------------------------------------------------------------
BM_SHA256/16384           14294 ns        14290 ns        48967 bytes_per_second=1.0678G/s
BM_SHA1/64/real_time        100 ns           50 ns      9999999 bytes_per_second=610.352Mi/s
BM_MD5/64_mean              101 ns          101 ns            3
BM_MD5/64_median            100 ns          100 ns            3
BM_MD5/64_stddev              1 ns            1 ns            3
"""
JMH = """\
# VM version: JDK 21.0.4, OpenJDK 64-Bit Server VM
# Threads: 1 thread, will synchronize iterations
Benchmark                     (dataSize)  (keyLength)  (provider)   Mode  Cnt       Score      Error  Units
AESGCMBench.decrypt                  128          128              thrpt   40  200000.000 ± 1000.000  ops/s
AESGCMBench.encrypt                16384          256        SUN   thrpt    2   10000.000             ops/s
AESGCMBench.encryptMultiPart        1500          192              thrpt    2  238530.436             ops/s
AESGCMBench.encrypt:·gc.alloc       1500          192              thrpt    2      30.436            MB/sec
"""


def run(form: str, text: str) -> Run:
    return make_benchmark_run(
        read_benchmarks(form, text, "x"),
        form,
        name="x",
        source="x",
        runner="x",
        origin=read_origin(form, text),
    )


def rates(form: str, text: str) -> dict[tuple[str, str, int], float]:
    """Calls per second."""
    return {
        (cell.cell.algorithm, cell.cell.operation, cell.cell.size_bytes): pytest.approx(
            1e9 / cell.ns_per_call, rel=1e-3
        )
        for cell in run(form, text).cells
    }


@pytest.mark.parametrize(
    ("form", "text", "cells", "notes"),
    [
        (
            "bssl-speed",
            BSSL,
            {
                ("rsa-2048", "sign", 32): 1560,
                ("rsa-2048", "verify", 32): 57000,
                ("aes-128-gcm", "seal", 16): 4_000_000,
                ("aes-256-gcm", "open", 256): 2_000_000,
                ("aes-128-gcm", "seal", 1350): 1_000_000,
                ("sha-256", "digest", 256): 500_000,
                ("ed25519", "keygen", 32): 30_000,
                ("x25519", "derive", 32): 25_000,
            },
            ["fresh", "init", "base-point", "ECDH P-256", "SHA1"],
        ),
        (
            "wolfcrypt",
            WOLF,
            {
                ("aes-128-cbc", "encrypt", 2**20): 700,
                ("aes-128-gcm", "open", 2**20): 1280,
                ("sha-1", "digest", 2**20): 500,
                ("ecdsa-p256", "sign", 32): 43_500,
                ("x25519", "derive", 32): 25_000,
                ("ml-kem-512", "encapsulate", 32): 90_000,
            },
            ["RNG", "raw"],
        ),
        (
            "cryptsetup",
            CRYPTSETUP,
            {
                ("aes-128-cbc", "encrypt", 65536): 16_000,
                ("aes-128-cbc", "decrypt", 65536): 64_000,
                ("aes-128-xts", "encrypt", 65536): 32_000,
                ("aes-128-xts", "decrypt", 65536): 32_000,
                ("adiantum-xchacha12", "encrypt", 65536): 1600,
                ("adiantum-xchacha12", "decrypt", 65536): 1760,
            },
            ["PBKDF2", "argon2id"],
        ),
        (
            "mbedtls",
            MBED,
            {
                ("sha-256", "digest", 1024): 8000,
                ("aes-128-cbc", "encrypt", 1024): 12_000,
                ("aes-256-xts", "encrypt", 1024): 8000,
                ("aes-128-gcm", "seal", 1024): 2400,
                ("md5", "digest", 1024): 6889,
                ("ecdsa-p256", "sign", 32): 1500,
            },
            ["DRBG", "public"],
        ),
        (
            "libtest",
            LIBTEST,
            {("sha-256", "digest", 10): 1e9 / 59, ("aes-128-gcm", "seal", 16384): 1e9 / 3494.25},
            ["update"],
        ),
        (
            "google-benchmark",
            CONSOLE,
            {
                ("sha-256", "digest", 16384): 1e9 / 14294,
                ("sha-1", "digest", 64): 1e7,
                ("md5", "digest", 64): 1e7,
            },
            [],
        ),
        (
            "jmh",
            JMH,
            {("aes-128-gcm", "open", 128): 200_000, ("aes-256-gcm", "seal", 16384): 10_000},
            ["'multi'"],
        ),
    ],
)
def test_rows_are_cells_or_notes(
    form: str, text: str, cells: dict[tuple[str, str, int], float], notes: list[str]
):
    assert rates(form, text) == cells
    remarks = [
        remark for remark in run(form, text).conditions.input["remarks"] if "stand at 32" not in remark
    ]
    assert len(remarks) == len(notes)
    assert all(note in remark for note, remark in zip(notes, remarks, strict=True))


@pytest.mark.parametrize("total", ["MiB", "MB"])
def test_megabytes_of_wolfcrypt_are_taken_where_they_are_told_from_mebibytes(total: str):
    rows = "".join(
        f"AES-128-CBC-enc {5 * n} {total} took 1.0 seconds, {5 * n}.0 {total}/s\n" for n in range(1, 8)
    )
    head = "wolfCrypt Benchmark (block bytes 1048576, min 1.0 sec each)\n"
    assert rates("wolfcrypt", head + rows) == {("aes-128-cbc", "encrypt", 2**20): 5}
    small = run("wolfcrypt", head.replace("1048576", "16") + rows)
    assert bool(small.cells) == (total == "MiB")


def test_json_of_bssl_has_the_same_meaning():
    text = '[{"description": "SHA-256 (256 bytes)", "numCalls": 500000, "microseconds": 1000000, "bytesPerCall": 256}]'
    assert rates("bssl-speed", text) == {("sha-256", "digest", 256): 500_000}


def test_rates_of_several_threads_are_divided_and_said():
    text = JMH.replace("# Threads: 1 thread,", "# Threads: 4 threads,")
    (first, *_) = run("jmh", text).cells
    assert first.ns_per_call == pytest.approx(20_000)
    assert any("4 threads" in warning.text for warning in first.warnings)


def test_cold_calls_and_cycles_without_a_clock_are_notes():
    assert not run("jmh", JMH.replace(" thrpt ", " ss    ").replace("ops/s", "us/op")).cells
    text = "chacha20poly1305/encrypt/1024\n   time: [5730.9 cycles 5734.1 cycles 5738.3 cycles]\n"
    assert "ticks" in run("criterion", text).conditions.input["remarks"][0]


@pytest.mark.parametrize(
    ("form", "cut"),
    [
        ("bssl-speed", "Did 1560 RSA 2048 signing operations in 10"),
        ("wolfcrypt", "AES-128-CBC-enc   710 MiB took 1.003 sec"),
        ("cryptsetup", "   aes-cbc        128b      1000.0 MiB/s"),
        ("libtest", "test sha256_10   ... bench:      59 ns/it"),
    ],
)
def test_a_row_that_is_cut_off_is_said(form: str, cut: str):
    with pytest.raises(UsageError, match=r"line 1: .*cut off"):
        read_benchmarks(form, cut, "x")


def test_machine_and_version_are_taken_from_every_tool_that_tells_them():
    go = read_origin("benchfmt", "goos: linux\ngoarch: amd64\ncpu: Example CPU\npkg: x\ncpu: Other CPU\n")
    assert (go.machine.cpu_model, go.machine.architecture) == ("Example CPU", "x86_64")
    assert "several machines" in go.remarks[0]
    assert read_origin("jmh", JMH).version.startswith("JDK 21.0.4")
    assert read_origin("jmh", '[{"jdkVersion": "21"}, {"jdkVersion": "17"}]').remarks
    assert read_origin("wolfcrypt", WOLF).version == "5.7.0"
    google = read_origin("google-benchmark", '{"context": {"num_cpus": 2, "mhz_per_cpu": 3000}}')
    assert (google.machine.cores, google.machine.clock_hz_nominal) == (2, 3e9)
    python = read_origin(
        "pyperf", '{"benchmarks": [{"metadata": {"cpu_model_name": "C", "python_version": "3.11"}}]}'
    )
    assert (python.machine.cpu_model, python.version) == ("C", "3.11")
    assert read_origin("pyperf", "{").version == ""


def test_a_row_of_nothing_costs_only_itself():
    rows = (
        "wolfCrypt Benchmark (block bytes 1048576, min 1.0 sec each)\n"
        "AES-128-GCM-enc             90 MiB took 1.000 seconds,   90.000 MiB/s Cycles per byte =  40.96\n"
        "AES-128-GCM-dec       0 bytes took 0.012 seconds,    0.000 bytes/s Cycles per byte =   0.00\n"
    )
    assert rates("wolfcrypt", rows) == {("aes-128-gcm", "seal", 2**20): 90}
    assert "it worked on nothing" in run("wolfcrypt", rows).conditions.input["remarks"][0]


@pytest.mark.parametrize(
    ("name", "algorithm"), [("AES-128", "aes-128-ecb"), ("AES-256 [base]", "aes-256-ecb")]
)
def test_botan_gives_a_block_cipher_whole_blocks(name: str, algorithm: str):
    text = f"{name} encrypt buffer size 4096 bytes: 4000.0 MiB/sec (12000 MiB in 3000.0 ms)\n"
    assert list(rates("botan-speed", text)) == [(algorithm, "encrypt", 4096)]
    assert not run("botan-speed", text.replace(name, "Rijndael")).cells


WOLF_HEAD = "wolfCrypt Benchmark (block bytes 1024, min 1.0 sec each)"
WOLF_ROW = "took 1.000 seconds, {} KiB/s"


def test_rows_whose_names_begin_with_a_digit_or_stand_side_by_side_are_read_or_named():
    row = f"3DES  110 KiB {WOLF_ROW.format('110.000')}"
    key = "ECC   [      SECP384R1]   384  key gen  5000 ops took 1.000 sec, avg 0.200 ms, 5000.0 ops/sec"
    assert rates("wolfcrypt", f"{WOLF_HEAD}\n{row}\n{key}\n") == {
        ("des-ede3-cbc", "encrypt", 1024): 110,
        ("ecdsa-p384", "keygen", 32): 5000,
    }
    left, right = (f"MD5  90 KiB {WOLF_ROW.format(rate)}" for rate in ("90.0", "80.0"))
    beside = f"{WOLF_HEAD}\t{WOLF_HEAD}\n{left}   |\t{right}\n"
    read = run("wolfcrypt", beside)
    assert len(read.cells) == 1
    assert "is there already" in read.conditions.input["remarks"][0]


def test_units_of_mbed_tls_are_of_1024_by_any_name_and_times_are_times():
    text = (
        "  MD5        :   2048 Kb/s\n  ECDSA-secp256r1 :  200 ms/ sign\n  ECDSA-secp256r1 :  400 ms/verify\n"
    )
    assert rates("mbedtls", text) == {
        ("md5", "digest", 1024): 2048,
        ("ecdsa-p256", "sign", 32): 5,
        ("ecdsa-p256", "verify", 32): 2.5,
    }


def test_numbers_are_read_as_the_users_language_writes_them():
    assert rates("cryptsetup", "aes-cbc 128b 1000,5 MiB/s 4000,0 MiB/s\n") == {
        ("aes-128-cbc", "encrypt", 65536): 16008,
        ("aes-128-cbc", "decrypt", 65536): 64000,
    }


def test_lines_of_libtest_are_read_in_lists_and_below_the_crate_that_they_are_of():
    assert rates("libtest", " * chacha20::bench::chacha20_1k  5529 ns/iter (+/- 107) = 185 MB/s\n") == {
        ("chacha20", "encrypt", 1024): 1e9 / 5529
    }
    crate = "     Running unittests (target/release/deps/{}-0123456789abcdef)\n"
    bench = "test bench4_10k ... bench:  5,000 ns/iter (+/- 4) = 2000 MB/s\n"
    text = crate.format("chacha20") + bench + crate.format("gizmo") + bench
    assert rates("libtest", text) == {("chacha20", "encrypt", 10_000): 200_000}
    assert "no algorithm" in run("libtest", text).conditions.input["remarks"][0]


def test_differences_of_criterion_may_have_a_typographic_minus():
    change = "  change:\n    time:   [\u221238.2% \u221237.5% \u221236.8%] (p = 0.00)\n"
    text = f"sha256/1024\n  time:   [1.0 us 2.0 us 3.0 us]\n{change}"
    assert rates("criterion", text) == {("sha-256", "digest", 1024): 500_000}
