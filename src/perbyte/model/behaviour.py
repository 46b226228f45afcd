"""What a cell executes and uses, apart from time: instructions by kind, heap, stack, code."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from perbyte.model.cell import Cell

KINDS = (
    "aes",
    "clmul",
    "sha",
    "multiply",
    "divide",
    "vector_128",
    "vector_256",
    "vector_512",
    "branch",
    "load",
    "store",
)
LINE_BYTES = 64  # the unit in which code is counted
WIRE = ("bytes_to_server", "bytes_to_client", "round_trips")  # of a handshake; before the client's data


@dataclass(frozen=True, slots=True)
class Counted:
    """Means over the calls of a stretch; `heap_peak` (bytes at once), lines and pages of code are the stretch's own.

    `heap_calls` are allocations, `heap_bytes` what they ask for, `heap_left` what of it is not given back.
    """

    instructions: float
    kinds: dict[str, float] = field(default_factory=dict)
    system_calls: float = 0.0
    heap_calls: float = 0.0
    heap_bytes: float = 0.0
    heap_peak: int = 0
    heap_left: int = 0
    code_lines: int = 0
    code_pages: int = 0


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One cell. `call` is None where it is not known, and `unknown` says why; `setup` likewise.

    `calls`: over how many the mean goes. `repeated`: the instructions of a call in another process; where they differ,
    the library draws numbers or its code depends on addresses. `stack`, `setup_stack`: 0, not known. `wire`: `WIRE`.
    """

    cell: Cell
    calls: int = 0
    call: Counted | None = None
    setup: Counted | None = None
    repeated: float | None = None
    stack: int = 0
    setup_stack: int = 0
    unknown: str = ""
    setup_unknown: str = ""
    wire: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(self.wire) not in (0, len(WIRE)):
            raise ValueError(f"what {self.cell.address} sends has {len(self.wire)} numbers, not {len(WIRE)}")

    @property
    def exact(self) -> bool:
        """True when two processes counted the same."""
        return self.call is not None and self.call.instructions == self.repeated

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the most instructions of a call that were counted; both 0 where none were."""
        both = (self.call.instructions if self.call else None, self.repeated)
        counts = [count for count in both if count is not None] or [0.0]
        return min(counts), max(counts)

    @property
    def spread(self) -> float:
        """By how much two processes differ, relative to the first; 0 where there is one only."""
        if self.call is None or self.repeated is None:
            return 0.0
        return abs(self.repeated / self.call.instructions - 1)

    def record(self) -> dict[str, Any]:
        """The cell as a flat object for other programs; None for what is not known."""
        call, setup = self.call, self.setup
        return {
            "address": self.cell.address,
            "instructions": call.instructions if call else None,
            "instructions_repeated": self.repeated,
            "counted_calls": self.calls or None,
            **{name: call.kinds.get(name) if call else None for name in KINDS},
            "system_calls": call.system_calls if call else None,
            "stack_bytes": self.stack or None,
            "heap_calls": call.heap_calls if call else None,
            "heap_bytes": call.heap_bytes if call else None,
            "heap_peak_bytes": call.heap_peak if call else None,
            "code_bytes": LINE_BYTES * call.code_lines if call else None,
            "code_pages": call.code_pages if call else None,
            "setup_instructions": setup.instructions if setup else None,
            "setup_stack_bytes": self.setup_stack or None,
            "setup_heap_calls": setup.heap_calls if setup else None,
            "setup_heap_bytes": setup.heap_bytes if setup else None,
            "state_bytes": setup.heap_left if setup else None,
            **dict(zip(WIRE, self.wire or (None,) * len(WIRE), strict=True)),
            "unknown": self.unknown,
            "setup_unknown": self.setup_unknown,
        }
