"""Suites: questions that many ask, as data. What to measure, at which sizes, and what the answer is good for."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from perbyte import datafile, places
from perbyte.catalogue.catalogue import own_places
from perbyte.errors import DataFileError, UsageError


class Cells(Struct, frozen=True, forbid_unknown_fields=True):
    """Algorithms and operations (globs, as in a selector) at sizes in bytes, under a contract where one is named."""

    algorithms: str
    operations: str
    sizes: tuple[int, ...]
    contract: str = ""


class Suite(Struct, frozen=True, forbid_unknown_fields=True):
    """A suite. `answers` is a sentence, `figure` a name that `perbyte report --figure` knows."""

    title: str
    answers: str
    figure: str
    cells: tuple[Cells, ...]
    budget_s: float = 60.0
    runners: tuple[str, ...] = ()

    def selectors(self, runners: tuple[str, ...]) -> tuple[str, ...]:
        """The selectors that ask `runners` (names) for the suite's cells."""
        wanted = [name for name in runners if name in self.runners] if self.runners else list(runners)
        who = "{" + ",".join(wanted) + "}" if len(wanted) > 1 else "".join(wanted) or "*"
        return tuple(
            f"{who}/{one.algorithms}/{one.operations}@{','.join(map(str, one.sizes))}"
            + (f"+contract={one.contract}" if one.contract else "")
            for one in self.cells
        )


def suites() -> dict[str, Suite]:
    """All suites by name: Perbyte's own and those in `suites/` of PERBYTE_CATALOGUE. Raises DataFileError."""
    found: dict[str, Suite] = {}
    for place in (places.data_dir("catalogue"), *own_places()):
        for path in sorted(Path(place).glob("suites/*.toml")):
            if path.stem in found:
                raise DataFileError(
                    f"{path}: there is a suite '{path.stem}' already", hint="give it another name"
                )
            found[path.stem] = datafile.read_toml(path, Suite)
    return found


def find_suite(name: str) -> Suite:
    """Return the suite called `name`. Raises UsageError when there is none."""
    known = suites()
    if name not in known:
        raise UsageError(
            f"there is no suite '{name}'", hint=f"there are: {', '.join(known)}; see perbyte list suites"
        )
    return known[name]
