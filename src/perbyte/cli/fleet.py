"""`perbyte fleet`: one plan on many machines, each of which keeps its own cells."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perbyte import extras
from perbyte.cli.declared import Options, argument, flag, group, option, takes
from perbyte.cli.options import Guard, QuietOption, SchedulerOptions
from perbyte.cli.streams import note, notes, print_json
from perbyte.cli.terminal import print_listing
from perbyte.errors import EXIT_FINE, EXIT_FOUND, UsageError
from perbyte.model.text import plain

if TYPE_CHECKING:
    from perbyte.fleet.conduct import JobOutcome


@click.group("fleet")
def fleet_command() -> None:
    """Measure one plan on many machines behind a Dask scheduler.

    \b
      perbyte fleet scheduler --host HOST        on one machine; it names the file with the fleet's secret
      perbyte fleet worker HOST                  on each that measures, with a copy of that file
      perbyte fleet status --scheduler HOST
      perbyte fleet measure '*/sha-256' --scheduler HOST --add
    """


class _WorkerOptions(Options):
    address: str = argument()
    guard: Guard = group(Guard)
    name: str = option(
        "--name", default="", help="This machine's name in fleets.  [model, and four digits drawn once]"
    )
    host: str | None = option("--host", help="The address it listens on.  [where it reaches the scheduler]")


@takes("worker", _WorkerOptions, fleet_command)
def worker_(options: _WorkerOptions) -> int:
    """Join the fleet of the scheduler at ADDRESS, with one measuring slot, until Ctrl-C.

    Whoever has the secret of the fleet can run programs here. `--secret -` reads it from standard input, and ends when
    that is closed.
    """
    extras.require("fleet", "A fleet")
    from perbyte.fleet.secret import entry
    from perbyte.fleet.worker import run_worker

    secret, ends = _given(options.guard)
    scheduler = entry(options.address, secret, insecure=options.guard.insecure)
    run_worker(scheduler, options.name, note, host=options.host, ends=ends)
    return EXIT_FINE


class _ListenOptions(Options):
    host: str = option("--host", default="127.0.0.1", show_default=True, help="The address it listens on.")
    port: int = option("--port", default=8786, show_default=True, help="The port.")
    guard: Guard = group(Guard)


@takes("scheduler", _ListenOptions, fleet_command)
def scheduler_(options: _ListenOptions) -> int:
    """Run Dask's scheduler for a fleet until Ctrl-C. Without --host, it accepts connections from this machine only.

    The first one makes the fleet's secret, in a file that only you can read. Copy it to the other machines, to the same
    place or to one that --secret names. Whoever has it can run programs on every machine of the fleet.
    """
    extras.require("fleet", "A fleet")
    from perbyte.fleet.secret import configured_by_dask, make_secret, secret_file, security
    from perbyte.fleet.worker import run_scheduler

    guard = options.guard
    secret, ends = _given(guard)
    if guard.insecure:
        note(
            f"insecure: whoever reaches {options.host}:{options.port} can run programs on every machine of the fleet"
        )
    elif not isinstance(secret, str) and (secret or not configured_by_dask()):
        place = secret or secret_file()
        new = make_secret(place)
        note(f"the fleet's secret is {'now ' if new else ''}in {place}")
    run_scheduler(options.host, options.port, security(secret, insecure=guard.insecure), note, ends=ends)
    return EXIT_FINE


def _given(guard: Guard) -> tuple[Path | str | None, int | None]:
    """The secret as a file or, of standard input, as a text; and the descriptor whose end ends the program, if any."""
    from perbyte.fleet.secret import END

    if guard.secret is None or str(guard.secret) != "-":
        return guard.secret, None
    text = ""
    while END not in text and len(text) < 1 << 16 and (line := sys.stdin.readline()):
        text += line
    return text, sys.stdin.fileno()


class _StatusOptions(SchedulerOptions):
    as_json: bool = flag("--json", help="Print JSON.")


@takes("status", _StatusOptions, fleet_command)
def status_(options: _StatusOptions) -> int:
    """Show the machines of a fleet, their Perbyte, and what they measure."""
    extras.require("fleet", "A fleet")
    from perbyte.app.fleets import entry_of
    from perbyte.fleet import conduct
    from perbyte.report.lists import fleet_listing, fleet_sum

    with conduct.connected(
        entry_of(options.address, options.guard.secret, insecure=options.guard.insecure)
    ) as client:
        machines = conduct.machines_of(client)
    if options.as_json:
        print_json([facts for _, facts in sorted(machines.items())])
        return EXIT_FINE
    others = conduct.other_names(machines)
    if machines:
        print_listing(fleet_listing(machines, others))
    note(fleet_sum(machines, others))
    return EXIT_FINE


class _FleetOptions(Options):
    words: tuple[str, ...] = argument(
        nargs=-1, type=click.UNPROCESSED, metavar="SELECTOR... | study run NAME | OPTION..."
    )
    at: SchedulerOptions = group(SchedulerOptions)
    hosts: Path | None = option(
        "--hosts", help="Start a fleet by SSH: a file with one [USER@]HOST[:PORT] per line."
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


@takes("measure", _FleetOptions, fleet_command, context_settings={"ignore_unknown_options": True})
def measure_(options: _FleetOptions) -> int:
    """Measure on every machine of a fleet what `perbyte measure` or `perbyte study run` would measure here.

    Selectors and options are those of that command. Each machine builds its runners, checks and measures with the same
    seed, and returns its run. A lost machine continues when it is back; no other machine measures its cells.
    """
    extras.require("fleet", "A fleet")
    from perbyte.app.fleets import fleet_at, measure_on
    from perbyte.fleet.conduct import new_job, saved_job

    if bool(options.words) == bool(options.resume):
        raise UsageError(
            "there is nothing to measure",
            hint="give selectors, --suite NAME, 'study run NAME', or --resume JOB",
        )
    if options.resume:
        job = saved_job(options.resume)
    else:
        job = new_job(*_checked(options.words), keep_identities=options.keep_identities)
    if options.machines:
        job = replace(job, machines=tuple(options.machines.split(",")))
    at, guard = options.at, options.at.guard
    with fleet_at(at.address, options.hosts, note, secret=guard.secret, insecure=guard.insecure) as scheduler:
        listener, tell = options.notes.listener, partial(_tell, quiet=options.notes.quiet)
        done = measure_on(scheduler, job, listener, tell, patience_s=options.patience)
    return _told(done, options)


def _told(done: JobOutcome, options: _FleetOptions) -> int:
    from perbyte.app.atlases import atlas_place
    from perbyte.app.fleets import add_runs
    from perbyte.report.lists import outcome_lines

    notes(outcome_lines(done))
    if (options.url or options.add_to_atlas) and done.runs:
        place = atlas_place(options.url)
        add_runs(done, place)
        note(f"atlas: {place}")
    if done.runs and not options.notes.quiet:
        from perbyte.report.printed import render_side_by_side
        from perbyte.store import open_run

        print(render_side_by_side({name: open_run(path) for name, path in sorted(done.runs.items())}), end="")
    return EXIT_FOUND if done.failed or done.missing else EXIT_FINE


def _checked(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:

    from perbyte.app.fleets import job_words, runners_named
    from perbyte.cli.group import commands
    from perbyte.studies import find

    words = job_words(words)
    inner: Any = commands.get_command(click.Context(commands), words[0])
    rest = list(words[1:])
    if words[0] == "study":
        inner, rest = inner.get_command(click.Context(inner), "run"), rest[1:]
    params = inner.make_context(words[0], rest).params
    if words[0] == "study":
        find(params["name"])
    return words, runners_named(params.get("selectors") or ())


def _tell(machine: str, text: str, *, quiet: bool) -> None:
    note(f"{plain(machine, 80)}: {plain(text, 300)}" if machine else plain(text, 300), quiet=quiet)
