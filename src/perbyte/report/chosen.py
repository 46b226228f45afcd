"""The records that a chart shows of all there are, and what its subtitle must say of the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from perbyte.report.grid import without_software
from perbyte.report.many import FIRST, MANY, first_names
from perbyte.report.runview import Points

_MOST_SERIES = 24


class Chosen:
    """Copies of the records of `points` (or of the given ones), of which each step leaves some out.

    Each step has a name, under which `told` says what it left out: `tiers`, `libraries`, `series`, `sizes`.
    """

    def __init__(self, points: Points, records: Iterable[Mapping[str, Any]] | None = None) -> None:
        self.points = points
        self.records = [dict(record) for record in (points.records if records is None else records)]
        self._left: dict[str, str] = {}

    def told(self, *steps: str) -> list[str]:
        """What these steps left out, as far as they did."""
        return [self._left[step] for step in steps if step in self._left]

    def values(self, field: str) -> list[Any]:
        """The values of a field that occur, in the order of the records."""
        return list(dict.fromkeys(record[field] for record in self.records))

    @property
    def libraries(self) -> list[str]:
        """The libraries that occur in natural order; where there are many, in the order of the records."""
        there = self.values("library")
        known = self.points.libraries
        return there if len(known) > MANY else [name for name in known if name in there]

    def keep(self, field: str, values: Iterable[Any]) -> None:
        """Keep the records whose `field` is among `values`."""
        wanted = {*values}
        self.records = [record for record in self.records if record[field] in wanted]

    def accelerated(self) -> None:
        """Leave out the software tiers of what is there with the processor's own instructions."""
        kept = without_software(self.records, lambda record: (record["algorithm"], record["tier"]))
        if len(kept) < len(self.records):
            text = "with the processor's own instructions; the tables have the rows without as well"
            self._left["tiers"] = text
        self.records = kept

    def for_a_telephone(self) -> None:
        """Keep the largest size, and the first operation of those that have it."""
        before = len(self.records)
        self.keep("size_bytes", [max(self.values("size_bytes"), default=0)])
        self.keep("operation", self.values("operation")[:1])
        if len(self.records) < before:
            self._left["narrow"] = "one size and operation of several, a wider page shows more"

    def leading(self) -> None:
        """Keep the first libraries of each series."""
        kept: list[dict[str, Any]] = []
        most = 0
        for name in self.values("series"):
            own = [record for record in self.records if record["series"] == name]
            libraries = {record["library"] for record in own}
            if len(libraries) > MANY:
                own = self._of_first(own)
                most = max(most, len(libraries))
            kept += own
        self.records = kept
        if most:
            text = (
                f"the {FIRST} fastest of up to {most} libraries and one's own are shown, the tables have all"
            )
            self._left["libraries"] = text

    def leading_libraries(self) -> None:
        """Keep the libraries that are first over all series."""
        libraries = self.values("library")
        if len(libraries) > MANY:
            self.records = self._of_first(self.records)
            self._note("libraries", len(self.values("library")), len(libraries))

    def first_series(self) -> list[str]:
        """Keep the first algorithms, whose names are given in the order of the points."""
        there = self.values("series")
        names = [name for name in self.points.series if name in there]
        series = names[:_MOST_SERIES]
        self.keep("series", series)
        self._note("series", len(series), len(names), "algorithms")
        return series

    def first_sizes(self, most: int) -> list[int]:
        """Keep at most `most` sizes, smallest and largest among them; gives them in bytes."""
        sizes = sorted(self.values("size_bytes"))
        kept = sizes
        if len(sizes) > most:
            kept = sorted({sizes[round(index * (len(sizes) - 1) / (most - 1))] for index in range(most)})
        self.keep("size_bytes", kept)
        self._note("sizes", len(kept), len(sizes))
        return kept

    def _note(self, step: str, shown: int, there: int, what: str = "") -> None:
        if shown < there:
            self._left[step] = f"{shown} of {there} {what or step} are shown, the tables have all"

    def _of_first(self, records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The records of the libraries that are first among them, in the order of these."""
        costs: dict[str, dict[Any, float]] = {}
        for record in records:
            value = float(record["value"])
            column = record["series"], record["operation"], record["size_bytes"]
            cost = 1 / value if self.points.unit.more_is_better else value
            costs.setdefault(record["library"], {})[column] = cost
        first = first_names(costs)
        kept = [record for record in records if record["library"] in first]
        return sorted(kept, key=lambda record: first.index(record["library"]))
