"""What a trial measures: the user's rows, and beside them what libraries offer of the same.

Only what every row of the user's can be set against is measured of others: same algorithm, operation, contract and
size. Before that a first look tells whether the user's program starts, answers and comes back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from perbyte.errors import PerbyteError, RunnerRefused, RunnerTimedOut
from perbyte.model import Algorithm, Cell, Run
from perbyte.protocol.messages import HelloAnswer
from perbyte.runners import RunnerSpec, Session, TimeLimits

SIZES = (64, 1024, 16384)
_FIXED = {"signature": (32,), "kem": (32,), "key-agreement": (32,), "kdf": (32, 512)}
QUICK_SIZES = (8192,)
# seconds where a run allows minutes: of many implementations a few may hang
_LOOK = TimeLimits(hello=5, prepare=5, check=5, quit=1)
_FAULTS = frozenset({"incorrect", "disputed", "crashed", "timed-out", "garbled", "absent"})


def sizes_for(algorithm: Algorithm, asked: Sequence[int] | None, *, quick: bool = False) -> tuple[int, ...]:
    """The sizes to measure, in bytes: those asked for, or the usual ones; `quick`: as few as will do."""
    if asked:
        return tuple(asked)
    usual = (algorithm.block_bytes,) if algorithm.kind == "permutation" else _FIXED.get(algorithm.kind)
    return usual or (QUICK_SIZES if quick else SIZES)


def draw_cells(
    algorithm: Algorithm,
    hellos: dict[tuple[str, str], HelloAnswer],
    own: Collection[str],
    sizes: Iterable[int],
) -> tuple[Cell, ...]:
    """The cells of `own` and of all other runners in `hellos` that do the same. Sizes that do not fit are left out."""
    offered: dict[str, list[tuple[str, str]]] = {
        runner: [(row.operation, row.contract) for row in hello.operations if row.algorithm == algorithm.id]
        for (runner, _), hello in hellos.items()
    }
    wanted = {row for name in own for row in offered.get(name, ())}
    fitting = [size for size in sizes if size % algorithm.data_multiple_bytes == 0]
    return tuple(
        Cell(runner, algorithm.id, operation, size, contract)
        for runner, rows in sorted(offered.items(), key=lambda item: (item[0] not in own, item[0]))
        for operation, contract in rows
        if (operation, contract) in wanted
        for size in fitting
    )


def failed(run: Run, own: Collection[str]) -> bool:
    """True when a row of the user's is wrong, breaks off or does not come back; not where its figure is refused."""
    return any(failure.runner in own and failure.kind in _FAULTS for failure in run.failures)


def measured(run: Run, own: Collection[str]) -> bool:
    """True when a row of the user's gave a figure."""
    return any(figure.cell.runner in own for figure in run.cells)


def look(spec: RunnerSpec, size: int) -> tuple[str, str]:
    """('', '') when every operation can be prepared and called at `size`; else what is wrong in a word, and why."""
    try:
        with Session(spec, limits=_LOOK) as session:
            for row in session.hello().operations:
                handle = session.prepare(row.algorithm, row.operation, row.contract, size, seed=7)
                session.check_calls(handle, 1)
    except RunnerTimedOut as error:
        return "hangs", str(error)
    except RunnerRefused as error:
        return "refuses", str(error)
    except PerbyteError as error:
        return "crashes", str(error)
    return "", ""
