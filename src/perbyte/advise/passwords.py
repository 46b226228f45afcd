"""Password hashes: parameters that take the asked time and memory here, and what a guess costs then.

Computed from the catalogue's parameters in proportion: iterations of PBKDF2, doublings of bcrypt, memory times passes
of Argon2id, N times p of scrypt (RFC 9106, RFC 7914). Ranked by the memory that a guess has to hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from msgspec import structs

from perbyte.advise.decision import Case, Decision, Option, Ranked, decide
from perbyte.catalogue.facts import FAMILIES, KIB, AttackRate, HashCost, RecommendedCost, password_costs
from perbyte.model import Estimate
from perbyte.stats.quantity import Unit, read

MIB = 1 << 20
BCRYPT_BYTES = 4096  # Provos and Mazieres: four S-boxes of 1 KiB
PBKDF2_BYTES = 64  # a block of the hash and its state: nothing that hinders anybody


@dataclass(frozen=True, slots=True)
class Parameters:
    """`cost` are the parameters in the hash's own terms; `time_ns` what one hash takes here then.

    `work_ns` is the time of a unit of `cost.work`. `guesses_s` is how many guesses a second one core like this makes,
    `memory_bytes` what each holds.
    """

    ranked: Ranked
    cost: HashCost
    time_ns: Estimate
    memory_bytes: int
    work_ns: float

    @property
    def words(self) -> str:
        """The parameters as people write them."""
        return self.cost.words

    @property
    def guesses_s(self) -> float:
        """Guesses a second on one core like this one."""
        return 1e9 / self.time_ns.value

    @property
    def weight(self) -> float:
        """Byte-seconds that a guess takes."""
        return self.memory_bytes * self.time_ns.value * 1e-9


@dataclass(frozen=True, slots=True)
class Attack:
    """What an attacker's device makes of parameters: `guesses_s`, and that over one core like this one, `gain`."""

    rate: AttackRate
    guesses_s: float
    gain: float


@dataclass(frozen=True, slots=True)
class Beside:
    """Parameters that somebody recommends: what they would take here, and the chosen work as a multiple of theirs."""

    recommended: RecommendedCost
    time_ns: float
    share: float


@dataclass(frozen=True, slots=True)
class PasswordDecision:
    """The decision, `parameters` for what is allowed, the most memory first, and for what is ruled out behind it."""

    decision: Decision
    parameters: tuple[Parameters, ...]
    ruled_out: tuple[Parameters, ...]


def decide_passwords(case: Case, time_ns: float, memory_bytes: int) -> PasswordDecision:
    """Decide `case` for hashes that may take `time_ns` and hold `memory_bytes`."""
    decision = decide(case)

    def fitted(ranked: tuple[Ranked, ...]) -> tuple[Parameters, ...]:
        parameter_lists = [fit(entry, time_ns, memory_bytes) for entry in ranked if entry.options]
        # what a guess has to hold decides; of equal memory the order in which OWASP recommends the hashes
        fitting = filter(None, parameter_lists)
        return tuple(sorted(fitting, key=lambda each: (-each.memory_bytes, FAMILIES.index(each.cost.family))))

    return PasswordDecision(decision, fitted(decision.ranking), fitted(decision.ruled_out))


def fit(ranked: Ranked, time_ns: float, memory_bytes: int) -> Parameters | None:
    """The parameters of a hash that take no more than `time_ns` and `memory_bytes`, by its fastest library here.

    The time is a little below what was asked for where parameters are whole; it is above only where the least
    parameters take longer. None for a hash whose parameters nobody here knows how to scale.
    """
    measured = _time(ranked.best)
    given = parse_cost(ranked.algorithm.id)
    if given is None:
        return None
    if given.family == "pbkdf2-sha-256":
        iterations = _three_digits(given.iterations * time_ns / measured.value)
        asked, held = structs.replace(given, iterations=iterations), PBKDF2_BYTES
    elif given.family == "bcrypt":
        cost = max(4, given.cost + math.floor(math.log2(time_ns / measured.value)))
        asked, held = structs.replace(given, cost=cost), BCRYPT_BYTES
    elif given.family == "scrypt":
        turns = given.n * given.p * time_ns / measured.value
        most = min(turns, memory_bytes / (128 * given.r))
        n = 1 << max(1, math.floor(math.log2(max(most, 2.0))))
        asked, held = structs.replace(given, n=n, p=max(1, math.floor(turns / n))), 128 * given.r * n
    else:
        unit = measured.value / given.work * KIB  # of a MiB and pass
        size = max(1, min(memory_bytes // MIB, math.floor(time_ns / unit)))
        passes = max(1, math.floor(time_ns / (unit * size)))
        asked, held = structs.replace(given, memory_kib=size * KIB, passes=passes), size * MIB
    time = measured.scaled(asked.work / given.work)
    return Parameters(ranked, asked, time, held, measured.value / given.work)


def parse_cost(algorithm: str) -> HashCost | None:
    """The parameters that stand in an id; None for a hash whose parameters nobody here knows how to scale."""
    family = next((family for family in FAMILIES if algorithm.startswith(f"{family}-")), "")
    numbers = algorithm.removeprefix(f"{family}-").split("-")
    if family == "argon2id":
        size, passes, lanes = (int(number.removesuffix("mib")) for number in numbers)
        return HashCost(family, memory_kib=size * KIB, passes=passes, lanes=lanes)
    if family == "scrypt":
        n, r, p = map(int, numbers)
        return HashCost(family, n=n, r=r, p=p)
    if family == "bcrypt":
        return HashCost(family, cost=int(numbers[0]))
    return HashCost(family, iterations=int(numbers[0])) if family else None


def attacks(parameters: Parameters) -> tuple[Attack, ...]:
    """What attackers' devices make of parameters, as far as figures of them are known."""
    rates = [
        (rate, rate.guesses_of(parameters.cost))
        for rate in password_costs()[1]
        if rate.family == parameters.cost.family
    ]
    return tuple(Attack(rate, guesses, guesses / parameters.guesses_s) for rate, guesses in rates)


def beside(parameters: Parameters) -> tuple[Beside, ...]:
    """What others recommend for the same hash, and what it would take here."""
    return tuple(
        Beside(each, each.work * parameters.work_ns, parameters.cost.work / each.work)
        for each in password_costs()[0]
        if each.family == parameters.cost.family
    )


def _time(option: Option) -> Estimate:
    [figure] = option.figures.values()
    return read(figure, Unit.NS_PER_CALL) or Estimate(figure.ns_per_call, math.nan, math.nan)


def _three_digits(value: float) -> int:
    """Rounded down to three significant digits: nobody wants 1,861,112 iterations. 1 at the least."""
    step = 10 ** max(0, math.floor(math.log10(max(value, 1.0))) - 2)
    return max(1, int(value // step) * int(step))
