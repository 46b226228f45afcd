"""What the preprocessor says of files in C and C++: included functions, types behind `typedef`, names behind macros.

Asked only where the text alone does not do: a function that comes from an included file, a parameter of a type that is
not known, a name that the object does not have.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from perbyte.runners.needs import compiler
from perbyte.trial.around import header_places
from perbyte.trial.building import captured

_LIMIT_S = 20.0
_MARKER = re.compile(r'# \d+ "((?:[^"\\]|\\.)*)"((?: \d)*)')
_SYSTEM = "3"  # the flag of a file that is a header of the system
_TYPEDEF = re.compile(r"\btypedef\s+((?:[A-Za-z_]\w*\s+)+?\**\s*)([A-Za-z_]\w*)\s*(\[[^;]*\])?\s*;")
_CXX = (".cc", ".cpp", ".cxx", ".hpp", ".hh")
_DEEP = 8  # typedefs of typedefs


def own_text(file: Path) -> str:
    """The text of `file` with what it includes, without headers of the system; '' where no compiler reads it."""
    kept, own = [], True
    for line in _whole(file, file.stat().st_mtime_ns).splitlines():
        if match := _MARKER.match(line):
            own = _SYSTEM not in match[2].split() and not match[1].startswith("<")
        elif own:
            kept.append(line)
    return "\n".join(kept)


def types_of(file: Path) -> Mapping[str, str]:
    """Names that `typedef` gives to other simple types in `file` and what it includes."""
    return _types(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _types(file: Path, changed_ns: int) -> Mapping[str, str]:
    matches = _TYPEDEF.findall(_whole(file, changed_ns))
    kinds = {name: kind.replace("*", " * ") + " *" * bool(array) for kind, name, array in matches}
    names = {name: " ".join(kind.split()) for name, kind in kinds.items()}
    resolved = {}
    for name in names:
        kind = name
        for _ in range(_DEEP):
            if kind not in names:
                break
            kind = names[kind]
        resolved[name] = kind
    return resolved


def real_names(files: Sequence[Path], names: Sequence[str], flags: Sequence[str]) -> dict[str, str]:
    """What macros of `files` make of `names`; only those that become another name."""
    if not names:
        return {}
    asked = "".join(f"PB_NAMED_{number} {name}\n" for number, name in enumerate(names))
    real: dict[str, str] = {}
    for file in files:
        answer = _said(
            [*_command(file), *flags, "-P", "-include", str(file), "-x", _language(file), "-"], asked
        )
        for number, name in re.findall(r"^PB_NAMED_(\d+) ([A-Za-z_]\w*)$", answer, re.MULTILINE):
            if name != names[int(number)]:
                real.setdefault(names[int(number)], name)
    return real


@lru_cache(maxsize=64)
def _whole(file: Path, _changed_ns: int) -> str:
    return _said([*_command(file), "-x", _language(file), str(file)])


def _language(file: Path) -> str:
    return "c++" if file.suffix in _CXX else "c"


def _command(file: Path) -> list[str]:
    usual = (file.parent.parent / "include",)  # where nothing marks a project
    beside = [f"-I{place}" for place in (file.parent, *(header_places((file,)) or usual))]
    return [*compiler(_language(file)), "-E", "-w", *beside]


def _said(command: Sequence[str], given: str = "") -> str:
    if not shutil.which(command[0]):
        return ""
    try:
        return captured(command, _LIMIT_S, given=given).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
