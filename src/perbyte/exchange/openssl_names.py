"""What the rows of `openssl speed` mean: cell names from the tool's names, by the table `openssl_names.toml`.

The same name has stood for different calls in different versions. Where the version decides and is not known, the
answer is None with a reason, not the likelier call.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from perbyte.catalogue import Catalogue, load
from perbyte.errors import UsageError

EVP, BELOW_EVP = "openssl", "openssl-lowlevel"
_CALLS = {
    "block-cipher": ("encrypt", "stream/1"),
    "stream-cipher": ("encrypt", "stream/1"),
    "hash": ("digest", "oneshot/1"),
    "mac": ("mac", "message/1"),
}


@dataclass(frozen=True, slots=True)
class Meaning:
    """What one row times. `runner` is the runner of Perbyte that makes the same calls."""

    runner: str
    algorithm: str
    operation: str
    contract: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """Why a row cannot be given a cell."""

    why: str


def parse_version(text: str) -> tuple[int, ...]:
    """Return the numbers of a version (`3.0.16` gives (3, 0, 16), `0.9.8zh` gives (0, 9, 8)); () for none."""
    found = re.match(r"\d+(\.\d+)*", text)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def mean_row(
    name: str,
    version: Sequence[int],
    sizes: Sequence[int],
    *,
    old: bool = False,
    catalogue: Catalogue | None = None,
) -> Meaning | Unknown:
    """Return what the row `name` of a listing of `version` (() where unknown) times.

    `old` says that other rows of the listing have names that only versions before 3.0 print.
    """
    known = catalogue or load()
    table = _tables()
    asked = " ".join(name.lower().split())
    below = asked in table["below_evp"]
    if below:
        algorithm = table["below_evp"][asked]
    else:
        try:
            algorithm = known.find(table["evp"].get(asked, asked)).id
        except UsageError:
            return Unknown(f"'{name}' is no algorithm of the catalogue")
        below = _is_below(asked, tuple(version), old)
    kind = known.find(algorithm).kind
    if kind == "aead":
        return _mean_aead(algorithm, tuple(version), sizes)
    if kind not in _CALLS:
        return Unknown(f"'{name}' is a {kind}, which a row of throughput cannot be")
    return Meaning(BELOW_EVP if below else EVP, algorithm, *_CALLS[kind])


def mean_key(
    kind: str, bits: int, operation: str, *, catalogue: Catalogue | None = None
) -> Meaning | Unknown:
    """Return what a row of public-key operations times."""
    known = catalogue or load()
    name = f"{kind}-{bits}"
    if kind not in _tables()["keys"] or name not in known.algorithms:
        return Unknown("no such algorithm in the catalogue")
    if operation not in known.find(name).operations:
        return Unknown(f"the catalogue has no operation '{operation}' for it")
    return Meaning(EVP, name, operation, "pk/1")


def digest_bytes(kind: str) -> int:
    """Return how many bytes the tool signs with keys of `kind` (`rsa`, `dsa`)."""
    return int(_tables()["keys"][kind])


def row_name(algorithm: str, runner: str) -> str:
    """Return what a listing calls `algorithm`: the tool's own name, else the catalogue's."""
    table = _tables()
    for part in ("below_evp",) if runner == BELOW_EVP else ("evp",):
        for name, meant in table[part].items():
            if meant == algorithm:
                return str(name)
    return next((str(name) for name, meant in table["evp"].items() if meant == algorithm), algorithm)


def _mean_aead(algorithm: str, version: tuple[int, ...], sizes: Sequence[int]) -> Meaning | Unknown:
    table = _tables()["aead"]
    if list(sizes) == table["sizes"]:
        return Meaning(EVP, algorithm, "seal", "rekey/1")
    if algorithm not in table["only"]:
        return Meaning(EVP, algorithm, "seal", "stream/1")
    if not version:
        return Unknown(
            f"which call was timed for {algorithm} depends on the version, which the listing does not name"
        )
    branches = sorted(parse_version(text) for text in table["whole_messages_since"])
    fixed = next((one for one in branches if one[:2] == version[:2]), branches[-1])
    return Meaning(EVP, algorithm, "seal", "rekey/1" if version >= fixed else "stream/1")


def _is_below(name: str, version: tuple[int, ...], old: bool) -> bool:
    changed = _tables()["changed"].get(name)
    if changed is None:
        return False
    first, end = (parse_version(text) for text in changed)
    if version:
        return first <= version < end
    return old and first < (1,)


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
