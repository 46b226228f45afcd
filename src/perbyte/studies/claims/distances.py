"""Claims about who is like whom: clusters of candidates, outliers, distances that grow.

The distance of two costs is |ln(a/b)|: it means the same whether costs are counted per byte or per call, and does
not depend on how steadily a machine measures, as effect sizes do.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar

from msgspec import Meta, field

from perbyte.datafile import Text
from perbyte.model import Estimate
from perbyte.model.text import counted
from perbyte.stats.quantity import arithmetic_mean, distance, smallest
from perbyte.studies.claims.form import (
    Candidate,
    Comparing,
    Context,
    Finding,
    Key,
    Said,
    State,
    combinations,
    lacking,
    share_state,
    spoken,
    state_of,
    unfilled,
)
from perbyte.studies.evidence import many
from perbyte.studies.model import Number, Value, Values
from perbyte.studies.wording import exact, number, value_name


class Clusters(Comparing, frozen=True, kw_only=True, tag="clusters"):
    """Whoever is in a cluster is nearest to another of the same cluster.

    A mate that is `slack_percent` farther than a stranger counts as near.
    """

    candidates: Text
    clusters: Annotated[tuple[tuple[Value, ...], ...], Meta(min_length=1)]
    slack_percent: float = 0.0

    values_of: ClassVar[dict[str, str]] = {"clusters": "candidates"}

    def judge(self, context: Context) -> list[Finding]:
        """One finding per group and member of a cluster."""
        findings = []
        for key, everybody in self.ranking(context, self.candidates).items():
            for cluster in self.clusters:
                mates = [name for name in cluster if name in everybody]
                if len(mates) > 1:
                    findings += [self._nearest(context, key, everybody, name, mates) for name in mates]
        return findings

    def said(self, context: Context) -> Said:
        """The rule and what contradicts it."""
        sets = [
            ", ".join(context.name(((self.candidates, name),)) for name in cluster)
            for cluster in self.clusters
        ]
        slack = f" or at most {exact(self.slack_percent)} % farther" if self.slack_percent else ""
        return Said(
            f"each member of the sets ({'; '.join(sets)}) is nearest to one of its own set{slack}, "
            f"of all values of {spoken([self.candidates])}",
            f"a member is surely nearer to somebody outside its set, by more than {exact(self.slack_percent)} %",
        )

    def groups(self, context: Context) -> str:
        """The combinations of `by`, for each member of a set."""
        return combinations([*self.by, "member"])

    def _nearest(
        self,
        context: Context,
        key: Key,
        everybody: Mapping[Value, Candidate],
        name: Value,
        mates: Sequence[Value],
    ) -> Finding:
        own, absent = everybody[name], lacking(everybody.values())
        inside = {mate: _distance(context, own, everybody[mate]) for mate in mates if mate != name}
        outside = {
            name: _distance(context, own, other) for name, other in everybody.items() if name not in mates
        }
        if absent or not outside:
            return unfilled(context, key, absent)
        mate = min(inside, key=lambda name: inside[name].value)
        stranger = min(outside, key=lambda name: outside[name].value)
        near, far = smallest(inside.values()), smallest(outside.values())
        edge = math.log(1 + self.slack_percent / 100)
        sentence = (
            f"{context.opening(key)}{own.label} is {number(math.exp(near.value))} times apart from "
            f"{everybody[mate].label} and {number(math.exp(far.value))} times from {everybody[stranger].label}."
        )
        numbers = (
            _number(context, key, f"{own.label} to {everybody[mate].label}", near),
            _number(context, key, f"{own.label} to {everybody[stranger].label}", far),
        )
        state = state_of(near.high < far.low + edge, near.low > far.high + edge)
        return Finding(state, sentence, abs(far.value + edge - near.value), numbers)


class Outliers(Comparing, frozen=True, kw_only=True, tag="outliers"):
    """Each of `apart` is farther from the rest, on average, than anybody else is."""

    candidates: Text
    apart: Values

    values_of: ClassVar[dict[str, str]] = {"apart": "candidates"}

    def judge(self, context: Context) -> list[Finding]:
        """One finding per group."""
        findings = []
        for key, everybody in self.ranking(context, self.candidates).items():
            absent = lacking(everybody.values())
            own = [name for name in everybody if name in many(self.apart)]
            rest = [name for name in everybody if name not in own]
            if absent or not own or not rest or len(everybody) < 3:
                findings.append(unfilled(context, key, absent))
                continue
            distances = {
                name: arithmetic_mean(
                    _distance(context, candidate, other)
                    for other in everybody.values()
                    if other is not candidate
                )
                for name, candidate in everybody.items()
            }
            least = min(own, key=lambda name: distances[name].value)
            most = max(rest, key=lambda name: distances[name].value)
            a, b = distances[least], distances[most]
            sentence = (
                f"{context.opening(key)}{everybody[least].label} is {number(math.exp(a.value))} times apart from the "
                f"rest on average, {everybody[most].label} {number(math.exp(b.value))} times."
            )
            numbers = tuple(
                _number(context, key, f"{everybody[name].label} to the rest", far)
                for name, far in distances.items()
            )
            state = state_of(a.low > b.high, a.high < b.low)
            findings.append(Finding(state, sentence, abs(a.value - b.value), numbers))
        return findings

    def said(self, context: Context) -> Said:
        """The rule and what contradicts it."""
        apart = " and ".join(context.name(((self.candidates, name),)) for name in many(self.apart))
        return Said(
            f"of all values of {spoken([self.candidates])} {apart} are farther from the rest, on average, than "
            "anybody else",
            f"somebody else is surely farther from the rest than one of {apart}",
        )


class DistancesGrow(Comparing, frozen=True, kw_only=True, tag="distances_grow"):
    """For more than `share_percent` of the pairs the costs are farther apart at the later value of `along`."""

    candidates: Text
    along: Text = "size_bytes"
    from_: Value = field(name="from")
    to: Value
    share_percent: float = 50.0

    values_of: ClassVar[dict[str, str]] = {"from_": "along", "to": "along"}

    def judge(self, context: Context) -> list[Finding]:
        """One finding per group."""
        before, after = (
            self.ranking(context, self.candidates, **{self.along: end}) for end in (self.from_, self.to)
        )
        return [self._growth(context, key, earlier, after.get(key, {})) for key, earlier in before.items()]

    def said(self, context: Context) -> Said:
        """The rule and what contradicts it."""
        start, end = value_name(self.along, self.from_), value_name(self.along, self.to)
        share = exact(self.share_percent)
        return Said(
            f"more than {share} % of the pairs of values of {spoken([self.candidates])} are farther apart "
            f"at {end} than at {start}",
            f"no more than {share} % are farther apart even if all open pairs are",
        )

    def _growth(
        self, context: Context, key: Key, before: Mapping[Value, Candidate], after: Mapping[Value, Candidate]
    ) -> Finding:
        both = [name for name in before if name in after]
        absent = lacking(side[name] for name in both for side in (before, after))
        if absent or len(both) < 2:
            return unfilled(context, key, absent)
        states = []
        for a, b in itertools.combinations(both, 2):
            first, second = (_distance(context, side[a], side[b]) for side in (before, after))
            states.append(state_of(second.low > first.high, second.high < first.low))
        grown, shrunk, total = states.count(State.YES), states.count(State.NO), len(states)
        start, end = value_name(self.along, self.from_), value_name(self.along, self.to)
        sentence = (
            f"{context.opening(key)}of {counted(total, 'pair')} {grown} are farther apart at {end} than at {start} "
            f"and {shrunk} nearer; claimed: farther for more than {exact(self.share_percent)} %."
        )
        name = "share of pairs that are farther apart"
        share = Number(context.name(key), name, grown / total, grown / total, 1 - shrunk / total)
        wanted = self.share_percent / 100
        state = share_state(grown, shrunk, total, wanted)
        return Finding(state, sentence, abs(grown / total - wanted), (share,))


def _distance(context: Context, candidate: Candidate, other: Candidate) -> Estimate:
    if candidate.cost is None or other.cost is None:
        return Estimate(math.inf, 0.0, math.inf)
    return distance(context.ratio(candidate, other))


def _number(context: Context, key: Key, name: str, far: Estimate) -> Number:
    ends = (math.exp(far.low), math.exp(min(far.high, 700.0)))
    return Number(context.name(key), name, math.exp(far.value), *ends)
