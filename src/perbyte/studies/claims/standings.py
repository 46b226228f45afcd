"""Contenders and pairs: the cells of a claim brought to one cost per name, or to one ratio per pair.

What has no cost keeps its reason. Nothing is averaged or chosen unless the claim says over what: two cells where
one was meant are an error of the study, not an opportunity.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from perbyte.errors import DataRoomError
from perbyte.model import Estimate
from perbyte.stats.compare import Cost, compare_costs, mean_cost
from perbyte.studies.claims.vocabulary import Finding, Key, Scene, State
from perbyte.studies.evidence import GROUP, Absence, Row, Selection, Table, Value
from perbyte.studies.wording import value_name

BY_ABSENCE = {
    Absence.UNPROVIDED: State.UNPROVIDED,
    Absence.UNMEASURED: State.UNMEASURED,
    Absence.LEFT_OUT: State.LEFT_OUT,
}
_UNSPOKEN = frozenset({GROUP, "algorithm", "contract"})


@dataclass(frozen=True, slots=True)
class Contender:
    """A name with its cost, or with the reason why it has none. `measured` is the cost with its epochs."""

    name: Value
    label: str
    measured: Cost | None
    absence: Absence | None = None
    reason: str = ""

    @property
    def cost(self) -> Estimate | None:
        """The cost and the interval it lies in."""
        return self.measured.estimate if self.measured else None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two costs of one group and their ratio first / second, noise floor included; `absent` when it has none.

    `place` is the key in words; `label` what both are, without what tells them apart.
    """

    key: Key
    place: str
    label: str
    first: str
    second: str
    ratio: Estimate | None
    costs: tuple[Estimate, Estimate] | None
    absent: Finding | None = None

    @property
    def opening(self) -> str:
        """The start of a sentence about the pair; empty where there is no more than one."""
        return f"{self.place}: " if self.place else ""


def standings(scene: Scene, p: Mapping[str, Any]) -> dict[Key, dict[Value, Contender]]:
    """One contender per value of the dimension `contenders`, in each group of `group_by`."""
    dimension: str = p["contenders"]
    rows = scene.table.select(p["where"])
    found: dict[Key, dict[Value, Contender]] = {}
    for key, members in grouped(rows, p["group_by"]):
        found[key] = {}
        for (named,), own in grouped(members, (dimension,)):
            label = own[0].label if dimension == GROUP else value_name(dimension, named[1])
            found[key][named[1]] = _reduce(scene.table, own, p, named[1], label)
    return found


def pairs(scene: Scene, first: Selection, second: Selection, p: Mapping[str, Any]) -> list[Pair]:
    """One pair per combination of `pair_by` in which both sides have cells."""
    found = []
    for key, own, other in _sides(scene, first, second, p):
        a, b = _whole(scene, own, p), _whole(scene, other, p)
        label = a.label
        if a.label == b.label:
            told = [
                name
                for name in own[0].dims
                if name not in _UNSPOKEN and _values(own, name) != _values(other, name)
            ]
            a, b = (replace(one, label=_told(one, rows, told)) for one, rows in ((a, own), (b, other)))
        found.append(_pair(scene, key, a, b, label))
    return found


def products(scene: Scene, first: Selection, second: Selection, p: Mapping[str, Any]) -> list[Pair]:
    """Every cell of the one side against every cell of the other, within each combination of `pair_by`."""
    found = []
    for key, a, b in _sides(scene, first, second, p):
        shown = sorted(_varying([*a, *b]))
        found += [
            _pair(scene, key, _single(scene, one, p, shown), _single(scene, other, p, shown))
            for one in a
            for other in b
            if one is not other
        ]
    return found


def ratio_of(scene: Scene, above: Contender, below: Contender) -> Estimate | None:
    """The cost of the one over that of the other, with its interval; None where one has no cost."""
    if above.measured is None or below.measured is None:
        return None
    return compare_costs(below.measured, above.measured, scene.table.floor).ratio


def missing(scene: Scene, key: Key, contender: Contender) -> Finding:
    """The finding of a group in which a contender has no cost."""
    where = scene.name(key)
    state = BY_ABSENCE[contender.absence or Absence.UNMEASURED]
    place = f" ({where})" if where else ""
    return Finding(state, f"{contender.label}{place} has no figure: {contender.reason}.")


def _sides(
    scene: Scene, first: Selection, second: Selection, p: Mapping[str, Any]
) -> Iterator[tuple[Key, list[Row], list[Row]]]:
    others = dict(grouped(scene.table.select(second), p["pair_by"]))
    met = False
    for key, own in grouped(scene.table.select(first), p["pair_by"]):
        if key in others:
            met = True
            yield key, own, others[key]
    if not met:
        raise DataRoomError(
            f"no cells of the study meet in {', '.join(p['pair_by']) or 'anything'}",
            way_out="check the selections of the claim and its pair_by",
        )


def _told(one: Contender, rows: Sequence[Row], names: Sequence[str]) -> str:
    """A label with what tells it from its like, `AES-CBC (encrypt)`."""
    details = [value_name(name, value) for name in names for value in _values(rows, name)]
    return f"{one.label} ({', '.join(details)})" if details else one.label


def _values(rows: Sequence[Row], name: str) -> list[Value]:
    return list(dict.fromkeys(row.dims[name] for row in rows))


def _pair(scene: Scene, key: Key, first: Contender, second: Contender, label: str = "") -> Pair:
    ratio = ratio_of(scene, first, second)
    if ratio is None or first.cost is None or second.cost is None:
        lacking = first if first.cost is None else second
        absent = missing(scene, key, lacking)
        return Pair(key, scene.name(key), label, first.label, second.label, None, None, absent)
    return Pair(key, scene.name(key), label, first.label, second.label, ratio, (first.cost, second.cost))


def _whole(scene: Scene, rows: list[Row], p: Mapping[str, Any]) -> Contender:
    label = " and ".join(dict.fromkeys(row.label for row in rows))
    return _reduce(scene.table, rows, p, rows[0].dims[GROUP], label)


def _single(scene: Scene, row: Row, p: Mapping[str, Any], shown: Sequence[str]) -> Contender:
    details = [
        value_name(name, row.dims[name]) for name in shown if name not in ("algorithm", "cpu", "contract")
    ]
    label = f"{row.label} ({', '.join(details)})" if details else row.label
    return _reduce(scene.table, [row], {**p, "average_over": (), "best_of": ()}, row.dims[GROUP], label)


def _varying(rows: Sequence[Row]) -> set[str]:
    """The cell dimensions in which rows of the same group differ."""
    found: set[str] = set()
    for _, own in grouped(rows, (GROUP,)):
        found |= {name for name in own[0].dims if len({row.dims[name] for row in own}) > 1}
    return found


def grouped(rows: Iterable[Row], names: Sequence[str]) -> list[tuple[Key, list[Row]]]:
    """Rows by their values of the dimensions `names`, in the order they come; rows without one are left out."""
    found: dict[Key, list[Row]] = {}
    for row in rows:
        key = tuple((name, row.dims[name]) for name in names if name in row.dims)
        if len(key) == len(names):
            found.setdefault(key, []).append(row)
    return list(found.items())


def _reduce(table: Table, rows: list[Row], p: Mapping[str, Any], name: Value, label: str) -> Contender:
    """Bring the rows of one contender to one cost: the best of `best_of`, then the mean over `average_over`."""
    parts: list[Cost] = []
    for _, bucket in grouped(rows, p.get("average_over", ())):
        present = [row for row in bucket if row.figure]
        if len(bucket) > 1 and not p.get("best_of"):
            differing = sorted({d for d in bucket[0].dims if len({row.dims[d] for row in bucket}) > 1})
            raise DataRoomError(
                f"{label}: {len(bucket)} cells stand where one is meant; they differ in {', '.join(differing)}",
                way_out="name the dimension in group_by, pair_by, average_over or best_of, or narrow `where`",
            )
        if not present:
            return Contender(name, label, None, bucket[0].absence, bucket[0].reason)
        costs = [table.measured(row, p.get("per", "byte")) for row in present]
        parts.append(min(costs, key=lambda cost: cost.estimate.value))
    return Contender(name, label, mean_cost(parts))
