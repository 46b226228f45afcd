"""An algorithm of the user's own: `--as new:NAME`, with its kind and lengths, and known answers where there are some.

Nothing but a known answer says what a new algorithm should compute. Without one its id is `unverified-NAME`, and it is
only checked that it agrees with itself.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from perbyte.catalogue import load
from perbyte.catalogue.catalogue import SEARCH_VARIABLE
from perbyte.catalogue.checking import OPERATIONS
from perbyte.catalogue.reading import read_vectors
from perbyte.errors import UsageError
from perbyte.model import Algorithm
from perbyte.trial.building import home

NEW = "new:"
UNVERIFIED = "unverified-"
SEED_BYTES = 64  # of a key pair, where none are said
# the lengths that must be said of a kind
_KINDS: dict[str, tuple[str, ...]] = {
    "hash": ("out",),
    "xof": ("out",),
    "mac": ("key", "out"),
    "block-cipher": ("key", "block"),
    "stream-cipher": ("key",),
    "aead": ("key", "nonce", "out"),
    "kdf": ("key",),
    "permutation": ("block",),
    "kem": ("public", "ciphertext", "out"),
    "signature": ("out",),
    "key-agreement": ("key", "out"),
}
_NOT_TRIED = ("keygen", "load", "squeeze", "aggregate", "sum")
_RANDOMISED = {"kem": ("encapsulate", "decapsulate"), "signature": ("sign",)}
_FIELDS = {
    "key": "key_bytes",
    "nonce": "nonce_bytes",
    "out": "tag_bytes",
    "block": "block_bytes",
    "public": "public_bytes",
    "ciphertext": "ciphertext_bytes",
}


def algorithm_named(name: str, kind: str, lengths: Sequence[str], answers: Path | None) -> Algorithm:
    """The algorithm that `--as` names: one of the catalogue, or `new:NAME` as it is described.

    Raises UsageError, with near names, where the catalogue has none, for a description of what it has, as `find_new`.
    """
    if name.startswith(NEW):
        return find_new(name, kind, lengths, answers)
    if kind or lengths or answers:
        message = "--kind, --lengths and --answers describe a new algorithm"
        raise UsageError(message, hint="--as new:my-cipher")
    return load().find(name)


def find_new(name: str, kind: str, lengths: Sequence[str], answers: Path | None) -> Algorithm:
    """Describe the algorithm `new:NAME` in a directory that the catalogue reads from now on, and return it.

    `lengths` are `key=16`, `nonce=12`, `out=32`, `block=16`, in bytes; `answers` a file of known answers in the
    catalogue's form. Raises UsageError with the way out, DataFileError for answers that cannot be read.
    """
    bare = name.removeprefix(NEW).strip().lower()
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", bare):
        raise UsageError(f"--as {name}: a name has letters, digits and hyphens", hint="--as new:my-cipher")
    if bare in load().algorithms:
        raise UsageError(f"the catalogue has '{bare}' already", hint=f"--as {bare}, or another name")
    if kind not in _KINDS:
        raise UsageError(
            f"--as {name} needs the kind of the algorithm", hint=f"--kind, one of {', '.join(_KINDS)}"
        )
    given = _read_lengths(lengths)
    operations = [name for name in OPERATIONS[kind] if name not in _NOT_TRIED]
    needed = _KINDS[kind]
    if lacking := [length for length in needed if length not in given]:
        raise UsageError(
            f"--as {name}: how many bytes has its {lacking[0]}?",
            hint="--lengths " + ",".join(f"{length}=16" for length in needed),
        )
    if answers and not any(answer.algorithm == bare for answer in read_vectors(answers)):
        raise UsageError(
            f"{answers}: there is no known answer of '{bare}' in it", hint=f'algorithm = "{bare}"'
        )
    if kind in ("hash", "xof"):
        given.setdefault("block", 1)
    if kind in _RANDOMISED:
        given.setdefault("key", SEED_BYTES)
    if kind == "key-agreement":
        given |= {"nonce": given["key"], "public": given["out"]}
    fields: dict[str, object] = {"name": bare, "kind": kind}
    fields |= {_FIELDS[length]: size for length, size in given.items()}
    if kind == "block-cipher":
        fields["mode"] = "ecb"
    if kind in ("block-cipher", "permutation"):
        fields["data_multiple_bytes"] = given["block"]
    if kind in _RANDOMISED:
        fields["randomised"] = _RANDOMISED[kind]
    fields |= {"year": 2000, "origin": "the user", "operations": operations, "sources": ["perbyte try"]}
    id_ = (bare if answers else f"{UNVERIFIED}{bare}") + ("-ecb" if kind == "block-cipher" else "")
    describe_algorithms(home() / "algorithms" / id_, id_, {id_: fields}, answers)
    return load().find(id_)


def describe_algorithms(
    place: Path, family: str, algorithms: Mapping[str, Mapping[str, object]], answers: Path | None = None
) -> None:
    """Describe `algorithms` in `place` (replaced), a directory that the catalogue reads from now on.

    They are fields by id, as a file of `catalogue/algorithms` has them; `answers` is a file of known answers.
    """
    shutil.rmtree(place, ignore_errors=True)
    (place / "algorithms").mkdir(parents=True)
    lines: list[str] = []
    for id_, fields in algorithms.items():
        lines.append(f"[algorithms.{json.dumps(id_)}]")
        # numbers, texts and lists of texts are written in TOML as in JSON
        lines += [f"{field} = {json.dumps(value, ensure_ascii=False)}" for field, value in fields.items()]
    (place / "algorithms" / f"{family}.toml").write_text("\n".join([*lines, ""]), encoding="utf-8")
    if answers:
        (place / "vectors").mkdir()
        shutil.copy(answers, place / "vectors" / f"{family}.toml")
    paths = [path for path in os.environ.get(SEARCH_VARIABLE, "").split(os.pathsep) if path]
    os.environ[SEARCH_VARIABLE] = os.pathsep.join(dict.fromkeys([*paths, str(place)]))
    load.cache_clear()


def _read_lengths(texts: Sequence[str]) -> dict[str, int]:
    lengths: dict[str, int] = {}
    for part in (part for text in texts for part in text.split(",") if part.strip()):
        name, _, value = part.strip().partition("=")
        if name not in _FIELDS or not value.isdigit() or not 0 < int(value) <= 1 << 16:
            raise UsageError(f"--lengths: '{part}'", hint=f"{', '.join(_FIELDS)}, in bytes: key=16,out=32")
        lengths[name] = int(value)
    return lengths
