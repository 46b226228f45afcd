"""What a site shows of an atlas, as values: the figures that stand today, what changed before, and all data as files.

Of a machine's runs the newest that is not in doubt stands for a cell, among those of the version that was measured
last. Each figure keeps the name of its run. Nothing is ranked, drawn or written as HTML here.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from perbyte.atlas.index import Atlas, RunRow
from perbyte.atlas.overview import Point, PointCost, per, positive
from perbyte.atlas.reading import database, query, read_state
from perbyte.errors import StoreError
from perbyte.model.text import FORMULA
from perbyte.stats.across import ACROSS_RUNS

if TYPE_CHECKING:
    import pyarrow as pa


class RankedWork(NamedTuple):
    """What is ranked against each other; `cpu` is a tier, `state` that of the caches."""

    algorithm: str
    operation: str
    contract: str
    size_bytes: int
    cpu: str
    state: str


# what stands behind its counterpart where both are there
_SECOND = ("open", "decrypt", "verify", "decapsulate")
_FORMULA = f"^[\\t\\r{re.escape(''.join(FORMULA))}]"  # what a spreadsheet would compute
_USABLE = "ns_per_call > 0 AND isfinite(ns_per_call)"
_FIGURES = f"""
    SELECT run, machine, runner, library, library_version, algorithm, operation, contract, size_bytes, cpu,
       coalesce(state, 'loop') AS state, cycles_per_call, ns_per_call, interval_low, interval_high, quality,
       warning_kinds, started_at, complete
    FROM cells JOIN (SELECT run, started_at, complete FROM runs) USING (run)
    WHERE twin = 0 AND {_USABLE}"""
_KEY = "machine, runner, algorithm, operation, contract, size_bytes, cpu, state"
_IN_DOUBT = "quality IN ('noisy', 'unsettled', 'doubted')"
_STAND = """machine, runner, library, library_version, algorithm, operation, contract, size_bytes, cpu, state,
       cycles_per_call, ns_per_call, interval_low, interval_high, quality, warning_kinds, run, started_at"""
_STANDING = f"""
    WITH figures AS ({_FIGURES}), marked AS (
        SELECT *, first_value(library_version) OVER newest AS latest, count(*) OVER (PARTITION BY {_KEY}) AS times
        FROM figures WINDOW newest AS (PARTITION BY {_KEY} ORDER BY started_at DESC, run DESC))
    SELECT {_STAND}, times
    FROM marked WHERE library_version IS NOT DISTINCT FROM latest
    QUALIFY row_number() OVER (PARTITION BY {_KEY} ORDER BY {_IN_DOUBT}, started_at DESC, run DESC) = 1
    ORDER BY {_KEY}"""
_CHANGES = f"""
    WITH figures AS ({_FIGURES}), pairs AS (
        SELECT *, lag(cycles_per_call) OVER w AS old_cycles, lag(ns_per_call) OVER w AS old_ns,
           lag(interval_low) OVER w AS old_low, lag(interval_high) OVER w AS old_high,
           lag(quality) OVER w AS old_quality,
           lag(warning_kinds) OVER w AS old_kinds, lag(library_version) OVER w AS old_version,
           lag(run) OVER w AS old_run, lag(started_at) OVER w AS old_started
        FROM figures WINDOW w AS (PARTITION BY {_KEY} ORDER BY started_at, run))
    SELECT {_STAND}, 1,
       old_version, old_cycles, old_ns, old_low, old_high, old_quality, old_kinds, old_run, old_started
    FROM pairs WHERE old_run IS NOT NULL
       AND abs(ln(CASE WHEN cycles_per_call > 0 AND old_cycles > 0 THEN cycles_per_call / old_cycles
           ELSE ns_per_call / old_ns END)) > {math.log1p(ACROSS_RUNS)!r}
    ORDER BY {_KEY}, started_at, run"""


@dataclass(frozen=True, slots=True)
class Stand:
    """A figure of a machine as a site shows it: `cost` has its value, interval and doubts.

    `cost.runs` is how many runs of the machine have the cell, `cost.first` when the figure's own run began.
    """

    work: RankedWork
    runner: str
    run: str
    cost: PointCost

    @property
    def machine(self) -> str:
        """The machine that measured it."""
        return self.cost.machine


@dataclass(frozen=True, slots=True)
class Followed:
    """Two figures of one cell, runner and machine that followed each other and differ by more than runs do."""

    before: Stand
    after: Stand


@dataclass(frozen=True, slots=True)
class Gathered:
    """All that a site shows. `pairs` is how many figures followed another one; `apart` are those that may differ.

    `courses` has each cost of one work and machine in the order of time. `failures` is by run: (runner, kind, message,
    cells). `twins` counts figures of second processes, which say how far two of the same differ, `unusable` those that
    are no positive number; neither is ranked. `problems` are what could not be read.
    """

    runs: tuple[RunRow, ...]
    stands: tuple[Stand, ...]
    pairs: int
    apart: tuple[Followed, ...]
    failures: dict[str, tuple[tuple[str, str, str, int], ...]]
    twins: int = 0
    unusable: int = 0
    problems: tuple[str, ...] = ()
    courses: dict[tuple[RankedWork, str], list[Stand]] = field(default_factory=dict)


def gather(atlas: Atlas) -> Gathered:
    """Read what a site shows. Raises what `query` raises."""
    stands = tuple(_stand(row) for row in query(atlas, _STANDING)[1])
    several = any(len(runs) > 1 for runs in atlas.machines().values())
    changes = query(atlas, _CHANGES)[1] if several else []
    count = f"SELECT count(*), count(DISTINCT ({_KEY})) FROM ({_FIGURES})"
    figures, cells = query(atlas, count)[1][0]
    left = f"SELECT count(*) FILTER (twin <> 0), count(*) FILTER (twin = 0 AND NOT ({_USABLE})) FROM cells"
    twins, unusable = query(atlas, left)[1][0]
    failures, problems = _failures(atlas)
    return Gathered(
        runs=tuple(atlas.runs[key] for key in sorted(atlas.runs)),
        stands=stands,
        pairs=int(figures) - int(cells),
        apart=tuple(_pair(row) for row in changes),
        failures=failures,
        twins=int(twins),
        unusable=int(unusable),
        problems=(*atlas.problems, *problems),
        courses=_courses(atlas, stands) if several else {},
    )


def write_data(atlas: Atlas, directory: Path) -> dict[str, int]:
    """Write all figures and runs into `directory` as Parquet and CSV; return how many rows each file has.

    Texts of CSV files that a spreadsheet would take for formulas stand behind an apostrophe.
    """
    import pyarrow.parquet as pq

    directory.mkdir(parents=True, exist_ok=True)
    written: dict[str, int] = {}
    for name, sql in (
        ("figures", "SELECT * FROM cells ORDER BY run, address"),
        ("runs", "SELECT * FROM runs ORDER BY run"),
    ):
        with database(atlas, sql) as connection:
            table = connection.sql(sql).to_arrow_table()
        pq.write_table(table, directory / f"{name}.parquet", compression="zstd")
        _write_csv(table, directory / f"{name}.csv.gz")
        written |= {f"{name}.parquet": table.num_rows, f"{name}.csv.gz": table.num_rows}
    return written


def _write_csv(table: pa.Table, path: Path) -> None:
    import gzip

    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv

    for place, column in enumerate(table.schema):
        values = table.column(place)
        if isinstance(column.type, pa.DictionaryType):
            values = values.cast(pa.string())
        elif pa.types.is_list(column.type):
            lists = values.to_pylist()
            values = pa.array(
                [None if row is None else "; ".join(map(str, row)) for row in lists], pa.string()
            )
        if pa.types.is_string(values.type):
            active = pc.fill_null(pc.match_substring_regex(values, _FORMULA), False)
            values = pc.if_else(active, pc.binary_join_element_wise("'", values, ""), values)
        table = table.set_column(place, column.name, values)
    # no time of its making in the header: the same atlas gives the same file
    with (
        path.open("wb") as raw,
        gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed,
        pa.PythonFile(packed, "w") as sink,
    ):
        pyarrow.csv.write_csv(table, sink)


def _stand(row: tuple[Any, ...]) -> Stand:
    machine, runner, library, version, *work, cycles, ns, low, high, quality, kinds, run, started, runs = row
    algorithm, operation, contract, size, tier, state = work
    point: Point = (algorithm, operation, contract, int(size))
    parts = int(size) if per(point) == "byte" and size else 1
    core = positive(cycles)
    whole = core or float(ns)
    known = low is not None and high is not None and math.isfinite(low) and math.isfinite(high)
    # the farther end counts: an interval that is not in the middle is never shown narrower than it is
    width = max(high - whole, whole - low) / whole if known else math.inf
    cost = PointCost(
        point,
        machine,
        library or runner,
        version or "",
        core and core / parts,
        float(ns) / parts,
        int(runs),
        started,
        width if width >= 0 else math.inf,
        (str(quality),),
        tuple(map(str, kinds or ())),
    )
    return Stand(RankedWork(*point, tier, state), runner, run, cost)


def _pair(row: tuple[Any, ...]) -> Followed:
    after, (version, cycles, ns, low, high, quality, kinds, run, started) = row[:19], row[19:]
    before = (*after[:3], version, *after[4:10], cycles, ns, low, high, quality, kinds, run, started, 1)
    return Followed(_stand(before), _stand(after))


def _courses(atlas: Atlas, stands: tuple[Stand, ...]) -> dict[tuple[RankedWork, str], list[Stand]]:
    """Every figure of the works that pages show first, machine by machine, in the order of time."""
    works = sorted(set(main_works(stands).values()))
    if not works:
        return {}
    places = ", ".join(["(?, ?, ?, ?, ?, ?)"] * len(works))
    _, rows = query(
        atlas,
        f"""SELECT {_STAND}, 1
            FROM ({_FIGURES}) WHERE (algorithm, operation, contract, size_bytes, cpu, state) IN ({places})
            ORDER BY started_at, run, runner""",
        [part for work in works for part in work],
    )
    standings: dict[tuple[RankedWork, str], list[Stand]] = {}
    for row in rows:
        standing = _stand(row)
        standings.setdefault((standing.work, standing.machine), []).append(standing)
    return {
        key: course for key, course in standings.items() if len({standing.run for standing in course}) > 1
    }


def main_works(stands: tuple[Stand, ...]) -> dict[str, RankedWork]:
    """The work of each algorithm that its page shows first: what most machines and libraries have, at its largest."""
    there: dict[RankedWork, set[tuple[str, str]]] = {}
    for standing in stands:
        there.setdefault(standing.work, set()).add((standing.machine, standing.runner))

    def first(work: RankedWork) -> tuple[object, ...]:
        usual = (work.cpu != "full", work.state != "loop", -len(there[work]), -work.size_bytes)
        return (*usual, work.operation in _SECOND, work)

    works: dict[str, RankedWork] = {}
    for work in sorted(there, key=first):
        works.setdefault(work.algorithm, work)
    return works


def _failures(atlas: Atlas) -> tuple[dict[str, tuple[tuple[str, str, str, int], ...]], list[str]]:
    """What has no figure, by run and cause; a state that cannot be read is a problem, and costs itself only."""
    causes_of: dict[str, tuple[tuple[str, str, str, int], ...]] = {}
    problems: list[str] = []
    for key, row in sorted(atlas.runs.items()):
        if not row.failures:
            continue
        try:
            state = read_state(atlas, key)
        except StoreError as error:
            problems.append(f"{key}: what failed cannot be read: {error}")
            continue
        causes = Counter(
            (failure.runner, failure.kind, failure.message)
            for failure in state.failures
            if "+twin=" not in failure.address
        )
        causes_of[key] = tuple((*cause, count) for cause, count in sorted(causes.items()))
    return causes_of, problems
