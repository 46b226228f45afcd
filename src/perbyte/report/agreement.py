"""What `perbyte dev agree` says: how many libraries have an algorithm, and whether their outputs are equal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from perbyte.model.text import counted, plain
from perbyte.report.listing import Listing, columns

_HEADS = columns("algorithm | runners:n | libraries:n | tiers:n | cells:n | known answers:n | outputs")


def agreement_listing(agreement: Any) -> Listing:
    """A row for each algorithm of an `app.agreeing.Agreement`."""
    rows = [
        (
            each.algorithm,
            len(each.runners),
            len(each.libraries),
            each.tiers,
            each.cells,
            each.answers,
            _outputs(each),
        )
        for each in agreement.algorithms
    ]
    return Listing("", _HEADS, rows)


def _outputs(each: Any) -> str:
    if each.failures:
        return f"{len(each.failures)} DIFFER"
    if each.compared:
        return "equal"
    return "right by known answers" if each.answers else "alone: only the round trip"


def agreement_lines(agreement: Any) -> Iterator[str]:
    """What differs and what could not be asked, and the sums."""
    for each in agreement.algorithms:
        for failure in each.failures:
            yield f"{plain(failure.address)}: {failure.kind}: {plain(failure.message, 400)}"
            if failure.expected:
                yield f"  expected {plain(failure.expected, 80)}"
                yield f"  got      {plain(failure.got, 80)}"
    for failure in agreement.absent:
        yield f"{plain(failure.runner)} was not asked: {plain(failure.message, 400)}"
    algorithms: Sequence[Any] = agreement.algorithms
    cells = sum(each.cells for each in algorithms)
    lone = sum(not each.compared for each in algorithms)
    yield (
        f"{counted(len(algorithms), 'algorithm')}, {counted(agreement.runners, 'runner')}: {counted(cells)} right, "
        f"{agreement.compared} outputs compared, {sum(len(each.failures) for each in algorithms)} differ; "
        f"{lone} with no other output to compare ({agreement.seconds:.0f} s)"
    )
