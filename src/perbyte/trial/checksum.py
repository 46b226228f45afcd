"""The files `checksumsmall` and `checksumbig` of a tree in SUPERCOP's layout: known answers of a primitive.

The program that computes them is the implementation with `sdk/try/checksum.c` in place of the adapter.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

from perbyte import places
from perbyte.runners.build import run_tool
from perbyte.trial.program import DoesNotBuild, Source, build_program
from perbyte.trial.supercop import Implementation, constants_of

_FILES = {"checksumsmall": (), "checksumbig": ("big",)}
_LIMIT_S = 30.0


def compare_checksums(implementation: Implementation, source: Source, place: Path) -> tuple[bool, str]:
    """(False, expected and got) where a checksum of the tree is another one; else (True, what was compared, or '').

    `place` is where the program is built, beside that of the runner.
    """
    home = implementation.tree / f"crypto_{implementation.operation}" / implementation.primitive
    expected = {name: digest for name in _FILES if (digest := _expected(home / name))}
    if not expected:
        return True, ""
    lengths = constants_of(implementation)
    defined = [
        f"#define OF_{implementation.operation.upper()}",
        *(f"#define {name} {n}" for name, n in lengths.items()),
    ]
    text = places.data_dir("runners") / "sdk" / "try" / "checksum.c"
    table = "\n".join([*defined, f'#include "{text}"', ""])
    try:
        program = build_program(replace(source, table=table), place).command[0]
    except DoesNotBuild as error:
        return True, f"checksums were not compared: {error.first}"
    texts = []
    for name, wanted in expected.items():
        try:
            got = run_tool([program, *_FILES[name]], place, _LIMIT_S).stdout.strip() or "nothing"
        except subprocess.TimeoutExpired:
            texts.append(f"{name} was not compared, because it takes longer than {_LIMIT_S:g} s")
            continue
        if got != wanted:
            return False, f"{name}: expected {wanted}, got {got[:200]}"
        texts.append(f"{name} fits")
    return True, ", ".join(texts)


def expected_checksums(implementation: Implementation) -> str:
    """What the tree expects of a primitive, small and big with a slash between; a hyphen for what it does not say."""
    home = implementation.tree / f"crypto_{implementation.operation}" / implementation.primitive
    return "/".join(_expected(home / name) or "-" for name in _FILES)


def _expected(file: Path) -> str:
    """What a checksum file holds; '' where there is none, or none of this form."""
    try:
        digest = file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return digest if re.fullmatch("[0-9a-f]{64}", digest) else ""
