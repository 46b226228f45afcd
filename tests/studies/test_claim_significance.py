"""Claims on the paper's tests, effects and orders, where their own numbers decide: levels, counts, shares, limits."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path

import pytest
from scripted_studies import PUBLISHED, STUDY, Overrides, scripted_run, verdict_of, write_study

from perbyte.studies import Outcome, Study, Verdict, judge, judge_in_print, read_study
from perbyte.studies.claims import significance
from perbyte.studies.claims.significance import EPOCHS, SAMPLES
from perbyte.studies.evidence import gather

H, F, U, M = Outcome.REPRODUCED, Outcome.NOT_REPRODUCED, Outcome.INCONCLUSIVE, Outcome.NOT_TESTABLE
AT = 'where = { runner = "one", operation = "encrypt", size_bytes = 16 }\n'
KRUSKAL = AT + 'test = "kruskal-wallis"\n'
WHITNEY = AT + 'test = "mann-whitney"\n'


def three(fast: float, mid: float, slow: float) -> Overrides:
    return {"*/fast/*": fast, "*/mid/*": mid, "*/slow/*": slow}


@pytest.mark.parametrize(("apart", "outcome"), [(1.04, F), (1.06, U), (1 / 1.04, F), (1 / 1.06, U), (1.2, U)])
@pytest.mark.parametrize("body", [KRUSKAL, WHITNEY])
def test_what_no_test_tells_apart_contradicts_only_within_five_percent(
    tmp_path: Path, body: str, apart: float, outcome: Outcome
) -> None:
    """Epochs that move together by a tenth: no rank test sees a difference that the ratio of the pairs shows."""
    costs = three(10, 10 * apart, 10 * apart)
    if body is WHITNEY:
        costs["*/slow/*"] = 10000.0 if apart > 1 else 0.001
    verdict = verdict_of(tmp_path, "significant", body, costs, epochs=6, spread=0.1)
    assert verdict.outcome is outcome, verdict.evidence
    assert "p = " in verdict.evidence[0]


def test_a_noise_floor_of_more_than_five_percent_shows_nothing_alike(tmp_path: Path) -> None:
    same: Overrides = {"*": 10.0}
    for floor, outcome in ((0.04, F), (0.06, U)):
        for body in (KRUSKAL, WHITNEY):
            assert verdict_of(tmp_path, "significant", body, same, epochs=6, floor=floor).outcome is outcome


@pytest.mark.parametrize(
    ("epochs", "alpha", "separated", "alike"),
    [
        # of 3 pairs: the smallest p is 6/C(2n, n), which is 0.3, 0.086, 0.024 and 0.0065
        (3, "", U, U),
        (4, "", U, U),
        (4, "alpha = 0.09", H, F),
        (5, "", H, F),
        (5, "alpha = 0.02", U, U),
        (6, "alpha = 0.01", H, F),
        (6, "alpha = 0.006", U, U),
    ],
)
def test_mann_whitney_needs_enough_epochs_for_its_level(
    tmp_path: Path, epochs: int, alpha: str, separated: Outcome, alike: Outcome
) -> None:
    verdict = verdict_of(tmp_path, "significant", WHITNEY + alpha, three(10, 12, 14), epochs=epochs)
    assert verdict.outcome is separated, verdict.evidence
    least = {3: "0.3", 4: "0.086", 5: "0.024", 6: "0.0065"}[epochs]
    assert [number.value for number in verdict.numbers] == pytest.approx([float(least)] * 3, rel=0.02)
    if separated is U:
        assert f"3 of 3 pairs cannot get a corrected p below {least}," in verdict.evidence[0]
        assert "leaves 1 out for 3 of 3" in verdict.evidence[0]
    else:
        assert "for 3 of 3 pairs" in verdict.evidence[0]
    same = verdict_of(tmp_path, "significant", WHITNEY + alpha, {"*": 10.0}, epochs=epochs)
    assert same.outcome is alike, same.evidence


def test_the_pair_that_is_least_apart_is_told(tmp_path: Path) -> None:
    near = three(10, 10.02, 20)
    verdict = verdict_of(tmp_path, "significant", WHITNEY, near, epochs=6, spread=0.002)
    assert verdict.outcome is F
    assert verdict.evidence[0].startswith("one, encrypt, 16 bytes: Fast and Mid differ by 0.2")
    assert "at most 0.3" in verdict.evidence[0]
    open_ = verdict_of(tmp_path, "significant", WHITNEY, three(10, 11, 20), epochs=6, spread=0.1)
    assert open_.outcome is U
    assert "below 0.05 for 2 of 3 pairs, and largest for Fast and Mid: U = " in open_.evidence[0]


@pytest.mark.parametrize(("epochs", "outcome"), [(2, U), (3, F), (4, F)])
def test_kruskal_wallis_contradicts_from_three_epochs_on(
    tmp_path: Path, epochs: int, outcome: Outcome
) -> None:
    assert verdict_of(tmp_path, "significant", KRUSKAL, {"*": 10.0}, epochs=epochs).outcome is outcome


@pytest.mark.parametrize(("mid", "outcome"), [(10.5, F), (10.51, U)])
def test_five_percent_is_alike_still(tmp_path: Path, mid: float, outcome: Outcome) -> None:
    body = KRUSKAL + "alpha = 1e-9"
    verdict = verdict_of(
        tmp_path, "significant", body, three(10, mid, mid), epochs=4, width=0.0, spread=0.0, floor=0.0
    )
    assert verdict.outcome is outcome


def test_levels_are_those_of_the_claim(tmp_path: Path) -> None:
    costs = three(10, 12, 14)  # three epochs each, without any overlap: H = 7.2, p = 0.027
    verdict = verdict_of(tmp_path, "significant", KRUSKAL, costs)
    assert verdict.outcome is H
    assert (
        "Kruskal-Wallis over 3, each with at least 3 epoch figures, gives H = 7.20, p = 0.027."
        in verdict.evidence[0]
    )
    assert [number.value for number in verdict.numbers] == pytest.approx([math.exp(-3.6)])
    assert verdict_of(tmp_path, "significant", KRUSKAL + "alpha = 0.02", costs).outcome is U
    assert "p below 0.02" in verdict_of(tmp_path, "significant", KRUSKAL + "alpha = 0.02", costs).rule


def test_the_highest_p_is_the_closest_call(tmp_path: Path) -> None:
    body = KRUSKAL.replace('runner = "one", ', "")
    costs: Overrides = {**three(10, 12, 14), "two/fast/*": 12.001}
    verdict = verdict_of(tmp_path, "significant", body, costs, spread=0.001, epochs=4)
    assert [line.split(", ")[0] for line in verdict.evidence[1:]] == ["Closest call: two", "Clearest: one"]


def test_the_pairs_that_overlap_most_are_the_closest_call(tmp_path: Path) -> None:
    body = WHITNEY.replace('runner = "one", ', "")
    costs: Overrides = {**three(10, 12, 14), "two/mid/*": 10.06}
    verdict = verdict_of(tmp_path, "significant", body, costs, spread=0.001, epochs=8)
    assert verdict.outcome is H
    assert [line.split(", ")[0] for line in verdict.evidence[1:]] == ["Closest call: two", "Clearest: one"]


def drawn(values: dict[str, list[float]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples by group for the encryption of 16 bytes in one, as if they had been stored."""

    def samples(runs: object, table: object, wanted: object) -> dict[object, list[float]]:
        return {
            ("scripted", row.figure.cell): values[str(row.dims["group"])]
            for row in table.rows  # type: ignore[attr-defined]
            if row.figure
            and (row.dims["runner"], row.dims["operation"], row.dims["size_bytes"]) == ("one", "encrypt", 16)
        }

    monkeypatch.setattr(significance, "_samples", samples)


def normal(count: int, centre: float, seed: int = 1) -> list[float]:
    rng = random.Random(seed)
    return [centre * (1 + 0.01 * rng.gauss(0, 1)) for _ in range(count)]


def test_samples_are_tested_from_twenty_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn({"fast": normal(20, 10), "mid": normal(19, 20), "slow": normal(60, 30)}, monkeypatch)
    study = read_study(write_study(tmp_path))
    statistics = judge(study, scripted_run()).statistics
    assert statistics is not None
    (group,) = (group for group in statistics.groups if group.unit == SAMPLES)
    assert (group.members, group.counts) == (("Fast", "Slow"), (20, 60))
    assert all(p > 0.05 for p in group.normality)
    epochs = [group for group in statistics.groups if group.unit == EPOCHS]
    assert {group.counts for group in epochs} == {(3, 3, 3)}
    assert all(math.isnan(p) for group in epochs for p in group.normality)
    assert "also run on all samples (20 to 60 per cell)" in statistics.notes[1]
    assert "(3 per cell)" in statistics.notes[0]


def test_claims_on_samples_ask_the_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn({"fast": normal(30, 10), "mid": normal(30, 10.2, 2), "slow": [10.0] * 29 + [99.0]}, monkeypatch)
    shapiro = verdict_of(tmp_path, "significant", AT + 'test = "shapiro-wilk"\nvalues = "samples"')
    assert shapiro.outcome is F
    assert shapiro.evidence[0] == "Of 3 comparisons 1 supports the claim, 2 contradict it."
    assert [number.name.split(",")[0] for number in shapiro.numbers] == ["Fast", "Mid", "Slow"]
    assert "all samples" in shapiro.rule
    whole = verdict_of(tmp_path, "significant", KRUSKAL + 'values = "samples"')
    assert "each with at least 30 samples" in whole.evidence[0]
    assert "the epoch figures" in verdict_of(tmp_path, "significant", KRUSKAL).rule
    pair = verdict_of(tmp_path, "significant", WHITNEY + 'values = "samples"').numbers[0]
    assert (pair.name, pair.value < 1e-6) == ("Fast and Mid, p corrected", True)


def test_what_samples_alone_call_different_is_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples of one process shifted by a thousandth: p is tiny, and the epochs cannot tell the costs apart."""
    drawn({"fast": normal(30, 10), "mid": normal(30, 10.2), "slow": normal(30, 14)}, monkeypatch)
    body = WHITNEY + 'values = "samples"'
    near = verdict_of(tmp_path, "significant", body, three(10, 10.001, 20), epochs=6, spread=0.002)
    assert near.outcome is U
    assert "the samples call Fast and Mid different (p = " in near.evidence[0]
    assert "leaves 1 out" in near.rule
    assert verdict_of(tmp_path, "significant", body, three(10, 12, 20), epochs=6).outcome is H
    drawn({"fast": normal(30, 10), "mid": normal(30, 10), "slow": normal(30, 14)}, monkeypatch)
    assert verdict_of(tmp_path, "significant", body, three(10, 10.001, 20), epochs=6).outcome is F


def test_normality_is_a_matter_of_samples(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, "significant", AT + 'test = "shapiro-wilk"')
    assert (verdict.outcome, verdict.numbers) == (U, ())


def test_two_cells_of_one_name_are_no_member(tmp_path: Path) -> None:
    """Groups by runner and operation hold each name at three sizes: which of them would be tested?"""
    study = STUDY.replace(
        'group_by = ["runner", "operation", "size_bytes"]', 'group_by = ["runner", "operation"]'
    )
    judged = judge(read_study(write_study(tmp_path, study=study)), scripted_run())
    assert judged.statistics is not None
    assert judged.statistics.groups == ()
    assert "(no per cell)" in judged.statistics.notes[0]


@pytest.mark.parametrize(("epochs", "told"), [(2, True), (5, True), (6, False)])
def test_few_epochs_are_told(tmp_path: Path, epochs: int, told: bool) -> None:
    judged = judge(read_study(write_study(tmp_path)), scripted_run(epochs=epochs))
    assert judged.statistics is not None
    message = [note for note in judged.statistics.notes if f"With {epochs} epochs" in note]
    assert len(message) == told


EFFECT = 'where = { runner = "one", operation = "encrypt" }\n'


def d_of(tmp_path: Path, epochs: int, first: float, second: float) -> tuple[float, float, float]:
    """Cohen's d of Fast and Mid with its interval, as the verdict gives it."""
    body = EFFECT.replace("}", ", size_bytes = 16 }") + "threshold = 0.5"
    verdict = verdict_of(tmp_path, "effect", body, three(first, second, 99), epochs=epochs, spread=0.01)
    (number,) = (number for number in verdict.numbers if number.name == "Fast and Mid")
    return number.value, number.low, number.high


@pytest.mark.parametrize("epochs", [4, 9])
@pytest.mark.parametrize(("first", "second"), [(10, 10.4), (10.4, 10)])
def test_the_interval_of_cohens_d_is_hedges_and_olkins(
    tmp_path: Path, epochs: int, first: float, second: float
) -> None:
    offsets = [0.01 * (number - (epochs - 1) / 2) for number in range(epochs)]
    variance = sum(offset**2 for offset in offsets) / (epochs - 1)
    d = abs(second - first) / math.sqrt(variance * (first**2 + second**2) / 2)
    half = 1.959964 * math.sqrt(2 / epochs + d**2 / (4 * epochs))
    assert d_of(tmp_path, epochs, first, second) == pytest.approx((d, max(0.0, d - half), d + half), rel=1e-5)


def test_an_effect_that_may_be_nothing_starts_at_zero(tmp_path: Path) -> None:
    value, low, high = d_of(tmp_path, 4, 10, 10.01)
    assert low == 0.0 < value < high


@pytest.mark.parametrize(("threshold", "outcome"), [("0.5", H), ("0.99", H), ("1", U), ("1.01", F)])
def test_cliffs_delta_stands_alone(tmp_path: Path, threshold: str, outcome: Outcome) -> None:
    """Groups that do not overlap have a delta of 1, whichever comes first."""
    body = f'{EFFECT}effect = "cliff_delta"\nthreshold = {threshold}'
    for costs in (three(1, 2, 3), three(3, 2, 1)):
        verdict = verdict_of(tmp_path, "effect", body, costs)
        assert verdict.outcome is outcome, verdict.evidence
        assert {(number.value, number.low, number.high) for number in verdict.numbers} == {(1.0, 1.0, 1.0)}
        assert "Cliff's delta 1.00; claimed: above " + threshold in verdict.evidence[1]


def test_the_effect_nearest_to_the_threshold_is_the_closest_call(tmp_path: Path) -> None:
    body = EFFECT.replace("}", ", size_bytes = 16 }") + "threshold = 0.5"
    verdict = verdict_of(tmp_path, "effect", body, three(10, 10.5, 20), epochs=6, spread=0.005)
    assert verdict.outcome is H
    assert ("Fast and Mid" in verdict.evidence[1], "Fast and Slow" in verdict.evidence[2]) == (True, True)


def test_the_effect_farthest_below_the_threshold_contradicts_most_clearly(tmp_path: Path) -> None:
    body = EFFECT.replace("}", ", size_bytes = 16 }") + "threshold = 20"
    verdict = verdict_of(tmp_path, "effect", body, three(10, 10.2, 10.6), epochs=20, spread=0.005)
    assert verdict.outcome is F
    assert [line.split(": ")[1] for line in verdict.evidence[1:]] == [
        "Fast and Mid",
        "Mid and Slow",
        "Fast and Slow",
    ]


def test_exactly_so_many_times_is_so_many_times(tmp_path: Path) -> None:
    """Cliff's delta has no interval: Mid's four epochs overlap with Fast's, Slow's with nobody's."""
    head = '[[claims]]\nid = "c"\nsays = "s"\nplace = "p"\nform = "effect"\n'
    where = EFFECT.replace("}", ", size_bytes = 16 }")
    study = read_study(write_study(tmp_path, claims=f'{head}effect = "cliff_delta"\ndiffer = 2\n{where}'))
    run = scripted_run(epochs=4)

    def judged(mid: tuple[float, ...], slow: tuple[float, ...]) -> Verdict:
        own = {"aes-128-ecb": (1.0, 2.0, 3.0, 4.0), "camellia-128-ecb": mid, "des-ecb": slow}
        cells = tuple(replace(cell, epoch_cycles=own[cell.cell.algorithm]) for cell in run.cells)
        (verdict,) = judge(study, replace(run, cells=cells)).verdicts
        return verdict

    twice = judged((2.5, 3.5, 3.6, 4.5), (9.0, 9.1, 9.2, 9.3))
    assert "lies between 0.500 and 1.00; claimed: 2 times apart" in twice.evidence[0]
    assert twice.outcome is H
    assert judged((1.0, 2.0, 3.0, 4.0), (1.0, 2.0, 3.0, 4.0)).outcome is F, "none is larger than another"
    assert judged((1.0, 2.0, 3.0, 4.0), (9.0, 9.1, 9.2, 9.3)).outcome is H, "no effect against the largest"


GROWING: Overrides = {"one/fast/*": 10.0, "one/mid/*": 10.5, "one/slow/*": 11.0}


@pytest.mark.parametrize(
    ("share", "mid_then", "outcome", "share_grown", "open_"),
    [
        ("", 10.5, U, 0, 3),
        # Mid moves far above both: two pairs of three grow, Fast and Slow stay
        ("", 30.0, H, 2, 1),
        ("share_percent = 66", 30.0, H, 2, 1),
        ("share_percent = 67", 30.0, U, 2, 1),
        # Mid becomes as Slow: farther from Fast, nearer to Slow
        ("", 11.0, U, 1, 1),
        ("share_percent = 67", 11.0, F, 1, 1),
    ],
)  # fmt: skip
def test_more_effects_than_a_share_grow(
    tmp_path: Path, share: str, mid_then: float, outcome: Outcome, share_grown: int, open_: int
) -> None:
    costs: Overrides = {**GROWING, "one/mid/*@512": mid_then}
    body = f"{EFFECT}from = 16\nto = 512\n{share}"
    verdict = verdict_of(tmp_path, "effect", body, costs, epochs=12, spread=0.002)
    assert verdict.outcome is outcome, verdict.evidence
    (number,) = verdict.numbers
    assert (number.value, number.low) == pytest.approx((share_grown / 3, share_grown / 3))
    assert number.high == pytest.approx((share_grown + open_) / 3)
    assert (
        f"Of 3 pairs Cohen's d is larger at 512 bytes than at 16 bytes for {share_grown}"
        in verdict.evidence[0]
    )


@pytest.mark.parametrize(("differ", "outcome"), [(1.2, H), (6.8, U), (7.1, F)])
def test_effects_of_a_group_differ_surely_or_surely_not(
    tmp_path: Path, differ: float, outcome: Outcome
) -> None:
    body = EFFECT.replace("}", ", size_bytes = 16 }") + f"differ = {differ}"
    verdict = verdict_of(tmp_path, "effect", body, three(10, 10.5, 11.5), epochs=30, spread=0.005)
    assert verdict.outcome is outcome, verdict.evidence
    (number,) = verdict.numbers
    assert number.value == pytest.approx(1.5 / 0.5, rel=0.1)
    assert f"claimed: {differ} times apart" in verdict.evidence[0]


TWO_MACHINES = STUDY.replace("[[cells]]", '[[machines]]\nid = "other"\nname = "another box"\n\n[[cells]]', 1)
CELLS = [
    ("one/aes-128-ecb/encrypt@16", 1),
    ("one/aes-128-ecb/encrypt@32", 2),
    ("one/aes-128-ecb/encrypt@512", 3),
    ("one/camellia-128-ecb/encrypt@16", 4),
    ("one/des-ecb/encrypt@16", 5),
]
HEAD = PUBLISHED.splitlines()[0]


def table_of(box: list[float], other: list[float] = [], unit: str = "cycles/byte") -> str:  # noqa: B006
    """A printed table of two machines, with the costs of CELLS in the order given."""
    lines = [HEAD]
    for machine, printed in (("box", box), ("other", other)):
        for (cell, number), cost in zip(CELLS, printed, strict=False):
            size = cell.split("@")[1]
            lines.append(f"{machine}{number},t,{machine},One,A,encrypt,{size},{cost},{unit},1,yes,{cell},")
    return "\n".join(lines) + "\n"


def agreement(
    tmp_path: Path, published: str, body: str, overrides: Overrides | None = None, **run: object
) -> Verdict:
    claim = f'[[claims]]\nid = "c"\nsays = "s"\nplace = "p"\nform = "rank_agreement"\n{body}'
    study = read_study(write_study(tmp_path, study=TWO_MACHINES, published=published, claims=claim))
    (verdict,) = judge(study, scripted_run(overrides, **run)).verdicts  # type: ignore[arg-type]
    return verdict


# today: 2.0, 1.5, 1.0, 11 and 41 cycles per byte
SAME, SWAPPED, REVERSED = [20, 15, 10, 30, 40], [15, 20, 10, 30, 40], [30, 40, 50, 20, 10]


@pytest.mark.parametrize(("printed", "rho"), [(SAME, 1.0), (SWAPPED, 0.9), (REVERSED, -1.0)])
def test_orders_agree_by_spearmans_correlation(tmp_path: Path, printed: list[float], rho: float) -> None:
    for low, high, outcome in [
        (rho - 0.01, min(rho + 0.01, 1.0), H),
        (rho + 0.01, 1.0, F),
        (-1.0, rho - 0.01, F),
    ]:
        if -1 <= low <= high <= 1:
            verdict = agreement(tmp_path, table_of(printed), f"low = {low}\nhigh = {high}", floor=0.0)
            assert verdict.outcome is outcome, verdict.evidence
            assert [number.value for number in verdict.numbers] == pytest.approx([rho])
            assert "box: the orders of 5 figures agree with a rank correlation of" in verdict.evidence[0]


def test_a_noise_floor_that_veils_the_order_leaves_it_open(tmp_path: Path) -> None:
    for floor, outcome in ((0.01, H), (0.5, U)):
        verdict = agreement(tmp_path, table_of(SAME), "low = 0.95", floor=floor)
        assert verdict.outcome is outcome, verdict.evidence


@pytest.mark.parametrize(("count", "outcome"), [(3, M), (4, H), (5, H)])
def test_four_figures_make_an_order(tmp_path: Path, count: int, outcome: Outcome) -> None:
    today = agreement(tmp_path, table_of(SAME[:count]), "low = 0.9")
    assert today.outcome is outcome, today.evidence
    both = agreement(tmp_path, table_of(SAME[:count], SAME[:count]), 'low = 0.9\nbetween = "machines"')
    assert both.outcome is outcome, both.evidence
    if outcome is M:
        assert f"only {count} figures can be compared" in today.evidence[0]
        assert f"box and other: only {count} figures can be compared" in both.evidence[0]


@pytest.mark.parametrize(("other", "rho"), [(SAME, 1.0), (SWAPPED, 0.9), (REVERSED, -1.0)])
def test_the_orders_of_two_machines_in_print(tmp_path: Path, other: list[float], rho: float) -> None:
    body = f'between = "machines"\nlow = {max(rho - 0.01, -1.0)}\nhigh = {min(rho + 0.01, 1.0)}'
    verdict = agreement(tmp_path, table_of(SAME, other), body, {"*": None})
    assert verdict.outcome is H, "no run is needed for that"
    assert [number.value for number in verdict.numbers] == pytest.approx([rho])
    small = body + '\nwhere = { group = "fast" }'
    assert agreement(tmp_path, table_of(SAME, other), small).outcome is M, "three figures"
    rates = agreement(tmp_path, table_of(SAME, [1 / value for value in other], "1000 bytes/s"), body)
    assert rates.numbers == () or rates.outcome is not M


def test_machines_can_be_chosen_and_groups_be_ranked_apart(tmp_path: Path) -> None:
    published = table_of(SAME, REVERSED)
    assert agreement(tmp_path, published, "low = 0.9").outcome is F
    assert agreement(tmp_path, published, 'low = 0.9\nmachines = ["box"]').outcome is H
    only = agreement(tmp_path, published, 'low = 0.9\nmachines = ["other"]')
    assert (only.outcome, only.compared) == (F, 1)
    apart = agreement(tmp_path, published, 'low = 0.9\nmachines = ["box"]\nby = ["group"]')
    assert (apart.outcome, apart.compared) == (M, 3)
    assert "box, Fast: only 3 figures" in " ".join(apart.evidence)


def test_rates_are_ranked_by_what_they_cost(tmp_path: Path) -> None:
    rates = [1000 / rate for rate in SAME]
    verdict = agreement(tmp_path, table_of(rates, unit="1000 bytes/s"), "low = 0.9")
    assert verdict.outcome is H, verdict.evidence


def test_the_closest_order_is_the_closest_call(tmp_path: Path) -> None:
    last_three_right = [
        10,
        15,
        20,
        30,
        40,
    ]  # a correlation of 0.6, nearer to the low end than 0.9 is to the high one
    verdict = agreement(tmp_path, table_of(SWAPPED, last_three_right), "low = 0.55", floor=0.0)
    assert verdict.outcome is H
    assert verdict.evidence[1].startswith("Closest call: other")
    assert verdict.evidence[2].startswith("Clearest: box")
    top = agreement(tmp_path, table_of(SWAPPED, last_three_right), "low = 0.3\nhigh = 0.95", floor=0.0)
    assert top.evidence[1].startswith("Closest call: box")


def test_print_has_no_order_of_today(tmp_path: Path) -> None:
    claim = '[[claims]]\nid = "c"\nsays = "s"\nplace = "p"\nform = "rank_agreement"\nlow = 0.9\n'

    def in_print(published: str, machine: str = "") -> Verdict:
        study = read_study(write_study(tmp_path, study=TWO_MACHINES, published=published, claims=claim))
        (verdict,) = judge_in_print(study, machine).verdicts
        return verdict

    for machine in ("box", "other"):
        verdict = in_print(table_of(SAME, REVERSED), machine)
        assert (verdict.outcome, verdict.compared, verdict.not_printed) == (M, 1, 1)
        assert verdict.evidence == ("Print has no order of today.",)


def test_of_several_libraries_the_fastest_stands_for_a_printed_figure(tmp_path: Path) -> None:
    anyone = table_of(SAME).replace(",one/", ",*/")
    slow_one: Overrides = {"one/fast/*@512": 99.0}
    assert agreement(tmp_path, anyone, "low = 0.9", slow_one).outcome is H
    assert agreement(tmp_path, table_of(SAME), "low = 0.9", slow_one).outcome is F


def studied(tmp_path: Path) -> Study:
    return read_study(write_study(tmp_path))


def test_statistics_of_two_runs_keep_them_apart(tmp_path: Path) -> None:
    run = scripted_run({"two/*": None})
    other = scripted_run({"one/*": None})
    second = replace(other, conditions=replace(other.conditions, run_id="second"))
    table = gather(studied(tmp_path), [run, second])
    assert {(row.run_id, row.dims["runner"]) for row in table.rows if row.figure} == {
        ("scripted", "one"),
        ("second", "two"),
    }
