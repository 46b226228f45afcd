"""The card that opens a page and a table: the winner, by how much, how sure that is, and what it costs people.

A run may hold several questions: which of its ciphers with keys of one length, which of its hashes with digests of one
length, which signature. Each gets a line of its own, at the operation and the largest size that most of its cells have.
Rows of a software tier are no answer where the same algorithm was measured with the processor's own instructions. Who
is the fastest is asked of `stats.standing.stand`, as everywhere; nothing is claimed here that a table does not mark.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

from perbyte.catalogue import load
from perbyte.catalogue.questions import questions
from perbyte.model import Algorithm, CellFigure, Estimate, Run
from perbyte.model.groups import grouped
from perbyte.model.text import counted, natural, plain
from perbyte.report.beside import cores_text, rate_text
from perbyte.report.document import Card, Line
from perbyte.report.grid import Grid, GridRow, kin_of, operation_order, title_of, without_software
from perbyte.report.marks import ANSWER_SIGNS, FASTEST, SIGNS
from perbyte.report.wording import (
    close_text,
    doubt_text,
    percent,
    size_label,
    times_text,
    value_text,
)
from perbyte.stats.compare import (
    NS,
    Answer,
    Comparison,
    Unsure,
    compare,
    cost_of,
    sum_costs,
)
from perbyte.stats.quantity import NO_DATA, Unit, data_bytes, demands, geometric_mean, read
from perbyte.stats.standing import Lead, stand, vouched_for

RATES = (1e9, 10e9)
"""Bytes a second that people have: a fast link or disk of today, and a data centre's."""
_MOST = 4  # lines of a card; a page or a table follows
_NAMED = 3  # of whom it is not known who is the fastest
_KINDS = {
    "block-cipher": "cipher",
    "stream-cipher": "cipher",
    "aead": "authenticated cipher",
    "hash": "hash",
    "checksum": "checksum",
    "xof": "extendable hash",
    "mac": "MAC",
    "permutation": "permutation",
    "kdf": "key derivation",
    "key-agreement": "key agreement",
    "kem": "key encapsulation",
    "signature": "signature",
    "public-encryption": "public-key encryption",
    "records": "records",
}
_ONCE = {1: "once", 2: "twice"}


def run_card(run: Run, unit: Unit | None = None) -> Card:
    """The card of a run, its figures in `unit` where they have it; None: cycles a byte or a call, else time."""
    wrong = {cell for cell, failure in run.failed_cells() if failure.kind == "incorrect"}
    known = load().algorithms
    figures = [
        figure
        for figure in run.cells
        if figure.cell.usual
        and figure.cell not in wrong
        and 0 < figure.per_call < math.inf
        and read(figure, Unit.NS_PER_CALL)
        and (figure.cell.algorithm not in known or known[figure.cell.algorithm].kind != "probe")
    ]
    kept = without_software(
        figures, lambda figure: ((figure.cell.algorithm, figure.cell.contract), figure.cell.cpu)
    )
    rivals = grouped(kept, lambda figure: (figure.cell.contract, kin_of(figure.cell)))
    several = len({figure.cell.contract for figure in kept}) > 1
    asked = [_Race(run, question, unit, several=several) for question in rivals.values()]
    asked.sort(key=lambda race: race.order)
    shown = [race for race in asked if len(race.rivals) > 1][:_MOST] or asked[:1]
    notes = []
    if left := len(asked) - len(shown):
        notes.append(f"{counted(left, 'more question has its', 'more questions have their')} figures below.")
    if left_out := {figure.cell for figure in figures} - {figure.cell for figure in kept}:
        tiers = sorted({cell.cpu for cell in left_out}, key=natural)
        notes.append(
            f"With the processor's own instructions; rows without them ({', '.join(map(plain, tiers))}) are below."
        )
    return Card(tuple(race.line() for race in shown), tuple(notes))


def _is_aes(figure: CellFigure) -> bool:
    known = load().algorithms.get(figure.cell.algorithm)
    return known is not None and known.family == "aes"


def _name(figure: CellFigure) -> str:
    return plain(title_of(figure.cell), 44)


class _Race:
    """Figures of one contract that answer one question, at the operation and size that most of them have.

    Among those at which AES was measured, where it was: as most ask for it.
    """

    def __init__(self, run: Run, figures: Sequence[CellFigure], unit: Unit | None, *, several: bool) -> None:
        self.figures, self.unit, self.several = figures, unit, several
        self.noise, self.precision = run.noise_floor, run.conditions.policy.precision
        asked_for = [figure for figure in figures if _is_aes(figure)] or figures
        places = {(figure.cell.operation, figure.cell.size_bytes) for figure in asked_for}
        count = Counter((figure.cell.operation, figure.cell.size_bytes) for figure in figures)
        self.place = max(places, key=lambda name: (count[name], -operation_order(name[0]), name[1]))
        self.rivals = [
            figure for figure in figures if (figure.cell.operation, figure.cell.size_bytes) == self.place
        ]
        self.one_name = len({_name(figure) for figure in figures}) == 1
        self.one_runner = len({figure.cell.runner for figure in figures}) == 1

    @property
    def order(self) -> tuple[object, ...]:
        """AES before others, as most ask for it; then by operation and algorithm, as in the tables."""
        return (
            not any(map(_is_aes, self.rivals)),
            -len(self.rivals),
            operation_order(self.place[0]),
            natural(self.rivals[0].cell.algorithm),
        )

    def line(self) -> Line:
        """The answer."""
        standings = dict(stand(self.rivals, self.noise, precision=self.precision))
        ordered = sorted(self.rivals, key=self.cost)
        ahead = [figure for figure in ordered if figure in standings]
        best = (ahead or ordered)[0]
        about, reading, cost = self.about(), self.reading(best), cost_text(best, self.figures)
        if len(self.rivals) < 2:
            return Line(about, "", self.called(best), reading, cost)
        lowest = f"lowest: {self.called(best)}"
        if not any(figure.interval.known for figure in self.rivals):
            text = f"{reading}; no interval is known, so nothing is claimed"
            return Line(about, "?", lowest, text, cost)
        told = [reading, self.between(standings[best], best, ahead)]
        rest = [figure for figure in ordered if figure not in standings]
        if rest:
            told.append(self.behind(best, rest[0]))
        known = {figure.cell.algorithm for figure in ahead}
        other = next((figure for figure in rest if figure.cell.algorithm not in known), None)
        if other and other is not rest[0]:
            told.append(self.behind(best, other, next_=False))
        told.append(self.elsewhere({figure.cell.runner for figure in ahead}))
        sign = SIGNS[standings[best]]
        return Line(about, sign, self.named(ahead), "; ".join(filter(None, told)), cost)

    def cost(self, figure: CellFigure) -> float:
        """What rivals are ordered by: cycles where they have them, as in the tables, else time."""
        cycles = all(rival.cycles_per_call is not None for rival in self.rivals)
        return figure.per_call if cycles else figure.ns_per_call

    def between(self, standing: Lead, best: CellFigure, ahead: Sequence[CellFigure]) -> str:
        """What is known of those who may be the fastest, by the word of their doubt; nothing where it is one alone."""
        if standing is Lead.TIED:
            alike = [self.compared(best, figure) for figure in ahead if figure is not best]
            return f"known to be alike: {close_text(alike).partition(': ')[2]}"
        if standing is not Lead.UNKNOWN:
            return ""
        strangers = [figure for figure in ahead if not vouched_for(figure)]
        if strangers and len(strangers) < len(ahead):
            names = " and ".join(self.called(figure) for figure in strangers[:_NAMED])
            first = next(figure for figure in ahead if figure not in strangers)
            lowest = f"; the lowest of the others, {self.called(first)}, {self.costs(best, first)}"
            return f"{Unsure.UNAUDITED}: {names}{lowest * (first is not best)}"
        compared = [self.compared(best, figure) for figure in ahead if figure is not best]
        if all(comparison.unsure in (None, Unsure.CLOSE) for comparison in compared):
            return close_text(compared)
        doubts = [doubt_text(comparison) for comparison in compared if comparison.unsure is not Unsure.CLOSE]
        others = "the other" if len(ahead) == 2 else "the others"
        return f"{others} may cost as little: {next(filter(None, doubts), Unsure.NOISY.value)}"

    def about(self) -> str:
        """The question in words."""
        operation, _ = self.place
        size = data_bytes(self.rivals[0].cell)
        what = f"{plain(operation, 24)} {size_label(size)}" if size else plain(operation, 24)
        known = load().algorithms.get(self.rivals[0].cell.algorithm)
        title = _name(self.figures[0]) if self.one_name or known is None else class_of(known)
        return f"{title}, {what}" + (f", {plain(self.rivals[0].cell.contract, 30)}" if self.several else "")

    def called(self, figure: CellFigure) -> str:
        """What tells a rival apart: its library, its algorithm, or both."""
        library = plain(figure.cell.runner, 24)
        if self.one_name:
            return library
        return _name(figure) if self.one_runner else f"{_name(figure)} in {library}"

    def named(self, ahead: Sequence[CellFigure]) -> str:
        """Those who are ahead: `aes-256-gcm in libgcrypt or openssl`."""
        if self.one_name or self.one_runner:
            names = [self.called(figure) for figure in ahead]
        else:
            names = [
                f"{name} in {' or '.join(plain(figure.cell.runner, 24) for figure in figures)}"
                for name, figures in grouped(ahead, _name).items()
            ]
        more = f" or {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return " or ".join(names[:_NAMED]) + more

    def reading(self, figure: CellFigure) -> str:
        """Its figure in the first unit that it has."""
        timed = (Unit.MEGABYTES_PER_SECOND, Unit.NS_PER_CALL)
        for unit in (self.unit, Unit.CYCLES_PER_BYTE, Unit.CYCLES_PER_CALL, *timed):
            if unit and (estimate := read(figure, unit)):
                return f"{value_text(estimate)} {unit.value}"
        return ""

    def behind(self, best: CellFigure, other: CellFigure, *, next_: bool = True) -> str:
        """How much more `other` costs."""
        subject = f"the next, {self.called(other)}," if next_ else self.called(other)
        return f"{subject} {self.costs(best, other)}"

    def costs(self, best: CellFigure, other: CellFigure) -> str:
        """How much `other` costs beside `best`."""
        return f"costs {times_text(self.compared(best, other))} as much"

    def compared(self, best: CellFigure, other: CellFigure) -> Comparison:
        """`other` beside `best`."""
        return compare(best, other, self.noise, precision=self.precision)

    def elsewhere(self, ahead: set[str]) -> str:
        """Who is the fastest at the smallest size, where that is another library beyond doubt."""
        operation, size = self.place
        figures = [
            figure
            for figure in self.figures
            if figure.cell.operation == operation and data_bytes(figure.cell)
        ]
        least = min((figure.cell.size_bytes for figure in figures), default=size)
        small = [figure for figure in figures if figure.cell.size_bytes == least]
        standings = stand(small, self.noise, precision=self.precision)
        first = next((figure for figure, standing in standings if standing is Lead.FASTEST), None)
        if least == size or first is None or first.cell.runner in ahead:
            return ""
        return f"at {size_label(least)} {FASTEST} {self.called(first)}"


def class_of(algorithm: Algorithm) -> str:
    """What an algorithm competes with, in words: `authenticated cipher, 256-bit keys`."""
    kind = _KINDS.get(algorithm.kind, algorithm.kind)
    if algorithm.kind == "handshake":
        return algorithm.name
    if algorithm.kind in ("key-agreement", "kem", "signature", "records"):
        return f"{kind}, {plain(algorithm.family, 24)}"
    if algorithm.kind == "block-cipher" and algorithm.mode:
        kind += f" in {algorithm.mode.upper()}"
    if algorithm.key_bytes:
        return f"{kind}, {8 * algorithm.key_bytes}-bit keys"
    return f"{kind}, {8 * algorithm.tag_bytes} bits" if algorithm.tag_bytes else kind


def rates_text(figure: CellFigure, rates: Sequence[float] = RATES) -> str:
    """The cores that a figure takes at each of `rates`: `0.18 cores at 1 GB/s, 1.8 at 10 GB/s`; empty without data."""
    return cores_at((rate, demanded[0].cores) for rate in rates if (demanded := demands([figure], rate)))


def cores_at(needs: Iterable[tuple[float, Estimate]]) -> str:
    """How many cores each rate takes, in a phrase."""
    texts = [f"{cores_text(cores)} at {rate_text(rate)}" for rate, cores in needs]
    return ", ".join([*texts[:1], *(text.replace(" cores", "") for text in texts[1:])])


def cost_text(figure: CellFigure, others: Sequence[CellFigure] = ()) -> str:
    """What a figure costs at a rate people have: cores at 1 and 10 GB/s; of public keys milliseconds of a handshake.

    `others` are figures of the same run, of which the rest of a handshake's work is taken.
    """
    if cores := rates_text(figure):
        return cores
    known = load().algorithms.get(figure.cell.algorithm)
    time = read(figure, Unit.NS_PER_CALL)
    if known is None or time is None:
        return ""
    work = _handshake(known)
    if figure.cell.operation not in work:
        what = "a call, in the median" if figure.quantiles else "a call"
        return f"{milliseconds(time)} {what}" if figure.cell.contract.startswith(NO_DATA) else ""
    row_of = attrgetter("runner", "algorithm", "cpu", "contract")
    row = row_of(figure.cell)
    of_row = {other.cell.operation: other for other in (*others, figure) if row_of(other.cell) == row}
    counts = {operation: count for operation, count in work.items() if operation in of_row}
    whole = milliseconds(work_time((of_row[operation], count) for operation, count in counts.items()))
    told = (f"{operation} {_ONCE.get(int(count), f'{count:g} times')}" for operation, count in counts.items())
    return f"{whole} of a handshake ({' and '.join(told)})"


def work_time(work: Iterable[tuple[CellFigure, float]]) -> Estimate:
    """The time of figures, each as often as it is called, in ns."""
    return sum_costs([(count, cost_of(figure, NS, source=0)) for figure, count in work]).estimate


def _handshake(algorithm: Algorithm) -> Mapping[str, float]:
    """How many of each operation a handshake takes, by the question `tls`."""
    for task in questions()["tls"].tasks:
        if task.contract.startswith("pk/") and algorithm.kind in task.work:
            return task.operations(algorithm)
    return {}


def milliseconds(ns: Estimate) -> str:
    """A time in milliseconds."""
    return f"{value_text(ns.scaled(per=1e6))} ms"


def compared_rows(grids: Sequence[Grid], side: int) -> list[tuple[GridRow, Comparison]]:
    """The cells of a side that the first one has as well, each with its comparison."""
    return [
        (row, comparison)
        for grid in grids
        for row in grid.rows
        if (comparison := row.entries[side].comparison) and comparison.ratio.value > 0
    ]


def comparison_card(grids: Sequence[Grid]) -> Card:
    """The card of several sides: which costs less in the mean over the cells that it shares with the first.

    The geometric mean of the ratios, its ends those of the means of the ends (which assumes nothing of how cells depend
    on each other). Cells in doubt do not count where others are there.
    """
    lines, columns = [], grids[0].columns if grids else ()
    for index, column in enumerate(columns[1:], start=1):
        pairs = [
            (row.entries[0].figure, row.entries[index].figure, comparison)
            for row, comparison in compared_rows(grids, index)
        ]
        if not pairs:
            continue
        good = [pair for pair in pairs if pair[2].ratio.known and not pair[2].doubt] or pairs
        comparisons = [comparison for _, _, comparison in good]
        doubts = next((comparison.doubt for comparison in comparisons if comparison.doubt), "")
        mean = Comparison(
            geometric_mean([comparison.ratio for comparison in comparisons]),
            "intervals",
            "the interval of the mean covers 1",
            "",
            doubt=doubts,
            margin=max(comparison.margin for comparison in comparisons),
            apart=geometric_mean([comparison.apart for comparison in comparisons]),
        )
        lines.append(_side_line(columns[0].side, column.side, mean, good, len(pairs) - len(good)))
    return Card(tuple(lines[:_MOST]), (f"{len(lines) - _MOST} more below.",) if len(lines) > _MOST else ())


def _side_line(
    first: str,
    other: str,
    mean: Comparison,
    pairs: Sequence[tuple[CellFigure | None, CellFigure | None, Comparison]],
    left_out: int,
) -> Line:
    first, other = plain(first, 24), plain(other, 24)
    over = "1 cell" if len(pairs) == 1 else f"the mean over {len(pairs):,} common cells"
    answers = Counter(comparison.direction for _, _, comparison in pairs)
    mean_only = " in the mean" if len(answers) > 1 else ""
    winner = {
        Answer.FASTER: f"{other} is faster than {first}{mean_only}",
        Answer.SLOWER: f"{first} is faster than {other}{mean_only}",
        Answer.TIED: f"{first} and {other} are alike within {percent(mean.margin)}{mean_only}",
        Answer.UNDECIDED: f"{first} or {other}: {_undecided(mean)}{mean_only}",
    }[mean.direction]
    counted = ", ".join(f"{answers[answer]:,} {answer.value}" for answer in Answer if answers[answer])
    texts = [f"in {over} {other} costs {times_text(mean)} as much"]
    if len(pairs) > 1:
        texts.append(f"{other}: {counted}")
    if left_out:
        texts.append(f"{left_out:,} in doubt left out")
    sign = ANSWER_SIGNS.get(mean.direction, FASTEST)
    return Line("", sign, winner, "; ".join(texts), _both_costs(first, other, pairs))


def _undecided(mean: Comparison) -> str:
    """Why nobody can say which of two sides costs less."""
    if mean.unsure is Unsure.CLOSE:
        return close_text([mean])
    return "too noisy to tell which costs less" if mean.unsure is Unsure.NOISY else str(mean.unsure)


def _both_costs(
    first: str, other: str, pairs: Sequence[tuple[CellFigure | None, CellFigure | None, Comparison]]
) -> str:
    """What both sides cost in the cell with the most data, at the highest rate; of public keys, a call of each."""
    both = [(a, b) for a, b, _ in pairs if a and b]
    if not both:
        return ""
    a, b = max(both, key=lambda pair: data_bytes(pair[0].cell))
    what = f"{plain(title_of(a.cell), 40)} {plain(a.cell.operation, 24)}"
    sides = ((first, a), (other, b))
    if size := data_bytes(a.cell):
        texts = [
            f"{cores_text(demanded[0].cores)} in {name}"
            for name, figure in sides
            if (demanded := demands([figure], RATES[-1]))
        ]
        what += f" {size_label(size)} at {rate_text(RATES[-1])}"
    else:
        texts = [
            f"{milliseconds(time)} in {name}"
            for name, figure in sides
            if (time := read(figure, Unit.NS_PER_CALL))
        ]
    return f"{what}: {', '.join(texts)}" if len(texts) == 2 else ""
