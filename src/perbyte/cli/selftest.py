"""`perbyte selftest`: the harness measured against loops of known cost, through the whole pipeline.

`--full` measures loops whose ratios are known exactly: calls of one loop that take so many more steps. What is called
different, with which interval, and after how much time, is then right or wrong, and says what this machine can tell.
"""

from __future__ import annotations

import itertools
import json
import math
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import click

from perbyte.cli.options import Seconds, note
from perbyte.errors import EXIT_FINE, EXIT_FOUND, EXIT_INTERRUPTED, EXIT_UNDECIDED, EnvironmentLacking
from perbyte.model import CellFigure, Policy, Quality, Run

# name: (cycles, tolerance); an aesenc takes 3 or 4 cycles depending on the core, so it has no goal
KNOWN = {
    "probe-imul": (3.0, 0.01),
    "probe-imul-add": (4.0, 0.01),
    "probe-crc32": (3.0, 0.01),
    "probe-empty": (0.0, 1.0),
}
LOOP = "probe-imul"
STEPS = 4000  # of the loop in a call; the others take so many more
SLOWDOWNS = (0.0025, 0.005, 0.01, 0.02, 0.05)
BUDGETS_S = (5.0, 15.0)


@click.command("selftest")
@click.option(
    "--full", is_flag=True, help="Also test slowdowns of 0.25 to 5 %, A/A pairs and intervals (3 minutes)."
)
@click.option(
    "--trials", type=click.IntRange(1), default=6, show_default=True, help="Runs for each budget of --full."
)
@click.option("--budget", type=Seconds(), help="Budget for the runs of --full.  [5 s and 15 s]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def command(full: bool, trials: int, budget: float | None, as_json: bool, quiet: bool) -> int:
    """Measure loops of known cost with the complete method. Exit code 1 if a result is wrong, 5 if not known.

    --full also finds the smallest difference that this machine detects, and its rate of false alarms.

    \b
      perbyte selftest
      perbyte selftest --full
    """
    done = _measured("reference/probe-*/run@1024", Policy(budget_s=20.0), quiet)
    readings = [_judged(figure) for figure in done.cells]
    floor = done.noise_floor
    document: dict[str, Any] = {"loops": [asdict(reading) for reading in readings]}
    if not as_json:
        print("cycles per instruction (the empty call: per call)")
        for reading in readings:
            print(f"  {reading.loop:16} {reading}")
        if floor:
            print(f"A/A pairs: {floor.relative:.3%} at the most, {len(floor.pairs)} pairs")
    if full:
        trial = _Trials()
        for budget_s in (budget,) if budget else BUDGETS_S:
            for seed in range(1, trials + 1):
                note(f"{budget_s:g} s, run {seed} of {trials}", quiet=quiet)
                sizes = ",".join(str(_steps(share)) for share in (0.0, *SLOWDOWNS))
                policy = Policy(budget_s=budget_s, seed=seed)
                trial.take(_measured(f"reference/{LOOP}/run@{sizes}", policy, quiet=True), budget_s)
        document["full"] = trial.said()
        if not as_json:
            trial.show()
    if as_json:
        print(json.dumps(document, indent=1))
    if any(reading.wrong for reading in readings):
        return EXIT_FOUND
    judged = [
        reading.unclear for reading in readings if reading.cycles is not None and reading.goal is not None
    ]
    return EXIT_UNDECIDED if judged and all(judged) else EXIT_FINE


def _measured(selector: str, policy: Policy, quiet: bool) -> Run:
    from perbyte.catalogue import parse_selector
    from perbyte.cli.conduct import conduct
    from perbyte.measure import Request

    with tempfile.TemporaryDirectory() as temporary:
        done = conduct(Request((parse_selector(selector),)), policy, out=Path(temporary) / "run", quiet=quiet)
    if done.code == EXIT_INTERRUPTED:
        raise KeyboardInterrupt
    if not done.run.cells:
        raise EnvironmentLacking("no loop could be measured", hint="see: perbyte doctor")
    return done.run


@dataclass(frozen=True, slots=True)
class _Reading:
    """What was read for a loop, and what it must read; None where there is no cycle source, or no goal.

    `unclear`: off the goal, but no further than this noisy moment may put it.
    """

    loop: str
    cycles: float | None
    goal: float | None
    wrong: bool
    unclear: bool = False

    def __str__(self) -> str:
        if self.cycles is None:
            return "no cycle source"
        if self.goal is None:
            return f"{self.cycles:9.4f}  (no goal: differs between cores)"
        tolerance = KNOWN[self.loop][1]
        verdict = "WRONG" if self.wrong else "not known: too noisy" if self.unclear else "ok"
        return f"{self.cycles:9.4f}  must read {self.goal:.2f} ± {tolerance:.2f}  {verdict}"


def _judged(figure: CellFigure) -> _Reading:
    loop = figure.cell.algorithm
    value = figure.cycles_per_call if loop == "probe-empty" else figure.cycles_per_byte
    goal, tolerance = KNOWN.get(loop, (None, 0.0))
    if value is None or goal is None:
        return _Reading(loop, value, goal, wrong=False)
    slack = figure.interval.half_width if loop == "probe-empty" else figure.relative_half_width * value
    off = abs(value - goal) - tolerance
    noisy = figure.quality in (Quality.NOISY, Quality.UNSETTLED) or not off > slack
    return _Reading(loop, value, goal, wrong=off > 0 and not noisy, unclear=off > 0 and noisy)


def _steps(slower: float) -> int:
    return round(STEPS * (1 + slower))


@dataclass(slots=True)
class _Trials:
    """Counts over runs of loops with known ratios. `detected`: (budget, slowdown) to (found, tries)."""

    identical: list[bool] = field(default_factory=list)  # was a cell of two runs called different?
    held: list[bool] = field(default_factory=list)  # did the interval of a ratio hold the true one?
    errors: list[float] = field(default_factory=list)
    wrong_way: int = 0
    before: tuple[Run, float] | None = None
    detected: dict[tuple[float, float], list[bool]] = field(default_factory=dict)

    def take(self, run: Run, budget_s: float) -> None:
        """Count what a run says."""
        from perbyte.stats import compare
        from perbyte.stats.across import floor_across
        from perbyte.stats.compare import Answer

        singles = sorted(((figure.cell.size_bytes, figure) for figure in run.cells), key=lambda pair: pair[0])
        if (
            self.before and self.before[1] == budget_s
        ):  # the same code in fresh processes, another layout and order
            last = {figure.cell: figure for figure in self.before[0].cells}
            floor = floor_across((self.before[0].noise_floor, run.noise_floor))
            again = [(last[figure.cell], figure) for figure in run.cells if figure.cell in last]
            self.identical += [compare(*pair, floor, same_run=False).claimed for pair in again]
        self.before = (run, budget_s)
        for (fewer, a), (more, b) in itertools.combinations(singles, 2):
            comparison = compare(a, b, run.noise_floor)
            true = more / fewer
            if not comparison.ratio.known:
                continue
            self.held.append(comparison.ratio.low <= true <= comparison.ratio.high)
            self.errors.append(comparison.ratio.value / true - 1)
            self.wrong_way += comparison.answer is Answer.FASTER
            if fewer == STEPS:
                share = next(slowdown for slowdown in SLOWDOWNS if _steps(slowdown) == more)
                self.detected.setdefault((budget_s, share), []).append(comparison.answer is Answer.SLOWER)

    def smallest(self, budget_s: float) -> float:
        """The smallest slowdown that was found in every run, and so was every larger one; infinite when none was."""
        least = math.inf
        for share in sorted(SLOWDOWNS, reverse=True):
            tries = self.detected.get((budget_s, share), [])
            if not tries or not all(tries):
                break
            least = share
        return least

    def said(self) -> dict[str, Any]:
        """All counts as JSON types."""
        from perbyte.stats.estimate import binomial_bound

        budgets = sorted({budget for budget, _ in self.detected})
        return {
            "identical_pairs": len(self.identical),
            "called_different": sum(self.identical),
            "false_alarms_below": binomial_bound(sum(self.identical), len(self.identical)),
            "called_the_wrong_way_round": self.wrong_way,
            "ratios": len(self.held),
            "intervals_with_the_true_ratio": sum(self.held),
            "median_error": statistics.median(self.errors) if self.errors else None,
            "largest_error": max(map(abs, self.errors)) if self.errors else None,
            "detected": [
                {"budget_s": budget, "slowdown": share, "found": sum(tries), "runs": len(tries)}
                for (budget, share), tries in sorted(self.detected.items())
            ],
            "tells_from": [
                {
                    "budget_s": budget_s,
                    "difference": least if math.isfinite(least := self.smallest(budget_s)) else None,
                }
                for budget_s in budgets
            ],
        }

    def show(self) -> None:
        """Print the counts."""
        record = self.said()
        pairs, alarms = record["identical_pairs"], record["called_different"]
        print(
            f"the same loop in two runs, called different: {alarms} of {pairs} (at most "
            f"{record['false_alarms_below']:.1%} of all, with 95 % confidence); differences called the wrong way "
            f"round: {self.wrong_way}"
        )
        if self.errors:
            print(
                f"intervals that hold the true ratio: {sum(self.held)} of {len(self.held)}; error of the ratio "
                f"{record['median_error']:+.3%} in the median, {record['largest_error']:.3%} at the most"
            )
        budgets = sorted({budget for budget, _ in self.detected})
        print("slowdowns found     " + "".join(f"{budget:>8g} s" for budget in budgets))
        for share in SLOWDOWNS:
            print(
                f"  {share:<17.2%} "
                + "".join(_found(self.detected.get((budget_s, share), [])) for budget_s in budgets)
            )
        for budget in budgets:
            least = self.smallest(budget)
            can = (
                f"differences from {least:.2%} on" if math.isfinite(least) else "no such difference reliably"
            )
            print(f"in runs of {budget:g} s (six cells) this machine can tell {can}, now")


def _found(tries: Sequence[bool]) -> str:
    return f"{f'{sum(tries)} of {len(tries)}':>10}"
