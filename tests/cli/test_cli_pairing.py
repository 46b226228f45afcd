"""Which cell is compared with which, and what is said when a word names nothing."""

from __future__ import annotations

import json

import pytest

from perbyte.model import parse_address
from perbyte.stats.pairing import pair_cells


def cells(*addresses):
    return [parse_address(f"{address}+contract=message/1") for address in addresses]


def paired(a, b):
    """The pairs as short addresses, and what is left of either side."""
    first_side, other = (
        [cell.address.replace("+contract=message/1", "") for cell in cells(*side)] for side in (a, b)
    )
    pairing = pair_cells(cells(*a), cells(*b))
    return (
        [(first_side[i], other[j]) for i, j in pairing.pairs],
        [first_side[i] for i in pairing.left_a],
        [other[j] for j in pairing.left_b],
    )


def test_two_libraries_meet_on_the_same_algorithm_and_nowhere_else():
    a = ["x/aes-128-cbc/encrypt@16", "x/aes-256-cbc/encrypt@16", "x/des-cbc/encrypt@16"]
    b = ["y/aes-256-cbc/encrypt@16", "y/aes-128-cbc/encrypt@16", "y/rc4/encrypt@16"]
    pairs, left_a, left_b = paired(a, b)
    assert pairs == [(a[0], b[1]), (a[1], b[0])]
    assert (left_a, left_b) == ([a[2]], [b[2]]), "DES is not set against RC4 while AES can be compared"


def test_tiers_of_the_same_runner_meet_before_other_runners():
    a = ["x/sha-256/digest@64+cpu=soft", "y/sha-256/digest@64+cpu=soft"]
    b = ["x/sha-256/digest@64", "y/sha-256/digest@64", "z/sha-256/digest@64"]
    pairs, left_a, left_b = paired(a, b)
    assert pairs == [(a[0], b[0]), (a[1], b[1])]
    assert (left_a, left_b) == ([], [b[2]])


def test_of_two_runners_the_same_tiers_meet():
    a = ["x/sha-256/digest@64", "x/sha-256/digest@64+cpu=soft", "x/sha-256/digest@64+cpu=tables"]
    b = ["y/sha-256/digest@64+cpu=soft", "y/sha-256/digest@64"]
    pairs, left_a, left_b = paired(a, b)
    assert pairs == [(a[0], b[1]), (a[1], b[0])]
    assert (left_a, left_b) == ([a[2]], [])


def test_other_tiers_meet_where_no_nearer_partner_is():
    a = ["x/sha-256/digest@64", "x/sha-256/digest@64+cpu=tables"]
    b = ["y/sha-256/digest@64", "z/sha-256/digest@64+cpu=soft"]
    pairs, _, _ = paired(a, b)
    assert pairs == [(a[0], b[0]), (a[1], b[1])]


def test_one_runner_against_all_others_meets_each_and_not_itself():
    a = ["x/sha-256/digest@64"]
    b = ["x/sha-256/digest@64", "y/sha-256/digest@64", "z/sha-256/digest@64"]
    pairs, left_a, left_b = paired(a, b)
    assert pairs == [(a[0], b[1]), (a[0], b[2])]
    assert (left_a, left_b) == ([], [])


def test_other_algorithms_meet_where_no_algorithm_is_on_both_sides_in_the_same_runner_first():
    a = ["x/aes-128-cbc/encrypt@16", "y/aes-128-cbc/encrypt@16"]
    b = ["x/camellia-128-cbc/encrypt@16", "y/camellia-128-cbc/encrypt@16", "x/seed-cbc/encrypt@16"]
    pairs, _, _ = paired(a, b)
    assert pairs == [(a[0], b[0]), (a[0], b[2]), (a[1], b[1])]


def test_size_contract_and_operation_agree_unless_each_side_has_one_operation():
    a = ["x/aes-128-cbc/encrypt@16", "x/aes-128-cbc/decrypt@32"]
    b = ["y/aes-128-cbc/encrypt@16", "y/aes-128-cbc/encrypt@32", "y/aes-128-cbc/decrypt@64"]
    assert paired(a, b)[0] == [(a[0], b[0])]
    words, other = ["x/aes-128-cbc/encrypt@16"], ["x/aes-128-cbc/decrypt@16", "x/aes-128-cbc/decrypt@32"]
    assert paired(words, other) == ([(words[0], other[0])], [], [other[1]])
    assert not pair_cells(
        cells("x/rc4/encrypt@16"), [parse_address("y/rc4/encrypt@16+contract=stream/1")]
    ).pairs


# --- the command ----------------------------------------------------------------------------------------


def test_selectors_with_globs_are_no_cross_product(measured):
    answer = measured.world.perbyte("compare", "alpha/*", "beta/*@16,64", "--run", measured.path, "--json")
    assert answer.returncode == 0, answer.stderr
    rows = json.loads(answer.stdout)["rows"]
    assert len(rows) == 3
    addresses = [[figure["address"] for figure in row["figures"]] for row in rows]
    assert all(a.replace("alpha", "beta") == b for a, b in addresses)
    assert "left out: 2 cells of alpha/* without a counterpart" in answer.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nothing", "alpha/*"), ("no run of that name in", "fits no cell of the run", "alpha/sha-256")),
        (("alpha/*", "gamma/*"), ("'gamma/*' fits no cell of the run", "that run has", "beta/aes-128-ecb")),
        (("./nothing/x", "alpha/*"), ("'./nothing/x' fits no cell", "is not a run: no such directory")),
        (("alpha/a b", "alpha/*"), ("no run", "holds a blank")),
    ],
)
def test_a_side_that_is_nothing_is_told_what_it_was_taken_for(measured, words, message):
    answer = measured.world.perbyte("compare", *words, "--run", measured.path)
    assert answer.returncode == 2
    for part in message:
        assert part in answer.stderr


def test_a_run_and_something_that_is_none(measured):
    answer = measured.world.perbyte("compare", measured.path, "nothing")
    assert answer.returncode == 2
    assert "'nothing' is not a run" in answer.stderr
    assert "all sides must be runs" in answer.stderr


def test_without_any_run_nothing_is_taken_for_a_selector(perbyte):
    answer = perbyte("compare", "before", "after")
    assert answer.returncode == 2
    assert "'before' is not a run: no such directory here, and no run of that name in" in answer.stderr
    assert "perbyte measure" in answer.stderr


def test_a_run_can_be_called_by_its_name(world, script, quick):
    world.add(script("alpha"))
    assert world.perbyte("measure", "alpha/sha-256@16", *quick).returncode == 0
    [place] = (world.home / "runs").iterdir()
    assert world.shown(place.name)["run"]["id"] == place.name
    for words in (("compare",), ("report",), ("study", "judge"), ("merge",), ("query", "SELECT 1")):
        answer = world.perbyte(*words, place.name, place / "run.json")
        assert answer.returncode == 2, words
        assert f"the run '{place.name}' is named twice" in answer.stderr
    for words in (("show",), ("export",), ("compare", place.name), ("report",), ("study", "judge")):
        answer = world.perbyte(*words, "another")
        assert answer.returncode == 2, words
        assert "no run 'another'" in answer.stderr or "'another' is not a run" in answer.stderr
        assert place.name in answer.stderr
