"""run.json: everything about a run but its samples and figures, and how journal events change it.

Each event has a sequence number. run.json says up to which one it knows (`seq`), every samples file says the
same for bursts; whatever the journal holds beyond that is added on reading. So a kill between any two steps
of a compaction neither loses nor doubles anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from perbyte.errors import StoreError
from perbyte.model import Calibration, Conditions, Failure, NoiseFloor, UnprovenTier
from perbyte.store.files import MEBIBYTE, RUN_FILE, damaged, read_whole, replace_atomically
from perbyte.store.journal import Calibrated, EpochDone, Event, Failed, Identified, Spent, Unproven, encode

SCHEMA = 1
_RUN_FILE_LIMIT = 256 * MEBIBYTE


@dataclass(slots=True)
class RunState:
    """The content of run.json. `figures_seq` is the event after which the stored figures were made.

    `measuring_s` is what the run had spent when that was last noted: at its end, or about a second before a kill.
    `continued` notes each resumption: command, time and load. -1 in `figures_seq`: there are no figures.
    """

    conditions: Conditions
    calibrations: list[Calibration] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    unproven: list[UnprovenTier] = field(default_factory=list)
    epochs_done: list[int] = field(default_factory=list)
    noise_floor: NoiseFloor | None = None
    complete: bool = False
    measuring_s: float = 0.0
    seq: int = 0
    figures_seq: int = -1
    figures: int = 0
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
        elif isinstance(event, Spent):
            self.measuring_s = max(self.measuring_s, event.measuring_s)
        elif isinstance(event, EpochDone):
            self.epochs_done.append(event.epoch)
        elif isinstance(event, Identified):
            known = self.conditions.identities
            if event.identity not in known:
                self.conditions = replace(self.conditions, identities=(*known, event.identity))


def read_state(directory: Path) -> RunState:
    """Read run.json. Raises StoreError when it is missing, damaged or of a newer schema."""
    place = directory / RUN_FILE
    content = read_whole(place, _RUN_FILE_LIMIT)
    try:
        schema = msgspec.json.decode(content, type=_SchemaOnly).schema
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise damaged(place, error) from error
    if schema != SCHEMA:
        raise StoreError(
            f"{directory} was written in schema {str(schema)[:20]} of the store, this Perbyte reads schema {SCHEMA}",
            hint="update Perbyte and read the run with the new version",
        )
    try:
        return msgspec.json.decode(content, type=RunState, strict=False)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise damaged(place, error) from error


def write_state(directory: Path, state: RunState) -> None:
    """Put run.json in place in one step. Raises StoreError."""
    content = msgspec.json.format(encode(state), indent=1) + b"\n"

    def write(temporary: Path) -> None:
        temporary.write_bytes(content)

    replace_atomically(directory / RUN_FILE, write)


class _SchemaOnly(msgspec.Struct):
    schema: int
