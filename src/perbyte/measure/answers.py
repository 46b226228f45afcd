"""What runners gave on the same new data: held against each other, and against hashlib where it can tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from perbyte.catalogue import Catalogue
from perbyte.measure.sessions import Sessions
from perbyte.measure.settled import known_digest
from perbyte.measure.validation import find_wrong
from perbyte.model import Cell, Policy

ELSEWHERE = -1  # in place of the epoch, of what is asked once a run
Asked = tuple[object, ...]
"""What was asked, and in which epoch."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """`cell` gave something else than `others`; of `everywhere` it was asked once for all cells of the row."""

    cell: Cell
    kind: str
    message: str
    everywhere: bool


class Answers:
    """Digests by what was asked. `lengths` of data that no cell has, `convicted` the runners that computed wrongly."""

    def __init__(self, policy: Policy, catalogue: Catalogue, drawn: Mapping[Asked, tuple[int, int]]) -> None:
        """`drawn`: seed and calls of each question."""
        self._policy = policy
        self._catalogue = catalogue
        self._drawn = drawn
        self._digests: dict[Asked, dict[Cell, str]] = {}
        self.lengths: dict[Asked, int] = {}
        self.convicted: set[str] = set()

    def of(self, asked: Asked) -> Mapping[Cell, str]:
        """What was given to a question."""
        return self._digests.get(asked, {})

    def remember(self, asked: Asked, cell: Cell, digest: str) -> None:
        """Keep an answer that other runners must give too: nothing drawn at random, no key pair of the runner's own."""
        known = self._catalogue.find(cell.algorithm)
        if not known.fixed_key and cell.operation not in known.randomised:
            self._digests.setdefault(asked, {})[cell] = digest

    def disagreements(self, sessions: Sessions) -> Iterator[Disagreement]:
        """Who gave something else than others. Who was found wrong by itself has no vote."""
        for asked, answers in self._digests.items():
            alive = {cell: digest for cell, digest in answers.items() if sessions.runs(cell.process)}
            if len(set(alive.values())) < 2:
                continue
            size = self.lengths.get(asked, next(iter(alive)).size_bytes)
            known = self._known(asked, next(iter(alive)), size)
            if known in alive.values():
                wrong = [(c, "incorrect", "hashlib of CPython") for c, d in alive.items() if d != known]
            else:
                trusted = {c: d for c, d in alive.items() if c.runner not in self.convicted}
                wrong = find_wrong(trusted if trusted else alive, sessions)
            for cell, kind, others in wrong:
                self.convicted |= {cell.runner} if kind == "incorrect" else set()
                message = f"disagrees with {others} on data of {size} bytes that nobody knew before"
                yield Disagreement(cell, kind, message, asked[-1] == ELSEWHERE)
        # what rows were tried on elsewhere is compared in later epochs too
        self._digests = {asked: given for asked, given in self._digests.items() if asked[-1] == ELSEWHERE}

    def _known(self, asked: Asked, cell: Cell, size: int) -> str | None:
        """What hashlib gives for a chain; None where it does not know the algorithm."""
        seed, calls = self._drawn[asked]
        key_seed = seed ^ 1 if asked[-1] == ELSEWHERE else self._policy.seed
        asked_of = replace(cell, size_bytes=size)
        return known_digest(asked_of, self._catalogue.find(cell.algorithm), seed, calls, key_seed=key_seed)
