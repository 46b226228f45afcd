"""Forms that look at epochs and at print, and the sentences and errors that all forms share."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scripted_studies import Overrides, verdict_of

from perbyte.errors import DataFileError
from perbyte.model import Cell
from perbyte.studies import Outcome
from perbyte.studies.claims import significance

H, F, U, M = Outcome.REPRODUCED, Outcome.NOT_REPRODUCED, Outcome.INCONCLUSIVE, Outcome.NOT_TESTABLE

FASTEST = """
candidates = "group"
first = "fast"
where = { kind = ["new", "old"] }
by = ["runner", "operation", "size_bytes"]
"""
VALUE = """
where = { group = "fast", runner = "one", size_bytes = 512 }
by = ["operation"]
low = 0.9
high = 1.1
"""
KRUSKAL = 'test = "kruskal-wallis"\nwhere = { size_bytes = [16] }'
WHITNEY = 'test = "mann-whitney"\nwhere = { size_bytes = [16] }'
EFFECT = "threshold = 0.8\nwhere = { size_bytes = [16] }"
GROWS = "from = 16\nto = 512"


def test_kruskal_wallis_needs_separation_and_epochs(tmp_path: Path) -> None:
    same: Overrides = {"*": 10.0}
    assert verdict_of(tmp_path, "significant", KRUSKAL).outcome is H
    assert verdict_of(tmp_path, "significant", KRUSKAL, same).outcome is F
    assert verdict_of(tmp_path, "significant", KRUSKAL, same, epochs=2).outcome is U
    assert verdict_of(tmp_path, "significant", KRUSKAL, epochs=1).outcome is U


def test_mann_whitney_is_open_where_epochs_are_too_few_and_fails_where_they_are_not(tmp_path: Path) -> None:
    few = verdict_of(tmp_path, "significant", WHITNEY)
    assert few.outcome is U
    assert "with 3 epoch figures per cell, 3 of 3 pairs cannot get a corrected p below 0.3" in few.evidence[1]
    assert "the interval of the ratio leaves 1 out for 3 of 3" in few.evidence[1]
    assert verdict_of(tmp_path, "significant", WHITNEY, epochs=6).outcome is H
    assert verdict_of(tmp_path, "significant", WHITNEY, {"*": 10.0}, epochs=6).outcome is F


def test_effect_above_counts_pairs(tmp_path: Path) -> None:
    assert verdict_of(tmp_path, "effect", EFFECT).outcome is H
    same: Overrides = {"two/mid/*": 2.0, "two/fast/*": 2.0}
    assert verdict_of(tmp_path, "effect", EFFECT, same).outcome is U
    assert verdict_of(tmp_path, "effect", EFFECT, same, epochs=20).outcome is F
    assert verdict_of(tmp_path, "effect", EFFECT, epochs=1).outcome is U


def test_effect_grows_by_the_share_of_pairs(tmp_path: Path) -> None:
    # d of two costs does not change with size while their ratio does not; pulling fast down makes it grow
    growing: Overrides = {"*/fast/*@16": 9.0, "*/mid/*@16": 10.0, "*/slow/*@16": 11.0}
    shrinking: Overrides = {"*/fast/*@512": 9.0, "*/mid/*@512": 10.0, "*/slow/*@512": 11.0}
    half: Overrides = {**growing, "two/*@16": 40.0, "two/fast/*@16": 0.001, "two/mid/*@16": 5000.0}
    assert verdict_of(tmp_path, "effect", GROWS, growing).outcome is H
    assert verdict_of(tmp_path, "effect", GROWS, shrinking).outcome is F
    assert verdict_of(tmp_path, "effect", GROWS, half).outcome is U
    assert verdict_of(tmp_path, "effect", GROWS, epochs=1).outcome is U
    assert verdict_of(tmp_path, "effect", GROWS, {"*@512": None}).outcome is U


def test_rank_agreement_follows_the_printed_order(tmp_path: Path) -> None:
    body = 'where = { kind = ["new", "old", "hash"] }\nlow = 0.9'
    like_print: Overrides = {"one/slow/decrypt@16": 43.0}
    assert verdict_of(tmp_path, "rank_agreement", body, like_print).outcome is H
    assert verdict_of(tmp_path, "rank_agreement", body, {**like_print, "one/fast/*": 99.0}).outcome is F
    unsure: Overrides = {"one/*": (20.0, 0.9), **like_print}
    assert verdict_of(tmp_path, "rank_agreement", body, unsure).outcome is U
    with_a_time = verdict_of(tmp_path, "rank_agreement", body, {**like_print, "md5/one": 1.0})
    assert with_a_time.outcome is M
    assert "box: only 1 figure can be compared, too few to rank." in with_a_time.evidence
    assert verdict_of(tmp_path, "rank_agreement", body, {"one/*": None}).outcome is M


def test_out_of_reach_says_why(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, "out_of_reach", 'why = "Nobody can know"')
    assert (verdict.outcome, verdict.evidence) == (M, ("Nobody can know.",))


def test_the_sentence_carries_the_numbers_that_decide(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, "rank", FASTEST, {"two/mid/decrypt@16": 1.9})
    assert verdict.evidence[0] == "Of 12 comparisons 11 support the claim, 1 contradicts it."
    assert verdict.evidence[1] == (
        "two, decrypt, 16 bytes: Mid is faster than Fast, 1.90 against 2.00 cycles per byte, "
        "1.0526 (1.0511 to 1.0541) times."
    )
    decided = [number for number in verdict.numbers if number.group == "two, decrypt, 16 bytes"]
    assert [(number.name, round(number.value, 3), number.unit) for number in decided] == [
        ("Fast", 2.0, "cycles/byte"),
        ("Mid", 1.9, "cycles/byte"),
        ("Slow", 41.0, "cycles/byte"),
    ]


def test_two_cells_where_one_is_meant_are_an_error_of_the_study(tmp_path: Path) -> None:
    body = FASTEST.replace(', "size_bytes"', "")
    with pytest.raises(
        DataFileError, match=r"made-up/claims.toml: \[\[claims\]\] c: Fast: 3 cells .* differ in size_bytes"
    ):
        verdict_of(tmp_path, "rank", body)


def test_selections_that_never_meet_are_an_error_of_the_study(tmp_path: Path) -> None:
    sides = (
        'numerator = { group = "fast", size_bytes = 16 }\ndenominator = { group = "slow", size_bytes = 512 }'
    )
    body = f'{sides}\nlow = 1\nby = ["size_bytes"]'
    with pytest.raises(DataFileError, match="c: no cells of the study meet in size_bytes"):
        verdict_of(tmp_path, "ratio", body)


def test_without_cycles_costs_are_compared_in_nanoseconds(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, "rank", FASTEST, cycles=False)
    assert verdict.outcome is H
    assert "ns per byte" in verdict.evidence[1]
    assert verdict_of(tmp_path, "value", VALUE, cycles=False).outcome is U


@pytest.mark.parametrize(
    ("overrides", "outcome"),
    [
        ({"*/fast/*": 10.0, "*/mid/*": 10.0001, "*/slow/*": 20.0}, H),
        ({"*/fast/*": 10.0, "*/mid/*": 11.0, "*/slow/*": 12.0}, F),
        ({"*/fast/*": 10.0, "*/mid/*": 10.3, "*/slow/*": 12.0}, U),
    ],
)
def test_effects_differ_within_a_group(tmp_path: Path, overrides: Overrides, outcome: Outcome) -> None:
    body = "differ = 8\nwhere = { size_bytes = [16] }"
    assert verdict_of(tmp_path, "effect", body, overrides, epochs=40).outcome is outcome


def test_print_between_machines_needs_two_of_them(tmp_path: Path) -> None:
    body = 'between = "machines"\nlow = 0.5'
    assert verdict_of(tmp_path, "rank_agreement", body).outcome is M


def test_tests_on_samples_need_stored_samples(tmp_path: Path) -> None:
    for body in ('test = "shapiro-wilk"\nvalues = "samples"', 'test = "mann-whitney"\nvalues = "samples"'):
        assert verdict_of(tmp_path, "significant", body).outcome is U


def test_samples_of_pieces_cost_what_their_own_bytes_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call of 10 MB that is cut into pieces of 4 KB has samples of 4 KB."""
    cell = Cell("one", "des-ecb", "encrypt", 10_000_000, "stream/1")
    other = Cell("one", "des-ecb", "decrypt", 10_000_000, "stream/1")
    bursts = [
        SimpleNamespace(cell=of, epoch=0, ticks=[1], piece_bytes=size)
        for of in (cell, other)
        for size in (0, 4096)
    ]
    monkeypatch.setattr("perbyte.store.bursts", lambda path: bursts)
    monkeypatch.setattr(significance, "tabulate", lambda bursts: bursts[0])
    monkeypatch.setattr(
        significance, "cycles_per_call", lambda burst, _: np.array([40.0 * (burst.piece_bytes or 10_000_000)])
    )
    calibration = SimpleNamespace(process=cell.process, epoch=0)
    run = SimpleNamespace(path=".", calibrations=[calibration], conditions=SimpleNamespace(run_id="r"))
    samples = significance._samples([run], SimpleNamespace(in_cycles=True), {cell})  # type: ignore[list-item, arg-type]
    assert samples == {("r", cell): [40.0, 40.0]}, "of the cells that the tests are of, and of no other"
