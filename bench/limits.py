"""Every stored run against what the silicon allows: no row may be above 100 % of its limit.

    .venv/bin/python bench/limits.py [RUN...]

Without a RUN, all of `perbyte list runs`. A run without `--limits` has no loops, and no limits. Prints, for each run
with some, how many rows there are, which comes nearest, and what is above.
"""

from __future__ import annotations

import sys
from pathlib import Path

from perbyte import places
from perbyte.errors import PerbyteError
from perbyte.stats.limits import limits
from perbyte.store import open_run, runs


def main() -> int:
    """Return how many rows are above their limits."""
    named = [Path(word) for word in sys.argv[1:]] or [one.path for one in runs(places.runs_home())]
    above = 0
    for path in named:
        try:
            found = limits(open_run(path).cells)
        except PerbyteError as error:
            print(f"{path}: {error}")
            continue
        if not found:
            continue
        nearest = max(found, key=lambda one: one.share.ratio.value)
        share = nearest.share.ratio.value
        print(
            f"{path}: {len(found)} rows, at the most {share:.1%} ({nearest.figure.cell.address}, {nearest.unit})"
        )
        for one in found:
            if one.beyond:
                above += 1
                print(
                    f"  above: {one.figure.cell.address}: {one.share.ratio.value:.1%} of {one.need}, {one.unit}"
                )
    return above


if __name__ == "__main__":
    sys.exit(min(main(), 100))
