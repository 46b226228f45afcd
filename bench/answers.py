"""Questions that people asked in public, answered with this machine's figures: measures them, and writes docs/answers.

    .venv/bin/python bench/answers.py [ID ...] [--pages DIRECTORY] [--runs DIRECTORY]

The questions, their commands and their sentences are in bench/answers.toml. Without an ID all are measured, about 20 s
each; runners they need have to be built. Pages of questions that are not measured stay as they are; the first page is
made of all. A sentence is filled with the figures of its run: a cell with its cost, two with the ratio of theirs. The
sentence of a command that measures no cells (`leak`, `advise`) quotes what was printed.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perbyte.model import CellFigure, Run
from perbyte.model.cell import FULL
from perbyte.model.run import LeakRun
from perbyte.model.text import plain
from perbyte.report.studyview import core_name
from perbyte.report.wording import number, ratio_interval_text, ratio_text
from perbyte.stats.compare import compare
from perbyte.stats.quantity import Unit, read
from perbyte.store import open_run
from perbyte.store.beside import is_leak_run, read_leaks

TOP = Path(__file__).resolve().parents[1]
QUESTIONS = Path(__file__).with_name("answers.toml")
OVER = " over "
SAYS = "says "
PRINTED = "printed.txt"
NO_FIGURE = "(no figure)"


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
            if not place.exists():
                measure(questions[id], place)
            made = Made.of(place)
        (given.pages / f"{id}.md").write_text(page(questions[id], made), encoding="utf-8")
        print(f"{id}: {answer(questions[id], made)}")
    write_first_page(content, given.pages)
    return 0


@dataclass(frozen=True)
class Made:
    """What a question's command made: its run, and what it printed."""

    run: Run | LeakRun
    printed: str

    @classmethod
    def of(cls, place: Path) -> Made:
        """Read it from the directory that `measure` filled."""
        run = next(path for path in (place / "run", *place.glob("home/perbyte/runs/*")) if path.exists())
        printed = (place / PRINTED).read_text(encoding="utf-8")
        return cls(read_leaks(run) if is_leak_run(run) else open_run(run), printed)

    @property
    def day(self) -> str:
        run = self.run
        return (run.started_at if isinstance(run, LeakRun) else run.conditions.started_at)[:10]

    @property
    def core(self) -> str:
        run = self.run
        return core_name(run.machine if isinstance(run, LeakRun) else run.conditions.machine)

    @property
    def libraries(self) -> list[str]:
        known = self.run.identities if isinstance(self.run, LeakRun) else self.run.cells
        named = {(each.library, each.library_version.removeprefix(each.library).strip()) for each in known}
        return sorted(" ".join(name).strip() for name in named)


def command(question: dict[str, Any]) -> list[str]:
    words = question.get("command") or ["measure", *question["measure"]]
    unit = ["--unit", question["unit"]] if "unit" in question else []
    return [*words, *question.get("options", ()), *unit]


def measure(question: dict[str, Any], place: Path) -> None:
    """Run a question's command into `place`. Raises CalledProcessError where a runner is not built."""
    words, environment = command(question), dict(os.environ)
    place.mkdir(parents=True)
    if words[0] == "advise":  # it takes no place for its run, so that it gets a home of its own
        environment["XDG_DATA_HOME"] = str(place / "home")
    else:
        words += ["--out", str(place / "run")]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "perbyte.cli", *words, "--quiet"],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            env={**environment, "COLUMNS": "88"},
        )
    except BaseException:
        shutil.rmtree(place)
        raise
    (place / PRINTED).write_text(done.stdout, encoding="utf-8")


def answer(question: dict[str, Any], made: Made) -> str:
    """The sentence with its figures."""
    unit = Unit(question.get("unit", "cycles/byte"))
    return re.sub(r"\{([^}]+)\}", lambda named: told(named[1], made, unit), question["answer"])


def told(what: str, made: Made, unit: Unit) -> str:
    """A cost, or a ratio with its interval, of the cells that `what` names; or what was printed behind its words."""
    if what.startswith(SAYS):
        return said(what.removeprefix(SAYS), made.printed)
    if isinstance(made.run, LeakRun):
        return NO_FIGURE
    figures = [found(name, made.run) for name in what.split(OVER)]
    if None in figures:
        return NO_FIGURE
    if len(figures) == 1:
        reading = read(figures[0], unit)
        return number(reading.value, reading.half_width) if reading else NO_FIGURE
    ratio = compare(figures[1], figures[0], made.run.noise_floor).ratio
    return f"{ratio_text(ratio)} ({ratio_interval_text(ratio)})"


def said(pattern: str, printed: str) -> str:
    """The group of a regular expression in what was printed."""
    match = re.search(pattern, printed, re.MULTILINE)
    return " ".join(match[1].split()) if match else NO_FIGURE


def found(name: str, run: Run) -> CellFigure | None:
    """The figure of a cell that is named without its contract, `openssl/sha-256/digest@16+cpu=soft`."""
    address, _, tier = name.partition("+cpu=")
    for figure in run.cells:
        cell = figure.cell
        here = f"{cell.runner}/{cell.algorithm}/{cell.operation}@{cell.size_bytes}"
        if (here, cell.cpu) == (address, tier or FULL):
            return figure
    return None


def page(question: dict[str, Any], made: Made) -> str:
    asked = [f"- [{text}]({link})" for text, link in zip(question["asked"], question["links"], strict=True)]
    built = [f"perbyte build {' '.join(question['build'])}"] if "build" in question else []
    lines = [
        f"# {question['question']}",
        "",
        "Asked:",
        "",
        *(line for text in asked for line in wrapped(text)),
        "",
        *wrapped(f"**Answer.** {answer(question, made)}"),
        "",
        *wrapped(
            f"Measured on {made.day}, {made.core}: {plain(', '.join(made.libraries), 300)}. "
            "Ratios have their 95 % intervals in parentheses."
        ),
        "",
        "```console",
        *(f"$ {line}" for line in (*built, f"perbyte {shlex.join(command(question))}")),
        "```",
        "",
        "```text",
        *made.printed.rstrip().splitlines(),
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
            "Each page has a question from a public tracker, the command that answers it, and the figures of the "
            "machine and the day that it names. Another processor may answer otherwise: run the command on yours. "
            "`make answers` measures all of them anew."
        ),
        "",
    ]
    by_subject: dict[str, list[dict[str, Any]]] = {}
    for question in content["questions"]:
        by_subject.setdefault(question["subject"], []).append(question)
    for subject, questions in by_subject.items():
        lines += [f"## {subject}", ""]
        for question in questions:
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
