"""Whether all libraries compute the same: the checks that precede a measurement, on all runners, without one.

Nothing is timed. Cells are drawn from what the runners offer, and go through the validation of a run.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from perbyte.catalogue import Catalogue, Selector, load, parse_selector, pattern
from perbyte.errors import RunnerError
from perbyte.measure import Survey, built_runners, choose_cores, survey
from perbyte.measure.machine import require_linux
from perbyte.measure.plan import default_sizes, explain_nothing, explain_runners
from perbyte.measure.sessions import Sessions
from perbyte.measure.validation import Validation, Verdicts
from perbyte.model import Cell, Failure, Policy
from perbyte.model.cell import FULL
from perbyte.runners import RunnerSpec

SIZES = (67, 4096)  # bytes; the first is no multiple of a block, the second one of all
_UNCHECKED = ("probe", "routine")


@dataclass(frozen=True, slots=True)
class Agreed:
    """What was found of an algorithm.

    `runners` passed all checks in `tiers` runners and tiers; `answers`: known answers of the catalogue; `compared`:
    whether outputs were held against another runner's, or taken by it. Pairs of a runner's own allow neither.
    """

    algorithm: str
    runners: tuple[str, ...]
    libraries: tuple[str, ...]
    tiers: int
    cells: int
    answers: int
    compared: bool
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True)
class Agreement:
    """Findings by algorithm; `absent`: runners that do not start; `compared` outputs; `seconds` that it took."""

    algorithms: tuple[Agreed, ...]
    absent: tuple[Failure, ...]
    runners: int
    compared: int
    seconds: float

    @property
    def equal(self) -> bool:
        """Whether nothing differs, and all that is built was asked."""
        return not self.absent and not any(each.failures for each in self.algorithms)


def agree(
    selectors: Sequence[str],
    *,
    cpus: Sequence[str] = (FULL,),
    contracts: Sequence[str] = (),
    sizes: Sequence[int] = SIZES,
    seed: int = 7,
    tell: Callable[[str], None] = lambda _: None,
) -> Agreement:
    """Check all runners that are built, in the tiers `cpus` (globs), under `contracts` (globs; none: the usual ones).

    `selectors`: none means everything; `tell` is given the address under way. Raises EnvironmentLacking, and
    UsageError for a selector that fits nothing.
    """
    require_linux()
    began, catalogue = time.monotonic(), load()
    wanted = [parse_selector(text, catalogue) for text in selectors or ("*/*",)]
    specs = _runners(wanted)
    every = dict.fromkeys(tier for spec in specs for tier in spec.tiers)
    tiers = [tier for tier in every if any(pattern.matches(tier, cpu) for cpu in cpus)]
    surveyed = survey(specs, tiers)
    cells = list(_cells(surveyed, wanted, catalogue, contracts, sizes))
    if not surveyed.failures:
        _require_cells(wanted, cells, surveyed, catalogue)
    absent = list(surveyed.failures)
    with Sessions(surveyed, Policy(cores=choose_cores(), seed=seed, gentle=True)) as sessions:
        for process in dict.fromkeys(cell.process for cell in cells):
            tell("/".join(process[:2]))
            try:
                sessions.start(process)
            except RunnerError as error:
                absent.append(Failure("absent", process[0], f"tier {process[1]}: {error}"))
                cells = [cell for cell in cells if cell.process != process]
        verdicts = Validation(catalogue, sessions, tell).examine(cells)
    algorithms = _by_algorithm(cells, verdicts, surveyed, catalogue)
    return Agreement(
        tuple(algorithms),
        tuple(absent),
        len({cell.runner for cell in cells}),
        verdicts.compared,
        time.monotonic() - began,
    )


def _runners(wanted: Sequence[Selector]) -> list[RunnerSpec]:
    built = built_runners()
    meant: dict[str, RunnerSpec] = {}
    for selector in wanted:
        fitting = {spec.name: spec for spec in built if pattern.matches(spec.name, selector.runner)}
        if not fitting:
            explain_runners([selector])
        meant |= fitting
    return [spec for spec in built if spec.name in meant]


def _require_cells(
    wanted: Sequence[Selector], cells: Sequence[Cell], surveyed: Survey, catalogue: Catalogue
) -> None:
    for selector in wanted:
        if not any(_means(selector, cell) for cell in cells):
            explain_nothing(selector, surveyed, catalogue)


def _cells(
    surveyed: Survey,
    wanted: Sequence[Selector],
    catalogue: Catalogue,
    contracts: Sequence[str],
    sizes: Sequence[int],
) -> Iterable[Cell]:
    """A cell of each offered operation at each size; key pairs from random draws alone have nothing to compare."""
    for (runner, cpu), hello in surveyed.hellos.items():
        for row in hello.operations:
            algorithm = catalogue.algorithms.get(row.algorithm)
            if algorithm is None or algorithm.kind in _UNCHECKED or row.contract.startswith("draw/"):
                continue
            usual = row.contract == catalogue.default_contract(algorithm, row.operation)
            if not (
                any(pattern.matches(row.contract, contract) for contract in contracts) if contracts else usual
            ):
                continue
            own = default_sizes(algorithm)
            multiple = algorithm.data_multiple_bytes
            fitting = [-(-size // multiple) * multiple for size in sizes]
            for size in own if len(own) == 1 else dict.fromkeys(fitting):
                cell = Cell(runner, row.algorithm, row.operation, size, row.contract, cpu)
                if any(_means(selector, cell) for selector in wanted):
                    yield cell


def _means(selector: Selector, cell: Cell) -> bool:
    return pattern.matches(cell.runner, selector.runner) and selector.matches_operation(
        selector.runner, cell.algorithm, cell.operation
    )


def _comparable(cells: Iterable[Cell], *, fixed: bool) -> bool:
    """Whether two runners have an operation whose output says something: `verify` gives none, `keygen` draws it."""
    runners: dict[str, set[str]] = defaultdict(set)
    for cell in cells:
        if cell.operation not in ("verify", "keygen"):
            runners[cell.operation].add(cell.runner)
    return not fixed and any(len(names) > 1 for names in runners.values())


def _by_algorithm(
    cells: Sequence[Cell], verdicts: Verdicts, surveyed: Survey, catalogue: Catalogue
) -> Iterable[Agreed]:
    failures: dict[str, list[Failure]] = defaultdict(list)
    by_address = {cell.address: cell for cell in cells}
    for failure in verdicts.failures:
        if failure.kind == "refused" and "is no multiple of" in failure.message:
            continue  # a stream in whole blocks: it has the other size
        failures[by_address[failure.address].algorithm].append(failure)
    passed: dict[str, list[Cell]] = defaultdict(list)
    for cell in verdicts.passed:
        passed[cell.algorithm].append(cell)
    for algorithm in sorted({cell.algorithm for cell in cells}):
        good = passed[algorithm]
        processes = dict.fromkeys((cell.runner, cell.cpu) for cell in good)
        answers = {
            (answer.source, answer.input)
            for operation in {cell.operation for cell in good}
            for answer in catalogue.known_answers(algorithm, operation)
        }
        yield Agreed(
            algorithm,
            tuple(dict.fromkeys(runner for runner, _ in processes)),
            tuple(dict.fromkeys(surveyed.hellos[process].library for process in processes)),
            len(processes),
            len(good),
            len(answers),
            _comparable(good, fixed=catalogue.find(algorithm).fixed_key),
            tuple(failures[algorithm]),
        )
