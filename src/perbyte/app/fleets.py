"""Which fleet is meant, which of its machines measure, and their runs into an atlas."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from perbyte.app.listener import Say
from perbyte.catalogue import parse_selector
from perbyte.catalogue.pattern import expand_braces, is_pattern
from perbyte.errors import EnvironmentLacking, UsageError
from perbyte.fleet.conduct import JobOutcome, other_names, require_agreement
from perbyte.fleet.machine import MachineFacts


def address_of(address: str | None) -> str:
    """The address of a fleet's scheduler. Raises UsageError without one."""
    if not address:
        raise UsageError(
            "no fleet is given", hint="--scheduler tcp://HOST:8786 (start one with: perbyte fleet scheduler)"
        )
    return address


@contextlib.contextmanager
def fleet_at(address: str | None, hosts: Path | None, say: Say) -> Iterator[str]:
    """The scheduler's address; of a fleet that is started by SSH, and ends with this, where hosts are given."""
    if hosts and address:
        raise UsageError("--scheduler and --hosts exclude each other")
    if hosts is None:
        yield address_of(address)
        return
    from perbyte.fleet.spread import by_ssh, read_hosts

    names = read_hosts(hosts)
    say(f"starting a fleet on {', '.join(names)}")
    with by_ssh(names) as scheduler:
        yield scheduler


def choose_machines(
    names: Sequence[str], there: Mapping[str, MachineFacts], scheduler: str, say: Say
) -> tuple[str, ...]:
    """Those of `names` that measure: each machine once; `say` hears what is not there, or there twice.

    Raises EnvironmentLacking where none is left, and where their Perbyte is not the one that is here.
    """
    if lacking := sorted(set(names) - set(there)):
        say(f"not there yet: {', '.join(lacking)}")
    others = other_names({name: facts for name, facts in there.items() if name in names})
    for name, first in sorted(others.items()):
        say(f"{name} and {first} are one machine: it is measured once, as {first}")
    names = tuple(name for name in names if name not in others)
    if not names:
        raise EnvironmentLacking(
            "the fleet has no machine", hint=f"on each: perbyte fleet worker {scheduler}"
        )
    require_agreement({name: facts for name, facts in there.items() if name in names})
    return names


def runners_named(selectors: Iterable[str]) -> tuple[str, ...]:
    """The runners that selectors name without a pattern: machines build these even if they are opt-in."""
    names = [name for text in selectors for name in expand_braces(parse_selector(text).runner)]
    return tuple(dict.fromkeys(name for name in names if not is_pattern(name)))


def add_runs(done: JobOutcome, place: str) -> None:
    """Add the runs of a job to the atlas at `place`."""
    from perbyte.atlas import add

    for name, path in sorted(done.runs.items()):
        add(place, [path], machine=name, keep_identities=done.job.keep_identities)
