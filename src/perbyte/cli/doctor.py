"""`perbyte doctor`: what this machine has, what it lacks, and the command that brings it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from perbyte.app.checkup import look_around
from perbyte.cli.declared import flag, option, takes
from perbyte.cli.options import note, print_json, print_lines
from perbyte.errors import EXIT_ENVIRONMENT, EXIT_FINE
from perbyte.places import require_writable


@dataclass(frozen=True, slots=True)
class DoctorOptions:
    """What is printed, and whether the core is described for others."""

    as_json: bool = flag("--json", help="Print JSON.")
    report: Path | None = option(
        "--report", help="Write a description of this core to a file, to send to us."
    )


@click.command("doctor")
@takes(DoctorOptions)
def command(options: DoctorOptions) -> int:
    """Show this machine: CPU, clock source and its self-check, runners, and what is missing.

    Exit code 3 if nothing can be measured here.
    """
    from perbyte.report.checkup import checkup_lines

    seen = look_around()
    if options.report:
        _write_report(options.report, seen.as_json())
    if options.as_json:
        print_json(seen.as_json())
    elif not options.report:
        print_lines(checkup_lines(seen))
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
