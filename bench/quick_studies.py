"""All studies with `--quick`, twice each: seconds, verdicts, which verdicts turned, cells without a figure.

    .venv/bin/python bench/quick_studies.py [STUDY ...] [--times 2] [--into quick-studies] [--no-build]

Builds the runners that the studies name, so that no build is part of the seconds. Then each study (default: all) is run
`--times` times in a row, into INTO/STUDY-1, INTO/STUDY-2, ... A run that is whole there is not made again: the same
command goes on with an interrupted series, and prints all of it. Prints a line for each run, then the table, then each
claim whose verdicts differ: "turned" where one run reproduced it and another did not, "decided once" where one left it
open. How much the siblings of the cores were active before and after is printed too (perbyte doctor). Passes no
judgement; ends with 1 where a run gave nothing to judge.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from profile import siblings

from perbyte.app.building import build_needed, runners_meant
from perbyte.catalogue import parse_selector
from perbyte.errors import PerbyteError
from perbyte.store import open_run
from perbyte.studies import Outcome, Study, Verdict, find, judge, studies

LONGEST_S = 600  # ends a command that hangs; the longest quick study is meant to take 120 s
SENTENCES = 3
TOLD = {
    Outcome.REPRODUCED: "yes",
    Outcome.NOT_REPRODUCED: "no",
    Outcome.INCONCLUSIVE: "open",
    Outcome.NOT_TESTABLE: "not testable",
}


@dataclass
class Made:
    """One run of a study: how long the command took, how it ended, and what is in it."""

    seconds: float
    code: int
    words: str = ""
    cells: int = 0
    without: Counter[str] = field(default_factory=Counter)
    verdicts: dict[str, Verdict] = field(default_factory=dict)

    @property
    def answers(self) -> Counter[Outcome]:
        return Counter(verdict.outcome for verdict in self.verdicts.values())


def build(asked: list[Study]) -> None:
    """Build what the studies name, one runner after the other; what cannot be built is said and left out."""
    selectors = [parse_selector(text) for study in asked for text in study.selectors(quick=True)]
    for glob in runners_meant(selectors):
        try:
            build_needed([glob], say=lambda line: print(line, file=sys.stderr))
        except PerbyteError as error:
            print(f"{glob}: {error}", file=sys.stderr)


def make(study: Study, place: Path) -> None:
    """Run a study into `place`; `place`.json, written last, says how long it took and how it ended."""
    part = place.with_name(f"{place.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    shutil.rmtree(place, ignore_errors=True)
    command = [sys.executable, "-m", "perbyte.cli", "study", "run", study.name, "--quick", "--out", str(part)]
    begin = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_S)
        code, text = done.returncode, done.stderr.strip()
    except subprocess.TimeoutExpired:
        code, text = -1, f"ended after {LONGEST_S} s"
    seconds = time.monotonic() - begin
    if part.is_dir():
        part.rename(place)
    ending = {"seconds": seconds, "code": code, "words": text[-2000:]}
    done_mark(place).write_text(json.dumps(ending), encoding="utf-8")


def done_mark(place: Path) -> Path:
    """The file beside a run that says that its command has ended."""
    return place.with_name(f"{place.name}.json")


def read(study: Study, place: Path) -> Made:
    """What a run gave; without verdicts where it cannot be opened."""
    made = Made(**json.loads(done_mark(place).read_text(encoding="utf-8")))
    try:
        run = open_run(place)
    except PerbyteError as error:
        made.words += f"\n{error}"
        return made
    made.cells = sum(not figure.cell.twin for figure in run.cells)
    made.without = Counter(
        failure.kind
        for failure in run.failures
        if failure.kind != "unsupported" and "+twin=" not in failure.address
    )
    made.verdicts = {verdict.claim.id: verdict for verdict in judge(study, run).verdicts}
    return made


def series(study: Study, into: Path, times: int) -> list[Made]:
    """All runs of a study, made where they are not there."""
    all_made = []
    for number in range(1, times + 1):
        place = into / f"{study.name}-{number}"
        there = done_mark(place).is_file()
        if not there:
            make(study, place)
        made = read(study, place)
        all_made.append(made)
        answers = ", ".join(f"{made.answers[outcome]} {word}" for outcome, word in TOLD.items())
        print(f"{place.name}: {made.seconds:.0f} s, {answers}{' (made before)' if there else ''}", flush=True)
        if made.code or not made.verdicts:
            print("    " + made.words[-600:].replace("\n", "\n    "), flush=True)
    return all_made


def unlike(all_made: list[Made]) -> tuple[list[str], list[str]]:
    """The claims that turned, and those that were decided in some runs and left open in others."""
    turned, once = [], []
    for name in all_made[0].verdicts:
        outcomes = {made.verdicts[name].outcome for made in all_made if name in made.verdicts}
        if {Outcome.REPRODUCED, Outcome.NOT_REPRODUCED} <= outcomes:
            turned.append(name)
        elif len(outcomes) > 1:
            once.append(name)
    return turned, once


def print_table(made_of: dict[str, list[Made]]) -> None:
    print(
        f"\n{'study':22} {'seconds':>12} {'yes':>9} {'no':>9} {'open':>9} {'n. t.':>9} {'turned':>7} once cells"
    )
    for name, all_made in made_of.items():
        seconds = ", ".join(f"{made.seconds:.0f}" for made in all_made)
        counts = [", ".join(str(made.answers[outcome]) for made in all_made) for outcome in TOLD]
        turned, once = unlike(all_made)
        cells = "; ".join(
            f"{made.cells}" + "".join(f", {count} {kind}" for kind, count in made.without.items())
            for made in all_made
        )
        columns = " ".join(f"{count:>9}" for count in counts)
        print(f"{name:22} {seconds:>12} {columns} {len(turned):7} {len(once):4} {cells}")


def print_unlike(made_of: dict[str, list[Made]]) -> None:
    for study, all_made in made_of.items():
        turned, once = unlike(all_made)
        for how, names in (("turned", turned), ("decided once", once)):
            for name in names:
                print(f"\n{study}, {name}: {how}")
                for made in all_made:
                    if verdict := made.verdicts.get(name):
                        print(f"  {verdict.outcome}: {' '.join(verdict.evidence[:SENTENCES])}")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("studies", nargs="*", metavar="STUDY")
    asked.add_argument("--times", type=int, default=2)
    asked.add_argument("--into", type=Path, default=Path("quick-studies"))
    asked.add_argument("--no-build", action="store_true")
    options = asked.parse_args()
    chosen = [find(name) for name in options.studies] or list(studies())
    options.into.mkdir(parents=True, exist_ok=True)
    if not options.no_build:
        build(chosen)
    print(f"before: {siblings()}", flush=True)
    made_of = {study.name: series(study, options.into, options.times) for study in chosen}
    print(f"after: {siblings()}")
    print_table(made_of)
    print_unlike(made_of)
    sys.exit(any(made.code or not made.verdicts for all_made in made_of.values() for made in all_made))


if __name__ == "__main__":
    main()
