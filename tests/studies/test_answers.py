"""Answers: sentences whose figures come from a run, with ties and gaps said."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripted_studies import CLAIM, Overrides, scripted_run, write_study

from perbyte import places
from perbyte.errors import DataFileError
from perbyte.report.runview import RunView
from perbyte.report.sections import claims_section
from perbyte.report.studyview import claims_page, judgement_data
from perbyte.studies import Study, judge, read_study, studies

SHAPE = 'where = { kind = ["new", "old"], size_bytes = 512 }\naverage_over = ["operation"]\n'


def answers(
    tmp_path: Path, text: str, rule: str, overrides: Overrides | None = None, **run: object
) -> tuple[str, ...]:
    claims = f'{CLAIM}\n[[answers]]\ntext = "{text}"\n[answers.values.it]\n{rule}'
    study = read_study(write_study(tmp_path, claims=claims))
    return judge(study, scripted_run(overrides, **run)).answers  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rule", "overrides", "said"),
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
            "Fast: one (0.900); Mid: one (10.0) and two (10.0), too close to call; "
            "Slow: one (40.0) and two (40.0), too close to call",
        ),
        (
            f'form = "order"\ncandidates = "group"\nbest_of = ["runner"]\n{SHAPE}',
            {"*/mid/*": None},
            "Fast 1.00, Slow 40.0",
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
            "equal: Slow (1.00); inconclusive: Fast (1.04)",
        ),
    ],
)  # fmt: skip
def test_rules(tmp_path: Path, rule: str, overrides: Overrides, said: str) -> None:
    assert answers(tmp_path, "It is {it} ({unit}).", rule, overrides) == (f"It is {said} (cycles per byte).",)


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
    found = [(row["what"], round(row["ratio"], 3), row["answer"]) for row in table["rows"]]
    assert found == [("Fast", 0.5, "faster"), ("Slow", 1.0, "equal")]
    section = claims_section(RunView(run, judgement=judgement), judgement)
    assert [row[0] for one in section.blocks if one.kind == "table" for row in one.data["rows"]][:2] == [
        "Fast",
        "Slow",
    ]


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
    ("rule", "said"),
    [
        ('form = "order"\ncandidates = "group"\nunit = "Mbit/s"\n', "Fast 8,000, Mid 1,455, Slow 390"),
        ('form = "order"\ncandidates = "group"\nunit = "MiB/s"\n', "Fast 954, Mid 173, Slow 46.5"),
        ('form = "order"\ncandidates = "group"\nunit = "ms"\ncalls = 1000000\nper = "call"\n',
         "Fast 16.0, Mid 88.0, Slow 328"),
        ('form = "order"\ncandidates = "group"\nprinted = "box"\n', "Fast 2.50, Mid 11.0, Slow 44.0"),
        ('form = "best"\ncandidates = "group"\nlast = true\nprinted = "box"\n', "Slow (44.0)"),
    ],
)  # fmt: skip
def test_answers_in_the_authors_quantity_and_as_printed(tmp_path: Path, rule: str, said: str) -> None:
    where = ONE.format(where='kind = ["new", "old"], ')
    assert answers(tmp_path, "{it}", rule + where) == (said,)


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
    assert "- Here:" not in claims_page(study)
    (_, found) = judgement_data(judgement)["verdicts"]
    assert (found["outcome"], found["about"], found["partial"], found["compared"], found["left_out"]) == (
        "reproduced", "machine", True, 8, 4,
    )  # fmt: skip


@pytest.mark.parametrize("study", studies(), ids=lambda study: study.name)
def test_the_kept_page_of_a_study_has_its_claims_as_they_are_judged_now(study: Study) -> None:
    kept = (places.data_dir("studies").parent / "docs" / "studies" / f"{study.name}.md").read_text(
        encoding="utf-8"
    )
    lines = set(kept.splitlines())
    wanted = [
        line
        for line in claims_page(study).splitlines()
        if line.startswith(("## ", "- Rule:", "- Refuted", "- In print"))
    ]
    assert [line for line in wanted if line not in lines] == []
