"""Beyond a loop on one core, in words: several cores at once, cold caches, and the first call of a process."""

from __future__ import annotations

from collections.abc import Sequence

from perbyte.advise import Option
from perbyte.model import CellFigure, Estimate, Once
from perbyte.report.advice import option_text, time_text
from perbyte.report.wording import (
    interval_text,
    number,
    percent,
    ratio_text,
    sentence,
    size_label,
    value_text,
)
from perbyte.stats.once import once_estimate
from perbyte.stats.quantity import Unit, read
from perbyte.stats.scaling import Scaling


def threads_texts(option: Option, size: int, found: Sequence[Scaling]) -> tuple[str, ...]:
    """What several cores do at once with `option`, at `size` bytes a call: a sentence for each number of threads."""
    said = [f"{option_text(option)}, {size_label(size)} a call, a process on each core, started together:"]
    for one in found:
        whole, each = (
            Estimate(*(end * size / 1e9 for end in (part.value, part.low, part.high)))
            for part in (one.all, one.each)
        )
        line = f"{one.threads} thread{'s' * (one.threads != 1)}: {value_text(whole)} GB/s ({interval_text(whole)})"
        if one.efficiency:
            ratio = one.efficiency.ratio
            line += f", {value_text(each)} each; efficiency {ratio_text(ratio)} ({interval_text(ratio)})"
        said.append(f"{line}; {percent(one.clean)} of samples clean.")
    return tuple(said) if found else ()


def states_texts(figure: CellFigure, unit: str, found: Sequence[Once]) -> tuple[str, ...]:
    """What a single call costs in states that no loop has, beside what it costs in a loop."""
    warm = read(figure, Unit.NS_PER_CALL)
    what = f"{figure.cell.operation}, {size_label(figure.cell.size_bytes)}"
    said = [f"{what}: {time_text(warm)} a {unit} in a loop."] if warm else []
    for one in found:
        times, cycles = once_estimate(one, cycles=False), once_estimate(one, cycles=True)
        if times and warm:
            what = "with cold caches" if one.state == "cold" else "the first call of a process"
            line = f"{sentence(what)}: {time_text(times[0])} ({interval_text(times[0])} ns)"
            line += f", {value_text(cycles[0])} cycles" if cycles else ""
            line += f", ×{number(times[0].value / warm.value, times[0].half_width / warm.value)} the cost in a loop"
            said.append(line + ("." if times[1] else "; too few clean calls."))
    return tuple(said)
