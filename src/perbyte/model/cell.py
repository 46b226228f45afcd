"""The cell: one thing that is measured, and its printed address."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

FULL = "full"
STATES = ("loop", "cold", "first", "idle", "memory", "disk", "each")  # see `Cell.state`
LOOP, COLD, FIRST, IDLE, MEMORY, DISK, EACH = STATES
DRAWN = "draw/"  # contracts under which the cost of a call is random
SHARED = "shared-"  # states of threads that share one process
_TOGETHER = re.compile(r"(?:threads|shared)-([1-9]\d{0,3})")
_ADDRESS = re.compile(
    r"(?P<runner>[^/@+]+)/(?P<algorithm>[^/@+]+)/(?P<operation>[^/@+]+)@(?P<size>\d+)(?P<options>(\+[a-z]+=[^+]+)*)"
)


class Process(NamedTuple):
    """Which process measures: the runner, the CPU tier it was started in, and which of an A/A pair it is (0 or 1)."""

    runner: str
    cpu: str
    twin: int


class Row(NamedTuple):
    """What cells of one runner and tier that differ in their size have in common."""

    runner: str
    cpu: str
    algorithm: str
    operation: str
    contract: str


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """runner x algorithm x operation x size x contract x CPU tier x state.

    `twin` numbers the second process of an A/A pair: same cell, as if it were another runner. `state` is what a call
    comes after, where its data is, or how many cores do the same at once: docs/measurement.md, "States".
    """

    runner: str
    algorithm: str
    operation: str
    size_bytes: int
    contract: str
    cpu: str = FULL
    twin: int = 0
    state: str = LOOP

    @property
    def usual(self) -> bool:
        """True for what tables rank and laws are fitted to: a loop on one core, and no second process of a pair."""
        return not self.twin and self.state == LOOP

    @property
    def drawn(self) -> bool:
        """True where the cost of each call is random, so that its figure is a distribution."""
        return self.contract.startswith(DRAWN)

    @property
    def threads(self) -> int:
        """How many cores make the same calls at once; 0 where the state is no such one."""
        return int(match[1]) if (match := _TOGETHER.fullmatch(self.state)) else 0

    @property
    def address(self) -> str:
        """The cell's printed name, accepted wherever a selector is, e.g. `openssl/aes-128-cbc/encrypt@16`.

        The contract always stands in it, so that two addresses are equal only when the calls are.
        """
        options = f"+contract={self.contract}"
        if self.cpu != FULL:
            options += f"+cpu={self.cpu}"
        if self.twin:
            options += f"+twin={self.twin}"
        if self.state != LOOP:
            options += f"+state={self.state}"
        return f"{self.runner}/{self.algorithm}/{self.operation}@{self.size_bytes}{options}"

    @property
    def process(self) -> Process:
        """The process that measures this cell. Tiers never share a process."""
        return Process(self.runner, self.cpu, self.twin)

    @property
    def row(self) -> Row:
        """The row this cell belongs to."""
        return Row(self.runner, self.cpu, self.algorithm, self.operation, self.contract)


def parse_address(text: str) -> Cell:
    """Parse what `Cell.address` printed. Raises ValueError on anything else."""
    match = _ADDRESS.fullmatch(text)
    if not match:
        raise ValueError(f"not a cell address: {text!r}")
    options = dict(part.split("=", 1) for part in match["options"].split("+") if part)
    if "contract" not in options or set(options) - {"contract", "cpu", "twin", "state"}:
        raise ValueError(f"not a cell address: {text!r}")
    return Cell(
        runner=match["runner"],
        algorithm=match["algorithm"],
        operation=match["operation"],
        size_bytes=int(match["size"]),
        contract=options["contract"],
        cpu=options.get("cpu", FULL),
        twin=int(options.get("twin", "0")),
        state=options.get("state", LOOP),
    )


def is_state(text: str) -> bool:
    """True for a state that a cell can be in."""
    return text in STATES or bool(_TOGETHER.fullmatch(text))
