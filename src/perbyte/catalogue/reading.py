"""From the TOML files of the catalogue to the model's values.

A file that cannot be read as what it should be (bad TOML, an unknown field, a wrong type, an id given twice)
is an error at once. Values that are well-formed but contradict each other are left to `checking`.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Container
from pathlib import Path
from typing import Any, get_type_hints

import msgspec
from msgspec import Struct, structs

from perbyte.datafile import convert, read_toml
from perbyte.errors import DataFileError
from perbyte.model import Algorithm, Contract, KnownAnswer

Entries = dict[str, dict[str, Any]]  # decoded one by one, so that a complaint can name the entry


class _Algorithms(Struct, forbid_unknown_fields=True):
    """A file of `algorithms/`."""

    shared: dict[str, Any] = {}
    algorithms: Entries = {}


class _Contracts(Struct, forbid_unknown_fields=True):
    """`contracts.toml`."""

    contracts: Entries = {}


class _Vectors(Struct, forbid_unknown_fields=True):
    """A file of `vectors/`."""

    vector: list[dict[str, Any]] = []


def _form_of(kind: type, left_out: tuple[str, ...] = (), more: tuple[str, ...] = ()) -> type[Struct]:
    """The fields of a value of the model as a structure that knows no others.

    `left_out` come from elsewhere, `more` are texts that a file may have beside them.
    """
    types = get_type_hints(kind)
    fields = [field for field in dataclasses.fields(kind) if field.name not in left_out]
    return msgspec.defstruct(
        kind.__name__,
        [
            *((field.name, types[field.name], *_default_of(field)) for field in fields),
            *((name, str | None, None) for name in more),
        ],
        forbid_unknown_fields=True,
    )


def _default_of(field: dataclasses.Field[Any]) -> tuple[Any, ...]:
    """What a structure is told of a field's default: nothing where it has none."""
    if field.default_factory is not dataclasses.MISSING:
        return (msgspec.field(default_factory=field.default_factory),)
    return () if field.default is dataclasses.MISSING else (field.default,)


_ALGORITHM = _form_of(Algorithm, ("id", "family"))
_CONTRACT = _form_of(Contract, ("id",))
_VECTOR = _form_of(KnownAnswer, more=("input_text", "key_text"))  # ASCII texts whose bytes are meant


def read_algorithms(directory: Path, known: Container[str] = ()) -> dict[str, Algorithm]:
    """Read every family file of `directory`; the file's stem is the family.

    Raises DataFileError, also for an id that is among `known`.
    """
    algorithms: dict[str, Algorithm] = {}
    for path in sorted(directory.glob("*.toml")):
        file = read_toml(path, _Algorithms, path.name)
        for name, own in file.algorithms.items():
            if name in algorithms or name in known:
                raise DataFileError(f"{path.name}: the algorithm '{name}' is already defined elsewhere")
            given = _fields(_ALGORITHM, {**file.shared, **own}, path, name)
            algorithms[name] = Algorithm(id=name, family=path.stem, **given)
    return algorithms


def read_contracts(path: Path) -> dict[str, Contract]:
    """Read the file of contracts. Raises DataFileError."""
    return {
        name: Contract(id=name, **_fields(_CONTRACT, own, path, name))
        for name, own in read_toml(path, _Contracts, path.name).contracts.items()
    }


def read_vectors(path: Path) -> tuple[KnownAnswer, ...]:
    """Read one family's known answers. Raises DataFileError."""
    answers = []
    for number, own in enumerate(read_toml(path, _Vectors, path.name).vector, start=1):
        place = f"vector {number}"
        given = _fields(_VECTOR, own, path, place)
        for name in ("input", "key"):
            text = given.pop(f"{name}_text")
            if text is None:
                continue
            if name in own or not text.isascii():
                raise DataFileError(f"{path.name}: {place}: '{name}_text' is not ASCII or one too many")
            given[name] = text.encode("ascii").hex()
        answers.append(KnownAnswer(**given))
    return tuple(answers)


def hash_content(*places: Path) -> str:
    """Return 12 hex digits that change with any file of algorithms, contracts and vectors, in name or content."""
    content = hashlib.sha256()
    for place in places:
        files = [
            *place.glob("algorithms/*.toml"),
            *place.glob("vectors/*.toml"),
            *place.glob("contracts.toml"),
        ]
        for path in sorted(files, key=lambda path: path.relative_to(place).as_posix()):
            data = path.read_bytes()
            content.update(f"{path.relative_to(place).as_posix()}\0{len(data)}\0".encode())
            content.update(data)
    return content.hexdigest()[:12]


def _fields(form: type[Struct], given: dict[str, Any], path: Path, name: str) -> dict[str, Any]:
    """The fields of one entry of a file. Raises DataFileError naming file and entry."""
    return structs.asdict(convert(given, form, f"{path.name}: '{name}'"))
