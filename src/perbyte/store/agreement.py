"""Which conditions must agree before samples of two runs may stand in one figure.

What changes the meaning of a figure is checked; what only changes how long it took is not (budget, looks,
number of epochs). Names of the fields that differ are always given.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from perbyte.errors import IncompatibleRuns
from perbyte.model import Conditions, RunnerIdentity

_MACHINE = (
    "cpu_model",
    "cpu_vendor",
    "cpu_family",
    "microcode",
    "cores",
    "threads_per_core",
    "architecture",
    "kernel",
    "virtualisation",
    "governor",
    "turbo",
)
_POLICY = ("level", "sample_us", "clock_tolerance", "contention_tolerance", "seed")
_RUN = ("perbyte_version", "catalogue_version", "protocol_version", "input", "origin")
_IDENTITY = ("library", "library_version", "compiler", "flags", "object_sha256", "sdk")


def differences(ours: Conditions, theirs: Conditions) -> dict[str, tuple[Any, Any]]:
    """Return the checked fields that differ: name -> (ours, theirs). Runners count where both runs have them."""
    found: dict[str, tuple[Any, Any]] = {}
    for prefix, names, mine, other in (
        ("", _RUN, ours, theirs),
        ("machine.", _MACHINE, ours.machine, theirs.machine),
        ("policy.", _POLICY, ours.policy, theirs.policy),
    ):
        for name in names:
            pair = (getattr(mine, name), getattr(other, name))
            if pair[0] != pair[1]:
                found[prefix + name] = pair
    for identity in theirs.identities:
        found |= identity_differences(ours.identities, identity)
    return found


def identity_differences(
    known: Iterable[RunnerIdentity], identity: RunnerIdentity
) -> dict[str, tuple[Any, Any]]:
    """Return in what `identity` differs from the known one of the same runner and CPU tier."""
    found: dict[str, tuple[Any, Any]] = {}
    for other in known:
        if (other.runner, other.cpu) != (identity.runner, identity.cpu):
            continue
        for name in _IDENTITY:
            pair = (getattr(other, name), getattr(identity, name))
            if pair[0] != pair[1]:
                found[f"{identity.runner}+cpu={identity.cpu}.{name}"] = pair
    return found


def require_agreement(found: dict[str, tuple[Any, Any]], what: str, hint: str) -> None:
    """Raise IncompatibleRuns naming every field in `found`; nothing when there is none."""
    if not found:
        return
    shown = "; ".join(
        f"{name}: {_short(ours)} and {_short(theirs)}" for name, (ours, theirs) in found.items()
    )
    raise IncompatibleRuns(f"{what}: {shown}", fields=tuple(found), hint=hint)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
