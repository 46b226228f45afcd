"""Claims about places: who is first or last, an order, and how far two orders agree."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from perbyte.datafile import Text
from perbyte.model import Cell, Estimate
from perbyte.model.text import counted
from perbyte.stats.estimate import rank_correlation, rank_correlation_range
from perbyte.stats.quantity import log_of
from perbyte.studies.claims.form import (
    Candidate,
    Comparing,
    Context,
    Dimensions,
    Finding,
    Form,
    Key,
    Ranks,
    Said,
    State,
    combinations,
    flat,
    lacking,
    missing,
    number_of,
    spoken,
    unfilled,
)
from perbyte.studies.claims.ratios import placed
from perbyte.studies.evidence import EvidenceRow, cells_of, dimensions, many
from perbyte.studies.model import (
    OVER,
    Number,
    PublishedFigure,
    Value,
    Values,
    published_cycles_per_byte,
    published_ns,
)
from perbyte.studies.wording import exact, listing, number, span

_LEAST = 4


class Rank(Comparing, frozen=True, kw_only=True, tag="rank"):
    """Of the values of a dimension one (or one of several) is `first` or `last`, or they are in this `order`.

    First is fastest. `among` names who takes part; everybody if absent. In an order, a list within the list shares a
    rank, and one that is slower than the next by at most `slack_percent` is still in order.
    """

    candidates: Text
    first: Values | None = None
    last: Values | None = None
    order: Ranks | None = None
    among: tuple[Value, ...] = ()
    slack_percent: Annotated[float, Meta(ge=0)] = 0.0

    values_of: ClassVar[dict[str, str]] = {
        "first": "candidates",
        "last": "candidates",
        "order": "candidates",
        "among": "candidates",
    }

    def __post_init__(self) -> None:
        self.need_one("first", "last", "order")

    def judge(self, context: Context) -> list[Finding]:
        """One finding per group in which somebody who is named takes part."""
        named = flat(next(given for given in (self.first, self.last, self.order) if given is not None))
        wanted = self.among or (named if self.order else ())
        findings = []
        for key, everybody in self.ranking(context, self.candidates).items():
            field = {
                name: candidate
                for name, candidate in everybody.items()
                if (not wanted or name in wanted or name in named)
                and (name in named or not (candidate.absence and candidate.absence.in_print))
            }
            if len(field) > 1 and any(name in field for name in named):
                if self.order:
                    findings.append(self._ordered(context, key, field))
                else:
                    own = [candidate for name, candidate in field.items() if name in named]
                    others = [candidate for name, candidate in field.items() if name not in named]
                    findings.append(self._extreme(context, key, own, others))
        return findings

    def said(self, context: Context) -> Said:
        """The rule and what contradicts it."""
        among = f" of {', '.join(self._names(context, self.among))}" if self.among else ""
        if self.order:
            ranks = [" and ".join(self._names(context, flat(rank))) for rank in self.order]
            slack = f" by more than {exact(self.slack_percent)} %" if self.slack_percent else ""
            allowed = f"; {self.word.more} than the next{slack} is out of order" if slack else ""
            return Said(
                f"of the values of {spoken([self.candidates])}{among}, {self.word.least} first: "
                f"{', '.join(ranks)}{allowed}",
                f"a later one is surely {self.word.less} than an earlier one{slack}",
            )
        values = flat(self.first if self.last is None else self.last)  # type: ignore[arg-type]
        named = self._names(context, values)
        subject = " or ".join(named)
        word = self.word.least if self.last is None else self.word.most
        other = self.word.less if self.last is None else self.word.more
        rivals = f"each of {listing(named)}" if len(named) > 1 else subject
        return Said(f"{subject} is the {word}{among}", f"another one is surely {other} than {rivals}")

    def _names(self, context: Context, values: Sequence[Value]) -> list[str]:
        return [context.name(((self.candidates, value),)) for value in values]

    def _extreme(
        self, context: Context, key: Key, own: Sequence[Candidate], others: Sequence[Candidate]
    ) -> Finding:
        """Judge whether the best of `own` is ahead of all others (behind them, for `last`)."""
        present = [candidate for candidate in own if candidate.cost]
        rivals = [candidate for candidate in others if candidate.cost]
        absent = lacking([*others, *own])
        if not present or not rivals:
            return unfilled(context, key, absent)
        champion = (max if self.last is not None else min)(present, key=_value)
        leads = {candidate.name: self._lead(context, champion, candidate) for candidate in rivals}
        numbers = self._numbers(context, key, [champion, *rivals])
        ahead = [
            rival
            for rival in rivals
            if leads[rival.name].below(1)
            and all(self._lead(context, rival, candidate).above(1) for candidate in present)
        ]
        if ahead and len(present) == len(own):
            winner = min(ahead, key=lambda candidate: leads[candidate.name].value)
            lead = self._lead(context, winner, champion)
            sentence = self._sentence(context, key, winner, champion, lead)
            return Finding(State.NO, sentence, _margin(lead), numbers)
        undecided = [candidate for candidate in rivals if not leads[candidate.name].above(1)]
        rival = min(undecided or rivals, key=lambda candidate: leads[candidate.name].value)
        lead = leads[rival.name]
        if undecided:
            sentence = _close(context, key, champion, rival, lead)
            return Finding(State.OPEN, sentence, abs(log_of(lead.value)), numbers)
        if absent:
            return missing(context, key, absent)
        return Finding(State.YES, self._sentence(context, key, champion, rival, lead), _margin(lead), numbers)

    def _ordered(self, context: Context, key: Key, field: Mapping[Value, Candidate]) -> Finding:
        ranks = [[field[name] for name in flat(rank) if name in field] for rank in self.order or ()]
        members = [candidate for rank in ranks for candidate in rank]
        numbers = self._numbers(context, key, [candidate for candidate in members if candidate.cost])
        steps = [
            self._step(context, key, faster, slower)
            for before, after in itertools.combinations(ranks, 2)
            for faster, slower in itertools.product(before, after)
            if faster.cost and slower.cost
        ]
        absent = lacking(members)
        for state in (State.NO, State.OPEN, State.YES):
            if state is State.OPEN and absent:
                return missing(context, key, absent)
            at_state = [step for step in steps if step[0] is state]
            if at_state:
                _, margin, sentence = (max if state is State.NO else min)(at_state, key=lambda step: step[1])
                return Finding(state, sentence, margin, numbers)
        return unfilled(context, key, None)

    def _step(
        self, context: Context, key: Key, faster: Candidate, slower: Candidate
    ) -> tuple[State, float, str]:
        lead, least = self._lead(context, faster, slower), 1 / (1 + self.slack_percent / 100)
        if lead.below(least):
            back = self._lead(context, slower, faster)
            return State.NO, _margin(back), self._sentence(context, key, slower, faster, back)
        # the limit itself is still in order; without slack a tie is not
        if lead.above(least) or (self.slack_percent and lead.low == least):
            return State.YES, _margin(lead), self._sentence(context, key, faster, slower, lead)
        return State.OPEN, abs(log_of(lead.value)), _close(context, key, faster, slower, lead)

    def _lead(self, context: Context, candidate: Candidate, other: Candidate) -> Estimate:
        """How many times `candidate` is ahead of `other`: above 1 when it is faster (slower, for `last`)."""
        return context.ratio(candidate, other) if self.last is not None else context.ratio(other, candidate)

    def _sentence(
        self, context: Context, key: Key, ahead: Candidate, behind: Candidate, lead: Estimate
    ) -> str:
        return (
            f"{context.opening(key)}{ahead.label} is {self.word.less if self.last is None else self.word.more} than "
            f"{behind.label}, {number(_value(ahead))} against {number(_value(behind))} "
            f"{context.table.unit_of(self.of, self.per)}, {span(lead)} times."
        )

    def _numbers(self, context: Context, key: Key, candidates: Sequence[Candidate]) -> tuple[Number, ...]:
        unit = context.table.unit_of(self.of, self.per).replace(" per ", "/")
        return tuple(
            one_number
            for candidate in candidates
            if candidate.cost
            for one_number in number_of(context.name(key), candidate.label, candidate.cost, unit)
        )


class RankAgreement(Form, frozen=True, kw_only=True, tag="rank_agreement"):
    """The printed order and today's agree, with a rank correlation (Spearman) from `low` to `high`.

    Judged for each published machine and today, or `between` each two published machines, in each combination of `by`.
    Figures printed in cycles and figures printed as times or rates are not ranked together.
    """

    machines: tuple[Text, ...] = ()
    between: Literal["today", "machines"] = "today"
    low: Annotated[float, Meta(ge=-1)]
    high: Annotated[float, Meta(le=1)] = 1.0
    by: Dimensions = ()

    values_of: ClassVar[dict[str, str]] = {"machines": "machines"}

    @property
    def in_print_only(self) -> bool:
        """True between published machines: today's run has no part in it."""
        return self.between == "machines"

    def judge(self, context: Context) -> list[Finding]:
        """One finding per machine, group and kind of unit."""
        findings: list[Finding] = []
        if context.table.printed and self.between == "today":
            return [Finding(State.NOT_PRINTED, "Print has no order of today.")]
        machines = self.machines or tuple(machine.id for machine in context.study.machines)
        if self.between == "machines":
            pairs = itertools.combinations(machines, 2)
            return [finding for first, second in pairs for finding in self._in_print(context, first, second)]
        for machine in machines:
            groups: dict[tuple[Key, bool], list[tuple[PublishedFigure, EvidenceRow]]] = {}
            for figure in context.study.published:
                if figure.machine == machine and figure.available and (row := self._today(context, figure)):
                    key = tuple((name, row.dims[name]) for name in self.by)
                    in_cycles = figure.unit.in_cycles
                    groups.setdefault((key, in_cycles), []).append((figure, row))
            findings += [self._agreement(context, machine, key, both) for (key, _), both in groups.items()]
        return findings or [Finding(State.UNPROVIDED, "No printed figure has a counterpart in this run.")]

    def groups(self, context: Context) -> str:
        """The machines compared, in each combination of `by`."""
        first = "two machines" if self.between == "machines" else "machine"
        return combinations([first, *self.by])

    def said(self, context: Context) -> Said:
        """The rule and what contradicts it."""
        between = f"{exact(self.low)} to {exact(self.high)}"
        machines = f" ({', '.join(self.machines)})" if self.machines else ""
        of = f"each two published machines{machines}"
        if self.between == "today":
            of = f"each published machine and today{machines}, by the fastest cell of each printed figure"
        rho = f"the rank correlation of the orders of {of}"
        return Said(f"{rho} is within {between}", f"{rho} is surely outside {between}")

    def _today(self, context: Context, figure: PublishedFigure) -> EvidenceRow | None:
        if not figure.cell or OVER in figure.cell:
            return None
        wanted = cells_of(figure.cell)
        rows = [
            row
            for row in context.table.select(self.where)
            if row.figure and any(selector.matches(row.figure.cell) for selector in wanted)
        ]
        return min(rows, key=lambda row: context.table.cost(row).value, default=None)

    def _in_print(self, context: Context, first: str, second: str) -> list[Finding]:
        groups: dict[Key, list[tuple[float, float]]] = {}
        wanted = {name: many(values) for name, values in self.where.items()}
        printed = {
            (figure.cell, figure.machine): _printed_cost(figure)
            for figure in context.study.published
            if figure.available and len(figure.sides) == 1
        }
        texts_of: dict[Cell, dict[str, None]] = {}  # in the order of the study
        for text, _ in printed:
            for asked in cells_of(text):
                texts_of.setdefault(asked.cell, {})[text] = None
        counted_already: set[str] = set()
        for group in context.study.groups:
            for cell in (asked.cell for selector in group.selectors for asked in cells_of(selector)):
                dims = dimensions(group, cell)
                texts = texts_of.get(cell, {})
                each = ((text, machine) for machine in (first, second) for text in texts)
                both = [printed[known] for known in each if known in printed]
                fits = all(dims.get(name) in values for name, values in wanted.items())
                if len(both) == 2 and fits and not texts.keys() & counted_already:
                    counted_already.update(texts)
                    groups.setdefault(tuple((name, dims[name]) for name in self.by), []).append(
                        (both[0], both[1])
                    )
        findings = []
        for key, costs in groups.items():
            place = ", ".join(part for part in (f"{first} and {second}", context.name(key)) if part)
            if few := _too_few(place, len(costs)):
                findings.append(few)
                continue
            rho = rank_correlation([cost for cost, _ in costs], [other for _, other in costs])
            findings.append(self._found(place, len(costs), Estimate(rho, rho, rho)))
        return findings

    def _found(self, place: str, count: int, rho: Estimate) -> Finding:
        state, _ = placed(rho, self.low, self.high)
        sentence = (
            f"{place}: the orders of {count} figures agree with a rank correlation of {span(rho)}; "
            f"claimed: {exact(self.low)} to {exact(self.high)}."
        )
        numbers = number_of(place, "rank correlation", rho)
        return Finding(state, sentence, min(abs(rho.value - self.low), abs(rho.value - self.high)), numbers)

    def _agreement(
        self, context: Context, machine: str, key: Key, both: Sequence[tuple[PublishedFigure, EvidenceRow]]
    ) -> Finding:
        place = ", ".join(part for part in (machine, context.name(key)) if part)
        if few := _too_few(place, len(both)):
            return few
        printed = [_printed_cost(figure) for figure, _ in both]
        today = [context.table.cost(row) for _, row in both]
        value = rank_correlation(printed, [estimate.value for estimate in today])
        floor = 1 + (context.table.floor or 0.0)
        low, high = rank_correlation_range(
            printed, [(estimate.value, estimate.low / floor, estimate.high * floor) for estimate in today]
        )
        return self._found(place, len(both), Estimate(value, min(low, value), max(high, value)))


def _too_few(place: str, count: int) -> Finding | None:
    if count >= _LEAST:
        return None
    text = f"{place}: only {counted(count, 'figure')} can be compared, too few to rank."
    return Finding(State.TOO_FEW, text)


def _printed_cost(figure: PublishedFigure) -> float:
    if figure.unit.in_cycles:
        return published_cycles_per_byte(figure, None) or figure.value or math.nan
    return (published_ns(figure) or math.nan) / (figure.size_bytes or 1)


def _close(context: Context, key: Key, candidate: Candidate, other: Candidate, lead: Estimate) -> str:
    return (
        f"{context.opening(key)}{candidate.label} and {other.label} cannot be told apart: "
        f"{number(_value(candidate))} against {number(_value(other))}, ratio {span(lead)}."
    )


def _margin(lead: Estimate) -> float:
    return log_of(lead.low) if lead.low > 0 else 0.0


def _value(candidate: Candidate) -> float:
    return candidate.cost.value if candidate.cost else math.inf
