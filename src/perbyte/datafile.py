"""Data files (TOML, CSV) decoded by msgspec into typed structures, with errors that a person can act on.

Checks inside one structure belong into its `__post_init__`, raised as `Problem`. Every error names file, table, key
and, where there is one, a hint: `x/claims.toml: [[claims]] y: form: there is no 'ratoi'`.
"""

from __future__ import annotations

import csv
import difflib
import os
import re
import stat
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import inspect

from perbyte.errors import DataFileError

LIMIT_BYTES = 16 << 20
T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)
Text = Annotated[str, msgspec.Meta(pattern=r"\S")]
_STEP = re.compile(r"\.(\w+)|\[(\d+|\.\.\.)\]")
_EXPECTED = re.compile(r"Expected `([^`]+)`(.*)")
_NAMES = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "null": "nothing",
}
_UNKNOWN = object()


class Problem(ValueError):
    """What is wrong with a value of a structure; `key` names it, `hint` says what to write."""

    def __init__(self, what: str, *, key: str = "", hint: str | None = None) -> None:
        super().__init__(what)
        self.key = key
        self.hint = hint


@contextmanager
def located(place: str) -> Iterator[None]:
    """Turn a Problem into the DataFileError that names its place."""
    try:
        yield
    except Problem as problem:
        key = f": {problem.key}" if problem.key else ""
        raise DataFileError(f"{place}{key}: {problem}", hint=problem.hint) from problem


def read_toml(path: Path, kind: type[T], place: str = "") -> T:
    """Decode a TOML file. Raises DataFileError; `place` names the file in it (its folder and name by default)."""
    return convert(parse_toml(path), kind, place or f"{path.parent.name}/{path.name}")


def parse_toml(path: Path) -> dict[str, Any]:
    """Parse a TOML file into plain values. Raises DataFileError, for broken syntax with the line."""
    text = read_text(path)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also: lists in lists, numbers of thousands of digits
        raise DataFileError(f"{path}: {error}", hint="correct the TOML syntax there") from error


def read_csv(path: Path, kind: type[S]) -> list[S]:
    """Decode a CSV file whose columns are the fields of `kind`, in order; an empty value means the default.

    Raises DataFileError with file, line and column.
    """
    place = f"{path.parent.name}/{path.name}"
    columns = [field.encode_name for field in msgspec.structs.fields(kind)]
    try:
        lines = list(csv.reader(read_text(path).splitlines(keepends=True), strict=True))
    except csv.Error as error:
        raise DataFileError(f"{place}: {error}") from error
    if not lines or lines[0] != columns:
        raise DataFileError(f"{place}: line 1: wrong columns", hint=f"they are: {','.join(columns)}")
    rows = []
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(columns):
            raise DataFileError(
                f"{place}: line {number}: {len(line)} columns instead of {len(columns)}",
                hint="quote texts that hold a comma; write decimal commas as points",
            )
        given = {name: value for name, value in zip(columns, line, strict=True) if value.strip()}
        rows.append(convert(given, kind, f"{place}: line {number}", strict=False))
    return rows


def read_text(path: Path) -> str:
    """Read a regular file of UTF-8 text of 16 MiB at the most. Raises DataFileError naming it."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # no pipe may block
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise DataFileError(f"{path} is not a regular file", hint="put the file itself there")
            content = file.read(LIMIT_BYTES + 1)
        if len(content) > LIMIT_BYTES:
            raise DataFileError(
                f"{path} has more than {LIMIT_BYTES >> 20} MiB", hint="such a file has some kilobytes"
            )
        return content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError as error:
        raise DataFileError(f"{path.name} is missing in {path.parent}", hint=f"write {path}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise DataFileError(f"{path} cannot be read: {error}") from error


def convert(given: Any, kind: type[T], place: str, *, strict: bool = True) -> T:
    """Turn plain values into `kind`. Raises DataFileError that begins with `place`."""
    try:
        return msgspec.convert(given, kind, strict=strict)
    except msgspec.ValidationError as error:
        raise _explained(error, given, kind, place) from error


def no_duplicates(names: Sequence[str], what: str) -> None:
    """Raise Problem when a name is there twice."""
    for number, name in enumerate(names):
        if name in names[:number]:
            raise Problem(f"{what} {name}: duplicate", hint="give each its own")


def one_of(name: str, names: Iterable[str], what: str, key: str = "") -> None:
    """Raise Problem when `name` is not among `names`."""
    known = tuple(names)
    if name not in known:
        raise Problem(f"there is no {what} '{name}'", key=key, hint=closest(name, known))


def closest(name: str, names: Iterable[str]) -> str:
    """A hint for a name that is not among `names`: the one that is meant perhaps, else all of them."""
    known = sorted(names)
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean '{near[0]}'?" if near else f"there are: {', '.join(known) or 'none'}"


def _explained(error: msgspec.ValidationError, given: Any, kind: Any, place: str) -> DataFileError:
    message, _, path = str(error).partition(" - at `$")
    steps = [name or number for name, number in _STEP.findall(path.removesuffix("`"))]
    value, names, hint = given, [place], None
    expected = inspect.type_info(kind)
    for step in steps:
        expected = _below(expected, value, step)
        value, names = _descend(value, step, names)
    if isinstance(error.__cause__, Problem):
        message, hint = str(error.__cause__), error.__cause__.hint
        names += [error.__cause__.key] if error.__cause__.key else []
    elif match := re.fullmatch(r"Object missing required field `(.+)`", message):
        if meant := _misspelt(match[1], expected, value):
            names, message, hint = [*names, meant], "unknown key", f"did you mean '{match[1]}'?"
        else:
            names, message, hint = [*names, match[1]], "is missing", f"add `{match[1]} = ...`"
    elif match := re.fullmatch(r"Object contains unknown field `(.+)`", message):
        names, message = [*names, match[1]], "unknown key"
        hint = closest(match[1], _known(expected, value))
    elif (
        message.startswith("Invalid ")
        and value is not _UNKNOWN
        and (choices := _choices(expected, steps, given, kind))
    ):
        message, hint = f"there is no '{value}'", closest(str(value), choices)
    elif match := _EXPECTED.match(message):
        message = _requirement(match[1], match[2], value)
    return DataFileError(f"{': '.join(names)}: {message}", hint=hint)


def _requirement(kinds: str, rest: str, value: Any) -> str:
    rest = rest.partition(", got")[0]
    wanted = [_NAMES.get(kind, kind) for kind in kinds.split(" | ") if kind != "null"]
    if "of length >= 1" in rest or "matching regex" in rest:
        return "must not be empty"
    if kinds == "int" and isinstance(value, str):
        return f"'{value}' is not a whole number"
    requirement = " or ".join(wanted) + rest.replace(">= 0", "of 0 or more").replace("> 0.0", "above 0")
    shown = "" if value is _UNKNOWN else f", and is {repr(value)[:60]}"
    return f"must be {requirement}{shown}"


def _descend(value: Any, step: str, names: list[str]) -> tuple[Any, list[str]]:
    """The value one step down, and the names that lead there: `[[cells]] aes` for an entry of an array of tables."""
    if step == "..." and isinstance(value, dict) and len(value) == 1:
        step = next(iter(value))  # msgspec does not name the key of a table
    try:
        below = value[int(step)] if step.isdigit() else value[step]
    except (KeyError, IndexError, TypeError):
        return _UNKNOWN, names
    if not step.isdigit():
        return below, [*names, step]
    if isinstance(below, dict):
        name = next((str(below[key]) for key in ("id", "name", "what", "from") if key in below), "")
        return below, [*names[:-1], f"[[{names[-1]}]] {name or f'number {int(step) + 1}'}"]
    return below, names


def _below(expected: Any, value: Any, step: str) -> Any:
    """The type that msgspec expects one step down."""
    match _struct(expected, value):
        case inspect.StructType(fields=fields):
            return next((field.type for field in fields if field.encode_name == step), None)
        case inspect.DictType(value_type=inner):
            return inner
        case inspect.ListType(item_type=inner) | inspect.VarTupleType(item_type=inner):
            return inner
        case other:
            return other


def _struct(expected: Any, value: Any) -> Any:
    """Of a union the member that a value belongs to: the structure of its tag, the list for a list."""
    if not isinstance(expected, inspect.UnionType):
        return expected
    for alternative in expected.types:
        if isinstance(alternative, inspect.StructType) and isinstance(value, dict):
            if alternative.tag_field is None or value.get(alternative.tag_field) == alternative.tag:
                return alternative
        elif isinstance(value, list) and isinstance(alternative, inspect.ListType | inspect.VarTupleType):
            return alternative
    return expected


def _misspelt(missing: str, expected: Any, value: Any) -> str:
    """A key of `value` that is none of the structure's and looks like `missing`; empty where there is none."""
    unknown = [key for key in value if key not in _known(expected, value)] if isinstance(value, dict) else []
    return next(iter(difflib.get_close_matches(missing, unknown, n=1)), "")


def _known(expected: Any, value: Any) -> list[str]:
    struct = _struct(expected, value)
    if not isinstance(struct, inspect.StructType):
        return []
    tag = [struct.tag_field] if struct.tag_field else []
    return [*tag, *(field.encode_name for field in struct.fields)]


def _choices(expected: Any, steps: list[str], given: Any, kind: Any) -> list[str]:
    """What a value may be: the tags of a union, or the values of an enumeration or a Literal."""
    if isinstance(expected, inspect.EnumType):
        return [str(member.value) for member in expected.cls]
    if isinstance(expected, inspect.LiteralType):
        return [str(value) for value in expected.values]
    parent, value = inspect.type_info(kind), given
    for step in steps[:-1]:
        parent = _below(parent, value, step)
        value = _descend(value, step, [""])[0]
    types = parent.types if isinstance(parent, inspect.UnionType) else ()
    return [
        str(alternative.tag)
        for alternative in types
        if isinstance(alternative, inspect.StructType) and alternative.tag_field == steps[-1]
    ]
