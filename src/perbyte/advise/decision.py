"""The decision for one task: status filters, speed ranks by what is sure of it, ties are ties.

An option is an algorithm in one library. An algorithm is ranked by its best option, by the upper end of the cost's
interval. An option whose work nobody saw (`w`) is never ahead of one whose work was seen. Whether two costs differ is
asked of `stats.compare`, as everywhere.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from perbyte.advise.mix import Mix
from perbyte.advise.standing import Asked, Standing
from perbyte.catalogue import Catalogue, pattern
from perbyte.catalogue.facts import strength_of
from perbyte.catalogue.questions import Task
from perbyte.model import Algorithm, Cell, CellFigure, Doubt, Estimate, NoiseFloor
from perbyte.model.cell import FULL
from perbyte.stats.compare import (
    ANYTHING,
    CYCLES,
    NOT_AUDITED,
    NS,
    UNSEEN,
    Answer,
    Comparison,
    Cost,
    apart,
    compare_costs,
    cost_of,
    doubt_of,
    extent_of,
    mean_cost,
    sum_costs,
)

SOFT = "soft"
_BACKWARD = {"open": "seal", "decrypt": "encrypt"}
# the way back takes the work of the way there; what spares less than this cannot have been saved
_SPARED = 0.1
_EFFECTS = ("allowed", "discouraged", "unrecommended", "forbidden")
_CATEGORIES = {128: 1, 192: 3, 256: 5}
"""NIST's categories: as hard to break as the key of AES with so many bits (FIPS 203, section 8)."""
_KEYED = frozenset({"aead", "block-cipher", "stream-cipher", "mac"})
_TWO_KEYS = frozenset({"xts", "siv"})  # modes whose key is two of the cipher's (IEEE 1619; RFC 5297)


class View(enum.StrEnum):
    """Whose processor counts: this one, one without AES instructions, or this one and such a peer's together."""

    HERE = "here"
    WITHOUT = "without"
    PEER = "peer"


class Sure(enum.StrEnum):
    """How sure a recommendation is."""

    CERTAIN = "certain"
    LIKELY = "likely"
    CLOSE = "close"
    DOUBTFUL = "cannot be told"
    ALONE = "the only one"
    RESERVED = "not recommended"


@dataclass(frozen=True, slots=True)
class Case:
    """What is to be decided. `runners` restricts the libraries, empty for all; `why_missing` explains candidates."""

    task: Task
    asked: Asked
    figures: tuple[CellFigure, ...]
    catalogue: Catalogue
    mix: Mix
    floor: NoiseFloor | None = None
    runners: frozenset[str] = frozenset()
    view: View = View.HERE
    why_missing: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Option:
    """An algorithm in a library. `cost` is that of the work, in `unit` (`cycles` or `ns`), averaged over the sizes.

    `figures` by operation and size are those of this machine (of the soft tier where no AES is assumed); `doubt` says
    why nothing may be claimed of it, empty where it may. `unseen`: of an operation the audit saw the work at no size.
    `extent` is the cost with all that the doubts may explain.
    """

    algorithm: Algorithm
    runner: str
    library: str
    version: str
    cost: Cost
    unit: str
    figures: Mapping[tuple[str, int], CellFigure]
    doubt: str = ""
    unseen: bool = False
    extent: Estimate = ANYTHING


@dataclass(frozen=True, slots=True)
class Ranked:
    """An algorithm with its standing and its options, the cheapest first; none where nothing here measures it.

    `weak`: below the strength that is asked for. `preferred`: the task names it before others, whatever it costs.
    """

    algorithm: Algorithm
    standing: Standing
    options: tuple[Option, ...] = ()
    weak: bool = False
    preferred: bool = False

    @property
    def level(self) -> tuple[int, bool, bool]:
        """What ranks before speed: the standing, the strength, what the task prefers; less is better."""
        return _EFFECTS.index(self.standing.effect), self.weak, not self.preferred

    @property
    def best(self) -> Option:
        """The cheapest option whose work was seen, else the cheapest; there has to be one."""
        return self.options[0]


@dataclass(frozen=True, slots=True)
class Decision:
    """`ranking` holds what is allowed and measured, best first; `ruled_out` what is not allowed, with figures or not.

    `missing` are names without a figure, with the reason. `comparison` is that of the runner-up with the first, `equal`
    are those that are known to be as fast as the first, `undecided` those that may be, each with its comparison.
    `by_key`: such a tie was broken by the length of the key.
    """

    case: Case
    ranking: tuple[Ranked, ...]
    ruled_out: tuple[Ranked, ...]
    missing: tuple[tuple[str, str], ...]
    sure: Sure | None
    comparison: Comparison | None = None
    equal: tuple[Ranked, ...] = ()
    undecided: tuple[tuple[Ranked, Comparison], ...] = ()
    by_key: bool = False

    @property
    def first(self) -> Ranked | None:
        """What is recommended; None where everything is ruled out or unmeasured."""
        return self.ranking[0] if self.ranking else None

    @property
    def runner_up(self) -> Ranked | None:
        """The second, or None."""
        return self.ranking[1] if len(self.ranking) > 1 else None

    @property
    def measured(self) -> tuple[Ranked, ...]:
        """All that has figures: what is allowed, best first, and what is ruled out behind it."""
        return (*self.ranking, *(entry for entry in self.ruled_out if entry.options))

    @property
    def faster_but_out(self) -> tuple[tuple[Ranked, Comparison], ...]:
        """What is ruled out although it costs less than the first, with the first's cost as a multiple of its cost."""
        if self.first is None:
            return ()
        pairs = [
            (entry, compare_options(entry.best, self.first.best, self.case.floor))
            for entry in self.ruled_out
            if entry.options
        ]
        return tuple(pair for pair in pairs if pair[1].answer is Answer.SLOWER)


def decide(case: Case) -> Decision:
    """Decide `case`."""
    ranked = []
    options = find_options(case)
    for name in case.task.algorithms:
        algorithm = case.catalogue.algorithms[name]
        stands = case.asked.standing(algorithm, case.task.use, case.task.protocol)
        candidates = sorted((option for option in options if option.algorithm.id == name), key=_rank)
        prefer = case.task.prefer
        preferred = prefer is not None and pattern.matches(name, prefer.algorithms)
        ranked.append(Ranked(algorithm, stands, tuple(candidates), _is_weak(case, algorithm), preferred))
    allowed = sorted(
        (entry for entry in ranked if not entry.standing.out and entry.options),
        key=lambda entry: (entry.level, _rank(entry.best)),
    )
    ruled_out = tuple(entry for entry in ranked if entry.standing.out)
    ranked.sort(key=lambda entry: entry.level)
    missing = [(own.algorithm.name, _why_no_figure(case, own.algorithm)) for own in ranked if not own.options]
    decision = Decision(case, tuple(allowed), ruled_out, (*missing, *case.task.elsewhere.items()), None)
    if not allowed:
        return decision
    rivals = [entry for entry in allowed[1:] if entry.level == allowed[0].level]
    pairs = [(entry, compare_options(allowed[0].best, entry.best, case.floor)) for entry in rivals]
    equal = tuple(entry for entry, comparison in pairs if comparison.tie)
    undecided = tuple(pair for pair in pairs if pair[1].direction is not Answer.SLOWER and not pair[1].tie)
    second = pairs[0][1] if pairs else None
    sure = Sure.DOUBTFUL if undecided else _sure(second, bool(equal))
    if allowed[0].standing.effect == "unrecommended" or allowed[0].weak:
        sure = Sure.RESERVED
    decision = replace(decision, sure=sure, comparison=second, equal=equal, undecided=undecided)
    return _longest_key_first(decision) if sure is Sure.CLOSE else decision


def _longest_key_first(decision: Decision) -> Decision:
    """Of ciphers and MACs that are known to be as fast as each other, put the one with the longest key first.

    Lengths of public keys say nothing across families, and hashes have none.
    """
    cheapest = decision.ranking[0]
    tied = (cheapest, *decision.equal)
    if any(entry.algorithm.kind not in _KEYED for entry in tied):
        return decision
    first = max(tied, key=lambda entry: entry.algorithm.key_bytes)
    if len({entry.algorithm.key_bytes for entry in tied}) == 1:
        return decision
    ranking = (first, *(entry for entry in decision.ranking if entry is not first))
    return replace(
        decision,
        ranking=ranking,
        comparison=compare_options(first.best, ranking[1].best, decision.case.floor),
        equal=tuple(entry for entry in tied if entry is not first),
        by_key=True,
    )


def _is_weak(case: Case, algorithm: Algorithm) -> bool:
    """Whether `algorithm` is weaker than the user asks for, or the task where nobody says; False if nobody knows."""
    asked, least = case.asked.strength, case.task.least
    strength = strength_of(algorithm.id)
    if strength and (asked or least):
        bits = asked or (least.bits if least else 0)
        category = _CATEGORIES.get(asked, least.category if least else 0)
        return 0 < (strength.bits or 0) < bits or 0 < (strength.category or 0) < category
    keys = 2 if algorithm.mode in _TWO_KEYS else 1
    bits = 8 * algorithm.key_bytes // keys
    return bool(asked) and algorithm.kind in _KEYED and bits < asked


def compare_options(a: Option, b: Option, floor: NoiseFloor | None) -> Comparison:
    """Compare the cost of `b` with that of `a`; the doubts of their figures are those of the comparison.

    Where the audit saw the work of one alone, nobody claims that the other costs less.
    """
    comparison = compare_costs(a.cost, b.cost, floor.relative if floor else None)
    doubts, extents = [a.doubt, b.doubt], [a.extent, b.extent]
    if a.unseen != b.unseen:
        unseen = int(b.unseen)
        extents[unseen] = replace(extents[unseen], high=UNSEEN * extents[unseen].high)
        factor = comparison.ratio.value if a.unseen else 1 / max(comparison.ratio.value, 1e-9)
        if comparison.answer is not (Answer.SLOWER if b.unseen else Answer.FASTER) and factor <= UNSEEN:
            doubts.append(NOT_AUDITED)
    between = apart(extents[0], extents[1], comparison.floor)
    return replace(comparison, unit=a.unit, doubt=join_doubts(doubts), apart=between)


def join_doubts(doubts: Iterable[str]) -> str:
    """All doubts in one text, each once."""
    return "; ".join(dict.fromkeys(part for doubt in doubts for part in doubt.split("; ") if part))


def find_options(case: Case) -> list[Option]:
    """The options that figures suffice for: every operation of the work at every size."""
    task, wanted = case.task, set(case.task.algorithms)
    figures = [
        figure
        for figure in case.figures
        if figure.cell.algorithm in wanted
        and figure.cell.contract == task.contract
        and figure.cell.usual
        and (not case.runners or figure.cell.runner in case.runners)
        and math.isfinite(figure.per_call)
        and figure.per_call > 0
    ]
    unit = _common_unit(figures)
    options = []
    for runner, name in dict.fromkeys((figure.cell.runner, figure.cell.algorithm) for figure in figures):
        algorithm = case.catalogue.algorithms[name]
        own = [figure for figure in figures if (figure.cell.runner, figure.cell.algorithm) == (runner, name)]
        here = {_place(figure.cell): figure for figure in own}
        if option := _option(case, algorithm, runner, here, unit):
            options.append(option)
    return options


def _option(
    case: Case, algorithm: Algorithm, runner: str, here: Mapping[tuple[str, str, int], CellFigure], unit: str
) -> Option | None:
    tiers, work = _tiers(case, algorithm), case.task.operations(algorithm)
    cells = [(cpu, operation, size) for cpu in tiers for operation in work for size in case.mix.sizes]
    if any(cell not in here for cell in cells):
        return None
    parts = [(cpu, operation, count) for cpu in tiers for operation, count in work.items()]

    def whole(cost_in: Callable[[CellFigure], Cost]) -> Cost:
        by_size = [
            sum_costs([(count, cost_in(here[cpu, operation, size])) for cpu, operation, count in parts])
            for size in case.mix.sizes
        ]
        counts = case.mix.counts
        return sum_costs(list(zip(counts, by_size, strict=True))) if counts else mean_cost(by_size)

    cost = whole(lambda figure: cost_of(figure, unit, source=0))
    extent = whole(lambda figure: Cost(extent_of(figure, unit))).estimate
    used = [here[cell] for cell in cells]
    return Option(
        algorithm,
        runner,
        used[0].library,
        used[0].library_version,
        cost,
        unit,
        {(operation, size): here[cpu, operation, size] for cpu, operation, size in cells if cpu == tiers[0]},
        join_doubts(doubt_of(figure) for figure in used),
        _unseen(used),
        extent,
    )


def _place(cell: Cell) -> tuple[str, str, int]:
    return cell.cpu, cell.operation, cell.size_bytes


def _tiers(case: Case, algorithm: Algorithm) -> tuple[str, ...]:
    soft = SOFT if algorithm.accelerated_by else FULL
    return {View.HERE: (FULL,), View.WITHOUT: (soft,), View.PEER: (FULL, soft)}[case.view]


def _unseen(used: Sequence[CellFigure]) -> bool:
    """Whether the audit saw an operation's work at none of the sizes.

    Of a fast call on much data the audit cannot tell: memory takes as long. So its work counts as seen where it was
    seen at another size, and that of opening where sealing as much was seen and took no longer.
    """
    by_cell = {_place(figure.cell): figure for figure in used}
    seen: dict[tuple[str, str], bool] = {}
    for (cpu, operation, size), figure in by_cell.items():
        forth = by_cell.get((cpu, _BACKWARD.get(operation, ""), size))
        like = forth is not None and _seen(forth) and figure.per_call >= (1 - _SPARED) * forth.per_call
        seen[cpu, operation] = seen.get((cpu, operation), False) or _seen(figure) or like
    return not all(seen.values())


def _seen(figure: CellFigure) -> bool:
    return not any(warning.kind is Doubt.UNCHAINED for warning in figure.warnings)


def _why_no_figure(case: Case, algorithm: Algorithm) -> str:
    """Why there is no option of an algorithm: nothing of it was measured, or not all that the work consists of.

    Of what the run has no figures of, what the survey of libraries said.
    """
    measured = any(figure.cell.algorithm == algorithm.id for figure in case.figures)
    if not measured and (why := case.why_missing.get(algorithm.id)):
        return why
    work, tiers = case.task.operations(algorithm), _tiers(case, algorithm)
    wanted = {(cpu, operation, size) for cpu in tiers for operation in work for size in case.mix.sizes}
    here: dict[str, set[tuple[str, str, int]]] = {}
    elsewhere = set()
    for figure in case.figures:
        cell = figure.cell
        if (cell.algorithm, cell.contract) != (algorithm.id, case.task.contract) or not cell.usual:
            continue
        if case.runners and cell.runner not in case.runners:
            elsewhere.add(cell.runner)
            continue
        here.setdefault(cell.runner, set()).add(_place(cell))
    if elsewhere and not here:
        return f"not measured in this library; there are figures of {', '.join(sorted(elsewhere))}"
    runner = max(sorted(here), key=lambda name: len(wanted & here[name]), default="")
    known = wanted & here.get(runner, set())
    ask = case.task.selector(runner if known else "*", algorithm, case.mix.sizes, tiers)
    if not known:
        return f"no figure of it is here; perbyte list providers {algorithm.id} names who has it"
    lacks = sorted(wanted - known)
    if not lacks:
        return "its figures cannot be used"
    text = ", ".join(f"{operation} at {size} B, tier {cpu}" for cpu, operation, size in lacks[:3])
    text += f" and {len(lacks) - 3} more" if len(lacks) > 3 else ""
    return f"{runner} was measured, but not {text}; perbyte measure '{ask}' measures all in one run"


def _common_unit(figures: Sequence[CellFigure]) -> str:
    blind = any(figure.cycles_per_call is None for figure in figures)
    return NS if blind or len({figure.cycle_source for figure in figures}) != 1 else CYCLES


def _rank(option: Option) -> float:
    """The order of options: by what is sure of their cost, or was before a lie where nobody saw the work."""
    return _cost(option) * (UNSEEN if option.unseen else 1.0)


def _cost(option: Option) -> float:
    """What is sure: the upper end of the cost, or the cost where no interval is known."""
    high = option.cost.estimate.high
    return high if math.isfinite(high) else option.cost.estimate.value


def _sure(second: Comparison | None, ties: bool) -> Sure:
    if second is None:
        return Sure.ALONE
    if second.answer is Answer.UNDECIDED:  # with a direction, or it would be among the undecided
        return Sure.LIKELY
    return Sure.CLOSE if ties else Sure.CERTAIN
