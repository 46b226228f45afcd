"""`perbyte selftest`: the harness measured against loops of known cost, through the whole pipeline."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from perbyte.errors import EXIT_FINE, EXIT_FOUND, EnvironmentLacking
from perbyte.model import CellFigure, Policy

# name: (cycles, tolerance); an aesenc takes 3 or 4 cycles depending on the core, so it has no goal
KNOWN = {
    "probe-imul": (3.0, 0.01),
    "probe-imul-add": (4.0, 0.01),
    "probe-crc32": (3.0, 0.01),
    "probe-empty": (0.0, 1.0),
}


@click.command("selftest")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def command(quiet: bool) -> int:
    """Measure loops of known cost through the whole pipeline. Exit code 1 when one reads wrong."""
    from perbyte.catalogue import parse_selector
    from perbyte.cli.conduct import conduct
    from perbyte.measure import Request

    request = Request((parse_selector("reference/probe-*/run@1024"),))
    with tempfile.TemporaryDirectory() as temporary:
        done = conduct(request, Policy(budget_s=20.0), out=Path(temporary) / "run", quiet=quiet)
    if not done.run.cells:
        raise EnvironmentLacking("no loop could be measured", hint="see: perbyte doctor")
    wrong = 0
    print("cycles per instruction (the empty call: per call)")
    for figure in done.run.cells:
        value = _reading(figure)
        known = KNOWN.get(figure.cell.algorithm)
        if value is None or known is None:
            text = "no cycle source" if value is None else f"{value:9.4f}  (no goal: differs between cores)"
        else:
            fine = abs(value - known[0]) <= known[1]
            wrong += not fine
            verdict = "ok" if fine else "WRONG"
            text = f"{value:9.4f}  must read {known[0]:.2f} ± {known[1]:.2f}  {verdict}"
        print(f"  {figure.cell.algorithm:16} {text}")
    floor = done.run.noise_floor
    if floor:
        print(f"A/A pairs: {floor.relative:.3%} at the most, {len(floor.pairs)} pairs")
    return EXIT_FOUND if wrong else EXIT_FINE


def _reading(figure: CellFigure) -> float | None:
    return figure.cycles_per_call if figure.cell.algorithm == "probe-empty" else figure.cycles_per_byte
