"""`perbyte list`: what there is to choose from."""

from __future__ import annotations

import json

import click

from perbyte.app.lists import KINDS, rows_of
from perbyte.cli.declared import Options, argument, flag, takes
from perbyte.cli.options import note
from perbyte.errors import EXIT_FINE


class _ChoiceOptions(Options):
    what: str = argument(type=click.Choice(KINDS))
    pattern: str = argument(required=False, default="*")
    as_json: bool = flag("--json", help="Print JSON.")


@takes("list", _ChoiceOptions)
def command(options: _ChoiceOptions) -> int:
    """List algorithms, providers, runners, operations, suites, studies, contracts or runs. PATTERN filters by name.

    Providers are the runners that have the algorithm PATTERN, built or not, and how to get them. Operations are those
    that the runners report; PATTERN is then a runner or a selector.

    \b
      perbyte list algorithms 'aes-*'
      perbyte list providers ML-KEM-768
      perbyte list runners --json
      perbyte list operations openssl
      perbyte list operations '*/aes-128-gcm'
    """
    return show_rows(options.what, options.pattern, as_json=options.as_json)


def show_rows(what: str, pattern: str, *, as_json: bool) -> int:
    """Print the rows of one kind, as a table or as JSON."""
    from perbyte.cli.terminal import print_listing
    from perbyte.report.lists import rows_listing

    rows = rows_of(what, pattern, note)
    if as_json:
        print(json.dumps(rows, indent=1, default=str))
        return EXIT_FINE
    if what == "runs":
        note("runs made with --out lie where that said, and are named by their directory")
    print_listing(rows_listing(what, rows))
    return EXIT_FINE
