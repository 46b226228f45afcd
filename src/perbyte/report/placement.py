"""How costs depend on places in memory, in words: the spread, the slow places, and what decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.text import Text

from perbyte.model import Estimate, Run
from perbyte.model.placement import Decider, Placement
from perbyte.model.text import natural, plain
from perbyte.report.behaviour import known_of_both
from perbyte.report.grid import Grid
from perbyte.report.lines import columns_of, prose, to_text
from perbyte.report.wording import percent, value_text
from perbyte.stats.placement import LEAST_SPREAD, share_change

NONE = "no places were drawn in this run: perbyte measure SELECTOR --places"
_LEGEND = (
    "Places: processes placed by the system, and in them stack, state, input and output moved on 16 bytes. "
    "Intervals: 95 %. What decides is named without a reason in at most {error} of answers."
)
_WORDS = {
    "stack": "the stack",
    "state": "the library's state",
    "input": "the input",
    "output": "the output",
}


def render_placements(
    placements: Sequence[Placement], *, width: int | None = None, colour: bool | None = None
) -> str:
    """Give the answers as text, a paragraph for each cell."""
    width = columns_of(width)
    if not placements:
        return f"{NONE}\n"
    lines = [Text("Places in memory", style="bold")]
    for placement in sorted(placements, key=lambda each: natural(each.cell.address)):
        first, *more = placement_lines(placement)
        lines += prose(f"{plain(placement.cell.address, 120)}: {first}", width)
        lines += [part for line in more for part in prose(f"  {line}", width)]
    lines += prose(_LEGEND.format(error=percent(placements[0].error)), width)
    return to_text(lines, colour=colour)


def placement_lines(placement: Placement) -> list[str]:
    """What is told of a cell: its spread, its slow places, what decides, what was not looked at."""
    if placement.unknown:
        return [f"not known: {plain(placement.unknown, 300)}"]
    low, *_, high = (each.estimate for each in placement.quantiles)
    middle = placement.quantiles[len(placement.quantiles) // 2].estimate
    processes = len({place.process for place in placement.usual})
    lines = [
        f"{value_text(middle)} {placement.unit} a call at the median place; from the 5th to the 95th percentile "
        f"{value_text(low)} to {value_text(high)} ({len(placement.usual)} places in {processes} processes)"
    ]
    if placement.slow and placement.slower and placement.limit:
        of = (
            "of two heaps the dear one"
            if placement.heaps
            else f"above {placement.limit:.4g} {placement.unit}"
        )
        lines.append(
            f"slow ({of}): {share_text(placement.slow)} of places, which cost {more_text(placement.slower)}"
        )
    lines += [f"decides: {decider_text(each, placement)}" for each in placement.deciders]
    if placement.verdict == "undecided":
        lines.append("places differ, and nothing that was drawn decides which are dear")
    if placement.verdict == "nothing":
        lines.append(f"nothing decides: {_nothing_text(placement)}")
    lines += [f"not told: {missing}" for missing in _missing(placement)]
    return lines


def share_text(share: Estimate) -> str:
    """A share with its interval."""
    return f"{percent(share.value)} ({percent(share.low)} to {percent(share.high)})"


def more_text(more: Estimate) -> str:
    """By how much something costs more, with the interval."""
    low, high = (f"{100 * end:.1f}" for end in (more.low, more.high))
    return f"{100 * more.value:.1f} % more ({low} to {high} %)"


def decider_text(decider: Decider, placement: Placement | None = None) -> str:
    """What decides, where it makes places dear, and by how much."""
    more = more_text(decider.more)
    if decider.factor == "distance":
        return f"the distance: a program more than 2 GiB from its library costs {more} than one beside it"
    if decider.factor == "process":
        return f"the process, by nothing that is known of it: the dearer half costs {more}"
    if decider.factor.startswith("library"):
        what = (
            "the library's address"
            if decider.factor == "library"
            else "the library's distance from its caller"
        )
        bit = decider.period.bit_length() - 2
        return (
            f"the place of the library: where bit {bit} of {what} is {int(decider.begin > 0)} it costs {more}"
        )
    first, _, second = decider.factor.partition(" - ")
    where = _WORDS[first] if not second else f"{_WORDS[first]} less {_WORDS[second]}"
    end = decider.end % decider.period or decider.period
    text = f"{where} modulo {decider.period:,}: from {decider.begin:,} to below {end:,} it costs {more}"
    if placement and placement.slow and decider.slow:
        all_slow = round(placement.slow.value * len(placement.usual))
        text += f"; {decider.slow} of {all_slow} slow places lie there"
    return text


def _nothing_text(placement: Placement) -> str:
    low, *_, high = (each.estimate for each in placement.quantiles)
    spread = high.value / low.value - 1
    if spread < LEAST_SPREAD:
        return f"90 % of places lie within {percent(spread)}"
    return f"what differs ({percent(spread)} for 90 % of bursts) differs as much at one place"


def _missing(placement: Placement) -> list[str]:
    missing = [
        f"{name} always lay alike" for name in _WORDS if placement.drawn and name not in placement.drawn
    ]
    if not placement.drawn:
        missing = ["stack and buffers: this runner or this size has one place a process"]
    if placement.near is None:
        missing.append("the distance from the library: it is built in, or it could not be moved")
    if placement.lost:
        missing.append(f"{placement.lost} places where calls were always disturbed")
    return missing


def placement_changes(grids: Sequence[Grid], runs: Sequence[Run]) -> list[tuple[Placement, Placement]]:
    """The cells of a comparison whose places were drawn on both sides; `runs` are its sides, or one run for both."""
    known = [{each.cell: each for each in run.placements if not each.unknown} for run in runs]
    return [(old, new) for old, new, _ in known_of_both(grids, known)]


def placement_change_lines(pairs: Sequence[tuple[Placement, Placement]]) -> list[str]:
    """A line for each cell: what share of places was slow, and is, and what decided, and does."""
    lines = []
    for old, new in pairs:
        before, after = (percent(each.slow.value) if each.slow else "none" for each in (old, new))
        text = f"{new.cell.address}, slow places: {before} → {after}"
        if old.slow and new.slow:
            change = share_change(old.slow, new.slow)
            sign = "not known whether it changed" if change.low <= 0 <= change.high else "it changed"
            text += f" ({sign}: {100 * change.low:+.1f} to {100 * change.high:+.1f} percentage points)"
        lines.append(f"{text}; decides: {_names(old)} → {_names(new)}")
    return lines


def _names(placement: Placement) -> str:
    names = [
        f"{each.factor} modulo {each.period}" if each.factor[0] in "sio" else each.factor
        for each in placement.deciders
    ]
    return ", ".join(names) or ("nothing that was drawn" if placement.verdict == "undecided" else "nothing")


def placement_changes_json(pairs: Sequence[tuple[Placement, Placement]]) -> list[dict[str, Any]]:
    """The same for programs."""
    return [{"before": old.record(), "after": new.record()} for old, new in pairs]
