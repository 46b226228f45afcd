"""Is it slower? `compare`, its JSON, its gate and `try --baseline` say the same of 50 pairs near the limits."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from perbyte.app.gate import Gate, gate_code
from perbyte.app.trying.trial import InTurn
from perbyte.errors import EXIT_FINE, EXIT_FOUND, EXIT_UNDECIDED
from perbyte.model import (
    Cell,
    CellFigure,
    Conditions,
    Interval,
    Machine,
    NoiseFloor,
    Policy,
    Quality,
    Run,
)
from perbyte.report.trials import changes_markdown
from perbyte.stats.compare import Answer
from perbyte.stats.estimate import t_quantile
from perbyte.stats.trials import BaselineChange, changes
from perbyte.store import RunWriter, open_run
from perbyte.trial import kept

THRESHOLD = 0.01
PAIRS = 50
WORDS = {"faster": "faster", "slower": "slower", "tied": "the same", "undecided": "not known"}


def drawn_pairs() -> list[CellFigure]:
    """Figures of two programs at 50 sizes: ratios from 0.98 to 1.024, few epochs and many, some of them spoilt."""
    drawn = np.random.default_rng(11)
    figures = []
    for number in range(PAIRS):
        count = (2, 4, 5, 8, 9, 10, 16, 40)[number % 8]
        apart = (0.98, 0.99, 1.0, 1.0, 1.01, 1.024)[number % 6]
        scatter = (0.0005, 0.002, 0.005)[number % 3]
        shared = drawn.normal(0, 0.01, count)
        quality = (
            Quality.NOISY if number % 11 == 7 else Quality.UNSETTLED if number % 13 == 5 else Quality.GOOD
        )
        for runner, cost in (("own-before", 100.0), ("own", 100.0 * apart)):
            epochs = cost * np.exp(shared + drawn.normal(0, scatter, count))
            if number % 7 == 3:
                epochs[0] *= 1.3  # beside a busy neighbour
            figures.append(
                figure_of(Cell(runner, "sha-256", "digest", 16 + number, "oneshot/1"), epochs, quality)
            )
    return figures


def figure_of(cell: Cell, epochs: np.ndarray, quality: Quality) -> CellFigure:
    value, level = float(np.median(epochs)), kept.LEVEL
    half = t_quantile(level, len(epochs) - 1) * float(epochs.std(ddof=1)) / len(epochs) ** 0.5
    return CellFigure(
        cell=cell,
        library=cell.runner,
        library_version="1",
        cycles_per_call=value,
        ns_per_call=value / 2,
        interval=Interval(value - half, value + half, level),
        samples=400,
        clean_samples=300,
        epochs=len(epochs),
        epoch_cycles=tuple(map(float, epochs)),
        epoch_ns=tuple(float(epoch) / 2 for epoch in epochs),
        calls_per_sample=10,
        quality=quality,
        cycle_source="probe",
        epoch_numbers=tuple(range(len(epochs))),
    )


@pytest.fixture(scope="module", params=[0.0, 0.002, 0.012], ids=lambda floor: f"floor {floor:g}")
def stored(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    """A run of 50 pairs in a directory, under the policy of `try --baseline`."""
    figures = drawn_pairs()
    conditions = Conditions(
        run_id="fifty-pairs",
        perbyte_version="0.0-test",
        catalogue_version="test",
        protocol_version=1,
        started_at="2001-02-03T04:05:06Z",
        command=(),
        machine=Machine(
            cpu_model="Imaginary CPU 9000",
            cores=2,
            kernel="6.0-test",
            distribution="Nowhere Linux 1",
            virtualisation="kvm",
        ),
        policy=replace(Policy(), level=kept.LEVEL),
        plan=tuple(figure.cell.address for figure in figures),
        identities=(),
    )
    place = tmp_path_factory.mktemp("pairs") / "run"
    with RunWriter.create(place) as writer:
        writer.begin(conditions)
        floor = NoiseFloor(request.param, (("own/sha-256/digest@16+contract=oneshot/1", 1 + request.param),))
        writer.finish(tuple(figures), floor if request.param else None, 9.0, complete=True)
    return place, open_run(place)


def code_of(run: Run, compared: list[BaselineChange], gate: Gate) -> int:
    return InTurn("own", "the commit before", run, compared, (), ()).judge(gate)[0]


def test_compare_and_try_say_the_same_of_every_pair(perbyte, stored):
    place, run = stored
    this_answer = perbyte("compare", "own-before/*", "own/*", "--run", place, "--json", "--fail-above", "1%")
    told = json.loads(this_answer.stdout)
    by_compare = {row["size_bytes"]: row["figures"][1] for row in told["rows"]}
    by_trial = {change.size_bytes: change for change in changes(run, "own", "own-before")}
    assert len(by_compare) == len(by_trial) == PAIRS
    answers = set()
    for size, change in by_trial.items():
        other = by_compare[size]
        assert change.word == WORDS[other["answer"]], f"{size} bytes"
        ends = (change.comparison.ratio.low, change.comparison.ratio.high)
        assert ends == (other["interval_low"], other["interval_high"])
        answers.add(other["answer"])
    assert answers == {answer.value for answer in Answer}, "all four occur, or the test shows little"
    for answer in (Answer.SLOWER, Answer.UNDECIDED):
        gated = {size for size, change in by_trial.items() if change.comparison.against(THRESHOLD) is answer}
        assert gated == {int(address.split("@")[1].split("+")[0]) for address in told["limit"][answer.value]}


def test_the_gates_of_compare_and_try_end_alike(perbyte, stored):
    place, run = stored
    gate = Gate(fail_above=THRESHOLD)
    seen = set()
    for change in changes(run, "own", "own-before"):
        code = code_of(run, [change], gate)
        if change.size_bytes % 5 == 0:  # the whole command for ten of them
            at = f"@{change.size_bytes}"
            done = perbyte("compare", f"own-before/*{at}", f"own/*{at}", "--run", place, "--fail-above", "1%")
            assert done.returncode == code, done.stderr
        seen.add(code)
    assert seen == {EXIT_FINE, EXIT_FOUND, EXIT_UNDECIDED}
    whole = perbyte("compare", "own-before/*", "own/*", "--run", place, "--fail-above", "1%")
    assert whole.returncode == code_of(run, changes(run, "own", "own-before"), gate) == EXIT_FOUND


def test_the_comment_and_the_gate_of_the_recipe_for_ci_say_the_same(perbyte, stored):
    """docs/ci.md: `try --since BASE --fail-above 1% --undecided-is ok --markdown`."""
    place, run = stored
    told = json.loads(perbyte("compare", "own-before/*", "own/*", "--run", place, "--json").stdout)
    by_compare = {row["size_bytes"]: row["figures"][1] for row in told["rows"]}
    recipe = Gate(fail_above=THRESHOLD, undecided_is="ok")
    compared = changes(run, "own", "own-before")
    table = changes_markdown("own", compared)
    rows = [[part.strip() for part in line.strip("|").split("|")] for line in table]
    assert len(rows) == 2 + PAIRS, "a heading, a rule, and a row for each pair"
    for change, (_, _, _, verdict, by, interval) in zip(compared, rows[2:], strict=True):
        other = by_compare[change.size_bytes]
        assert verdict == WORDS[other["answer"]]
        assert by == f"{100 * (other['ratio'] - 1):+.2f} %"
        low, high = (f"{100 * (other[end] - 1):+.2f} %" for end in ("interval_low", "interval_high"))
        assert interval == f"{low} to {high}"
        code = code_of(run, [change], recipe)
        assert (code == EXIT_FOUND) == (change.comparison.against(THRESHOLD) is Answer.SLOWER)
        assert code in (EXIT_FINE, EXIT_FOUND), "what is not known passes, as the recipe says"
    whole = perbyte(
        "compare", "own-before/*", "own/*", "--run", place, "--fail-above", "1%", "--undecided-is", "ok"
    )
    assert whole.returncode == code_of(run, compared, recipe) == EXIT_FOUND


def test_a_missing_row_is_no_pass(stored):
    from perbyte.stats.pairing import find_regressions

    nothing = find_regressions([], THRESHOLD, 1.0)
    assert gate_code(nothing, None, missing=True) != EXIT_FINE
