"""Advice in words: for a person who is no cryptographer, with the facts for one who is.

The same sentences stand in the terminal, in JSON (`advicetext`) and on the page (`advicepage`). No digit is printed
that its interval does not support.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from perbyte.advise import Change, Decision, PasswordDecision, Ranked, Sure, View
from perbyte.advise.decision import compare_options
from perbyte.catalogue.facts import strength_of
from perbyte.model import Cell, CellFigure
from perbyte.model.algorithm import CPU_FLAGS, no_instructions
from perbyte.model.text import plain
from perbyte.report import advicewords as words
from perbyte.report.beside import rate_text, share_text, states_texts, threads_texts
from perbyte.report.listing import Head, Listing
from perbyte.report.wording import number, ratio_text, size_label, times_text, value_text
from perbyte.stats.compare import NOT_AUDITED, Unsure, quotient
from perbyte.stats.quantity import Demand, Unit, data_bytes, demands, read

_WAYS = {"seal": "encrypt", "open": "decrypt"}
_WIDE = 24  # characters of a library in a table; the sentences name its version
_DIRECTION = {"encrypt": "write", "decrypt": "read"}
_UNDECIDED = {
    Unsure.NOISY: ("Noisy, another may cost as little", "A longer run on a quieter machine would show it."),
    Unsure.CLOSE: ("Close, another may cost as little", "Choose by anything but speed."),
    Unsure.UNAUDITED: ("Not audited", "What nobody saw at work is not recommended for its speed."),
}
"""What it is called where another may cost as little, and what to do about it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What lies around the cipher: `rate` is the user's (bytes a second), `disk` the disk's own by `read` and `write`.

    `kernel` are lines of the kernel's own benchmark, or one that says why there are none; `doubt` is about the
    disk's rate; `threads` are lines of `threads_texts`, `states` of `states_texts`.
    """

    rate: float | None = None
    disk: Mapping[str, float] = field(default_factory=dict)
    kernel: Sequence[str] = ()
    doubt: str = ""
    threads: Sequence[str] = ()
    states: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Told:
    """The answer to one task in words: `answer` is the recommendation, `lines` are (heading, sentences).

    `passwords` is there for password hashes, whose ranking is its own.
    """

    decision: Decision
    passwords: PasswordDecision | None
    title: str
    answer: str
    lines: tuple[tuple[str, tuple[str, ...]], ...]
    table: Listing


def tell(
    decided: Decision | PasswordDecision,
    changes: Sequence[Change] = (),
    limits: Limits | None = None,
    everything: Decision | None = None,
) -> Told:
    """Put a decision into words; `changes` are what would change it.

    `everything` is the decision among all libraries, whose table is given, where `decided` is for one of them.
    """
    limits = limits or Limits()
    passwords: PasswordDecision | None = None
    if isinstance(decided, PasswordDecision):
        passwords, decision = decided, decided.decision
        chosen = [parameters.ranked for parameters in passwords.parameters[:1]]
        lines = {
            "Parameters": words.parameter_texts(passwords),
            "What others recommend": words.recommended_texts(passwords),
            "What an attacker gains": words.attack_texts(passwords),
        }
    else:
        decision = decided
        chosen = [decision.first, *decision.equal] if decision.first else []
        lines = {
            "How sure": (*_sure(decision), *_marked(decision)),
            "Strength": words.strength_texts(decision),
            "What it costs": _costs(decision, limits),
            "What is the limit": _limit(decision, limits),
            "Threads": tuple(limits.threads),
            "The first record": tuple(limits.states),
        }
    lines |= {
        "What to know": words.remark_texts(decision, chosen),
        "Under one key": words.key_texts(decision, chosen),
        "On the wire": words.wire_texts(decision),
        "Status": _status(decision, chosen),
        "What would change the answer": () if passwords else _changes(decision, changes),
        "Ruled out": _ruled_out(decision),
        "No figure": tuple(f"{name}: {reason}." for name, reason in decision.missing),
        "The kernel's own code": tuple(limits.kernel),
    }
    return Told(
        decision,
        passwords,
        decision.case.task.title,
        _answer(decision, passwords),
        tuple((heading, texts) for heading, texts in lines.items() if texts),
        words.password_table(passwords) if passwords else _table(everything or decision),
    )


def beyond_texts(
    decision: Decision, figures: Sequence[CellFigure], smallest: Cell, largest: Cell
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What single calls cost at the smallest size, and what several cores do at the largest one, headed each."""
    assert decision.first
    option = words.option_text(decision.first.best)

    def headed(lines: tuple[str, ...], cell: Cell) -> tuple[str, ...]:
        return (f"{option}, {cell.operation}, {size_label(cell.size_bytes)}:", *lines) if lines else ()

    single = states_texts(figures, decision.case.task.unit)
    return headed(single, smallest), headed(threads_texts(figures), largest)


def side_by_side(machines: Sequence[tuple[str, Decision, Decision]], year: int) -> Listing:
    """The same question on several machines, by the status at the end of `year` and by that of the date asked for.

    Each machine is a name with its two decisions.
    """
    rows = []
    for name, then, now in machines:
        quickest = min(now.measured, key=lambda entry: entry.best.cost.estimate.value, default=None)
        sure = now.sure.value if now.sure else ""
        if now.first and not any(
            figure.interval.known and figure.epochs > 1 for figure in now.first.best.figures.values()
        ):
            sure = "no interval is known"
        rows.append((plain(name, 60), _brief(then.first), _brief(now.first), _brief(quickest), sure))
    day = machines[0][2].case.asked.date if machines else ""
    heads = ("machine", f"status of {year}", f"status of {day}", "fastest, whatever its status", "how sure")
    return Listing(
        "Other machines", [Head(head, fields=head.replace(",", "").replace(" ", "_")) for head in heads], rows
    )


def _brief(entry: Ranked | None) -> str:
    if entry is None:
        return "nothing"
    figure = max(entry.best.figures.values(), key=lambda each: each.cell.size_bytes)
    speed = read(figure, Unit.MEGABYTES_PER_SECOND)
    rate = f", {number(speed.value, speed.value / 200)} MB/s" if speed else ""
    return f"{entry.algorithm.name}{rate}"


def _answer(decision: Decision, passwords: PasswordDecision | None) -> str:
    if passwords and passwords.parameters:
        parameters = passwords.parameters[0]
        name = words.plain_name(parameters.ranked.algorithm)
        return f"{name} with {parameters.words}, in {words.library_text(parameters.ranked.best)}"
    if decision.first is None:
        gone = {entry.algorithm.name for entry in decision.ruled_out} | {*decision.case.task.elsewhere}
        allowed = [f"{name} ({why})" for name, why in decision.missing if name not in gone][:3]
        what = "Nothing: what is not ruled out has no figure here: "
        return what + "; ".join(allowed) if allowed else "Nothing: all candidates are ruled out"
    tied = decision.equal if decision.sure is not Sure.DOUBTFUL else ()
    return " or ".join(words.option_text(entry.best) for entry in (decision.first, *tied))


def _sure(decision: Decision) -> tuple[str, ...]:
    second, comparison = decision.runner_up, decision.comparison
    if decision.first is None:
        return ()
    if second is None or comparison is None:
        if second is None:
            return ("It is the only candidate that is allowed and has a figure here.",)
        return (_above(decision.first, second, decision),)
    text = f"the runner-up, {words.option_text(second.best)}, costs {times_text(comparison)} as much"
    cheaper = (*_unseen(decision), *_passed_over(decision, second))
    if decision.sure is Sure.RESERVED:
        return (f"Not recommended, the fastest of those that are left: {text}.", *cheaper)
    if decision.sure is Sure.CERTAIN:
        return (f"Certain: {text}.", *cheaper)
    if decision.sure is Sure.CLOSE:
        rest = "The tie is broken by the longer key." if decision.by_key else "Choose by anything but speed."
        return (f"Close: {text}. {rest}", *cheaper)
    if decision.sure is Sure.LIKELY:
        return (f"The direction is known, the factor is not: {text}.", *cheaper)
    doubts = [
        f"{words.option_text(entry.best)} costs {times_text(each)} as much"
        for entry, each in decision.undecided
    ]
    word = next(unsure for unsure in Unsure if any(each.unsure is unsure for _, each in decision.undecided))
    return (f"{_UNDECIDED[word][0]}: {'; '.join(doubts)}. {_UNDECIDED[word][1]}", *cheaper)


def _above(first: Ranked, second: Ranked, decision: Decision) -> str:
    """Why `first` stands above the next, where that is not by its cost."""
    next_, prefer = words.option_text(second.best), decision.case.task.prefer
    if first.level[:2] == second.level[:2] and prefer:
        times = times_text(compare_options(first.best, second.best, decision.case.floor))
        return (
            f"Before the others whatever it costs: {prefer.says} ({prefer.document}). "
            f"The next, {next_}, costs {times} as much."
        )
    if first.level[0] == second.level[0] and (strength := strength_of(second.algorithm.id)):
        return f"It is the only candidate here of the strength asked for. The next, {next_}, has {strength.said}."
    word = words.status_word(second.standing)
    return (
        "It is the only candidate that is allowed without reserve and has a figure here. The next, "
        f"{next_}, is {'allowed ' * (word == 'with reserve')}{word}."
    )


def _unseen(decision: Decision) -> tuple[str, ...]:
    """Options of what is recommended that cost less, behind it because the audit did not see their work."""
    first = decision.first
    if first is None or first.best.unseen:
        return ()
    best, sentences = first.best, []
    for option in first.options:
        cost = option.cost.estimate
        if option.unseen and option.unit == best.unit and cost.value < best.cost.estimate.value:
            ratio = ratio_text(quotient(cost, best.cost.estimate))
            sentences.append(
                f"In {words.library_text(option)} it costs ×{ratio}, but the audit did not confirm its work there: it "
                "ranks behind those whose work was confirmed."
            )
    return tuple(sentences)


def _passed_over(decision: Decision, second: Ranked) -> tuple[str, ...]:
    """Algorithms that cost less than the runner-up and stand behind it, each with the reason."""
    named = {entry.algorithm.id for entry, _ in decision.undecided} | {second.algorithm.id}
    texts, prefer, ours = [], decision.case.task.prefer, second.best
    for entry in (each for each in decision.ranking[2:] if each.algorithm.id not in named):
        if entry.best.unit == ours.unit and entry.best.cost.estimate.value < ours.cost.estimate.value:
            word, behind = words.status_word(entry.standing), second.preferred and not entry.preferred
            reasons = [NOT_AUDITED] * entry.best.unseen + [word] * (word != "allowed")
            reasons += ["weaker"] * entry.weak
            reasons += ["not preferred"] * behind
            texts.append(f"{words.option_text(entry.best)} ({', '.join(reasons) or 'noisy'})")
    told = f". Preferred: {prefer.says}." if prefer and "not preferred" in str(texts) else "."
    return (f"Left out of this, though they cost less: {'; '.join(texts)}{told}",) if texts else ()


def _audit_parts(decision: Decision) -> bool:
    """Whether the audit confirmed the work of some options and not of others: of public keys it confirms none."""
    return len({option.unseen for entry in decision.ranking for option in entry.options}) > 1


def _marked(decision: Decision) -> tuple[str, ...]:
    """What the sign `w` of the table means, where a row has it."""
    if not _audit_parts(decision):
        return ()
    return (
        "w in the table: a warning, that the audit did not confirm the work of that library at these sizes. It ranks "
        "behind those whose work was confirmed, and its algorithm may do so too.",
    )


def _costs(decision: Decision, limits: Limits) -> tuple[str, ...]:
    if decision.first is None:
        return ()
    task, best, sentences = decision.case.task, decision.first.best, []
    for (operation, size), figure in best.figures.items():
        has_data = bool(data_bytes(figure.cell))
        ns, cycles, each = (
            read(figure, unit) for unit in (Unit.NS_PER_CALL, Unit.CYCLES_PER_CALL, Unit.CYCLES_PER_BYTE)
        )
        text = f"{operation}, {size_label(size)}" if has_data else operation
        per = words.with_article(task.unit) if has_data else "each"
        text += f": {words.time_text(ns)} {per}" if ns else ""
        text += f", {value_text(cycles)} cycles" if cycles else ""
        text += f", {value_text(each)} cycles a byte" if each else ""
        if speed := read(figure, Unit.GIGABYTES_PER_SECOND if has_data else Unit.CALLS_PER_SECOND):
            text += f"; {value_text(speed)} {'GB/s' if has_data else 'a second'} on one core"
        if limits.rate and (asked := demands([figure], limits.rate)):
            text += f"; {rate_text(limits.rate)} takes {share_text(asked[0].cores)}"
        sentences.append(f"{text}.")
    if decision.case.mix.counts:
        mix, figure = decision.case.mix, next(iter(best.figures.values()))
        scale = 1.0 if best.unit == "ns" else figure.ns_per_call / figure.per_call
        took = words.time_text(best.cost.estimate.scaled(scale))
        sentences.append(
            f"The {mix.messages:,} messages of the histogram ({mix.bytes:,} bytes) take {took} of one core."
        )
    if decision.case.view is View.PEER:
        sentences.append(
            "The peer without AES instructions is reckoned by the tier soft of this machine; both sides are added up."
        )
    return tuple(sentences)


def _limit(decision: Decision, limits: Limits) -> tuple[str, ...]:
    if decision.first is None or not limits.disk:
        return ()

    def demanded(ranked: Ranked) -> list[tuple[str, str, Demand]]:
        """The dearest demand of each direction, as (operation, way, demand)."""
        dearest = []
        for operation, way in _DIRECTION.items():
            figures = [figure for (name, _), figure in ranked.best.figures.items() if name == operation]
            rate = limits.disk.get(way)
            if rate and (asked := demands(figures, rate)):
                dearest.append((operation, way, max(asked, key=lambda demand: demand.cores.value)))
        return dearest

    sentences, bound = [], True
    for operation, way, slowest in demanded(decision.first):
        is_disk = slowest.cores.value < 1
        bound = bound and is_disk
        size = size_label(slowest.figure.cell.size_bytes)
        limit = "the disk is the limit" if is_disk else "the cipher is the limit on one core"
        sentences.append(
            f"The disk {way}s {rate_text(float(f'{limits.disk[way]:.3g}'))}; to {operation} as fast in sectors of "
            f"{size} takes {share_text(slowest.cores)}: {limit}."
        )
    if limits.doubt:
        sentences.append(f"The disk was measured {limits.doubt}.")
    enough = [
        entry.algorithm.name
        for entry in decision.ranking[1:]
        if all(demand.cores.value < 1 for _, _, demand in demanded(entry))
    ]
    if sentences and bound and enough:
        sentences.append(
            f"Just as fast on this disk, at a larger share of a core: {', '.join(enough)}. Choose by status, not "
            "by speed."
        )
    return tuple(sentences)


def _status(decision: Decision, chosen: Sequence[Ranked]) -> tuple[str, ...]:
    if decision.first is None:
        return ()
    if decision.case.task.use is None:
        return ("No authority has a say here: nothing of this is for security.",)
    profile = decision.case.asked.profile
    sentences = [
        f"{words.plain_name(entry.algorithm)}: {'; '.join(words.standing_texts(entry.standing, profile))}."
        for entry in chosen
    ]
    whose = (
        "no profile: what no authority rules out is allowed" if profile == "none" else f"profile {profile}"
    )
    return (*sentences, f"Asked for {decision.case.asked.date}, {whose}.")


def _changes(decision: Decision, changes: Iterable[Change]) -> tuple[str, ...]:
    grouped: dict[tuple[str, str], list[Change]] = {}
    for change in changes:
        first = change.decision.first
        by_name = first and change.kind in ("library", "profile")
        result = "" if first is None else first.algorithm.name if by_name else words.option_text(first.best)
        grouped.setdefault((change.kind, result), []).append(change)
    texts = (_change(decision, result, group) for (_, result), group in grouped.items())
    return tuple(texts) or (
        "Nothing that was tried: other profiles, later dates, single sizes, single libraries.",
    )


def _change(decision: Decision, result: str, group: Sequence[Change]) -> str:
    """What changes of one kind lead to: all of `group` to the same `result`, empty for nothing."""
    later, named = group[0].decision, ", ".join(str(change.what) for change in group)
    broken = ", the longer key of a tie" if later.by_key else ""
    close = f" (close{broken})" if later.sure is Sure.CLOSE else ""
    if later.sure is Sure.DOUBTFUL:
        close = " (others may cost as little)"
    match group[0].kind:
        case "processor":
            return _processor(decision, later, close)
        case "size":
            sizes = ", ".join(size_label(int(str(change.what))) for change in group)
            return f"For {sizes} alone: {result}{close}."
        case "library":
            firsts = (change.decision.first for change in group)
            names = ", ".join(words.library_text(first.best) for first in firsts if first)
            return f"With {names} alone: {result}{close}."
        case "profile":
            where = "in this library" if decision.case.runners else "here"
            return f"Profile {named}: {result or f'nothing that is allowed has a figure {where}'}."
    reasons = [
        reason
        for entry in later.ruled_out
        if decision.first and entry.algorithm.id == decision.first.algorithm.id
        for reason in words.standing_texts(entry.standing, later.case.asked.profile)
    ]
    because = f"; by then {'; '.join(reasons)}" if reasons else ""
    return f"From {named}: {result or 'nothing that has a figure here'}{because}."


def _processor(decision: Decision, later: Decision, close: str) -> str:
    assert later.first
    known = decision.case.catalogue.algorithms
    before = decision.first.best if decision.first else None
    ratio = ""
    if before and before.unit == later.first.best.unit:
        factor = quotient(later.first.best.cost.estimate, before.cost.estimate)
        ratio = f", at ×{ratio_text(factor)} the cost"
    same = before and before.algorithm is later.first.best.algorithm
    name = words.option_text(later.first.best)
    named = {part for algorithm in decision.case.task.algorithms for part in known[algorithm].accelerated_by}
    lacking = no_instructions(part for part in CPU_FLAGS if part in named)
    return f"If this processor had {lacking} (tier soft): {'still ' if same else ''}{name}{ratio}{close}."


def _ruled_out(decision: Decision) -> tuple[str, ...]:
    faster = {option.algorithm.id: comparison for option, comparison in decision.faster_but_out}
    sentences = []
    for entry in decision.ruled_out:
        reasons = words.standing_texts(entry.standing, decision.case.asked.profile)
        text = f"{words.plain_name(entry.algorithm)}: {'; '.join(reasons)}"
        if entry.algorithm.kind == "password-hash":  # nobody wants a fast one
            sentences.append(f"{text}.")
            continue
        if comparison := faster.get(entry.algorithm.id):
            text += f". It would be faster: what is recommended costs ×{ratio_text(comparison.ratio)} as much"
        elif entry.options and decision.first:
            text += ". It would not be faster"
        sentences.append(f"{text}.")
    return tuple(sentences)


def _table(decision: Decision) -> Listing:
    measured = decision.measured
    figures = [figure for entry in measured for option in entry.options for figure in option.figures.values()]
    keys = dict.fromkeys(key for entry in measured for option in entry.options for key in option.figures)
    by_size = any(data_bytes(figure.cell) for figure in figures)
    unit = Unit.CYCLES_PER_BYTE if by_size else Unit.CYCLES_PER_CALL
    if any(figure.cycles_per_call is None for figure in figures):
        unit = Unit.MEGABYTES_PER_SECOND if by_size else Unit.NS_PER_CALL
    sizes = dict.fromkeys(size for _, size in keys)
    ways: dict[str, dict[str, None]] = {}  # sealing stands with encrypting, opening with decrypting
    for name, _ in keys:
        ways.setdefault(_WAYS.get(name, name), {})[name] = None
    places = [(tuple(names), size) for names in ways.values() for size in sizes]
    heads = ["/".join(names) + (f" {size_label(size)}" if by_size else "") for names, size in places]
    protocol, algorithms = decision.case.task.protocol, [entry.algorithm for entry in measured]
    heads += words.wire_columns(algorithms, protocol)
    strong = words.has_strengths(algorithms)
    mark = " w" if _audit_parts(decision) else ""
    rows = []
    for ranked in measured:
        strength = strength_of(ranked.algorithm.id)
        known = [strength.said if strength else ""] if strong else []
        sent = words.wire_cells(ranked.algorithm, protocol)
        for option in ranked.options:
            figures_at = (
                next((option.figures[name, size] for name in names if (name, size) in option.figures), None)
                for names, size in places
            )
            readings = [read(figure, unit) if figure else None for figure in figures_at]
            values = [value_text(reading) if reading else "" for reading in readings]
            named = words.library_text(option)
            named = named if len(named) <= _WIDE else plain(option.library, _WIDE)
            library = f"{named}{mark * option.unseen}"
            rows.append(
                (ranked.algorithm.name, library, *values, *sent, *known, words.status_word(ranked.standing))
            )
    columns = [Head(unit.value), Head("library"), *(Head(head, "n") for head in heads)]
    columns += [Head("strength", gives_way=1)] if strong else []
    return Listing("Figures", [*columns, Head("status", gives_way=2, once=True)], rows, lead=2)
