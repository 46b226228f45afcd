"""Makes runs for tests. All figures come from made-up formulas; nothing here was ever measured."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from perbyte.model import (
    Calibration,
    Cell,
    CellFigure,
    Conditions,
    Doubt,
    Failure,
    Interval,
    Machine,
    NoiseFloor,
    Policy,
    Quality,
    Run,
    RunnerIdentity,
    Warning,
)
from perbyte.stats.quantity import Unit
from perbyte.studies.claims.availability import OutOfReach
from perbyte.studies.model import (
    Assumption,
    CellGroup,
    GroupStatistic,
    Judgement,
    Number,
    Outcome,
    PairStatistic,
    PublishedFigure,
    PublishedMachine,
    Statistics,
    StatisticsPlan,
    Study,
    Verdict,
)

LIBRARIES = {
    "alphassl": "AlphaSSL",
    "betacrypt": "BetaCrypt",
    "gammalib": "GammaLib",
    "deltacrypt": "Delta++",
}


def made_figure(
    cell: Cell,
    cycles: float | None = 100.0,
    *,
    relative: float = 0.001,
    ns: float | None = None,
    **changes: Any,
) -> CellFigure:
    """A figure of `cycles` per call with an interval of +- `relative`."""
    time = ns if ns is not None else (cycles or 100.0) / 2.5
    centre = time if cycles is None else cycles
    turn = len(cell.address) % 3
    spread = [relative * part for part in ((-1, 0, 1), (1, 0, -1), (0, -1, 1))[turn] + (0.5, -0.5)]
    given: dict[str, Any] = {
        "cell": cell,
        "library": LIBRARIES.get(cell.runner, cell.runner),
        "library_version": "1.2.3-made-up",
        "cycles_per_call": cycles,
        "ns_per_call": time,
        "interval": Interval(centre * (1 - relative), centre * (1 + relative)),
        "samples": 400,
        "clean_samples": 300,
        "epochs": 5,
        "epoch_cycles": () if cycles is None else tuple(cycles * (1 + part) for part in spread),
        "epoch_ns": tuple(time * (1 + part) for part in spread),
        "calls_per_sample": 10,
        "quality": Quality.GOOD,
        "cycle_source": "none" if cycles is None else "probe",
    }
    return CellFigure(**{**given, **changes})


def made_run(cells: tuple[CellFigure, ...], **changes: Any) -> Run:
    """A run with `cells`, on a machine that does not exist."""
    names = dict.fromkeys((cell.cell.runner, cell.cell.cpu) for cell in cells)
    conditions = Conditions(
        run_id="made-up-run",
        perbyte_version="0.0-test",
        catalogue_version="test",
        protocol_version=1,
        started_at="2001-02-03T04:05:06Z",
        command=("perbyte", "measure", "*/aes-*"),
        machine=Machine(
            cpu_model="Imaginary CPU 9000",
            cores=2,
            kernel="6.0-test",
            distribution="Nowhere Linux 1",
            virtualisation="kvm",
        ),
        policy=Policy(),
        plan=tuple(cell.cell.address for cell in cells),
        identities=tuple(
            RunnerIdentity(
                runner=runner,
                cpu=cpu,
                library=LIBRARIES.get(runner, runner),
                library_version="1.2.3-made-up",
                license="Apache-2.0",
                compiler="cc 1.0",
                flags="-O2",
                object_path=f"/usr/lib/lib{runner}.so.1",
                object_sha256="ab" * 32,
                cpu_features="made-up",
                sdk="c/1",
            )
            for runner, cpu in names
        ),
    )
    given: dict[str, Any] = {
        "path": None,
        "conditions": conditions,
        "cells": cells,
        "noise_floor": NoiseFloor(0.0015, (("alphassl/aes-128-ecb/encrypt@16+contract=stream/1", 1.0015),)),
        "measuring_s": 12.5,
        "calibrations": tuple(
            Calibration(runner, cpu, 0, 0, "probe", "", 2.4e9 + number, 1, 6000.0, 500.0, 30.0, {})
            for number, (runner, cpu) in enumerate(names)
        ),
    }
    return Run(**{**given, **changes})


_COSTS = {  # made-up: cycles per message, cycles per byte
    "aes-128-ecb": (60.0, 11.0),
    "camellia-128-ecb": (70.0, 20.0),
    "des-ede3-ecb": (90.0, 120.0),
    "serpent-128-ecb": (80.0, 36.0),
}
_SIZES = (16, 32, 512, 10_000_000)


def imported(cells: tuple[CellFigure, ...]) -> Run:
    """The same figures as a listing of another program gives them: one time each and nothing else."""
    blind = tuple(
        replace(
            cell,
            cycles_per_call=None,
            interval=Interval(0.0, math.inf, dominated_by="unknown"),
            samples=0,
            clean_samples=0,
            epochs=0,
            epoch_cycles=(),
            epoch_ns=(),
            quality=Quality.IMPRECISE,
            cycle_source="none",
        )
        for cell in cells
    )
    run = made_run(blind, measuring_s=0.0, noise_floor=None, calibrations=())
    return replace(
        run, conditions=replace(run.conditions, origin="imported", input={"source": "listing.txt"})
    )


def made_cells(
    algorithms: int = 4, sizes: tuple[int, ...] = _SIZES, libraries: tuple[str, ...] = tuple(LIBRARIES)
) -> tuple[CellFigure, ...]:
    """Cells of `algorithms` ciphers in every library, encrypt and decrypt; AES also without hardware."""
    results = []
    names = list(_COSTS) + [f"made-{n}-cipher-{n % 3}" for n in range(max(algorithms - len(_COSTS), 0))]
    for a, algorithm in enumerate(names[:algorithms]):
        per_message, per_byte = _COSTS.get(algorithm, (50.0 + a, 5.0 + a % 37))
        for r, runner in enumerate(libraries):
            for operation in ("encrypt", "decrypt"):
                for size in sizes:
                    for cpu in ("full", "soft") if algorithm.startswith("aes") else ("full",):
                        each = per_byte / 12 if (algorithm.startswith("aes") and cpu == "full") else per_byte
                        slower = 1 + 0.07 * ((r * 5 + a * 3 + (operation == "decrypt")) % 7)
                        cycles = (per_message + each * size) * slower
                        wide = 0.0005 * (1 + (r + a + size) % 5)
                        quality = Quality.IMPRECISE if wide > 0.0021 else Quality.GOOD
                        results.append(
                            made_figure(
                                Cell(runner, algorithm, operation, size, "stream/1", cpu),
                                cycles,
                                relative=wide,
                                quality=Quality.LONG if size > 10**6 else quality,
                            )
                        )
    return tuple(results)


def usual_run() -> Run:
    """A run as people make them: four libraries, one of which lacks a cipher, and one crash."""
    lacking = [
        cell
        for cell in made_cells()
        if (cell.cell.runner, cell.cell.algorithm) == ("alphassl", "serpent-128-ecb")
    ]
    crashed = [
        cell
        for cell in made_cells()
        if (cell.cell.runner, cell.cell.algorithm) == ("deltacrypt", "des-ede3-ecb")
    ]
    missing = {figure.cell for figure in lacking + crashed}
    failures = [
        Failure("unsupported", figure.cell.runner, "no such cipher", address=figure.cell.address)
        for figure in lacking
    ] + [
        Failure("crashed", figure.cell.runner, "the runner ended by signal 11", address=figure.cell.address)
        for figure in crashed
    ]
    failures.append(Failure("absent", "epsilon", "libepsilon is not installed: apt install libepsilon-dev"))
    return made_run(
        tuple(cell for cell in made_cells() if cell.cell not in missing), failures=tuple(failures)
    )


HOSTILE = (
    '<script>window.pwned=1</script>"\'><img src=x onerror="window.pwned=1">',
    "\x1b[31mred\x1b[0m\x1b]0;title\x07\x9b2J",
    "line\nbreak\r\ttab\x00nul\u2028sep",
    "\u202egnirts\u202c \u2066isolate\u2069 \u200frtl",
    "x" * 10_000,
    "{{ 7*7 }} {% raw %} ${7*7} </script><!-- ]]> &amp;",
    '=HYPERLINK("http://example.invalid")',
)


def hostile_run() -> Run:
    """A run in which every string tries to break out of the place it is shown in."""
    cells = []
    for index, text in enumerate(HOSTILE):
        cell = Cell(
            f"r{index}{text}", f"alg{text}", f"op{text}", 16, f"c{text}/1", "full" if index % 2 else text
        )
        nan = float("nan")
        cycles = (100.0, None, nan, float("inf"), 0.0, -5.0, 1e300)[index]
        figure = made_figure(
            cell,
            cycles,
            warnings=(Warning(Doubt.OTHER, text), Warning(Doubt.TIER, text)),
            library=text,
            library_version=text,
        )
        cells.append(replace(figure, cycle_source=text))
    cells.append(
        made_figure(
            Cell("nan", "aes", "encrypt", 0, "stream/1"),
            None,
            ns=float("nan"),
            interval=Interval(float("nan"), float("inf")),
        )
    )
    run = made_run(tuple(cells))
    bad = HOSTILE[0] + HOSTILE[1] + HOSTILE[2]
    machine = Machine(cpu_model=bad, kernel=HOSTILE[5], distribution=HOSTILE[3], cpu_flags=HOSTILE)
    conditions = replace(
        run.conditions, run_id=bad, machine=machine, command=HOSTILE, started_at=bad, input={bad: HOSTILE}
    )
    failures = tuple(
        Failure(kind, text, text, address=text, expected=text, got=text)
        for text in HOSTILE
        for kind in ("incorrect", text)
    )
    return replace(
        run,
        conditions=conditions,
        failures=failures,
        noise_floor=NoiseFloor(float("nan"), tuple((text, float("nan")) for text in HOSTILE)),
    )


def made_study(run: Run) -> Study:
    """A made-up study whose published figures are those of `run`, made slower by a made-up factor."""
    published = []
    for number, figure in enumerate(run.cells):
        cell = figure.cell
        value = round((figure.cycles_per_byte or 1.0) * (1.1 + 0.3 * (number % 4)), 3)
        published.append(
            PublishedFigure(
                id=f"figure-{number}",
                place="table 2",
                machine="old",
                library=figure.library,
                algorithm=cell.algorithm.split("-")[0].upper()
                + ("" if cell.cpu == "soft" else "-NI" * ("aes" in cell.algorithm)),
                operation=cell.operation,
                size_bytes=cell.size_bytes,
                printed=f"{value:.3f}",
                unit=Unit.CYCLES_PER_BYTE,
                cell=cell.address,
            )
        )
    labels = {
        ("aes-128-ecb", "full"): "AES-NI",
        ("aes-128-ecb", "soft"): "AES",
        ("des-ede3-ecb", "full"): "3DES",
    }
    groups = tuple(
        CellGroup(label, label, (f"*/{algorithm}/*@16+contract=stream/1+cpu={cpu}",))
        for (algorithm, cpu), label in labels.items()
    )
    return Study(
        name="madeup-2001",
        path=Path("madeup-2001"),
        title="A comparison that never took place",
        authors=("N. Obody", "N. Emo"),
        year=2001,
        language="en",
        citation="N. Obody, N. Emo: A comparison that never took place. 2001.",
        question="How fast were four libraries that do not exist?",
        contract="stream/1",
        method=("Every figure is invented.",),
        assumptions=(Assumption("Mode ECB", "the source does not name one"),),
        machines=(PublishedMachine("old", "An imaginary computer", 2e9),),
        groups=groups,
        published=tuple(published),
        claims=(),
        notes="",
    )


def made_judgement(run: Run) -> Judgement:
    """One verdict of each outcome."""
    study = made_study(run)
    sentences = {
        Outcome.REPRODUCED: "AES-NI is the fastest in every library and at every size.",
        Outcome.NOT_REPRODUCED: "Decrypting with Camellia is as fast as encrypting, in all libraries and at all sizes.",
        Outcome.INCONCLUSIVE: "Serpent is the second slowest.",
        Outcome.NOT_TESTABLE: "The smart card is slower.",
    }
    verdicts = tuple(
        Verdict(
            OutOfReach(
                id=f"claim-{number}",
                says=says,
                place=f"section {number}",
                reading="in 32 of 32 places",
                why="invented",
            ),
            outcome,
            (
                f"AlphaSSL 16 B encrypt: 0.32 (0.31 to 0.33), the nearest of 32 ({outcome}).",
                "All others are clearer.",
            ),
            (
                Number("AlphaSSL, 16 B", "AES-NI over AES", 0.3165, 0.3152, 0.3178),
                Number("x", "y", 2.0, 2.0, 2.0, "cycles/byte"),
            ),
        )
        for number, (outcome, says) in enumerate(sentences.items(), start=1)
    )
    pair = PairStatistic("AES", "3DES", 9.0, 0.1, 0.3, 12.3, 1.0, (10.2, 10.1, 10.3), True)
    statistics = Statistics(
        StatisticsPlan("series", ("library",)),
        (
            GroupStatistic(
                (("library", "AlphaSSL"), ("size_bytes", 16)),
                "epoch figures",
                ("AES", "3DES"),
                (3, 3),
                (math.nan, math.nan),
                3.86,
                0.0495,
                (pair,),
            ),
        ),
        ("The tests are run on 3 epoch figures a cell.",),
    )
    return Judgement(study, run.conditions.run_id, verdicts, statistics)


def tiers(soft_winner: str = "b") -> Run:
    """Two libraries whose full tiers a wins, and whose software `soft_winner` wins far more often."""
    cells = []
    for size in (16, 4096):
        for name in "ab":
            full = Cell(name, "aes-128-gcm", "seal", size, "message/1")
            cells.append(made_figure(full, (1.0 if name == "a" else 1.5) * (100 + size)))
            soft = replace(full, cpu="soft")
            cells.append(made_figure(soft, (10 if name == soft_winner else 30) * (100 + size)))
            other = replace(full, algorithm="chacha20-poly1305")
            cells.append(made_figure(other, (2 if name == "a" else 3) * (100 + size)))
    return made_run(tuple(cells), noise_floor=NoiseFloor(0.001, ()))
