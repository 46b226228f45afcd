"""The plan: which cells a run measures, drawn from selectors and from what the runners really offer.

Each runner is started once per CPU tier and asked: the answer comes from its own dispatch table. One that is absent
or broken is a failure that is shown, never the end of the others.

A plan never holds a cell that no runner has; what was asked for and cannot be had is a failure that is
shown. The A/A pairs are part of the plan: some cells of one runner are measured by a second process of the
same runner as if it were another, and what lies between the two is the run's noise floor.
"""

from __future__ import annotations

import dataclasses
import difflib
import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from perbyte.catalogue import Catalogue, Selector, load, pattern
from perbyte.errors import PerbyteError, UsageError
from perbyte.model import Algorithm, Cell, Failure, Row
from perbyte.model.cell import DISK, FULL, LOOP, STATES
from perbyte.protocol.messages import HelloAnswer, Operation
from perbyte.runners import RunnerSpec, find, locate, not_built, stale
from perbyte.runners.session import Session
from perbyte.runners.versions import pinned_by

DEFAULT_SIZES = (16, 512, 8192)
TWIN_SHARE = 4  # one cell in so many gets a twin
TWIN_LEAST, TWIN_CELLS = 3, 8  # but no fewer than these, and no more
TWIN_MAX_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for. None: not said. Sizes in bytes; a selector's own parts win over the general ones."""

    selectors: tuple[Selector, ...]
    sizes: tuple[int, ...] | None = None
    operations: tuple[str, ...] | None = None
    contracts: tuple[str, ...] | None = None
    cpus: tuple[str, ...] | None = None
    states: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """`cells` in a fixed order, `twins` the A/A cells (twin=1) that ride along, `failures` what is not to be had.

    `wanted`: runners for which all is measured; where none of their cells is left, nothing else is measured either.
    """

    cells: tuple[Cell, ...]
    twins: tuple[Cell, ...] = ()
    failures: tuple[Failure, ...] = ()
    wanted: tuple[str, ...] = ()

    @property
    def everything(self) -> tuple[Cell, ...]:
        """All cells that are measured."""
        return self.cells + self.twins

    def of_use(self, cells: list[Cell]) -> list[Cell]:
        """Return `cells`, or none where those for which all is measured are not among them."""
        return cells if not self.wanted or any(cell.runner in self.wanted for cell in cells) else []


def wanted_cpus(request: Request, tiers: Iterable[str]) -> tuple[str, ...]:
    """The CPU tiers a survey must ask for: those named in the request; all of `tiers` for globs."""
    named: list[str] = []
    for selector in request.selectors:
        for cpu in selector.cpus or request.cpus or (FULL,):
            named += list(tiers) if "*" in cpu else [cpu]
    return tuple(dict.fromkeys(named)) or (FULL,)


def may_be_meant(selectors: Iterable[Selector], name: str) -> bool:
    """False where a runner's name alone tells that no selector can mean it."""
    return any(selector.versions or pattern.matches(name, selector.runner) for selector in selectors)


def may_mean(selector: Selector, spec: RunnerSpec) -> bool:
    """True when `selector` can mean this runner; where it names versions, builds of the same library count as well."""
    names = {spec.name, *((spec.build_of, pinned_by(spec)) if selector.versions else ())} - {""}
    meant = any(pattern.matches(name, selector.runner) for name in names)
    return meant and not left_out(selector.runner, spec)


def _is_version(version: str, asked: str) -> bool:
    """`3.0.22` is a version 3.0 and 3, `3.0` is none of 3.00."""
    return asked == "*" or version == asked or version.startswith((f"{asked}.", f"{asked}-"))


def left_out(runner_glob: str, spec: RunnerSpec) -> bool:
    """True for an opt-in runner when nothing more than `*` was said: it takes minutes to build or to warm up."""
    return spec.opt_in and runner_glob == "*"


def find_cells(request: Request, *, lenient: bool = False) -> tuple[Plan, Survey]:
    """Survey the runners that the request can mean and draw the plan; `lenient` and errors as of `draw_plan`."""
    specs = [
        spec
        for spec in _ready(locate(named=partial(may_be_meant, request.selectors)))
        if any(may_mean(selector, spec) for selector in request.selectors)
    ]
    if not specs:
        built_runners()  # raises where nothing is built at all
        explain_runners(request.selectors)
    tiers = list(dict.fromkeys(tier for spec in specs for tier in spec.tiers))
    cpus = wanted_cpus(request, tiers)
    unknown = not lenient and [cpu for cpu in cpus if cpu not in tiers and "*" not in cpu]
    if unknown:
        raise UsageError(f"no CPU tier '{unknown[0]}'", hint=f"there are: {', '.join(tiers)}")
    # `full` is asked as well: tiers are proved by comparison with it
    surveyed = survey(specs, list(dict.fromkeys([*cpus, FULL])))
    return draw_plan(request, surveyed, load(), lenient=lenient), surveyed


def draw_plan(
    request: Request, survey: Survey, catalogue: Catalogue, *, twins: bool = True, lenient: bool = False
) -> Plan:
    """Draw the plan. Raises UsageError when a selector fits nothing at all, saying what comes near.

    With `lenient` such a selector becomes a failure of the plan instead, so that what nobody provides is shown.
    """
    cells: dict[Cell, None] = {}
    failures: list[Failure] = list(survey.failures)
    for selector in request.selectors:
        drawn, refused = _cells_of(selector, request, survey, catalogue)
        if not drawn and not refused and lenient:
            refused = [Failure("unsupported", selector.runner, f"no runner here offers '{selector.text}'")]
        elif not drawn and not refused:
            explain_nothing(selector, survey, catalogue)
        cells |= dict.fromkeys(drawn)
        failures += refused
    chosen = tuple(cells)
    if not chosen and (unfit := [failure for failure in failures if failure.address]):
        raise UsageError(
            f"nothing is left to measure: {unfit[0].message}",
            hint="'perbyte list algorithms' shows the block sizes",
        )
    return Plan(chosen, choose_twins(chosen) if twins else (), tuple(failures))


def _cells_of(
    selector: Selector, request: Request, survey: Survey, catalogue: Catalogue
) -> tuple[list[Cell], list[Failure]]:
    cells: list[Cell] = []
    failures: list[Failure] = []
    sizes = selector.sizes or request.sizes
    named = selector.states or request.states or (LOOP,)
    states = [*dict.fromkeys(state for name in named for state in _states(name))]
    meant = {
        process: hello
        for process, hello in survey.hellos.items()
        if may_mean(selector, survey.specs[process[0]])
    }
    for version in selector.versions:
        if not any(_is_version(hello.library_version, version) for hello in meant.values()):
            message = f"no build of {selector.runner} here has version {version} (perbyte list runners)"
            failures.append(Failure("absent", selector.runner, message))
    if selector.versions:
        meant = {
            process: hello
            for process, hello in meant.items()
            if any(_is_version(hello.library_version, version) for version in selector.versions)
        }
    # sizes and states are chosen here: one cell of a row speaks for all
    asked = dataclasses.replace(selector, cpus=selector.cpus or request.cpus, sizes=None, states=None)
    for (runner, cpu), hello in meant.items():
        for row in hello.operations:
            algorithm = catalogue.algorithms.get(row.algorithm)
            if (
                algorithm is None
                or not selector.matches_operation(selector.runner, row.algorithm, row.operation)
                or (request.operations and row.operation not in request.operations)
            ):
                continue
            usual = (catalogue.default_contract(algorithm, row.operation),)
            contracts = selector.contracts or request.contracts or usual
            any_size = Cell(runner, row.algorithm, row.operation, 0, row.contract, cpu)
            if not dataclasses.replace(asked, runner=runner, contracts=contracts).matches(any_size):
                continue
            for size, state in itertools.product(sizes or default_sizes(algorithm), states):
                cell = dataclasses.replace(any_size, size_bytes=size, state=state)
                if why := _unfit(cell, algorithm):
                    failures.append(Failure("unsupported", runner, why, address=cell.address))
                else:
                    cells.append(cell)
    return cells, failures


def _unfit(cell: Cell, algorithm: Algorithm) -> str:
    if cell.size_bytes % algorithm.data_multiple_bytes:
        return f"{cell.size_bytes} bytes is not a multiple of {algorithm.data_multiple_bytes}"
    if cell.drawn and cell.state != LOOP:
        return f"calls that vary at random are single calls already: they have no state {cell.state}"
    return ""


def _states(name: str) -> Iterable[str]:
    known = [state for state in STATES if state != DISK]  # which needs a file
    return [state for state in known if pattern.matches(state, name)] if pattern.is_pattern(name) else [name]


def default_sizes(algorithm: Algorithm) -> tuple[int, ...]:
    """Sizes in bytes that are measured where none were asked for."""
    if algorithm.kind in ("signature", "kem", "key-agreement", "handshake"):
        return (32,)
    sizes: dict[str, tuple[int, ...]] = {"password-hash": (16,), "kdf": (32, 512), "probe": (1024,)}
    sizes["records"] = (1024, 16384)
    return sizes.get(algorithm.kind, DEFAULT_SIZES)


def explain_nothing(selector: Selector, survey: Survey, catalogue: Catalogue) -> None:
    """Raise UsageError for a selector that fits nothing that `survey` found, and say what comes near."""
    try:
        algorithms = selector.algorithms(catalogue)
    except UsageError as error:
        near = difflib.get_close_matches(selector.algorithm, survey.specs, 1)
        raise UsageError(
            str(error), hint=f"did you mean the runner '{near[0]}/*'?" if near else error.hint
        ) from error
    offered = {
        (f"{runner}/{row.algorithm}", row.operation, row.contract)
        for (runner, _), hello in survey.hellos.items()
        for row in hello.operations
        if row.algorithm in algorithms
    }
    runners = sorted({runner for runner, _ in survey.hellos})
    if not runners:
        why = "".join(f"; {failure.runner}: {failure.message}" for failure in survey.failures[:3])
        raise UsageError(
            f"no runner answers{why}",
            hint="run 'perbyte doctor' to see why, and 'perbyte build' to build them",
        )
    if not offered:
        unasked_specs = [spec for spec in built_runners() if left_out(selector.runner, spec)]
        opt_in = [spec.name for spec in unasked_specs if {*algorithms} & {*spec.known_algorithms}]
        unasked = f"; '?*' also asks {', '.join(opt_in)}" if opt_in else ""
        hint = f"perbyte list providers {algorithms[0]} names who has it, and what builds that{unasked}"
        what = f"no {', '.join(algorithms[:5])} in {', '.join(runners)}"
        raise UsageError(f"'{selector.text}': {what}", hint=hint)
    names = sorted({name for name, _, _ in offered})
    operations = ", ".join(sorted({operation for _, operation, _ in offered}))
    contracts = ", ".join(sorted({contract for _, _, contract in offered}))
    asked = f"'*/{selector.algorithm}'" if len(names) > 1 else names[0]
    raise UsageError(
        f"'{selector.text}' fits no cell",
        hint=f"there is {', '.join(names[:8])} with {operations} under the contracts {contracts}; "
        f"in detail: perbyte list operations {asked}",
    )


def choose_twins(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """Choose the A/A cells: up to 8 of the process that has most, spread over its list; deterministic.

    Short calls only: a twin of a call that lasts long would cost as much as a library. Calls whose cost varies at
    random do not tell by how much two processes differ.
    """
    short = [
        cell for cell in cells if cell.size_bytes <= TWIN_MAX_BYTES and cell.state == LOOP and not cell.drawn
    ]
    if not short:
        return ()
    most, _ = Counter(cell.process for cell in short).most_common(1)[0]
    of_process = [cell for cell in short if cell.process == most]
    count = min(TWIN_CELLS, max(TWIN_LEAST, len(cells) // TWIN_SHARE))
    step = max(1, len(of_process) // count)
    return tuple(dataclasses.replace(cell, twin=1) for cell in of_process[::step][:count])


@dataclass(frozen=True, slots=True)
class Survey:
    """`hellos` maps (runner, CPU tier) to its hello; `failures` tells of those that did not answer."""

    specs: Mapping[str, RunnerSpec]
    hellos: Mapping[tuple[str, str], HelloAnswer]
    failures: tuple[Failure, ...] = ()

    def operations(self, runner: str, cpu: str) -> list[Operation]:
        """The operations of one runner in one tier; empty when it did not answer."""
        hello = self.hellos.get((runner, cpu))
        return list(hello.operations) if hello else []

    def operation(self, row: Row) -> Operation | None:
        """What a hello says about one row, or None."""
        for offered in self.operations(row.runner, row.cpu):
            if (offered.algorithm, offered.operation, offered.contract) == row[2:]:
                return offered
        return None


def survey(specs: Iterable[RunnerSpec], cpus: Sequence[str]) -> Survey:
    """Ask every runner in every tier of `cpus` that it has. Takes tens of milliseconds each, in parallel."""
    specs = list(specs)
    outdated = [spec.name for spec in specs if stale(spec)]
    wanted = [(spec, cpu) for spec in specs if spec.name not in outdated for cpu in cpus if cpu in spec.tiers]
    because = "it was built from other sources than those that are here"
    failures = [Failure("absent", name, f"{because} (run: perbyte build {name})") for name in outdated]
    hellos: dict[tuple[str, str], HelloAnswer] = {}
    with ThreadPoolExecutor(max_workers=4) as pool:
        for (spec, cpu), answer in zip(wanted, pool.map(_ask, wanted), strict=True):
            if isinstance(answer, HelloAnswer):
                hellos[spec.name, cpu] = answer
            else:
                failures.append(answer)
    return Survey({spec.name: spec for spec in specs}, hellos, tuple(failures))


def _ask(wanted: tuple[RunnerSpec, str]) -> HelloAnswer | Failure:
    spec, cpu = wanted
    try:
        with Session(spec, cpu=cpu) as session:
            return session.hello()
    except PerbyteError as error:
        text = f"{error} ({error.hint})" if error.hint else str(error)
        return Failure(kind="absent", runner=spec.name, message=f"tier {cpu}: {text}")


def built_runners(names: Sequence[str] = ()) -> list[RunnerSpec]:
    """The runners that can be started: all that are built, of `names` where given.

    Raises EnvironmentLacking when there is none, UsageError for an unknown name.
    """
    ready = _ready([find(name) for name in names] if names else locate())
    if not ready:
        raise not_built()
    return ready


def _ready(specs: Iterable[RunnerSpec]) -> list[RunnerSpec]:
    return [spec for spec in specs if not spec.built or spec.out().is_dir()]


def explain_runners(selectors: Sequence[Selector]) -> None:
    """Raise UsageError for selectors that mean no runner that is built, and say which comes near."""
    known = {spec.name: spec for spec in locate(unlisted=True)}
    for selector in selectors:
        if selector.runner in known:
            raise not_built(selector.runner)
    asked = ", ".join(selector.runner for selector in selectors)
    names = ", ".join(sorted(name for name, spec in known.items() if spec.listed))
    near = difflib.get_close_matches(asked, known, 1)
    meant = f"did you mean '{near[0]}'? " if near else ""
    raise UsageError(f"no runner is called '{asked}'", hint=f"{meant}there are: {names}")
