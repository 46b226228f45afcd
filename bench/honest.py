"""How often the audit refuses or marks honest figures, on machines that do not exist.

    .venv/bin/python bench/honest.py [--machines 50000] [--from 0] [--honest 1.0]

Each machine of tests/measure/madeup.py has clock, caches, bandwidths, neighbours, interrupts and six honest cells,
which the audit's own code looks at in five epochs. Prints what came of the cells, and the upper bound of the rate of
refusals at 95 % (Clopper and Pearson; with none refused the rule of three). `--honest 0.5`: timed calls do half of the
work.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from scipy.stats import beta

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "measure"))
from madeup import SIZES, verdicts

LEVEL = 0.95


def upper_bound(result: int, of: int) -> float:
    """The upper end of the one-sided interval of Clopper and Pearson (1934); for none found about 3 over `of`."""
    return float(beta.ppf(LEVEL, result + 1, of - result))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--machines", type=int, default=50_000)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--honest", type=float, default=1.0)
    given = parser.parse_args()
    total: Counter[str] = Counter()
    by_size: dict[int, Counter[str]] = {size: Counter() for size in SIZES}
    for seed in range(given.first, given.first + given.machines):
        for cell, verdict, looks in verdicts(seed, honest=given.honest):
            doubted = any(warning.kind != "unchained" for warning in verdict.warnings)
            came = (
                "refused"
                if verdict.refusal
                else "marked ?"
                if doubted
                else "w"
                if verdict.warnings
                else "as it is"
            )
            total["looks"] += looks
            for each_total in (total, by_size[cell.size_bytes]):
                each_total.update(("cells", came))
            if verdict.refusal and given.honest == 1:
                print(f"REFUSED on machine {seed}: {cell.address}: {verdict.refusal}", flush=True)
    for size, result in by_size.items():
        print(f"{size:>10} B  " + "  ".join(f"{name} {count}" for name, count in sorted(result.items())))
    print("all           " + "  ".join(f"{name} {count}" for name, count in sorted(total.items())))
    bound = upper_bound(total["refused"], total["cells"])
    print(f"refused: {total['refused']} of {total['cells']} cells, below {bound:.2g} at {LEVEL:.0%}")


if __name__ == "__main__":
    main()
