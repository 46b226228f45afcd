"""Made-up places of which it is known what decides their cost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from perbyte.model import Cell
from perbyte.model.placement import MemoryPlace

CELL = Cell("made", "aes-128-ctr", "encrypt", 64, "stream/1")
PAGES = {"stack": 0x7FFF, "state": 0x5555, "input": 0x6000, "output": 0x7000}
PROCESSES, NEAR, DRAWS = 24, 8, 8
Cost = Callable[[MemoryPlace], float]

COSTS: dict[str, tuple[Cost, tuple[str, ...]]] = {
    "a band of the stack": (lambda at: 0.14 * (at.stack % 4096 // 64 in range(11, 16)), ("stack",)),
    "4 KiB aliasing": (lambda at: 0.2 * ((at.output - at.input) % 4096 < 256), ("output - input",)),
    "straddled lines": (lambda at: 0.3 * (at.input % 64 != 0), ("input",)),
    "stack and output": (lambda at: 0.05 * ((at.stack - at.output) % 4096 < 512), ("output - stack",)),
    "a far callee": (lambda at: 0.1 * at.far, ("distance",)),
    "a bit of the library's place": (lambda at: 0.1 * (at.library >> 21 & 1), ("library",)),
}


def made_places(
    seed: int,
    cost: Cost = lambda at: 0.0,
    *,
    noise: float = 0.002,
    heavy: float = 0.0,
    processes: float = 0.0,
    draws: int = DRAWS,
) -> list[MemoryPlace]:
    """Places of PROCESSES processes and of NEAR ones beside their library, each measured twice.

    `noise` scatters bursts, `heavy` of them by twenty times that, `processes` what belongs to a process.
    """
    rng = np.random.default_rng(seed)
    places = []
    for process in range(PROCESSES + NEAR):
        near = process >= PROCESSES
        library = 0x7F00_0000_0000 + int(rng.integers(1 << 28)) * 4096
        caller = library + (1 << 21) if near else 0x5555_0000_0000 + int(rng.integers(1 << 28)) * 4096
        of_process = rng.normal(0, processes)
        for _ in range(4 if near else draws):
            at = {name: page * 4096 + 16 * int(rng.integers(256)) for name, page in PAGES.items()}
            place = MemoryPlace(process, (1.0, 1.0), near, **at, library=library, caller=caller)
            scatter = rng.normal(0, noise, 2) * np.where(rng.random(2) < heavy, 20, 1)
            first, second = 100 * (1 + cost(place)) * np.exp(of_process + scatter)
            places.append(MemoryPlace(process, (first, second), near, **at, library=library, caller=caller))
    return places
