"""Writes a run as the tables of `openssl speed`, in the form of its version 3, which the importer reads back.

The tables know one call per kind (endless messages for ciphers, whole digests, whole MACs, operations per key) and no
intervals. Whatever a run holds beyond that is named to the caller instead of being squeezed in. One listing is
written per runner and CPU tier, because a table's row says neither; a line `perbyte:` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from perbyte.exchange.imported import IMPORTED
from perbyte.exchange.openssl_run import RowMeaning, digest_bytes, mean_key, mean_row, parse_version, row_name
from perbyte.model import Cell, CellFigure, Run, parse_address
from perbyte.model.text import plain

_NAME_WIDTH = 13
_NUMBERS = "The 'numbers' are in 1000s of bytes per second processed."
_Values = dict[Cell, float]  # nanoseconds per call; 0 for a cell without a figure


@dataclass(frozen=True, slots=True)
class SpeedTable:
    """The text, and the addresses of the cells that such a table cannot hold."""

    text: str
    left_out: tuple[str, ...]


def write_table(run: Run) -> SpeedTable:
    """Return `run` as listings of `openssl speed`. Cells without a figure are 0.00, as in the tool's own tables."""
    values = _values(run)
    groups: dict[tuple[str, str], _Values] = {}
    for cell, ns in values.items():
        groups.setdefault((cell.runner, cell.cpu), {})[cell] = ns
    libraries = {(figure.cell.runner, figure.cell.cpu): figure for figure in run.cells}
    parts: list[str] = []
    left_out: list[str] = []
    for group, cells in groups.items():
        lines, rest = _listing(run, group, cells, libraries.get(group))
        left_out += [cell.address for cell in rest]
        if lines:
            parts.append("\n".join(lines) + "\n")
    return SpeedTable("\n".join(parts), tuple(left_out))


def _values(run: Run) -> _Values:
    values = {
        figure.cell: figure.ns_per_call
        for figure in run.cells
        if figure.cell.usual and figure.ns_per_call > 0
    }
    for failure in run.failures:
        try:
            cell = parse_address(failure.address)
        except ValueError:
            continue
        if cell.usual:
            values.setdefault(cell, 0.0)
    return values


def _listing(
    run: Run, group: tuple[str, str], cells: _Values, example: CellFigure | None
) -> tuple[list[str], list[Cell]]:
    """The lines of one runner and tier, and the cells that fit no table."""
    identity = next(
        (identity for identity in run.conditions.identities if (identity.runner, identity.cpu) == group), None
    )
    library = example.library if example else identity.library if identity else ""
    version = example.library_version if example else identity.library_version if identity else ""
    numbers = parse_version(version) if library == "OpenSSL" else ()
    rows: dict[str, dict[int, float]] = {}
    keys: dict[tuple[str, int], dict[str, float]] = {}
    rest: list[Cell] = []
    for cell, ns in cells.items():
        kind, _, bits = cell.algorithm.rpartition("-")
        name = row_name(cell.algorithm, cell.runner)
        if _is_key(kind, bits, cell):
            operations = keys.setdefault((kind, int(bits)), {})
            if cell.operation in operations and cell.size_bytes != digest_bytes(kind):
                rest.append(cell)
            else:
                operations[cell.operation] = ns
        elif cell.size_bytes and mean_row(name, numbers, ()) in _meanings(cell):
            rows.setdefault(name, {})[cell.size_bytes] = ns
        else:
            rest.append(cell)
    if not (
        any(any(row.values()) for row in rows.values()) or any(any(row.values()) for row in keys.values())
    ):
        return [], list(cells)
    lines = [f"perbyte: runner={group[0]} cpu={group[1]}"]
    if model := plain(
        run.conditions.machine.cpu_model, 120
    ):  # as /proc/cpuinfo has it, which the importer reads
        lines.append(f"model name: {model}")
    if version and " " not in version:
        lines.append(f"version: {version}" if library == "OpenSSL" else f"version: {library} {version}")
    if identity and identity.compiler and run.conditions.origin == IMPORTED:  # else it is the runner's
        lines.append(f"compiler: {identity.compiler}")
    if identity and identity.cpu_features.startswith("OPENSSL_"):
        lines.append(f"CPUINFO: {identity.cpu_features}")
    return lines + _speed_lines(rows) + _key_lines(keys), rest


def _meanings(cell: Cell) -> tuple[RowMeaning, ...]:
    """The cell as a row may mean it: the runner does not count, it stands in a line of its own."""
    return tuple(
        RowMeaning(runner, cell.algorithm, cell.operation, cell.contract)
        for runner in (cell.runner, "openssl", "openssl-lowlevel")
    )


def _is_key(kind: str, bits: str, cell: Cell) -> bool:
    if not bits.isdigit() or cell.contract != "pk/1" or cell.operation not in ("sign", "verify"):
        return False
    return isinstance(mean_key(kind, int(bits), cell.operation), RowMeaning)


def _speed_lines(rows: Mapping[str, Mapping[int, float]]) -> list[str]:
    """Tables of throughput: one heading for all rows that were measured at the same sizes."""
    tables: dict[tuple[int, ...], list[str]] = {}
    width = max((_NAME_WIDTH, *(len(name) for name in rows)))
    for name, row in rows.items():
        sizes = tuple(sorted(row))
        line = name.ljust(width) + "".join(_rate(size, row[size]) for size in sizes)
        tables.setdefault(sizes, []).append(line)
    lines = [_NUMBERS] if tables else []
    for sizes, body in tables.items():
        lines.append("type".ljust(width - 1) + "".join(f"{size:7d} bytes" for size in sizes))
        lines += body
    return lines


def _rate(size: int, ns: float) -> str:
    rate = size / ns * 1e9 if ns else 0.0
    return f" {rate / 1e3:11.2f}k" if rate > 10_000 else f" {rate:11.2f} "


def _key_lines(keys: Mapping[tuple[str, int], Mapping[str, float]]) -> list[str]:
    lines: list[str] = []
    for kind in dict.fromkeys(kind for kind, _ in keys):
        lines.append(f"{' ':18}sign    verify    sign/s verify/s")
        for (other, bits), operations in sorted(keys.items()):
            if other == kind:
                times = [operations.get(name, 0.0) / 1e9 for name in ("sign", "verify")]
                lines.append(f"{kind} {bits:4d} bits {_times(times)}")
    return lines


def _times(times: Iterable[float]) -> str:
    times = tuple(times)
    rates = (1 / time if time else 0.0 for time in times)
    return " ".join([*(f"{time:8.6f}s" for time in times), *(f"{rate:8.1f}" for rate in rates)])
