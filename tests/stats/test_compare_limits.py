"""Comparisons at their limits, whose noise floor counts, and sums and differences of costs."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from perbyte.model import Cell, CellFigure, Estimate, Interval, NoiseFloor, Quality
from perbyte.stats.compare import (
    EPOCHS_TO_CLAIM,
    SHARED_CORE,
    Answer,
    Comparison,
    Cost,
    compare,
    compare_costs,
    difference,
    mean_cost,
    sum_costs,
)
from perbyte.stats.run_figures import LAYOUT_WARNING
from perbyte.stats.standing import Lead, stand


def figure(
    cost: float, runner: str = "openssl", *, half: float = 0.0, epochs: int = 4, **more: object
) -> CellFigure:
    """A figure whose epochs all cost the same, so that nothing but what a test adds has a width."""
    whole = CellFigure(
        cell=Cell(runner, "aes-128-ctr", "encrypt", 64, "message/1"),
        library=runner,
        library_version="1",
        cycles_per_call=cost,
        ns_per_call=cost / 2,
        interval=Interval(cost - half, cost + half, 0.95, "epochs"),
        samples=100,
        clean_samples=90,
        epochs=epochs,
        epoch_cycles=(cost,) * epochs,
        epoch_ns=(cost / 2,) * epochs,
        calls_per_sample=10,
        quality=Quality.GOOD,
        cycle_source="probe",
    )
    return replace(whole, **more)  # type: ignore[arg-type]


def ratio_of(value: float, low: float, high: float, **more: object) -> Comparison:
    return Comparison(Estimate(value, low, high), "epochs", "", "cycles", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("low", "high", "answer"),
    [
        (1.0, 1.2, Answer.UNDECIDED),
        (1.0, 1.01, Answer.TIED),
        (0.995, 1.0101, Answer.UNDECIDED),
        (1 / 1.01, 1.0, Answer.TIED),
        (0.99, 1.0, Answer.UNDECIDED),
        (1.001, 1.2, Answer.SLOWER),
        (0.8, 1.0, Answer.UNDECIDED),
        (0.8, 0.999, Answer.FASTER),
        (0.0, math.inf, Answer.UNDECIDED),
        (math.nan, math.nan, Answer.UNDECIDED),
    ],
)
def test_an_interval_that_ends_at_one_covers_it(low: float, high: float, answer: Answer) -> None:
    ratio = ratio_of((low + high) / 2, low, high)
    assert (ratio.answer, ratio.tie) == (answer, answer is Answer.TIED)
    assert ratio.claimed is (answer in (Answer.FASTER, Answer.SLOWER))
    assert replace(ratio, doubt="noisy").answer is Answer.UNDECIDED


@pytest.mark.parametrize(
    ("low", "high", "answer"),
    [
        (1.05, 1.06, Answer.UNDECIDED),
        (1.0501, 1.06, Answer.SLOWER),
        (0.9, 1.05, Answer.TIED),
        (0.9, 1.0501, Answer.UNDECIDED),
        (0.0, math.inf, Answer.UNDECIDED),
    ],
)
def test_a_limit_of_five_percent(low: float, high: float, answer: Answer) -> None:
    ratio = ratio_of((low + high) / 2, low, high)
    assert ratio.against(0.05) is answer
    assert replace(ratio, doubt="noisy").against(0.05) is Answer.UNDECIDED


def test_time_helps_only_against_what_time_narrows() -> None:
    open_ = ratio_of(1.1, 1.0, 1.21, measured=0.1)
    away = math.log(1.1 / 1.05)
    assert open_.seconds_to_decide(0.05, 8.0) == pytest.approx(8 * ((0.1 / away) ** 2 - 1))
    assert replace(open_, measured=away / 2).seconds_to_decide(0.05, 8.0) == 0.0
    assert replace(open_, floor=0.04).seconds_to_decide(0.05, 8.0) < math.inf
    assert replace(open_, floor=0.05).seconds_to_decide(0.05, 8.0) == math.inf
    assert replace(open_, doubt="noisy").seconds_to_decide(0.05, 8.0) == math.inf
    assert ratio_of(1.1, 0.0, math.inf, measured=0.1).seconds_to_decide(0.05, 8.0) == math.inf


@pytest.mark.parametrize(
    ("first", "second", "floor"),
    [
        ("openssl", "nettle", 0.1),
        ("nettle", "openssl", 0.1),
        ("nettle", "cryptopp", 0.02),
    ],
)
def test_the_runner_that_was_measured_twice_judges_others_within_measure(
    first: str, second: str, floor: float
) -> None:
    noise = NoiseFloor(0.1, (("openssl/aes-128-ctr/encrypt@64", 1.1),), 0.02)
    comparison = compare(figure(100, first), figure(150, second), noise)
    assert comparison.floor == floor
    assert (comparison.ratio.low, comparison.ratio.high) == pytest.approx(
        (1.5 / (1 + floor), 1.5 * (1 + floor))
    )
    assert compare(figure(100, first), figure(150, second), NoiseFloor(0.1, ())).floor == 0.1
    assert compare(figure(100, first), figure(150, second), replace(noise, others=None)).floor == 0.1
    assert compare(figure(100, first), figure(150, second)).floor == 0.0


@pytest.mark.parametrize(
    ("b", "floor", "message"),
    [
        (104.9, 0.05, "within the noise floor of 5 %"),
        (105.1, 0.05, "excludes 1 and the noise floor is 5 %"),
        (100.0, 0.05, "covers 1"),
        (105.0, 0.0, "excludes 1 and the noise floor is 0 %"),
        (105.0, None, "no A/A pair"),
    ],
)
def test_the_reason_names_what_decided(b: float, floor: float | None, message: str) -> None:
    costs = (Cost(Estimate(number, number, number), (number, number)) for number in (100.0, b))
    assert message in compare_costs(*costs, floor).reason


def test_widths_come_from_where_they_are_widest() -> None:
    def found(by_samples: tuple[float, float], floor: float) -> Comparison:
        a, b = (
            Cost(Estimate(c, c, c), (c, c), sample)
            for c, sample in zip((100.0, 200.0), by_samples, strict=True)
        )
        return compare_costs(a, b, floor)

    assert found((0.03, 0.04), 0.01).dominated_by == "samples"
    assert found((0.03, 0.04), 0.01).ratio.high == pytest.approx(2 * math.exp(0.05))
    assert found((0.03, 0.04), 0.1).dominated_by == "noise floor"
    assert found((0.0, 1.0), 0.1).ratio.high == math.inf, "a cost that could be zero"
    assert found((0.5, 0.99), 0.1).ratio.high == pytest.approx(2 * math.exp(math.hypot(0.5, 0.99)))
    assert found((0.03, 0.04), 0.1).measured == pytest.approx(0.05), "without the noise floor"


@pytest.mark.parametrize("cost", [0.0, -1.0, math.inf, math.nan])
def test_a_cost_must_be_positive_and_finite(cost: float) -> None:
    good, bad = Cost(Estimate(1.0, 1.0, 1.0)), Cost(Estimate(cost, cost, cost))
    for comparison in (compare_costs(good, bad), compare_costs(bad, good)):
        assert math.isnan(comparison.ratio.value)
        assert (comparison.ratio.low, comparison.ratio.high) == (0.0, math.inf)


def test_epochs_that_are_not_positive_are_no_epochs() -> None:
    for epochs in ((0.0, 2.0), (-1.0, 3.0), (1.0, math.inf)):
        odd = Cost(Estimate(1.0, 0.9, 1.1), epochs)
        assert compare_costs(odd, Cost(Estimate(2.0, 1.8, 2.2), (2.0, 2.0))).ratio.high == pytest.approx(
            2 * math.exp(math.hypot(0.1, 0.1))
        )


@pytest.mark.parametrize(("epochs", "doubt"), [(EPOCHS_TO_CLAIM - 1, True), (EPOCHS_TO_CLAIM, False)])
def test_epochs_to_claim_across_runs(epochs: int, doubt: bool) -> None:
    assert bool(compare(figure(100), figure(150, epochs=epochs), same_run=False).doubt) is doubt
    assert not compare(figure(100), figure(150, epochs=epochs)).doubt


def test_a_figure_in_doubt_could_share_its_core() -> None:
    best = figure(100.0)
    for cost, tied in ((SHARED_CORE * 99, 2), (SHARED_CORE * 100, 2), (SHARED_CORE * 101, 1)):
        rival = figure(cost, "nettle", quality=Quality.DOUBTED)
        assert len(stand([best, rival], None)) == tied
    alike = (best, Lead.TIED), (figure(100.0, "nettle"), Lead.TIED)
    assert stand([best, figure(100.0, "nettle")], None) == alike
    touching = figure(110.0, "nettle", half=5.0), figure(100.0, half=5.0)
    assert len(stand(touching, None)) == 2, "their own intervals meet"


def test_a_difference_keeps_the_scale_of_the_first_cost() -> None:
    this_difference = difference(figure(200.0, half=4.0), ratio_of(1.1, 1.08, 1.15))
    down, up = math.hypot(200 * 0.02, 0.1 * 4), math.hypot(200 * 0.05, 0.1 * 4)
    assert (this_difference.value, this_difference.low, this_difference.high) == pytest.approx(
        (20.0, 20 - down, 20 + up)
    )
    less = difference(figure(200.0, half=4.0), ratio_of(0.5, 0.5, 0.5))
    assert (less.value, less.low, less.high) == pytest.approx((-100.0, -102.0, -98.0))


def cost(value: float, *, half: float = 1.0, source: int = 1, by_samples: float = 0.0) -> Cost:
    epochs = (value, 1.1 * value)
    return Cost(Estimate(value, value - half, value + 2 * half), epochs, by_samples, source)


def test_sums_are_of_ends_and_of_epochs() -> None:
    total = sum_costs([(2, cost(10.0, by_samples=0.1)), (3, cost(20.0, by_samples=0.2))])
    assert total.estimate == Estimate(80.0, 75.0, 90.0)
    assert total.epochs == pytest.approx((80.0, 88.0))
    assert total.by_samples == pytest.approx(0.25 * 0.1 + 0.75 * 0.2), "by their shares"
    assert total.source == 1
    assert sum_costs([(2, cost(10.0)), (1, cost(20.0, source=2))]).epochs == ()
    assert sum_costs([(2, cost(10.0)), (1, replace(cost(20.0), epochs=(1.0,)))]).epochs == ()
    assert sum_costs([(1, cost(0.0, by_samples=0.5))]).by_samples == 0.0


def test_a_mean_with_an_end_of_zero_has_no_lower_end() -> None:
    this_cost = mean_cost([cost(4.0, half=4.0), cost(9.0)])
    assert (this_cost.estimate.value, this_cost.estimate.low) == (pytest.approx(6.0), 0.0)
    assert this_cost.epochs == pytest.approx((6.0, 6.6))


def test_figures_of_two_placements_in_memory_are_said_to_be() -> None:
    placed, fixed = figure(100.0), replace(figure(100.0), warnings=(LAYOUT_WARNING,))
    assert "address randomisation off" in compare(placed, fixed, same_run=False).reason
    for alike in (placed, fixed):
        assert "address randomisation" not in compare(alike, alike, same_run=False).reason
