"""`perbyte fleet`: one plan on many machines, each of which keeps its own cells."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perbyte import extras
from perbyte.cli.declared import argument, flag, group, option, takes
from perbyte.cli.options import QuietOption, note, print_json
from perbyte.cli.terminal import print_listing
from perbyte.errors import EXIT_FINE, EXIT_FOUND, EnvironmentLacking, UsageError
from perbyte.report.listing import from_records

if TYPE_CHECKING:
    from perbyte.fleet.conduct import JobOutcome


@dataclass(frozen=True, slots=True)
class SchedulerOption:
    """Which fleet is meant."""

    address: str | None = option(
        "--scheduler", metavar="ADDRESS", help="The Dask scheduler: tcp://HOST:8786."
    )


@click.group("fleet")
def command() -> None:
    """Measure one plan on many machines behind a Dask scheduler.

    \b
      perbyte fleet scheduler --host HOST              on one machine
      perbyte fleet worker tcp://HOST:8786             on each that measures
      perbyte fleet status --scheduler tcp://HOST:8786
      perbyte fleet measure '*/sha-256' --scheduler tcp://HOST:8786 --add
    """


@command.command("worker")
@click.argument("address")
@click.option(
    "--name", default="", help="This machine's name in fleets.  [model, and four digits drawn once]"
)
@click.option("--host", help="The address of this machine for the others.  [detected]")
def worker_(address: str, name: str, host: str | None) -> int:
    """Join the fleet of the scheduler at ADDRESS, with one measuring slot, until Ctrl-C.

    Anyone who reaches the scheduler can run programs here. Let only trusted machines reach it.
    """
    extras.require("fleet", "A fleet")
    import asyncio
    import logging

    from perbyte.fleet.machine import NAME, machine_label
    from perbyte.fleet.worker import join

    name = name or machine_label()
    if not NAME.fullmatch(name):
        raise UsageError(
            f"'{name[:80]}' is not a valid name of a machine", hint="small letters, digits, hyphens, dots"
        )
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    asyncio.run(join(address, name, note, host=host))
    return EXIT_FINE


@command.command("scheduler")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address it listens on.")
@click.option("--port", default=8786, show_default=True, help="The port.")
def scheduler_(host: str, port: int) -> int:
    """Run Dask's scheduler for a fleet until Ctrl-C. Without --host, it accepts connections from this machine only.

    Anyone who reaches it can run programs on every machine of the fleet. Use a trusted network, or TLS.
    """
    extras.require("fleet", "A fleet")
    import asyncio
    import logging

    from perbyte.fleet.scheduler import serve

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        asyncio.run(serve(host, port, note))
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise EnvironmentLacking(
            f"no scheduler can listen on {host}, port {port}: {error}"[:300],
            hint="choose another --host or --port; for TLS, make certificates as in docs/fleet.md",
        ) from error
    return EXIT_FINE


@dataclass(frozen=True, slots=True)
class StatusOptions(SchedulerOption):
    """Of which fleet, and in which form."""

    as_json: bool = flag("--json", help="Print JSON.")


@command.command("status")
@takes(StatusOptions)
def status_(options: StatusOptions) -> int:
    """Show the machines of a fleet, their Perbyte, and what they measure."""
    extras.require("fleet", "A fleet")
    from perbyte.fleet import conduct
    from perbyte.model.text import many, plain

    with conduct.connected(_named(options.address)) as client:
        machines = conduct.machines_of(client)
    if options.as_json:
        print_json([asdict(facts) for _, facts in sorted(machines.items())])
        return EXIT_FINE
    others = conduct.other_names(machines)
    rows = [
        {
            "machine": plain(name + (f" (is {others[name]})" if name in others else ""), 160),
            "model": plain(facts.cpu_model, 60),
            "cores": str(facts.cores),
            "perbyte": plain(f"{facts.perbyte} {facts.commit}".strip(), 40),
            "measures": plain(facts.holder or ", ".join(facts.jobs), 200),
        }
        for name, facts in sorted(machines.items())
    ]
    if rows:
        print_listing(from_records(rows, "measures"))
    workers = f", {many(len(machines), 'worker')}" if others else ""
    note(f"{many(len(machines) - len(others), 'machine')}{workers}")
    return EXIT_FINE


@dataclass(frozen=True, slots=True)
class FleetOptions:
    """What is measured on which machines, and where the runs go."""

    words: tuple[str, ...] = argument(
        nargs=-1, type=click.UNPROCESSED, metavar="SELECTOR... | study run NAME | OPTION..."
    )
    at: SchedulerOption = group(SchedulerOption)
    hosts: Path | None = option(
        "--hosts",
        help="Start a fleet by SSH: a file with one [USER@]HOST[:PORT] per line.",
    )
    machines: str | None = option("--machines", help="Use only these machines: names, separated by commas.")
    resume: str | None = option(
        "--resume", metavar="JOB", help="Continue a job that was interrupted, or that missed machines."
    )
    add_to_atlas: bool = flag("--add", help="Add the runs to the atlas.")
    url: str | None = option("--atlas", metavar="PLACE", help="The atlas to add to; implies --add.")
    keep_identities: bool = flag(
        "--keep-identities", help="Keep names of hosts and users, and paths, in the runs."
    )
    patience: float = option(
        "--patience", default=600.0, show_default=True, help="Seconds to wait for a lost machine."
    )
    notes: QuietOption = group(QuietOption)


@command.command("measure", context_settings={"ignore_unknown_options": True})
@takes(FleetOptions)
def measure_(options: FleetOptions) -> int:
    """Measure on every machine of a fleet what `perbyte measure` or `perbyte study run` would measure here.

    Selectors and options are those of that command. Each machine builds its runners, checks and measures with the same
    seed, and returns its run. A lost machine continues when it is back; no other machine measures its cells.
    """
    extras.require("fleet", "A fleet")
    from perbyte.fleet import conduct

    quiet = options.notes.quiet
    if bool(options.words) == bool(options.resume):
        raise UsageError(
            "there is nothing to measure",
            hint="give selectors, --suite NAME, 'study run NAME', or --resume JOB",
        )
    with _fleet(options.at.address, options.hosts) as scheduler:
        with conduct.connected(scheduler) as client:
            there = conduct.machines_of(client)
        if options.resume:
            job, names = conduct.saved_job(options.resume)
        else:
            names = tuple(sorted(there))
            job = conduct.new_job(*_checked(options.words), keep_identities=options.keep_identities)
        if options.machines:
            names = tuple(options.machines.split(","))
        if lacking := sorted(set(names) - set(there)):
            note(f"not there yet: {', '.join(lacking)}")
        names = _once(
            names, conduct.other_names({name: facts for name, facts in there.items() if name in names})
        )
        if not names:
            raise EnvironmentLacking(
                "the fleet has no machine", hint=f"on each: perbyte fleet worker {scheduler}"
            )
        conduct.require_agreement({name: facts for name, facts in there.items() if name in names})
        note(
            f"job {job.id} on {len(names)} machine{'s' if len(names) != 1 else ''}: {', '.join(names)}",
            quiet=quiet,
        )
        try:
            watch = partial(_tell, quiet=quiet)
            done = conduct.conduct(scheduler, job, names, watch, patience_s=options.patience)
        except KeyboardInterrupt:
            note(f"the machines are stopping; continue with: perbyte fleet measure --resume {job.id}")
            raise
    return _told(done, options)


def _once(names: Sequence[str], others: Mapping[str, str]) -> tuple[str, ...]:
    """The names without those of machines that have another name as well, which is said."""
    for name, first in sorted(others.items()):
        note(f"{name} and {first} are one machine: it is measured once, as {first}")
    return tuple(name for name in names if name not in others)


def _told(done: JobOutcome, options: FleetOptions) -> int:
    for name, path in sorted(done.runs.items()):
        note(f"run: {path}" + (f"  ({done.failed[name]})" if name in done.failed else ""))
    for name, why in sorted(done.failed.items()):
        if name not in done.runs:
            note(f"failed: {name}: {why}")
    for name, why in sorted(done.missing.items()):
        note(f"missing: {name}: {why}; continue with: perbyte fleet measure --resume {done.job.id}")
    if (options.url or options.add_to_atlas) and done.runs:
        from perbyte.atlas import add
        from perbyte.cli.atlas import placed

        for name, path in sorted(done.runs.items()):
            add(placed(options.url), [path], machine=name, keep_identities=done.job.keep_identities)
        note(f"atlas: {placed(options.url)}")
    if done.runs and not options.notes.quiet:
        from perbyte.report.runtext import render_side_by_side
        from perbyte.store import open_run

        print(render_side_by_side({name: open_run(path) for name, path in sorted(done.runs.items())}), end="")
    return EXIT_FOUND if done.failed or done.missing else EXIT_FINE


def _checked(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The command for the machines, once it is known that it is one, and the runners it names."""
    from perbyte.catalogue import parse_selector
    from perbyte.catalogue.pattern import expand_braces, is_pattern
    from perbyte.cli.group import commands

    words = words if words[:2] == ("study", "run") else ("measure", *words)
    for word in words:
        if word.split("=")[0] in ("--out", "--resume", "--report", "--input", "--dry-run"):
            raise UsageError(f"{word.split('=')[0]} is for a single machine", hint="leave it out")
    inner: Any = commands.get_command(click.Context(commands), words[0])
    rest = list(words[1:])
    if words[0] == "study":
        inner, rest = inner.get_command(click.Context(inner), "run"), rest[1:]
    context = inner.make_context(words[0], rest)
    runners: list[str] = []
    for text in context.params.get("selectors") or ():
        runners += [runner for runner in expand_braces(parse_selector(text).runner) if not is_pattern(runner)]
    if words[0] == "study":
        from perbyte.studies import find

        find(context.params["name"])
    return words, tuple(dict.fromkeys(runners))


def _tell(machine: str, text: str, *, quiet: bool) -> None:
    from perbyte.model.text import plain

    note(f"{plain(machine, 80)}: {plain(text, 300)}" if machine else plain(text, 300), quiet=quiet)


@contextlib.contextmanager
def _fleet(address: str | None, hosts: Path | None) -> Iterator[str]:
    """The scheduler's address; of a fleet that is started by SSH and ends with this command where hosts are given."""
    if hosts and address:
        raise UsageError("--scheduler and --hosts exclude each other")
    if hosts is None:
        yield _named(address)
        return
    from perbyte.fleet.spread import by_ssh, read_hosts

    names = read_hosts(hosts)
    note(f"starting a fleet on {', '.join(names)}")
    with by_ssh(names) as scheduler:
        yield scheduler


def _named(address: str | None) -> str:
    if not address:
        raise UsageError(
            "no fleet is given", hint="--scheduler tcp://HOST:8786 (start one with: perbyte fleet scheduler)"
        )
    return address
