"""What a watcher is told while a run goes on. Told between bursts, never during one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Moment:
    """Where the run stands. `stage` is a few words; `left_s` is an estimate and falls to 0.

    `done` of `total` counts cells of the plan that need no more samples in this run, being precise or lost;
    `pending` those that the epoch under way still works on, A/A twins included. `clean_share` is the share of
    clean samples in this epoch so far, 0 to 1.
    """

    stage: str
    what: str
    epoch: int
    done: int
    total: int
    pending: int
    clean_share: float
    elapsed_s: float
    left_s: float


class Watcher(Protocol):
    """Receives moments and notes; must return quickly."""

    def moment(self, moment: Moment) -> None:
        """Something moved on."""

    def note(self, text: str) -> None:
        """Something a person should know, that is no error."""


class NullProgress:
    """The watcher that looks away."""

    def moment(self, moment: Moment) -> None:
        """Do nothing."""

    def note(self, text: str) -> None:
        """Do nothing."""
