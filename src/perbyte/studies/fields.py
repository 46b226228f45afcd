"""Reading values out of a parsed TOML table, with errors that say file, key and way out.

A table is consumed key by key; `finish` complains about what nobody asked for, so that a misspelt key cannot
silently mean nothing.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from perbyte.errors import DataRoomError


def read_toml(path: Path) -> dict[str, Any]:
    """Parse a TOML file. Raises DataRoomError naming the file and, for broken syntax, the line."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataRoomError(f"{path.name} is missing in {path.parent}", way_out=f"write {path}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise DataRoomError(f"{path} cannot be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise DataRoomError(f"{path}: {error}", way_out="correct the TOML syntax there") from error


def closest(name: str, names: Iterable[str]) -> str:
    """A hint for a name that is not among `names`: the one that is meant perhaps, else all of them."""
    known = sorted(names)
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean '{near[0]}'?" if near else f"there are: {', '.join(known) or 'none'}"


class Fields:
    """One TOML table. `place` names it in errors, e.g. `studies/x/claims.toml: claim 'y'`."""

    def __init__(self, table: Mapping[str, Any], place: str) -> None:
        self.place = place
        self._table = dict(table)
        self._asked: set[str] = set()

    def wrong(self, what: str, *, key: str = "", way_out: str | None = None) -> DataRoomError:
        """The error to raise about this table, or about one key of it."""
        where = f"{self.place}: {key}" if key else self.place
        return DataRoomError(f"{where}: {what}", way_out=way_out)

    def has(self, key: str) -> bool:
        """True when the table holds `key`."""
        return key in self._table

    def raw(self, key: str, default: Any = None) -> Any:
        """The value as TOML gives it."""
        self._asked.add(key)
        return self._table.get(key, default)

    def text(self, key: str, default: str | None = None) -> str:
        """A non-empty text; required when there is no default."""
        value = self._required(key, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            raise self.wrong(f"must be a text, and is {_shown(value)}", key=key)
        return value.strip()

    def integer(self, key: str, default: int | None = None) -> int:
        """A whole number of 0 or more."""
        value = self._required(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self.wrong(f"must be a whole number of 0 or more, and is {_shown(value)}", key=key)
        return value

    def texts(self, key: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """A list of texts; required (and then not empty) when there is no default."""
        value = self._required(key, default)
        if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
            raise self.wrong(f"must be a list of texts, and is {_shown(value)}", key=key)
        if default is None and not value:
            raise self.wrong("must not be empty", key=key)
        return tuple(one.strip() for one in value)

    def table(self, key: str) -> Mapping[str, Any]:
        """A table; empty when it is not there."""
        value = self.raw(key, {})
        if not isinstance(value, dict):
            raise self.wrong(f"must be a table, and is {_shown(value)}", key=key)
        return value

    def tables(self, key: str, *, name: str) -> list[Fields]:
        """An array of tables, each named in errors by its value of `name` or by its number."""
        value = self.raw(key, [])
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise self.wrong(f"must be an array of tables, written [[{key}]]", key=key)
        return [
            Fields(one, f"{self.place}: [[{key}]] {one.get(name) or f'number {number}'}")
            for number, one in enumerate(value, 1)
        ]

    def finish(self) -> None:
        """Raise DataRoomError when the table holds a key that nobody asked for."""
        for key in self._table:
            if key not in self._asked:
                raise self.wrong("unknown key", key=key, way_out=closest(key, self._asked))

    def _required(self, key: str, default: Any) -> Any:
        value = self.raw(key, default)
        if value is None:
            raise self.wrong("is missing", key=key, way_out=f"add `{key} = ...`")
        return value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
