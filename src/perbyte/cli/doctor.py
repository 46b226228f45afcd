"""`perbyte doctor`: what this machine has, what it lacks, and the command that brings it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perbyte.app.checkup import lacks, look_around
from perbyte.cli.options import note
from perbyte.errors import EXIT_ENVIRONMENT, EXIT_FINE
from perbyte.places import require_writable
from perbyte.runners import RunnerSpec

if TYPE_CHECKING:
    pass


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    help="Write a description of this core to a file, to send to us.",
)
def command(as_json: bool, report: Path | None) -> int:
    """Show this machine: CPU, clock source and its self-check, runners, and what is missing.

    Exit code 3 if nothing can be measured here.
    """
    from perbyte.report.checkup import clock_lines, machine_lines, neighbour_lines
    from perbyte.runners import locate

    seen = look_around()
    if as_json or report:
        content = seen.as_json()
        if report:
            _write_report(report, content)
        if as_json:
            print(json.dumps(content, indent=1))
        return EXIT_FINE if seen.found else EXIT_ENVIRONMENT
    parts = {
        "machine": machine_lines(seen.machine),
        "clock": clock_lines(seen.found),
        "neighbours": neighbour_lines(seen.found, seen.watched, seen.machine),
    }
    for title, lines in parts.items():
        print(title)
        for line in lines:
            print(f"  {line}")
    print("runners")
    for spec, result in seen.checked:
        if "error" in result:
            print(f"  {spec.name:18} BROKEN       {result['error']}")
        else:
            state = "outdated" if result["outdated"] else "ready"
            way = f"; its sources changed, run: perbyte build {spec.name}" if result["outdated"] else ""
            print(
                f"  {spec.name:18} {state:12} {result['library']} {result['library_version']}, "
                f"{result['algorithms']} algorithms, tiers {', '.join(spec.tiers)}{way}"
            )
    for spec in seen.unbuilt:
        print(f"  {_unbuilt_line(spec)}")
    for spec in locate():
        if spec.opt_in and not spec.out().is_dir():
            print(f"  {spec.name:18} opt-in       {spec.summary}; build it with: perbyte build {spec.name}")
    if not seen.found:
        print("nothing can be measured here yet; run: perbyte build")
    return EXIT_FINE if seen.found else EXIT_ENVIRONMENT


def _write_report(place: Path, content: Mapping[str, Any]) -> None:
    """Write what another developer needs to model this core."""
    from perbyte.app.checkup import core_report
    from perbyte.store.files import replace_atomically

    require_writable(place)
    report = core_report(content)

    def write(new: Path) -> None:
        new.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")

    replace_atomically(place, write)
    note(
        f"report: {place}; send it in, so that this core can be added to the models and to the table of cores"
    )


def _unbuilt_line(spec: RunnerSpec) -> str:
    """What a runner that is not built needs. Building is left to `perbyte build`: a doctor touches nothing."""
    from perbyte.app.building import outcome_line
    from perbyte.runners import BuildOutcome, BuildState

    what, install = lacks(spec)
    if what:
        return outcome_line(BuildOutcome(spec.name, BuildState.ABSENT, missing=what, install=install))
    return f"{spec.name:18} not built    everything is there; run: perbyte build {spec.name}"
