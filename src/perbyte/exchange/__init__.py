"""Other tools' formats: what `openssl speed` printed becomes a run, and a run becomes such a table.

The package knows texts and the model, no files of runs: storing is the caller's business (`perbyte.store.RunWriter`).
Its stance: an import must not say more than its source. A printed mean has no interval, a name that meant different
calls in different versions is resolved by the version or not at all, and no row is dropped in silence. Runs of
Perbyte itself need no import: a run's directory can be opened wherever it was copied.
"""

from __future__ import annotations

from perbyte.exchange.benchmark_origin import read_origin
from perbyte.exchange.benchmark_run import make_benchmark_run, read_meaning
from perbyte.exchange.benchmarks import FORMATS, read_benchmarks
from perbyte.exchange.bootlog import read_machine
from perbyte.exchange.continuous import to_action, to_bencher, to_benchfmt
from perbyte.exchange.listing import decode, read_text
from perbyte.exchange.openssl_run import make_run
from perbyte.exchange.openssl_speed import join_listings, read_listings
from perbyte.exchange.openssl_table import write_table

__all__ = [
    "FORMATS",
    "decode",
    "join_listings",
    "make_benchmark_run",
    "make_run",
    "read_benchmarks",
    "read_listings",
    "read_machine",
    "read_meaning",
    "read_origin",
    "read_text",
    "to_action",
    "to_bencher",
    "to_benchfmt",
    "write_table",
]
