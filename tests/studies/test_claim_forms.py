"""Every form of the vocabulary holds, fails, is undecidable and is not measurable on data made for it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from scripted_studies import Overrides, verdict_of

from perbyte.studies import Outcome
from perbyte.studies.claims import FORMS

WIDE = 0.5
H, F, U, M = Outcome.REPRODUCED, Outcome.NOT_REPRODUCED, Outcome.INCONCLUSIVE, Outcome.NOT_TESTABLE


FASTEST = """
candidates = "group"
first = "fast"
where = { kind = ["new", "old"] }
by = ["runner", "operation", "size_bytes"]
"""
SLOWEST = FASTEST.replace('first = "fast"', 'last = "slow"')
LIBRARY = """
candidates = "runner"
first = "one"
where = { group = "fast", size_bytes = 512 }
average_over = ["operation"]
"""
ORDER = """
candidates = "group"
order = ["fast", "mid", "slow"]
where = { kind = ["new", "old"] }
by = ["runner", "operation", "size_bytes"]
"""
SLOWER = """
low = 1
numerator = { group = "slow" }
denominator = { group = ["fast", "mid"] }
each = ["group"]
by = ["runner", "operation", "size_bytes"]
"""
RATIO = """
numerator = { group = "mid", size_bytes = 512 }
denominator = { group = "fast", size_bytes = 512 }
by = ["runner", "operation"]
low = 9
high = 11
"""
MEAN = RATIO + '\naggregate = "mean"'
ALIKE = """
numerator = { group = "mid", runner = "one" }
denominator = { group = "mid", runner = "two" }
by = ["operation", "size_bytes"]
within_percent = 5
"""
SYMMETRIC = """
where = { group = "mid" }
numerator = { operation = "decrypt" }
denominator = { operation = "encrypt" }
by = ["runner", "size_bytes"]
within_percent = 5
"""
ASYMMETRIC = """
negate = true
where = { group = "mid", size_bytes = 16 }
numerator = { operation = "decrypt" }
denominator = { operation = "encrypt" }
by = ["runner"]
within_percent = 5
"""
RISES = """
numerator = { group = "mid" }
denominator = { group = "fast" }
rises = [16, 32, 512]
by = ["runner", "operation"]
"""
EXTREMES = """
numerator = { group = "mid", size_bytes = 512 }
denominator = { group = "fast", size_bytes = 512 }
along = "runner"
smallest = "one"
largest = "two"
by = ["operation"]
"""
RATIO_FLAT = """
numerator = { group = "slow" }
denominator = { group = "mid" }
by = ["runner", "operation"]
within_percent = 10
"""
UNDER = """
where = { group = "mid" }
numerator = { size_bytes = 512 }
denominator = { size_bytes = 16 }
low = 0.8
high = 1.2
by = ["runner", "operation"]
"""
ABOVE = """
where = { group = "fast" }
numerator = { size_bytes = 512 }
denominator = { size_bytes = 16 }
high = 0.6
by = ["runner", "operation"]
"""
LESS = """
numerator = { size_bytes = 16 }
denominator = { size_bytes = 512 }
along = "group"
rises = ["slow", "fast"]
by = ["runner", "operation"]
"""
FLAT = """
where = { group = "slow" }
within_percent = 5
by = ["runner", "operation"]
"""
UNEVEN = """
negate = true
where = { group = "fast" }
within_percent = 50
by = ["runner", "operation"]
"""
CLUSTERS = """
candidates = "group"
clusters = [["fast", "mid"], ["slow"]]
where = { kind = ["new", "old"], size_bytes = 16 }
by = ["runner", "operation"]
"""
GROW_APART = """
candidates = "group"
where = { kind = ["new", "old"] }
by = ["runner", "operation"]
from = 16
to = 512
"""
OUTLIERS = """
candidates = "group"
apart = "fast"
where = { kind = ["new", "old"], size_bytes = 512 }
by = ["runner", "operation"]
"""
WITHIN = """
where = { kind = ["new", "old"] }
numerator = { runner = "two" }
denominator = {}
best_of = ["runner"]
high = 1.5
by = ["group", "operation", "size_bytes"]
"""
VALUE = """
where = { group = "fast", runner = "one", size_bytes = 512 }
by = ["operation"]
low = 0.9
high = 1.1
"""
PROVIDED = 'where = { group = "mid" }'
ANYWHERE = PROVIDED + "\nanywhere = true"
LACKING = PROVIDED + "\nnegate = true"
NEVER = LIBRARY + "\nnegate = true"
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
    ("rank", "fastest: clear", FASTEST, H, {}),
    ("rank", "fastest: one group contradicts", FASTEST, F, {"two/mid/decrypt@16": 1.9}),
    ("rank", "fastest: intervals overlap", FASTEST, U, {"two/mid/decrypt@16": (2.1, 0.2)}),
    ("rank", "fastest: a rival is missing", FASTEST, M, {"two/mid/*": None}),
    (
        "rank",
        "fastest: a contradiction decides even then",
        FASTEST,
        F,
        {"two/mid/*": None, "one/mid/encrypt@16": 1.0},
    ),
    ("rank", "fastest: averaged", LIBRARY, H, ONE_LEADS),
    ("rank", "fastest: averaged", LIBRARY, F, TWO_LEADS),
    ("rank", "fastest: averaged", LIBRARY, U, MIXED),
    ("rank", "fastest: averaged", LIBRARY, M, {"one/fast/decrypt@512": None}),
    ("rank", "slowest: clear", SLOWEST, H, {}),
    ("rank", "slowest: one group", SLOWEST, F, {"one/mid/encrypt@16": 50.0}),
    ("rank", "slowest: overlap", SLOWEST, U, {"one/mid/encrypt@16": (40.0, WIDE)}),
    ("rank", "slowest: missing", SLOWEST, M, {"one/slow/*": None}),
    ("rank", "never_fastest: never", NEVER, H, TWO_LEADS),
    ("rank", "never_fastest: it is", NEVER, F, ONE_LEADS),
    ("rank", "never_fastest: tie", NEVER, U, {}),
    ("rank", "never_fastest: missing", NEVER, M, {"two/fast/*": None}),
    ("rank", "ordering: in order", ORDER, H, {}),
    ("rank", "ordering: two swapped", ORDER, F, {"two/mid/encrypt@512": 45.0}),
    ("rank", "ordering: two tied", ORDER, U, {"two/mid/encrypt@512": (38.0, 0.2)}),
    ("rank", "ordering: within the slack", ORDER + "\nslack_percent = 9", H, {"two/mid/encrypt@512": 43.0}),
    ("rank", "ordering: beyond the slack", ORDER + "\nslack_percent = 7", F, {"two/mid/encrypt@512": 43.0}),
    ("rank", "ordering: missing", ORDER, M, NO_MID),
    ("ratio", "slower_than: clear", SLOWER, H, {}),
    ("ratio", "slower_than: reverse", SLOWER, F, {"two/slow/encrypt@32": 9.0}),
    ("ratio", "slower_than: overlap", SLOWER, U, {"two/slow/encrypt@32": (10.6, 0.1)}),
    ("ratio", "slower_than: missing", SLOWER, M, {"two/slow/encrypt@32": None}),
    ("ratio", "slower_than: by a third", SLOWER.replace("low = 1", "low = 5"), F, {}),
    ("ratio", "slower_than: per block", SLOWER + '\nper = "block"', H, {}),
    ("ratio", "slower_than: blocks decide", SLOWER + '\nper = "block"', F, {"one/slow/*": 18.0}),
    ("ratio", "ratio_between: inside", RATIO, H, {}),
    ("ratio", "ratio_between: outside", RATIO, F, {"one/mid/encrypt@512": 12.0}),
    ("ratio", "ratio_between: on the edge", RATIO, U, {"one/mid/encrypt@512": (11.0, 0.05)}),
    ("ratio", "ratio_between: missing", RATIO, M, NO_MID),
    ("ratio", "ratio_between: mean inside", MEAN, H, {"one/mid/encrypt@512": 12.0}),
    ("ratio", "ratio_between: mean outside", MEAN, F, {"one/mid/*": 20.0}),
    ("ratio", "ratio_between: mean on the edge", MEAN, U, {"one/mid/encrypt@512": (14.0, 0.05)}),
    ("ratio", "ratio_between: mean missing", MEAN, M, {"one/mid/encrypt@512": None}),
    ("ratio", "alike: same", ALIKE, H, {}),
    ("ratio", "alike: apart", ALIKE, F, {"one/mid/encrypt@16": 12.0}),
    ("ratio", "alike: unsure", ALIKE, U, {"one/mid/encrypt@16": (11.5, 0.02)}),
    ("ratio", "alike: missing", ALIKE, M, {"one/mid/encrypt@16": None}),
    ("ratio", "symmetric: same", SYMMETRIC, H, {}),
    ("ratio", "symmetric: apart", SYMMETRIC, F, {"two/mid/decrypt@32": 12.0}),
    ("ratio", "symmetric: unsure", SYMMETRIC, U, {"two/mid/decrypt@32": (11.0, 0.02)}),
    ("ratio", "symmetric: missing", SYMMETRIC, M, {"two/mid/decrypt@32": None}),
    ("ratio", "asymmetric: apart", ASYMMETRIC, H, {"*/mid/decrypt@16": 9.0}),
    ("ratio", "asymmetric: same", ASYMMETRIC, F, {}),
    ("ratio", "asymmetric: unsure", ASYMMETRIC, U, {"*/mid/decrypt@16": (10.4, 0.02)}),
    ("ratio", "asymmetric: missing", ASYMMETRIC, M, {"*/mid/decrypt@16": 9.0, "one/mid/decrypt@16": None}),
    ("trend", "ratio_rises: rises", RISES, H, {}),
    ("trend", "ratio_rises: falls once", RISES, F, {"one/mid/encrypt@32": 4.0}),
    ("trend", "ratio_rises: unsure", RISES, U, {"one/mid/encrypt@32": (10.5, WIDE)}),
    ("trend", "ratio_rises: missing", RISES, M, {"one/mid/encrypt@32": None}),
    ("trend", "ratio_extremes: as said", EXTREMES, H, {"two/mid/*": 20.0}),
    ("trend", "ratio_extremes: reverse", EXTREMES, F, {"one/mid/*": 20.0}),
    ("trend", "ratio_extremes: tie", EXTREMES, U, {}),
    ("trend", "ratio_extremes: missing", EXTREMES, M, {"two/mid/*": None}),
    ("trend", "ratio_flat: flat", RATIO_FLAT, H, {}),
    ("trend", "ratio_flat: not flat", RATIO_FLAT, F, {"one/slow/encrypt@512": 60.0}),
    ("trend", "ratio_flat: unsure", RATIO_FLAT, U, {"one/slow/encrypt@512": (43.0, 0.05)}),
    ("trend", "ratio_flat: missing", RATIO_FLAT, M, {"one/slow/encrypt@512": None}),
    ("ratio", "change_under: little", UNDER, H, {}),
    ("ratio", "change_under: much", UNDER, F, {"one/mid/encrypt@16": 20.0}),
    ("ratio", "change_under: much the other way", UNDER, F, {"one/mid/encrypt@16": 5.0}),
    (
        "ratio",
        "change_under: much downwards",
        UNDER.replace("high = 1.2", ""),
        F,
        {"one/mid/encrypt@16": 20.0},
    ),
    (
        "ratio",
        "change_under: much, but upwards",
        UNDER.replace("high = 1.2", ""),
        H,
        {"one/mid/encrypt@16": 5.0},
    ),
    ("ratio", "change_under: unsure", UNDER, U, {"one/mid/encrypt@16": (12.5, 0.05)}),
    ("ratio", "change_under: missing", UNDER, M, {"one/mid/encrypt@16": None}),
    ("ratio", "change_above: much", ABOVE, H, {}),
    ("ratio", "change_above: little", ABOVE, F, {"one/fast/encrypt@16": 1.2}),
    ("ratio", "change_above: unsure", ABOVE, U, {"one/fast/encrypt@16": (1.67, 0.05)}),
    ("ratio", "change_above: missing", ABOVE, M, {"one/fast/encrypt@16": None}),
    ("trend", "changes_less: less", LESS, H, {}),
    ("trend", "changes_less: more", LESS, F, {"one/slow/encrypt@16": 100.0}),
    ("trend", "changes_less: unsure", LESS, U, {"one/slow/encrypt@16": (80.0, 0.1)}),
    ("trend", "changes_less: missing", LESS, M, {"one/slow/encrypt@16": None}),
    ("trend", "flat: flat", FLAT, H, {}),
    ("trend", "flat: not flat", FLAT, F, {"one/slow/encrypt@16": 50.0}),
    ("trend", "flat: unsure", FLAT, U, {"one/slow/encrypt@16": (42.0, 0.02)}),
    ("trend", "flat: missing", FLAT, M, {"one/slow/encrypt@16": None}),
    ("trend", "uneven: uneven", UNEVEN, H, {}),
    ("trend", "uneven: even", UNEVEN, F, {"one/fast/encrypt@*": 1.0}),
    ("trend", "uneven: unsure", UNEVEN, U, {"one/fast/encrypt@16": (1.5, 0.05), "one/fast/encrypt@32": 1.2}),
    ("trend", "uneven: missing", UNEVEN, M, {"one/fast/encrypt@16": None}),
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
    ("ratio", "within_of_best: keeps up", WITHIN, H, {}),
    ("ratio", "within_of_best: falls behind", WITHIN, F, {"two/mid/encrypt@16": 20.0}),
    ("ratio", "within_of_best: unsure", WITHIN, U, {"two/mid/encrypt@16": (16.5, 0.05)}),
    ("ratio", "within_of_best: missing", WITHIN, M, {"two/mid/encrypt@16": None}),
    ("value", "value_between: inside", VALUE, H, {}),
    ("value", "value_between: outside", VALUE, F, {"one/fast/encrypt@512": 1.3}),
    ("value", "value_between: on the edge", VALUE, U, {"one/fast/encrypt@512": (1.1, 0.01)}),
    ("value", "value_between: missing", VALUE, M, {"one/fast/encrypt@512": None}),
    ("provided", "there", PROVIDED, H, {}),
    ("provided", "one lacks it", PROVIDED, F, {"two/mid/*": None}),
    ("provided", "no such runner here", PROVIDED, M, {"two/*": None}),
    ("provided", "anywhere: one library is enough", ANYWHERE, H, {"two/mid/*": None}),
    ("provided", "anywhere: none has it", ANYWHERE, F, NO_MID),
    (
        "provided",
        "anywhere: a runner that did not measure may have it",
        ANYWHERE,
        M,
        {"one/mid/*": None, "two/*": None},
    ),
    ("provided", "not: lacking", LACKING, H, NO_MID),
    ("provided", "not: there", LACKING, F, {"one/mid/*": None}),
    ("provided", "not: no such runner here", LACKING, M, {"one/mid/*": None, "two/*": None}),
]


@pytest.mark.parametrize(
    ("form", "body", "outcome", "overrides"),
    [
        pytest.param(form, body, outcome, over, id=f"{form}: {what}: {outcome}")
        for form, what, body, outcome, over in CASES
    ],
)
def test_form(tmp_path: Path, form: str, body: str, outcome: Outcome, overrides: Overrides) -> None:
    verdict = verdict_of(tmp_path, form, body, overrides)
    assert verdict.outcome is outcome, verdict.evidence
    assert verdict.evidence
    assert all(line[-1] in ".:" for line in verdict.evidence)


@pytest.mark.parametrize(("cost", "outcome"), [(2.09, U), (2.11, H)])
def test_the_noise_floor_swallows_differences(tmp_path: Path, cost: float, outcome: Outcome) -> None:
    verdict = verdict_of(tmp_path, "rank", FASTEST, {"two/mid/decrypt@16": cost}, floor=0.05)
    assert verdict.outcome is outcome, verdict.evidence


@pytest.mark.parametrize("width", [math.inf, 1.5])
def test_intervals_without_an_end_decide_nothing(tmp_path: Path, width: float) -> None:
    """A single epoch has no interval: nothing may be claimed from it, and nothing may break."""
    bodies = [(form, body) for form, _, body, _, _ in CASES] + [
        ("rank_agreement", "low = 0.9"),
        ("significant", KRUSKAL),
        ("effect", EFFECT),
        ("effect", GROWS),
    ]
    for form, body in bodies:
        verdict = verdict_of(tmp_path, form, body, width=width, epochs=1)
        assert verdict.outcome in ((H, F) if form == "provided" else (U, M)), (form, verdict.evidence)


def test_provided_cannot_tell_of_cells_that_were_not_asked_for(tmp_path: Path) -> None:
    for body in (PROVIDED, LACKING):
        verdict = verdict_of(tmp_path, "provided", body, NO_MID, study="something-else")
        assert verdict.outcome is U, verdict.evidence


def test_every_form_is_tested_here() -> None:
    apart = {"significant", "effect", "rank_agreement", "out_of_reach"}
    by_form: dict[str, set[Outcome]] = {}
    for form, _, _, outcome, _ in CASES:
        by_form.setdefault(form, set()).add(outcome)
    assert set(by_form) | apart == set(FORMS)
    assert all(outcomes == {H, F, U, M} for form, outcomes in by_form.items() if form != "provided")
