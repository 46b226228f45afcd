"""A look at a function of a language with a runtime before it is measured: what it returns, and what it remembers.

The program of a trial takes the look itself (`PERBYTE_LOOK` in its environment) and prints a line of JSON: a value that
is no output, and passes of 16 calls on new data, on the same sixteen again, and on one of them. Functions of C need
none: the audit gives their timed calls new data (SPEC 11), where these languages make all of their material again.
"""

from __future__ import annotations

import json
import statistics
import subprocess
from collections.abc import Sequence

from perbyte.catalogue import load
from perbyte.model import Algorithm, Failure
from perbyte.runners import RunnerSpec
from perbyte.trial.building import captured

_LANGUAGES = frozenset({"python", "javascript", "go", "java", "kotlin"})
SIZES = (1024, 16384)  # the second where calls on the first are too short to tell
_SHORT_NS = 20_000.0
_TIMES = 3.0  # dearer on new data than on one that comes sixteen times: what predictors learn explains less
_TIMES_AGAIN = 1.3  # than on the same sixteen, of which predictors keep as little as of new ones
_LEAST_NS = 40.0
_MOST = 0.7  # of the passes: some are interrupted
_LIMIT_S = 60.0  # a virtual machine that shares its cores takes ten


def known_digest(algorithm: Algorithm) -> tuple[str, str] | None:
    """Data and digest of a standard, in hex: by them a digest that is told in hex is known. None for no hash."""
    answers = load().known_answers(algorithm.id, "digest") if algorithm.kind == "hash" else ()
    return next(((answer.input, answer.output) for answer in answers if answer.output), None)


def look_at(spec: RunnerSpec, algorithm: Algorithm) -> Failure | None:
    """What is wrong with a function by what it returns or remembers; None where nothing is seen, and for those of C."""
    if spec.language not in _LANGUAGES:
        return None
    known = known_digest(algorithm)
    for size in SIZES:
        seen = _look(spec, size - size % algorithm.data_multiple_bytes)
        if seen is None:
            return None
        if fault := seen.get("fault"):
            told = str(fault) + _as_hex(str(seen.get("text", "")), str(seen.get("digest", "")), known)
            return Failure("incorrect", spec.name, f"{seen['function']} returned {told}")
        new, again, same = (_numbers(seen.get(word)) for word in ("new", "again", "same"))
        if remembers(new, same) or remembers(new, again, _TIMES_AGAIN):
            text = (
                f"a timed call takes {statistics.median(same or again):.4g} ns, and {statistics.median(new):.4g} ns "
                f"where each call has new data: {seen['function']} remembers what it gave before"
            )
            return Failure("audit", spec.name, text)
        if not new or statistics.median(new) > _SHORT_NS:
            return None
    return None


def remembers(new_ns: Sequence[float], same_ns: Sequence[float], times: float = _TIMES) -> bool:
    """Whether calls on data that come again cost less than honest code saves, pass by pass, by more than `times`."""
    pairs = list(zip(new_ns, same_ns, strict=False))
    if len(pairs) < 5:
        return False
    skipped = sum(new > times * same and new - same > _LEAST_NS for new, same in pairs)
    dearer = statistics.median(new for new, _ in pairs) > times * statistics.median(same for _, same in pairs)
    return dearer and skipped >= _MOST * len(pairs)


def _look(spec: RunnerSpec, size: int) -> dict[str, object] | None:
    try:
        ended = captured(spec.command, _LIMIT_S, environment={"PERBYTE_LOOK": str(size)})
        lines = ended.stdout.strip().splitlines()
        seen = json.loads(lines[-1]) if not ended.returncode and lines else None
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None  # the checks say what is wrong with it
    return seen if isinstance(seen, dict) and "function" in seen else None


def _numbers(values: object) -> list[float]:
    return (
        [float(value) for value in values if isinstance(value, int | float)]
        if isinstance(values, list)
        else []
    )


def _as_hex(text: str, digest: str, known: tuple[str, str] | None) -> str:
    if not text or len(text) % 2 or any(character not in "0123456789abcdefABCDEF" for character in text):
        return ""
    if known and digest:
        right = digest.lower() == known[1].lower()
        return f": {'the right' if right else 'a wrong'} digest in hexadecimal; let it return the bytes"
    return ": hexadecimal; let it return the bytes"
