"""Which cells a study asks for: its selectors taken apart into patterns, one per size.

A claim must know which cells it needs even when nobody measured them, so the alternatives that a selector
spells out are expanded here; globs stay patterns that are matched against what a run holds. The syntax
and its meaning are the catalogue's; a study merely has to say more than a command line does.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from perbyte.catalogue import Catalogue, parse_selector, pattern
from perbyte.errors import UsageError
from perbyte.model import Cell
from perbyte.model.cell import FULL


@dataclass(frozen=True, slots=True)
class CellPattern:
    """A cell in which any name may be a glob."""

    runner: str
    algorithm: str
    operation: str
    size_bytes: int
    contract: str
    cpu: str

    @property
    def literal(self) -> bool:
        """True when no name is a glob, so that the pattern means exactly one cell."""
        names = (self.runner, self.algorithm, self.operation, self.contract, self.cpu)
        return not any(pattern.is_pattern(name) for name in names)

    def cell(self) -> Cell:
        """The cell it means; globs stand in it as they are."""
        return Cell(self.runner, self.algorithm, self.operation, self.size_bytes, self.contract, self.cpu)

    def matches(self, cell: Cell) -> bool:
        """True when `cell` is one of those meant. The second process of an A/A pair never is."""
        return (
            cell.twin == 0
            and cell.size_bytes == self.size_bytes
            and pattern.matches(cell.runner, self.runner)
            and pattern.matches(cell.algorithm, self.algorithm)
            and pattern.matches(cell.operation, self.operation)
            and pattern.matches(cell.contract, self.contract)
            and pattern.matches(cell.cpu, self.cpu)
        )


def with_contract(selector: str, contract: str) -> str:
    """Return the selector with a contract in it: its own where it names one, else `contract`."""
    return selector if "+contract=" in selector else f"{selector}+contract={contract}"


def expand(selector: str, catalogue: Catalogue | None = None) -> tuple[CellPattern, ...]:
    """Take a full selector apart, e.g. `{a,b}/md5/digest@16,64+contract=oneshot/1` into four patterns.

    The catalogue (Perbyte's own by default) resolves aliases. Raises UsageError when the selector is none, when it
    leaves sizes or contract open, or when the catalogue knows no algorithm that it means.
    """
    parsed = parse_selector(selector, catalogue)
    parsed.algorithms(catalogue)
    if parsed.sizes is None:
        raise UsageError(f"selector '{selector}' names no sizes", way_out="add them: @16,8192")
    if parsed.contracts is None:
        raise UsageError(f"selector '{selector}' names no contract", way_out="add one: +contract=stream/1")
    choices = itertools.product(
        pattern.expand_braces(parsed.runner),
        pattern.expand_braces(parsed.algorithm),
        pattern.expand_braces(parsed.operation),
        parsed.sizes,
        parsed.contracts,
        parsed.cpus or (FULL,),
    )
    return tuple(CellPattern(*choice) for choice in choices)
