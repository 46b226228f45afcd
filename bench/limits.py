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
    named = [Path(word) for word in sys.argv[1:]] or [run.path for run in runs(places.runs_home())]
    above = 0
    for path in named:
        try:
            this_limits = limits(open_run(path).cells)
        except PerbyteError as error:
            print(f"{path}: {error}")
            continue
        if not this_limits:
            continue
        nearest = max(this_limits, key=lambda item: item.share.ratio.value)
        share = nearest.share.ratio.value
        print(
            f"{path}: {len(this_limits)} rows, at the most {share:.1%} ({nearest.figure.cell.address}, {nearest.unit})"
        )
        for row in this_limits:
            if row.beyond:
                above += 1
                print(
                    f"  above: {row.figure.cell.address}: {row.share.ratio.value:.1%} of {row.need}, {row.unit}"
                )
    return above


if __name__ == "__main__":
    sys.exit(min(main(), 100))
