"""`perbyte query`: SQL over the figures, samples and conditions of stored runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from perbyte import extras
from perbyte.app.run_names import all_runs, find_runs
from perbyte.cli.declared import Options, argument, group, takes
from perbyte.cli.options import Forms, note, print_json
from perbyte.cli.terminal import print_listing
from perbyte.errors import EXIT_FINE
from perbyte.report.lists import query_listing, rows_csv


class _QueryOptions(Options):
    sql: str = argument()
    runs: tuple[Path, ...] = argument(nargs=-1, metavar="[RUN...]")
    forms: Forms = group(Forms)


@takes("query", _QueryOptions)
def command(options: _QueryOptions) -> int:
    """Run one SQL query over RUNs, or over all stored runs. Queries change nothing.

    The views are runs, cells, samples, behaviour and leaks. They have a row per run, per figure, per sample, per
    counted cell, and per cell and secret.

    \b
      perbyte query 'DESCRIBE cells'
      perbyte query "SELECT machine, runner, algorithm, round(min(cycles_per_byte), 3) AS best
        FROM cells JOIN runs USING (run) WHERE algorithm LIKE 'aes-%-gcm' AND size_bytes = 16384
        GROUP BY ALL ORDER BY best"
      perbyte query "SELECT epoch, median(ticks / calls) FROM samples
        WHERE address LIKE 'openssl/sha-256/%' GROUP BY epoch ORDER BY epoch" results/monday
      perbyte query "SELECT address, quality, warnings FROM cells WHERE quality <> 'good'" --csv
    """
    from perbyte.store import query

    extras.require("query", "SQL")
    print_rows(*query(find_runs(options.runs) or all_runs(note), options.sql), options.forms)
    return EXIT_FINE


def print_rows(names: Sequence[str], rows: Sequence[Sequence[Any]], forms: Forms) -> None:
    """Print what a query found."""
    if forms.as_json:
        print_json([dict(zip(names, row, strict=True)) for row in rows])
    elif forms.as_csv:
        print(rows_csv(names, rows), end="")
    elif names:
        print_listing(query_listing(names, rows))
