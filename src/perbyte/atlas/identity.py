"""Takes out of a run what identifies people: names of hosts and users, serial numbers, paths.

It works by lists of what may stay, not of what must go, wherever a text is free: the words of a command stay where they
are options of Perbyte, numbers or addresses of the plan. What a library says of itself stays, its paths do not.
"""

from __future__ import annotations

import getpass
import re
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from typing import Any

from perbyte.catalogue import parse_selector
from perbyte.errors import PerbyteError
from perbyte.model import Conditions, parse_address
from perbyte.store.state import RunState

HIDDEN = "(hidden)"
_SYSTEM = ("/usr/", "/lib/", "/lib64/", "/proc/", "/sys/")
_PATH = re.compile(r"(?<![\w)}\]*?])(?:~[\w.-]*|\.{1,2})?/[^\s:;,'\"()<>=|]+")
_WORDS = {"measure", "study", "run", "fleet", "selftest"}
_OPTION = re.compile(r"--?[a-z][a-z-]*")
_FLAGS = {"--quick", "-q", "--quiet", "--json", "--csv", "--strict", "--dry-run"}
_OPTIONS = {
    *("--size", "--operation", "--contract", "--cpu", "--precision", "--budget", "--epochs"),
    *("--cores", "--core", "--seed", "--suite", "--unit", "--rate", *_FLAGS),
}
_VALUE = re.compile(r"[A-Za-z0-9.,%/*-]{1,80}")


def without_identities(state: RunState) -> RunState:
    """Return the state of a run with nothing in it that identifies people."""
    text = cleaner()
    before = state.conditions
    study = before.study if re.fullmatch(r"[a-z0-9-]{0,80}", before.study) else ""
    conditions = _texts(replace(before, command=(), plan=(), input={}), text)
    conditions = replace(
        conditions,
        run_id=before.run_id,
        plan=before.plan,
        study=study,
        command=_command(before.command, before),
        input={
            name: value
            for name, value in before.input.items()
            if name != "path" and not isinstance(value, str)
        }
        | {name: value for name, value in before.input.items() if name == "sha256"},
        identities=tuple(
            replace(identity, object_path=identity.object_path.rpartition("/")[2])
            for identity in conditions.identities
        ),
    )
    return replace(
        state,
        conditions=conditions,
        failures=[
            replace(
                _texts(failure, text), address=failure.address, expected=failure.expected, got=failure.got
            )
            for failure in state.failures
        ],
        continued=[
            {
                "started_at": str(record.get("started_at", ""))[:40],
                "load_before": record.get("load_before", []),
            }
            for record in state.continued
        ],
    )


def cleaner() -> Callable[[str], str]:
    """A function that takes paths, and names of this host and this user, out of a text."""
    names = _names_here()
    return lambda text: names.sub(HIDDEN, _PATH.sub(_path, text))


def _texts(value: Any, text: Any) -> Any:
    """The value with `text` applied to all texts in it."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_texts(entry, text) for entry in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{field.name: _texts(getattr(value, field.name), text) for field in fields(value)}
        )
    return value


def _path(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith(_SYSTEM) else HIDDEN


def _names_here() -> re.Pattern[str]:
    """This host's and this user's name as words; two letters and what every system has are no names."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):
        user = ""
    host = socket.gethostname()
    names = {name for name in (user, host, host.partition(".")[0]) if len(name) > 2} - {"root", "localhost"}
    words = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.compile(rf"(?<![\w-])(?:{words})(?![\w-])" if words else r"(?!)")


def _command(words: tuple[str, ...], conditions: Conditions) -> tuple[str, ...]:
    """The command with what it says of places replaced by `(hidden)`."""
    cells = []
    for address in conditions.plan:
        with suppress(ValueError):
            cells.append(parse_address(address))
    kept, option = [], ""
    for word in words:
        name, equals, value = word.partition("=")
        if _OPTION.fullmatch(name):
            known = name in _OPTIONS and (not equals or _VALUE.fullmatch(value))
            kept.append(word if known else name + (equals and f"={HIDDEN}"))
        elif option in _OPTIONS:
            kept.append(word if _VALUE.fullmatch(word) and not word.startswith("/") else HIDDEN)
        elif option:
            kept.append(HIDDEN)
        else:
            known = word in _WORDS or word == conditions.study or _selects(word, cells)
            kept.append(word if known else HIDDEN)
        option = name if _OPTION.fullmatch(name) and not equals and name not in _FLAGS else ""
    return tuple(kept)


def _selects(word: str, cells: list[Any]) -> bool:
    try:
        selector = parse_selector(word)
    except PerbyteError:
        return False
    return any(selector.matches(cell) for cell in cells)
