"""Functions of C++ by the name that stands in their source: no `extern "C"` is needed.

The compiler gives them longer names, in which namespace and parameters stand. The object says which there are; the
linker is told that the short name means the long one. What is called is the same machine code: plain pointers and
numbers are handed over as in C.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from perbyte.errors import UsageError
from perbyte.trial.building import captured

_LIMIT_S = 60


def link_flags(objects: Sequence[Path], wanted: Iterable[str]) -> list[str]:
    """Flags of the linker by which each of `wanted` is found under its own name.

    Raises UsageError where several functions of C++ have that name.
    """
    symbols = _symbols(objects)
    plain = _demangled(symbols)
    flags = []
    for name in wanted:
        if name in symbols:
            continue
        fitting = {
            symbol: text
            for symbol, text in plain.items()
            if re.match(rf"(?:.*::)?{re.escape(name)}\(", text) and symbol != text
        }
        if len(fitting) > 1:
            raise UsageError(
                f"several functions are called {name}: {'; '.join(sorted(fitting.values()))}",
                hint="rename one of them, or leave one out",
            )
        flags += [f"-Wl,--defsym={name}={symbol}" for symbol in fitting]
    return flags


def _symbols(objects: Sequence[Path]) -> list[str]:
    """Names that `objects` define for others; none where nm cannot read them."""
    text = _said(["nm", "-P", "-g", "--defined-only", *map(str, objects)])
    return [
        line.split()[0] for line in text.splitlines() if len(line.split()) > 2 and line.split()[1] in "TtWi"
    ]


def _demangled(symbols: Sequence[str]) -> dict[str, str]:
    """Each symbol as its source has it; as it is where nothing can read it."""
    lines = _said(["c++filt"], "\n".join(symbols)).splitlines()
    return dict(zip(symbols, lines, strict=True)) if len(lines) == len(symbols) else {}


def _said(command: Sequence[str], given: str = "") -> str:
    try:
        return captured(command, _LIMIT_S, given=given).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
