"""What `perbyte leak` says of functions whose leaks are known, beside other tools' rules on the same samples.

    .venv/bin/python bench/leaks.py take known --into DIR [--seconds 4]     bench/leaky, warm and with emptied caches
    .venv/bin/python bench/leaks.py take null --into DIR [--budget 60]      one class against itself: false alarms
    .venv/bin/python bench/leaks.py take libraries SELECTOR... --into DIR   libraries that are built here
    .venv/bin/python bench/leaks.py judge DIR [--above 5] [--tacet PROGRAM] a line for each case, and who is right
    .venv/bin/python bench/leaks.py alarms DIR [--rows 1000] [--pairs 5000] who calls how many null rows leaks

Every pair is a real measurement; `take` keeps them, so that judging needs no quiet machine. The other rules are those
of bench/leak_rules.py; they judge the same clean pairs, as readings of the counter. `--beside` runs a neighbour on the
other cores meanwhile: `compute` vector arithmetic, `memory` copies of 64 MiB. `--only GLOB` takes some of the cases.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, replace
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

os.environ.setdefault(
    "OPENBLAS_NUM_THREADS", "1"
)  # threads of small products wait for each other beside others

import numpy as np
from leak_rules import LEAK, NONE, Rule, Tacet, dudect, rtlf, silent, timed, tlsfuzzer

from perbyte.app.building import build_needed
from perbyte.app.leaking import draw_cases
from perbyte.catalogue import parse_selector
from perbyte.cli.streams import note
from perbyte.measure import Request, Survey, choose_cores, find_cells, recall
from perbyte.measure.leaks import LeakCase, Leaks, leak_figures
from perbyte.model import Cell, Policy
from perbyte.model.leak import Contrast, Difference
from perbyte.report.leaktext import verdict_text
from perbyte.stats.leak import ALPHA, judge_row
from perbyte.stats.pairs import Drawn, Pairs, pair_figures
from perbyte.stats.samples import Floats

HERE = Path(__file__).parent
NEIGHBOURS = {
    "compute": "import numpy as np\na = np.linspace(0.0, 1.0, 4096)\nwhile True: np.sqrt(a).dot(a)",
    "memory": "import numpy as np\na = np.zeros(1 << 23)\nb = np.empty_like(a)\nwhile True: np.copyto(b, a)",
}
USUAL = {"known": ["leaky/*"], "null": ["leaky/{modexp-always,steps-4}/run", "openssl/aes-128-ecb/encrypt"]}
# cases that leak; on most processors a division of 0 takes less time than others
ZEROS, FIXED, TAG = "data: zeros | random", "data: fixed | random", "input: late | early"
TRUE_LEAKS = {
    *((f"steps-{n}", ZEROS, cold) for n in (1, 4, 16, 64) for cold in (False, True)),
    *((f"rare-{n}", data, cold) for n in (1, 4, 16) for data in (ZEROS, FIXED) for cold in (False, True)),
    *(("compare-early", TAG, cold) for cold in (False, True)),
    *(("modexp", data, cold) for data in (ZEROS, FIXED) for cold in (False, True)),
    *(("division", ZEROS, cold) for cold in (False, True)),
    ("table", ZEROS, True),
    *(("rsa-padding", ZEROS, cold) for cold in (False, True)),
}


@contextlib.contextmanager
def beside(kind: str, cores: tuple[int, ...]) -> Iterator[None]:
    """A neighbour on each core but the first of `cores` while the rest goes on, where one was asked for."""
    others = [core for core in sorted(os.sched_getaffinity(0)) if core != cores[0]] if kind else []
    started = [
        subprocess.Popen([sys.executable, "-c", NEIGHBOURS[kind]], preexec_fn=partial(pinned, core))
        for core in others
    ]
    try:
        yield
    finally:
        for item in started:
            item.kill()
            item.wait()


def pinned(core: int) -> None:
    """Keep this process on a core."""
    os.sched_setaffinity(0, {core})


def find(selectors: list[str], size: int) -> tuple[list[Cell], Survey]:
    """The cells that the selectors mean, and who offers them."""
    asked = tuple(parse_selector(text) for text in selectors)
    build_needed((cell.runner for cell in asked), note)
    plan, result = find_cells(Request(selectors=asked, sizes=(size,)))
    return list(plan.cells), result


def take(given: argparse.Namespace) -> None:
    """Measure, and keep the pairs of each case in a file of its own."""
    cells, result = find(given.selectors or USUAL[given.what], given.size)
    colds = (False, True) if given.cold or given.what == "known" else (False,)
    cases, _ = draw_cases([cell for cell in cells if fnmatch(cell.algorithm, given.only)], None, colds)
    if given.what == "null":
        cases = [
            LeakCase(case.cell, replace(case.contrast, first=case.contrast.second), case.cold)
            for case in cases
        ]
    cores = choose_cores(())
    target = 1e-4 if given.what == "null" else None  # or a null would end when it is decided
    leaks = Leaks(result, cores, Policy(), int(time.time()), target, learnt=recall(cores[0]))
    with beside(given.beside, cores):
        leaks.take(cases, given.budget if given.what == "null" else given.seconds * len(cases))
    for failure in leaks.failures:
        print(f"not measured: {failure.address}: {failure.message}")
    given.into.mkdir(parents=True, exist_ok=True)
    there = len(list(given.into.glob("*.npz")))
    for number, case in enumerate((case for case in cases if case.real), there):
        keep(case, given.into / f"{number:03}.npz")


def keep(case: LeakCase, place: Path) -> None:
    """Write the pairs of a case."""
    bursts = [*case.real, *case.null]
    about = {
        "cell": asdict(case.cell),
        "contrast": asdict(case.contrast),
        "cold": case.cold,
        "unit": case.unit,
        "seconds": case.seconds,
        "real": len(case.real),
        "drawn": [asdict(burst.drawn) if burst.drawn else None for burst in bursts],
        "steps": [burst.step for burst in bursts],
    }
    names = ("first", "second", "clean", "number")
    columns = {name: np.concatenate([getattr(burst, name) for burst in bursts]) for name in names}
    ends = np.cumsum([len(burst.first) for burst in bursts])
    np.savez_compressed(place, about=json.dumps(about), ends=ends, **columns)


def read(place: Path) -> LeakCase:
    """The case that a file has."""
    with np.load(place) as file:
        about = json.loads(str(file["about"]))
        columns = [np.split(file[name], file["ends"][:-1]) for name in ("first", "second", "clean", "number")]
    bursts = [
        Pairs(first, second, clean, step, number, Drawn(**drawn) if drawn else None)
        for first, second, clean, number, step, drawn in zip(
            *columns, about["steps"], about["drawn"], strict=True
        )
    ]
    case = LeakCase(Cell(**about["cell"]), Contrast(**about["contrast"]), about["cold"], unit=about["unit"])
    case.real, case.null = bursts[: about["real"]], bursts[about["real"] :]
    case.seconds = about["seconds"]
    return case


def readings(bursts: list[Pairs]) -> tuple[Floats, Floats, float]:
    """The clean pairs of bursts as a counter shows them, and its step."""
    step = float(np.median([burst.step for burst in bursts]))
    first = np.concatenate([burst.first[burst.clean] for burst in bursts])
    second = np.concatenate([burst.second[burst.clean] for burst in bursts])
    return np.round(first / step) * step, np.round(second / step) * step, step


def rules_of(given: argparse.Namespace) -> dict[str, Rule]:
    """The other tools' rules by name."""
    delta = given.above or 1.0
    rules: dict[str, Rule] = {
        "dudect": dudect,
        "tlsfuzzer": tlsfuzzer,
        "RTLF": rtlf,
        f"SILENT, {delta:g}": silent(delta),
    }
    if given.alone:
        return {}
    if given.anywhere:
        rules[f"SILENT, {delta:g}, blocks from anywhere"] = silent(delta, anywhere=True)
    if given.tacet:
        rules[f"tacet, {delta:g}"] = Tacet(given.tacet, delta)
    return rules


def judge(given: argparse.Namespace) -> None:
    """A line for each case that is kept, and how often each rule is right."""
    cases = [read(place) for place in sorted(given.place.glob("*.npz"))]
    rules = rules_of(given)
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    spent: Counter[str] = Counter()
    print("| case | truth | `perbyte leak` | s | " + " | ".join(rules) + " |")
    print("|" + "---|" * (4 + len(rules)))
    began = time.monotonic()
    figures = leak_figures(cases, 1, above=given.above)
    spent["perbyte"] = time.monotonic() - began
    for case, figure in zip(cases, sorted(figures, key=lambda each: _place(cases, each)), strict=True):
        truth = (case.cell.algorithm, str(case.contrast), case.cold) in TRUE_LEAKS
        a, b, step = readings(case.real)
        answers = {"perbyte": {"leaks": LEAK, "none": NONE}.get(figure.verdict, "not known")}
        for name, rule in rules.items():
            if isinstance(rule, Tacet):
                rule.step = step
            answers[name], seconds = timed(rule, a, b)
            spent[name] += seconds
        for name, answer in answers.items():
            counted[name][f"{'leaks' if truth else 'does not'}, {answer}"] += 1
        name = f"{case.cell.runner}/{case.cell.algorithm}/{case.cell.operation}, {case.contrast}"
        words = [name + ", emptied caches" * case.cold, "leaks" if truth else "none", verdict_text(figure)]
        words += [f"{case.seconds:.1f}", *(answers[name] for name in rules)]
        print("| " + " | ".join(words) + " |", flush=True)
    for name, of in counted.items():
        print(f"{name}: {dict(sorted(of.items()))}, {spent[name]:.1f} s")


def _place(cases: list[LeakCase], figure: object) -> int:
    """Which case a figure is of; figures come by rows."""
    keys = [(case.cell, case.contrast, case.cold) for case in cases]
    return keys.index((figure.cell, figure.contrast, figure.cold))  # type: ignore[attr-defined]


def alarms(given: argparse.Namespace) -> None:
    """Real pairs of one class against itself, cut into rows; who calls how many of them leaks."""
    bursts = [
        burst
        for place in sorted(given.place.glob("*.npz"))
        for case in [read(place)]
        for burst in (*case.real, *case.null)
    ]
    rows = list(cut(bursts, given.pairs))[given.begin : given.begin + given.rows]
    rules = rules_of(given)
    called: Counter[str] = Counter(dict.fromkeys(("perbyte", *rules), 0))
    unknown: Counter[str] = Counter()
    spent: Counter[str] = Counter()
    low: Counter[str] = Counter()
    for seed, row in enumerate(rows, given.begin):
        began = time.monotonic()
        figures = pair_figures(row, seed)
        [judged] = judge_row([(figures, replace(figures, shift=QUIET, spread=QUIET, tails=None))], [1.0])
        spent["perbyte"] += time.monotonic() - began
        called["perbyte"] += judged.p < ALPHA
        parts = {"shift": figures.shift.p, "spread": figures.spread.p}
        parts |= {"tails": figures.tails.p} if figures.tails else {}
        parts |= {"bytes": figures.spots.most.apart.p} if figures.spots else {}
        low.update(name for name, p in parts.items() if p < 0.05)
        a, b, step = readings(row)
        for name, rule in rules.items():
            if isinstance(rule, Tacet):
                rule.step = step
            answer, seconds = timed(rule, a, b)
            spent[name] += seconds
            called[name] += answer == LEAK
            unknown[name] += answer not in (LEAK, NONE)
    print(f"{len(rows)} null rows of {given.pairs} real pairs")
    print("p below 0.05:", ", ".join(f"{count / len(rows):.1%} of the {name}" for name, count in low.items()))
    for name, count in called.items():
        print(f"{name}: {count} called leaks, {unknown[name]} not known, {spent[name]:.0f} s")


QUIET = Difference(0.0, 0.0, 0.0, 1.0)


def cut(bursts: list[Pairs], size: int) -> Iterator[list[Pairs]]:
    """Rows of `size` clean pairs: bursts that follow each other, the last one cut off."""
    row: list[Pairs] = []
    there = 0
    for burst in bursts:
        if row and row[0].drawn and burst.drawn and row[0].drawn.length != burst.drawn.length:
            row, there = [], 0
        kept = np.flatnonzero(burst.clean)
        part = kept[: size - there]
        mask = np.zeros(len(burst.clean), dtype=bool)
        mask[part] = True
        row.append(replace(burst, clean=mask))
        there += len(part)
        if there == size:
            yield row
            row, there = [], 0


def main() -> None:
    """Read the words and do it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    of = parser.add_subparsers(required=True)
    taking = of.add_parser("take")
    taking.add_argument("what", choices=["known", "null", "libraries"])
    taking.add_argument("selectors", nargs="*")
    taking.add_argument("--into", type=Path, required=True)
    taking.add_argument("--seconds", type=float, default=4.0, help="a case")
    taking.add_argument("--budget", type=float, default=60.0, help="seconds of `null`")
    taking.add_argument("--size", type=int, default=64)
    taking.add_argument("--cold", action="store_true")
    taking.add_argument("--beside", choices=list(NEIGHBOURS), default="", help="a neighbour")
    taking.add_argument("--only", default="*", metavar="GLOB", help="cases whose algorithm fits")
    taking.set_defaults(do=take)
    judging, alarming = of.add_parser("judge"), of.add_parser("alarms")
    for each in (judging, alarming):
        each.add_argument("place", type=Path)
        each.add_argument("--above", type=float, help="a limit in cycles; the others' is 1 without it")
        each.add_argument("--alone", action="store_true", help="without the other rules")
        each.add_argument("--anywhere", action="store_true", help="SILENT also with blocks from all samples")
        each.add_argument("--tacet", type=Path, help="a program that asks tacet (bench/leak_rules.py)")
    judging.set_defaults(do=judge)
    alarming.add_argument("--rows", type=int, default=1000)
    alarming.add_argument("--begin", type=int, default=0, metavar="ROW")
    alarming.add_argument("--pairs", type=int, default=5000, help="of a row")
    alarming.set_defaults(do=alarms)
    given = parser.parse_args()
    os.environ.setdefault("PERBYTE_RUNNERS", str(HERE / "leaky"))
    os.environ.setdefault("PERBYTE_CATALOGUE", str(HERE / "leaky" / "catalogue"))
    given.do(given)


if __name__ == "__main__":
    main()
