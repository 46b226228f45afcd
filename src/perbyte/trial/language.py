"""A function of a language with a runtime as it was asked for: its files, its calls, the code a timed loop holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from perbyte.errors import UsageError
from perbyte.model import Algorithm
from perbyte.trial.prototype import MANAGED
from perbyte.trial.roles import Call
from perbyte.trial.steps import NUMBER, READ, STEPS_OF, UNTIMED
from perbyte.trial.written import accepted, call_text

KINDS = {
    "hash": "HASH",
    "xof": "HASH",
    "checksum": "HASH",
    "mac": "MAC",
    "stream-cipher": "STREAM",
    "aead": "AEAD",
}
OF_SCRIPTS = {"kdf": "EXPAND", "signature": "SIGNATURE", "key-agreement": "AGREEMENT", "kem": "KEM"}
"""What only the SDKs of Python and JavaScript have loops for here."""
MESSAGE, REKEY, INVERSE, INVERSE_REKEY = range(4)
"""What a loop does, by the SDKs' numbers."""
_OF_STEP: dict[str, dict[str, str]] = READ["loops"]
"""Names that stand for a parameter in the loop of a step."""


_NOTHING = {"python": "None", "javascript": "undefined", "go": "nil", "java": "null", "kotlin": "null"}
_LENGTH = {
    "python": "len({})",
    "javascript": "{}.length",
    "go": "len({})",
    "java": "{}.length",
    "kotlin": "{}.size",
}


def numbers_in(language: str) -> dict[str, str]:
    """What stands for numbers and for nothing in the timed code of `language`, by role."""
    length = _LENGTH["java" if language == "kotlin" else language]  # the loops of Kotlin are of Java
    of_data = {"size": "data", "key-length": "key", "nonce-length": "nonce", "aad-length": "aad"}
    zeros = dict.fromkeys(("offset", "out-offset", "begin", "counter", "0"), "0")
    return (
        zeros
        | {role: length.format(name) for role, name in of_data.items()}
        | {"1": "1", "null": _NOTHING[language]}
    )


@dataclass(frozen=True, slots=True)
class Managed:
    """What was asked of a function of such a language. `calls` by step."""

    name: str
    files: tuple[Path, ...]
    algorithm: Algorithm
    calls: Mapping[str, Call]

    @property
    def main(self) -> Path:
        """The file that holds the function."""
        return next(file for file in self.files if file.suffix in MANAGED)

    @property
    def language(self) -> str:
        """Python, JavaScript, Go, Java or Kotlin, in small letters."""
        return MANAGED[self.main.suffix]

    @property
    def kind(self) -> str:
        """The SDK's word for the algorithm's kind. Raises UsageError where the SDK has no loop for it here."""
        kind = self.algorithm.kind
        if kind == "block-cipher" and self.algorithm.mode == "ctr":
            return "STREAM"
        known = KINDS | (OF_SCRIPTS if self.language in ("python", "javascript") else {})
        if kind not in known:
            raise UsageError(
                f"{self.algorithm.id} is of the kind '{kind}', which cannot be tried in {self.language} this way",
                hint="write a runner with its SDK: docs/runner-in-any-language.md, runners/sdk",
            )
        needed = STEPS_OF[kind] if known[kind] in OF_SCRIPTS.values() else ()
        if kind == "aead":
            needed = ("seal", "open")
        if lacking := [step for step in needed if step not in self.calls]:
            steps = ",".join(f"{step}=NAME" for step in needed)
            raise UsageError(f"there is no function for {lacking[0]}", hint=f"--function {steps}")
        if "keypair" in self.calls and self.calls["keypair"].roles != ("seed",):
            raise UsageError(
                f"{self.calls['keypair'].function} must make the key pair of a seed",
                hint="keypair(seed) returns the public and the private key; in tests it is known what they are",
            )
        return known[kind]

    @property
    def lengths(self) -> tuple[int, int, int]:
        """Bytes of key, nonce and output, as a row says them."""
        algorithm = self.algorithm
        keyless = self.kind == "HASH"
        return (
            0 if keyless else algorithm.key_bytes,
            algorithm.nonce_bytes if self.kind in ("STREAM", "AEAD", "AGREEMENT", "EXPAND") else 0,
            0 if self.kind in ("STREAM", "EXPAND") else algorithm.tag_bytes,
        )

    def codes(self) -> dict[int, str]:
        """The timed code by what a loop does: calls with the SDK's names for what they are given."""
        return {number: code for number, (_, code) in self.coded().items()}

    def coded(self) -> dict[int, tuple[Call, str]]:
        """The timed code, each with the call that it makes."""
        timed = [(step, call) for step, call in self.calls.items() if step not in UNTIMED]
        return {
            number: (call, code)
            for step, call in timed
            for number, code in self._codes_of(step, call).items()
        }

    def _codes_of(self, step: str, call: Call) -> dict[int, str]:
        def text(key: str, nonce: str) -> str:
            numbers = numbers_in(self.language)
            for role, name in (("key-length", key), ("nonce-length", nonce)):
                numbers[role] = numbers[role].replace(role.partition("-")[0], name)
            given = {
                **numbers,
                "in": "data",
                "key": key,
                "nonce": nonce,
                "aad": "aad",
                "out-length": "size" if step == "expand" else str(self.lengths[2]),
                **_OF_STEP.get(step, {}),
                **({"out": "out"} if self.language in ("go", "java", "kotlin") else {}),
            }
            given |= {role: role for role in call.roles if NUMBER.fullmatch(role)}
            if unknown := [role for role in call.roles if role not in given]:
                raise UsageError(
                    f"{call.function}: a parameter that is '{unknown[0]}' cannot be given in {self.language}",
                    hint=f"there are: {', '.join(given)}",
                )
            function = call.function.replace(".", "$") if self.language == "javascript" else call.function
            called = call_text(call.prototype, function, [given[role] for role in call.roles])
            refuses = call.prototype and call.prototype.written and self.language in ("python", "javascript")
            return accepted(step, called) if refuses else called

        turn, nonce = "keys[turn & 15]", "nonces[turn & 15]"
        if step == "open":
            return {INVERSE: text("key0", "nonce0"), INVERSE_REKEY: text("key0", "nonce0")}
        if step in ("verify", "decapsulate"):
            return {INVERSE: text("key0", nonce)}
        if self.kind in ("HASH", *OF_SCRIPTS.values()):
            return {MESSAGE: text("key0", nonce)}
        return {MESSAGE: text("key0", nonce), REKEY: text(turn, nonce)}
