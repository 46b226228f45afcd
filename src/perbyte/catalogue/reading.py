"""From the TOML files of the data room to the model's values.

A file that cannot be read as what it should be (bad TOML, an unknown field, a wrong type, an id given twice)
is an error at once. Values that are well-formed but contradict each other are left to `checking`.
"""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from perbyte.errors import DataRoomError
from perbyte.model import Algorithm, Contract, KnownAnswer

Value = TypeVar("Value", Algorithm, Contract, KnownAnswer)
_GIVEN_BY_PLACE = {Algorithm: {"id", "family"}, Contract: {"id"}, KnownAnswer: set[str]()}


def read_algorithms(directory: Path) -> dict[str, Algorithm]:
    """Read every family file of `directory`; the file's stem is the family. Raises DataRoomError."""
    algorithms: dict[str, Algorithm] = {}
    for path in sorted(directory.glob("*.toml")):
        content = _read(path, {"shared", "algorithms"})
        shared = content.get("shared", {})
        for name, own in content.get("algorithms", {}).items():
            if name in algorithms:
                raise DataRoomError(f"{path.name}: the algorithm '{name}' is already defined elsewhere")
            given = {**shared, **_table(own, path, name)}
            algorithms[name] = _value(Algorithm, given, path, name, id=name, family=path.stem)
    return algorithms


def read_contracts(path: Path) -> dict[str, Contract]:
    """Read the file of contracts. Raises DataRoomError."""
    given = _read(path, {"contracts"}).get("contracts", {})
    return {
        name: _value(Contract, _table(own, path, name), path, name, id=name) for name, own in given.items()
    }


def read_vectors(path: Path) -> tuple[KnownAnswer, ...]:
    """Read one family's known answers. Raises DataRoomError.

    `input_text` may stand for `input` and `key_text` for `key`: the ASCII text whose bytes are meant.
    """
    answers = []
    for number, own in enumerate(_read(path, {"vector"}).get("vector", []), start=1):
        given = dict(_table(own, path, f"vector {number}"))
        for name in ("input", "key"):
            if (text := given.pop(f"{name}_text", None)) is not None:
                if name in given or not isinstance(text, str) or not text.isascii():
                    raise DataRoomError(
                        f"{path.name}: vector {number}: '{name}_text' is not ASCII or one too many"
                    )
                given[name] = text.encode("ascii").hex()
        answers.append(_value(KnownAnswer, given, path, f"vector {number}"))
    return tuple(answers)


def hash_content(place: Path) -> str:
    """Return 12 hex digits that change with any TOML file of the room `place`, in name or content."""
    content = hashlib.sha256()
    for path in sorted(place.rglob("*.toml"), key=lambda path: path.relative_to(place).as_posix()):
        data = path.read_bytes()
        content.update(f"{path.relative_to(place).as_posix()}\0{len(data)}\0".encode())
        content.update(data)
    return content.hexdigest()[:12]


def _read(path: Path, tables: set[str]) -> dict[str, Any]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataRoomError(f"{path}: {error}") from error
    if strangers := sorted(set(content) - tables):
        raise DataRoomError(f"{path.name}: unknown table '{strangers[0]}'")
    return content


def _table(given: object, path: Path, name: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise DataRoomError(f"{path.name}: '{name}' is not a table")
    return given


def _value(kind: type[Value], given: dict[str, Any], path: Path, name: str, **by_place: str) -> Value:
    known = {field.name for field in fields(kind)} - _GIVEN_BY_PLACE[kind]
    if strangers := sorted(set(given) - known):
        raise DataRoomError(f"{path.name}: '{name}' has an unknown field '{strangers[0]}'")
    try:
        return msgspec.convert({**given, **by_place}, kind)
    except msgspec.ValidationError as error:
        raise DataRoomError(f"{path.name}: '{name}': {error}") from error
