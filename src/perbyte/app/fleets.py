"""Which fleet is meant, which of its machines measure, and their runs into an atlas."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from perbyte.app.listener import Listener, Say
from perbyte.catalogue import parse_selector
from perbyte.catalogue.pattern import expand_braces, is_pattern
from perbyte.errors import EnvironmentLacking, UsageError
from perbyte.fleet.conduct import (
    JobOutcome,
    conduct,
    connected,
    machines_of,
    other_names,
    require_agreement,
)
from perbyte.fleet.machine import Job, MachineFacts
from perbyte.fleet.secret import FleetAccess, entry
from perbyte.model.text import counted, plain

_ALONE = ("--out", "--resume", "--report", "--input", "--dry-run")  # options of one machine


def entry_of(address: str | None, secret: Path | None, *, insecure: bool) -> FleetAccess:
    """How to reach a fleet's scheduler. Raises UsageError without an address, and as `fleet.secret.entry`."""
    if not address:
        raise UsageError(
            "no fleet is given", hint="--scheduler HOST:8786 (start one with: perbyte fleet scheduler)"
        )
    return entry(address, secret, insecure=insecure)


@contextlib.contextmanager
def fleet_at(
    address: str | None, hosts: Path | None, say: Say, *, secret: Path | None = None, insecure: bool = False
) -> Iterator[FleetAccess]:
    """The scheduler; of a fleet that is started by SSH, and ends with this, where hosts are given."""
    if hosts and (address or secret or insecure):
        raise UsageError("--hosts excludes --scheduler, --secret and --insecure")
    if hosts is None:
        yield entry_of(address, secret, insecure=insecure)
        return
    from perbyte.fleet.spread import by_ssh, read_hosts

    names = read_hosts(hosts)
    say(f"starting a fleet on {', '.join(names)}")
    with by_ssh(names) as scheduler:
        yield scheduler


def measure_on(
    scheduler: FleetAccess,
    job: Job,
    listener: Listener,
    tell: Callable[[str, str], None],
    *,
    patience_s: float,
) -> JobOutcome:
    """Measure `job` on its machines, of which it may name none for all; `tell` hears (machine, text).

    Raises as `choose_machines` and `fleet.conduct.conduct`.
    """
    with connected(scheduler) as client:
        there = machines_of(client)
    names = choose_machines(job.machines or sorted(there), there, scheduler.address, listener.urgent)
    listener.say(f"job {job.id} on {counted(len(names), 'machine')}: {', '.join(names)}")
    try:
        return conduct(scheduler, replace(job, machines=names), tell, patience_s=patience_s)
    except KeyboardInterrupt:
        listener.urgent(f"the machines are stopping; continue with: perbyte fleet measure --resume {job.id}")
        raise


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


def job_words(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a job: a command for each machine. Raises UsageError for an option that is of one machine."""
    for word in words:
        if not word.isprintable():
            raise UsageError(f"{plain(word, 80)!r} is no printable text", hint="write it in UTF-8")
        if (name := word.split("=")[0]) in _ALONE:
            raise UsageError(f"{name} is for a single machine", hint="leave it out")
    return (*words,) if tuple(words[:2]) == ("study", "run") else ("measure", *words)


def runners_named(selectors: Iterable[str]) -> tuple[str, ...]:
    """The runners that selectors name without a pattern: machines build these even if they are opt-in."""
    names = [name for text in selectors for name in expand_braces(parse_selector(text).runner)]
    return tuple(dict.fromkeys(name for name in names if not is_pattern(name)))


def add_runs(done: JobOutcome, place: str) -> None:
    """Add the runs of a job to the atlas at `place`."""
    from perbyte.atlas import add

    for name, path in sorted(done.runs.items()):
        add(place, [path], machine=name, keep_identities=done.job.keep_identities)
