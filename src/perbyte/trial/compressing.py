"""Functions that only compress blocks into a state: MD5, SHA-1 and SHA-2 without padding, as intrinsics have them.

The initial state and the padding belong to the call that is timed (`sdk/try/padded.h`).
"""

from __future__ import annotations

# bytes of a word, and of a block
_SIZES = {"md5": (4, 64), "sha-1": (4, 64), "sha-224": (4, 64), "sha-256": (4, 64)} | dict.fromkeys(
    ("sha-384", "sha-512"), (8, 128)
)


def compresses(algorithm: str) -> bool:
    """True where blocks can be padded here."""
    return algorithm in _SIZES


def compressing(algorithm: str, call: str, output: int) -> str:
    """The C of `trial_compress`; `call` compresses whole blocks at `in`. Raises KeyError."""
    width, block = _SIZES[algorithm]
    initial = f"PADDED_STATE_{algorithm.replace('-', '').upper()}"
    macros = {"BYTES": block, "WIDTH": width, "WORD": f"uint{8 * width}_t", "OUTPUT": output, "CALL": call}
    macros |= {"INITIAL": initial, "LOW": int(algorithm == "md5")}
    return "\n".join(
        [*(f"#define PADDED_{name} {value}" for name, value in macros.items()), '#include "padded.h"']
    )
