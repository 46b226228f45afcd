"""The sentences and numbers of a verdict: the closest call, the clearest contradiction, why something is missing."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scripted_studies import STUDY, Overrides, figure_of, scripted_run, verdict_of, write_study

from perbyte.errors import DataFileError
from perbyte.model import Cell, Failure, Quality, Run
from perbyte.studies import Outcome, Study, judge, read_study
from perbyte.studies.evidence import Absence, EvidenceRow, gather

H, F, U, M = Outcome.REPRODUCED, Outcome.NOT_REPRODUCED, Outcome.INCONCLUSIVE, Outcome.NOT_TESTABLE

EXACT: dict[str, Any] = {"width": 0.0, "spread": 0.0, "floor": 0.0, "epochs": 2}

BY = 'by = ["runner"]\n'
AT = 'where = { operation = "encrypt", size_bytes = 512, kind = ["new", "old"] }\n'
OVER = AT + BY + 'numerator = { group = "mid" }\ndenominator = { group = "fast" }\n'
GROUPS = AT + BY + 'candidates = "group"\n'
SIZES = 'where = { operation = "encrypt", group = "mid" }\n' + BY
GROW = GROUPS.replace(", size_bytes = 512", "") + "from = 16\nto = 512\n"


def costs(first: tuple[float, float, float], two: tuple[float, float, float]) -> Overrides:
    """Costs of Fast, Mid and Slow at 512 bytes in either library."""
    return {
        f"{runner}/{group}/*@512": cost
        for runner, three in (("one", first), ("two", two))
        for group, cost in zip(("fast", "mid", "slow"), three, strict=True)
    }


def sizes(first: tuple[float, float, float], two: tuple[float, float, float]) -> Overrides:
    """Costs of Mid at 16, 32 and 512 bytes in either library."""
    return {
        f"{runner}/mid/*@{size}": cost
        for runner, three in (("one", first), ("two", two))
        for size, cost in zip((16, 32, 512), three, strict=True)
    }


@pytest.mark.parametrize(
    ("form", "body", "overrides"),
    [
        ("rank", GROUPS + 'first = "fast"', costs((1, 1.1, 9), (1, 2, 9))),
        ("rank", GROUPS + 'last = "slow"', costs((1, 8, 9), (1, 2, 9))),
        ("rank", GROUPS + 'order = ["fast", "mid", "slow"]', costs((1, 1.1, 9), (1, 2, 9))),
        ("ratio", OVER + "low = 2", costs((1, 2.1, 9), (1, 4, 9))),
        ("ratio", OVER + "high = 4", costs((1, 3.9, 9), (1, 2, 9))),
        ("ratio", OVER + "low = 2\nhigh = 9", costs((1, 8.5, 9), (1, 4, 9))),
        ("ratio", OVER + "low = 2\nhigh = 9", costs((1, 2.1, 9), (1, 4, 9))),
        (
            "value",
            AT.replace("kind", "group").replace('["new", "old"]', '"mid"') + BY + "low = 2\nhigh = 9",
            costs((1, 8.5, 9), (1, 4, 9)),
        ),
        ("trend", SIZES + "rises = [16, 512]", sizes((4, 5, 5), (4, 5, 9))),
        ("trend", SIZES + "within_percent = 50", sizes((4, 5, 5.9), (4, 4, 4.1))),
        ("trend", SIZES + "largest = 512", sizes((4, 5, 5.1), (4, 5, 9))),
        ("trend", SIZES + "smallest = 16", sizes((4.9, 5, 5.1), (4, 5, 5.1))),
        ("clusters", GROUPS + 'clusters = [["fast", "mid"]]', costs((1, 2, 4.1), (1, 1.2, 4.1))),
        ("outliers", GROUPS + 'apart = "slow"', costs((1, 1.5, 2.5), (1, 1.1, 9))),
        ("distances_grow", GROW, costs((0.5, 10, 36), (0.5, 10, 45))),
    ],
)
def test_the_closest_call_and_the_clearest_are_told(
    tmp_path: Path, form: str, body: str, overrides: Overrides
) -> None:
    verdict = verdict_of(tmp_path, form, body, overrides, **EXACT)
    assert verdict.outcome is H, verdict.evidence
    assert [line.split(":")[0] for line in verdict.evidence[1:]] == ["Closest call", "Clearest"], (
        verdict.evidence
    )
    assert [re.findall(r"\b(one|two)\b", line)[0] for line in verdict.evidence[1:]] == ["one", "two"]


def test_a_single_comparison_is_told_once(tmp_path: Path) -> None:
    mean = verdict_of(tmp_path, "ratio", OVER + 'low = 2\naggregate = "mean"', **EXACT)
    assert mean.evidence == ("The mean of 2 ratios, Mid over Fast, is 10.0; claimed: at least 2.",)
    some = verdict_of(tmp_path, "ratio", OVER + 'low = 2\nquantifier = "some"', {"two/*": None}, **EXACT)
    assert some.evidence == (
        "Of 2 comparisons 1 supports the claim, 1 is provided by no library here.",
        "Closest call: one: Mid takes 10.0 times what Fast takes; claimed: at least 2.",
    )


BY_ALL = OVER.replace(BY, 'by = ["runner", "operation", "size_bytes"]\n').replace(
    'operation = "encrypt", size_bytes = 512, ', ""
)


@pytest.mark.parametrize(("wrong", "more"), [(4, 0), (5, 1), (12, 8)])
def test_contradictions_come_first_the_clearest_before_all_others(
    tmp_path: Path, wrong: int, more: int
) -> None:
    places = [
        f"{r}/mid/{o}@{s}" for r in ("one", "two") for o in ("encrypt", "decrypt") for s in (16, 32, 512)
    ]
    overrides: Overrides = {"*/fast/*": 100.0}
    overrides |= {place: 99.0 - number for number, place in enumerate(places[:wrong])}
    overrides |= dict.fromkeys(places[wrong:], 200.0)
    verdict = verdict_of(tmp_path, "ratio", BY_ALL + "low = 1", overrides, **EXACT)
    assert verdict.outcome is F
    assert [line.split("takes ")[1].split(" ")[0] for line in verdict.evidence[1:5]] == [
        f"{(100 - wrong + step) / 100:.3f}" for step in range(4)
    ]
    assert verdict.evidence[5:] == ((f"And {more} more of this kind.",) if more else ())


def test_what_leaves_a_claim_open_is_told_before_what_contradicts_it(tmp_path: Path) -> None:
    body = BY_ALL + 'low = 1\nquantifier = "some"'
    overrides: Overrides = {"*/mid/*": 0.5, "one/mid/encrypt@16": (2.0, 0.5), "two/mid/encrypt@16": None}
    address = "two/camellia-128-ecb/encrypt@16+contract=stream/1"
    crashed = (Failure("crashed", "two", "for a reason", address=address),)
    verdict = verdict_of(tmp_path, "ratio", body, overrides, failures=crashed, **EXACT)
    assert verdict.outcome is U
    assert verdict.evidence[1].startswith("one, encrypt, 16 bytes: Mid takes 1.0000 ("), verdict.evidence
    assert "has no figure: crashed: for a reason." in verdict.evidence[2]
    assert "takes 0.250 times" in verdict.evidence[3], "the clearest contradiction"
    gone = verdict_of(tmp_path, "ratio", body, {**overrides, "one/mid/encrypt@16": 0.5}, **EXACT)
    assert gone.outcome is M
    assert "has no figure: no library in this run provides it." in gone.evidence[1]


def test_a_negated_claim_is_told_by_what_contradicts_the_form(tmp_path: Path) -> None:
    verdict = verdict_of(
        tmp_path, "ratio", OVER + "high = 5\nnegate = true", costs((1, 6, 9), (1, 4, 9)), **EXACT
    )
    assert verdict.outcome is F
    assert verdict.evidence == (
        "Of 2 comparisons 1 supports the claim, 1 contradicts it.",
        "two: Mid takes 4.00 times what Fast takes; claimed: at most 5.",
    )


@pytest.mark.parametrize(
    ("limits", "claimed"),
    [
        ("low = 1", "."),
        ("low = 1.5", "; claimed: at least 1.5."),
        ("high = 20", "; claimed: at most 20."),
        ("low = 1.5\nhigh = 20", "; claimed: 1.5 to 20."),
        ("within_percent = 900", "; claimed: 0.1 to 10."),
    ],
)
def test_limits_are_told_with_the_number(tmp_path: Path, limits: str, claimed: str) -> None:
    verdict = verdict_of(tmp_path, "ratio", OVER + limits, **EXACT)
    assert verdict.evidence[1] == f"Closest call: one: Mid takes 10.0 times what Fast takes{claimed}"


@pytest.mark.parametrize(
    ("form", "body", "numbers"),
    [
        ("ratio", OVER + "low = 1", {"Mid over Fast": (10.0, "")}),
        (
            "rank",
            GROUPS + 'first = "fast"',
            {"Fast": (1, "cycles/byte"), "Mid": (10, "cycles/byte"), "Slow": (40, "cycles/byte")},
        ),
        (
            "rank",
            GROUPS + 'order = ["fast", "slow"]\nper = "call"',
            {"Fast": (512, "cycles/call"), "Slow": (20480, "cycles/call")},
        ),
        (
            "trend",
            SIZES + "rises = [512, 16]",
            {"512 bytes": (10.0, "cycles/byte"), "16 bytes": (11.0, "cycles/byte")},
        ),
        (
            "trend",
            SIZES + "smallest = 512",
            {
                "512 bytes": (10.0, "cycles/byte"),
                "32 bytes": (10.5, "cycles/byte"),
                "16 bytes": (11.0, "cycles/byte"),
            },
        ),
        (
            "clusters",
            GROUPS + 'clusters = [["mid", "slow"]]',
            {
                "Mid to Slow": (4.0, ""),
                "Mid to Fast": (10.0, ""),
                "Slow to Mid": (4.0, ""),
                "Slow to Fast": (40.0, ""),
            },
        ),
        (
            "outliers",
            GROUPS + 'apart = "fast"',
            {
                "Fast to the rest": (20.0, ""),
                "Mid to the rest": (math.sqrt(40), ""),
                "Slow to the rest": (math.sqrt(160), ""),
            },
        ),
    ],
)
def test_numbers_are_those_that_decide(
    tmp_path: Path, form: str, body: str, numbers: dict[str, tuple[float, str]]
) -> None:
    verdict = verdict_of(tmp_path, form, body, **EXACT)
    own = {number.name: number for number in verdict.numbers if number.group.startswith("one")}
    assert own.keys() == numbers.keys()
    for name, (value, unit) in numbers.items():
        assert (own[name].value, own[name].unit) == (pytest.approx(value), unit)
        assert (own[name].low, own[name].high) == pytest.approx((value, value))
    wide = verdict_of(tmp_path, form, body, width=0.1, epochs=1)
    assert all(number.low < number.value < number.high for number in wide.numbers)


def test_who_has_no_figure_has_no_number(tmp_path: Path) -> None:
    for body in ('first = "fast"', 'order = ["fast", "mid", "slow"]'):
        verdict = verdict_of(tmp_path, "rank", GROUPS + body, {"*/mid/*": None}, **EXACT)
        assert {number.name for number in verdict.numbers} <= {"Fast", "Slow"}


def test_cells_that_differ_in_one_thing_are_told_by_it(tmp_path: Path) -> None:
    body = AT.replace("512", "16").replace('["new", "old"]', '"old"').replace('operation = "encrypt", ', "")
    body += 'numerator = { operation = "decrypt" }\ndenominator = { operation = "encrypt" }\nlow = 0.5\n' + BY
    verdict = verdict_of(tmp_path, "ratio", body, **EXACT)
    assert {number.name for number in verdict.numbers} == {"Slow (decrypt) over Slow (encrypt)"}


@pytest.mark.parametrize(("floor", "message"), [(0.0, []), (None, ["no A/A pair"]), (0.25, ["is 25.0 %"])])
def test_what_widens_intervals_is_told_where_they_decide_nothing(
    tmp_path: Path, floor: float | None, message: list[str]
) -> None:
    open_: Overrides = {"one/mid/*": (1.0, 0.5)}
    verdict = verdict_of(tmp_path, "ratio", OVER + "low = 1", open_, floor=floor, spread=0.0, epochs=2)
    assert verdict.outcome is U
    doubts = [line for line in verdict.evidence if "noise floor" in line or "A/A" in line]
    assert len(doubts) == len(message)
    assert all(part in doubt for part, doubt in zip(message, doubts, strict=True))
    clear = verdict_of(tmp_path, "ratio", OVER + "low = 1", floor=floor)
    assert not [line for line in clear.evidence if "noise floor" in line or "A/A" in line]


def test_good_figures_raise_no_doubt(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, "ratio", OVER + "low = 1", {"one/mid/*": (1.0, 0.5)})
    assert not [line for line in verdict.evidence if "good quality" in line]


def study_with(tmp_path: Path, cells: str = "") -> Study:
    return read_study(write_study(tmp_path, study=STUDY.replace("[statistics]", f"{cells}\n[statistics]")))


def row_of(study: Study, run: Run, group: str) -> EvidenceRow:
    """The row of two's encryption of 16 bytes, or of the hash that any library may have."""
    wanted = [("mid", "two", "encrypt", 16), ("any", "*", "digest", 64), ("any", "one", "digest", 64)]
    return next(
        row
        for row in gather(study, [run]).rows
        if row.dims["group"] == group
        and tuple(row.dims[name] for name in ("group", "runner", "operation", "size_bytes")) in wanted
    )


ADDRESS = "two/camellia-128-ecb/encrypt@16+contract=stream/1"


@pytest.mark.parametrize(
    ("failures", "absence", "reason"),
    [
        ([], Absence.UNPROVIDED, "no library in this run provides it"),
        (
            [Failure("unsupported", "two", "no such cipher", address=ADDRESS)],
            Absence.UNPROVIDED,
            "unsupported: no such cipher",
        ),
        ([Failure("absent", "two", "", address=ADDRESS)], Absence.UNPROVIDED, "absent"),
        ([Failure("timed out", "two", "5 s", address=ADDRESS)], Absence.UNMEASURED, "timed out: 5 s"),
        # what tells of the cell goes before what tells of the runner, whatever comes first
        (
            [Failure("crashed", "two", "all"), Failure("unsupported", "two", "this", address=ADDRESS)],
            Absence.UNPROVIDED,
            "unsupported: this",
        ),
        # another cell, another runner, and a runner that did measure
        (
            [Failure("crashed", "two", "x", address=ADDRESS.replace("@16", "@32"))],
            Absence.UNPROVIDED,
            "no library in this run provides it",
        ),
        ([Failure("crashed", "one", "x")], Absence.UNPROVIDED, "no library in this run provides it"),
        ([Failure("crashed", "two", "x")], Absence.UNPROVIDED, "no library in this run provides it"),
    ],
)
def test_why_a_cell_has_no_figure(
    tmp_path: Path, failures: list[Failure], absence: Absence, reason: str
) -> None:
    gone: Overrides = {"two/mid/encrypt@16": None}
    run = scripted_run(gone, failures=tuple(failures))
    row = row_of(study_with(tmp_path), run, "mid")
    assert (row.figure, row.absence, row.reason) == (None, absence, reason)


def test_a_runner_that_failed_as_a_whole_tells_for_all_its_cells(tmp_path: Path) -> None:
    failures = (Failure("crashed", "two", "at once"),)
    row = row_of(study_with(tmp_path), scripted_run({"two/*": None}, failures=failures), "mid")
    assert (row.absence, row.reason) == (Absence.UNMEASURED, "crashed: at once")


def test_a_glob_is_missing_for_the_reason_of_a_cell_that_it_means(tmp_path: Path) -> None:
    study = study_with(tmp_path)
    for address, reason in [
        ("one/md5/digest@64+contract=oneshot/1", "crashed: x"),
        ("one/sha-1/digest@64+contract=oneshot/1", "no library in this run provides it"),
        ("no address at all", "no library in this run provides it"),
    ]:
        run = scripted_run(failures=(Failure("crashed", "one", "x", address=address),))
        assert row_of(study, run, "any").reason == reason


def test_a_row_that_was_struck_is_there_beside_those_that_a_glob_found(tmp_path: Path) -> None:
    """What a library was asked and did not answer is a gap; what it does not have, is none."""
    study = study_with(tmp_path)
    first, two = (f"{name}/md5/digest@64+contract=oneshot/1" for name in ("one", "two"))
    for kind, gap in (("audit", True), ("unsupported", False)):
        run = scripted_run({"md5/one": 5.0}, failures=(Failure(kind, "two", "refused", address=two),))
        rows = [row for row in gather(study, [run]).rows if row.dims["group"] == "any"]
        assert [(row.dims["runner"], row.reason) for row in rows if row.figure is None] == (
            [("two", "audit: refused")] if gap else []
        )
        assert [row.dims["runner"] for row in rows if row.figure] == ["one"]
    twice = scripted_run({"md5/one": 5.0}, failures=(Failure("audit", "one", "refused", address=first),))
    assert all(row.figure for row in gather(study, [twice]).rows if row.dims["group"] == "any")


def test_no_cost_without_a_figure_and_no_block_without_its_bytes(tmp_path: Path) -> None:
    study = study_with(tmp_path)
    table = gather(study, [scripted_run({"md5/one": 5.0, "two/mid/*": None})])
    by_group = {(row.dims["group"], row.dims["runner"], row.dims["size_bytes"]): row for row in table.rows}
    with pytest.raises(ValueError, match="no cost"):
        table.cost(by_group["mid", "two", 16])
    hashed = by_group["any", "one", 64]
    assert [table.cost(hashed, per).value for per in ("byte", "call")] == [5.0, 320.0]
    assert table.cost(hashed, "block").value == 5.0, "no block is known"
    slow = by_group["slow", "one", 16]
    assert [table.cost(slow, per).value for per in ("byte", "block", "call")] == [41.0, 8 * 41.0, 16 * 41.0]
    empty = replace(slow, figure=replace(figure_of(Cell("one", "des-ecb", "encrypt", 16, "stream/1"), 2.0)))
    assert empty.figure is not None
    nothing = replace(empty, figure=replace(empty.figure, cell=replace(empty.figure.cell, size_bytes=0)))
    assert [table.cost(nothing, per).value for per in ("byte", "block", "call")] == [32.0] * 3


def test_one_cell_without_cycles_puts_all_costs_in_nanoseconds(tmp_path: Path) -> None:
    study = study_with(tmp_path)
    assert gather(study, [scripted_run()]).unit == "cycles"
    mixed = scripted_run()
    blind = replace(mixed.cells[0], cycles_per_call=None)
    table = gather(study, [replace(mixed, cells=(blind, *mixed.cells[1:]))])
    assert (table.unit, table.cost(table.rows[1]).value) == ("ns", pytest.approx(1.5 / 2))


def test_a_printed_run_is_known_by_its_machine_and_a_measured_one_is_not(tmp_path: Path) -> None:
    study = study_with(tmp_path)
    run = scripted_run()
    there = replace(run.conditions, machine=replace(run.conditions.machine, cpu_model="a box"))
    assert gather(study, [replace(run, conditions=there)]).printed == ""
    printed = replace(there, origin="published")
    assert gather(study, [replace(run, conditions=printed)]).printed == "box"
    gone = replace(run, conditions=printed, cells=run.cells[1:])
    (row,) = (row for row in gather(study, [gone]).rows if row.figure is None and row.dims["group"] == "fast")
    assert row.absence is Absence.NOT_PRINTED
    both = gather(study, [gone, replace(scripted_run({"*": None}), complete=True)])
    assert {row.absence for row in both.rows if row.figure is None} == {Absence.UNPROVIDED}


@pytest.mark.parametrize(
    ("overrides", "failures", "here", "anywhere"),
    [
        ({"md5/one": 5.0}, (), H, H),
        ({}, (), M, F),  # a glob asks nobody by name
        ({}, (Failure("crashed", "one", "x", address="one/md5/digest@64+contract=oneshot/1"),), U, U),
    ],
)
def test_what_any_library_may_provide(
    tmp_path: Path, overrides: Overrides, failures: tuple[Failure, ...], here: Outcome, anywhere: Outcome
) -> None:
    body = 'where = { group = "any" }\n'
    assert verdict_of(tmp_path, "provided", body, overrides, failures=failures).outcome is here
    body += "anywhere = true"
    assert verdict_of(tmp_path, "provided", body, overrides, failures=failures).outcome is anywhere


@pytest.mark.parametrize(
    ("overrides", "outcome", "message"),
    [
        ({}, H, "one and two have Mid."),
        ({"two/mid/*": None}, F, "two lacks Mid; one has it."),
        ({"*/mid/*": None}, F, "one and two lack Mid."),
    ],
)
def test_an_algorithm_that_all_libraries_have(
    tmp_path: Path, overrides: Overrides, outcome: Outcome, message: str
) -> None:
    verdict = verdict_of(tmp_path, "provided", 'where = { group = "mid" }\neverywhere = true', overrides)
    assert (verdict.outcome, verdict.evidence) == (outcome, (message,))
    with pytest.raises(DataFileError, match="one library cannot be enough and each be needed"):
        verdict_of(tmp_path, "provided", "everywhere = true\nanywhere = true", overrides)


def test_a_runner_that_crashed_may_have_it(tmp_path: Path) -> None:
    gone: Overrides = {"two/mid/*": None}
    crashed = Failure("crashed", "two", "x", address=ADDRESS)
    verdict = verdict_of(tmp_path, "provided", 'where = { group = "mid" }', gone, failures=(crashed,))
    assert verdict.outcome is U
    assert "two, Mid: crashed: x." in verdict.evidence
    assert (
        verdict_of(
            tmp_path,
            "provided",
            'where = { group = "mid" }\nanywhere = true',
            {"*/mid/*": None},
            failures=(crashed,),
        ).outcome
        is U
    )


def test_of_several_reasons_the_first_cells_is_told(tmp_path: Path) -> None:
    failures = tuple(
        Failure("crashed", "two", reason, address=ADDRESS.replace("@16", size))
        for size, reason in (("@512", "late"), ("@16", "early"))
    )
    gone: Overrides = {"*/mid/*": None}
    for body in ("", "anywhere = true"):
        where = 'where = { group = "mid", runner = "two", operation = "encrypt" }\n'
        verdict = verdict_of(tmp_path, "provided", where + body, gone, failures=failures)
        assert (verdict.outcome, verdict.evidence[0].endswith("Mid: crashed: early.")) == (U, True)


def test_a_quick_run_counts_what_it_leaves_out(tmp_path: Path) -> None:
    quick: Overrides = {"*@512": None, "*/slow/*": None}
    verdict = verdict_of(tmp_path, "ratio", BY_ALL + "low = 1", quick)
    assert (verdict.outcome, verdict.compared, verdict.left_out, verdict.partial) == (H, 8, 4, True)
    whole = verdict_of(tmp_path, "ratio", BY_ALL + "low = 1")
    assert (whole.outcome, whole.compared, whole.left_out, whole.partial) == (H, 12, 0, False)


def test_poor_figures_are_counted_of_those_that_are_there(tmp_path: Path) -> None:
    claim = f'[[claims]]\nid = "c"\nsays = "s"\nplace = "p"\nform = "ratio"\n{OVER}low = 1'
    study = read_study(write_study(tmp_path, claims=claim))
    run = scripted_run({"one/mid/*": (1.0, 0.5), "two/slow/*": None})
    poor = tuple(replace(cell, quality=Quality.NOISY) for cell in run.cells[:3])
    (verdict,) = judge(study, replace(run, cells=(*poor, *run.cells[3:]))).verdicts
    assert "3 of 30 figures of this study are not of good quality." in verdict.evidence
