"""A function of a language with a runtime as it was asked for: its files, its calls, the code a timed loop holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from perbyte.errors import UsageError
from perbyte.model import Algorithm
from perbyte.trial.roles import Call
from perbyte.trial.signatures import MANAGED

KINDS = {"hash": "HASH", "xof": "HASH", "mac": "MAC", "stream-cipher": "STREAM", "aead": "AEAD"}


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
        if kind not in KINDS:
            raise UsageError(
                f"{self.algorithm.id} is of the kind '{kind}', which cannot be tried in {self.language} this way",
                hint="write a runner with its SDK: docs/runner-in-any-language.md, runners/sdk",
            )
        if kind == "aead" and set(self.calls) != {"seal", "open"}:
            raise UsageError("an AEAD needs both functions", hint="--function seal=NAME,open=NAME")
        return KINDS[kind]

    @property
    def lengths(self) -> tuple[int, int, int]:
        """Bytes of key, nonce and output, as a row says them."""
        algorithm = self.algorithm
        keyless = self.kind == "HASH"
        return (
            0 if keyless else algorithm.key_bytes,
            algorithm.nonce_bytes if self.kind in ("STREAM", "AEAD") else 0,
            0 if self.kind == "STREAM" else algorithm.tag_bytes,
        )

    def codes(self) -> dict[str, str]:
        """The timed code by what a loop does: calls with the SDK's names for what they are given."""
        codes: dict[str, str] = {}
        for step, call in self.calls.items():
            codes |= self._codes_of(step, call)
        return codes

    def _codes_of(self, step: str, call: Call) -> dict[str, str]:
        def text(key: str, nonce: str) -> str:
            given = {
                "in": "data",
                "key": key,
                "nonce": nonce,
                "aad": "aad",
                "out-length": str(self.lengths[2]),
                **({"out": "out"} if self.language in ("go", "java", "kotlin") else {}),
            }
            if unknown := [role for role in call.roles if role not in given]:
                raise UsageError(
                    f"{call.function}: a parameter that is '{unknown[0]}' cannot be given in {self.language}",
                    hint=f"there are: {', '.join(given)}",
                )
            return f"{call.function}({', '.join(given[role] for role in call.roles)})"

        turn, nonce = "keys[turn & 15]", "nonces[turn & 15]"
        if step == "open":
            return {"INVERSE": text("key0", "nonce0"), "INVERSE_REKEY": text("key0", "nonce0")}
        if self.kind == "HASH":
            return {"MESSAGE": text("key0", nonce)}
        return {"MESSAGE": text("key0", nonce), "REKEY": text(turn, nonce)}
