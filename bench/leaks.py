"""What `perbyte leak` says of functions whose leaks are known, beside other methods on the same samples.

    .venv/bin/python bench/leaks.py known [--seconds 4]     the runner of bench/leaky, warm and with emptied caches
    .venv/bin/python bench/leaks.py null [--rows 1000]      one class against itself, over and over: false alarms
    .venv/bin/python bench/leaks.py libraries SELECTOR...   libraries that are built here

Every pair is a real measurement. `known` prints for each case the verdict with its interval, and of the same clean
pairs what others' methods say: Welch's t (dudect: |t| above 4.5 is suspicious, above 10 a leak; the largest of all
samples, of those below upper quantiles, and of the second moment), as if samples were independent, and the paired tests
of tlsfuzzer (sign, Wilcoxon, paired t; p below 1e-5 is a leak there). `--beside` runs a neighbour on the other cores
meanwhile: `compute` vector arithmetic, `memory` copies of 64 MiB. `--only GLOB` takes some of the cases.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

import numpy as np

from perbyte.app.building import build_needed
from perbyte.app.leaking import draw_cases
from perbyte.catalogue import parse_selector
from perbyte.cli.streams import note
from perbyte.measure import Request, Survey, choose_cores, find_cells, recall
from perbyte.measure.leaks import LeakCase, Leaks, leak_figures
from perbyte.model import Cell, Policy
from perbyte.model.leak import Difference
from perbyte.report.leaktext import verdict_text
from perbyte.stats.leak import ALPHA, judge_row
from perbyte.stats.paired import normal_p, sign_p, signed_rank
from perbyte.stats.pairs import Pairs, pair_figures
from perbyte.stats.samples import Floats

HERE = Path(__file__).parent
SUSPICIOUS, LEAK = 4.5, 10.0
CUTS = 11
TLSFUZZER_P = 1e-5
NULL_PAIRS = 500
NEIGHBOURS = {
    "compute": "import numpy as np\na = np.linspace(0.0, 1.0, 4096)\nwhile True: np.sqrt(a).dot(a)",
    "memory": "import numpy as np\na = np.zeros(1 << 23)\nb = np.empty_like(a)\nwhile True: np.copyto(b, a)",
}
# cases that leak; on most processors a division of 0 takes less time than others
ZEROS, FIXED, TAG = "data: zeros | random", "data: fixed | random", "input: late | early"
TRUE_LEAKS = {
    *((f"steps-{n}", ZEROS, cold) for n in (1, 4, 16, 64) for cold in (False, True)),
    *(("compare-early", TAG, cold) for cold in (False, True)),
    *(("modexp", data, cold) for data in (ZEROS, FIXED) for cold in (False, True)),
    *(("division", ZEROS, cold) for cold in (False, True)),
    ("table", ZEROS, True),
    *(("rsa-padding", ZEROS, cold) for cold in (False, True)),
}


def welch(a: Floats, b: Floats) -> float:
    """Welch's t (1947)."""
    spread = math.sqrt(float(a.var(ddof=1)) / len(a) + float(b.var(ddof=1)) / len(b))
    return float(b.mean() - a.mean()) / spread if spread else 0.0


def dudect(a: Floats, b: Floats) -> float:
    """The largest |t|: of all samples, of those below upper quantiles, and of squared distances from the mean."""
    both = np.concatenate([a, b])
    statistics = [abs(welch(a, b)), abs(welch((a - a.mean()) ** 2, (b - b.mean()) ** 2))]
    for k in range(1, CUTS):
        cut = np.quantile(both, 1 - 0.5 ** (10 * k / CUTS))
        below, above = a[a < cut], b[b < cut]
        if min(len(below), len(above)) > 100:
            statistics.append(abs(welch(below, above)))
    return max(statistics)


def clean(bursts: list[Pairs]) -> tuple[Floats, Floats]:
    """Clean pairs of all bursts."""
    first = np.concatenate([burst.first[burst.clean] for burst in bursts])
    return first, np.concatenate([burst.second[burst.clean] for burst in bursts])


def paired(a: Floats, b: Floats) -> float:
    """The least p of sign, Wilcoxon and paired t, times three."""
    apart = b - a
    t = float(apart.mean()) / (float(apart.std(ddof=1)) / math.sqrt(len(apart)) or 1.0)
    return min(1.0, 3 * min(sign_p(apart), normal_p(signed_rank(apart)), normal_p(t)))


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


def compare(cases: list[LeakCase], leaks: Leaks, seconds: float, *, judged: bool) -> None:
    """Take, judge and print; `judged`: also whether it is the truth."""
    leaks.take(cases, seconds * len(cases))
    right = 0
    print("case | we | difference | s | Welch (dudect) | paired (tlsfuzzer) |" + " true |" * judged)
    print("|".join(["---"] * (6 + judged)))
    for case, figure in zip([c for c in cases if c.real], leak_figures(cases, leaks.seed), strict=False):
        text = verdict_text(figure)
        cell, tier = case.cell, f"+cpu={case.cell.cpu}" if case.cell.cpu != "full" else ""
        name = f"{cell.runner}/{cell.algorithm}/{cell.operation}{tier} {case.contrast}{' cold' * case.cold}"
        if not figure.found:
            print(f"{name} | {text} | | {figure.seconds:.1f} | | |")
            continue
        a, b = clean(case.real)
        t, p = dudect(a, b), paired(a, b)
        others = f"t = {t:.1f}{' leak' if t > LEAK else ' suspicious' if t > SUSPICIOUS else ''}"
        pairs = f"p = {p:.1g}{' leak' if p < TLSFUZZER_P else ''}"
        truth = (case.cell.algorithm, str(case.contrast), case.cold) in TRUE_LEAKS
        right += (figure.verdict == "leaks") == truth
        print(
            f"{name} | {text} | {apart(figure.found.shift)} | {figure.seconds:.1f} | {others} | {pairs} |"
            + (f" {'leaks' if truth else 'does not'} |" if judged else "")
        )
    for failure in leaks.failures:
        print(f"not measured: {failure.address}: {failure.message}")
    if judged:
        print(f"right: {right} of {len(cases)}")


def apart(shift: Difference) -> str:
    """How much more the second class takes, with the interval."""
    digits = 0 if shift.bound >= 100 else 1 if shift.bound >= 10 else 2
    return f"{shift.value:+,.{digits}f} ({shift.low:+,.{digits}f} to {shift.high:+,.{digits}f})"


def nulls(leaks: Leaks, cases: list[LeakCase], rows: int, budget_s: float) -> None:
    """Real pairs of one class against itself, cut into rows; who calls how many of them leaks."""
    began = time.monotonic()
    bursts: list[Pairs] = []
    while len(bursts) < rows and time.monotonic() - began < budget_s:
        same = [replace(case.contrast, first=case.contrast.second) for case in cases]
        again = [LeakCase(case.cell, item) for case, item in zip(cases, same, strict=True)]
        leaks.seed += 1
        leaks.take(again, 8.0 * len(again))
        bursts += [row for case in again for item in (*case.real, *case.null) for row in split(item)]
        print(f"{len(bursts)} rows after {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    ours = plain = crops = tests = 0
    low = np.zeros(2)
    for burst in bursts[:rows]:
        figures = pair_figures([burst], 1)
        [judged] = judge_row([(figures, figures)], [1.0])
        a, b = clean([burst])
        ours += judged.p < ALPHA
        low += [figures.shift.p < 0.05, figures.spread.p < 0.05] if figures else [False, False]
        plain += abs(welch(a, b)) > SUSPICIOUS
        crops += dudect(a, b) > SUSPICIOUS
        tests += paired(a, b) < TLSFUZZER_P
    taken = len(bursts[:rows])
    print(f"{taken} null rows of {NULL_PAIRS} real pairs, {time.monotonic() - began:.0f} s")
    print(f"p below 0.05: {low[0] / taken:.1%} of the shifts, {low[1] / taken:.1%} of the spreads")
    print(f"called a leak by us: {ours}; paired tests of tlsfuzzer: {tests}")
    print(f"|t| of Welch above {SUSPICIOUS}: {plain}; with dudect's cut-offs: {crops}")


def split(pairs: Pairs) -> list[Pairs]:
    """A burst as rows of NULL_PAIRS clean pairs."""
    kept = np.flatnonzero(pairs.clean)
    parts = [kept[i : i + NULL_PAIRS] for i in range(0, len(kept) - NULL_PAIRS + 1, NULL_PAIRS)]
    return [Pairs(pairs.first[part], pairs.second[part], pairs.clean[part], pairs.step) for part in parts]


def main() -> None:
    """Read the words and do it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["known", "null", "libraries"])
    parser.add_argument("selectors", nargs="*")
    parser.add_argument("--seconds", type=float, default=4.0, help="a case")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--budget", type=float, default=120.0, help="seconds of `null`")
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--cold", action="store_true")
    parser.add_argument(
        "--beside", choices=list(NEIGHBOURS), default="", help="a neighbour on the other cores"
    )
    parser.add_argument("--only", default="*", metavar="GLOB", help="cases whose algorithm fits")
    given = parser.parse_intermixed_args()
    os.environ.setdefault("PERBYTE_RUNNERS", str(HERE / "leaky"))
    os.environ.setdefault("PERBYTE_CATALOGUE", str(HERE / "leaky" / "catalogue"))
    usual = {
        "known": ["leaky/*"],
        "null": ["leaky/{modexp-always,steps-4}/run", "openssl/aes-128-ecb/encrypt"],
    }
    cells, result = find(given.selectors or usual[given.what], given.size)
    colds = (False, True) if given.cold or given.what == "known" else (False,)
    cases, _ = draw_cases([cell for cell in cells if fnmatch(cell.algorithm, given.only)], None, colds)
    policy = Policy()
    cores = choose_cores(())
    leaks = Leaks(result, cores, policy, int(time.time()), learnt=recall(cores[0]))
    with beside(given.beside, cores):
        if given.what == "null":
            nulls(leaks, cases, given.rows, given.budget)
        else:
            compare(cases, leaks, given.seconds, judged=given.what == "known")


if __name__ == "__main__":
    main()
