"""The roles that parameters may have, and the steps of an algorithm: what a function is for, and what it needs.

The words themselves are data: `catalogue/trial-steps.toml`.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import Any

from perbyte import places

READ = tomllib.loads((places.data_dir("catalogue") / "trial-steps.toml").read_text(encoding="utf-8"))
MEANINGS: dict[str, str] = READ["means"]
TYPES: dict[str, Any] = READ["types"]
"""Names of types."""
WORDS: dict[str, str] = READ["words"]
"""Expressions for the names of functions, by step; the first that fits counts."""

LITERALS = ("0", "1", "null")
OF_POINTERS = frozenset(
    (
        *("length-back", "context", "buffer", "blocks"),
        *("key-bits", "tag-length", "secret-number", "label", "label-length"),
    )
)
"""Roles that languages with a runtime do not have."""
NUMBER = re.compile(r"\d{1,9}")  # any other number that a function is always given, such as rounds
ROUNDS = ("rounds", "round", "nr", "nrounds", "numrounds", "start")
NAMES: dict[str, str] = READ["names"]
LENGTH_LIKE = re.compile(r"len|siz|byte|sz|bits|^argument|^.{1,2}$|l$|cnt$")
LENGTH_OF = {"in": "size", "out": "out-length", "key": "key-length", "nonce": "nonce-length"} | {
    "aad": "aad-length",
    "tag": "tag-length",
}
OFFSETS = ("offset", "out-offset")


@dataclass(frozen=True, slots=True)
class Step:
    """What a function of a trial can be for: roles that it must have, and that it may have."""

    needs: tuple[str, ...]
    takes: tuple[str, ...] = ()


STEPS = {
    name: Step(tuple(roles["needs"]), tuple(roles.get("takes", ()))) for name, roles in READ["steps"].items()
}
STEPS |= {"decrypt": STEPS["encrypt"], "open": STEPS["seal"]}
STEPS_OF = {kind: tuple(steps) for kind, steps in READ["kinds"].items()}
"""Steps of an algorithm's kind; a function that is named alone is for the first."""
UNTIMED = ("keypair", "base")
"""Steps that make what others are given, and are not measured themselves."""
RETURNING = ("digest", "mac")
"""Steps whose function may return its output in a buffer, with a function that frees it."""
LENDING = ("digest", "mac", "final", "squeeze")
"""Steps whose function may return a pointer to its output that nobody frees."""
LENT = "trial_keep"
MAKING = ("init", "key", "decrypt-key")
"""Steps whose function may return the state that the others work on, with a function that frees it."""
NUMBERS_RETURNED: dict[str, int] = READ["numbers"]
"""Bytes of the numbers that a checksum or a short MAC may return."""
BACK_AND_FORTH = ("open", "verify")
"""Steps whose function answers whether it accepts its input."""
RETURNED_ROLES: dict[str, list[str]] = READ["returned"]
BACKWARDS = {"decrypt", "open"}  # ciphertext comes in, plaintext goes out
