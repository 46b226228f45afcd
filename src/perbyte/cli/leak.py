"""`perbyte leak`: does the time of a library's call depend on secrets? Also what other commands print of leaks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click

from perbyte.app.leaking import BUDGET_S
from perbyte.app.quantities import read_choices, read_sizes
from perbyte.cli.declared import Options, argument, flag, group, option, takes
from perbyte.cli.options import CellOptions, Forms, GentleOption, QuietOption, Time, Words
from perbyte.cli.runs import print_leaks
from perbyte.errors import UsageError
from perbyte.model import Policy

FAILING = ("leak", "unknown")
EPILOG = """\b
  perbyte leak 'openssl/aes-128-gcm/{seal,open}'
  perbyte leak '*/x25519' --budget 5min
  perbyte leak 'nettle/aes-128-ecb' --cold --secret key
  perbyte leak '*/ml-kem-768/decapsulate' --fail-on leak
  perbyte leak 'openssl/aes-128-ecb' --above 5
"""


class _LeakOptions(Options):
    selectors: tuple[str, ...] = argument(nargs=-1, required=True, metavar="SELECTOR...")
    cells: CellOptions = group(CellOptions)
    roles: Words | None = option("--secret", help="What differs: key,data,input.  [all]")
    cold: bool = flag("--cold", help="Also measure with emptied caches.")
    budget: Time | None = option("--budget", help=f"Time for the whole test.  [{BUDGET_S:g}s a line]")
    down_to: Annotated[float, click.FloatRange(min=0, min_open=True)] | None = option(
        "--down-to", metavar="CYCLES", help="Smallest difference to find.  [1, or 0.01 %]"
    )
    above: Annotated[float, click.FloatRange(min=0, min_open=True)] | None = option(
        "--above", metavar="CYCLES", help="Ask only whether a secret costs more than this."
    )
    fail_on: Words | None = option("--fail-on", help="Fail on: leak (exit code 1), unknown (exit code 5).")
    out: Path | None = option("--out", help="Directory to create.")
    how: GentleOption = group(GentleOption)
    forms: Forms = group(Forms)
    notes: QuietOption = group(QuietOption)


@takes("leak", _LeakOptions, epilog=EPILOG)
def leak_command(options: _LeakOptions) -> int:
    """Test whether the time of a call depends on secrets, with pairs of calls that differ only in a secret.

    Without sizes: 64 bytes of data, or what the algorithm takes.
    """
    from perbyte.app.building import build_needed
    from perbyte.app.leaking import USUAL_BYTES, cells_to_test, draw_cases, find_leaks, leak_code
    from perbyte.app.requests import make_request

    failing = read_choices("--fail-on", options.fail_on, FAILING)
    of_cells, sizes = options.cells, read_sizes(options.cells.sizes)
    request = make_request(options.selectors, sizes or USUAL_BYTES, of_cells.operations, of_cells.contracts)
    build_needed((selector.runner for selector in request.selectors), options.notes.note)
    if options.above and options.down_to:
        raise UsageError(
            "--above and --down-to exclude each other",
            hint="--above names what a secret may cost, --down-to what is looked for",
        )
    cells, survey = cells_to_test(request, sizes_named=bool(sizes))
    cases, without = draw_cases(cells, options.roles, (False, True) if options.cold else (False,))
    if not cases:
        raise UsageError(
            f"nothing secret differs in {', '.join(without[:3]) or 'what was asked for'}",
            hint="verify and encapsulate use public data only; --secret names what may differ",
        )
    run, place = find_leaks(
        cases,
        survey,
        Policy(gentle=options.how.gentle),
        budget_s=options.budget or BUDGET_S * len(cases),
        target=options.down_to,
        above=options.above,
        out=options.out,
        listener=options.notes.listener,
    )
    print_leaks(run, options.forms)
    options.notes.note(f"run: {place}  (perbyte show {place.name})")
    return leak_code(run, failing)
