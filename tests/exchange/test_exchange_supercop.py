"""SUPERCOP's database: what is taken of its lines, and what is not."""

from __future__ import annotations

import pytest

from perbyte.exchange import make_benchmark_run, read_benchmarks

START = "20260330 host amd64 20261123"
TEXT = f"""\
{START} crypto_hash sha256/timingleaks implementation crypto_hash/sha256/ref -
{START} crypto_hash sha256/timingleaks cpucycles_persecond 4000000000
{START} crypto_hash sha256/timingleaks cycles 64 900 +0-10+20
{START} crypto_hash sha256/timingleaks cycles 64 800 +0-10+20
{START} crypto_hash sha256/timingleaks cycles 4096 xyz
{START} crypto_stream salsa20/constbranchindex cpucycles_persecond 2000000000
{START} crypto_stream salsa20/constbranchindex cycles 64 100
{START} crypto_stream salsa20/constbranchindex xor_cycles 64 120
{START} crypto_aead aes128gcmv1/timingleaks encrypt_cycles 13000064 500
{START} crypto_aead aes128gcmv1/timingleaks encrypt_cycles 64000064 900
{START} crypto_kem mlkem768/timingleaks enc_cycles - 50000 +0
{START} crypto_kem mlkem768/timingleaks enc_randombytes - 32 +0
{START} crypto_hash nobodys/timingleaks cycles 64 900
{START} crypto_hash sha256/timingleaks tryfails crypto_hash/sha256/x gcc error 1
"""


def test_the_best_of_each_primitive_is_taken_with_the_clock_of_its_machine():
    readings = read_benchmarks("supercop", TEXT, "data")
    results = {(reading.name, reading.size_bytes): (reading.ns, reading.cycles) for reading in readings}
    assert results["sha256 digest", 64] == (pytest.approx(800 / 4), 800)
    assert set(results) == {
        ("sha256 digest", 64),
        ("salsa20 encrypt", 64),
        ("aes128gcm seal", 64),
        ("mlkem768 encapsulate", 32),
        ("nobodys digest", 64),
    }


def test_names_without_hyphens_are_found_and_others_are_noted():
    readings = read_benchmarks("supercop", TEXT, "data")
    run = make_benchmark_run(readings, "supercop", name="x", source="data", runner="supercop")
    assert {(cell.cell.algorithm, cell.cell.operation, cell.cell.size_bytes) for cell in run.cells} == {
        ("sha-256", "digest", 64),
        ("salsa20", "encrypt", 64),
        ("aes-128-gcm", "seal", 64),
        ("ml-kem-768", "encapsulate", 32),
    }
    assert any("nobodys" in remark for remark in run.conditions.input["remarks"])
