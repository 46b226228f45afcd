"""The cell: one thing that is measured, and its printed address."""

from __future__ import annotations

import re
from dataclasses import dataclass

FULL = "full"
_ADDRESS = re.compile(
    r"(?P<runner>[^/@+]+)/(?P<algorithm>[^/@+]+)/(?P<operation>[^/@+]+)@(?P<size>\d+)(?P<options>(\+[a-z]+=[^+]+)*)"
)


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """runner x algorithm x operation x size x contract x CPU tier.

    `twin` numbers the second process of an A/A pair: same cell, measured as if it were another runner.
    """

    runner: str
    algorithm: str
    operation: str
    size_bytes: int
    contract: str
    cpu: str = FULL
    twin: int = 0

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
        return f"{self.runner}/{self.algorithm}/{self.operation}@{self.size_bytes}{options}"

    @property
    def process(self) -> tuple[str, str, int]:
        """The process that measures this cell: (runner, CPU tier, twin). Tiers never share a process."""
        return (self.runner, self.cpu, self.twin)


def parse_address(text: str) -> Cell:
    """Parse what `Cell.address` printed. Raises ValueError on anything else."""
    found = _ADDRESS.fullmatch(text)
    if not found:
        raise ValueError(f"not a cell address: {text!r}")
    options = dict(part.split("=", 1) for part in found["options"].split("+") if part)
    unknown = set(options) - {"contract", "cpu", "twin"}
    if unknown or "contract" not in options:
        raise ValueError(f"not a cell address: {text!r}")
    return Cell(
        runner=found["runner"],
        algorithm=found["algorithm"],
        operation=found["operation"],
        size_bytes=int(found["size"]),
        contract=options["contract"],
        cpu=options.get("cpu", FULL),
        twin=int(options.get("twin", "0")),
    )
