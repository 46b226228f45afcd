"""Instructions per call, counted by callgrind: a second opinion that no neighbour can disturb. No speed.

The runner is asked for one call and for nine, each time under callgrind; what lies between is eight calls and
nothing else. Valgrind simulates a processor of its own, without AVX-512 and SHA instructions: code that asks the CPU
takes another path there, and code that does not ends with an illegal instruction.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from perbyte.errors import EnvironmentLacking, PerbyteError
from perbyte.model import Cell
from perbyte.runners import RunnerSpec

FEW, MANY = 1, 9
_LIMIT_S = 120


def require_valgrind() -> None:
    """Raise EnvironmentLacking when there is no valgrind."""
    if not shutil.which("valgrind"):
        raise EnvironmentLacking("--instructions needs valgrind", hint="apt-get install valgrind")


def count_instructions(spec: RunnerSpec, cell: Cell, seed: int) -> float:
    """Instructions of one call of `cell`. Raises PerbyteError when callgrind cannot run the code."""
    few, many = (_total(spec, cell, seed, calls) for calls in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def _total(spec: RunnerSpec, cell: Cell, seed: int, calls: int) -> int:
    prepare = {
        "verb": "prepare",
        "id": 1,
        "algorithm": cell.algorithm,
        "operation": cell.operation,
        "contract": cell.contract,
        "size_bytes": cell.size_bytes,
        "seed": seed,
        "offset": 0,
    }
    asked = [prepare, {"verb": "check", "id": 2, "handle": 0, "calls": calls}, {"verb": "quit", "id": 3}]
    text = "".join(json.dumps(one) + "\n" for one in asked)
    with tempfile.TemporaryDirectory(prefix="perbyte-") as scratch:
        out = Path(scratch) / "counts"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *spec.command]
        try:
            ended = subprocess.run(
                command,
                input=text,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_LIMIT_S,
                check=False,
            )
            counts = out.read_text(encoding="utf-8", errors="replace") if out.is_file() else ""
        except (OSError, subprocess.TimeoutExpired) as error:
            raise PerbyteError(f"callgrind did not come to an end: {error}") from None
    total = re.search(r"^(?:summary|totals): (\d+)", counts, re.MULTILINE)
    if ended.returncode or not total or ended.stdout.count('"ok":true') != len(asked):
        why = (
            "an instruction that it does not know"
            if "illegal instruction" in ended.stderr.lower()
            else "an error"
        )
        raise PerbyteError(f"callgrind cannot run {spec.name}: {why}")
    return int(total[1])
