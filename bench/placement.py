"""Cost against place in memory: for the libraries at hand, and whether what decides is named where that is known.

    python bench/placement.py known [--trials 20] [--first 1]   functions of bench/placed
    python bench/placement.py libraries [SELECTOR...]  a table in Markdown
    python bench/placement.py tunable   what glibc.cpu.prefer_map_32bit_exec does here

`known` draws the places of each function of bench/placed in new processes each time, and counts what was named.
`libraries` measures cells with `--places` and prints a row for each. No figure is judged here.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from perbyte import places
from perbyte.app.conducting import conduct
from perbyte.app.placing import with_places
from perbyte.app.requests import make_request
from perbyte.measure import choose_cores
from perbyte.measure.placement import PlaceDrawing
from perbyte.model import Cell, Policy
from perbyte.model.placement import Placement
from perbyte.report.behaviour import decider_text, more_text, share_text
from perbyte.runners.build import build
from perbyte.runners.locate import read_spec
from perbyte.runners.session import Session

HERE = Path(__file__).resolve().parent
FUNCTIONS = {
    "none": {()},
    "stack": {("stack",)},
    "distance": {("output - input",)},
    "far": {("distance",)},
    "alias": {(), ("output - input",)},  # by the core
}
USUAL = (
    "{openssl,libgcrypt,nettle,cryptopp}/aes-128-ctr/encrypt@16,1024",
    "{openssl,libgcrypt,nettle,cryptopp}/sha-256/digest@16,1024",
    "{openssl,libgcrypt,nettle,cryptopp}/aes-128-gcm/seal@64,1024",
)


def known(first: int, trials: int, names: Iterable[str]) -> None:
    """Draw places of functions of which it is known what decides, so many times, and count what was named."""
    os.environ["PERBYTE_RUNNERS"] = str(HERE)
    spec = read_spec(HERE / "placed" / "runner.toml")
    build(spec)
    cores = choose_cores(())
    cells = [Cell("placed", name, "encrypt", 2048, "stream/1") for name in names]
    named: dict[str, Counter[tuple[str, ...]]] = {cell.algorithm: Counter() for cell in cells}
    effects: dict[str, list[float]] = {cell.algorithm: [] for cell in cells}
    for trial in range(first, first + trials):
        policy = replace(Policy(), cores=cores, seed=trial)
        for placement in PlaceDrawing({"placed": spec}, policy, cores).take(cells):
            name = placement.cell.algorithm
            named[name][tuple(sorted(each.factor for each in placement.deciders))] += 1
            effects[name] += [each.more.value for each in placement.deciders[:1]]
            if placement.unknown:
                print(f"{name}: {placement.unknown}", file=sys.stderr)
            words = ", ".join(each.factor for each in placement.deciders) or placement.verdict
            print(f"trial {trial}: {name}: {words}", file=sys.stderr, flush=True)
    print("| function | right | named otherwise | how much more, median |\n|---|---|---|---|")
    for name, counts in named.items():
        right = sum(count for factors, count in counts.items() if factors in FUNCTIONS[name])
        others = "; ".join(
            f"{', '.join(factors) or 'nothing'}: {count}"
            for factors, count in counts.items()
            if factors not in FUNCTIONS[name]
        )
        more = f"{100 * statistics.median(effects[name]):.1f} %" if effects[name] else "–"
        print(f"| {name} | {right} of {trials} | {others or '–'} | {more} |")


def libraries(selectors: Sequence[str]) -> None:
    """Measure cells with their places, and print a row for each."""
    with tempfile.TemporaryDirectory() as room:
        done = conduct(
            make_request(selectors, None, None, None), replace(Policy(), budget_s=5.0), out=Path(room) / "run"
        )
        placements = with_places(done).run.placements
    print("| cell | median | 5 % to 95 % of places | slow places | they cost | what decides |")
    print("|---|---|---|---|---|---|")
    for placement in placements:
        print(f"| {' | '.join(_row(placement))} |")


def _row(placement: Placement) -> list[str]:
    cell = placement.cell
    name = f"{cell.runner}/{cell.algorithm}/{cell.operation}@{cell.size_bytes}"
    if placement.unknown:
        return [name, "–", "–", "–", "–", placement.unknown]
    low, _, middle, _, high = (each.estimate.value for each in placement.quantiles)
    deciders = "; ".join(decider_text(each) for each in placement.deciders)
    return [
        name,
        f"{middle:.4g}",
        f"{low:.4g} to {high:.4g}",
        share_text(placement.slow) if placement.slow else "none",
        more_text(placement.slower) if placement.slower else "–",
        deciders or ("nothing that was drawn" if placement.verdict == "undecided" else "nothing"),
    ]


def tunable() -> None:
    """Say where a library lies in processes started as usual, through the loader, and with the tunable of glibc."""
    from perbyte.measure.placement import loaded_command
    from perbyte.runners import find

    spec = find("openssl")
    usual = [spec.fill(part) for part in spec.command]
    listed = subprocess.run(
        [loaded_command(spec, "full")[0], "--list-tunables"], capture_output=True, text=True, check=False
    ).stdout
    print("the loader lists glibc.cpu.prefer_map_32bit_exec:", "prefer_map_32bit_exec" in listed)
    ways = {
        "as usual": usual,
        "through the loader": loaded_command(spec, "full"),
        "with the tunable": ["env", "GLIBC_TUNABLES=glibc.cpu.prefer_map_32bit_exec=1", *usual],
    }
    for name, command in ways.items():
        with Session(spec, command=command) as session:
            session.hello()
            handle = session.prepare("aes-128-ctr", "encrypt", "stream/1", 64, seed=1)
            cell = Cell("openssl", "aes-128-ctr", "encrypt", 64, "stream/1")
            how = {"cell": cell, "epoch": 0, "round": 0, "samples": 1, "limit_ms": 5.0}
            taken = session.measure(handle, forks=1, places=(0, 0, 0, 0), **how)
            *_, library, caller = taken.placed
            print(
                f"{name}: library {library:#x}, caller {caller:#x}, {(library - caller) / 2**30:,.1f} GiB apart"
            )


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["known", "libraries", "tunable"])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--first", type=int, default=1, help="seed of the first trial")
    asked = parser.parse_args()
    places.data_dir("runners")  # says what is wrong outside of a checkout
    if asked.what == "known":
        known(asked.first, asked.trials, asked.names or FUNCTIONS)
    elif asked.what == "libraries":
        libraries(asked.names or USUAL)
    else:
        tunable()


if __name__ == "__main__":
    main()
