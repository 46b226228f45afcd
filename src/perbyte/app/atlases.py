"""Which atlas is meant, and on how many processes its analyses run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from perbyte import extras, places
from perbyte.app.listener import Say, silent
from perbyte.model.text import plain

if TYPE_CHECKING:
    from perbyte.atlas import Atlas
    from perbyte.atlas.anew import Over


def atlas_place(url: str | None) -> str:
    """The place of the atlas at `url`, or of the user's own. Raises EnvironmentLacking without its extra."""
    extras.require("atlas", "An atlas")
    return url or str(places.atlas_home())


def atlas_at(url: str | None, say: Say = silent) -> Atlas:
    """Open that atlas; `say` hears what of its index cannot be read. Raises as `atlas_place` and `open_atlas`."""
    place = atlas_place(url)
    from perbyte.atlas import open_atlas

    atlas = open_atlas(place)
    for problem in atlas.problems:
        say(f"note: {plain(problem, 300)}")
    return atlas


@contextlib.contextmanager
def spread_over(
    workers: int, address: str | None, secret: Path | None = None, *, insecure: bool = False
) -> Iterator[Over]:
    """A map in this process, in `workers` of this machine, or on those behind the scheduler at `address`."""
    if not workers and not address:
        yield map
        return
    extras.require("fleet", "A fleet")
    from perbyte.app.fleets import entry_of
    from perbyte.fleet.spread import spread

    with spread(workers, entry_of(address, secret, insecure=insecure) if address else None) as over:
        yield over
