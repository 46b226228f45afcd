"""The loaded catalogue, the questions one asks of it, and suites: questions that many ask.

Names are answered without regard to case, and `_` and blanks count as `-`. Known answers are read when first
asked for, so that loading stays a matter of milliseconds.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path

from msgspec import Struct

from perbyte import datafile, places
from perbyte.catalogue import checking, pattern
from perbyte.catalogue.facts import check_facts
from perbyte.catalogue.questions import check_questions, questions
from perbyte.catalogue.reading import hash_content, read_algorithms, read_contracts, read_vectors
from perbyte.catalogue.status import check_statuses, doubted, statuses
from perbyte.errors import DataFileError, UsageError
from perbyte.model import Algorithm, Contract, KnownAnswer

INVERSES = {"decrypt": "encrypt", "open": "seal", "verify": "sign"}
SEARCH_VARIABLE = "PERBYTE_CATALOGUE"


class Catalogue:
    """Algorithms and contracts by id, in the order of their files.

    `place` is the directory itself, `places` it and the directories of the user's own. `version` is a hash of their
    content, 12 hex digits.
    """

    def __init__(
        self,
        places: tuple[Path, ...],
        algorithms: dict[str, Algorithm],
        contracts: dict[str, Contract],
        version: str,
    ) -> None:
        self.places = places
        self.place = places[0]
        self.algorithms = algorithms
        self.contracts = contracts
        self.version = version
        self._vectors: dict[str, tuple[KnownAnswer, ...]] = {}

    def find(self, name: str) -> Algorithm:
        """Return the algorithm whose id or alias `name` is.

        Raises UsageError, with the names that come close, when there is none or when there are several.
        """
        asked = _plain(name)
        known = self.algorithms.get(asked) or self.algorithms.get(self._names.get(asked, ""))
        if known:
            return known
        if several := self._groups.get(asked):
            raise UsageError(
                f"'{name}' means more than one algorithm", hint=f"choose one of {', '.join(several)}"
            )
        raise UsageError(f"the catalogue has no algorithm '{name}'", hint=self._suggest(asked))

    def find_bare(self, name: str) -> Algorithm | None:
        """The algorithm whose id or alias is `name` once hyphens are left out, as SUPERCOP has it; None without."""
        return self._bare.get(name.lower())

    @cached_property
    def _bare(self) -> dict[str, Algorithm]:
        known: dict[str, Algorithm | None] = {}
        for algorithm in self.algorithms.values():
            for name in {text.replace("-", "").lower() for text in (algorithm.id, *algorithm.aliases)}:
                known[name] = algorithm if known.get(name, algorithm) is algorithm else None
        return {name: path for name, path in known.items() if path}

    def match(self, glob: str) -> tuple[str, ...]:
        """Return the ids that `glob` means, in the catalogue's order; empty when it means none.

        A glob (`*`, `?`, `[...]`, `{a,b}`) is compared with ids, and an alternative that fits no id with
        aliases (`3des-*`); an alternative without special characters may be an id, an alias or the name of a group
        (`P-256`). Raises UsageError when braces do not pair up.
        """
        meant: set[str] = set()
        for alternative in pattern.expand_braces(_plain(glob)):
            if pattern.is_pattern(alternative):
                ids = {name for name in self.algorithms if pattern.matches(name, alternative)}
                by_alias = (id_ for name, id_ in self._names.items() if pattern.matches(name, alternative))
                meant |= ids or set(by_alias)
            elif alternative in self._names:
                meant.add(self._names[alternative])
            else:
                meant |= set(self._groups.get(alternative, ()))
        return tuple(name for name in self.algorithms if name in meant)

    def default_contract(self, algorithm: Algorithm | str, operation: str = "") -> str:
        """Return the id of the contract that an algorithm is measured under unless told otherwise.

        An `operation` may have one of its own. Raises UsageError for an unknown name, DataFileError when its kind has
        no default.
        """
        known = self.find(algorithm) if isinstance(algorithm, str) else algorithm
        if own := known.contracts.get(operation, known.contract):
            return own
        for contract in self.contracts.values():
            if known.kind in contract.default_for:
                return contract.id
        raise DataFileError(f"contracts.toml: no contract is the default for kind '{known.kind}'")

    def find_contract(self, name: str) -> Contract:
        """Return the contract `name` means: an id, or a name without version for its newest one.

        Raises UsageError when there is none.
        """
        asked = _plain(name)
        if asked in self.contracts:
            return self.contracts[asked]
        versions = {id_.partition("/")[2]: id_ for id_ in self.contracts if id_.partition("/")[0] == asked}
        if versions:
            return self.contracts[versions[max(versions, key=int)]]
        raise UsageError(
            f"the catalogue has no contract '{name}'", hint=f"choose one of {', '.join(self.contracts)}"
        )

    def known_answers(self, algorithm_id: str, operation: str) -> tuple[KnownAnswer, ...]:
        """Return the known answers of an operation; empty when no standard gives any.

        Those of `decrypt`, `open` and `verify` are those of `encrypt`, `seal` and `sign` turned round, and those
        that stand there for themselves: forgeries, and signatures and letters that nobody can be made to repeat.
        Raises UsageError for an unknown algorithm, DataFileError for a broken file.
        """
        algorithm = self.find(algorithm_id)
        answers = [answer for answer in self.vectors(algorithm.family) if answer.algorithm == algorithm.id]
        forward = INVERSES.get(operation)
        turned = [_turn(answer, operation) for answer in answers if answer.operation == forward]
        return (*turned, *(answer for answer in answers if answer.operation == operation))

    def vectors(self, family: str) -> tuple[KnownAnswer, ...]:
        """Return a family's known answers as they stand in its files; empty when it has no file."""
        if family not in self._vectors:
            files = [place / "vectors" / f"{family}.toml" for place in self.places]
            self._vectors[family] = tuple(
                answer for path in files if path.is_file() for answer in read_vectors(path)
            )
        return self._vectors[family]

    def check(self) -> list[str]:
        """Return what contradicts itself in the catalogue, as sentences; empty when all is well.

        Raises DataFileError for a file of known answers, statuses or questions that cannot be read.
        """
        families = {path.stem for place in self.places for path in place.glob("vectors/*.toml")}
        vectors = {family: self.vectors(family) for family in sorted(families)}
        return [
            *checking.check_algorithms(self.algorithms),
            *checking.check_contracts(self.contracts),
            *checking.check_defaults(self.algorithms, self.contracts),
            *checking.check_vectors(self.algorithms, vectors),
            *check_statuses(statuses(self.place), self.algorithms),
            *check_questions(questions(self.place), self.algorithms, self.contracts),
            *check_facts(self.place, self.algorithms),
        ]

    @cached_property
    def _names(self) -> dict[str, str]:
        names = {_plain(alias): known.id for known in self.algorithms.values() for alias in known.aliases}
        return names | {_plain(name): name for name in self.algorithms}

    @cached_property
    def _groups(self) -> dict[str, tuple[str, ...]]:
        members: dict[str, tuple[str, ...]] = {}
        for known in self.algorithms.values():
            for group in known.groups:
                members[_plain(group)] = (*members.get(_plain(group), ()), known.id)
        return members

    def _sound_first(self, names: Iterable[str]) -> list[str]:
        """`names`, what nobody should be led to last: ECB, and what some authority advises against today."""

        def rank(name: str) -> tuple[bool, bool]:
            algorithm = self.algorithms[name]
            usual = algorithm.kind in ("aead", "hash", "stream-cipher")
            return algorithm.mode == "ecb" or doubted(name), not usual

        return sorted(names, key=rank)

    def _suggest(self, asked: str) -> str:
        import difflib

        near = self._sound_first(name for name in self.algorithms if name.startswith(asked))[:3]
        near = near or self._sound_first(difflib.get_close_matches(asked, self.algorithms, n=4, cutoff=0.6))
        near += [] if near else difflib.get_close_matches(asked, self._names, n=3, cutoff=0.6)
        if not near:
            return "`perbyte list algorithms` shows all of them"
        return f"did you mean {', '.join(dict.fromkeys(near))}? `perbyte list algorithms` shows all"


def read_catalogue(place: Path, own: Sequence[Path] = ()) -> Catalogue:
    """Read the catalogue that lies in the directory `place`, and the user's own algorithms in those of `own`.

    The latter have `algorithms/` and `vectors/` of the same form, and are held to the same rules at once. Raises
    DataFileError.
    """
    for directory in own:
        if not any((directory / name).is_dir() for name in ("algorithms", "vectors")):
            raise DataFileError(
                f"{SEARCH_VARIABLE}: {directory} holds no catalogue",
                hint="a catalogue is a directory with algorithms/*.toml and vectors/*.toml",
            )
    places_ = (place, *own)
    algorithms: dict[str, Algorithm] = {}
    for directory in places_:
        algorithms |= read_algorithms(directory / "algorithms", algorithms)
    contracts = read_contracts(place / "contracts.toml")
    catalogue = Catalogue(places_, algorithms, contracts, hash_content(*places_))
    if own and (complaints := catalogue.check()):
        more = f" (and {len(complaints) - 1} more)" if len(complaints) > 1 else ""
        raise DataFileError(
            f"{SEARCH_VARIABLE}: {complaints[0]}{more}", hint="catalogue/README.md says what each field means"
        )
    return catalogue


def own_places() -> tuple[Path, ...]:
    """The directories that PERBYTE_CATALOGUE names, separated like those of PATH."""
    return tuple(Path(part) for part in os.environ.get(SEARCH_VARIABLE, "").split(os.pathsep) if part)


@cache
def load() -> Catalogue:
    """Return Perbyte's own catalogue with the user's, read once per process.

    Raises DataFileError, EnvironmentLacking.
    """
    return read_catalogue(places.data_dir("catalogue"), own_places())


def _turn(answer: KnownAnswer, operation: str) -> KnownAnswer:
    if operation == "verify":
        return replace(answer, operation=operation, input=answer.input + answer.output, output="")
    return replace(answer, operation=operation, input=answer.output, output=answer.input)


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", "-").replace(" ", "-")


class Cells(Struct, frozen=True, forbid_unknown_fields=True):
    """Algorithms and operations (globs, as in a selector) at sizes in bytes, under a contract where one is named."""

    algorithms: str
    operations: str
    sizes: tuple[int, ...]
    contract: str = ""


class Suite(Struct, frozen=True, forbid_unknown_fields=True):
    """A suite. `answers` is a sentence, `chart` a name that `perbyte report --chart` knows."""

    title: str
    answers: str
    chart: str
    cells: tuple[Cells, ...]
    budget_s: float = 60.0
    runners: tuple[str, ...] = ()

    def selectors(self, runners: tuple[str, ...]) -> tuple[str, ...]:
        """The selectors that ask `runners` (names) for the suite's cells."""
        wanted = [name for name in runners if name in self.runners] if self.runners else list(runners)
        runner = pattern.any_of(wanted or ["*"])
        return tuple(
            f"{runner}/{cells.algorithms}/{cells.operations}@{','.join(map(str, cells.sizes))}"
            + (f"+contract={cells.contract}" if cells.contract else "")
            for cells in self.cells
        )


def suites() -> dict[str, Suite]:
    """All suites by name: Perbyte's own and those in `suites/` of PERBYTE_CATALOGUE. Raises DataFileError."""
    by_name: dict[str, Suite] = {}
    for place in (places.data_dir("catalogue"), *own_places()):
        for path in sorted(place.glob("suites/*.toml")):
            if path.stem in by_name:
                raise DataFileError(
                    f"{path}: there is a suite '{path.stem}' already", hint="give it another name"
                )
            by_name[path.stem] = datafile.read_toml(path, Suite)
    return by_name


def find_suite(name: str) -> Suite:
    """Return the suite called `name`. Raises UsageError when there is none."""
    known = suites()
    if name not in known:
        raise UsageError(
            f"there is no suite '{name}'", hint=f"there are: {', '.join(known)}; see perbyte list suites"
        )
    return known[name]
