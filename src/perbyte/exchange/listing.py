"""What a listing of `openssl speed` says, as plain values: rows, operations per key, facts of its header.

Nothing here knows how the text looked or what the names mean in the catalogue; the parsers fill these values and
`openssl_run` reads them. Line numbers count from 1 and stay with everything, so that each complaint can name one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from perbyte.model import Machine


@dataclass(frozen=True, slots=True)
class SpeedRow:
    """A row of throughput: bytes per second for each size in bytes.

    0 is what the tool prints for an algorithm that the build lacks; NaN stands for a figure that is none
    (negative or not finite, which it prints when calls fail).
    """

    name: str
    line: int
    bytes_per_second: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A row of public-key operations: seconds per operation by the operation's name; 0 where it was not there."""

    kind: str
    bits: int
    label: str
    line: int
    seconds: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """Something missing or cut off in a listing, at a line."""

    line: int
    what: str


@dataclass(slots=True)
class Listing:
    """One listing, filled while it is read. `line` is where it begins.

    `calls` holds what the progress lines tell: (row's name, size) -> (calls, seconds). `processes` is above 1 when
    several measured at once (-multi): the rows are then their sums. `runner` and `cpu` are set in exports of
    Perbyte alone.
    """

    line: int = 0
    library: str = "OpenSSL"
    version: str = ""
    compiler: str = ""
    cpu_info: str = ""
    command: tuple[str, ...] = ()
    wall_clock: bool = False
    processes: int = 1
    runner: str = ""
    cpu: str = ""
    machine: Machine = field(default_factory=Machine)
    rows: list[SpeedRow] = field(default_factory=list)
    keys: list[KeyRow] = field(default_factory=list)
    calls: dict[tuple[str, int], tuple[int, float]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        """True when it holds no figure."""
        return not (self.rows or self.keys)

    def note_command(self, words: list[str]) -> None:
        """Take over what a command line `openssl speed ...` says of how it was measured."""
        self.command = tuple(words)
        if "-elapsed" in words:
            self.wall_clock = True
        if "-multi" in words[:-1] and (count := words[words.index("-multi") + 1]).isdigit():
            self.processes = max(int(count), 1)
