"""Addresses of cells: printed and parsed without loss, equal only for equal calls."""

from __future__ import annotations

import itertools

import pytest

from perbyte.model import Cell, parse_address

CELLS = [
    Cell(runner, algorithm, operation, size, contract, cpu, twin)
    for runner, algorithm, operation, size, contract, cpu, twin in itertools.product(
        ("openssl", "jca-bc"),
        ("aes-128-cbc", "sha-512/256".replace("/", "-")),
        ("encrypt", "digest"),
        (0, 16, 10_000_000),
        ("stream/1", "message/1"),
        ("full", "soft"),
        (0, 1),
    )
]


def test_an_address_reads_as_it_is_documented():
    cell = Cell("openssl", "aes-128-cbc", "encrypt", 16, "message/1")
    assert cell.address == "openssl/aes-128-cbc/encrypt@16+contract=message/1"
    soft = Cell("openssl", "aes-128-cbc", "encrypt", 16, "message/1", "soft", 1)
    assert soft.address == "openssl/aes-128-cbc/encrypt@16+contract=message/1+cpu=soft+twin=1"


def test_every_address_parses_back_to_its_cell():
    for cell in CELLS:
        assert parse_address(cell.address) == cell


def test_addresses_are_as_different_as_their_cells():
    assert len({cell.address for cell in CELLS}) == len(set(CELLS)) == len(CELLS)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "openssl",
        "openssl/aes-128-cbc/encrypt",
        "openssl/aes-128-cbc/encrypt@16",
        "openssl/aes-128-cbc/encrypt@+contract=message/1",
        "openssl/aes-128-cbc/encrypt@-1+contract=message/1",
        "openssl/aes-128-cbc/encrypt@16+contract=",
        "openssl/aes-128-cbc/encrypt@16+contract=message/1+colour=red",
        "openssl/aes-128-cbc/encrypt@16+contract=message/1+twin=x",
        "a/openssl/aes-128-cbc/encrypt@16+contract=message/1",
        "/aes-128-cbc/encrypt@16+contract=message/1",
    ],
)
def test_what_is_no_address_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        parse_address(text)


def test_tiers_and_twins_have_processes_of_their_own_and_sizes_do_not():
    processes = {}
    for cell in CELLS:
        processes.setdefault(cell.process, set()).add((cell.runner, cell.cpu, cell.twin))
    assert len(processes) == 8
    assert all(len(whose) == 1 for whose in processes.values())


def test_cells_sort_by_runner_algorithm_operation_and_size():
    small, large = (Cell("a", "aes-128-cbc", "encrypt", size, "message/1") for size in (9, 16))
    assert sorted([large, small]) == [small, large]
