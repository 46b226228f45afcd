"""Rows as a table that fits the terminal: one column is wrapped, and some are left out where there is no room.

Into a pipe or a file goes every column, a row a line, for `grep` and `awk`; so nothing here is for programs that
want fields: they have `--json`.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_LEAST = 28  # characters for the column that is wrapped, before another one is left out
_GAP = "  "


@dataclass(frozen=True, slots=True)
class Table:
    """`rows` have the same keys; `flowing` is the column that is wrapped, `expendable` go one after another."""

    rows: Sequence[dict[str, Any]]
    flowing: str
    expendable: tuple[str, ...] = ()


def print_table(table: Table) -> None:
    """Print a table as wide as the terminal, or as wide as it is where no terminal is."""
    for line in lay_out(table, _room()):
        print(line)


def lay_out(table: Table, width: int | None) -> list[str]:
    """The lines of a table in `width` characters (None: as many as it takes)."""
    if not table.rows:
        return ["none"]
    names = list(table.rows[0])
    widths = {name: max(len(name), *(len(str(row[name])) for row in table.rows)) for name in names}
    if width is not None:
        for name in table.expendable:
            if _left(widths, table.flowing, width) >= min(_LEAST, widths[table.flowing]):
                break
            del widths[name]
        widths[table.flowing] = min(widths[table.flowing], max(_left(widths, table.flowing, width), 1))
    lines = []
    for row in [{name: name for name in names}, *table.rows]:
        flow = textwrap.wrap(str(row[table.flowing]), widths[table.flowing], break_on_hyphens=False) or [""]
        for number, part in enumerate(flow):
            cells = [part if name == table.flowing else "" if number else str(row[name]) for name in widths]
            line = _GAP.join(cell.ljust(wide) for cell, wide in zip(cells, widths.values(), strict=True))
            lines.append(line.rstrip())
    return lines


def _left(widths: dict[str, int], flowing: str, width: int) -> int:
    """What the other columns leave of `width`."""
    others = [wide for name, wide in widths.items() if name != flowing]
    return width - sum(others) - len(_GAP) * len(others)


def _room() -> int | None:
    if sys.stdout.isatty() or os.environ.get("COLUMNS"):
        return shutil.get_terminal_size().columns
    return None
