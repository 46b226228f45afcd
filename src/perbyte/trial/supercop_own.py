"""Primitives described from their own api.h, so that a tree can be measured whole.

What such a primitive computes is known only to the tree: its checksums are the gate. Without one there is no figure.
A description is used where the catalogue lacks the primitive, or means another algorithm by its name.
The descriptions go into a directory of their own that the catalogue reads besides its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from perbyte.catalogue import load
from perbyte.catalogue.catalogue import SEARCH_VARIABLE
from perbyte.trial.supercop import Implementation, constants_of, own_id

_SEED_BYTES = 64  # of a key pair's draw, where the catalogue says none
_KINDS = {
    "hash": ("hash", ("digest",), ()),
    "stream": ("stream-cipher", ("encrypt", "decrypt"), ()),
    "auth": ("mac", ("mac",), ()),
    "onetimeauth": ("mac", ("mac",), ()),
    "aead": ("aead", ("seal", "open"), ()),
    "kem": ("kem", ("encapsulate", "decapsulate", "keygen"), ("encapsulate", "decapsulate", "keygen")),
    "sign": ("signature", ("sign", "verify", "keygen"), ("sign", "keygen")),
    "scalarmult": ("key-agreement", ("derive", "keygen"), ()),
}


def describe_primitives(implementations: Iterable[Implementation], place: Path) -> None:
    """Describe in `place` each primitive that has a checksum; read the descriptions from now on."""
    told: dict[str, str] = {}
    for implementation in implementations:
        name = own_id(implementation)
        if (
            name in told
            or not (
                implementation.tree
                / f"crypto_{implementation.operation}"
                / implementation.primitive
                / "checksumsmall"
            ).is_file()
        ):
            continue
        if text := _described(implementation, name):
            told[name] = text
    if not told:
        return
    (place / "algorithms").mkdir(parents=True, exist_ok=True)
    (place / "algorithms" / "supercop.toml").write_text("\n".join(told.values()), encoding="utf-8")
    known = [
        part for part in os.environ.get(SEARCH_VARIABLE, "").split(os.pathsep) if part and part != str(place)
    ]
    os.environ[SEARCH_VARIABLE] = os.pathsep.join([*known, str(place)])
    load.cache_clear()


def _described(implementation: Implementation, name: str) -> str:
    lengths = constants_of(implementation)
    kind, operations, randomised = _KINDS[implementation.operation]
    fields: dict[str, object] = {
        "name": implementation.primitive,
        "kind": kind,
        "year": 2000,
        "origin": "a tree in SUPERCOP's layout",
        "operations": list(operations),
        "randomised": list(randomised),
        "sources": [f"crypto_{implementation.operation}/{implementation.primitive}"],
    }
    needed = {
        "hash": ("BYTES",),
        "stream": ("KEYBYTES", "NONCEBYTES"),
        "auth": ("BYTES", "KEYBYTES"),
        "onetimeauth": ("BYTES", "KEYBYTES"),
        "aead": ("KEYBYTES", "NPUBBYTES", "ABYTES"),
        "kem": ("PUBLICKEYBYTES", "CIPHERTEXTBYTES", "BYTES"),
        "sign": ("PUBLICKEYBYTES", "BYTES"),
        "scalarmult": ("BYTES", "SCALARBYTES"),
    }[implementation.operation]
    if any(lengths.get(one_length, 0) <= 0 for one_length in needed):
        return ""
    if implementation.operation == "hash":
        fields |= {"block_bytes": 1, "tag_bytes": lengths["BYTES"]}
    elif implementation.operation == "stream":
        fields |= {"key_bytes": lengths["KEYBYTES"], "nonce_bytes": lengths["NONCEBYTES"]}
    elif implementation.operation in ("auth", "onetimeauth"):
        fields |= {"key_bytes": lengths["KEYBYTES"], "tag_bytes": lengths["BYTES"]}
    elif implementation.operation == "aead":
        fields |= {"key_bytes": lengths["KEYBYTES"], "nonce_bytes": lengths["NPUBBYTES"]}
        fields |= {"tag_bytes": lengths["ABYTES"]}
    elif implementation.operation == "kem":
        fields |= {"key_bytes": _SEED_BYTES, "tag_bytes": lengths["BYTES"]}
        fields |= {"public_bytes": lengths["PUBLICKEYBYTES"], "ciphertext_bytes": lengths["CIPHERTEXTBYTES"]}
    elif implementation.operation == "sign":
        fields |= {"key_bytes": _SEED_BYTES, "tag_bytes": lengths["BYTES"]}
        fields |= {"public_bytes": lengths["PUBLICKEYBYTES"]}
    else:
        fields |= {"key_bytes": lengths["SCALARBYTES"], "nonce_bytes": lengths["SCALARBYTES"]}
        fields |= {"tag_bytes": lengths["BYTES"], "public_bytes": lengths["BYTES"]}
    lines = [f"[algorithms.{name}]"]
    for field, value in fields.items():
        shown = f'"{value}"' if isinstance(value, str) else str(value).replace("'", '"')
        lines.append(f"{field} = {shown}")
    return "\n".join(lines) + "\n"
