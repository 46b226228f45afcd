"""What hostile files do to the readers of an atlas: changed bytes by the thousand, in processes that may crash.

    nice .venv/bin/python bench/hostile.py [--inputs 1000000] [--seed 7] [--place DIRECTORY]

Every input is an atlas in which one file was changed: bits, bytes, cuts, insertions, numbers at their limits, words
with slashes and dots. It is opened, listed, read, pulled and (one in fifty) asked by SQL. Whatever is raised must be an
error of Perbyte's; whatever is written must lie in the directory that was named; no process may die.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from atlas import generated
from perbyte.atlas import open_atlas, pull, query, read_run
from perbyte.atlas.adding import bring
from perbyte.atlas.reading import read_stored
from perbyte.errors import PerbyteError

BATCH = 2000
WORDS = (
    b"../../../x",
    b"/etc/passwd",
    b"..",
    b"\x00",
    b"\xff\xfe",
    b"-1",
    b"1e999",
    b"9" * 30,
    b"null",
    b"[" * 300,
)


def changed(content: bytes, draw: random.Random) -> bytes:
    """The content with some of it changed."""
    made = bytearray(content)
    for _ in range(draw.choice((1, 1, 1, 2, 4, 16))):
        place = draw.randrange(len(made) + 1) if made else 0
        if draw.random() < 0.3:
            place = max(len(made) - 1 - int(draw.expovariate(0.01)), 0)  # footers stand at the end
        kind = draw.randrange(7)
        if kind == 0 and place < len(made):
            made[place] ^= 1 << draw.randrange(8)
        elif kind == 1 and place < len(made):
            made[place] = draw.choice((0, 1, 127, 128, 255, draw.randrange(256)))
        elif kind == 2:
            del made[place : place + draw.randrange(1, 64)]
        elif kind == 3:
            made[place:place] = draw.randbytes(draw.randrange(1, 32))
        elif kind == 4:
            made[place:place] = draw.choice(WORDS)
        elif kind == 5:
            word = draw.choice(WORDS)
            made[place : place + len(word)] = word
        elif made:
            other = draw.randrange(len(made))
            made[place : place + 16] = made[other : other + 16]
    return bytes(made)


def fitted(content: bytes, size: int) -> bytes:
    """Cut or filled to a size, because the index knows it."""
    return content[:size].ljust(size, b"\0")


def attempt(url: str, out: Path, sql: bool) -> str:
    """Read all there is; return what came of it."""
    try:
        atlas = open_atlas(url)
        for key in list(atlas.runs)[:3]:
            read_run(atlas, key)
            read_stored(atlas, key)
            pull(atlas, [key], out)
        if sql:
            query(atlas, "SELECT count(*), sum(ticks), min(address) FROM samples")
            query(atlas, "SELECT run, address, warnings, cycles_per_byte FROM cells ORDER BY ALL LIMIT 5")
        return "refused" if atlas.problems else "read"
    except PerbyteError:
        return "refused"


def batch(place: Path, files: list[Path], first: int, count: int, seed: int) -> None:
    """Do a batch in this process; what is wrong ends it."""
    out = place.parent / "out"
    kept = {file: file.read_bytes() for file in files}
    small = [file for file in files if file.suffix == ".json"]
    told: Counter[str] = Counter()
    for number in range(first, first + count):
        draw = random.Random(f"{seed}-{number}")
        file = draw.choice(small) if draw.random() < 0.8 else draw.choice(files)
        content = changed(kept[file], draw)
        if file.suffix == ".parquet" and draw.random() < 0.95:
            content = fitted(content, len(kept[file]))
        file.write_bytes(content)
        try:
            told[attempt(str(place), out, number % 50 == 0)] += 1
        except BaseException as error:
            print(
                f"input {number} of seed {seed}, {file.name}: {type(error).__name__}: {error}"[:400],
                flush=True,
            )
            os._exit(3)
        finally:
            file.write_bytes(kept[file])
            shutil.rmtree(out, ignore_errors=True)
    there = {one.name for one in place.parent.iterdir()}
    if there != {place.name}:
        print(f"written outside: {there}", flush=True)
        os._exit(4)
    (place.parent.parent / "told").write_text(" ".join(f"{name} {n}" for name, n in sorted(told.items())))
    os._exit(0)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--place", type=Path, default=Path("/dev/shm"))
    arguments = parser.parse_args()
    top = Path(tempfile.mkdtemp(prefix="hostile-", dir=arguments.place))
    place = top / "within" / "atlas"
    bring(open_atlas(str(place), create=True).place, generated(2, 4, 3, 2))
    files = sorted(one for one in place.rglob("*") if one.is_file())
    begun, told, bad = time.monotonic(), Counter[str](), 0
    for first in range(0, arguments.inputs, BATCH):
        count = min(BATCH, arguments.inputs - first)
        child = os.fork()
        if not child:
            batch(place, files, first, count, arguments.seed)
        _, status = os.waitpid(child, 0)
        if status:
            bad += 1
            how = (
                f"signal {os.WTERMSIG(status)}"
                if os.WIFSIGNALED(status)
                else f"code {os.WEXITSTATUS(status)}"
            )
            print(f"inputs {first} to {first + count - 1}: a process ended by {how}", flush=True)
            shutil.rmtree(top)
            (top / "within").mkdir(parents=True)
            bring(open_atlas(str(place), create=True).place, generated(2, 4, 3, 2))
            files = sorted(one for one in place.rglob("*") if one.is_file())
            continue
        words = (top / "told").read_text().split()
        told.update({name: int(n) for name, n in zip(words[::2], words[1::2], strict=True)})
        if first % (50 * BATCH) == 0:
            print(f"{first + count:,} inputs, {time.monotonic() - begun:.0f} s: {dict(told)}", flush=True)
    print(
        f"{arguments.inputs:,} inputs, {time.monotonic() - begun:.0f} s: {dict(told)}; {bad} batches went wrong"
    )
    shutil.rmtree(top)


if __name__ == "__main__":
    main()
