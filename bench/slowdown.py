"""Is a slowdown of 2 % in a copy of a library found by `--fail-above 1%`, and none called where there is none?

    .venv/bin/python bench/slowdown.py --prepare DIR
    .venv/bin/python bench/slowdown.py --tries 10 --kind slow DIR
    .venv/bin/python bench/slowdown.py --tries 20 --kind same DIR

`--prepare` copies the reference runner three times: `old`; `same`, the same sources under another name; and `slow`,
whose RIPEMD has a chain of ANDs on the path from block to block, about 2 % of its cost (chosen by a measurement; the
output stays right, and is checked as any runner's). Each try is one run of two of them, interleaved, with a seed, and
so a memory layout and order, of its own, followed by `perbyte compare`. Prints the exit codes: 1 slower, 0 not slower,
5 undecided.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from perbyte import places

CELL = "ripemd/digest@8KiB"
BLOCK = 64
FIXED = 4  # core cycles that the chain takes besides its turns, which take one each
HOOK = "static void compress(uint32_t *chain, const uint8_t *block)\n{\n"
# A chain of zeros that depends on all four words and that all four depend on: out-of-order execution cannot hide it.
SLOWER = """\
	{{
		uint32_t word = chain[0] ^ chain[1] ^ chain[2] ^ chain[3], zero = 0;
		for (int turn = 0; turn < {count}; turn++)
			__asm__ volatile("and %1, %0" : "+r"(word) : "r"(zero));
		for (int index = 0; index < 4; index++)
			chain[index] += word;
	}}
"""


def perbyte(directory: Path, *words: object) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PERBYTE_RUNNERS": str(directory / "runners"),
        "PERBYTE_HOME": str(directory / "home"),
    }
    command = [sys.executable, "-m", "perbyte.cli", *map(str, words)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def copy(directory: Path, name: str, slower: int = 0) -> None:
    here = directory / "runners" / name
    shutil.copytree(places.data_dir("runners") / "reference", here)
    source = here / "ripemd.c"
    text = source.read_text()
    if text.count(HOOK) != 1:
        sys.exit(f"{source} has changed: there is no '{HOOK.strip()}'")
    source.write_text(text.replace(HOOK, HOOK + SLOWER.format(count=slower)) if slower else text)
    made = perbyte(directory, "build", name)
    if made.returncode:
        sys.exit(made.stdout + made.stderr)


def run(directory: Path, other: str, seed: int, budget: str) -> Path:
    place = directory / "runs" / f"{other}-{seed}"
    shutil.rmtree(place, ignore_errors=True)
    ask = f"{{old,{other}}}/{CELL}"
    done = perbyte(directory, "measure", ask, "--budget", budget, "--seed", seed, "--out", place, "-q")
    if done.returncode:
        sys.exit(done.stderr)
    return place


def compared(directory: Path, other: str, place: Path, limit: str) -> tuple[int, dict[str, Any]]:
    done = perbyte(
        directory, "compare", "old/*", f"{other}/*", "--run", place, "--fail-above", limit, "--json"
    )
    if done.returncode not in (0, 1, 5):
        sys.exit(done.stderr)
    return done.returncode, json.loads(done.stdout)["rows"][0]["figures"][1]


def prepare(directory: Path) -> None:
    for name in ("old", "same"):
        copy(directory, name)
    _, figure = compared(directory, "same", run(directory, "same", 0, "15s"), "1%")
    blocks = 8192 / BLOCK + 1
    count = max(1, round(0.02 * figure["cycles_per_call"] / blocks - FIXED))
    copy(directory, "slow", count)
    print(f"{figure['cycles_per_call'] / blocks:.0f} cycles a block; a chain of {FIXED + count} cycles added")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=Path)
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("--kind", choices=("slow", "same"), default="slow")
    parser.add_argument("--tries", type=int, default=10)
    parser.add_argument("--first", type=int, default=1, help="seed of the first try")
    parser.add_argument("--budget", default="15s")
    parser.add_argument("--limit", default="1%")
    given = parser.parse_args()
    if given.prepare:
        prepare(given.directory)
        return
    codes: Counter[int] = Counter()
    for seed in range(given.first, given.first + given.tries):
        place = run(given.directory, given.kind, seed, given.budget)
        code, figure = compared(given.directory, given.kind, place, given.limit)
        codes[code] += 1
        seconds = json.loads(perbyte(given.directory, "show", place, "--json").stdout)["run"]["measuring_s"]
        print(
            f"seed {seed:3}: {figure['ratio']:.4f} ({figure['interval_low']:.4f} to {figure['interval_high']:.4f}), "
            f"{seconds:.1f} s, exit code {code}",
            flush=True,
        )
    table = {1: "slower", 0: "not slower", 5: "undecided"}
    print(f"{given.kind}: " + ", ".join(f"{codes[code]} {word}" for code, word in table.items()))


if __name__ == "__main__":
    main()
