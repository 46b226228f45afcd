"""How often a difference is claimed where there is none: the same cells, compared across runs.

    .venv/bin/python bench/false_claims.py RUN...           stored runs, every two that measured the same code
    .venv/bin/python bench/false_claims.py --virtual 10     runs on a virtual clock beside recorded neighbours

Two runs are compared where machine and library agree: a cell counts where both loaded the same object (SHA-256), so
that its cost cannot have changed. Runs of unlike seeds have unlike memory layouts, and are told apart. A claim is what
`perbyte compare` would say, beyond its noise floor and its intervals.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from policies import TRACES, Choice, in_force, neighbours, script
from virtual import measure_virtually

from perbyte.model import CellFigure, NoiseFloor, Policy, Run
from perbyte.stats.across import floor_across
from perbyte.stats.compare import Answer, compare
from perbyte.store import open_run

WIDEST = 10  # of the claims that are listed


@dataclass
class Tally:
    """Comparisons of one kind. `claims` are (how far beyond doubt, ratio, interval, noise floor, address)."""

    compared: int = 0
    undecided: int = 0
    claims: list[tuple[float, str]] = field(default_factory=list)
    sizes: list[tuple[float, float]] = field(default_factory=list)

    def add(self, first: CellFigure, second: CellFigure, floor: NoiseFloor | None) -> None:
        comparison = compare(first, second, floor, same_run=False)
        if not comparison.ratio.known:
            return
        self.compared += 1
        self.undecided += comparison.answer is Answer.UNDECIDED
        if comparison.answer in (Answer.FASTER, Answer.SLOWER):
            ratio, noise = comparison.ratio, floor.relative if floor else 0.0
            beyond = max(ratio.low - 1, 1 - ratio.high)
            shown = max(noise, ratio.half_width / ratio.value)
            self.sizes.append((abs(ratio.value - 1), shown))
            self.claims.append(
                (
                    beyond,
                    f"{ratio.value:.4f} ({ratio.low:.4f} to {ratio.high:.4f}), {100 * beyond:.2f} % beyond doubt, "
                    f"noise floor {100 * noise:.2f} %: {first.cell.address}",
                )
            )

    def __str__(self) -> str:
        share = 100 * len(self.claims) / self.compared if self.compared else 0.0
        above = sum(beyond > shown for (beyond, _), (_, shown) in zip(self.claims, self.sizes, strict=True))
        return (
            f"{self.compared:6} comparisons, {self.undecided} undecided, {len(self.claims)} claimed ({share:.2f} %), "
            f"{above} of them by more than the noise that is shown"
        )


def same_code(a: Run, b: Run) -> frozenset[str]:
    """The runners (and tiers) whose loaded objects are the same bytes in both runs."""
    objects = [
        {
            (identity.runner, identity.cpu): (identity.object_sha256, identity.sdk)
            for identity in run.conditions.identities
        }
        for run in (a, b)
    ]
    return frozenset(
        f"{runner}+{cpu}"
        for (runner, cpu), what in objects[0].items()
        if what[0] and objects[1].get((runner, cpu)) == what
    )


def stored(paths: Sequence[Path]) -> Iterator[tuple[str, CellFigure, CellFigure, NoiseFloor | None]]:
    runs = [run for run in map(open_run, paths) if run.conditions.origin == "measured"]
    for a, b in itertools.combinations(runs, 2):
        if a.conditions.machine.cpu_model != b.conditions.machine.cpu_model:
            continue
        known, same = {each_cell.cell: each_cell for each_cell in b.cells}, same_code(a, b)
        layout = "same" if a.conditions.policy.seed == b.conditions.policy.seed else "unlike"
        floor = floor_across((a.noise_floor, b.noise_floor))
        for cell in a.cells:
            other = known.get(cell.cell)
            if other and not cell.cell.twin and f"{cell.cell.runner}+{cell.cell.cpu}" in same:
                yield f"stored runs, {layout} layouts", cell, other, floor


def virtually(
    directory: Path, runs: int, seconds: float
) -> Iterator[tuple[str, CellFigure, CellFigure, NoiseFloor | None]]:
    for name, traces in neighbours(directory).items():
        made = []
        for number in range(runs):
            with in_force(Choice("now")):
                run = measure_virtually(
                    script(traces, "reorder-buffer", number),
                    replace(Policy(), seed=7, budget_s=seconds),
                    ask="*/*@16,256,1024,4096+contract=*",
                    cores=tuple(range(len(traces))),
                    twins=True,
                )
            made.append(run.outcome)
        for a, b in itertools.combinations(made, 2):
            known = {each_cell.cell: each_cell for each_cell in b.cells}
            for cell in a.cells:
                if cell.cell in known:
                    yield (
                        f"virtual, {name}, {seconds:g} s",
                        cell,
                        known[cell.cell],
                        floor_across((a.noise_floor, b.noise_floor)),
                    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="*", type=Path)
    parser.add_argument("--virtual", type=int, default=0, metavar="N", help="runs beside each neighbour")
    parser.add_argument("--seconds", type=float, default=10.0, help="budget of a virtual run")
    parser.add_argument("--traces", type=Path, default=TRACES)
    given = parser.parse_args()
    table: dict[str, Tally] = {}
    pairs = itertools.chain(
        stored(given.runs), virtually(given.traces, given.virtual, given.seconds) if given.virtual else ()
    )
    for kind, first, second, floor in pairs:
        table.setdefault(kind, Tally()).add(first, second, floor)
    if not table:
        sys.exit("no two runs measured the same code on the same machine")
    for kind, tally in table.items():
        print(f"{kind:32} {tally}")
        for _, text in sorted(tally.claims, reverse=True)[:WIDEST]:
            print(f"    {text}")


if __name__ == "__main__":
    main()
