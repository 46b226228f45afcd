"""A whole tree in SUPERCOP's layout, primitive by primitive: each implementation has a figure, or one reason."""

from __future__ import annotations

import datetime
import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from perbyte import places
from perbyte.app.listener import NOBODY, Listener
from perbyte.app.supercop import (
    MEASURED,
    Made,
    Way,
    build_group,
    held_to_reference,
    judged,
    tree_sizes,
    unmade,
    ways_of,
)
from perbyte.app.trying.bench import Bench
from perbyte.app.trying.clock import CALL_S, Clock
from perbyte.catalogue import load
from perbyte.errors import PerbyteError, UsageError
from perbyte.model import Algorithm, Policy, Run
from perbyte.runners import locate
from perbyte.trial.supercop import (
    FLAGS,
    OPERATIONS,
    Implementation,
    algorithm_of,
    find_implementations,
    own_id,
    primitives_of,
)
from perbyte.trial.supercop_own import describe_primitives, expected_checksums
from perbyte.trial.supercop_record import Journal, VariantOutcome, data_lines, failure_line, prefix, try_line

EPOCHS = 3


@dataclass(frozen=True, slots=True)
class TreeJob:
    """What is asked of a tree, built and measured primitive by primitive; what became of each is in the journal.

    `groups`: implementations by operation and primitive. `left`: how many primitives there are of each operation that
    nothing here can call. `sizes` are in bytes.
    """

    version: str
    groups: Mapping[tuple[str, str], Sequence[Implementation]]
    ways: Sequence[Way]
    journal: Journal
    left: Mapping[str, int]
    sizes: tuple[int, ...] | None
    budget_s: float
    gentle: bool
    listener: Listener = NOBODY
    date: str = field(default_factory=lambda: f"{datetime.datetime.now(datetime.UTC):%Y%m%d}")

    def done(self, group: Sequence[Implementation]) -> bool:
        """True where each implementation has an outcome in each way."""
        wanted = {_key(implementation, way) for implementation in group for way in self.ways}
        return wanted <= set(self.journal.outcomes)

    def carry_out(self, group: Sequence[Implementation]) -> list[VariantOutcome]:
        """Build and measure a primitive; what goes wrong with it is its outcome."""
        run, algorithm = None, None
        try:
            algorithm = algorithm_of(group[0], None)
            made, run = self._measured(group, algorithm)
            if own := self._another(group, algorithm, made, run):
                made, run = self._measured(group, own)
                unlike = f"; not the catalogue's {algorithm.id}, by its known answers"
                for at, program in enumerate(made):
                    if program.word == MEASURED:
                        made[at] = replace(program, detail=program.detail + unlike)
        except (PerbyteError, OSError) as error:
            word = "cannot be built" if algorithm else "not known"
            made = [
                unmade(implementation, way, implementation.name, word, _line(str(error)))
                for implementation in group
                for way in self.ways
            ]
        start = prefix(self.version, self.date, group[0].operation, group[0].primitive)
        outcomes, lines = [self._outcome(program, run) for program in made], []
        for program, outcome in zip(made, outcomes, strict=True):
            if run and outcome.word == MEASURED:
                lines += [try_line(start, outcome), *_figures(start, program, outcome, run)]
            else:
                lines.append(failure_line(start, outcome))
        self.journal.add(outcomes, lines)
        return outcomes

    @staticmethod
    def _another(
        group: Sequence[Implementation], algorithm: Algorithm, made: Sequence[Made], run: Run | None
    ) -> Algorithm | None:
        """The primitive by itself, where all that give the tree's checksums give other answers than the catalogue's.

        Primitives and standards may share a name: CAESAR's AEGIS is not that of the later draft.
        """
        fitting = [program for program in made if program.spec and "fits" in program.detail]
        own = load().algorithms.get(own_id(group[0]))
        if not run or not fitting or not own or own == algorithm:
            return None
        return own if all(judged(program, run)[0] == "wrong" for program in fitting) else None

    def _measured(
        self, group: Sequence[Implementation], algorithm: Algorithm
    ) -> tuple[list[Made], Run | None]:
        sizes = tree_sizes(algorithm, self.sizes)
        taken = {spec.name for spec in locate()}
        gated = algorithm.family == "supercop"
        made = build_group(group, algorithm, self.ways, sizes[0], taken, gated=gated)
        run = self._run(made, algorithm, sizes)
        if run and (undisputed := held_to_reference(made, run)):
            made, run = undisputed, self._run(undisputed, algorithm, sizes)
        return made, run

    def _run(self, made: Sequence[Made], algorithm: Algorithm, sizes: tuple[int, ...]) -> Run | None:
        specs = [program.spec for program in made if program.spec]
        if not specs:
            return None
        policy, clock = Policy(epochs=EPOCHS, gentle=self.gentle), Clock(self.budget_s)
        bench = Bench(specs, [], algorithm, sizes, policy, CALL_S, clock, self.listener)
        return bench.measure(fresh=True)[0]

    def _outcome(self, program: Made, run: Run | None) -> VariantOutcome:
        word, detail = judged(program, run) if run else (program.word, program.detail)
        figures: dict[str, Sequence[float]] = {}
        for figure in run.cells if run and word == MEASURED else ():
            if figure.cell.runner == program.name:
                where = f"{figure.cell.operation}@{figure.cell.size_bytes} {figure.cell.contract}"
                ends = (figure.interval.low, figure.interval.high)
                figures[where] = (figure.cycles_per_call or 0.0, figure.ns_per_call, *ends)
        if word == MEASURED and not figures:
            word, detail = "no figure", detail or "the run gave none"
        fitting = expected_checksums(program.implementation) if "fits" in program.detail else ""
        used = program.used or program.way
        asked = program.way.word if used != program.way else ""
        return VariantOutcome(
            *_key(program.implementation, used), word, _line(detail), fitting, figures, asked
        )


def _key(implementation: Implementation, way: Way) -> tuple[str, str, str, str]:
    return implementation.operation, implementation.primitive, implementation.name, way.word


def _figures(start: str, program: Made, outcome: VariantOutcome, run: Run) -> list[str]:
    identities, cells = run.conditions.identities, run.cells
    compilers = [identity.compiler for identity in identities if identity.runner == program.name]
    figures = [figure for figure in cells if figure.cell.runner == program.name]
    return data_lines(start, outcome, figures, compilers[0] if compilers else "-")


def _line(text: str) -> str:
    return " ".join(text.split())[:400]


def open_tree(
    place: Path, primitives: Sequence[str], out: Path | None, *, every_compiler: bool, **how: Any
) -> TreeJob:
    """The primitives of a tree that are meant (all without a name), their journal in `out`; `how` as TreeJob has it.

    Raises UsageError where none is called so, or the tree has no list of compilers that are here.
    """
    every = find_implementations([place])
    groups: dict[tuple[str, str], list[Implementation]] = {}
    for entry in every:
        if _meant(entry.operation, entry.primitive, primitives):
            groups.setdefault((entry.operation, entry.primitive), []).append(entry)
    if not groups:
        raise UsageError(
            f"{place}: no primitive is called {', '.join(primitives)}",
            hint="sha256, crypto_hash/sha256 or 'crypto_hash/*'",
        )
    root = every[0].tree
    file = root / "version"
    text = file.read_text(encoding="utf-8", errors="replace").strip() if file.is_file() else ""
    version = text if text.isalnum() else root.name
    ways = ways_of(root) if every_compiler else [Way(FLAGS)]
    if not ways:
        raise UsageError(f"{root} has no list of compilers that are here", hint="leave --compilers out")
    journal = Journal(out or places.runs_home().parent / "supercop" / version)
    describe_primitives(every, journal.place / "catalogue")
    left = {name: count for name, count in primitives_of(root).items() if name not in OPERATIONS}
    return TreeJob(version, groups, ways, journal, left, **how)


def _meant(operation: str, primitive: str, patterns: Sequence[str]) -> bool:
    names = (primitive, f"crypto_{operation}", f"crypto_{operation}/{primitive}")
    return not patterns or any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns for name in names)
