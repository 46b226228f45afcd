"""SQL over the samples, figures and conditions of one or more runs, by DuckDB.

The views `runs`, `cells`, `samples`, `behaviour` and `leaks` are all that a query sees: no file, no network, no
extension, no setting can be reached from it. Nothing is written.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perbyte.errors import StoreError, UsageError
from perbyte.model import Behaviour, Cell, Conditions, Run
from perbyte.model.leak import LeakFigure
from perbyte.store.beside import is_leak_run, read_leaks
from perbyte.store.opening import run_directory
from perbyte.store.reader import open_run, read_known, samples_tables

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from perbyte.model.run import LeakRun

_MACHINE = ("microcode", "cores", "kernel", "distribution", "virtualisation")
PER_BYTE = (
    "cycles_per_call / nullif(size_bytes, 0) AS cycles_per_byte, "
    "size_bytes * 1e3 / ns_per_call AS megabytes_per_second"
)


def query(
    paths: Path | Sequence[Path], sql: str, *, anew: bool = False
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Run one SQL statement; return (column names, rows).

    `cells` and `samples` have the columns of `store.tables` behind a column `run` (the run's id); `cells` has
    `cycles_per_byte` and `megabytes_per_second` as well. `runs` has the conditions, one row per run, `leaks` a row for
    each cell and contrast, of runs that looked for nothing else too. Samples are read only where the statement names
    them, or where with `anew` the figures are computed again. Raises UsageError when the statement fails, StoreError
    when a run cannot be read.
    """
    import pyarrow as pa

    from perbyte.store.tables import figures_table

    directories = [run_directory(path) for path in ([paths] if isinstance(paths, Path) else paths)]
    if not directories:
        raise UsageError("no run was given to query", hint="name at least one run directory")
    alone = {directory: read_leaks(directory) for directory in directories if is_leak_run(directory)}
    opened = [open_run(directory, anew=anew) for directory in directories if directory not in alone]
    rows = [_run_row(run) for run in opened] + [_leak_run_row(run, place) for place, run in alone.items()]
    leaks = [(run.conditions.run_id, run.leaks) for run in opened]
    leaks += [(run.run_id, run.figures) for run in alone.values()]
    behaviours = [(run.conditions.run_id, run.behaviours) for run in opened]
    of_runs, of_behaviour, of_leaks = _schemas()
    views = {
        "runs": pa.Table.from_pylist(rows, of_runs),
        "behaviour": pa.Table.from_pylist(_records(behaviours), of_behaviour),
        "leaks": pa.Table.from_pylist(_records(leaks), of_leaks),
        "figures": _joined(
            [(run.conditions.run_id, figures_table(run.cells)) for run in opened] or [("", figures_table(()))]
        ),
    }
    if "samples" in sql.lower():
        views["samples"] = samples_view(opened)
    with closed_database(
        "the samples cannot be laid out", "query fewer runs", ", or perbyte query --help"
    ) as connection:
        connection.execute("SET enable_external_access = false")
        for name, table in views.items():
            connection.register(name, table)
        connection.execute(f"CREATE VIEW cells AS SELECT *, {PER_BYTE} FROM figures")
        connection.execute("SET lock_configuration = true")
        return fetched(connection.execute(sql))


def cells_view(run: Run) -> pa.Table:
    """The view `cells` of one run."""
    from perbyte.store.tables import figures_table

    with closed_database("the figures cannot be laid out", "take fewer", "") as connection:
        connection.register("figures", _joined([(run.conditions.run_id, figures_table(run.cells))]))
        return connection.sql(f"SELECT *, {PER_BYTE} FROM figures").to_arrow_table()


def samples_view(opened: Sequence[Run]) -> pa.Table:
    """The view `samples` of stored runs. Raises StoreError."""
    from perbyte.store.tables import SAMPLES

    taken = [
        (run.conditions.run_id, table)
        for run in opened
        if run.path
        for table in samples_tables(read_known(run.path))
    ]
    return _joined(taken or [("", SAMPLES.empty_table())])


@contextlib.contextmanager
def closed_database(too_much: str, fewer: str, more: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a database in memory that sees nothing of this process; it is gone afterwards.

    Whoever opens it says which files it may read, and locks that. Raises UsageError where a query fails, with `more`
    behind the names of the views; StoreError (`too_much`, the hint `fewer`) where memory does not do.
    """
    import duckdb

    connection = duckdb.connect(":memory:")
    try:
        connection.execute("SET python_enable_replacements = false")
        yield connection
    except duckdb.Error as error:
        raise UsageError(
            f"the query failed: {error}",
            hint="the views are runs, cells, figures, samples, behaviour and leaks: try DESCRIBE cells"
            + (more if isinstance(error, duckdb.IOException) or more.startswith(",") else ""),
        ) from error
    except Exception as error:
        if not isinstance(error, MemoryError) and type(error).__module__.partition(".")[0] != "pyarrow":
            raise
        raise StoreError(f"{too_much}: {error}", hint=fewer) from error
    finally:
        connection.close()


def fetched(relation: duckdb.DuckDBPyConnection) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Return the names of the columns and the rows of an answer; both empty where it is none."""
    columns = tuple(str(column[0]) for column in (relation and relation.description) or ())
    return columns, relation.fetchall() if columns else []


def _records(of_runs: Iterable[tuple[str, Iterable[Behaviour | LeakFigure]]]) -> list[dict[str, Any]]:
    return [{"run": run_id, **part.record()} for run_id, parts in of_runs for part in parts]


def _run_row(run: Run) -> dict[str, Any]:
    conditions, floor = run.conditions, run.noise_floor
    return _conditions(conditions, run.path) | {
        "study": conditions.study,
        "origin": conditions.origin,
        "seed": str(conditions.policy.seed),
        "complete": run.complete,
        "measuring_s": run.measuring_s,
        "noise_floor": floor.relative if floor else None,
    }


def _leak_run_row(run: LeakRun, place: Path) -> dict[str, Any]:
    """The row of a run that looked for leaks only."""
    return _conditions(run, place) | {
        "study": "",
        "origin": "measured",
        "seed": str(run.seed),
        "complete": True,
        "measuring_s": sum(leak.seconds for leak in run.figures),
        "noise_floor": None,
    }


def _conditions(run: Conditions | LeakRun, path: Path | None) -> dict[str, Any]:
    """What both kinds of runs note in the same words."""
    return {
        "run": run.run_id,
        "path": str(path or ""),
        "started_at": run.started_at,
        "machine": run.machine.cpu_model,
        **{name: getattr(run.machine, name) for name in _MACHINE},
        "perbyte_version": run.perbyte_version,
    }


def _schemas() -> tuple[pa.Schema, pa.Schema, pa.Schema]:
    """The columns of `runs`, `behaviour` and `leaks`; numbers of the latter two may be missing."""
    import pyarrow as pa

    def schema(names: Iterable[str], usual: pa.DataType, others: Mapping[str, pa.DataType]) -> pa.Schema:
        return pa.schema([(name, others.get(name, usual)) for name in names])

    text, number, truth = pa.string(), pa.float64(), pa.bool_()
    runs = ("run", "path", "started_at", "machine", *_MACHINE, "perbyte_version", "study", "origin", "seed")
    counted = {"cores": pa.int64(), "complete": truth, "measuring_s": number, "noise_floor": number}
    behaviour = ("run", *Behaviour(Cell("", "", "", 0, "")).record())
    texts = ("run", "address", "role", "first", "second", "verdict", "unit")
    leaks = (
        *("shift", "shift_low", "shift_high", "spread", "spread_low", "spread_high", "bound", "target"),
        *("p", "null_p", "call", "clean_pairs", "pairs", "null_pairs", "seconds"),
    )
    return (
        schema((*runs, "complete", "measuring_s", "noise_floor"), text, counted),
        schema(behaviour, number, dict.fromkeys(("run", "address", "unknown", "setup_unknown"), text)),
        schema((*texts, "cold", *leaks), number, {**dict.fromkeys(texts, text), "cold": truth}),
    )


def _joined(tables: Sequence[tuple[str, Any]]) -> Any:
    """Tables of several runs as one, each behind a column that names its run."""
    import pyarrow as pa

    from perbyte.store.tables import behind

    return pa.concat_tables(behind(table, run=run_id) for run_id, table in tables).unify_dictionaries()
