"""Answers: sentences whose figures come from a run, with ties and gaps said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from scripted_studies import CLAIM, PUBLISHED, STUDY, Overrides, scripted_run, write_study

from perbyte import places
from perbyte.errors import DataFileError
from perbyte.model import Failure, Run
from perbyte.model.figure import Doubt, Warning
from perbyte.report.document import Widget
from perbyte.report.listing import Listing
from perbyte.report.runview import RunView
from perbyte.report.sections import claims_section
from perbyte.report.studyview import claims_page, judgement_data, seen_rows, tally
from perbyte.studies import Study, judge, read_study, studies
from perbyte.studies.claims.availability import OutOfReach

SHAPE = 'where = { kind = ["new", "old"], size_bytes = 512 }\naverage_over = ["operation"]\n'


def answers(
    tmp_path: Path, text: str, rule: str, overrides: Overrides | None = None, **run: object
) -> tuple[str, ...]:
    claims = f'{CLAIM}\n[[answers]]\ntext = "{text}"\n[answers.values.it]\n{rule}'
    study = read_study(write_study(tmp_path, claims=claims))
    return judge(study, scripted_run(overrides, **run)).answers  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rule", "overrides", "message"),
    [
        (f'form = "best"\ncandidates = "group"\nby = ["runner"]\n{SHAPE}', {}, "one: Fast (1.00); two: Fast (1.00)"),
        (
            f'form = "best"\nlast = true\ncandidates = "group"\nby = ["runner"]\n{SHAPE}',
            {"one/*": None},
            "two: Slow (40.0)",
        ),
        (
            f'form = "best"\ncandidates = "runner"\nby = ["group"]\n{SHAPE}',
            {"one/fast/*": 0.9},
            "Fast: one (0.900); Mid: one (10.0) and two (10.0), which cannot be told apart; "
            "Slow: one (40.0) and two (40.0), which cannot be told apart",
        ),
        (
            f'form = "order"\ncandidates = "group"\nbest_of = ["runner"]\n{SHAPE}',
            {"*/mid/*": None},
            "Fast 1.00, Slow 40.0 (no figure: Mid)",
        ),
        (
            'form = "range"\nnumerator = { group = "mid" }\ndenominator = { group = "fast" }\n'
            'by = ["runner", "operation", "size_bytes"]',
            {},
            "5.50 to 10.0",
        ),
        (
            'form = "range"\nnumerator = { group = "mid" }\ndenominator = { group = "fast" }\n'
            'by = ["runner", "operation", "size_bytes"]',
            {"*/mid/*": None},
            "(not known here)",
        ),
        (
            'form = "compared"\nwhere = { runner = "one", size_bytes = 512 }\nnumerator = { operation = "decrypt" }\n'
            'denominator = { operation = "encrypt" }\nby = ["group"]',
            {"one/fast/decrypt@512": 0.5, "one/mid/decrypt@512": 12.0},
            "faster: Fast (0.500); equal: Slow (1.00); slower: Mid (1.20)",
        ),
        (
            'form = "compared"\nwhere = { runner = "one", size_bytes = 512 }\nnumerator = { operation = "decrypt" }\n'
            'denominator = { operation = "encrypt" }\nby = ["group"]',
            {"one/fast/decrypt@512": (1.04, 0.2), "one/mid/*": None},
            "equal: Slow (1.00); inconclusive: Fast (1.04) (no figure: Mid)",
        ),
    ],
)  # fmt: skip
def test_rules(tmp_path: Path, rule: str, overrides: Overrides, message: str) -> None:
    assert answers(tmp_path, "It is {it} ({unit}).", rule, overrides) == (
        f"It is {message} (cycles per byte).",
    )


def test_an_order_says_ties_doubt_and_masked_instructions(tmp_path: Path) -> None:
    rule = (
        'form = "order"\ncandidates = "group"\nwhere = { kind = ["new", "old"], runner = "one", size_bytes = 512, '
        'operation = "encrypt" }\n'
    )
    close: Overrides = {"one/fast/*": (10.0, 0.001), "one/mid/*": (10.001, 0.001), "one/slow/*": (40.0, 0.2)}
    assert answers(tmp_path, "{it}", rule, close) == (
        "Fast 10.0 and Mid 10.0 (cannot be told apart), Slow 40.0 (32.0 to 48.0)",
    )
    assert answers(tmp_path, "{it}", rule + 'unit = "MB/s"\n', close) == (
        "Fast 200 and Mid 200 (cannot be told apart), Slow 50.0 (41.7 to 62.5)",
    )
    study = STUDY.replace(
        "camellia-128-ecb/{encrypt,decrypt}@16,32,512",
        "camellia-128-ecb/{encrypt,decrypt}@16,32,512+cpu=soft",
    )
    claims = f'{CLAIM}\n[[answers]]\ntext = "{{it}}"\n[answers.values.it]\n{rule}'
    run = scripted_run()
    masked = [
        replace(figure, cell=replace(figure.cell, cpu="soft"))
        if figure.cell.algorithm.startswith("camellia")
        else figure
        for figure in run.cells
    ]
    judgement = judge(
        read_study(write_study(tmp_path, study=study, claims=claims)), replace(run, cells=tuple(masked))
    )
    assert judgement.answers == ("Fast 1.00, Mid 10.0, Slow 40.0 (CPU tier soft: Mid)",)


def test_printed_figures_that_are_the_same_are_no_close_call(tmp_path: Path) -> None:
    rule = 'form = "order"\ncandidates = "group"\nprinted = "box"\n' + ONE.format(
        where='kind = ["new", "old"], '
    )
    claims = f'{CLAIM}\n[[answers]]\ntext = "{{it}}"\n[answers.values.it]\n{rule}'
    published = PUBLISHED.replace("encrypt,16,44,", "encrypt,16,11,")
    study = read_study(write_study(tmp_path, published=published, claims=claims))
    assert judge(study, scripted_run()).answers == ("Fast 2.50, Mid 11.0 and Slow 11.0 (the same)",)


def test_what_is_compared_can_be_a_table(tmp_path: Path) -> None:
    rule = (
        'form = "compared"\ntitle = "Both ways"\nwhere = { runner = "one", size_bytes = 512 }\n'
        'numerator = { operation = "decrypt" }\ndenominator = { operation = "encrypt" }\nby = ["group"]'
    )
    claims = f'{CLAIM}\n[[answers]]\ntext = "It is {{it}}."\n[answers.values.it]\n{rule}'
    study = read_study(write_study(tmp_path, claims=claims))
    run = scripted_run({"one/fast/decrypt@512": 0.5, "one/mid/*": None})
    judgement = judge(study, run)
    assert "\nBoth ways:\n\n| what | ratio | interval | answer |\n| --- |" in claims_page(
        study, judgement, [run]
    )
    (table,) = judgement_data(judgement)["tables"]
    rows = [(row["what"], round(row["ratio"], 3), row["answer"]) for row in table["rows"]]
    assert rows == [("Fast", 0.5, "faster"), ("Slow", 1.0, "equal")]
    section = claims_section(RunView(run, judgement=judgement), judgement)
    [table] = [block for block in section.blocks if isinstance(block, Listing)]
    assert [row[0][0] for row in table.rows] == ["Fast", "Slow"]


def refused(*addresses: str) -> tuple[Failure, ...]:
    return tuple(Failure("audit", address.split("/")[0], "refused", address=address) for address in addresses)


@pytest.mark.parametrize(
    ("rule", "overrides", "struck", "message"),
    [
        ("best", {"two/fast/*": None}, ("two/aes-128-ecb/encrypt@512",), "Fast (1.00) (no figure: Fast in two)"),
        (
            "order",
            {"two/fast/*": None, "*/mid/*": None},
            ("two/aes-128-ecb/encrypt@512", "one/camellia-128-ecb/encrypt@512"),
            "Fast 1.00, Slow 40.0 (no figure: Fast in two and Mid)",
        ),
        ("best", {"two/fast/*": None}, (), "Fast (1.00)"),
    ],
)  # fmt: skip
def test_a_row_that_was_struck_is_named_in_the_answer(
    tmp_path: Path, rule: str, overrides: Overrides, struck: tuple[str, ...], message: str
) -> None:
    """A library that may have been the fastest is missing; one that has no such algorithm is not."""
    body = (
        f'form = "{rule}"\ncandidates = "group"\nbest_of = ["runner"]\n'
        'where = { kind = ["new", "old"], size_bytes = 512, operation = "encrypt" }'
    )
    failures = refused(*(f"{cell}+contract=stream/1" for cell in struck))
    assert answers(tmp_path, "{it}", body, overrides, failures=failures) == (message,)


def test_a_gain_and_a_range_name_what_was_struck(tmp_path: Path) -> None:
    gain = 'form = "gain"\nmachine = "box"\nwhere = { group = ["fast", "any"] }'
    struck = refused("one/aes-128-ecb/encrypt@16+contract=stream/1")
    cells: Overrides = {"md5/one": 8.0, "one/fast/encrypt@16": None}
    outcomes = answers(tmp_path, "{it}", gain, cells, failures=struck, cycles=True)
    assert outcomes == ("20.0 (MD5)",), "figures printed in cycles are no times"
    struck = refused("two/md5/digest@64+contract=oneshot/1")
    assert answers(tmp_path, "{it}", gain, {"md5/one": 8.0}, failures=struck) == ("20.0 (MD5)",)
    rule = (
        'form = "range"\nnumerator = { group = "mid" }\ndenominator = { group = "fast" }\n'
        'where = { size_bytes = 16, operation = "encrypt" }\nby = ["runner"]'
    )
    struck = refused("one/aes-128-ecb/encrypt@16+contract=stream/1")
    assert answers(tmp_path, "{it}", rule, {"one/fast/encrypt@16": None}, failures=struck) == (
        "5.50 (no figure: one)",
    )


def test_kinds_of_claims_are_counted_apart(tmp_path: Path) -> None:
    """What print alone decides, and what the text does not ask, is no finding that today's run reproduced."""
    message = '[[claims]]\nsays = "s"\nplace = "1"\nform = '
    first = '"rank"\ncandidates = "group"\nfirst = "fast"\nwhere = { runner = "one", size_bytes = 512, operation = "encrypt", kind = "new" }\n'  # noqa: E501
    claims = (
        f'{message}{first}id = "ours"\nabout = "question"\n{message}{first}id = "theirs"\n{message}{first}id = "box"\n'
        f'about = "machine"\n{message}"rank_agreement"\nid = "print"\nbetween = "machines"\nlow = 0.5\n'
    )
    study = read_study(write_study(tmp_path, claims=claims))
    judgement = judge(study, scripted_run())
    assert [claim.counted_as for claim in study.claims] == ["question", "finding", "machine", "print"]
    assert tally(judgement) == (
        "1 finding: 1 reproduced; 1 number of the authors' machine: 1 reproduced; "
        "1 claim on the printed figures alone: 1 not testable; 1 question that the text does not ask: 1 reproduced"
    )
    page = claims_page(study, judgement)
    assert "## ours\n\ns *Ours.*" in page
    assert "## theirs\n\ns\n" in page
    assert "## print\n\ns *Print.*" in page
    assert "- Here: – not testable, by print alone. " in page
    section = claims_section(RunView(scripted_run(), judgement=judgement), judgement)
    shown = {
        claim["about"]
        for block in section.blocks
        if isinstance(block, Widget)
        for claim in block.data["claims"]
    }
    assert shown == {
        "",
        "a number of the authors' machine",
        "a claim on the printed figures alone",
        "a question that the text does not ask",
    }


def test_without_cycles_the_unit_is_another_one(tmp_path: Path) -> None:
    rule = f'form = "order"\ncandidates = "group"\nbest_of = ["runner"]\n{SHAPE}'
    assert answers(tmp_path, "{it} {unit}", rule, cycles=False) == (
        "Fast 0.500, Mid 5.00, Slow 20.0 ns per byte",
    )


@pytest.mark.parametrize(
    ("text", "rule", "message"),
    [
        (
            "{that}",
            'form = "order"\ncandidates = "group"',
            r"\[\[answers\]\] .*: text: the text names 'that'",
        ),
        ("{it}", 'form = "first"\ncandidates = "group"', "form: there is no 'first'"),
        ("{it}", 'form = "order"\ncandidates = "grp"', "candidates: there is no dimension 'grp'"),
        ("{it}", 'form = "order"\ncandidates = "group"', r"\[\[answers\]\] it: .* cells where one is meant"),
    ],
)
def test_wrong_answers_are_refused(tmp_path: Path, text: str, rule: str, message: str) -> None:
    with pytest.raises(DataFileError, match=message):
        answers(tmp_path, text, rule)


ONE = 'where = {{ {where}runner = "one", operation = "encrypt", size_bytes = 16 }}\n'


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ('form = "order"\ncandidates = "group"\nunit = "Mbit/s"\n', "Fast 8,000, Mid 1,455, Slow 390"),
        ('form = "order"\ncandidates = "group"\nunit = "MiB/s"\n', "Fast 954, Mid 173, Slow 46.5"),
        ('form = "order"\ncandidates = "group"\nunit = "ms"\ncalls = 1000000\nper = "call"\n',
         "Fast 16.0, Mid 88.0, Slow 328"),
        ('form = "order"\ncandidates = "group"\nprinted = "box"\n', "Fast 2.50, Mid 11.0, Slow 44.0"),
        ('form = "best"\ncandidates = "group"\nlast = true\nprinted = "box"\n', "Slow (44.0)"),
    ],
)  # fmt: skip
def test_answers_in_the_authors_quantity_and_as_printed(tmp_path: Path, rule: str, message: str) -> None:
    where = ONE.format(where='kind = ["new", "old"], ')
    assert answers(tmp_path, "{it}", rule + where) == (message,)


def test_the_mean_of_ratios_and_the_gain_on_a_printed_machine(tmp_path: Path) -> None:
    mean = 'form = "range"\nmean = true\nnumerator = { group = "mid" }\ndenominator = { group = "fast" }\n'
    sizes = 'where = { runner = "one", operation = "encrypt" }\nby = ["size_bytes"]'
    assert answers(tmp_path, "{it}", mean + sizes) == ("7.50",)
    gain = 'form = "gain"\nmachine = "box"\ntitle = "Gains"\nwhere = { kind = "hash" }'
    # printed are 100 Mbit/s, which is 5,120 ns for 64 bytes; here 4 cycles a byte at 2 GHz
    assert answers(tmp_path, "{it}", gain, {"md5/two": 4.0, "md5/one": 8.0}) == ("40.0 (MD5)",)
    assert answers(tmp_path, "{it}", gain) == ("(not known here)",)


def test_a_page_has_every_claim_with_rule_refutation_and_verdicts(tmp_path: Path) -> None:
    claim = """
[[claims]]
id = "fast-first"
says = "Fast is the fastest."
place = "1"
about = "machine"
form = "rank"
candidates = "group"
first = "fast"
where = { kind = "new" }
by = ["runner", "operation", "size_bytes"]
"""
    study = read_study(write_study(tmp_path, claims=CLAIM + claim))
    run = scripted_run({"*@512": None, "*/slow/*": None})
    judgement = judge(study, run)
    page = claims_page(study, judgement, [run])
    assert "## fast-first\n\nFast is the fastest. *Number.*" in page
    assert (
        "- Rule: Fast is the fastest, in every one of the combinations of runner, operation and size; cells: new"
        in page
    )
    assert "- Refuted by: another one is surely faster than Fast, in one of the combinations" in page
    assert "- In print: reproduced" in page
    assert "- Here: ✓ reproduced (quick). Of 12 comparisons 8 support the claim" in page
    assert "ended early" not in page
    short = claims_page(study, judgement, [replace(run, complete=False, measuring_s=7.6)])
    assert "(ended early, after 8 s of measuring)" in short
    assert "randomisation" not in page
    old = [replace(figure, warnings=(Warning(Doubt.LAYOUT, "one place"),)) for figure in run.cells]
    assert "; address randomisation was off." in claims_page(
        study, judgement, [replace(run, cells=tuple(old))]
    )
    assert "- Here:" not in claims_page(study)
    (_, verdict) = judgement_data(judgement)["verdicts"]
    assert (verdict["outcome"], verdict["about"], verdict["partial"], verdict["compared"], verdict["left_out"]) == (
        "reproduced", "machine", True, 8, 4,
    )  # fmt: skip


@pytest.mark.parametrize("study", studies(), ids=lambda study: study.name)
def test_the_kept_page_of_a_study_has_its_claims_as_they_are_judged_now(study: Study) -> None:
    kept = (places.data_dir("studies").parent / "docs" / "studies" / f"{study.name}.md").read_text(
        encoding="utf-8"
    )
    lines = set(kept.splitlines())
    head, claims = claims_page(study).split("\n\nThis page is generated", 1)
    whys = [claim.why.strip().rstrip(".") for claim in study.claims if isinstance(claim, OutOfReach)]
    wanted = [
        *head.splitlines(),
        *claims.splitlines()[1:],
        *(f"- Here: – not testable. {why}." for why in whys),
    ]
    assert sum(line.startswith("## ") for line in wanted) == len(study.claims)
    assert [line for line in wanted if line not in lines] == []


def test_verdicts_of_other_cores_are_kept_by_rule_and_shown_beside(tmp_path: Path) -> None:
    """What was judged by another rule, or on the same core, says nothing beside this run."""
    claim = (
        '[[claims]]\nid = "first"\nsays = "s"\nplace = "1"\nform = "rank"\ncandidates = "group"\nfirst = "fast"\n'
        + ONE.format(where='kind = ["new", "old"], ')
    )
    folder = write_study(tmp_path, claims=claim)
    here = on_core(scripted_run(), "Core A", "cpu family 1 model 2")
    there = on_core(scripted_run({"one/fast/*": 99.0}), "Core B", "")
    study = read_study(folder)
    kept = seen_rows(judge(study, there), [there])
    assert kept.splitlines()[1].startswith("Core B,scripted,2001-01-01,first,")
    stale = kept.splitlines()[1].replace("Core B", "Core C").split(",")
    stale[4] = "00000000"
    own = seen_rows(judge(study, here), [here]).splitlines()[1]
    (folder / "seen.csv").write_text(
        "\n".join([*kept.splitlines(), ",".join(stale), own]) + "\n", encoding="utf-8"
    )
    judgement = judge(read_study(folder), here)
    page = claims_page(judgement.study, judgement, [here])
    assert "\nAnother core decided otherwise on: first.\n" in page
    (line,) = [line for line in page.splitlines() if line.startswith("- On ")]
    assert line.startswith("- On Core B: ✗ not reproduced (2001-01-01). Mid is faster than Fast, ")
    same = on_core(scripted_run(), "Core B", "")
    assert "- On Core A (family 1 model 2): ✓ reproduced" in claims_page(
        judgement.study, judge(judgement.study, same), [same]
    )


def on_core(run: Run, model: str, family: str) -> Run:
    machine = replace(run.conditions.machine, cpu_model=model, cpu_family=family)
    return replace(run, conditions=replace(run.conditions, machine=machine))
