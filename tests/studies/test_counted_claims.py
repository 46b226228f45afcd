"""Claims about instructions and memory are judged on what was counted, exactly, and on nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scripted_studies import scripted_run, write_study

from perbyte.model import Behaviour, Counted
from perbyte.studies import Outcome, judge, read_study

ALL = """
[[claims]]
id = "counted"
says = "A claim on a count."
place = "1"
"""
PLACE = 'where = {{ runner = "one", operation = "encrypt", size_bytes = 16{more} }}'
RATIO = """form = "ratio"
numerator = { group = "fast" }
denominator = { group = "mid" }
"""


def run_with(instructions=(1000.0, 1004.0), repeated=None, stack=(500, 900), heap=(0, 64)):
    """The scripted run, with what `fast` and `mid` execute and use."""
    run = scripted_run(floor=0.05)  # so wide that no ratio of times near 1 is told
    told = []
    for figure in run.cells:
        at = {"aes-128-ecb": 0, "camellia-128-ecb": 1}.get(figure.cell.algorithm)
        if at is not None:
            count = instructions[at]
            call = Counted(count, heap_bytes=heap[at], heap_peak=heap[at], heap_calls=at, code_lines=10)
            told.append(Behaviour(figure.cell, 16, call, repeated=repeated or count, stack=stack[at]))
    return replace(run, behaviours=tuple(told))


def outcome(tmp_path, form, run, more=""):
    study = read_study(write_study(tmp_path, claims=ALL + form + PLACE.format(more=more) + "\n"))
    [verdict] = judge(study, run).verdicts
    return verdict


@pytest.mark.parametrize(
    ("of", "limits", "expected"),
    [
        ("instructions", "high = 0.999", Outcome.REPRODUCED),  # 0.4 %, below any noise floor of times
        ("instructions", "low = 1.0", Outcome.NOT_REPRODUCED),
        ("stack", "high = 0.56", Outcome.REPRODUCED),
        ("code", "low = 1\nhigh = 1", Outcome.REPRODUCED),
        ("time", "high = 0.999", Outcome.REPRODUCED),  # 2 against 11 cycles per byte
    ],
)
def test_a_ratio_of_counts_has_no_noise_floor(tmp_path, of, limits, expected):
    verdict = outcome(tmp_path, f'{RATIO}of = "{of}"\n{limits}\n', run_with())
    assert verdict.outcome is expected


def test_a_count_that_two_processes_differ_in_decides_by_its_ends(tmp_path):
    run = run_with(repeated=1010.0)
    assert (
        outcome(tmp_path, f'{RATIO}of = "instructions"\nhigh = 0.999\n', run).outcome is Outcome.INCONCLUSIVE
    )


def test_a_value_is_in_the_unit_of_what_was_counted(tmp_path):
    form = 'form = "value"\nof = "instructions"\nlow = 62.5\nhigh = 62.5\n'
    verdict = outcome(tmp_path, form, run_with(), ', group = "fast"')
    assert verdict.outcome is Outcome.REPRODUCED
    assert "62.5 instructions per byte" in verdict.rule
    assert {number.unit for number in verdict.numbers} == {"instructions/byte"}
    form = 'form = "value"\nof = "heap"\nlow = 0\nhigh = 0\n'
    assert outcome(tmp_path, form, run_with(), ', group = "fast"').outcome is Outcome.REPRODUCED
    assert outcome(tmp_path, form, run_with(), ', group = "mid"').outcome is Outcome.NOT_REPRODUCED


def test_an_order_of_counts_speaks_of_high_and_low(tmp_path):
    form = 'form = "rank"\ncandidates = "group"\nof = "stack"\norder = ["fast", "mid"]\n'
    verdict = outcome(tmp_path, form, run_with())
    assert verdict.outcome is Outcome.REPRODUCED
    assert "lowest first" in verdict.rule
    assert "fast" not in verdict.rule.replace("Fast", "")


def test_what_was_not_counted_is_not_judged_by_its_time(tmp_path):
    verdict = outcome(tmp_path, f'{RATIO}of = "stack"\nhigh = 0.9\n', scripted_run())
    assert verdict.outcome is Outcome.INCONCLUSIVE
