"""Password hashes: parameters that take the asked time and memory here, and what a guess costs then.

Computed from the catalogue's parameters in proportion: iterations of PBKDF2, doublings of bcrypt, memory times passes
of Argon2id, N times p of scrypt (RFC 9106, RFC 7914). Ranked by what a guess has to hold: memory times time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from perbyte.advise.decision import Case, Decision, Option, Ranked, decide
from perbyte.model import Estimate
from perbyte.stats.quantity import Unit, read

MIB = 1 << 20
BCRYPT_BYTES = 4096  # Provos and Mazieres: four S-boxes of 1 KiB
PBKDF2_BYTES = 64  # a block of the hash and its state: nothing that hinders anybody
SCRYPT_R = 8


@dataclass(frozen=True, slots=True)
class Parameters:
    """`words` are the parameters in the hash's own terms; `time_ns` what one hash takes here then.

    `guesses_s` is how many guesses a second one core like this makes, `memory_bytes` what each holds.
    """

    ranked: Ranked
    words: str
    time_ns: Estimate
    memory_bytes: int

    @property
    def guesses_s(self) -> float:
        """Guesses a second on one core like this one."""
        return 1e9 / self.time_ns.value

    @property
    def weight(self) -> float:
        """Byte-seconds that a guess takes."""
        return self.memory_bytes * self.time_ns.value * 1e-9


@dataclass(frozen=True, slots=True)
class PasswordDecision:
    """The decision, `parameters` for what is allowed, the heaviest guess first, and for what is ruled out behind it."""

    decision: Decision
    parameters: tuple[Parameters, ...]
    ruled_out: tuple[Parameters, ...]


def decide_passwords(case: Case, time_ns: float, memory_bytes: int) -> PasswordDecision:
    """Decide `case` for hashes that may take `time_ns` and hold `memory_bytes`."""
    decision = decide(case)

    def fitted(ranked: tuple[Ranked, ...]) -> tuple[Parameters, ...]:
        found = [fit(one, time_ns, memory_bytes) for one in ranked if one.options]
        return tuple(sorted((one for one in found if one), key=lambda one: -one.weight))

    return PasswordDecision(decision, fitted(decision.ranking), fitted(decision.ruled_out))


def fit(ranked: Ranked, time_ns: float, memory_bytes: int) -> Parameters | None:
    """The parameters of a hash that take no more than `time_ns` and `memory_bytes`, by its fastest library here.

    The time is a little below what was asked for where parameters are whole; it is above only where the least
    parameters take longer. None for a hash whose parameters nobody here knows how to scale.
    """
    measured = _time(ranked.best)
    family, _, numbers = ranked.algorithm.id.partition("-")
    if family == "pbkdf2":
        iterations = _three_digits(_counted(numbers) * time_ns / measured.value)
        return _scaled(
            ranked, measured, iterations / _counted(numbers), f"{iterations:,} iterations", PBKDF2_BYTES
        )
    if family == "bcrypt":
        cost = max(4, int(numbers) + math.floor(math.log2(time_ns / measured.value)))
        return _scaled(ranked, measured, 2.0 ** (cost - int(numbers)), f"cost {cost}", BCRYPT_BYTES)
    if family == "scrypt":
        n, r, p = map(int, numbers.split("-"))
        most = min(n * p * time_ns / measured.value, memory_bytes / (128 * r))
        new = 1 << max(1, math.floor(math.log2(max(most, 2.0))))
        lanes = max(1, math.floor(n * p * time_ns / measured.value / new))
        words = f"N = {new} (2^{new.bit_length() - 1}), r = {r}, p = {lanes}"
        return _scaled(ranked, measured, new * lanes / (n * p), words, 128 * r * new)
    if family == "argon2id":
        size, passes, lanes = (int(part.removesuffix("mib")) for part in numbers.split("-"))
        unit = measured.value / (size * passes)
        held = max(1, min(memory_bytes // MIB, math.floor(time_ns / unit)))
        turns = max(1, math.floor(time_ns / (unit * held)))
        words = f"{held} MiB, {turns} pass{'es' * (turns != 1)}, {lanes} lane"
        return _scaled(ranked, measured, held * turns / (size * passes), words, held * MIB)
    return None


def _scaled(ranked: Ranked, measured: Estimate, factor: float, words: str, memory_bytes: int) -> Parameters:
    time = Estimate(measured.value * factor, measured.low * factor, measured.high * factor)
    return Parameters(ranked, words, time, memory_bytes)


def _time(option: Option) -> Estimate:
    [figure] = option.figures.values()
    return read(figure, Unit.NS_PER_CALL) or Estimate(figure.ns_per_call, math.nan, math.nan)


def _three_digits(value: float) -> int:
    """Rounded down to three significant digits: nobody wants 1,861,112 iterations. 1 at the least."""
    step = 10 ** max(0, math.floor(math.log10(max(value, 1.0))) - 2)
    return max(1, int(value // step) * int(step))


def _counted(numbers: str) -> int:
    return int(numbers.rpartition("-")[2])
