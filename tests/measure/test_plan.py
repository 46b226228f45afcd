"""The plan: which cells come of what was asked for, and what is said when nothing does."""

from __future__ import annotations

import pytest
from fake_scripts import fault, row

from perbyte.errors import UsageError
from perbyte.measure.plan import DEFAULT_SIZES, TWIN_CELLS, TWIN_MAX_BYTES, Request, choose_twins, wanted_cpus
from perbyte.model import Cell

FAMILY = [
    row(algorithm, operation, contract)
    for algorithm in ("aes-128-cbc", "aes-256-cbc", "camellia-128-cbc")
    for operation in ("encrypt", "decrypt")
    for contract in ("stream/1", "message/1")
]
HASHES = [row("sha-256", "digest", contract) for contract in ("oneshot/1", "stream/1")]


@pytest.fixture
def two(lab):
    """Runner alpha with ciphers and hashes, runner beta with hashes only; both in both tiers."""
    return lab.survey(
        {"name": "alpha", "operations": FAMILY + HASHES},
        {"name": "beta", "operations": HASHES},
        cpus=("full", "soft"),
    )


def short(cells):
    return sorted(f"{c.runner}/{c.algorithm}/{c.operation}@{c.size_bytes}" for c in cells)


def test_globs_select_across_algorithms_and_operations(lab, two):
    plan = lab.plan(two, "alpha/aes-*-cbc/*@16,8192")
    assert short(plan.cells) == sorted(
        f"alpha/aes-{bits}-cbc/{operation}@{size}"
        for bits in (128, 256)
        for operation in ("encrypt", "decrypt")
        for size in (16, 8192)
    )
    assert {cell.contract for cell in plan.cells} == {"stream/1"}  # the default of block ciphers
    assert {cell.cpu for cell in plan.cells} == {"full"}
    assert plan.failures == ()


def test_a_bare_algorithm_means_every_runner_that_has_it(lab, two):
    plan = lab.plan(two, "sha-256@64")
    assert short(plan.cells) == ["alpha/sha-256/digest@64", "beta/sha-256/digest@64"]
    assert {cell.contract for cell in plan.cells} == {"oneshot/1"}


def test_an_alias_is_as_good_as_the_name(lab, two):
    assert (
        lab.plan(two, "alpha/aes128-cbc/encrypt@16").cells
        == lab.plan(two, "alpha/aes-128-cbc/encrypt@16").cells
    )


def test_sizes_come_from_the_selector_then_the_request_then_the_default(lab, two):
    assert {c.size_bytes for c in lab.plan(two, "beta/sha-256@32", sizes=(64,)).cells} == {32}
    assert {c.size_bytes for c in lab.plan(two, "beta/sha-256", sizes=(64, 128)).cells} == {64, 128}
    assert tuple(c.size_bytes for c in lab.plan(two, "beta/sha-256").cells) == DEFAULT_SIZES


def test_contracts_never_mix_unless_asked_for(lab, two):
    single = lab.plan(two, "alpha/aes-128-cbc/encrypt@16+contract=message")
    assert [cell.contract for cell in single.cells] == ["message/1"]
    both = lab.plan(two, "alpha/aes-128-cbc/encrypt@16", contracts=("message/1", "stream/1"))
    assert {cell.contract for cell in both.cells} == {"message/1", "stream/1"}


def test_tiers_are_cells_of_their_own_in_processes_of_their_own(lab, two):
    plan = lab.plan(two, "*/sha-256@64+cpu=soft,full")
    assert {(c.runner, c.cpu) for c in plan.cells} == {
        (runner, cpu) for runner in ("alpha", "beta") for cpu in ("full", "soft")
    }
    assert len({cell.process for cell in plan.cells}) == 4
    assert {c.cpu for c in lab.plan(two, "*/sha-256@64", cpus=("soft",)).cells} == {"soft"}


def test_operations_narrow_what_selectors_say(lab, two):
    plan = lab.plan(two, "alpha/aes-128-cbc@16", operations=("decrypt",))
    assert short(plan.cells) == ["alpha/aes-128-cbc/decrypt@16"]


def test_two_selectors_that_overlap_give_each_cell_once(lab, two):
    plan = lab.plan(two, "*/sha-256@64", "beta/*@64,128")
    assert len(plan.cells) == len(set(plan.cells)) == 3


def test_a_printed_address_is_a_selector_of_exactly_that_cell(lab, two):
    for cell in lab.plan(two, "alpha/*@16+contract=*+cpu=*").cells:
        assert lab.plan(two, cell.address).cells == (cell,)


def test_wanted_cpus_are_those_named_and_all_for_a_glob(lab):
    from perbyte.catalogue import parse_selector

    def wanted(*asks, cpus=None):
        return wanted_cpus(Request(tuple(map(parse_selector, asks)), cpus=cpus), ("full", "soft", "avx2"))

    assert wanted("sha-256") == ("full",)
    assert wanted("sha-256+cpu=soft", "md5") == ("soft", "full")
    assert wanted("sha-256+cpu=*") == ("full", "soft", "avx2")
    assert wanted("sha-256", cpus=("soft",)) == ("soft",)
    assert wanted("sha-256+cpu=avx2", cpus=("soft",)) == ("avx2",)


def test_a_size_that_does_not_fit_is_said_and_costs_that_size_only(lab, two):
    plan = lab.plan(two, "alpha/aes-128-cbc/encrypt@16,17")
    assert short(plan.cells) == ["alpha/aes-128-cbc/encrypt@16"]
    [failure] = plan.failures
    assert failure.kind == "unsupported"
    assert failure.address == "alpha/aes-128-cbc/encrypt@17+contract=stream/1"
    assert "17 bytes is not a multiple of 16" in failure.message


def test_only_sizes_that_do_not_fit_is_an_error_and_no_empty_run(lab, two):
    with pytest.raises(UsageError, match="17 bytes is not a multiple of 16") as error:
        lab.plan(two, "alpha/aes-128-cbc/encrypt@17")
    assert error.value.hint


def test_a_size_that_fits_a_stream_mode_fits(lab, two):
    assert [c.size_bytes for c in lab.plan(two, "beta/sha-256@17").cells] == [17]


@pytest.mark.parametrize(
    ("ask", "message", "hint"),
    [
        ("*/aes-128-cbd", "aes-128-cbd", "aes-128-cbc"),
        ("*/zzz-*", "zzz-", "list algorithms"),
        ("beta/aes-128-cbc", "fits no cell", "alpha/aes-128-cbc"),
        ("alpha/aes-128-cbc/digest", "fits no cell", "alpha/aes-128-cbc"),
        ("alpha/aes-128-cbc/encrypt+contract=setup", "fits no cell", "contracts"),
        ("sha-256/encrypt", "fits no cell", "beta/sha-256 with digest"),
        ("alpha/serpent-128-cbc", "no serpent-128-cbc in alpha, beta", "perbyte list providers"),
        ("*/serpent-128-cbc", "no serpent-128-cbc in", "perbyte list providers serpent-128-cbc names"),
    ],
)
def test_what_fits_nothing_is_an_error_with_a_way_out(lab, two, ask, message, hint):
    with pytest.raises(UsageError) as error:
        lab.plan(two, ask)
    assert message in str(error.value)
    assert hint in f"{error.value.hint}"


def test_one_selector_that_fits_nothing_is_not_lost_among_others(lab, two):
    with pytest.raises(UsageError, match="serpent"):
        lab.plan(two, "sha-256@16", "serpent-128-cbc")


def test_a_runner_that_does_not_answer_is_a_failure_and_no_end(lab):
    surveyed = lab.survey(
        {"name": "alpha", "operations": HASHES},
        {"name": "beta", "operations": HASHES, "faults": [fault("hello", "crash")]},
    )
    plan = lab.plan(surveyed, "sha-256@16")
    assert short(plan.cells) == ["alpha/sha-256/digest@16"]
    [failure] = plan.failures
    assert (failure.kind, failure.runner) == ("absent", "beta")
    assert "SIGSEGV" in failure.message


@pytest.mark.parametrize(
    "broken",
    [
        {"faults": [fault("hello", "crash", how=3)]},
        {"faults": [fault("start", "end")]},
        {"protocol": 2},
        {"tier": "soft"},
    ],
)
def test_nothing_answers(lab, broken):
    surveyed = lab.survey({"name": "alpha", "operations": HASHES, **broken})
    assert len(surveyed.failures) == 1
    with pytest.raises(UsageError, match="no runner answers") as error:
        lab.plan(surveyed, "sha-256@16")
    assert "perbyte doctor" in f"{error.value.hint}"


def test_an_operation_the_catalogue_does_not_know_is_not_planned(lab):
    surveyed = lab.survey({"name": "alpha", "operations": [*HASHES, row("rot-13", "encrypt", "message/1")]})
    assert {cell.algorithm for cell in lab.plan(surveyed, "*/*@16").cells} == {"sha-256"}


def test_a_tier_that_a_runner_lacks_is_left_out(lab, fake_runners):
    surveyed = lab.survey({"name": "alpha", "operations": HASHES}, cpus=("full", "avx9"))
    assert set(surveyed.hellos) == {("alpha", "full")}


def cells_of(runner, sizes, cpu="full"):
    return [Cell(runner, "aes-128-ecb", "encrypt", size, "message/1", cpu) for size in sizes]


def test_twins_are_second_processes_of_the_process_that_has_most():
    cells = cells_of("alpha", (16, 32)) + cells_of("beta", (16, 32, 64))
    twins = choose_twins(cells)
    assert {twin.runner for twin in twins} == {"beta"}
    assert all(twin.twin == 1 and twin.process != cells[-1].process for twin in twins)


def test_twins_are_few_short_and_the_same_every_time():
    cells = cells_of("alpha", [16 * i for i in range(1, 60)]) + cells_of("alpha", (2 * TWIN_MAX_BYTES,))
    twins = choose_twins(cells)
    assert len(twins) == TWIN_CELLS == len(set(twins))
    assert max(twin.size_bytes for twin in twins) <= TWIN_MAX_BYTES
    assert twins == choose_twins(cells)
    spread = [twin.size_bytes for twin in twins]
    assert spread[0] < 16 * 10
    assert spread[-1] > 16 * 40, "they must not all stand at the beginning of the list"


def test_long_cells_alone_have_no_twins():
    assert choose_twins(cells_of("alpha", (TWIN_MAX_BYTES * 4,))) == ()
    assert choose_twins([]) == ()


def test_twins_ride_in_a_plan_unless_told_otherwise(lab, two):
    plan = lab.plan(two, "beta/sha-256@16,32", twins=True)
    assert [twin.address for twin in plan.twins] == [
        f"beta/sha-256/digest@{size}+contract=oneshot/1+twin=1" for size in (16, 32)
    ]
    assert plan.everything == plan.cells + plan.twins
