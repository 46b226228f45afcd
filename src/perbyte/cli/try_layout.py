"""`perbyte try --layout FILE.toml DIR`: the implementations of a tree that a description in TOML names."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from perbyte.app.supercop import MEASURED, ImplementationOutcome
from perbyte.cli.options import note
from perbyte.cli.try_supercop import measure_groups
from perbyte.errors import PerbyteError, UsageError

if TYPE_CHECKING:
    from perbyte.model import Algorithm
    from perbyte.trial.layout import Member


def try_layout(
    layout_name: str,
    places: Sequence[Path],
    algorithm_name: str | None,
    sizes: tuple[int, ...] | None,
    beside: str,
    budget_s: float | None,
    *,
    gentle: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Build, look at and measure each implementation that the layout finds below `places`; account for each one.

    Raises UsageError for a layout or a tree that does not fit, and where `--as` means none of its algorithms.
    """
    from perbyte.trial.layout import find_layout, members
    from perbyte.trial.program import sdk_archive
    from perbyte.trial.subject import find_algorithm

    layout = find_layout(layout_name)
    wanted = find_algorithm(algorithm_name) if algorithm_name else None
    groups: dict[Algorithm, list[Member]] = {}
    unknown: dict[str, None] = {}
    for place in places:
        for member in members(layout, place):
            try:
                algorithm = find_algorithm(member.algorithm)
            except UsageError:
                unknown[member.algorithm] = None
                continue
            if wanted in (None, algorithm):
                groups.setdefault(algorithm, []).append(member)
    if unknown:
        note(f"left out, not in the catalogue: {', '.join(unknown)}", quiet=quiet)
    if not groups:
        raise UsageError(
            "the tree has no implementation of the requested algorithm", hint="see --as and the layout's 'as'"
        )
    note(f"building {sum(map(len, groups.values()))} programs", quiet=quiet)
    sdk_archive()
    built = {algorithm: _build(group, algorithm, sizes) for algorithm, group in groups.items()}
    return measure_groups(built, sizes, beside, budget_s, gentle=gentle, as_json=as_json, quiet=quiet)


def _build(
    group: Sequence[Member], algorithm: Algorithm, sizes: tuple[int, ...] | None
) -> list[ImplementationOutcome]:
    from perbyte.trial.bench import sizes_for

    size = (sizes or sizes_for(algorithm, None))[0]
    with ThreadPoolExecutor(max_workers=2) as pool:
        return list(pool.map(lambda layout: _made(layout, size), group))


def _made(member: Member, size: int) -> ImplementationOutcome:
    from perbyte.trial.alive import look
    from perbyte.trial.layout import Unfit, make_member
    from perbyte.trial.program import DoesNotBuild, build_program, home
    from perbyte.trial.supercop import reason

    try:
        spec = build_program(make_member(member), home() / "layouts" / f"{member.algorithm}-{member.name}")
    except DoesNotBuild as error:
        return ImplementationOutcome(member.name, member.place, "does not compile", error.first)
    except (Unfit, PerbyteError, OSError) as error:
        return ImplementationOutcome(member.name, member.place, "cannot be built", reason(error))
    word, why = look(spec, size)
    return ImplementationOutcome(member.name, member.place, word or MEASURED, why, None if word else spec)
