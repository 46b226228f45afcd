"""A small study and runs made of numbers that the tests choose, in place of measurements."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

from perbyte.model import (
    Cell,
    CellFigure,
    Conditions,
    Failure,
    Interval,
    Machine,
    NoiseFloor,
    Policy,
    Quality,
    Run,
)
from perbyte.studies import Verdict, judge, read_study

STUDY = """
title = "A made-up comparison"
authors = ["Nobody"]
year = 2001
language = "English"
citation = "None."
question = "Does the judging work?"
contract = "stream/1"
method = ["None."]

[[assumptions]]
what = "Something."
why = "Somehow."

[[machines]]
id = "box"
name = "a box"
clock_hz = 1.0e9

[[cells]]
name = "fast"
label = "Fast"
selectors = ["{one,two}/aes-128-ecb/{encrypt,decrypt}@16,32,512"]
quick = ["{one,two}/aes-128-ecb/{encrypt,decrypt}@16,32"]
block_bytes = 16
tags = { kind = "new" }

[[cells]]
name = "mid"
label = "Mid"
selectors = ["{one,two}/camellia-128-ecb/{encrypt,decrypt}@16,32,512"]
quick = ["{one,two}/camellia-128-ecb/{encrypt,decrypt}@16,32"]
block_bytes = 16
tags = { kind = "new" }

[[cells]]
name = "slow"
label = "Slow"
selectors = ["{one,two}/des-ecb/{encrypt,decrypt}@16,32,512"]
quick = []
block_bytes = 8
tags = { kind = "old" }

[[cells]]
name = "any"
label = "Any"
selectors = ["*/md5/digest@64+contract=oneshot/1"]
tags = { kind = "hash" }

[statistics]
compare = "group"
group_by = ["runner", "operation", "size_bytes"]
where = { kind = ["new", "old"] }
"""

PUBLISHED = """\
id,place,machine,library,algorithm,operation,size_bytes,value,unit,calls,available,cell,note
a,table,box,One,Fast,encrypt,16,2.5,cycles/byte,1,yes,one/aes-128-ecb/encrypt@16,
b,table,box,One,Mid,encrypt,16,11,cycles/byte,1,yes,one/camellia-128-ecb/encrypt@16,
c,table,box,One,Slow,encrypt,16,44,cycles/byte,1,yes,one/des-ecb/encrypt@16,
d,table,box,One,Slow,decrypt,16,45,cycles/byte,1,yes,one/des-ecb/decrypt@16,
e,table,box,Two,Fast,encrypt,16,0.00,1000 bytes/s,1,no,two/aes-128-ecb/encrypt@16,not built
f,table,box,,MD5,digest,64,100,Mbit/s,1,yes,*/md5/digest@64+contract=oneshot/1,
"""

CLAIM = """
[[claims]]
id = "any"
says = "Something."
place = "1"
form = "out_of_reach"
why = "Nothing to see."
"""

ALGORITHMS = {"fast": "aes-128-ecb", "mid": "camellia-128-ecb", "slow": "des-ecb"}
COSTS = {
    "fast": {16: 2.0, 32: 1.5, 512: 1.0},
    "mid": {16: 11.0, 32: 10.5, 512: 10.0},
    "slow": {16: 41.0, 32: 40.5, 512: 40.0},
}

Value = float | tuple[float, float] | None
Overrides = dict[str, Value]


def write_study(
    place: Path,
    *,
    study: str = STUDY,
    published: str = PUBLISHED,
    claims: str = CLAIM,
    notes: str = "Nothing.\n",
    name: str = "made-up",
) -> Path:
    """Write the four files of a study and return its folder."""
    folder = place / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.toml").write_text(study, encoding="utf-8")
    (folder / "published.csv").write_text(published, encoding="utf-8")
    (folder / "claims.toml").write_text(claims, encoding="utf-8")
    (folder / "NOTES.md").write_text(notes, encoding="utf-8")
    return folder


def scripted_run(
    overrides: Overrides | None = None,
    *,
    width: float = 0.001,
    floor: float | None = 0.001,
    failures: tuple[Failure, ...] = (),
    study: str = "made-up",
    complete: bool = True,
    cycles: bool = True,
    epochs: int = 3,
    spread: float = 0.0005,
) -> Run:
    """A run of the made-up study: COSTS per byte, changed by `overrides`.

    Keys of `overrides` are globs over `runner/group/operation@size`; values are a cost per byte, a pair of a cost and
    the relative half-width of its interval, or None for no figure. Later keys win.
    """
    figures = []
    for runner in ("one", "two"):
        for group, costs in COSTS.items():
            for operation in ("encrypt", "decrypt"):
                for size, cost in costs.items():
                    value: Value = cost
                    for glob, other in (overrides or {}).items():
                        if fnmatchcase(f"{runner}/{group}/{operation}@{size}", glob):
                            value = other
                    if value is not None:
                        cost, half = value if isinstance(value, tuple) else (value, width)
                        cell = Cell(runner, ALGORITHMS[group], operation, size, "stream/1")
                        figures.append(
                            figure_of(cell, cost, half, cycles=cycles, epochs=epochs, spread=spread)
                        )
    for name, cost in (overrides or {}).items():
        if name.startswith("md5/") and isinstance(cost, float):
            cell = Cell(name.removeprefix("md5/"), "md5", "digest", 64, "oneshot/1")
            figures.append(figure_of(cell, cost, width, cycles=cycles, epochs=epochs, spread=spread))
    return Run(
        path=None,
        conditions=Conditions(
            run_id="scripted",
            perbyte_version="0",
            catalogue_version="0",
            protocol_version=1,
            started_at="2001-01-01T00:00:00Z",
            command=(),
            machine=Machine(),
            policy=Policy(),
            plan=(),
            study=study,
        ),
        cells=tuple(figures),
        failures=failures,
        noise_floor=None if floor is None else NoiseFloor(floor, ()),
        complete=complete,
    )


def figure_of(
    cell: Cell,
    per_byte: float,
    half: float = 0.001,
    *,
    cycles: bool = True,
    epochs: int = 3,
    spread: float = 0.0005,
    ghz: float = 2.0,
) -> CellFigure:
    """A figure of `per_byte` cycles, its samples good for +-`half` (relative), its epochs `spread` apart (relative).

    Where a call takes no data, `per_byte` is what the call costs.
    """
    call = per_byte * max(cell.size_bytes, 1)
    ns = call / ghz
    unit = call if cycles else ns
    offsets = [1 + spread * (number - (epochs - 1) / 2) for number in range(epochs)]
    return CellFigure(
        cell=cell,
        library=f"Library {cell.runner}",
        library_version="1.0",
        cycles_per_call=call if cycles else None,
        ns_per_call=ns,
        interval=Interval(unit * (1 - half), unit * (1 + half), dominated_by="samples"),
        samples=100,
        clean_samples=90,
        epochs=epochs,
        epoch_cycles=tuple(call * offset for offset in offsets) if cycles else (),
        epoch_ns=tuple(ns * offset for offset in offsets),
        calls_per_sample=10,
        quality=Quality.GOOD,
        cycle_source="probe" if cycles else "none",
    )


def verdict_of(
    tmp_path: Path, form: str, body: str, overrides: Overrides | None = None, **run: object
) -> Verdict:
    """The verdict on a single claim of the made-up study, on a scripted run."""
    claim = f'[[claims]]\nid = "c"\nsays = "s"\nplace = "p"\nform = "{form}"\n{body}'
    study = read_study(write_study(tmp_path, claims=claim))
    (verdict,) = judge(study, scripted_run(overrides, **run)).verdicts  # type: ignore[arg-type]
    return verdict
