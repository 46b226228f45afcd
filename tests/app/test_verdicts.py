"""One table from verdicts to exit codes: the gravest verdict counts, whatever else holds."""

from __future__ import annotations

import itertools

import pytest

from perbyte.app.verdicts import GRAVEST, chosen_code, exit_code, gravest
from perbyte.errors import (
    EXIT_ENVIRONMENT,
    EXIT_FINE,
    EXIT_FOUND,
    EXIT_INCORRECT,
    EXIT_INTERRUPTED,
    EXIT_MISSING,
    EXIT_UNDECIDED,
)

CODES = {
    "interrupted": EXIT_INTERRUPTED,
    "wrong": EXIT_INCORRECT,
    "detected": EXIT_FOUND,
    "empty": EXIT_ENVIRONMENT,
    "missing": EXIT_MISSING,
    "undecided": EXIT_UNDECIDED,
}


@pytest.mark.parametrize("verdict", CODES)
def test_each_verdict_has_its_code(verdict):
    assert exit_code(**{verdict: True}) == CODES[verdict]


def test_nothing_to_say_is_fine():
    assert exit_code() == gravest([]) == EXIT_FINE


def test_of_several_the_gravest_counts_in_one_step_or_in_two():
    for first, second in itertools.combinations(CODES, 2):
        assert exit_code(**{first: True, second: True}) == CODES[first]
        assert gravest([CODES[second], CODES[first], EXIT_FINE]) == CODES[first]
    assert [*CODES.values(), EXIT_FINE] == list(GRAVEST)


def test_what_an_answer_means_can_be_chosen():
    choices = {None: EXIT_UNDECIDED, "ok": EXIT_FINE, "fail": EXIT_FOUND}
    assert {choice: chosen_code(EXIT_UNDECIDED, choice) for choice in choices} == choices
