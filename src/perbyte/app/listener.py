"""Who hears of the work while it is done. The functions of this package print nothing: they tell a listener."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perbyte.measure import Watcher

Say = Callable[[str], None]
"""Takes a line for a person."""


def silent(_text: str) -> None:
    """Say nothing."""


@dataclass(frozen=True, slots=True)
class Listener:
    """`urgent` hears of waiting and of interruptions, `say` of everything else; by default nobody hears anything.

    `watcher` follows the run and must return quickly.
    """

    urgent: Say = silent
    say: Say = silent
    watcher: Watcher | None = None


NOBODY = Listener()
