"""What a claim's own numbers mean: limits to the digit, who takes part, shares, blocks and calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scripted_studies import STUDY, Overrides, scripted_run, verdict_of, write_study

from perbyte.errors import DataFileError
from perbyte.studies import Outcome, judge, read_study
from perbyte.studies.claims.form import State, share_state

H, F, U, M = Outcome.REPRODUCED, Outcome.NOT_REPRODUCED, Outcome.INCONCLUSIVE, Outcome.NOT_TESTABLE

EXACT: dict[str, Any] = {"width": 0.0, "spread": 0.0, "floor": 0.0, "epochs": 2}
"""Costs without any interval, so that a ratio is what its two costs say and no more."""

ONE = 'where = { runner = "one", operation = "encrypt", size_bytes = 512 }\n'
RATIO = ONE + 'numerator = { group = "mid" }\ndenominator = { group = "fast" }\n'
VALUE = ONE.replace("512", '512, group = "mid"')
THREE = ONE.replace("512", '512, kind = ["new", "old"]')
RANK = THREE + 'candidates = "group"\n'
SIZES = 'where = { runner = "one", operation = "encrypt", group = "mid" }\n'


def mid(cost: float, half: float = 0.0) -> Overrides:
    """What Mid costs a byte; Fast costs 1 and Slow 40."""
    return {"one/mid/encrypt@512": (cost, half)}


def at_sizes(*costs: float | tuple[float, float]) -> Overrides:
    return {f"one/mid/encrypt@{size}": cost for size, cost in zip((16, 32, 512), costs, strict=True)}


@pytest.mark.parametrize(
    ("form", "body", "overrides", "outcome"),
    [
        ("ratio", RATIO + "low = 2", mid(2.0), H),
        ("ratio", RATIO + "low = 2", mid(1.999), F),
        ("ratio", RATIO + "low = 2", mid(2.0, 0.001), U),
        ("ratio", RATIO + "low = 0.5", mid(0.5), H),
        ("ratio", RATIO + "high = 2", mid(2.0), H),
        ("ratio", RATIO + "high = 2", mid(2.001), F),
        ("ratio", RATIO + "high = 2", mid(0.001), H),
        ("ratio", RATIO + "within_percent = 25", mid(1.25), H),
        ("ratio", RATIO + "within_percent = 25", mid(1.251), F),
        ("ratio", RATIO + "within_percent = 25", mid(0.8), H),
        ("ratio", RATIO + "within_percent = 25", mid(0.799), F),
        ("value", VALUE + "low = 0.5\nhigh = 2", mid(0.5), H),
        ("value", VALUE + "low = 0.5\nhigh = 2", mid(0.499), F),
        ("value", VALUE + "low = 0.5\nhigh = 2", mid(2.0), H),
        ("value", VALUE + "low = 0.5\nhigh = 2", mid(2.001), F),
        ("trend", SIZES + "within_percent = 25", at_sizes(5, 4, 4), H),
        ("trend", SIZES + "within_percent = 25", at_sizes(5.01, 4, 4), F),
        ("trend", SIZES + "within_percent = 0", at_sizes(4, 4, 4), H),
        ("trend", SIZES + "within_percent = 0", at_sizes(4, 4, 4.001), F),
        ("trend", SIZES + "rises = [16, 32, 512]", at_sizes(4, 4.01, 4.02), H),
        ("trend", SIZES + "rises = [16, 32, 512]", at_sizes(4, 4, 4.02), F),  # known not to rise
        ("trend", SIZES + "rises = [16, 32, 512]", at_sizes((4, 0.001), (4, 0.001), 4.5), F),
        ("trend", SIZES + "rises = [16, 32, 512]", at_sizes((4, 0.02), (4, 0.02), 4.5), U),
        ("trend", SIZES + "rises = [16, 32, 512]", at_sizes(4, 4.01, 4.005), F),
        ("trend", SIZES + "rises = [16, [32, 512]]", at_sizes(4, 5, 4.5), H),
        ("trend", SIZES + "rises = [16, [32, 512]]", at_sizes(4, 5, 3.9), F),
        ("trend", SIZES + "smallest = 32", at_sizes(4.01, 4, 5), H),
        ("trend", SIZES + "smallest = 32", at_sizes(3.99, 4, 5), F),
        ("trend", SIZES + "smallest = 32", at_sizes(4, 4, 5), U),
        ("trend", SIZES + "largest = 32", at_sizes(4, 5.01, 5), H),
        ("trend", SIZES + "largest = 32", at_sizes(4, 4.99, 5), F),
        ("trend", SIZES + "smallest = 16\nlargest = 512", at_sizes(4, 4.5, 5), H),
        ("trend", SIZES + "smallest = 16\nlargest = 512", at_sizes(4, 5.5, 5), F),
        ("rank", RANK + 'first = "fast"', mid(1.001), H),
        ("rank", RANK + 'first = "fast"', mid(0.999), F),
        ("rank", RANK + 'first = "fast"', mid(1.0), U),
        ("rank", RANK + 'last = "slow"', mid(39.9), H),
        ("rank", RANK + 'last = "slow"', mid(40.1), F),
        ("rank", RANK + 'order = ["mid", "fast", "slow"]\nslack_percent = 10', mid(1.09), H),
        ("rank", RANK + 'order = ["mid", "fast", "slow"]\nslack_percent = 10', mid(1.11), F),
        ("rank", RANK + 'order = ["mid", "fast", "slow"]\nslack_percent = 25', mid(1.25), H),
        ("rank", RANK + 'order = ["mid", "fast", "slow"]\nslack_percent = 0.5', mid(1.004), H),
        ("rank", RANK + 'order = ["mid", "fast", "slow"]', mid(1.001), F),
        ("rank", RANK + 'order = ["mid", "fast", "slow"]', mid(1.0), U),
    ],
)  # fmt: skip
def test_limits(tmp_path: Path, form: str, body: str, overrides: Overrides, outcome: Outcome) -> None:
    verdict = verdict_of(tmp_path, form, body, overrides, **EXACT)
    assert verdict.outcome is outcome, verdict.evidence


@pytest.mark.parametrize(
    ("body", "overrides", "outcome"),
    [
        ('first = ["fast", "mid"]', mid(0.5), H),
        ('first = ["fast", "mid"]', mid(90.0), H),
        ('first = ["mid", "slow"]', mid(0.5), H),
        ('first = ["mid", "slow"]', mid(2.0), F),
        ('last = ["mid", "slow"]', mid(90.0), H),
        ('last = ["fast", "mid"]', mid(90.0), H),
        ('last = ["fast", "mid"]', mid(2.0), F),
        # a rival that is ahead of the better one of those named, but perhaps not of the other
        ('first = ["mid", "slow"]', {**mid(1.2), "one/slow/*": (1.3, 0.5)}, U),
        # one of those named has no figure and might be ahead: nobody has contradicted the claim
        ('first = ["mid", "slow"]', {"one/mid/*": None}, U),
        ('first = ["mid", "slow"]\namong = ["mid", "slow"]', mid(2.0), U),  # nobody else is left
        ('first = "mid"\namong = ["mid", "slow"]', mid(2.0), H),
        ('first = "mid"\namong = ["slow"]', mid(2.0), H),
        ('first = "mid"\namong = ["fast"]', mid(2.0), F),
        ('order = ["mid", "slow"]', mid(2.0), H),
        ('order = ["mid", "slow"]\namong = ["fast"]', mid(2.0), H),
        ('order = ["fast", ["mid", "slow"]]', mid(2.0), H),
        ('order = ["fast", ["slow", "mid"]]', mid(2.0), H),
        ('order = [["fast", "mid"], "slow"]', mid(0.5), H),
        ('order = [["fast", "mid"], "slow"]', mid(41.0), F),
        ('order = ["fast", "mid", "slow"]', {"one/mid/*": None}, M),
        ('order = ["slow", "mid", "fast"]', {"one/mid/*": None}, F),
    ],
)
def test_who_takes_part_in_a_rank(tmp_path: Path, body: str, overrides: Overrides, outcome: Outcome) -> None:
    verdict = verdict_of(tmp_path, "rank", RANK + body, overrides, **EXACT)
    assert verdict.outcome is outcome, verdict.evidence


EVERY = """
numerator = { group = "mid" }
denominator = { group = "fast" }
where = { operation = "encrypt", runner = "one" }
by = ["size_bytes"]
"""
RATIOS: Overrides = {
    "one/fast/*": 1.0,
    "one/mid/encrypt@16": 2.0,
    "one/mid/encrypt@32": 4.0,
    "one/mid/encrypt@512": 9.0,
}


@pytest.mark.parametrize(
    ("aggregate", "value"),
    [("mean", 5.0), ("min", 2.0), ("max", 9.0)],
)
def test_one_number_of_all_ratios(tmp_path: Path, aggregate: str, value: float) -> None:
    def outcome(limits: str) -> Outcome:
        body = f'{EVERY}aggregate = "{aggregate}"\n{limits}'
        verdict = verdict_of(tmp_path, "ratio", body, RATIOS, **EXACT)
        assert verdict.numbers[-1].value == verdict.numbers[-1].low == verdict.numbers[-1].high == value
        assert [number.value for number in verdict.numbers[:-1]] == [2.0, 4.0, 9.0]
        assert verdict.compared == 1
        return verdict.outcome

    assert outcome(f"low = {value}\nhigh = {value}") is H
    assert outcome(f"low = {value + 0.01}") is F
    assert outcome(f"high = {value - 0.01}") is F


@pytest.mark.parametrize(
    ("each", "compared"), [('each = ["group"]', 2), ('each = ["group", "operation"]', 8)]
)
def test_each_of_one_side_is_set_against_each_of_the_other(tmp_path: Path, each: str, compared: int) -> None:
    operation = "" if "operation" in each else ', operation = "encrypt"'
    body = (
        f'where = {{ runner = "one", size_bytes = 512{operation} }}\nnumerator = {{ group = "slow" }}\n'
        f'denominator = {{ group = ["fast", "mid"] }}\nlow = 4\n{each}'
    )
    verdict = verdict_of(tmp_path, "ratio", body, **EXACT)
    assert (verdict.outcome, verdict.compared) == (H, compared)
    assert {round(number.value, 9) for number in verdict.numbers} == {4.0, 40.0}


def test_a_cell_is_not_set_against_itself(tmp_path: Path) -> None:
    body = (
        'where = { runner = "one", operation = "encrypt", size_bytes = 512, kind = ["new", "old"] }\n'
        'numerator = { group = "fast" }\ndenominator = {}\neach = ["group"]\nhigh = 0.5'
    )
    verdict = verdict_of(tmp_path, "ratio", body, **EXACT)
    assert (verdict.outcome, verdict.compared) == (H, 2)


@pytest.mark.parametrize(
    ("group", "per", "cost"),
    [("mid", "byte", 10), ("mid", "block", 160), ("mid", "call", 5120), ("slow", "block", 320)],
)
def test_costs_are_counted_per_byte_block_or_call(tmp_path: Path, group: str, per: str, cost: float) -> None:
    body = ONE.replace("512", f'512, group = "{group}"') + f'per = "{per}"\nlow = {cost}\nhigh = {cost}'
    verdict = verdict_of(tmp_path, "value", body, **EXACT)
    assert verdict.outcome is H, verdict.evidence
    assert [(number.value, number.unit) for number in verdict.numbers] == [(cost, f"cycles/{per}")]
    assert f"cycles per {per}" in verdict.evidence[0]


def test_averages_are_geometric_and_of_the_best_the_fastest_counts(tmp_path: Path) -> None:
    body = 'where = { group = "mid", size_bytes = 512, operation = "encrypt" }\n%s = ["runner"]\n'
    costs: Overrides = {"one/mid/*": 4.0, "two/mid/*": 9.0}
    mean = verdict_of(tmp_path, "value", body % "average_over" + "low = 5.999\nhigh = 6.001", costs, **EXACT)
    best = verdict_of(tmp_path, "value", body % "best_of" + "low = 4\nhigh = 4", costs, **EXACT)
    assert (mean.outcome, best.outcome) == (H, H)
    # a mean of some is no mean, the best of some may be
    gone: Overrides = {"one/mid/*": 4.0, "two/mid/*": None}
    assert verdict_of(tmp_path, "value", body % "average_over" + "low = 1\nhigh = 9", gone).outcome is M
    assert verdict_of(tmp_path, "value", body % "best_of" + "low = 3\nhigh = 5", gone).outcome is H


CLUSTER = THREE + 'candidates = "group"\nclusters = [["fast", "mid"]]\n'


@pytest.mark.parametrize(
    ("body", "overrides", "outcome"),
    [
        (CLUSTER, mid(6.0), H),  # 6 times from Fast, 6.67 from Slow
        (CLUSTER, mid(6.6), F),
        (CLUSTER, mid(6.0, 0.5), U),
        (CLUSTER + "slack_percent = 20", mid(6.9), H),  # 6.9 times from Fast, 5.8 from Slow
        (CLUSTER + "slack_percent = 20", mid(7.0), F),  # 7 times, 5.71 times
        (CLUSTER.replace('["fast", "mid"]', '["fast", "mid", "slow"]'), mid(6.0), U),
        (CLUSTER.replace('["fast", "mid"]', '["mid"], ["fast", "slow"]'), mid(90.0), F),
    ],
)
def test_a_mate_is_nearer_than_a_stranger(
    tmp_path: Path, body: str, overrides: Overrides, outcome: Outcome
) -> None:
    verdict = verdict_of(tmp_path, "clusters", body, overrides, **EXACT)
    assert verdict.outcome is outcome, verdict.evidence


OUTLIER = THREE + 'candidates = "group"\n'


@pytest.mark.parametrize(
    ("apart", "overrides", "outcome"),
    [
        ('"slow"', mid(2.0), H),
        ('"fast"', mid(2.0), F),
        ('"fast"', mid(7.0), H),  # nearer to Slow than to Fast
        ('["fast", "slow"]', mid(6.0), H),  # each of them is farther than Mid
        ('["fast", "mid"]', mid(6.0), F),  # one of the two is not
        ('["fast", "mid", "slow"]', mid(6.0), U),  # there is no rest
        ('"slow"', mid(6.2, 0.5), U),  # about as far from both
    ],
)
def test_who_stands_apart(tmp_path: Path, apart: str, overrides: Overrides, outcome: Outcome) -> None:
    verdict = verdict_of(tmp_path, "outliers", f"{OUTLIER}apart = {apart}", overrides, **EXACT)
    assert verdict.outcome is outcome, verdict.evidence


def test_two_have_no_outlier(tmp_path: Path) -> None:
    body = OUTLIER.replace('kind = ["new", "old"]', 'kind = "new"') + 'apart = "mid"'
    assert verdict_of(tmp_path, "outliers", body, **EXACT).outcome is U


@pytest.mark.parametrize(
    ("yes", "no", "state"),
    [
        (3, 1, State.YES),
        (2, 2, State.NO),  # half is not more than half
        (2, 1, State.OPEN),  # the last pair may still make it three
        (1, 2, State.NO),
        (0, 0, State.OPEN),
        (0, 2, State.NO),
    ],
)
def test_more_than_a_share(yes: int, no: int, state: State) -> None:
    assert share_state(yes, no, 4, 0.5) is state


GROW = """
candidates = "group"
where = { kind = ["new", "old"], operation = "encrypt", runner = "one" }
from = 16
to = 512
"""


@pytest.mark.parametrize(
    ("share", "mid_then", "outcome"),
    [
        # at 16 bytes they cost 1, 2 and 40, at 512 bytes 1, this and 39
        ("", 2.1, F),  # farther from Fast, nearer to Slow: one pair of three
        ("share_percent = 30", 2.1, H),
        ("share_percent = 34", 2.1, F),
        ("share_percent = 30", 2.0, U),  # as far from Fast as before: that pair could still decide
        ("share_percent = 34", 2.0, F),
        ("", 0.4, H),  # farther from both
    ],
)
def test_more_pairs_than_a_share_grow_apart(
    tmp_path: Path, share: str, mid_then: float, outcome: Outcome
) -> None:
    costs: Overrides = {"one/fast/*": 1.0, "one/slow/*": 40.0, "one/mid/*@16": 2.0}
    costs |= {"one/slow/*@512": 39.0, "one/mid/*@512": mid_then}
    verdict = verdict_of(tmp_path, "distances_grow", GROW + share, costs, **EXACT)
    assert verdict.outcome is outcome, verdict.evidence


def test_the_share_of_pairs_is_a_number_with_what_is_open(tmp_path: Path) -> None:
    costs: Overrides = {"one/fast/*": 1.0, "one/slow/*": 40.0, "one/mid/*@16": 2.0}
    verdict = verdict_of(tmp_path, "distances_grow", GROW, {**costs, "one/mid/*@512": 2.1}, **EXACT)
    (share,) = verdict.numbers
    assert (share.value, share.low, share.high) == pytest.approx((1 / 3, 1 / 3, 2 / 3))
    assert "of 3 pairs 1 are farther apart at 512 bytes than at 16 bytes and 1 nearer" in verdict.evidence[0]
    wide = verdict_of(tmp_path, "distances_grow", GROW, {**costs, "one/mid/*@512": (2.1, 0.9)}, **EXACT)
    assert (wide.numbers[0].low, wide.numbers[0].high) == pytest.approx((0.0, 1.0))


@pytest.mark.parametrize(
    ("form", "body"),
    [
        ("clusters", 'candidates = "group"\nclusters = []'),
        ("rank", 'candidates = "group"\norder = ["fast", "mid"]\nslack_percent = -0.1'),
        ("rank", 'candidates = "group"\norder = ["fast"]'),
        ("rank", 'candidates = "group"\nfirst = "fast"\nlast = "slow"'),
        ("rank", 'candidates = "group"'),
        ("ratio", 'numerator = { group = "mid" }\ndenominator = { group = "fast" }'),
        ("ratio", 'numerator = { group = "mid" }\ndenominator = { group = "fast" }\nlow = 0'),
        ("trend", "rises = [16, 32]\nwithin_percent = 5"),
        ("trend", "rises = [16, 32]\nlargest = 32"),
        ("trend", ""),
        ("significant", 'test = "kruskal-wallis"\nalpha = 0'),
        ("significant", 'test = "kruskal-wallis"\nalpha = 1'),
        ("rank_agreement", "low = -1.01"),
        ("rank_agreement", "low = 0.5\nhigh = 1.01"),
        ("effect", ""),
        ("effect", "threshold = 1\ndiffer = 2"),
        ("effect", "from = 16"),
        ("effect", "threshold = 1\nfrom = 16\nto = 32"),
    ],
)
def test_a_claim_without_a_limit_or_with_one_that_cannot_be_is_refused(
    tmp_path: Path, form: str, body: str
) -> None:
    with pytest.raises(DataFileError):
        verdict_of(tmp_path, form, body)


@pytest.mark.parametrize(
    ("form", "body", "rule", "refuted"),
    [
        ("ratio", RATIO + 'low = 2\nper = "block"', ["per block", "at least 2"], ["surely below 2"]),
        ("ratio", RATIO + "high = 2.5", ["at most 2.5"], ["surely above 2.5"]),
        ("ratio", RATIO + "low = 2\nhigh = 3", ["within 2 to 3"], ["surely outside 2 to 3"]),
        ("ratio", RATIO + "within_percent = 25", ["within 0.8 to 1.25"], ["outside 0.8 to 1.25"]),
        ("ratio", RATIO + "high = 2.5\nnegate = true", ["surely above 2.5"], ["at most 2.5"]),
        ("value", VALUE + "low = 0.5\nhigh = 2", ["0.5 to 2 cycles per byte"], ["outside 0.5 to 2"]),
        ("trend", SIZES + "within_percent = 25", ["within 25 %"], ["more than 25 %"]),
        ("clusters", CLUSTER + "slack_percent = 20", ["(Fast, Mid)"], ["more than 20 %"]),
        ("rank", RANK + 'order = ["fast", "mid"]\nslack_percent = 7', ["Fast, Mid"], ["by more than 7 %"]),
        ("rank", RANK + 'first = "fast"\namong = ["mid"]', ["fastest of Mid"], ["surely faster than Fast"]),
        ("rank", RANK + 'last = "slow"', ["Slow is the slowest"], ["surely slower than Slow"]),
        ("distances_grow", GROW + "share_percent = 60", ["60 %", "at 512 bytes than at 16"], ["60 %"]),
        ("effect", "threshold = 0.8", ["Cohen's d", "above 0.8"], ["below"]),
        ("effect", 'differ = 3\neffect = "cliff_delta"', ["Cliff's delta", "at least 3 times"], ["closer"]),
        ("effect", "from = 16\nto = 512\nshare_percent = 70", ["at 512 bytes than at 16", "70 %"], ["70 %"]),
        ("rank_agreement", "low = 0.5\nhigh = 0.9", ["within 0.5 to 0.9", "machine and today"], ["outside 0.5"]),
        ("rank_agreement", 'low = 0.5\nbetween = "machines"', ["each two published machines"], ["0.5 to 1"]),
    ],
)  # fmt: skip
def test_rule_and_refutation_carry_the_limits(
    tmp_path: Path, form: str, body: str, rule: list[str], refuted: list[str]
) -> None:
    verdict = verdict_of(tmp_path, form, body)
    assert all(part in verdict.rule for part in rule), verdict.rule
    assert all(part in verdict.refuted_by for part in refuted), verdict.refuted_by


@pytest.mark.parametrize(
    ("quantifier", "rule", "refuted"),
    [
        ("every", "in every one of the values of runner", "in one of the values of runner"),
        ("most", "in more than half of the values of runner", "in at least half of the values of runner"),
        ("some", "in at least one of the values of runner", "in all of the values of runner"),
    ],
)
def test_rule_and_refutation_count_groups(tmp_path: Path, quantifier: str, rule: str, refuted: str) -> None:
    where = 'where = { operation = "encrypt", size_bytes = 512, kind = ["new", "old"] }\n'
    body = f'{where}candidates = "group"\nfirst = "fast"\nby = ["runner"]\nquantifier = "{quantifier}"'
    verdict = verdict_of(tmp_path, "rank", body)
    assert rule in verdict.rule
    assert "cells: encrypt, 512 bytes, new or old" in verdict.rule
    assert refuted in verdict.refuted_by


def test_the_clearest_contradiction_of_an_order_is_told(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, "rank", RANK + 'order = ["slow", "mid", "fast"]', **EXACT)
    assert verdict.evidence == ("Fast is faster than Slow, 1.00 against 40.0 cycles per byte, 40.0 times.",)
    near = verdict_of(tmp_path, "rank", RANK + 'order = ["fast", "mid", "slow"]', mid(2.0), **EXACT)
    assert near.evidence[0].startswith("Fast is faster than Mid"), "the closest step"


def test_a_group_without_the_named_value_was_not_measured(tmp_path: Path) -> None:
    body = 'where = { group = ["mid", "any"] }\nby = ["group"]\nbest_of = ["runner", "operation"]\nsmallest = 512'
    verdict = verdict_of(tmp_path, "trend", body, {"md5/one": 5.0})
    assert verdict.outcome is U
    assert verdict.evidence[1] == "Any: 512 has no figure."


def test_one_size_of_a_quick_run_shows_no_trend(tmp_path: Path) -> None:
    """All but one value of the dimension are left out: nothing is flat or extreme by itself."""
    study = STUDY.replace('}@16,32"]\nblock', '}@16"]\nblock')
    for limits in ("within_percent = 5", "smallest = 16", "largest = 16"):
        claim = f'[[claims]]\nid = "c"\nsays = "s"\nplace = "p"\nform = "trend"\n{SIZES}{limits}'
        made = read_study(write_study(tmp_path, study=study, claims=claim))
        (verdict,) = judge(made, scripted_run({"*@512": None, "*@32": None, "*/slow/*": None})).verdicts
        assert (verdict.outcome, verdict.left_out) == (U, 1), verdict.evidence
