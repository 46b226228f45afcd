"""Selectors: cell addresses with globs, as they are typed on the command line and written into studies.

    [[runner[@version]/]algorithm[/operation]][@size,size...][+contract=...][+cpu=...][+twin=...][+state=...]

`openssl/aes-*-cbc/*@16,8192`, `*/sha-256`, `*/aes-128-ctr+cpu=soft,full`, and a bare `aes-128-cbc`, which
means `*/aes-128-cbc`. Every address that `Cell.address` prints is a selector of exactly that cell. For that
reason an absent CPU tier means `full`, an absent twin the first process and an absent state a loop, as they do in
addresses; `+cpu=*`, `+twin=*` and `+state=*` mean any. Absent sizes and contracts mean any.
`openssl@{3.0,4.0}/sha-256` asks for builds of a library by their versions, which only a survey of runners knows.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from fractions import Fraction

from perbyte.catalogue import pattern
from perbyte.catalogue.catalogue import Catalogue, load
from perbyte.catalogue.checking import OPERATIONS
from perbyte.errors import UsageError
from perbyte.model import Cell
from perbyte.model.cell import FULL, LOOP, STATES, is_state

_OPTIONS = ("contract", "cpu", "twin", "state")
_EXAMPLE = "a selector looks like 'openssl/aes-*-cbc/encrypt@16,8192+contract=message/1+cpu=soft'"
_ANY = -1
_VERSIONS = re.compile(r"(?P<runner>[^/@+]+)@(?P<versions>[^/+]*)/")


@dataclass(frozen=True, slots=True)
class Selector:
    """What was asked for: `sizes` (bytes), `contracts`, `cpus`, `twin` and `states` are None where nothing was said.

    `algorithm` holds ids where aliases were typed; `twin` is -1 for `+twin=*`. `contracts` and `cpus` may
    hold globs. `versions` (such as 3.0) are of builds of the library that
    `runner` names. Nothing here is compared with what exists: a selector may well match nothing.
    """

    text: str
    runner: str = "*"
    algorithm: str = "*"
    operation: str = "*"
    sizes: tuple[int, ...] | None = None
    contracts: tuple[str, ...] | None = None
    cpus: tuple[str, ...] | None = None
    twin: int | None = None
    versions: tuple[str, ...] = ()
    states: tuple[str, ...] | None = None

    def matches(self, cell: Cell) -> bool:
        """True when `cell` is among what was asked for."""
        return (
            self.matches_operation(cell.runner, cell.algorithm, cell.operation)
            and (self.sizes is None or cell.size_bytes in self.sizes)
            and (
                self.contracts is None
                or any(pattern.matches(cell.contract, wanted) for wanted in self.contracts)
            )
            and any(pattern.matches(cell.cpu, wanted) for wanted in self.cpus or (FULL,))
            and (self.twin == _ANY or cell.twin == (self.twin or 0))
            and any(pattern.matches(cell.state, wanted) for wanted in self.states or (LOOP,))
        )

    def expand(self) -> tuple[Selector, ...]:
        """Take the alternatives apart: one selector per runner, algorithm, operation, size, contract and CPU tier.

        Globs stay. Raises UsageError when sizes or contracts are left open.
        """
        if self.sizes is None:
            raise UsageError(f"selector '{self.text}' names no sizes", hint="add them: @16,8192")
        if self.contracts is None:
            raise UsageError(f"selector '{self.text}' names no contract", hint="add one: +contract=stream/1")
        choices = itertools.product(
            pattern.expand_braces(self.runner),
            pattern.expand_braces(self.algorithm),
            pattern.expand_braces(self.operation),
            self.sizes,
            self.contracts,
            self.cpus or (FULL,),
        )
        return tuple(
            Selector(
                Cell(runner, algorithm, operation, size, contract, cpu).address,
                *(runner, algorithm, operation, (size,), (contract,), (cpu,)),
            )
            for runner, algorithm, operation, size, contract, cpu in choices
        )

    @property
    def cell(self) -> Cell:
        """The cell of an expanded selector; globs stand in it as they are."""
        sizes, contracts = self.sizes or (0,), self.contracts or ("",)
        cpu = (self.cpus or (FULL,))[0]
        return Cell(self.runner, self.algorithm, self.operation, sizes[0], contracts[0], cpu)

    @property
    def literal(self) -> bool:
        """True when an expanded selector holds no glob, so that it means exactly one cell."""
        cell = self.cell
        names = (cell.runner, cell.algorithm, cell.operation, cell.contract, cell.cpu)
        return not any(pattern.is_pattern(name) for name in names)

    def matches_operation(self, runner: str, algorithm: str, operation: str) -> bool:
        """True when this operation of a runner is among what was asked for, sizes and options aside."""
        return (
            pattern.matches(algorithm.lower(), self.algorithm)
            and pattern.matches(runner, self.runner)
            and pattern.matches(operation, self.operation)
        )

    def algorithms(self, catalogue: Catalogue | None = None) -> tuple[str, ...]:
        """Return the ids of the catalogue that are asked for.

        Raises UsageError, with the names that come close, when there are none.
        """
        catalogue = catalogue or load()
        if matches := catalogue.match(self.algorithm):
            return matches
        if pattern.is_pattern(self.algorithm):
            raise UsageError(
                f"selector '{self.text}': no algorithm fits '{self.algorithm}'",
                hint="`perbyte list algorithms` shows all of them",
            )
        try:
            return (catalogue.find(self.algorithm).id,)
        except UsageError as error:
            hint = error.hint
            if "/" not in self.text.partition("+")[0]:
                hint = f"{hint}; a runner is selected with a slash, as in 'openssl/*'"
            raise UsageError(f"selector '{self.text}': {error}", hint=hint) from error


def parse_selector(text: str, catalogue: Catalogue | None = None) -> Selector:
    """Parse a selector; the catalogue (Perbyte's own by default) resolves aliases and contract names.

    Raises UsageError naming the part that is wrong. Names that the catalogue does not know are let through,
    because stored runs may hold them; `Selector.algorithms` is stricter.
    """
    try:
        return _parse(text.strip(), catalogue or load())
    except UsageError as error:
        raise UsageError(f"selector '{text}': {error}", hint=error.hint or _EXAMPLE) from error


def _parse(text: str, catalogue: Catalogue) -> Selector:
    rest, versions = _parse_versions(text)
    address, *options = rest.split("+")
    path, at, sizes = address.partition("@")
    if at and not sizes:
        raise UsageError("no size follows '@'")
    runner, algorithm, operation = _parse_path(path)
    given = _parse_options(options)
    return Selector(
        text=text,
        runner=runner,
        algorithm=_resolve(algorithm, catalogue),
        operation=operation,
        sizes=None if not at or sizes == "*" else parse_sizes(sizes),
        contracts=_contracts(given["contract"], catalogue) if "contract" in given else None,
        cpus=tuple(given["cpu"].split(",")) if "cpu" in given else None,
        twin=_twin(given["twin"]) if "twin" in given else None,
        versions=versions,
        states=_states(given["state"]) if "state" in given else None,
    )


def _parse_versions(text: str) -> tuple[str, tuple[str, ...]]:
    """Take `@version` behind the runner out of a selector; before a slash `@` cannot mean sizes."""
    match = _VERSIONS.match(text)
    if not match:
        return text, ()
    versions = tuple(pattern.expand_braces(match["versions"]))
    if not all(version == "*" or re.fullmatch(r"\w+([.-]\w+)*", version) for version in versions):
        hint = "for example: openssl@{3.0,4.0}/sha-256"
        raise UsageError(f"'{match['versions']}' names no versions", hint=hint)
    return f"{match['runner']}/{text[match.end() :]}", versions


def _parse_path(path: str) -> tuple[str, str, str]:
    parts = path.split("/")
    for part in parts:
        if not part:
            raise UsageError("a name is empty")
        if any(letter.isspace() for letter in part):
            raise UsageError(f"'{part}' holds a blank")
        if any("," in alternative for alternative in pattern.expand_braces(part)):
            raise UsageError(f"'{part}' holds a comma", hint=f"write '{{{part}}}' for one or the other")
    if len(parts) > 3:
        raise UsageError(f"'{path}' has {len(parts)} parts, and there are runner, algorithm and operation")
    if len(parts) == 1:
        return "*", parts[0], "*"
    operations = {operation for kind in OPERATIONS.values() for operation in kind}
    if len(parts) == 2 and parts[1] in operations:
        return "*", parts[0], parts[1]  # no algorithm is called as an operation is
    return parts[0], parts[1], parts[2] if len(parts) == 3 else "*"


def _parse_options(options: list[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for option in options:
        name, _, value = option.partition("=")
        if name not in _OPTIONS:
            raise UsageError(
                f"unknown option '+{name}'", hint="there are +contract=, +cpu=, +twin= and +state="
            )
        if name in given:
            raise UsageError(f"duplicate '+{name}='", hint="put a comma between alternatives")
        if not value or not all(value.split(",")):
            raise UsageError(f"'+{option}' lacks a value")
        given[name] = value
    return given


def _contracts(value: str, catalogue: Catalogue) -> tuple[str, ...]:
    names = dict.fromkeys(value.split(","))
    literal = {name for name in names if "/" not in name and not pattern.is_pattern(name)}
    return tuple(
        dict.fromkeys(catalogue.find_contract(name).id if name in literal else name for name in names)
    )


def _twin(value: str) -> int:
    if value == "*":
        return _ANY
    if not (value.isascii() and value.isdigit()):
        raise UsageError(f"'+twin={value}' is not a number")
    return int(value)


def _states(value: str) -> tuple[str, ...]:
    states = tuple(dict.fromkeys(value.split(",")))
    if unknown := [state for state in states if not is_state(state) and not pattern.is_pattern(state)]:
        there = f"there are {', '.join(STATES)}, threads-2 and shared-2 (of any number)"
        raise UsageError(f"'{unknown[0]}' is not a state", hint=there)
    return states


def _resolve(algorithm: str, catalogue: Catalogue) -> str:
    alternatives: list[str] = []
    for alternative in pattern.expand_braces(algorithm.lower()):
        fits_ids = any(pattern.matches(name, alternative) for name in catalogue.algorithms)
        alternatives += [alternative] if fits_ids else catalogue.match(alternative) or [alternative]
    return pattern.any_of(dict.fromkeys(alternatives))


_UNITS = {"": 1, "b": 1}
for _power, _letter in enumerate("kmgtp", 1):
    _UNITS |= {_letter: 1024**_power, f"{_letter}ib": 1024**_power, f"{_letter}b": 1000**_power}
_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,9})?)\s*([a-z]*)", re.ASCII)
_LARGEST = 1 << 38  # 256 GiB: data, output and a second copy have to be held
_SIZE_HINT = "write bytes, or a unit: 16, 8k, 8KiB (8192), 10MB (10,000,000), 10MiB (10,485,760)"


def parse_size(text: str) -> int:
    """Return the number of bytes of data that a call works on. Raises UsageError, also beyond memory."""
    size = parse_bytes(text)
    if size > _LARGEST:
        raise UsageError(
            f"'{text}' is too large: a call works on {_LARGEST:,} bytes at the most", hint=_SIZE_HINT
        )
    return size


def parse_bytes(text: str) -> int:
    """Return the number of bytes that `text` means. Raises UsageError when that is no whole number."""
    match = _SIZE.fullmatch(text.strip().lower())
    if not match or match[2] not in _UNITS:
        raise UsageError(f"'{text}' is not a size", hint=_SIZE_HINT)
    size = Fraction(match[1]) * _UNITS[match[2]]
    if size.denominator != 1:
        raise UsageError(f"'{text}' is not a whole number of bytes", hint=_SIZE_HINT)
    return int(size)


def parse_sizes(text: str) -> tuple[int, ...]:
    """Return the sizes of a comma-separated list, in order and each once. Raises UsageError."""
    return tuple(dict.fromkeys(parse_size(part) for part in text.split(",")))
