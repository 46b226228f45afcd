"""Rows asked about data of other lengths than the run's: what works on these alone was made for a benchmark."""

from __future__ import annotations

import random
import secrets
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from perbyte.catalogue import Catalogue
from perbyte.errors import RunnerRefused
from perbyte.measure.answers import ELSEWHERE, Answers, Asked
from perbyte.measure.looks import MOST_BYTES, Looks, problem, question
from perbyte.measure.sessions import Sessions
from perbyte.model import Cell

# lengths of data that no cell of the run has, of a block at the least
BLOCK_BYTES, SHORTER, LONGER = 16, 4096, ((1 << 20) + 1, (1 << 20) + 65536)
# HKDF gives at most 255 digests (RFC 5869), so calls on other lengths than the cell's may fail rightly; a state has one
# length, and its words may have to lie aligned; a user's benchmark takes what it takes
OF_ONE_LENGTH = ("expand", "permute", "run")
CHANCE = random.SystemRandom()


class Elsewhere:
    """Which rows were tried where, which were not yet on long data, and which did not work on a length."""

    def __init__(self, catalogue: Catalogue, looks: Looks, answers: Answers) -> None:
        self._catalogue = catalogue
        self._looks = looks
        self._answers = answers
        self.tried: set[Asked] = set()
        self.untried: dict[Asked, list[Cell]] = defaultdict(list)
        self._refused: dict[Asked, set[Cell]] = defaultdict(set)

    def shortest(self, cell: Cell) -> int:
        """The least length that a row is tried on."""
        return max(BLOCK_BYTES, self._catalogue.find(cell.algorithm).data_multiple_bytes)

    def ask(self, sessions: Sessions, cell: Cell, least: int, most: int) -> str:
        """Make a short chain on data of another length, and at odd addresses, for one cell of a row.

        Returns what is wrong with that by itself; whether runners agree is compared later. Raises RunnerError.
        """
        once = cell.runner, cell.algorithm, cell.operation, most
        if cell.operation in OF_ONE_LENGTH or (most > MOST_BYTES and once in self.tried):
            return ""  # a mebibyte takes milliseconds: once for all tiers and contracts
        self.tried.add(once)
        session, asked = sessions.of(cell), (*question(replace(cell, size_bytes=most)), ELSEWHERE)
        multiple = self._catalogue.find(cell.algorithm).data_multiple_bytes
        size = self._answers.lengths.setdefault(asked, CHANCE.randrange(least, most) // multiple * multiple)
        seed, calls = self._looks.drawn.setdefault(asked, (secrets.randbits(64), 1 + (most <= MOST_BYTES)))
        try:  # by another seed than the chain's, whose first nonce would be the prepared one again
            handle = session.prepare(
                cell.algorithm, cell.operation, cell.contract, size, seed=seed ^ 1, offset=seed % 1024 | 1
            )
        except RunnerRefused:
            self._refused[asked].add(cell)  # not every operation takes every length
            return ""
        try:
            chained = session.audit(handle, seed=seed, calls=calls)
        except RunnerRefused:
            return ""
        finally:
            session.release(handle)
        if chained.answer.failures:
            self._refused[asked].add(cell)  # a library may refuse a length that no cell has
            return ""
        if wrong := problem(chained):
            return f"{wrong} on {size} bytes"
        self._answers.remember(asked, cell, chained.answer.digest)
        return ""

    def refusals(self, sessions: Sessions) -> Iterator[tuple[Cell, str]]:
        """Rows that did not work on a length where another library did, each once, with why it matters."""
        for asked, refusing in self._refused.items():
            alive = [cell for cell in self._answers.of(asked) if sessions.runs(cell.process)]
            took = {sessions.of(cell).identity().library for cell in alive}
            for cell in [each for each in refusing if sessions.runs(each.process)]:
                if not took - {sessions.of(cell).identity().library}:
                    continue
                refusing.discard(cell)
                yield cell, f"it does not work on {self._answers.lengths[asked]} bytes, which others take"
