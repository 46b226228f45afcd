"""docs/answers beside bench/answers.toml: every question has its page, which says what the question's entry says."""

from __future__ import annotations

import re
import runpy
import shlex
import tomllib

import pytest
from documents import ROOT

PAGES = ROOT / "docs" / "answers"
CONTENT = tomllib.loads((ROOT / "bench" / "answers.toml").read_text(encoding="utf-8"))
command = runpy.run_path(str(ROOT / "bench" / "answers.py"))["command"]
QUESTIONS = {question["id"]: question for question in CONTENT["questions"]}


def words(text: str) -> str:
    return " ".join(text.split())


def test_the_pages_are_those_of_the_questions():
    assert {path.stem for path in PAGES.glob("*.md")} == {*QUESTIONS, "README"}


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS.keys())
def test_a_page_has_its_question_links_command_and_answer(question):
    text = (PAGES / f"{question['id']}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {question['question']}\n")
    assert [link for link in question["links"] if f"({link})" not in text] == []
    assert f"$ perbyte {shlex.join(command(question))}\n" in text
    told = words(text.partition("**Answer.** ")[2].partition("\n\n")[0])
    parts = map(re.escape, re.split(r"\{[^}]+\}", words(question["answer"])))
    assert re.fullmatch(".+?".join(parts), told)
    assert "(no figure)" not in told
    assert told in words((PAGES / "README.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS.keys())
def test_the_figures_of_an_answer_are_of_cells_that_are_measured(question):
    """A cell in the sentence is in the table of the page, by algorithm, operation and library."""
    text = (PAGES / f"{question['id']}.md").read_text(encoding="utf-8")
    table = text.partition("```text")[2]
    cells = re.findall(r"([\w-]+)/([\w-]+)/([\w-]+)@\d+", question["answer"])
    assert [cell for cell in cells if cell[1] not in table] == []
    runners = {cell[0] for cell in cells}
    assert len(runners) <= 1 or [name for name in runners if name not in table] == []
