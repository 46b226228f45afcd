"""How true the counts of `--count` are: the same in twenty processes, and as two other counters count.

    python bench/counting.py RUNNER/ALGORITHM/OPERATION@SIZE+contract=CONTRACT...

callgrind simulates a processor without AVX-512 and SHA instructions: a library that asks the processor takes another
path there, and the two counts are of different code. bench/stepping.c lets this processor stop after each instruction
(some 5 us each, so it is given up after a while). Both count each repetition of `rep movs` as an instruction, and the
loop around the calls.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from perbyte.measure.behaviour import count_cell
from perbyte.model import Cell, parse_address
from perbyte.runners import RunnerSpec, find

PROCESSES = 20
FEW, MANY = 1, 17  # calls: as the SDK counts, so that key and nonce are the same
SEED = 7
LIMIT_S = 200
HERE = Path(__file__).parent
Counter = Callable[[RunnerSpec, Cell, int], int | None]


def per_call(counter: Counter, spec: RunnerSpec, cell: Cell) -> float | None:
    """Instructions of a call by another counter; None where it cannot run the code."""
    few, many = (counter(spec, cell, calls) for calls in (FEW, MANY))
    return None if few is None or many is None else (many - few) / (MANY - FEW)


def callgrind(spec: RunnerSpec, cell: Cell, calls: int) -> int | None:
    """All instructions of a runner that makes `calls` calls, under Valgrind."""
    asked = requests(cell, calls)
    with tempfile.TemporaryDirectory(prefix="perbyte-") as scratch:
        out = Path(scratch) / "counts"
        told = run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"], spec, cell, asked)
        text = out.read_text(encoding="utf-8", errors="replace") if out.is_file() else ""
    total = re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE)
    return int(total[1]) if total and told.count('"ok":true') == len(asked) else None


def stepping(spec: RunnerSpec, cell: Cell, calls: int) -> int | None:
    """Steps of a runner from the second request to its end, `calls` calls among them."""
    with tempfile.TemporaryDirectory(prefix="perbyte-") as scratch:
        tool = Path(scratch) / "stepping"
        subprocess.run(["cc", "-O2", "-o", tool, HERE / "stepping.c"], check=True)
        told = run([str(tool)], spec, cell, requests(cell, calls))
    return int(told) if told.strip().isdigit() else None


def requests(cell: Cell, calls: int) -> list[dict[str, object]]:
    """What is asked of the runner: prepare, `calls` calls from call 0 on, quit."""
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
    return [prepare, {"verb": "check", "id": 2, "handle": 0, "calls": calls}, {"verb": "quit", "id": 3}]


def run(tool: list[str], spec: RunnerSpec, cell: Cell, asked: list[dict[str, object]]) -> str:
    """What the runner under `tool` prints; nothing where that fails or takes too long."""
    try:
        ended = subprocess.run(
            [*tool, *map(spec.fill, spec.command)],
            input="".join(json.dumps(item) + "\n" for item in asked),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT_S,
            check=False,
            env={
                "PATH": "/usr/bin:/bin",
                **spec.environment,
                **spec.tier(cell.cpu).environment,
                "PERBYTE_CPU": cell.cpu,
            },
        )
    except subprocess.TimeoutExpired:
        return ""
    return "" if ended.returncode else ended.stdout


def main() -> None:
    """Print a line for each address: counts of all processes, callgrind's, and the difference."""
    for address in sys.argv[1:]:
        cell = parse_address(address)
        spec = find(cell.runner)
        cells = [count_cell(spec, cell, SEED) for _ in range(PROCESSES // 2)]
        if cells[0].call is None:
            print(f"{address}: {cells[0].unknown}")
            continue
        counts = {n for item in cells for n in (item.call and item.call.instructions, item.repeated)}
        ours = cells[0].call.instructions
        told = []
        for counter in (callgrind, stepping):
            theirs = per_call(counter, spec, cell)
            far = f"{theirs:,.1f} ({100 * (theirs / ours - 1):+.2f} %)" if theirs else "cannot"
            told.append(f"{counter.__name__} {far}")
        low, high = min(counts), max(counts)  # type: ignore[type-var]
        print(f"{address}: {PROCESSES} processes: {low:,.1f} to {high:,.1f}; {'; '.join(told)}", flush=True)


if __name__ == "__main__":
    main()
