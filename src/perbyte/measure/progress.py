"""What a watcher is told while a run goes on. Told between bursts, never during one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Moment:
    """Where the run stands. `stage` is a few words; `left_s` is an estimate and falls to 0.

    `clean_share` is the share of clean samples so far, 0 to 1; `done` of `total` counts cells that need no more
    samples in the epoch under way.
    """

    stage: str
    what: str
    epoch: int
    done: int
    total: int
    clean_share: float
    elapsed_s: float
    left_s: float


class Watcher(Protocol):
    """Receives moments and remarks; must return quickly."""

    def moment(self, moment: Moment) -> None:
        """Something moved on."""

    def remark(self, text: str) -> None:
        """Something a person should know, that is no error."""


class Unwatched:
    """The watcher that looks away."""

    def moment(self, moment: Moment) -> None:
        """Do nothing."""

    def remark(self, text: str) -> None:
        """Do nothing."""
