"""Branches and addresses that depend on secrets, found by Valgrind's memcheck: where, not how much.

One call is made with the bytes of a secret marked as undefined (runners/sdk/c/taint.c), after Langley's ctgrind (2010)
and SUPERCOP's TIMECOP. What a call answers is public, and told as a branch all the same.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from perbyte.errors import EnvironmentLacking, PerbyteError
from perbyte.model import Algorithm, Cell
from perbyte.model.text import plain
from perbyte.runners import RunnerSpec
from perbyte.trial.building import captured

LIMIT_S = 120
LARGEST = 64 << 20  # bytes of what memcheck writes
NOT_MEMCHECK = 2  # the program's exit status: runners/sdk/c/taint.c
WORDS = {"UninitCondition": "a branch", "UninitValue": "an address", "SyscallParam": "a system call"}
BOTH, KEY, DATA = ("key", "data"), ("key",), ("data",)
SECRETS = {
    "encrypt": BOTH,
    "seal": BOTH,
    "mac": BOTH,
    "decrypt": KEY,
    "open": KEY,
    "expand": KEY,
    "sign": KEY,
    "derive": KEY,
    "decapsulate": KEY,
    "digest": DATA,
    "squeeze": DATA,
    "hash": DATA,
}


def require_memcheck() -> None:
    """Raise EnvironmentLacking when Valgrind, or the header of its requests, is not there."""
    if not shutil.which("valgrind") or not Path("/usr/include/valgrind/memcheck.h").is_file():
        raise EnvironmentLacking(
            "--leak=taint needs valgrind with its headers", hint="apt-get install valgrind"
        )


def taint_of(
    spec: RunnerSpec, cell: Cell, algorithm: Algorithm, files: Sequence[Path]
) -> list[dict[str, Any]]:
    """What depends on each secret of `cell`; where nothing does, an entry without `where`. Raises PerbyteError."""
    notes: list[dict[str, Any]] = []
    for role in SECRETS.get(cell.operation, ()):
        if role == "key" and not algorithm.key_bytes:
            continue
        what = f"{cell.runner}/{cell.operation}, {role}"
        places = _places(_under_memcheck(spec, cell, role), files)
        notes += [
            {"what": what, "said": f"{kind} depends on it in {function}", "where": where, "times": times}
            for (kind, function, where), times in places.items()
        ]
        if not places:
            notes.append(
                {"what": what, "said": "no branch and no address of this call depends on it", "where": ""}
            )
    return notes


def _under_memcheck(spec: RunnerSpec, cell: Cell, role: str) -> ET.Element:
    with tempfile.TemporaryDirectory(prefix="perbyte-") as scratch:
        out = Path(scratch) / "found.xml"
        checked = ["valgrind", "--tool=memcheck", "--xml=yes", f"--xml-file={out}", "--error-limit=no", "-q"]
        asked = ["taint", cell.algorithm, cell.operation, cell.contract, str(cell.size_bytes), role]
        try:
            ended = captured([*checked, *spec.command, *asked], LIMIT_S)
            content = out.read_bytes() if out.is_file() and out.stat().st_size <= LARGEST else b""
        except (OSError, subprocess.TimeoutExpired) as error:
            raise PerbyteError(f"memcheck did not come to an end: {error}") from None
    if ended.returncode == NOT_MEMCHECK:
        raise EnvironmentLacking(
            "the SDK was compiled without Valgrind's headers",
            hint="apt-get install valgrind; then perbyte build --force",
        )
    if ended.returncode:
        why = "an instruction that it does not know" if b"SIGILL" in content else plain(ended.stderr, 200)
        raise PerbyteError(f"memcheck cannot run {spec.name}: {why or 'an error'}")
    try:
        return ET.fromstring(content)  # written by Valgrind, of names in a program of the user's own
    except ET.ParseError as error:
        raise PerbyteError(f"what memcheck wrote cannot be read: {error}") from None


def _places(report: ET.Element, files: Sequence[Path]) -> dict[tuple[str, str, str], int]:
    """(what, function, file:line) and how often it was seen, in the order of the first time."""
    counts = {
        pair.findtext("unique"): int(pair.findtext("count") or 1)
        for pair in report.findall("errorcounts/pair")
    }
    own_files = {file.name for file in files}
    places: dict[tuple[str, str, str], int] = {}
    for error in report.findall("error"):
        kind = WORDS.get(error.findtext("kind") or "")
        frames = error.findall("stack/frame")
        if not kind or not frames:
            continue
        frame = next((frame for frame in frames if frame.findtext("file") in own_files), frames[0])
        file, line = frame.findtext("file"), frame.findtext("line")
        function = plain(frame.findtext("fn") or "an unnamed function", 100)
        inner = frames[0].findtext("fn")
        if frame is not frames[0] and inner:
            function += f" ({plain(inner, 60)})"
        where = f"{plain(file, 100)}:{line}" if file and line else plain(frame.findtext("obj") or "?", 100)
        place = (kind, re.sub(r"^pb_", "", function), where)
        places[place] = places.get(place, 0) + counts.get(error.findtext("unique"), 1)
    return places
