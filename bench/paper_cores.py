"""What the chooser of the window probe finds on cores on paper: a table, a row for each core.

    python bench/paper_cores.py [--all]

For each core, company (alone, shared 30 % of the time, alone 2 % of it, never alone) and prior (the family's
size right, absent, half, twice): what a process finds that knows nothing, and whether the window works after four
more processes. `--all` prints each; without it a row has the right prior's windows, and counts over all cases.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "sdk"))

from paper_cores import CORES, PRIORS, Core, Found, Paper, build, healed, learn_in, works


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as place:
        paper = Paper(build(Path(place) / "paper.so"))
        print(
            "| core | buffer | alone | shared at times | never alone | sure and wrong | right after four processes |"
        )
        print("|---|---|---|---|---|---|---|")
        for core in CORES:
            print(row(paper, core, everything="--all" in sys.argv[1:]))


def row(paper: Paper, core: Core, *, everything: bool) -> str:
    """A line of the table; with `everything` the cases before it."""
    shown: dict[tuple[str, str], str] = {}
    wrong = right = unknown = cases = 0
    for company, share in core.company().items():
        for prior, factor in PRIORS.items():
            result, seconds, readings = learn_in(paper, core, share, factor)
            shown[company, prior] = words(result)
            wrong += result.word == "sure" and not works(paper, result, 0.98)
            later = healed(paper, result, factor)
            works_later = bool(later.alone) and works(paper, later, 0.98)
            unknown += not works_later and later.word in ("none", "halved")
            right += works_later
            cases += 1
            if everything:
                print(f"  {core.name}, {company}, prior {prior}: {result}; {readings:,} readings", end=" ")
                print(f"in {seconds * 1e3:.0f} ms; later {later}")
    name = core.name + (" (made up)" if core.made_up else "")
    cells = [shown.get((company, "right"), "–") for company in ("alone", "at times", "never alone")]
    silent = f", {unknown} without a probe" if unknown else ""
    return f"| {name} | {core.kind.rob:.0f} | {' | '.join(cells)} | {wrong} | {right} of {cases}{silent} |"


def words(result: Found) -> str:
    """A window in a cell."""
    if not result.length:
        return "none"
    return f"{result.length} {('nops', 'vectors', 'integers')[result.filler]}, {result.chain} roots, {result.word}"


if __name__ == "__main__":
    main()
