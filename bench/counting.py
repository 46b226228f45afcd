"""How true the counts of `--count` are: the same in twenty processes, and as callgrind counts where it can.

    python bench/counting.py RUNNER/ALGORITHM/OPERATION@SIZE+contract=CONTRACT...

callgrind counts each repetition of `rep movs` as an instruction and simulates a processor without AVX-512 and SHA
instructions: a library that asks the processor takes another path there, and the two counts are of different code.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from perbyte.measure.behaviour import count_cell
from perbyte.model import Cell, parse_address
from perbyte.runners import RunnerSpec, find

PROCESSES = 20
FEW, MANY = 1, 17  # calls: as the SDK counts, so that key and nonce are the same
SEED = 7


def callgrind(spec: RunnerSpec, cell: Cell) -> float | None:
    """Instructions of a call by callgrind; None where it cannot run the code."""
    totals = [_total(spec, cell, calls) for calls in (FEW, MANY)]
    if None in totals:
        return None
    return (totals[1] - totals[0]) / (MANY - FEW)  # type: ignore[operator]


def _total(spec: RunnerSpec, cell: Cell, calls: int) -> int | None:
    prepare = {
        "verb": "prepare",
        "id": 1,
        "algorithm": cell.algorithm,
        "operation": cell.operation,
        "contract": cell.contract,
        "size_bytes": cell.size_bytes,
        "seed": SEED,
        "offset": 0,
    }
    asked = [prepare, {"verb": "check", "id": 2, "handle": 0, "calls": calls}, {"verb": "quit", "id": 3}]
    with tempfile.TemporaryDirectory(prefix="perbyte-") as scratch:
        out = Path(scratch) / "counts"
        ended = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *map(spec.fill, spec.command)],
            input="".join(json.dumps(one) + "\n" for one in asked),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=200,
            check=False,
            env={"PATH": "/usr/bin:/bin", "PERBYTE_CPU": cell.cpu},
        )
        text = out.read_text(encoding="utf-8", errors="replace") if out.is_file() else ""
    total = re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE)
    if ended.returncode or not total or ended.stdout.count('"ok":true') != len(asked):
        return None
    return int(total[1])


def main() -> None:
    """Print a line for each address: counts of all processes, callgrind's, and the difference."""
    for address in sys.argv[1:]:
        cell = parse_address(address)
        spec = find(cell.runner)
        found = [count_cell(spec, cell, SEED) for _ in range(PROCESSES // 2)]
        if found[0].call is None:
            print(f"{address}: {found[0].unknown}")
            continue
        counts = {n for one in found for n in (one.call and one.call.instructions, one.repeated)}
        theirs = callgrind(spec, cell)
        ours = found[0].call.instructions
        said = (
            f"callgrind {theirs:,.1f} ({100 * (theirs / ours - 1):+.2f} %)" if theirs else "callgrind cannot"
        )
        low, high = min(counts), max(counts)  # type: ignore[type-var]
        print(f"{address}: {PROCESSES} processes: {low:,.1f} to {high:,.1f}; {said}", flush=True)


if __name__ == "__main__":
    main()
