"""Differences are claimed when they are there, and ties are called ties."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from perbyte.model import Cell, CellFigure, Estimate, Interval, NoiseFloor, Quality
from perbyte.stats.across import ACROSS_RUNS, floor_across
from perbyte.stats.compare import (
    SHARED_CORE,
    Answer,
    Cost,
    compare,
    compare_costs,
    cost_of,
    mean_cost,
    noise_floor,
)
from perbyte.stats.interval import median_spread
from perbyte.stats.quantity import geometric_mean
from perbyte.stats.standing import stand


def figure_with(
    epochs, *, runner="openssl", half=0.0, dominated_by="epochs", ghz=2.0, **changes
) -> CellFigure:
    value = float(np.median(epochs))
    whole = CellFigure(
        cell=Cell(runner, "aes-128-ctr", "encrypt", 64, "message/1"),
        library=runner,
        library_version="1",
        cycles_per_call=value,
        ns_per_call=value / ghz,
        interval=Interval(value - half, value + half, 0.95, dominated_by),
        samples=100,
        clean_samples=90,
        epochs=len(epochs),
        epoch_cycles=tuple(map(float, epochs)),
        epoch_ns=tuple(e / ghz for e in epochs),
        calls_per_sample=10,
        quality=Quality.GOOD,
        cycle_source="probe",
    )
    return replace(whole, **changes)


FAST = figure_with([100.0, 100.1, 99.9])
SLOW = figure_with([110.0, 110.2, 109.9], runner="nettle")


def test_a_clear_difference_is_claimed_both_ways():
    there, back = compare(FAST, SLOW), compare(SLOW, FAST)
    assert (there.claimed, back.claimed) == (True, True)
    assert there.ratio.value == pytest.approx(1.1)
    assert there.ratio.low < 1.1 < there.ratio.high
    assert there.ratio.low == pytest.approx(1 / back.ratio.high)
    assert there.unit == "cycles"
    assert "no A/A pair" in there.reason


def test_an_interval_that_covers_one_claims_nothing_and_wide_as_it_is_no_tie_either():
    pair = compare(FAST, figure_with([100.0, 101.5, 99.5]))
    assert (pair.claimed, pair.tie, pair.answer) == (False, False, Answer.UNDECIDED)
    assert "covers 1" in pair.reason


def test_within_the_noise_floor_nothing_is_claimed_and_a_large_one_makes_no_ties():
    near = figure_with([100.5, 100.6, 100.4])
    assert compare(FAST, near, NoiseFloor(0.001, ())).claimed
    pair = compare(FAST, near, NoiseFloor(0.01, ()))
    assert (pair.answer, pair.margin) == (Answer.TIED, 0.02), "0.5 % apart, known to 1 %"
    assert "noise floor of 1 %" in pair.reason
    farther = figure_with([101.2, 101.3, 101.1])
    assert compare(FAST, farther, NoiseFloor(0.013, ())).answer is Answer.UNDECIDED
    assert compare(FAST, near, NoiseFloor(0.2, ())).answer is Answer.UNDECIDED, "a large floor makes no ties"


def test_pairing_removes_what_epochs_share():
    shared = np.array([1.0, 1.02, 0.98])
    a, b = figure_with(100 * shared), figure_with(101 * shared)
    assert compare(a, b).claimed
    assert not compare(a, b, same_run=False).claimed


def test_samples_bound_the_width_when_epochs_agree_by_chance():
    a = figure_with([100.0, 100.0, 100.0], half=2.0, dominated_by="samples")
    b = figure_with([101.0, 101.0, 101.0], half=2.0, dominated_by="samples")
    pair = compare(a, b)
    assert not pair.claimed
    assert pair.dominated_by == "samples"


def test_single_epochs_use_the_figures_own_intervals():
    a = figure_with([100.0], half=1.0)
    assert not compare(a, figure_with([101.0], half=1.0)).claimed
    pair = compare(a, figure_with([105.0], half=1.0))
    assert pair.ratio.above(1)
    assert (pair.answer, pair.claimed) == (Answer.UNDECIDED, False), "one process tells nothing of the next"


FIVE = [100.0, 100.1, 99.9, 100.05, 99.95]


@pytest.mark.parametrize("quality", [Quality.NOISY, Quality.UNSETTLED])
def test_nothing_is_claimed_of_a_figure_in_doubt(quality):
    doubtful = replace(SLOW, quality=quality)
    for pair in (compare(FAST, doubtful), compare(doubtful, FAST)):
        assert not pair.ratio.within(0.99, 1.01), "the ratio is given all the same"
        assert pair.answer is Answer.UNDECIDED
        assert pair.doubt.startswith("noisy")
        assert pair.against(0.01) is Answer.UNDECIDED
        assert pair.seconds_to_decide(0.01, 10.0) == math.inf


def test_across_runs_nothing_is_claimed_while_intervals_overlap():
    a, near = figure_with(FIVE, half=3.0), figure_with([105.0, 105.1, 104.9, 105.2, 104.8], half=2.5)
    far = replace(near, interval=Interval(103.5, 106.5))
    assert compare(a, near).answer is Answer.SLOWER, "measured in turn, epoch by epoch"
    pair = compare(a, near, same_run=False)
    assert (pair.answer, pair.dominated_by) == (Answer.UNDECIDED, "intervals")
    assert (pair.ratio.low, pair.ratio.high) == pytest.approx((102.5 / 103, 107.5 / 97))
    assert compare(a, far, same_run=False).answer is Answer.SLOWER
    assert compare(far, a, same_run=False).answer is Answer.FASTER


def test_a_lopsided_interval_counts_on_the_side_where_it_lies():
    up = figure_with(FIVE, interval=Interval(99.9, 120.0))
    slower = figure_with([110.0, 110.1, 109.9, 110.05, 109.95], half=0.1)
    faster = figure_with([90.0, 90.1, 89.9, 90.05, 89.95], half=0.1)
    assert not compare(up, slower, same_run=False).claimed, "a may well cost as much"
    assert compare(up, faster, same_run=False).answer is Answer.FASTER


def test_across_runs_few_processes_claim_nothing():
    three = figure_with([110.0, 110.1, 109.9], half=0.1)
    pair = compare(figure_with(FIVE, half=0.1), three, same_run=False)
    assert (pair.answer, pair.doubt) == (Answer.UNDECIDED, "fewer than 4 quiet processes")
    assert compare(FAST, SLOW).answer is Answer.SLOWER, "in one run three will do"


def test_a_limit_has_three_answers():
    pair = compare(FAST, SLOW, NoiseFloor(0.02, ()))  # 1.1, from 1.078 to 1.122
    answers = [pair.against(limit) for limit in (0.05, 0.1, 0.2)]
    assert answers == [Answer.SLOWER, Answer.UNDECIDED, Answer.TIED]
    assert compare(SLOW, FAST).against(0.01) is Answer.TIED, "faster is not slower"


def test_how_long_it_takes_to_decide_follows_from_widths_and_time():
    a = figure_with([100.0, 102.0, 98.0, 101.0, 99.0])
    b = figure_with([102.0, 99.0, 103.0, 98.0, 108.0])
    pair = compare(a, b)
    away = math.log(1.05 / pair.ratio.value)
    assert pair.against(0.05) is Answer.UNDECIDED
    assert pair.seconds_to_decide(0.05, 10.0) == pytest.approx(10 * ((pair.measured / away) ** 2 - 1))
    assert compare(a, b, NoiseFloor(0.2, ())).seconds_to_decide(0.05, 10.0) == math.inf
    assert pair.seconds_to_decide(10.0, 10.0) == 0.0, "decided already"


def of(standings) -> list[tuple[str, str]]:
    return [(figure.cell.runner, standing.value) for figure, standing in standings]


def test_nobody_comes_first_by_a_figure_in_doubt_or_while_intervals_overlap():
    noisy = replace(FAST, quality=Quality.NOISY)
    both = [("openssl", "unknown"), ("nettle", "unknown")]
    assert of(stand([noisy, SLOW], None)) == [("openssl", "fastest")], "what disturbs a figure only adds"
    far = figure_with([SHARED_CORE * 105.0] * 3, runner="far")
    lied = stand([replace(FAST, quality=Quality.DOUBTED), far], None)
    assert of(lied) == [("openssl", "unknown"), ("far", "unknown")], "it may cost anything"
    assert of(stand([FAST, replace(SLOW, quality=Quality.NOISY)], None)) == both, "no winner's mark"
    assert of(stand([FAST, replace(far, quality=Quality.NOISY)], None)) == [("openssl", "fastest")]
    wide = [replace(FAST, interval=Interval(99.0, 106.0)), replace(SLOW, interval=Interval(105.0, 111.0))]
    assert compare(*wide).claimed
    assert of(stand(wide, None)) == both


def test_unknown_widths_never_claim():
    unknown = figure_with([120.0], interval=Interval(0.0, math.inf, 0.95, "samples"))
    pair = compare(FAST, unknown)
    assert not pair.claimed
    assert (pair.ratio.low, pair.ratio.high) == (0.0, math.inf)


def test_other_cycle_sources_are_compared_in_nanoseconds():
    for other in (
        replace(SLOW, cycle_source="pmu"),
        replace(SLOW, cycles_per_call=None, epoch_cycles=(), cycle_source="none"),
    ):
        pair = compare(FAST, replace(other, ns_per_call=50.0, epoch_ns=(50.0, 50.1, 49.9)))
        assert pair.unit == "ns"
        assert pair.ratio.value == pytest.approx(1.0)
        assert not pair.claimed
        assert "nanoseconds" in pair.reason


def test_costs_that_are_not_positive_have_no_ratio():
    pair = compare(FAST, figure_with([-0.1, 0.0, 0.1]))
    assert not pair.claimed
    assert math.isnan(pair.ratio.value)


def test_doubts_travel_with_the_comparison():
    pair = compare(FAST, replace(SLOW, quality=Quality.NOISY, cell=replace(SLOW.cell, contract="stream/1")))
    assert "noisy" in pair.reason
    assert "message/1 and stream/1" in pair.reason


def test_the_fastest_are_all_that_are_known_to_be_like_the_best():
    tied = figure_with([100.05, 100.15, 99.95], runner="cryptopp")
    standings = stand([SLOW, tied, FAST], NoiseFloor(0.002, ()))
    assert of(standings) == [("cryptopp", "tied"), ("openssl", "tied")]
    assert of(stand([SLOW, FAST], None)) == [("openssl", "fastest")]
    assert stand([FAST], None) == stand([], None) == ()


def test_not_known_is_no_tie():
    """Four key exchanges with intervals of a per cent; of two, three samples in 550 were clean."""
    rivals = [
        figure_with([68_100, 68_300, 67_900], runner="aws-lc", half=150),
        figure_with([98_700, 98_900, 98_500], runner="openssl", half=300, quality=Quality.NOISY),
        figure_with([127_000, 127_200, 126_800], runner="go", half=400, quality=Quality.NOISY),
        figure_with([140_000, 140_200, 139_800], runner="far", half=400),
    ]
    standings = stand(rivals, NoiseFloor(0.0008, ()))
    assert of(standings) == [("aws-lc", "unknown"), ("openssl", "unknown"), ("go", "unknown")]
    sure = [replace(rival, quality=Quality.GOOD) for rival in rivals]
    assert of(stand(sure, NoiseFloor(0.0008, ()))) == [("aws-lc", "fastest")]


def test_one_rival_of_whom_nothing_is_known_leaves_nobody_a_tie():
    tied = figure_with([100.05, 100.15, 99.95], runner="cryptopp")
    vague = figure_with([101.0, 96.0, 107.0], runner="nettle", half=6.0)
    standings = stand([FAST, tied, vague], NoiseFloor(0.002, ()))
    assert {standing for _, standing in of(standings)} == {"unknown"}
    assert len(standings) == 3


@pytest.mark.parametrize(
    ("floor", "precision", "margin"),
    [(None, 0.0, 0.01), (0.004, 0.0, 0.01), (0.008, 0.0, 0.016), (0.2, 0.0, 0.02), (0.2, 0.05, 0.05)],
)
def test_the_margin_of_a_tie_is_what_was_asked_for_or_what_can_be_told(floor, precision, margin):
    pair = compare(FAST, SLOW, NoiseFloor(floor, ()) if floor is not None else None, precision=precision)
    assert pair.margin == margin


def test_ties_are_called_so_rarely_where_costs_differ_by_the_margin():
    """Two one-sided tests: wrong in at most one case of twenty at the margin itself, where it is worst."""
    random = np.random.default_rng(12)

    def draw(centre):
        return figure_with(centre * (1 + 0.002 * random.standard_normal(5)))

    comparisons = [compare(draw(100.0), draw(101.0)) for _ in range(1000)]
    assert sum(pair.tie for pair in comparisons) <= 0.05 * 1000
    same = [compare(draw(100.0), draw(100.0)) for _ in range(1000)]
    assert sum(pair.tie for pair in same) >= 0.9 * 1000, "and where they do not, it is told"


def test_epochs_are_pairs_by_their_numbers():
    shared = np.array([1.0, 1.02, 0.98, 1.05, 0.96, 1.01])
    a = figure_with(100 * shared[:5], epoch_numbers=(0, 1, 2, 3, 4))
    b = figure_with(101 * shared[1:], epoch_numbers=(1, 2, 3, 4, 5))
    assert compare(a, b).claimed, "four epochs that both have"
    assert not compare(replace(a, epoch_numbers=()), replace(b, epoch_numbers=())).claimed, (
        "pairs of strangers"
    )
    apart = replace(b, epoch_numbers=(4, 5, 6, 7, 8))
    assert compare(a, apart).ratio == compare(a, apart, same_run=False).ratio, (
        "one epoch in common is no pair"
    )
    whole = mean_cost([cost_of(figure_side, "cycles", source=1) for figure_side in (a, b)])
    assert whole.numbers == (1, 2, 3, 4)
    assert whole.epochs == pytest.approx(tuple(math.sqrt(100 * 101) * shared[1:5]))


def test_what_has_no_cost_or_no_interval_is_not_ranked():
    imported = figure_with([50.0], runner="listing", interval=Interval(0.0, math.inf, dominated_by="unknown"))
    nothing = figure_with([-1.0, 0.0, 1.0], runner="nothing")
    assert of(stand([imported, nothing, SLOW, FAST], None)) == [("openssl", "fastest")]
    assert stand([imported, nothing, FAST], None) == ()
    # without cycles of all, time decides
    blind = replace(SLOW, cycles_per_call=None, epoch_cycles=(), cycle_source="none", ns_per_call=40.0)
    blind = replace(blind, epoch_ns=(40.0, 40.1, 39.9), interval=Interval(39.9, 40.1))
    assert of(stand([blind, FAST], None)) == [("nettle", "fastest")]


def test_the_interval_is_never_narrower_than_the_noise_floor():
    pair = compare(FAST, SLOW, NoiseFloor(0.05, ()))
    assert pair.dominated_by == "noise floor"
    assert (pair.ratio.low, pair.ratio.high) == pytest.approx((1.1 / 1.05, 1.1 * 1.05))
    assert pair.claimed
    assert "noise floor is 5 %" in pair.reason
    assert compare(FAST, SLOW).dominated_by == "epochs"


def test_nothing_is_claimed_while_the_interval_covers_one_whatever_it_comes_from():
    random = np.random.default_rng(3)
    for _ in range(200):
        a, b = (figure_with(100 * (1 + 0.003 * random.standard_normal(4))) for _ in range(2))
        pair = compare(a, b, NoiseFloor(0.002, ()))
        assert pair.claimed is not (pair.ratio.low <= 1 <= pair.ratio.high)
        assert pair.claimed is ("excludes" in pair.reason)
        assert compare(b, a, NoiseFloor(0.002, ())).claimed is pair.claimed
        assert pair.tie is (not pair.claimed and pair.ratio.within(1 / 1.01, 1.01))


def test_an_interval_that_reaches_zero_bounds_nothing():
    wide = figure_with([100.0], half=150.0)
    pair = compare(FAST, wide)
    assert (pair.ratio.low, pair.ratio.high, pair.answer) == (
        0.0,
        math.inf,
        Answer.UNDECIDED,
    )


def test_means_are_geometric_and_paired_epoch_by_epoch():
    shared = np.array([1.0, 1.02, 0.98])
    costs = [cost_of(figure_with(level * shared), "cycles", per=64, source=1) for level in (50, 200)]
    whole = mean_cost(costs)
    assert whole.estimate.value == pytest.approx(100 / 64)
    assert whole.epochs == pytest.approx(tuple(100 / 64 * shared))
    same = mean_cost(
        [cost_of(figure_with(level * shared), "cycles", per=64, source=1) for level in (51, 202)]
    )
    assert compare_costs(whole, same).claimed, "what epochs share cancels out"
    other = mean_cost([replace(costs[0], source=2), costs[1]])
    assert other.epochs == (), "epochs of several runs are no epochs together"
    uneven = mean_cost([replace(costs[0], epochs=(1.0, 2.0)), costs[1]])
    assert uneven.epochs == ()
    assert mean_cost(costs[:1]) is costs[0]
    by_samples = mean_cost([replace(costs[0], by_samples=0.02), replace(costs[1], by_samples=0.04)])
    assert by_samples.by_samples == pytest.approx(0.03)


def test_a_mean_has_the_means_of_the_ends_and_needs_something():
    mean = geometric_mean([Estimate(4.0, 1.0, 9.0), Estimate(9.0, 4.0, 16.0)])
    assert (mean.value, mean.low, mean.high) == pytest.approx((6.0, 2.0, 12.0))
    assert geometric_mean([Estimate(4.0, 0.0, 9.0), Estimate(9.0, 4.0, 16.0)]).low == 0.0
    with pytest.raises(ValueError, match="at least one"):
        geometric_mean([])


def test_costs_in_time_carry_the_relative_width():
    cost = cost_of(figure_with([100.0, 101.0], half=2.0), "ns", per=10)
    assert cost.estimate.value == pytest.approx(100.5 / 2 / 10)
    assert cost.estimate.half_width == pytest.approx(2.0 / 2 / 10)
    assert cost.epochs == pytest.approx((5.0, 5.05))
    assert cost.by_samples == 0.0
    assert cost_of(
        figure_with([100.0], half=2.0, dominated_by="samples"), "cycles"
    ).by_samples == pytest.approx(0.02)


def test_the_larger_noise_floor_counts():
    small, large = NoiseFloor(0.011, ()), NoiseFloor(0.012, ())
    assert floor_across([small, None, large]) == large
    assert floor_across([None, None]) is None
    assert floor_across([NoiseFloor(0.001, ()), None]).relative == ACROSS_RUNS, "what no run of its own shows"
    assert floor_across([NoiseFloor(0.05, (), 0.001)]).others == ACROSS_RUNS


def test_false_claims_are_rare_and_real_differences_are_found():
    random = np.random.default_rng(8)
    draw = lambda centre: figure_with(centre * (1 + 0.001 * random.standard_normal(5)))  # noqa: E731
    false = sum(compare(draw(100.0), draw(100.0)).claimed for _ in range(400))
    missed = sum(not compare(draw(100.0), draw(101.0)).claimed for _ in range(400))
    assert false <= 0.10 * 400
    assert missed <= 0.02 * 400


def test_the_noise_floor_is_the_worst_pair():
    twin = replace(FAST, cell=replace(FAST.cell, twin=1), cycles_per_call=100.2)
    other = replace(SLOW, cell=replace(SLOW.cell, twin=1), cycles_per_call=109.0)
    floor = noise_floor([(FAST, twin), (SLOW, other)])
    assert floor.relative == pytest.approx(1 / 110)
    assert floor.pairs[0] == (FAST.cell.address, pytest.approx(1.002))
    assert noise_floor([]) is None


@pytest.mark.parametrize("doubtful", [(0,), (1,), (0, 1)])
def test_pairs_of_good_figures_decide_the_noise_floor(doubtful):
    def twin_of(figure, cost):
        return replace(figure, cell=replace(figure.cell, twin=1), cycles_per_call=cost)

    pair = [SLOW, twin_of(SLOW, 150.0)]
    for index in doubtful:
        pair[index] = replace(pair[index], quality=Quality.NOISY)
    good = (FAST, twin_of(FAST, 100.3))
    floor = noise_floor([tuple(pair), good])
    assert floor.relative == pytest.approx(0.003)
    assert len(floor.pairs) == 2
    assert noise_floor([tuple(pair)]).relative == pytest.approx(150 / 110 - 1)
    assert noise_floor([good, (FAST, twin_of(FAST, 0.0))]) == noise_floor([good])
    assert noise_floor([(replace(FAST, cycles_per_call=0.0), twin_of(FAST, 5.0))]) is None


def test_without_a_good_pair_only_what_no_interval_explains_makes_the_noise_floor_large():
    def pair(first, second):
        a, b = (replace(figure_with(epochs), quality=Quality.IMPRECISE) for epochs in (first, second))
        return a, replace(b, cell=replace(b.cell, twin=1))

    near = [pair([100.0, 100.1, 99.9], [number, number + 0.1, number - 0.1]) for number in (100.1, 100.2)]
    wide = pair([100.0, 92.0, 108.0], [108.0, 112.0, 99.0])
    assert compare(*wide).measured > 0.08
    assert noise_floor([*near, wide]).relative == pytest.approx(0.002)
    apart = pair([100.0, 100.1, 99.9], [108.0, 108.2, 107.8])
    floor = noise_floor([*near, apart])
    assert floor.relative == pytest.approx(math.exp(math.log(1.08) - compare(*apart).measured) - 1)
    assert 0.07 < floor.relative < 0.08
    assert floor.others == pytest.approx(0.002), "of other runners the middle pair speaks"
    good = noise_floor(
        [*near, apart, (FAST, replace(FAST, cell=replace(FAST.cell, twin=1), cycles_per_call=101.0))]
    )
    assert (good.relative, good.others) == (pytest.approx(0.01), pytest.approx(0.01))


def spread_of(values) -> float:
    logs = np.log(values)
    return float(logs.var(ddof=1)) / len(values) * median_spread(len(values)) ** 2


@pytest.mark.parametrize("epochs", [2, 3, 5])
def test_pairs_are_students_t_on_the_logarithms_of_their_ratios(epochs):
    a = np.array([100.0, 101.0, 103.0, 99.0, 100.5])[:epochs]
    b = np.array([110.0, 112.5, 113.0, 111.0, 109.0])[:epochs]
    pair = compare(figure_with(a), figure_with(b))
    half = stats.t.ppf(0.975, epochs - 1) * math.sqrt(spread_of(b / a))
    ratio = float(np.median(b) / np.median(a))
    assert (pair.ratio.value, pair.dominated_by) == (pytest.approx(ratio), "epochs")
    assert pair.ratio.low == pytest.approx(ratio * math.exp(-half), rel=1e-6)
    assert pair.ratio.high == pytest.approx(ratio * math.exp(half), rel=1e-6)


@pytest.mark.parametrize(("first", "second"), [(2, 3), (3, 2), (4, 5), (3, 3)])
def test_runs_are_compared_by_welchs_interval(first, second):
    a = np.array([100.0, 101.0, 103.0, 99.0])[:first]
    b = np.array([110.0, 115.0, 113.0, 118.0, 109.0])[:second]
    pair = compare(figure_with(a), figure_with(b), same_run=False)
    parts = spread_of(a), spread_of(b)
    df = sum(parts) ** 2 / (parts[0] ** 2 / (first - 1) + parts[1] ** 2 / (second - 1))
    half = stats.t.ppf(0.975, max(1, int(df))) * math.sqrt(sum(parts))
    ratio = float(np.median(b) / np.median(a))
    assert pair.ratio.low == pytest.approx(ratio * math.exp(-half), rel=1e-6)


def test_epochs_without_spread_and_costs_without_epochs():
    same = compare(figure_with([100.0, 100.0]), figure_with([110.0, 110.0, 110.0]), same_run=False)
    assert (same.ratio.low, same.ratio.high) == pytest.approx((1.1, 1.1))
    bare = Cost(Estimate(100.0, 99.0, 101.0))
    assert (bare.epochs, bare.by_samples) == ((), 0.0)
    pair = compare_costs(bare, Cost(Estimate(200.0, 198.0, 202.0)))
    assert pair.ratio.high == pytest.approx(2 * math.exp(math.hypot(0.01, 0.01)))
    assert len({bare, bare, pair}) == 2, "values: frozen, so they can be members of a set"


def test_one_figure_without_cycles_is_enough_for_nanoseconds():
    blind = replace(SLOW, cycles_per_call=None, epoch_cycles=())
    assert compare(FAST, blind).unit == compare(blind, FAST).unit == "ns"
    nothing = replace(FAST, cycles_per_call=0.0, ns_per_call=0.0, interval=Interval(0.0, 0.0))
    assert cost_of(nothing, "ns", per=2.0).estimate == Estimate(0.0, 0.0, 0.0)
    at_most = figure_with([100.0], half=100.0)
    assert compare(FAST, at_most).ratio.high == math.inf, "a cost that could be zero bounds nothing"


def test_costs_below_one_cycle_are_paired_as_all_others():
    small = figure_with([0.5, 0.51, 0.49])
    pair = compare(small, figure_with([0.55, 0.561, 0.539]))
    assert pair.ratio.value == pytest.approx(1.1)
    assert pair.ratio.high - pair.ratio.low < 0.01, "what both epochs share is no difference"


def test_two_epochs_of_one_run_are_enough_to_claim_and_one_is_not():
    two = compare(figure_with([100.0, 100.1]), figure_with([120.0, 120.1]))
    pair = compare(figure_with([100.0]), figure_with([120.0, 120.1]))
    assert two.doubt == ""
    assert pair.doubt


def test_nothing_decides_a_ratio_that_is_not_positive_and_a_cost_of_zero_keeps_its_interval():
    pair = compare(FAST, SLOW)
    nothing = replace(pair, ratio=replace(pair.ratio, value=0.0, low=0.0))
    assert nothing.seconds_to_decide(0.05, 10.0) == math.inf
    free = cost_of(figure_with([0.0, 0.0], half=1.0), "cycles")
    assert (free.estimate.low, free.estimate.high) == (-1.0, 1.0)
