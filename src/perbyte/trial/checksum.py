"""The files `checksumsmall` and `checksumbig` of a tree in SUPERCOP's layout: known answers of a primitive.

The program that computes them is the implementation with `sdk/try/checksum.c` in place of the adapter.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from perbyte import places
from perbyte.runners.build import run_tool
from perbyte.trial.program import DoesNotBuild
from perbyte.trial.supercop import Implementation, constants_of

_FILES = {"checksumsmall": (), "checksumbig": ("big",)}
_LIMIT_S = 30.0
PROGRAM = "checksum"
"""The program's name."""


def checksum_program(implementation: Implementation) -> dict[str, str]:
    """The C of the program that computes the checksums of a primitive, by its name; nothing where the tree has none."""
    home = _home(implementation)
    if not any(_expected(home / name) for name in _FILES):
        return {}
    defined = [f"#define OF_{implementation.operation.upper()}"]
    defined += [f"#define {name} {n}" for name, n in constants_of(implementation).items()]
    text = places.data_dir("runners") / "sdk" / "try" / "checksum.c"
    return {PROGRAM: "\n".join([*defined, f'#include "{text}"', ""])}


def compare_checksums(implementation: Implementation, place: Path) -> tuple[bool, str]:
    """(False, expected and got) where a checksum of the tree is another one; else (True, what was compared, or '').

    `place` is where the implementation was built with `checksum_program`.
    """
    home = _home(implementation)
    expected = {name: found for name in _FILES if (found := _expected(home / name))}
    if not expected:
        return True, ""
    if (failed := place / f"{PROGRAM}.failed").is_file():
        words = DoesNotBuild(failed.read_text(encoding="utf-8")).first
        return True, f"checksums were not compared: {words}"
    texts = []
    for name, wanted in expected.items():
        try:
            got = run_tool([str(place / PROGRAM), *_FILES[name]], place, _LIMIT_S).stdout.strip() or "nothing"
        except subprocess.TimeoutExpired:
            texts.append(f"{name} was not compared, because it takes longer than {_LIMIT_S:g} s")
            continue
        if got != wanted:
            return False, f"{name}: expected {wanted}, got {got[:200]}"
        texts.append(f"{name} fits")
    return True, ", ".join(texts)


def _home(implementation: Implementation) -> Path:
    """The directory of the primitive."""
    return implementation.tree / f"crypto_{implementation.operation}" / implementation.primitive


def expected_checksums(implementation: Implementation) -> str:
    """What the tree expects of a primitive, small and big with a slash between; a hyphen for what it does not say."""
    home = _home(implementation)
    return "/".join(_expected(home / name) or "-" for name in _FILES)


def _expected(file: Path) -> str:
    """What a checksum file holds; '' where there is none, or none of this form."""
    try:
        found = file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return found if re.fullmatch("[0-9a-f]{64}", found) else ""
