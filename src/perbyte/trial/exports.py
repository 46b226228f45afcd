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

from perbyte.trial.building import captured

_LIMIT_S = 10.0
_ASK = """
import(require('node:url').pathToFileURL(process.argv[1]).href).then((module) => {
  const found = {};
  const add = (name, it, deep) => {
    if (typeof it === 'function' && !(name in found)) {
      const members = [];
      for (let of = it.prototype; of && of !== Object.prototype; of = Object.getPrototypeOf(of))
        members.push(...Object.getOwnPropertyNames(of));
      found[name] = members.length > 1 ? members : String(it).slice(0, 400);
    }
    if (it && deep && (typeof it === 'function' || typeof it === 'object'))
      for (const inner of Object.keys(it)) add(name ? name + '.' + inner : inner, it[inner], deep - 1);
  };
  add(module.default?.name ?? '', module.default, 2);
  if (module.default?.name) add('', module.default, 2);
  for (const name of Object.keys(module)) if (name !== 'default') add(name, module[name], 1);
  process.stdout.write(JSON.stringify(found), () => process.exit(0));
}, () => process.exit(1));
"""
_HEAD = re.compile(
    r"^(?:async\s+)?(?:function\b[^(]*\(([^)]*)\)|\(([^)]*)\)\s*=>|(\w+)\s*=>|\w+\s*\(([^)]*)\)\s*\{)"
)


@lru_cache(maxsize=16)
def _exported(file: Path, _changed_ns: int) -> dict[str, list[str] | tuple[str, ...]]:
    if not shutil.which("node"):
        return {}
    try:
        ended = captured(["node", "-e", _ASK, str(file)], _LIMIT_S)
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
