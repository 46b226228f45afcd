"""Readings of a benchmark tool as a run: names are looked for in the catalogue, or said by the user.

A benchmark is called as its author liked. So an algorithm is looked for among the words of its name, the operation
too, and the size is the tool's own or the last number in the name. What is not understood is kept as a note, never
dropped, and `--map` says what it is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from perbyte.catalogue import Catalogue, load, parse_sizes
from perbyte.catalogue.checking import OPERATIONS
from perbyte.errors import PerbyteError, UsageError
from perbyte.exchange.benchmarks import Reading
from perbyte.exchange.imported import imported_figure, imported_identity, imported_run
from perbyte.model import Cell, CellFigure, Doubt, Interval, Run, Warning

_LONGEST = 4  # words that make an algorithm's name: chacha20 poly1305, hmac sha2 256
_SIZE = re.compile(r"(\d+)\s*(KiB|MiB|KB|MB|K|M|B|bytes)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class BenchmarkMeaning:
    """What a user says that a benchmark is: names that `pattern` fits."""

    pattern: re.Pattern[str]
    algorithm: str
    operation: str
    size_bytes: int


def read_meaning(text: str) -> BenchmarkMeaning:
    """Read `PATTERN=ALGORITHM/OPERATION@SIZE` (operation and size may be missing). Raises UsageError."""
    pattern, equals, rest = text.partition("=")
    match = re.fullmatch(r"([^/@]+)(?:/([^/@]+))?(?:@([^/@]+))?", rest)
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise UsageError(f"--map: '{pattern}' is not a regular expression: {error}") from None
    if not (equals and pattern and match):
        raise UsageError(f"--map: '{text}' is not of the form", hint="--map 'BM_sha.*=sha-256/digest@8KiB'")
    algorithm = load().find(match[1])
    operation = match[2] or OPERATIONS[algorithm.kind][0]
    if operation not in algorithm.operations:
        raise UsageError(f"--map: {algorithm.id} has {', '.join(algorithm.operations)}, no {operation}")
    return BenchmarkMeaning(compiled, algorithm.id, operation, parse_sizes(match[3])[0] if match[3] else 0)


def make_benchmark_run(
    readings: Sequence[Reading],
    form: str,
    *,
    name: str,
    source: str,
    runner: str,
    meanings: Sequence[BenchmarkMeaning] = (),
) -> Run:
    """The readings as a run called `name`, its rows under the name `runner`. Not stored anywhere yet."""
    catalogue = load()
    figures: dict[Cell, CellFigure] = {}
    notes: list[str] = []
    for reading in readings:
        cell = _cell(reading, runner, catalogue, meanings)
        if isinstance(cell, str):
            notes.append(f"line {reading.line}: {reading.name[:80]}: {reading.ns:.6g} ns; {cell}")
        elif cell in figures:
            notes.append(
                f"line {reading.line}: {reading.name[:80]}: {cell.address} is there already; left out"
            )
        else:
            figures[cell] = _figure(cell, reading, form)
    identities = (imported_identity(runner, runner),) if figures else ()
    values = tuple(figures.values())
    return imported_run(name, form, source, values, identities=identities, remarks=notes, plan=tuple(figures))


def _figure(cell: Cell, reading: Reading, form: str) -> CellFigure:
    if math.isfinite(reading.high) and 0 < reading.low <= reading.ns <= reading.high:
        interval = Interval(reading.low, reading.high, reading.level, dominated_by="samples")
        return imported_figure(cell, reading.ns, library=cell.runner, interval=interval)
    doubt = Warning(Doubt.NO_INTERVAL, f"the interval is not known: {form} gives none")
    return imported_figure(cell, reading.ns, library=cell.runner, warnings=(doubt,))


# (is it an AEAD, the way back) -> what "enc" and "dec" mean
_WAYS = {(True, False): "seal", (True, True): "open", (False, False): "encrypt", (False, True): "decrypt"}


def _cell(
    reading: Reading, runner: str, catalogue: Catalogue, meanings: Sequence[BenchmarkMeaning]
) -> Cell | str:
    """The cell that a reading stands for, or why there is none."""
    meaning = next((meaning for meaning in meanings if meaning.pattern.search(reading.name)), None)
    if meaning:
        size = reading.size_bytes or meaning.size_bytes or _size_in(reading.name)
        contract = catalogue.default_contract(meaning.algorithm)
        return Cell(runner, meaning.algorithm, meaning.operation, size, contract)
    words = [word for word in re.split(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])", reading.name) if word]
    for length in range(min(_LONGEST, len(words)), 0, -1):
        for at in range(len(words) - length + 1):
            part = "-".join(words[at : at + length]).lower()
            if part.isdigit() or len(part) < 3:
                continue
            try:
                algorithm = catalogue.find(part)
            except PerbyteError:
                if not (bare := catalogue.find_bare(part)):
                    continue
                algorithm = bare
            others = {word.lower() for word in (*words[:at], *words[at + length :])}
            if others & {"auth"} and algorithm.kind != "mac":
                return "the cost of associated data alone is none of the catalogue's operations"
            meant = algorithm.kind == "aead", bool(others & {"decrypt", "dec"})
            told = others | ({_WAYS[meant]} if others & {"encrypt", "enc", "decrypt", "dec"} else set())
            operation = next((name for name in algorithm.operations if name in told), "")
            rest = "/".join((*words[:at], "|", *words[at + length :]))
            size = reading.size_bytes or _size_in(rest)
            contract = catalogue.default_contract(algorithm)
            return Cell(runner, algorithm.id, operation or algorithm.operations[0], size, contract)
    return "no algorithm of the catalogue is in its name; say it with --map"


def _size_in(name: str) -> int:
    """The last number of a name, in bytes; 0 without one."""
    match = _SIZE.search(name)
    if not match:
        return 0
    units = {"k": 1024, "kib": 1024, "kb": 1000, "m": 2**20, "mib": 2**20, "mb": 10**6}
    value = int(match[1]) * units.get((match[2] or "").lower(), 1)
    return value if value < 2**40 else 0
