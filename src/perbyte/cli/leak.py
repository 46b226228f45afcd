"""`perbyte leak`: does the time of a library's call depend on secrets?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from perbyte.cli.leaking import BUDGET_S, draw_cases, find_leaks, leak_code, print_leaks, read_failing
from perbyte.cli.options import Listed, Seconds, gentle_option, note
from perbyte.errors import UsageError

USUAL_BYTES, OF_KEYS_BYTES = 64, 32
EPILOG = """\b
  perbyte leak 'openssl/aes-128-gcm/{seal,open}'
  perbyte leak '*/x25519' --budget 5min
  perbyte leak 'nettle/aes-128-ecb' --cold --secret key
  perbyte leak '*/ml-kem-768/decapsulate' --fail-on leak
"""


@click.command("leak", epilog=EPILOG)
@click.argument("selectors", nargs=-1, required=True, metavar="SELECTOR...")
@click.option(
    "--size", "sizes", type=Listed(), default=None, help="Sizes: 16,1KiB.  [64, or the algorithm's]"
)
@click.option(
    "--operation", "operations", type=Listed(), default=None, help="Operations: seal,open,sign,derive..."
)
@click.option(
    "--contract", "contracts", type=Listed(), default=None, help="What one call is: message, rekey..."
)
@click.option("--secret", "roles", type=Listed(), default=None, help="What differs: key,data,input.  [all]")
@click.option("--cold", is_flag=True, help="Also measure with emptied caches.")
@click.option(
    "--budget", type=Seconds(), default=None, help=f"Time for the whole test.  [{BUDGET_S:g}s a line]"
)
@click.option(
    "--down-to",
    type=click.FloatRange(min=0, min_open=True),
    default=None,
    metavar="CYCLES",
    help="Smallest difference to find.  [1, or 0.01 %]",
)
@click.option(
    "--fail-on", type=Listed(), default=None, help="Fail on: leak (exit code 1), unknown (exit code 5)."
)
@click.option("--out", type=click.Path(path_type=Path), help="Directory to create.")
@gentle_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, a line for each cell and secret.")
@click.option("-q", "--quiet", is_flag=True, help="No notes.")
def command(
    selectors: tuple[str, ...],
    sizes: tuple[str, ...] | None,
    operations: tuple[str, ...] | None,
    contracts: tuple[str, ...] | None,
    roles: tuple[str, ...] | None,
    cold: bool,
    budget: float | None,
    down_to: float | None,
    fail_on: tuple[str, ...] | None,
    out: Path | None,
    gentle: bool,
    as_json: bool,
    as_csv: bool,
    quiet: bool,
) -> int:
    """Test whether the time of a call depends on secrets, with pairs of calls that differ only in a secret."""
    from perbyte.catalogue import load, parse_selector, parse_sizes
    from perbyte.cli.conduct import build_needed
    from perbyte.measure.conduct import find_cells
    from perbyte.measure.plan import Request
    from perbyte.model import Cell, Policy

    failing = read_failing(fail_on)
    catalogue = load()
    asked = tuple(parse_selector(text) for text in selectors)
    build_needed((selector.runner for selector in asked), quiet=quiet)
    named = bool(sizes) or any(selector.sizes for selector in asked)
    request = Request(
        selectors=asked,
        sizes=parse_sizes(",".join(sizes)) if sizes else (USUAL_BYTES, OF_KEYS_BYTES),
        operations=operations,
        contracts=tuple(catalogue.find_contract(name).id for name in contracts) if contracts else None,
    )
    plan, survey = find_cells(request)

    def usual(cell: Cell) -> bool:
        of_keys = catalogue.algorithms[cell.algorithm].kind in ("signature", "kem", "key-agreement")
        return cell.size_bytes == (OF_KEYS_BYTES if of_keys else USUAL_BYTES)

    cells = [cell for cell in plan.cells if named or usual(cell)]
    cases, without = draw_cases(cells, roles, (False, True) if cold else (False,))
    if not cases:
        raise UsageError(
            f"nothing secret differs in {', '.join(without[:3]) or 'what was asked for'}",
            hint="verify and encapsulate use public data only; --secret names what may differ",
        )
    run, place = find_leaks(
        cases,
        replace(survey, failures=plan.failures),
        Policy(gentle=gentle),
        budget_s=budget or BUDGET_S * len(cases),
        target=down_to,
        out=out,
        quiet=quiet,
    )
    print_leaks(run, as_json=as_json, as_csv=as_csv)
    note(f"run: {place}  (perbyte show {place.name})", quiet=quiet)
    return leak_code(run, failing)
