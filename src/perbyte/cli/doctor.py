"""`perbyte doctor`: what this machine has, what it lacks, and the command that brings it."""

from __future__ import annotations

from pathlib import Path

from perbyte.cli.declared import Options, flag, option, takes
from perbyte.cli.options import note, print_json, print_lines
from perbyte.errors import EXIT_ENVIRONMENT, EXIT_FINE


class _DoctorOptions(Options):
    as_json: bool = flag("--json", help="Print JSON.")
    report: Path | None = option(
        "--report", help="Write a description of this core to a file, to send to us."
    )


@takes("doctor", _DoctorOptions)
def command(options: _DoctorOptions) -> int:
    """Show this machine: CPU, clock source and its self-check, runners, and what is missing.

    Exit code 3 if nothing can be measured here.
    """
    from perbyte.app.checkup import look_around, write_core_report
    from perbyte.report.checkup import checkup_lines

    seen = look_around()
    if options.report:
        write_core_report(options.report, seen.as_json())
        note(
            f"report: {options.report}; send it in, so that this core can be added to the models and to the "
            "table of cores"
        )
    if options.as_json:
        print_json(seen.as_json())
    elif not options.report:
        print_lines(checkup_lines(seen))
    return EXIT_FINE if seen.found else EXIT_ENVIRONMENT
