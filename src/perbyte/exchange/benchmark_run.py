"""Readings of a benchmark tool as a run: names are understood as a whole, or said by the user, or kept as notes.

What a name means is `benchmark_names`' business. What is not understood is kept as a note, never dropped, and `--map`
says what it is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from perbyte.catalogue import Catalogue, load, parse_sizes
from perbyte.catalogue.checking import OPERATIONS
from perbyte.errors import UsageError
from perbyte.exchange.benchmark_names import Meaning, package_is_of, size_for, understand
from perbyte.exchange.benchmark_origin import Origin
from perbyte.exchange.benchmark_sizes import SIZED, UNSIZED_BYTES
from perbyte.exchange.imported import imported_figure, imported_identity, imported_run
from perbyte.exchange.reading import Reading
from perbyte.model import Cell, CellFigure, Doubt, Interval, Run, Warning
from perbyte.model.cell import LOOP

_UNSAID = (
    f"names of signatures that tell no length stand at {UNSIZED_BYTES} bytes, as such operations are measured"
)

_OWN = re.compile(
    r"Perbyte/runner=[^/]+/algorithm=(?P<algorithm>[^/]+)/operation=(?P<operation>[^/]+)/size=(?P<size>\d{1,15})"
    r"/contract=(?P<contract>[a-z]+\.\d{1,3})/cpu=(?P<cpu>[^/+]+)(?:/state=(?P<state>[^/+]+))?"
)


@dataclass(frozen=True, slots=True)
class BenchmarkMeaning:
    """What a user says that a benchmark is: names that `pattern` fits."""

    pattern: re.Pattern[str]
    algorithm: str
    operation: str
    size_bytes: int


def read_meaning(text: str) -> BenchmarkMeaning:
    """Read `PATTERN=ALGORITHM/OPERATION@SIZE` (the size may be missing, and the operation where there is one only).

    Raises UsageError.
    """
    pattern, equals, rest = text.rpartition("=")
    match = re.fullmatch(r"([^/@]+)(?:/([^/@]+))?(?:@([^/@]+))?", rest)
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise UsageError(f"--map: '{pattern}' is not a regular expression: {error}") from None
    if not (equals and pattern and match):
        raise UsageError(f"--map: '{text}' is not of the form", hint="--map 'BM_sha.*=sha-256/digest@8KiB'")
    algorithm = load().find(match[1])
    operation = match[2] or OPERATIONS[algorithm.kind][0]
    if not match[2] and len(algorithm.operations) > 1:
        listed = ", ".join(algorithm.operations)
        raise UsageError(
            f"--map: {algorithm.id} has {listed}: say which",
            hint=f"--map '{pattern}={algorithm.id}/{operation}'",
        )
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
    origin: Origin | None = None,
) -> Run:
    """The readings as a run called `name`, its rows under the name `runner`. Not stored anywhere yet."""
    catalogue, origin = load(), origin or Origin()
    figures: dict[Cell, CellFigure] = {}
    notes: list[str] = list(origin.remarks)
    unsaid = False
    for reading in readings:
        if cell := _own_cell(reading.name, runner, catalogue):
            figures[cell] = _figure(cell, reading, form, origin.version)
            continue
        meaning = reading.unlike or _meaning(reading, catalogue, meanings)
        if isinstance(meaning, str):
            shown = f"{reading.ns:.6g} ns; " if reading.ns > 0 else ""
            notes.append(f"{_where(reading)}: {shown}{meaning}")
            continue
        contract = catalogue.default_contract(meaning.algorithm)
        cell = Cell(runner, meaning.algorithm.id, meaning.operation, meaning.size_bytes, contract)
        if cell in figures:
            notes.append(f"{_where(reading)}: {cell.address} is there already; left out")
        else:
            figures[cell] = _figure(cell, reading, form, origin.version)
            sized = meaning.algorithm.kind == "signature" and meaning.operation != "keygen"
            unsaid |= sized and not reading.sizes.known and str(UNSIZED_BYTES) not in reading.name
    if unsaid:
        notes.append(_UNSAID)
    identities = (imported_identity(runner, runner, version=origin.version),) if figures else ()
    return imported_run(
        name,
        form,
        source,
        tuple(figures.values()),
        identities=identities,
        remarks=notes,
        plan=tuple(figures),
        machine=origin.machine,
    )


def _own_cell(name: str, runner: str, catalogue: Catalogue) -> Cell | None:
    """The cell of a name that `perbyte export` wrote."""
    match = _OWN.fullmatch(name)
    if not match or match["algorithm"] not in catalogue.algorithms:
        return None
    if match["operation"] not in catalogue.algorithms[match["algorithm"]].operations:
        return None
    contract = match["contract"].replace(".", "/")
    size, state = int(match["size"]), match["state"] or LOOP
    return Cell(runner, match["algorithm"], match["operation"], size, contract, match["cpu"], state=state)


def _where(reading: Reading) -> str:
    package = f"{reading.package}: " if reading.package else ""
    settings = "".join(f", {name}={value}" for name, value in reading.settings)
    return f"line {reading.line}: {package[:80]}{reading.name[:80]}{settings[:80]}"


def _figure(cell: Cell, reading: Reading, form: str, version: str) -> CellFigure:
    warnings = []
    if reading.threads > 1:
        text = f"the mean of {reading.threads} threads that ran at once"
        warnings.append(Warning(Doubt.SEVERAL_PROCESSES, text, (reading.threads,)))
    interval = None
    if math.isfinite(reading.high) and 0 < reading.low <= reading.ns <= reading.high:
        interval = Interval(reading.low, reading.high, reading.level, dominated_by="samples")
    else:
        warnings.append(Warning(Doubt.NO_INTERVAL, f"the interval is not known: {form} gives none"))
    return imported_figure(
        cell, reading.ns, library=cell.runner, version=version, interval=interval, warnings=warnings
    )


def _meaning(reading: Reading, catalogue: Catalogue, meanings: Sequence[BenchmarkMeaning]) -> Meaning | str:
    """The cell that a reading stands for, or why there is none."""
    qualified = f"{reading.package}/{reading.name}" if reading.package else reading.name
    for meaning in meanings:
        plainly = meaning.pattern.search(reading.name)
        if not (plainly or meaning.pattern.search(qualified)):
            continue
        algorithm = catalogue.find(meaning.algorithm)
        if plainly and not package_is_of(reading.package, algorithm, catalogue):
            return (
                f"it is of the package {reading.package}; where {algorithm.id} is meant, "
                f"name the package: --map '{reading.package}/...=...'"
            )
        size = meaning.size_bytes or size_for(
            algorithm, reading.name, catalogue, sizes=reading.sizes, settings=reading.settings
        )
        if isinstance(size, str):
            return size
        if meaning.size_bytes and reading.sizes.known and not reading.sizes.holds(size):
            return f"--map says {size} bytes, and its throughput another size"
        return Meaning(
            algorithm, meaning.operation, size if algorithm.kind in SIZED else size or UNSIZED_BYTES
        )
    return understand(
        reading.name, catalogue, sizes=reading.sizes, package=reading.package, settings=reading.settings
    )
