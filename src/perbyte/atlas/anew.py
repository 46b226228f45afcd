"""Analyses all runs of an atlas anew: figures under another policy, claims of a study over all machines.

Each piece of work is a few runs of a machine, does not depend on any other, and comes back in the order of the runs;
whoever gives `over`, a map over pieces in this order, decides whether one process does it or many. Results are the
same, bit for bit.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perbyte.atlas.index import Atlas, RunRow, new_token, open_atlas
from perbyte.atlas.reading import Rows, read_figures, read_rows, read_run, read_stored
from perbyte.errors import PerbyteError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

Over = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]
_RUNS, _SAMPLES = 8, 500_000  # most of a piece
_GROUP_ROWS = 60_000
_DIFFERS = 0.001


@dataclass(frozen=True, slots=True)
class Piece:
    """Runs of the atlas at `url`, and what is to be done with them; `turn` is that of the command."""

    url: str
    keys: tuple[str, ...]
    what: Any
    turn: str = ""


@dataclass(slots=True)
class Refigured:
    """What another policy changed: figures that differ by more than a thousandth, and qualities before and after."""

    runs: int = 0
    cells: int = 0
    differ: int = 0
    before: Counter[str] = field(default_factory=Counter)
    after: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def add(self, other: Refigured) -> None:
        """Take in what changed in other runs."""
        self.runs += other.runs
        self.cells += other.cells
        self.differ += other.differ
        self.before += other.before
        self.after += other.after
        self.problems += other.problems


@dataclass(frozen=True, slots=True)
class ClaimOnMachines:
    """A claim over machines: its outcomes by machine, and what tells the machines apart where something does."""

    claim: str
    says: str
    outcomes: dict[str, str]
    apart: str

    @property
    def sentence(self) -> str:
        """The outcome in words."""
        held = [name for name, outcome in self.outcomes.items() if outcome == "reproduced"]
        lost = sorted(name for name, outcome in self.outcomes.items() if outcome == "not reproduced")
        open_ = len(self.outcomes) - len(held) - len(lost)
        text = f"reproduced on {len(held)} of {len(self.outcomes)} machines"
        if lost:
            text += f", not on {', '.join(lost[:9])}{' and others' if len(lost) > 9 else ''}"
            text += f", {self.apart}" if self.apart else ""
        return text + (f"; {open_} could not tell" if open_ else "")


def refigure(atlas: Atlas, changes: dict[str, float], out: Path | None = None, over: Over = map) -> Refigured:
    """Make the figures of all runs anew under their own policy with `changes`; write them to `out` as Parquet.

    Raises StoreError where `out` cannot be written. A run that cannot be read costs itself only.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from perbyte.atlas.adding import SCHEMAS
    from perbyte.store.files import disk_error, replace_atomically

    told = Refigured()
    keys = sorted(atlas.runs, key=lambda key: (atlas.runs[key].machine, atlas.homes[key].token, key))

    def tables() -> Iterator[pa.Table]:
        for pieces in over(refigure_piece, _pieces(atlas, keys, changes)):
            for content, own in pieces:
                told.add(own)
                if own.runs:
                    yield pa.ipc.open_stream(content).read_all()

    def write(place: Path) -> None:
        with pq.ParquetWriter(place, SCHEMAS["cells"], compression="zstd") as writer:
            held: list[pa.Table] = []
            for table in itertools.chain(tables(), [None]):
                held += [table] if table is not None else []
                if held and (table is None or sum(table.num_rows for table in held) >= _GROUP_ROWS):
                    rows = pa.concat_tables(held).unify_dictionaries()
                    writer.write_table(rows, row_group_size=rows.num_rows)
                    held = []

    if out is None:
        for _ in tables():
            pass
        return told
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        replace_atomically(out, write)
    except OSError as error:
        raise disk_error(error, out.parent) from error
    return told


def refigure_piece(piece: Piece) -> list[tuple[bytes, Refigured]]:
    """Refigure a few runs: of each the figures as an Arrow stream, and what changed, or why there are none."""
    import pyarrow as pa

    from perbyte.store.reader import figures_of_stored
    from perbyte.store.tables import behind, figures_table

    atlas, results = _opened(piece.url, piece.turn), []
    rows: Rows | None = None
    with contextlib.suppress(PerbyteError):  # read again for each run, which costs itself only
        rows = read_rows(atlas, piece.keys)
    for key in piece.keys:
        try:
            stored = read_stored(atlas, key, rows)
            before = {figure.cell: figure for figure in read_figures(atlas, key, rows)}
            if not stored.bursts:
                raise UsageError("it has no samples")
            policy = replace(stored.conditions.policy, **piece.what)
            stored = replace(stored, conditions=replace(stored.conditions, policy=policy))
            made = figures_of_stored(stored).cells
        except PerbyteError as error:
            results.append((b"", Refigured(problems=[f"{key}: {str(error)[:300]}"])))
            continue
        differ = sum(
            figure.cell not in before
            or not math.isclose(figure.per_call, before[figure.cell].per_call, rel_tol=_DIFFERS)
            for figure in made
        )
        table = behind(figures_table(made), run=key, machine=atlas.runs[key].machine)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        was, now = (
            Counter(figure.quality.value for figure in figures) for figures in (before.values(), made)
        )
        results.append((sink.getvalue().to_pybytes(), Refigured(1, len(made), differ, was, now)))
    return results


def judge_over(atlas: Atlas, name: str, over: Over = map) -> list[ClaimOnMachines]:
    """Judge the claims of study `name` on the newest complete run that each machine made for it.

    Raises UsageError where there is none.
    """
    from perbyte.studies import find

    study = find(name)
    newest: dict[str, RunRow] = {}
    for row in sorted(atlas.runs.values(), key=lambda row: (row.complete, row.started_at, row.key)):
        if row.study == name:
            newest[row.machine] = row
    if not newest:
        raise UsageError(
            f"no run of this atlas was made for the study '{name}'",
            hint=f"perbyte fleet measure study run {name} --add, or perbyte study run {name} and perbyte atlas add",
        )
    keys = sorted(row.key for row in newest.values())
    outcomes: dict[str, dict[str, str]] = {claim.id: {} for claim in study.claims}
    for pieces in over(judge_piece, _pieces(atlas, keys, name)):
        for key, verdicts in pieces:
            for claim, outcome in verdicts:
                if claim in outcomes:  # a worker's study may have others
                    outcomes[claim][atlas.runs[key].machine] = outcome
    return [
        ClaimOnMachines(claim.id, claim.says, outcomes[claim.id], what_is_apart(outcomes[claim.id], newest))
        for claim in study.claims
    ]


def judge_piece(piece: Piece) -> list[tuple[str, list[tuple[str, str]]]]:
    """Judge a study on a few runs: key, and (claim, outcome) of each claim."""
    from perbyte.studies import find, judge

    atlas, study = _opened(piece.url, piece.turn), find(piece.what)
    judgements = ((key, judge(study, read_run(atlas, key))) for key in piece.keys)
    return [
        (key, [(verdict.claim.id, verdict.outcome.value) for verdict in judgement.verdicts])
        for key, judgement in judgements
    ]


def what_is_apart(outcomes: dict[str, str], rows: dict[str, RunRow]) -> str:
    """Say what all machines have on which a claim is not reproduced, and none on which it is; empty for nothing."""
    held = [rows[name] for name, text in outcomes.items() if text == "reproduced"]
    lost = [rows[name] for name, text in outcomes.items() if text == "not reproduced"]
    if not held or not lost:
        return ""
    for name in sorted({name for row in held for name in row.features}):
        if all(name in row.features for row in held) and not any(name in row.features for row in lost):
            return f"which {'has' if len(lost) == 1 else 'have'} no {name} instructions"
    for name in sorted({name for row in lost for name in row.features}):
        if all(name in row.features for row in lost) and not any(name in row.features for row in held):
            return f"which {'has' if len(lost) == 1 else 'have'} {name} instructions, as none of the others"
    for what in ("architecture", "cpu_vendor", "provider"):
        there = {getattr(row, what) for row in lost}
        if len(there) == 1 and not there & {getattr(row, what) for row in held}:
            return f"whose {what.replace('_', ' ').replace('cpu', 'CPU')} is {there.pop() or 'unknown'}"
    return ""


@lru_cache(maxsize=1)
def _opened(url: str, turn: str) -> Atlas:
    """The atlas at `url`, whose index is read once in a command, named by `turn`, and not for each of its pieces."""
    return open_atlas(url)


def _pieces(atlas: Atlas, keys: Sequence[str], what: Any) -> list[Piece]:
    """Runs of one machine together, as they lie in the same files."""
    url = atlas.place.root if atlas.place.local else atlas.place.url
    pieces: list[Piece] = []
    turn = new_token()
    for _, group in itertools.groupby(keys, lambda key: (atlas.runs[key].machine, atlas.homes[key].token)):
        some: list[str] = []
        for key in group:
            samples = sum(atlas.runs[member].samples for member in (*some, key))
            if some and (len(some) == _RUNS or samples > _SAMPLES):
                pieces.append(Piece(url, tuple(some), what, turn))
                some = []
            some.append(key)
        pieces.append(Piece(url, tuple(some), what, turn))
    return pieces
