"""Fuzzes the readers written in Python: changes kept inputs at random, reads them, and stops at the first surprise.

    python tests/fuzz/fuzz.py TARGET --inputs N [--seed N]

Targets: codec (answers of runners), state, journal, manifest, samples, figures, parquet (files of a run), index, atlas
(all of its files), listings, benchmarks, machine (of other tools), data (studies, catalogue, runner.toml). A reader may
give a value or raise its own errors with a hint; anything else is a crash, which is written to `crash-TARGET.bin` in
the working directory. Kept inputs are in `corpus`, one a line, as Python writes bytes.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec

from perbyte.errors import PerbyteError, StoreError, UsageError
from perbyte.model import Run
from perbyte.protocol import codec, messages

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
WORDS = [
    *(
        b"",
        b"0",
        b"-1",
        b"1e999",
        b"9" * 30,
        b"-0",
        b"NaN",
        b"null",
        b"true",
        b'"',
        b"\\",
        b"\\u0000",
        b"\\ud800",
    ),
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"\n",
        b"\r",
        b"\0",
        b"\xff",
        b"\xe2\x80\xae",
        b" ",
        b"../",
        b"%s",
        b"\x1b[2J",
    ),
    *(b"[" * 50, b"1" * 400, b"k\n", b"bytes", b"e-400", b"0x10", b"_", "\u0661".encode()),
]
GREETING = (
    b'{"id": 1, "ok": true, "protocol": 1, "runner": "x", "sdk": "c", "library": "X", "library_version": "1", '
    b'"license": "MIT", "compiler": "", "flags": "", "object": "/lib/x.so", "cpu_features": "", "tier": "full", '
    b'"operations": [{"algorithm": "sha-256", "operation": "digest", "contract": "oneshot/1", "calls": "x()"}]}\n'
)
Read = Callable[[bytes], object]


def change(whole: bytes, chance: random.Random) -> bytes:
    """One to six small changes: bits, words, runs of bytes left out, doubled or moved."""
    content = bytearray(whole)
    for _ in range(chance.randint(1, 6)):
        size = len(content)
        at = chance.randrange(size + 1)
        kind = chance.randrange(6)
        if kind == 0 and size:
            content[at % size] ^= 1 << chance.randrange(8)
        elif kind == 1:
            content[at:at] = chance.choice(WORDS)
        elif kind == 2:
            del content[at : at + chance.randint(1, 12)]
        elif kind == 3:
            content[at:at] = content[at : at + chance.randint(1, 40)]
        elif kind == 4 and size:
            other = chance.randrange(size)
            content[at : at + 8] = content[other : other + 8]
        else:
            word = chance.choice(WORDS)
            content[at : at + max(len(word), 1)] = word
    return bytes(content)


def codec_target() -> tuple[list[bytes], Read]:
    """Answers to every request, those of the transcripts."""
    vector = messages.Vector(key="00")
    burst = {
        "samples": 40,
        "clean": 10,
        "limit_ms": 6.0,
        "calls": 0,
        "sample_us": 12.0,
        "contention_floor": 0.0,
    }
    burst |= {"contention_tolerance": 0.01, "clock_tolerance": 0.005, "patience": 3}
    requests: list[messages.RunnerRequest] = [
        messages.Hello(id=1),
        messages.Prepare(id=1, algorithm="a", operation="b", contract="c/1", size_bytes=1, seed=1, offset=0),
        messages.CheckCalls(id=1, handle=0, calls=1),
        messages.CheckVector(id=1, handle=0, vector=vector),
        messages.CheckRoundTrip(id=1, handle=0),
        messages.Calibrate(id=1, limit_ms=1.0),
        messages.Watch(id=1, limit_ms=1.0),
        messages.Measure(id=1, handle=0, **burst),
        messages.Quit(id=1),
    ]
    seeds = kept("codec")
    of = {type(each_request).__struct_config__.tag: number for number, each_request in enumerate(requests)}
    for file in sorted((ROOT / "protocol" / "transcripts").glob("*/*.txt")):
        request = 0
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("> ") and (verb := re.search(r'"verb": "(\w+)"', line)):
                request = of.get(verb[1], 0)
            elif line.startswith("< ") and len(line) < 4000:
                answer = re.sub(r'"id": \d+', '"id": 1', line[2:].replace('"*"', "0"))
                seeds.append(b"%c%b\n" % (request, answer.encode()))
    seeds.append(b"\x00" + GREETING)

    def read(content: bytes) -> object:
        request = requests[content[0] % len(requests) if content else 0]
        return codec.decode(content[1:], request, request.answer)

    return seeds, read


def _memory() -> Path | None:
    """A file system in memory, where there is one."""
    shared = Path("/dev/shm")
    return shared if shared.is_dir() else None


def run_target(name: str) -> tuple[list[bytes], Read]:
    """One file of a run of two epochs, read as the store reads it."""
    sys.path.insert(0, str(ROOT / "tests" / "store"))
    from conftest import Specimens  # isort: skip
    from older import make_older  # isort: skip

    from perbyte.store import RunWriter, bursts, open_run
    from perbyte.store.figures import read_figures
    from perbyte.store.journal import salvage_journal
    from perbyte.store.manifest import read_manifest
    from perbyte.store.samples import read_columns
    from perbyte.store.state import read_state
    from perbyte.store.tables import bursts_of, figures_of, read_table

    place = Path(tempfile.mkdtemp(prefix="perbyte-fuzz-", dir=_memory()))
    specimens = Specimens()
    writer = RunWriter.create(place)
    writer.begin(specimens.conditions())
    writer.identified(specimens.identity())
    writer.calibrated(specimens.calibration(1))
    for k in range(4):
        writer.measured(specimens.burst(k, n=3))
    writer.failed(specimens.failure())
    writer.spent(1.5)
    writer.close()
    if name == "journal":
        lines = (place / "journal.jsonl").read_bytes()
        seeds = [lines, *(line + b"\n" for line in lines.splitlines())]
        seeds += [line.partition(b',"crc32"')[0] + b"}\n" for line in lines.splitlines()]  # of older versions
    else:
        with RunWriter.resume(place) as again:
            again.begin(specimens.conditions())
            again.finish((specimens.figure(0), specimens.figure(1)), specimens.floor(), 1.5, True)
        if name == "parquet":
            make_older(place)
        files = {"state": "run.json", "manifest": "manifest.json", "figures": "figures.json"}
        pattern = {"parquet": "*.parquet", "samples": "samples-*"}.get(name) or files[name]
        seeds = [file.read_bytes() for file in sorted(place.glob(pattern))]
    samples = next(iter(place.glob("samples-*")), place / "samples-00000001.npz")

    def parquet(content: bytes) -> object:
        kind = "cells" if b"interval_level" in content else "samples"
        target = samples if kind == "samples" else place / "cells.parquet"
        target.write_bytes(content)
        table = read_table(target, kind)
        try:
            return figures_of(table) if kind == "cells" else list(bursts_of(table))
        except (ValueError, TypeError) as error:  # as the reader of a run has it
            raise StoreError(str(error), hint="damaged") from error

    def journal(content: bytes) -> object:
        (place / "journal.jsonl").write_bytes(content)
        salvage_journal(place)
        return open_run(place) if len(content) % 64 == 0 else list(bursts(place))

    def state(content: bytes) -> object:
        (place / "run.json").write_bytes(content)
        return open_run(place) if len(content) % 64 == 0 else read_state(place)

    def manifest(content: bytes) -> object:
        (place / "manifest.json").write_bytes(content)
        return read_manifest(place)

    def columns(content: bytes) -> object:
        samples.write_bytes(content)
        return list(read_columns(samples).bursts())

    def figures(content: bytes) -> object:
        (place / "figures.json").write_bytes(content)
        return open_run(place) if len(content) % 64 == 0 else read_figures(place)

    reads: dict[str, Read] = {"parquet": parquet, "journal": journal, "state": state, "manifest": manifest}
    reads |= {"samples": columns, "figures": figures}
    return kept(name) + seeds, reads[name]


def atlas_target() -> tuple[list[bytes], Read]:
    """The files of an atlas, one of them changed (the first byte says which): read, pulled, at times asked by SQL."""
    sys.path.insert(0, str(ROOT / "tests" / "store"))
    from conftest import Specimens  # isort: skip

    from perbyte.atlas import add, open_atlas, pull, query
    from perbyte.atlas.reading import read_stored
    from perbyte.store import RunWriter

    home = Path(tempfile.mkdtemp(prefix="perbyte-fuzz-", dir=_memory()))
    specimens, url = Specimens(), str(home / "atlas")
    with RunWriter.create(home / "run") as writer:
        writer.begin(specimens.conditions())
        writer.identified(specimens.identity())
        for k in range(2):
            writer.measured(specimens.burst(k, n=3))
        writer.finish((specimens.figure(0),), specimens.floor(), 1.5, True)
    add(url, [home / "run"])
    files = sorted(file for file in Path(url).rglob("*") if file.is_file())
    wholes = [file.read_bytes() for file in files]
    index = next(k for k, file in enumerate(files) if file.parent.name == "index")
    there = {place.name for place in home.iterdir()}

    def read(content: bytes) -> object:
        k, content = content[0] % len(files) if content else 0, content[1:]
        files[k].write_bytes(content)
        if files[k].suffix == ".parquet":  # an index that knows the new size, or nobody looks inside
            size = b'"bytes":%d,' % len(wholes[k])
            files[index].write_bytes(wholes[index].replace(size, b'"bytes":%d,' % len(content)))
        try:
            atlas = open_atlas(url)
            for key in list(atlas.runs)[:2]:
                read_stored(atlas, key)
                if len(content) % 4 == 0:
                    pull(atlas, [key], home / "out")
            if len(content) % 64 == 0:
                query(atlas, "SELECT count(*), sum(ticks), min(address) FROM samples")
                query(atlas, "SELECT * FROM cells ORDER BY ALL")
            return atlas
        finally:
            shutil.rmtree(home / "out", ignore_errors=True)
            files[k].write_bytes(wholes[k])
            files[index].write_bytes(wholes[index])
            assert {place.name for place in home.iterdir()} == there, "something was written outside"

    return kept("atlas") + [bytes([k]) + whole for k, whole in enumerate(wholes)], read


def index_target() -> tuple[list[bytes], Read]:
    """A segment of an atlas' index, or what says that it is one: opened, and what it names looked for."""
    from perbyte.atlas import open_atlas
    from perbyte.atlas.index import FileRow, RunRow, Segment

    place = Path(tempfile.mkdtemp(prefix="perbyte-fuzz-", dir=_memory()))
    top, token = b'{"perbyte_atlas": 1}\n', "20260101T000000000000-0123abcd"
    run = RunRow(run="r-1", machine="m-1", digest="0" * 64, features=("aes",), libraries=("A 1",))
    file = FileRow("cells", "m-1", "openssl", 5, 100, "a" * 64)
    whole = Segment(schema=1, token=token, runs=[run], files=[file], replaces=[token[:-1] + "0"])
    there = [place / "atlas.json", place / "index" / f"{token}.json"]
    there[1].parent.mkdir()
    inside = {*place.rglob("*"), *there}

    def read(content: bytes) -> object:
        which = int(content[:1] != b"\x00")
        there[1 - which].write_bytes(msgspec.json.encode(whole) if which == 0 else top)
        there[which].write_bytes(content[1:])
        atlas = open_atlas(str(place))
        for segment in atlas.segments:
            for each_file in segment.files:
                path = (place / each_file.name(segment.token)).resolve()
                assert path.is_relative_to(place), f"{path} is outside"
                with contextlib.suppress(StoreError):
                    atlas.place.opened(each_file.name(segment.token), each_file.bytes, each_file.sha256)
        for key in atlas.runs:
            assert (place / key).resolve().parent == place, f"{key!r} would be pulled outside"
        assert {*place.rglob("*")} == inside, "something was written"
        if atlas.problems:
            raise StoreError(atlas.problems[0], hint="left out")
        return atlas

    return [*kept("index"), b"\x00" + top, b"\x01" + msgspec.json.encode(whole)], read


def exchange_target(name: str) -> tuple[list[bytes], Read]:
    """What other tools printed, to runs."""
    from perbyte import exchange
    from perbyte.store.journal import encode
    from perbyte.store.tables import figures_table

    def storable(run: Run) -> object:
        """A run that no file of a run can hold would end the import with a traceback."""
        return encode(run.conditions), figures_table(run.cells)

    folder = {"listings": "listings", "machine": "listings", "benchmarks": "benchmarks"}[name]
    seeds = [
        file.read_bytes()[:4000]
        for file in sorted((ROOT / "tests" / "exchange" / folder).iterdir())
        if file.is_file()
    ]

    def listings(content: bytes) -> object:
        listings_read = exchange.read_listings(exchange.decode(content, "x"), "x")
        return (
            [storable(exchange.make_run(listing, name="x")) for listing in listings_read]
            if len(content) % 4 == 0
            else listings_read
        )

    forms = tuple(exchange.FORMATS)

    def benchmarks(content: bytes) -> object:
        form = forms[len(content) % len(forms)]
        readings = exchange.read_benchmarks(form, exchange.decode(content, "x"), "x")
        if len(content) % 4:
            return readings
        made = exchange.make_benchmark_run(readings, form, name="x", source="x", runner="x", meanings=[])
        return storable(made)

    def machine(content: bytes) -> object:
        return encode(exchange.read_machine(exchange.decode(content, "x").splitlines()))

    reads: dict[str, Read] = {"listings": listings, "benchmarks": benchmarks, "machine": machine}
    return kept(name) + seeds, reads[name]


def data_target() -> tuple[list[bytes], Read]:
    """Data files that a user may write: studies (TOML, CSV), catalogue, runner.toml; the first byte says which."""
    sys.path.insert(0, str(ROOT / "tests" / "studies"))
    from scripted_studies import write_study  # isort: skip

    from perbyte.catalogue.catalogue import Suite
    from perbyte.catalogue.questions import Question
    from perbyte.catalogue.reading import read_algorithms, read_contracts, read_vectors
    from perbyte.catalogue.status import Authority
    from perbyte.datafile import read_toml
    from perbyte.runners.locate import read_spec
    from perbyte.studies.load import read_study

    home = Path(tempfile.mkdtemp(prefix="perbyte-fuzz-", dir=_memory()))
    study, catalogue = write_study(home), ROOT / "catalogue"
    readers: list[tuple[Path, Path, Read]] = [
        *(
            (study / name, study / name, lambda _: read_study(study))
            for name in ("study.toml", "published.csv")
        ),
        (study / "claims.toml", study / "claims.toml", lambda _: read_study(study)),
        (
            catalogue / "algorithms/sha-2.toml",
            home / "a" / "x.toml",
            lambda path: read_algorithms(path.parent),
        ),
        (catalogue / "contracts.toml", home / "contracts.toml", read_contracts),
        (catalogue / "vectors/poly1305.toml", home / "vectors.toml", read_vectors),
        (catalogue / "suites/tls.toml", home / "suite.toml", lambda path: read_toml(path, Suite)),
        (catalogue / "advise/disk.toml", home / "question.toml", lambda path: read_toml(path, Question)),
        (catalogue / "status/iso.toml", home / "status.toml", lambda path: read_toml(path, Authority)),
        (ROOT / "runners/openssl/runner.toml", home / "runner.toml", read_spec),
    ]
    (home / "a").mkdir()
    wholes = [file.read_bytes() for file, _, _ in readers]

    def read(content: bytes) -> object:
        k = content[0] % len(readers) if content else 0
        _, place, reader = readers[k]
        place.write_bytes(content[1:])
        try:
            return reader(place)
        finally:
            if k < 3:
                place.write_bytes(wholes[k])

    deep = [b"\6x = " + b"[" * 5000, b"\6x = " + b"9" * 5000]
    return kept("data") + deep + [bytes([k]) + whole for k, whole in enumerate(wholes)], read


def kept(name: str) -> list[bytes]:
    """The inputs that are kept for a target: those that once were a surprise, and others worth trying again."""
    file = HERE / "corpus" / f"{name}.txt"
    lines = file.read_text(encoding="ascii").splitlines() if file.is_file() else []
    return [ast.literal_eval(line) for line in lines]


OF_RUNS = ("state", "journal", "manifest", "samples", "figures", "parquet")
TARGETS: dict[str, Callable[[], tuple[list[bytes], Read]]] = {
    "codec": codec_target,
    "index": index_target,
    "atlas": atlas_target,
    "data": data_target,
    **{name: (lambda name=name: run_target(name)) for name in OF_RUNS},
    **{name: (lambda name=name: exchange_target(name)) for name in ("listings", "benchmarks", "machine")},
}


def fuzz(target: str, inputs: int, seed: int) -> Counter[str]:
    """Read every kept input and so many changed ones; how each ended. Raises what no reader may raise."""
    seeds, read = TARGETS[target]()
    chance = random.Random(seed)
    ends: Counter[str] = Counter()
    for number in range(inputs):
        content = seeds[number] if number < len(seeds) else change(chance.choice(seeds), chance)
        try:
            read(content)
        except PerbyteError as error:
            ends[type(error).__name__] += 1
            if isinstance(error, (StoreError, UsageError)) and not error.hint:
                raise AssertionError(f"no hint: {error}") from error
        except BaseException:
            Path(f"crash-{target}.bin").write_bytes(content)
            raise
        else:
            ends["read"] += 1
    return ends


def main() -> None:
    """Fuzz one target."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    began = time.monotonic()
    ends = fuzz(asked.target, asked.inputs, asked.seed)
    print(
        f"{asked.target}: {asked.inputs:,} inputs in {time.monotonic() - began:.0f} s, {dict(ends.most_common())}"
    )


if __name__ == "__main__":
    main()
