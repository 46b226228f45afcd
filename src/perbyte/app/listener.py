"""Who asks for the work and hears of it. The functions of this package print nothing: they tell a listener."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from perbyte.locks import waiting_text

if TYPE_CHECKING:
    from perbyte.measure import Watcher

Say = Callable[[str], None]
"""Takes a line for a person."""


def silent(_text: str) -> None:
    """Say nothing."""


def _unwatched(_budget_s: float) -> AbstractContextManager[Say]:
    return nullcontext(silent)


@dataclass(frozen=True, slots=True)
class Listener:
    """`urgent` hears of waiting and of interruptions, `say` of everything else; by default nobody hears anything.

    `watcher` follows a run and must return quickly. `follow`: what opens another listener for each run, instead.
    `watch`: given seconds, what hears of each case while pairs are taken. `command`: the words that a run notes as the
    command that made it.
    """

    urgent: Say = silent
    say: Say = silent
    watcher: Watcher | None = None
    follow: Callable[[], AbstractContextManager[Listener]] | None = None
    watch: Callable[[float], AbstractContextManager[Say]] = _unwatched
    command: tuple[str, ...] = ()

    @contextmanager
    def following(self) -> Iterator[Listener]:
        """The listener of one run, from before it is prepared until it has ended."""
        with self.follow() if self.follow else nullcontext(self) as listener:
            yield replace(listener, command=self.command)

    def waiting(self, core: int, holder: str) -> None:
        """Hear that a core is waited for, and who holds it."""
        self.urgent(waiting_text(core, holder))

    def hushed(self) -> Listener:
        """The same, of whom only urgent things are heard."""
        return Listener(self.urgent, command=self.command)


NOBODY = Listener()
