"""Which secrets an operation has, and which two classes of each are compared."""

from __future__ import annotations

from perbyte.model import Algorithm
from perbyte.model.leak import Contrast

KEY = Contrast("key", "fixed", "random")
SCALAR = Contrast("key", "sparse", "random")
DATA = Contrast("data", "zeros", "random")
MESSAGE = Contrast("data", "fixed", "random")
TAG = Contrast("input", "late", "early")  # a wrong tag, whose last or first byte is the wrong one
REJECTION = Contrast("input", "genuine", "changed")

_CIPHERS = ("block-cipher", "stream-cipher")


def contrasts_of(algorithm: Algorithm, operation: str) -> tuple[Contrast, ...]:
    """The contrasts of an operation; none where it works on nothing secret, as `verify` and `encapsulate`.

    A key that is the runner's own cannot be another: what is signed with it varies instead. A ciphertext belongs to one
    key, so that of `decapsulate` only the ciphertext varies: whether it is refused has to stay secret. Of `open` both
    classes are refused; how far the tag was right has to stay secret.
    """
    kind = algorithm.kind
    if operation == "open":
        return (TAG,)
    if operation == "decapsulate":
        return (REJECTION,)
    if operation == "derive":
        return () if algorithm.fixed_key else (KEY, SCALAR)
    if operation == "sign":
        return (MESSAGE,) if algorithm.fixed_key else (KEY,)
    if operation in ("digest", "squeeze", "hash"):
        return (DATA,)
    if operation == "run":
        return (DATA, MESSAGE)
    if operation == "expand":
        return (KEY,)
    if operation in ("encrypt", "decrypt") and kind in _CIPHERS:
        return (KEY, DATA)
    return (KEY, DATA) if operation in ("seal", "mac") else ()
