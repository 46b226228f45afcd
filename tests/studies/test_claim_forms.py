"""Every form of the vocabulary holds, fails, is undecidable and is not measurable on data made for it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from scripted_studies import Overrides, verdict_of

from perbyte.studies import Outcome
from perbyte.studies.claims import FORMS

WIDE = 0.5
H, F, U, M = Outcome.HOLDS, Outcome.FAILS, Outcome.UNDECIDED, Outcome.UNMEASURABLE


FASTEST = """
contenders = "group"
subject = "fast"
where = { kind = ["new", "old"] }
group_by = ["runner", "operation", "size_bytes"]
"""
SLOWEST = FASTEST.replace('"fast"', '"slow"')
LIBRARY = """
contenders = "runner"
subject = "one"
where = { group = "fast", size_bytes = 512 }
average_over = ["operation"]
"""
ORDER = """
contenders = "group"
order = ["fast", "mid", "slow"]
where = { kind = ["new", "old"] }
group_by = ["runner", "operation", "size_bytes"]
"""
SLOWER = """
subject = { group = "slow" }
than = { group = ["fast", "mid"] }
pair_by = ["runner", "operation", "size_bytes"]
"""
RATIO = """
numerator = { group = "mid", size_bytes = 512 }
denominator = { group = "fast", size_bytes = 512 }
pair_by = ["runner", "operation"]
low = 9
high = 11
"""
MEAN = RATIO + '\naggregate = "mean"'
ALIKE = """
numerator = { group = "mid", runner = "one" }
denominator = { group = "mid", runner = "two" }
pair_by = ["operation", "size_bytes"]
within_percent = 5
"""
SYMMETRIC = """
where = { group = "mid" }
pair_by = ["runner", "size_bytes"]
within_percent = 5
"""
ASYMMETRIC = """
where = { group = "mid", size_bytes = 16 }
pair_by = ["runner"]
beyond_percent = 5
"""
RISES = """
numerator = { group = "mid" }
denominator = { group = "fast" }
order = [16, 32, 512]
pair_by = ["runner", "operation"]
"""
EXTREMES = """
numerator = { group = "mid", size_bytes = 512 }
denominator = { group = "fast", size_bytes = 512 }
along = "runner"
smallest = "one"
largest = "two"
pair_by = ["operation"]
"""
RATIO_FLAT = """
numerator = { group = "slow" }
denominator = { group = "mid" }
pair_by = ["runner", "operation"]
within_percent = 10
"""
UNDER = """
where = { group = "mid" }
from = 16
to = 512
percent = 20
pair_by = ["runner", "operation"]
"""
ABOVE = """
where = { group = "fast" }
from = 16
to = 512
percent = 40
pair_by = ["runner", "operation"]
"""
LESS = """
subject = { group = "slow" }
than = { group = "fast" }
each = ["group"]
from = 16
to = 512
pair_by = ["runner", "operation"]
"""
FLAT = """
where = { group = "slow" }
within_percent = 5
group_by = ["runner", "operation"]
"""
UNEVEN = """
where = { group = "fast" }
beyond_percent = 50
group_by = ["runner", "operation"]
"""
CLUSTERS = """
contenders = "group"
clusters = [["fast", "mid"], ["slow"]]
where = { kind = ["new", "old"], size_bytes = 16 }
group_by = ["runner", "operation"]
"""
GROW_APART = """
contenders = "group"
where = { kind = ["new", "old"] }
group_by = ["runner", "operation"]
from = 16
to = 512
"""
OUTLIERS = """
contenders = "group"
subject = "fast"
where = { kind = ["new", "old"], size_bytes = 512 }
group_by = ["runner", "operation"]
"""
WITHIN = """
contenders = "runner"
subject = "two"
factor = 1.5
where = { kind = ["new", "old"] }
group_by = ["group", "operation", "size_bytes"]
"""
VALUE = """
where = { group = "fast", runner = "one", size_bytes = 512 }
group_by = ["operation"]
low = 0.9
high = 1.1
"""
PROVIDED = 'where = { group = "mid" }'
KRUSKAL = """
test = "kruskal-wallis"
where = { size_bytes = [16] }
"""
WHITNEY = """
test = "mann-whitney"
where = { size_bytes = [16] }
"""
EFFECT = "threshold = 0.8\nwhere = { size_bytes = [16] }"
GROWS = "from = 16\nto = 512"

NEAR_MID: Overrides = {"*/mid/*": (10.0, WIDE)}
NO_MID: Overrides = {"*/mid/*": None}
ONE_LEADS: Overrides = {"one/fast/*": 0.8}
TWO_LEADS: Overrides = {"one/fast/*": 1.2}
MIXED: Overrides = {"one/fast/decrypt@512": 0.9, "two/fast/encrypt@512": (1.0, WIDE)}

CASES: list[tuple[str, str, str, Outcome, Overrides]] = [
    ("fastest", "clear", FASTEST, H, {}),
    ("fastest", "one group contradicts", FASTEST, F, {"two/mid/decrypt@16": 1.9}),
    ("fastest", "intervals overlap", FASTEST, U, {"two/mid/decrypt@16": (2.1, 0.2)}),
    ("fastest", "a rival is missing", FASTEST, M, {"two/mid/*": None}),
    (
        "fastest",
        "a contradiction decides even then",
        FASTEST,
        F,
        {"two/mid/*": None, "one/mid/encrypt@16": 1.0},
    ),
    ("fastest", "averaged", LIBRARY, H, ONE_LEADS),
    ("fastest", "averaged", LIBRARY, F, TWO_LEADS),
    ("fastest", "averaged", LIBRARY, U, MIXED),
    ("fastest", "averaged", LIBRARY, M, {"one/fast/decrypt@512": None}),
    ("slowest", "clear", SLOWEST, H, {}),
    ("slowest", "one group", SLOWEST, F, {"one/mid/encrypt@16": 50.0}),
    ("slowest", "overlap", SLOWEST, U, {"one/mid/encrypt@16": (40.0, WIDE)}),
    ("slowest", "missing", SLOWEST, M, {"one/slow/*": None}),
    ("never_fastest", "never", LIBRARY, H, TWO_LEADS),
    ("never_fastest", "it is", LIBRARY, F, ONE_LEADS),
    ("never_fastest", "tie", LIBRARY, U, {}),
    ("never_fastest", "missing", LIBRARY, M, {"two/fast/*": None}),
    ("ordering", "in order", ORDER, H, {}),
    ("ordering", "two swapped", ORDER, F, {"two/mid/encrypt@512": 45.0}),
    ("ordering", "two tied", ORDER, U, {"two/mid/encrypt@512": (38.0, 0.2)}),
    ("ordering", "ties allowed", ORDER + "\nties = true", H, {"two/mid/encrypt@512": (38.0, 0.2)}),
    ("ordering", "missing", ORDER, M, NO_MID),
    ("slower_than", "clear", SLOWER, H, {}),
    ("slower_than", "reverse", SLOWER, F, {"two/slow/encrypt@32": 9.0}),
    ("slower_than", "overlap", SLOWER, U, {"two/slow/encrypt@32": (10.6, 0.1)}),
    ("slower_than", "missing", SLOWER, M, {"two/slow/encrypt@32": None}),
    ("slower_than", "by a third", SLOWER + "\nby_percent = 400", F, {}),
    ("slower_than", "per block", SLOWER + '\nper = "block"', H, {}),
    ("slower_than", "blocks decide", SLOWER + '\nper = "block"', F, {"one/slow/*": 18.0}),
    ("faster_than", "clear", SLOWER.replace("slow", "fast", 1).replace('["fast", "mid"]', '"slow"'), H, {}),
    (
        "faster_than",
        "reverse",
        SLOWER.replace("slow", "fast", 1).replace('["fast", "mid"]', '"slow"'),
        F,
        {"*/fast/*": 90.0},
    ),
    (
        "faster_than",
        "overlap",
        SLOWER.replace("slow", "fast", 1).replace('["fast", "mid"]', '"slow"'),
        U,
        {"*/fast/*": (40.0, WIDE)},
    ),
    (
        "faster_than",
        "missing",
        SLOWER.replace("slow", "fast", 1).replace('["fast", "mid"]', '"slow"'),
        M,
        {"*/fast/*": None},
    ),
    ("ratio_between", "inside", RATIO, H, {}),
    ("ratio_between", "outside", RATIO, F, {"one/mid/encrypt@512": 12.0}),
    ("ratio_between", "on the edge", RATIO, U, {"one/mid/encrypt@512": (11.0, 0.05)}),
    ("ratio_between", "missing", RATIO, M, NO_MID),
    ("ratio_between", "mean inside", MEAN, H, {"one/mid/encrypt@512": 12.0}),
    ("ratio_between", "mean outside", MEAN, F, {"one/mid/*": 20.0}),
    ("ratio_between", "mean on the edge", MEAN, U, {"one/mid/encrypt@512": (14.0, 0.05)}),
    ("ratio_between", "mean missing", MEAN, M, {"one/mid/encrypt@512": None}),
    ("alike", "same", ALIKE, H, {}),
    ("alike", "apart", ALIKE, F, {"one/mid/encrypt@16": 12.0}),
    ("alike", "unsure", ALIKE, U, {"one/mid/encrypt@16": (11.5, 0.02)}),
    ("alike", "missing", ALIKE, M, {"one/mid/encrypt@16": None}),
    ("symmetric", "same", SYMMETRIC, H, {}),
    ("symmetric", "apart", SYMMETRIC, F, {"two/mid/decrypt@32": 12.0}),
    ("symmetric", "unsure", SYMMETRIC, U, {"two/mid/decrypt@32": (11.0, 0.02)}),
    ("symmetric", "missing", SYMMETRIC, M, {"two/mid/decrypt@32": None}),
    ("asymmetric", "apart", ASYMMETRIC, H, {"*/mid/decrypt@16": 9.0}),
    ("asymmetric", "same", ASYMMETRIC, F, {}),
    ("asymmetric", "unsure", ASYMMETRIC, U, {"*/mid/decrypt@16": (10.4, 0.02)}),
    ("asymmetric", "missing", ASYMMETRIC, M, {"*/mid/decrypt@16": 9.0, "one/mid/decrypt@16": None}),
    ("ratio_rises", "rises", RISES, H, {}),
    ("ratio_rises", "falls once", RISES, F, {"one/mid/encrypt@32": 4.0}),
    ("ratio_rises", "unsure", RISES, U, {"one/mid/encrypt@32": (10.5, WIDE)}),
    ("ratio_rises", "missing", RISES, M, {"one/mid/encrypt@32": None}),
    ("ratio_extremes", "as said", EXTREMES, H, {"two/mid/*": 20.0}),
    ("ratio_extremes", "reverse", EXTREMES, F, {"one/mid/*": 20.0}),
    ("ratio_extremes", "tie", EXTREMES, U, {}),
    ("ratio_extremes", "missing", EXTREMES, M, {"two/mid/*": None}),
    ("ratio_flat", "flat", RATIO_FLAT, H, {}),
    ("ratio_flat", "not flat", RATIO_FLAT, F, {"one/slow/encrypt@512": 60.0}),
    ("ratio_flat", "unsure", RATIO_FLAT, U, {"one/slow/encrypt@512": (43.0, 0.05)}),
    ("ratio_flat", "missing", RATIO_FLAT, M, {"one/slow/encrypt@512": None}),
    ("change_under", "little", UNDER, H, {}),
    ("change_under", "much", UNDER, F, {"one/mid/encrypt@16": 20.0}),
    ("change_under", "much the other way", UNDER, F, {"one/mid/encrypt@16": 5.0}),
    ("change_under", "much downwards", UNDER + 'way = "down"\n', F, {"one/mid/encrypt@16": 20.0}),
    ("change_under", "much, but upwards", UNDER + 'way = "down"\n', H, {"one/mid/encrypt@16": 5.0}),
    ("change_under", "unsure", UNDER, U, {"one/mid/encrypt@16": (12.5, 0.05)}),
    ("change_under", "missing", UNDER, M, {"one/mid/encrypt@16": None}),
    ("change_above", "much", ABOVE, H, {}),
    ("change_above", "little", ABOVE, F, {"one/fast/encrypt@16": 1.2}),
    ("change_above", "unsure", ABOVE, U, {"one/fast/encrypt@16": (1.67, 0.05)}),
    ("change_above", "missing", ABOVE, M, {"one/fast/encrypt@16": None}),
    ("changes_less", "less", LESS, H, {}),
    ("changes_less", "more", LESS, F, {"one/slow/encrypt@16": 100.0}),
    ("changes_less", "unsure", LESS, U, {"one/slow/encrypt@16": (80.0, 0.1)}),
    ("changes_less", "missing", LESS, M, {"one/slow/encrypt@16": None}),
    ("flat", "flat", FLAT, H, {}),
    ("flat", "not flat", FLAT, F, {"one/slow/encrypt@16": 50.0}),
    ("flat", "unsure", FLAT, U, {"one/slow/encrypt@16": (42.0, 0.02)}),
    ("flat", "missing", FLAT, M, {"one/slow/encrypt@16": None}),
    ("uneven", "uneven", UNEVEN, H, {}),
    ("uneven", "even", UNEVEN, F, {"one/fast/encrypt@*": 1.0}),
    ("uneven", "unsure", UNEVEN, U, {"one/fast/encrypt@16": (1.5, 0.05), "one/fast/encrypt@32": 1.2}),
    ("uneven", "missing", UNEVEN, M, {"one/fast/encrypt@16": None}),
    ("clusters", "near", CLUSTERS, H, {"*/fast/*@16": 9.0}),
    ("clusters", "a stranger is nearer", CLUSTERS, F, {}),
    ("clusters", "a stranger is hardly nearer", CLUSTERS + "slack_percent = 50\n", H, {}),
    ("clusters", "a stranger is nearer still", CLUSTERS + "slack_percent = 40\n", F, {}),
    ("clusters", "unsure", CLUSTERS, U, {"*/fast/*@16": (3.0, WIDE)}),
    ("clusters", "missing", CLUSTERS, M, {"*/fast/*@16": 9.0, "one/slow/*@16": None}),
    ("distances_grow", "all of them", GROW_APART, H, {}),
    ("distances_grow", "one of three", GROW_APART, F, {"*/fast/*@512": 9.0}),
    ("distances_grow", "unsure", GROW_APART, U, {"*/fast/*@512": (2.0, WIDE)}),
    ("distances_grow", "missing", GROW_APART, M, {"one/slow/*@512": None}),
    ("outliers", "apart", OUTLIERS, H, {}),
    ("outliers", "another is farther", OUTLIERS, F, {"*/fast/*@512": 10.0}),
    ("outliers", "unsure", OUTLIERS, U, {"*/fast/*@512": (2.5, WIDE)}),
    ("outliers", "missing", OUTLIERS, M, {"one/slow/*@512": None}),
    ("within_of_best", "keeps up", WITHIN, H, {}),
    ("within_of_best", "falls behind", WITHIN, F, {"two/mid/encrypt@16": 20.0}),
    ("within_of_best", "unsure", WITHIN, U, {"two/mid/encrypt@16": (16.5, 0.05)}),
    ("within_of_best", "missing", WITHIN, M, {"two/mid/encrypt@16": None}),
    ("value_between", "inside", VALUE, H, {}),
    ("value_between", "outside", VALUE, F, {"one/fast/encrypt@512": 1.3}),
    ("value_between", "on the edge", VALUE, U, {"one/fast/encrypt@512": (1.1, 0.01)}),
    ("value_between", "missing", VALUE, M, {"one/fast/encrypt@512": None}),
    ("provided", "there", PROVIDED, H, {}),
    ("provided", "one lacks it", PROVIDED, F, {"two/mid/*": None}),
    ("provided", "no such runner here", PROVIDED, M, {"two/*": None}),
    ("not_provided", "lacking", PROVIDED, H, NO_MID),
    ("not_provided", "there", PROVIDED, F, {"one/mid/*": None}),
    ("not_provided", "no such runner here", PROVIDED, M, {"one/mid/*": None, "two/*": None}),
]


@pytest.mark.parametrize(
    ("form", "body", "outcome", "overrides"),
    [
        pytest.param(form, body, outcome, over, id=f"{form}: {what}: {outcome}")
        for form, what, body, outcome, over in CASES
    ],
)
def test_form(tmp_path: Path, form: str, body: str, outcome: Outcome, overrides: Overrides) -> None:
    found = verdict_of(tmp_path, form, body, overrides)
    assert found.outcome is outcome, found.evidence
    assert found.evidence
    assert all(line[-1] in ".:" for line in found.evidence)


@pytest.mark.parametrize(("cost", "outcome"), [(2.09, U), (2.11, H)])
def test_the_noise_floor_swallows_differences(tmp_path: Path, cost: float, outcome: Outcome) -> None:
    found = verdict_of(tmp_path, "fastest", FASTEST, {"two/mid/decrypt@16": cost}, floor=0.05)
    assert found.outcome is outcome, found.evidence


@pytest.mark.parametrize("width", [math.inf, 1.5])
def test_intervals_without_an_end_decide_nothing(tmp_path: Path, width: float) -> None:
    """A single epoch has no interval: nothing may be claimed from it, and nothing may break."""
    bodies = {form: body for form, _, body, _, _ in CASES} | {
        "rank_agreement": "low = 0.9",
        "significant": KRUSKAL,
        "effect_above": EFFECT,
        "effect_grows": GROWS,
    }
    for form, body in bodies.items():
        found = verdict_of(tmp_path, form, body, width=width, epochs=1)
        assert found.outcome in ((H, F) if form in ("provided", "not_provided") else (U, M)), (
            form,
            found.evidence,
        )


def test_provided_cannot_tell_of_cells_that_were_not_asked_for(tmp_path: Path) -> None:
    for form in ("provided", "not_provided"):
        found = verdict_of(tmp_path, form, PROVIDED, NO_MID, study="something-else")
        assert found.outcome is U, found.evidence


def test_every_form_is_tested_here() -> None:
    apart = {"significant", "effect_above", "effect_grows", "rank_agreement", "out_of_reach"}
    by_form: dict[str, set[Outcome]] = {}
    for form, _, _, outcome, _ in CASES:
        by_form.setdefault(form, set()).add(outcome)
    assert set(by_form) | apart == set(FORMS)
    availability = {"provided", "not_provided"}
    assert all(found == {H, F, U, M} for form, found in by_form.items() if form not in availability)
