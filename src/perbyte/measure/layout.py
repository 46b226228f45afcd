"""The memory layout of an epoch: a controlled factor instead of an accident.

Where buffers and stack lie moves a figure by a percent and more. Left to chance it makes two runs differ;
held still it makes them agree on one lucky layout. So randomisation by the system is switched off, and each
epoch gets a layout drawn from the run's seed: epochs differ from each other (their spread is in the
interval), and a run can be repeated exactly.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

PAGE_BYTES = 4096
LINE_BYTES = 64
PADDING = "PERBYTE_PADDING"


@dataclass(frozen=True, slots=True)
class Layout:
    """`offset`: bytes the buffers are shifted from a page boundary. `padding`: bytes added to the environment."""

    offset: int
    padding: int

    @property
    def environment(self) -> dict[str, str]:
        """The variable that shifts the stack of a new process."""
        return {PADDING: "x" * self.padding}


def draw_layout(seed: int, epoch: int) -> Layout:
    """Draw the layout of an epoch. Offsets are whole cache lines: alignment within a line is the caller's choice
    in real programs, and buffers from an allocator start on 16 bytes at least; lines are what all of them share.

    Drawn without replacement: two of three epochs in one layout would agree by accident, and the interval with them.
    """
    lines = list(range((PAGE_BYTES - 1024) // LINE_BYTES))
    random.Random(f"offsets/{seed}").shuffle(lines)
    return Layout(
        offset=LINE_BYTES * lines[epoch % len(lines)],
        padding=16 * random.Random(f"layout/{seed}/{epoch}").randrange(256),
    )
