"""Parameters of password hashes that somebody recommends, and what an attacker's processor makes of them, as data."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from perbyte import datafile, places
from perbyte.catalogue.status import Day
from perbyte.datafile import Problem, Text

Count = Annotated[int, Meta(ge=0)]
KIB = 1024
FAMILIES = ("argon2id", "scrypt", "bcrypt", "pbkdf2-sha-256")  # as OWASP's cheat sheet orders them


class HashCost(Struct, frozen=True, forbid_unknown_fields=True):
    """Parameters of a password hash of `family`, in its own terms; those of other families are 0."""

    family: Text
    memory_kib: Count = 0
    passes: Count = 0
    lanes: Count = 1
    n: Count = 0
    r: Count = 0
    p: Count = 0
    cost: Count = 0
    iterations: Count = 0

    def __post_init__(self) -> None:
        datafile.one_of(self.family, FAMILIES, "password hash", "family")

    @property
    def work(self) -> float:
        """What the time is proportional to: memory times passes, N r p, doublings, iterations."""
        return {
            "argon2id": float(self.memory_kib * self.passes),
            "scrypt": float(self.n * self.r * self.p),
            "bcrypt": 2.0**self.cost,
            "pbkdf2-sha-256": float(self.iterations),
        }[self.family]

    @property
    def words(self) -> str:
        """The parameters as people write them."""
        if self.family == "argon2id":
            passes = f"{self.passes} pass{'es' * (self.passes != 1)}"
            return f"{self.memory_kib / KIB:,.0f} MiB, {passes}, {self.lanes} lane{'s' * (self.lanes != 1)}"
        if self.family == "scrypt":
            return f"N = {self.n} (2^{self.n.bit_length() - 1}), r = {self.r}, p = {self.p}"
        return f"cost {self.cost}" if self.family == "bcrypt" else f"{self.iterations:,} iterations"


class RecommendedCost(HashCost, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `who` recommends; `least`: it is called a minimum."""

    who: Text
    section: Text
    published: Day
    least: bool = True


class AttackRate(HashCost, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Guesses a second of `device` at the parameters, or the `bandwidth` of its memory in bytes a second."""

    device: Text
    source: Text
    guesses_s: float = 0.0
    bandwidth: float = 0.0

    def __post_init__(self) -> None:
        HashCost.__post_init__(self)
        if bool(self.guesses_s) == bool(self.bandwidth):
            raise Problem("says guesses a second or the bandwidth of the memory", key="guesses_s")

    def guesses_of(self, asked: HashCost) -> float:
        """Guesses a second at the parameters `asked`, in proportion; by bandwidth the most that memory lets through."""
        if self.guesses_s:
            return self.guesses_s * self.work / asked.work
        return self.bandwidth / (asked.memory_kib * KIB * (3 * asked.passes - 1))


class _Passwords(Struct, forbid_unknown_fields=True):
    recommended: tuple[RecommendedCost, ...]
    attackers: tuple[AttackRate, ...]


@cache
def password_costs() -> tuple[tuple[RecommendedCost, ...], tuple[AttackRate, ...]]:
    """What is recommended, and what attackers have. Raises DataFileError."""
    return read_password_costs(places.data_dir("catalogue"))


def read_password_costs(place: Path) -> tuple[tuple[RecommendedCost, ...], tuple[AttackRate, ...]]:
    """Read `passwords.toml` of a catalogue; nothing where it has no such file. Raises DataFileError."""
    path = place / "passwords.toml"
    if not path.is_file():
        return (), ()
    passwords = datafile.read_toml(path, _Passwords)
    return passwords.recommended, passwords.attackers
