"""run.json: everything about a run but its samples and figures, how journal events change it, and which runs there are.

Each event has a sequence number. run.json says up to which one it knows (`seq`), every samples file says the
same for bursts; whatever the journal holds beyond that is added on reading. So a kill between any two steps
of a compaction neither loses nor doubles anything.
"""

from __future__ import annotations

import base64
import contextlib
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from perbyte.errors import IncompatibleRuns, StoreError
from perbyte.model import (
    Audit,
    Burst,
    Calibration,
    CellFigure,
    Conditions,
    Failure,
    NoiseFloor,
    Run,
    RunnerIdentity,
    StoredRun,
    UnprovenTier,
    parse_address,
)
from perbyte.store.files import MEBIBYTE, RUN_FILE, damaged, read_whole, replace_atomically
from perbyte.store.journal import (
    Audited,
    Calibrated,
    EpochDone,
    Event,
    Failed,
    Identified,
    Spent,
    Unproven,
    encode,
)

SCHEMA = 1
_RUN_FILE_LIMIT = 256 * MEBIBYTE


@dataclass(slots=True)
class RunState:
    """The content of run.json. `figures_seq` is the event after which the stored figures were made.

    `measuring_s` is what the run had spent when that was last noted: at its end, or about a second before a kill.
    `continued` notes each resumption: command, time and load. -1 in `figures_seq`: there are no figures. `rules` is the
    version of the rules by which they were computed (`stats.run_figures.RULES`; 0 in runs that did not note it),
    `refused` are those of the failures that came of computing them.
    """

    conditions: Conditions
    calibrations: list[Calibration] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    unproven: list[UnprovenTier] = field(default_factory=list)
    audits: list[Audit] = field(default_factory=list)
    epochs_done: list[int] = field(default_factory=list)
    noise_floor: NoiseFloor | None = None
    complete: bool = False
    measuring_s: float = 0.0
    seq: int = 0
    figures_seq: int = -1
    figures: int = 0
    rules: int = 0
    refused: list[Failure] = field(default_factory=list)
    continued: list[dict[str, Any]] = field(default_factory=list)
    schema: int = SCHEMA

    def apply(self, event: Event) -> None:
        """Take in an event that is not a burst; events that are known already change nothing."""
        if event.seq <= self.seq:
            return
        self.seq = event.seq
        if isinstance(event, Calibrated):
            self.calibrations.append(event.calibration)
        elif isinstance(event, Failed):
            self.failures.append(event.failure)
        elif isinstance(event, Unproven):
            self.unproven = [tier for tier in self.unproven if tier.row != event.tier.row] + [event.tier]
        elif isinstance(event, Audited):
            self.audits.append(event.audit)
        elif isinstance(event, Spent):
            self.measuring_s = max(self.measuring_s, event.measuring_s)
        elif isinstance(event, EpochDone):
            self.epochs_done.append(event.epoch)
        elif isinstance(event, Identified):
            known = self.conditions.identities
            if event.identity not in known:
                self.conditions = replace(self.conditions, identities=(*known, event.identity))

    def stored(self, bursts: Iterable[Burst]) -> StoredRun:
        """All that the run has measured, with its `bursts`."""
        return StoredRun(
            conditions=self.conditions,
            calibrations=tuple(self.calibrations),
            bursts=tuple(bursts),
            failures=tuple(self.failures),
            unproven=tuple(self.unproven),
            audits=tuple(self.audits),
            measuring_s=self.measuring_s,
            complete=self.complete,
        )

    def run(self, path: Path | None, cells: tuple[CellFigure, ...]) -> Run:
        """The run with its figures; what lies beside them is for the reader to add."""
        return Run(
            path=path,
            conditions=self.conditions,
            cells=cells,
            calibrations=tuple(self.calibrations),
            failures=tuple(self.failures),
            noise_floor=self.noise_floor,
            complete=self.complete,
            measuring_s=self.measuring_s,
        )


def read_state(directory: Path) -> RunState:
    """Read run.json. Raises StoreError when it is missing, damaged or of a newer schema."""
    place = directory / RUN_FILE
    return decode_state(read_whole(place, _RUN_FILE_LIMIT), place)


def decode_state(content: bytes, place: Path) -> RunState:
    """Decode the content of a run.json that lies at `place`. Raises StoreError as `read_state` does."""
    try:
        head = msgspec.json.decode(content, type=_Head)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise damaged(place, error) from error
    if head.schema != SCHEMA:
        raise StoreError(
            f"{place.parent} was written in schema {str(head.schema)[:20]} of the store, "
            f"this Perbyte reads schema {SCHEMA}",
            hint="update Perbyte and read the run with the new version",
        )
    try:
        state = msgspec.json.decode(content, type=RunState, strict=False)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise damaged(place, error) from error
    # runs from before calls were made untimed first, and from before these ended where the core was warm
    warmed: dict[str, Any] = {
        name: 0.0 for name in ("warm_us", "warm_least_us") if name not in head.conditions.policy
    }
    state.conditions = replace(state.conditions, policy=replace(state.conditions.policy, **warmed))
    return state


def state_text(state: RunState) -> bytes:
    """Return the content of run.json."""
    return msgspec.json.format(encode(state), indent=1) + b"\n"


def write_state(directory: Path, content: bytes) -> None:
    """Put run.json in place in one step. Raises StoreError."""
    replace_atomically(directory / RUN_FILE, lambda temporary: temporary.write_bytes(content))


def merged_copies(copies: Iterable[RunState]) -> RunState | None:
    """The newest of the copies that files of samples carry, with what the others know; None without any.

    A file has the calibrations and audits of its own epoch only; those of older versions have all.
    """
    ordered = sorted(copies, key=lambda state: state.seq)
    if not ordered:
        return None
    calibrations = {encode(part): part for copy in ordered for part in copy.calibrations}
    audits = {encode(part): part for copy in ordered for part in copy.audits}
    return replace(ordered[-1], calibrations=[*calibrations.values()], audits=[*audits.values()])


def unpack_state(copy: bytes) -> RunState | None:
    """The copy of run.json that a samples file carries; None for anything else. Older files have it packed."""
    try:
        content = copy
        if not copy.startswith(b"{"):
            content = zlib.decompressobj().decompress(base64.b64decode(copy, validate=True), _RUN_FILE_LIMIT)
        return msgspec.json.decode(content, type=RunState, strict=False)
    except (zlib.error, ValueError, msgspec.MsgspecError, RecursionError):
        return None


class _ConditionsHead(msgspec.Struct, frozen=True):
    policy: dict[str, Any] = {}


class _Head(msgspec.Struct):
    """What tells how the rest is to be read."""

    schema: int
    conditions: _ConditionsHead = _ConditionsHead()


_MACHINE = (
    *("cpu_model", "cpu_vendor", "cpu_family", "microcode", "cores", "threads_per_core", "architecture"),
    *("kernel", "virtualisation", "governor", "turbo"),
)
_POLICY = ("level", "sample_us", "clock_tolerance", "contention_tolerance", "seed", "gentle")
_RUN = ("perbyte_version", "catalogue_version", "protocol_version", "input", "origin")
_IDENTITY = ("library", "library_version", "compiler", "flags", "object_sha256", "sdk")


def differences(ours: Conditions, theirs: Conditions) -> dict[str, tuple[Any, Any]]:
    """Return the checked fields that differ: name -> (ours, theirs). Runners count where both runs have them."""
    fields = _unlike("", _RUN, ours, theirs)
    fields |= _unlike("machine.", _MACHINE, ours.machine, theirs.machine)
    fields |= _unlike("policy.", _POLICY, ours.policy, theirs.policy)
    for identity in theirs.identities:
        fields |= identity_differences(ours.identities, identity)
    return fields


def _unlike(prefix: str, names: Iterable[str], ours: object, theirs: object) -> dict[str, tuple[Any, Any]]:
    pairs = {prefix + name: (getattr(ours, name), getattr(theirs, name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def identity_differences(
    known: Iterable[RunnerIdentity], identity: RunnerIdentity
) -> dict[str, tuple[Any, Any]]:
    """Return in what `identity` differs from the known one of the same runner and CPU tier."""
    fields: dict[str, tuple[Any, Any]] = {}
    for other in known:
        if (other.runner, other.cpu) == (identity.runner, identity.cpu):
            fields |= _unlike(f"{identity.runner}+cpu={identity.cpu}.", _IDENTITY, other, identity)
    return fields


def unlike_to_merge(ours: Conditions, theirs: Conditions) -> dict[str, tuple[Any, Any]]:
    """Return in what runs differ that are not to be one.

    Beyond `differences`, which a run that goes on has to keep as well: until which precision cells were measured, since
    one figure would stop by two rules; and what for, since a study's verdict would rest on cells of something else.
    """
    fields = differences(ours, theirs) | _unlike("policy.", ("precision",), ours.policy, theirs.policy)
    return fields | _unlike("", ("study",), ours, theirs)


def require_agreement(fields: dict[str, tuple[Any, Any]], what: str, hint: str) -> None:
    """Raise IncompatibleRuns naming every field in `fields`; nothing when there is none."""
    if not fields:
        return
    shown = "; ".join(
        f"{name}: {_short(ours)} and {_short(theirs)}" for name, (ours, theirs) in fields.items()
    )
    raise IncompatibleRuns(f"{what}: {shown}", fields=tuple(fields), hint=hint)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One line about a run. `cells` counts stored figures; `problem` is not empty where it cannot be read."""

    path: Path
    run_id: str = ""
    started_at: str = ""
    study: str = ""
    origin: str = ""
    cpu_model: str = ""
    cells: int = 0
    planned: int = 0
    failures: int = 0
    complete: bool = False
    measuring_s: float = 0.0
    measured: str = ""
    problem: str = ""


def runs(home: Path) -> list[RunSummary]:
    """List the runs directly under `home`, newest first; those that cannot be read stand last.

    A missing `home` has no runs. Raises StoreError when it cannot be listed.
    """
    try:
        places = [place for place in home.iterdir() if (place / RUN_FILE).exists()] if home.is_dir() else []
    except OSError as error:
        raise StoreError(f"cannot list {home}: {error.strerror}", hint="check its permissions") from error
    return sorted(
        map(_summary, places),
        key=lambda summary: (not summary.problem, summary.started_at, summary.path.name),
        reverse=True,
    )


def latest(home: Path) -> Path | None:
    """Return the newest readable run under `home`, or None."""
    return next((summary.path for summary in runs(home) if not summary.problem), None)


def _summary(place: Path) -> RunSummary:
    try:
        state = read_state(place)
    except StoreError as error:
        return RunSummary(path=place, problem=str(error))
    conditions = state.conditions
    return RunSummary(
        path=place,
        run_id=conditions.run_id,
        started_at=conditions.started_at,
        study=conditions.study,
        origin=conditions.origin,
        cpu_model=conditions.machine.cpu_model,
        cells=state.figures,
        planned=len(conditions.plan),
        failures=len(state.failures),
        complete=state.complete,
        measuring_s=state.measuring_s,
        measured=what_of(conditions.plan),
    )


def what_of(plan: Sequence[str]) -> str:
    """What a plan measures, in short: `aes-128-gcm, sha-256 of openssl, nettle`; what is no address does not count."""
    algorithms: dict[str, None] = {}
    runners: dict[str, None] = {}
    for address in plan:
        with contextlib.suppress(ValueError):
            cell = parse_address(address)
            algorithms[cell.algorithm], runners[cell.runner] = None, None
    if not algorithms:
        return ""
    names, of = ([*names][:3] + ["..."] * (len(names) > 3) for names in (algorithms, runners))
    return f"{', '.join(names)} of {', '.join(of)}"
