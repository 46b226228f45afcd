"""SQL over the samples and figures of one or more runs, by DuckDB.

The views `samples` and `cells` are all that a query sees: no file, no network, no extension, no setting can
be reached from it. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from perbyte.errors import StoreError, UsageError
from perbyte.store.reader import open_run, read_known, run_directory, samples_tables


def query(paths: Path | Sequence[Path], sql: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Run one SQL statement; return (column names, rows).

    Both views have a column `run` (the run's id) before the columns of the Parquet files. Raises UsageError
    when the statement fails and StoreError when a run cannot be read.
    """
    import duckdb
    import pyarrow as pa

    from perbyte.store.tables import CELLS, SAMPLES, figures_table

    samples: list[pa.Table] = []
    cells: list[pa.Table] = []
    for path in [paths] if isinstance(paths, Path) else paths:
        directory = run_directory(path)
        known = read_known(directory)
        run_id = known.state.conditions.run_id
        samples += [_named(table, run_id) for table in samples_tables(known)]
        cells.append(_named(figures_table(open_run(directory).cells), run_id))
    if not cells:
        raise UsageError("no run was given to query", way_out="name at least one run directory")
    samples = samples or [_named(SAMPLES.empty_table(), "")]
    connection = duckdb.connect(":memory:")
    try:
        connection.execute("SET enable_external_access = false")
        connection.execute("SET python_enable_replacements = false")
        connection.register("samples", pa.concat_tables(samples).unify_dictionaries())
        connection.register("cells", pa.concat_tables(cells or [CELLS.empty_table()]).unify_dictionaries())
        connection.execute("SET lock_configuration = true")
        found = connection.execute(sql)
        columns = tuple(str(column[0]) for column in (found and found.description) or ())
        return columns, found.fetchall() if columns else []
    except duckdb.Error as error:
        raise UsageError(
            f"the query failed: {error}", way_out="the views are samples and cells: try DESCRIBE samples"
        ) from error
    except (pa.ArrowException, MemoryError) as error:
        raise StoreError(f"the samples cannot be laid out: {error}", way_out="query fewer runs") from error
    finally:
        connection.close()


def _named(table: Any, run_id: str) -> Any:
    import pyarrow as pa

    words = pa.DictionaryArray.from_arrays(pa.array([0] * table.num_rows, pa.int32()), pa.array([run_id]))
    return table.add_column(0, pa.field("run", words.type), words)
