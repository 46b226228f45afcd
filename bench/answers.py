"""Questions that people asked in public, answered with this machine's figures: measures them, and writes docs/answers.

    .venv/bin/python bench/answers.py [ID ...] [--pages DIRECTORY] [--runs DIRECTORY]

The questions, their commands and their sentences are in bench/answers.toml. Without an ID all are measured, about 20 s
each; runners they need have to be built. Pages of questions that are not measured stay as they are; the first page is
made of all. A sentence is filled with the figures of its run: a cell with its cost, two with the ratio of theirs.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from pathlib import Path
from typing import Any

from perbyte.model import CellFigure, Run
from perbyte.model.cell import FULL
from perbyte.model.text import plain
from perbyte.report.studyview import core_of
from perbyte.report.text import render_table
from perbyte.report.wording import number, ratio_interval_text, ratio_text
from perbyte.stats.compare import compare
from perbyte.stats.quantity import Unit, read
from perbyte.store import open_run

TOP = Path(__file__).resolve().parents[1]
QUESTIONS = Path(__file__).with_name("answers.toml")
OVER = " over "


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--pages", type=Path, default=TOP / "docs" / "answers")
    parser.add_argument(
        "--runs", type=Path, help="keep the runs here; one that is there is not measured again"
    )
    given = parser.parse_args()
    content = tomllib.loads(QUESTIONS.read_text(encoding="utf-8"))
    questions = {question["id"]: question for question in content["questions"]}
    if unknown := [id for id in given.ids if id not in questions]:
        parser.error(f"there is no question '{unknown[0]}'; there are {', '.join(questions)}")
    given.pages.mkdir(parents=True, exist_ok=True)
    for id in given.ids or questions:
        with tempfile.TemporaryDirectory() as scratch:
            place = (given.runs or Path(scratch)) / id
            run = open_run(place) if place.exists() else measured(questions[id], place)
        (given.pages / f"{id}.md").write_text(page(questions[id], run), encoding="utf-8")
        print(f"{id}: {answer(questions[id], run)}")
    write_first_page(content, given.pages)
    return 0


def command(question: dict[str, Any]) -> list[str]:
    return ["measure", *question["measure"], *question.get("options", ())]


def measured(question: dict[str, Any], place: Path) -> Run:
    """Measure a question. Raises CalledProcessError where a runner is not built."""
    words = [sys.executable, "-m", "perbyte.cli", *command(question), "--out", str(place), "--quiet"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return open_run(place)


def answer(question: dict[str, Any], run: Run) -> str:
    """The sentence with its figures."""
    unit = Unit(question.get("unit", "cycles/byte"))
    return re.sub(r"\{([^}]+)\}", lambda named: told(named[1], run, unit), question["answer"])


def told(what: str, run: Run, unit: Unit) -> str:
    """A cost, or a ratio with its interval, of the cells that `what` names."""
    figures = [found(name, run) for name in what.split(OVER)]
    if None in figures:
        return "(no figure)"
    if len(figures) == 1:
        reading = read(figures[0], unit)
        return number(reading.value, reading.half_width) if reading else "(no figure)"
    ratio = compare(figures[1], figures[0], run.noise_floor).ratio
    return f"{ratio_text(ratio)} ({ratio_interval_text(ratio)})"


def found(name: str, run: Run) -> CellFigure | None:
    """The figure of a cell that is named without its contract, `openssl/sha-256/digest@16+cpu=soft`."""
    address, _, tier = name.partition("+cpu=")
    for figure in run.cells:
        cell = figure.cell
        here = f"{cell.runner}/{cell.algorithm}/{cell.operation}@{cell.size_bytes}"
        if (here, cell.cpu) == (address, tier or FULL):
            return figure
    return None


def page(question: dict[str, Any], run: Run) -> str:
    named = {
        f"{figure.library} {figure.library_version.removeprefix(figure.library).strip()}"
        for figure in run.cells
    }
    libraries = sorted(name.strip() for name in named)
    asked = [f"- [{text}]({link})" for text, link in zip(question["asked"], question["links"], strict=True)]
    built = [f"perbyte build {' '.join(question['build'])}"] if "build" in question else []
    table = render_table(
        run, width=100, colour=False, unit=Unit(question["unit"]) if "unit" in question else None
    )
    lines = [
        f"# {question['question']}",
        "",
        "Asked:",
        "",
        *(line for text in asked for line in wrapped(text)),
        "",
        *wrapped(f"**Answer.** {answer(question, run)}"),
        "",
        *wrapped(
            f"Measured on {run.conditions.started_at[:10]}, {core_of(run)}: {plain(', '.join(libraries), 300)}. "
            "Ratios have their 95 % intervals in parentheses."
        ),
        "",
        "```console",
        *(f"$ {line}" for line in (*built, f"perbyte {shlex.join(command(question))}")),
        "```",
        "",
        "```text",
        *table.rstrip().splitlines(),
        "```",
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def wrapped(text: str) -> list[str]:
    """A paragraph, or an entry of a list, in lines of the house's length."""
    within = "  " if text.startswith("- ") else ""
    return textwrap.wrap(text, 100, subsequent_indent=within, break_long_words=False, break_on_hyphens=False)


def write_first_page(content: dict[str, Any], pages: Path) -> None:
    lines = [
        "# Questions that people asked, answered",
        "",
        *wrapped(
            "Each page has a question from a public tracker, the command that answers it, and the figures of one "
            "machine on one day. Another processor may answer otherwise: run the command on yours. "
            "`make answers` measures all of them anew."
        ),
        "",
    ]
    for question in content["questions"]:
        file = pages / f"{question['id']}.md"
        if file.exists():
            text = file.read_text(encoding="utf-8")
            told_there = text.partition("**Answer.** ")[2].partition("\n\n")[0].replace("\n", " ")
            lines += [*wrapped(f"**[{question['question']}]({question['id']}.md)** {told_there}"), ""]
    lines += ["## Asked, and not answered here", ""]
    lines += [
        line for entry in content["unanswered"] for line in wrapped(f"- {entry['question']}. {entry['why']}")
    ]
    (pages / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
