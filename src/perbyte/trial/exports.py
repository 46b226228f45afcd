"""What a module of JavaScript exports, as node has it: functions that the text makes by calling another one.

Asked only where the text has no such function, because the module runs for it.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path

from perbyte import places
from perbyte.trial.building import captured

_LIMIT_S = 10.0
_HEAD = re.compile(
    r"^(?:async\s+)?(?:function\b[^(]*\(([^)]*)\)|\(([^)]*)\)\s*=>|(\w+)\s*=>|\w+\s*\(([^)]*)\)\s*\{)"
)


@lru_cache(maxsize=16)
def _exported(file: Path, _changed_ns: int) -> dict[str, list[str] | tuple[str, ...]]:
    if not shutil.which("node"):
        return {}
    script = places.data_dir("runners") / "sdk" / "try" / "exports.cjs"
    try:
        ended = captured(["node", str(script), str(file)], _LIMIT_S)
        functions = json.loads(ended.stdout) if not ended.returncode else {}
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return {}
    return {
        name: tuple(text) if isinstance(text, list) else _parameters(str(text))
        for name, text in functions.items()
        if name
    }


def exported(file: Path) -> dict[str, list[str] | tuple[str, ...]]:
    """The functions that `file` exports, each with its parameters that have no value by default; {} where it fails.

    Of a class the names of its members, as a tuple. What stands in an object has its name before it: `sha256.array`.
    """
    return _exported(file, file.stat().st_mtime_ns)


def _parameters(text: str) -> list[str]:
    match = _HEAD.match(text.strip())
    inside = next((part for part in match.groups() if part), "") if match else ""
    return [
        part.strip() for part in inside.split(",") if part.strip() and "=" not in part and "..." not in part
    ]
