"""What only a tree in SUPERCOP's layout knows of its primitives: lengths from api.h, known answers as checksums.

What the catalogue lacks is described from its api.h. What it computes is known only to the tree: without its files
`checksumsmall` or `checksumbig` there is no figure.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from perbyte import places
from perbyte.catalogue.checking import OPERATIONS
from perbyte.runners.build import run_tool
from perbyte.trial.own_algorithm import describe_algorithms
from perbyte.trial.program import DoesNotBuild
from perbyte.trial.supercop import WORDS, Implementation, constants_of, own_id, prototypes

CHECKSUM_PROGRAM = "checksum"
_FILES = {"checksumsmall": (), "checksumbig": ("big",)}
_LIMIT_S = 30.0


def describe_primitives(implementations: Iterable[Implementation], place: Path) -> None:
    """Describe in `place` each primitive that has a checksum; read the descriptions from now on."""
    algorithms: dict[str, dict[str, object]] = {}
    for impl in implementations:
        name = own_id(impl)
        if name in algorithms or not (_home(impl) / "checksumsmall").is_file():
            continue
        if fields := _fields(impl):
            algorithms[name] = fields
    if algorithms:
        describe_algorithms(place, "supercop", algorithms)


def _fields(impl: Implementation) -> dict[str, object]:
    """The catalogue's fields of a primitive; none where its api.h lacks a length."""
    of_kind = WORDS["kinds"][impl.operation]
    kind, constants = of_kind["kind"], constants_of(impl)
    lengths = {field: constants.get(constant, 0) for field, constant in of_kind["named"].items()}
    if min(lengths.values()) <= 0:
        return {}
    return {
        "name": impl.primitive,
        "kind": kind,
        "year": 2000,
        "origin": "a tree in SUPERCOP's layout",
        "operations": [name for name in OPERATIONS[kind] if name not in ("aggregate", "sum")],
        "sources": [f"{impl.full}/{impl.primitive}"],
        **lengths,
        **of_kind.get("fixed", {}),
    }


def checksum_program(impl: Implementation) -> dict[str, str]:
    """The C of the program that computes the checksums of a primitive, by its name; nothing where the tree has none."""
    if not any(_expected(impl).values()):
        return {}
    operation = impl.operation
    defined = [f"#define OF_{operation.upper()}", f"#define SMALL_LOOPS {WORDS['loops'].get(operation, 64)}"]
    defined += prototypes(impl.full, operation)
    defined += [f"#define {name} {n}" for name, n in constants_of(impl).items()]
    text = places.data_dir("runners") / "sdk" / "try" / "checksum.c"
    return {CHECKSUM_PROGRAM: "\n".join([*defined, f'#include "{text}"', ""])}


def compare_checksums(impl: Implementation, place: Path) -> tuple[bool, str]:
    """(False, expected and got) where a checksum of the tree is another one; else (True, what was compared, or '').

    `place` is where the implementation was built with `checksum_program`.
    """
    expected = {name: digest for name, digest in _expected(impl).items() if digest}
    if not expected:
        return True, ""
    if (failed := place / f"{CHECKSUM_PROGRAM}.failed").is_file():
        words = DoesNotBuild(failed.read_text(encoding="utf-8")).first
        return True, f"checksums were not compared: {words}"
    program = str(place / CHECKSUM_PROGRAM)
    texts = []
    for name, wanted in expected.items():
        try:
            got = run_tool([program, *_FILES[name]], place, _LIMIT_S).stdout.strip() or "nothing"
        except subprocess.TimeoutExpired:
            texts.append(f"{name} was not compared, because it takes longer than {_LIMIT_S:g} s")
            continue
        if got != wanted:
            return False, f"{name}: expected {wanted}, got {got[:200]}"
        texts.append(f"{name} fits")
    return True, ", ".join(texts)


def expected_checksums(impl: Implementation) -> str:
    """What the tree expects of a primitive, small and big with a slash between; a hyphen for what it does not say."""
    return "/".join(digest or "-" for digest in _expected(impl).values())


def _home(impl: Implementation) -> Path:
    return impl.tree / impl.full / impl.primitive


def _expected(impl: Implementation) -> dict[str, str]:
    """What the checksum files of a primitive hold; '' for one that is not there, or not of this form."""
    digests = {}
    for name in _FILES:
        try:
            text = (_home(impl) / name).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            text = ""
        digests[name] = text if re.fullmatch("[0-9a-f]{64}", text) else ""
    return digests
