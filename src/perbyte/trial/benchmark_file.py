"""Benchmark files of a project as runners: what a program of theirs lists, and the catalogue's view of it.

A routine of a user's has no known answer. So its id begins with `unverified-`, wherever it stands.
"""

from __future__ import annotations

import hashlib
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from perbyte.atomic import new_directory
from perbyte.errors import EnvironmentLacking, UsageError
from perbyte.model import Cell
from perbyte.model.algorithm import Benchmark
from perbyte.model.text import plain
from perbyte.runners import RunnerSpec
from perbyte.trial.building import captured, home, make_executable
from perbyte.trial.kept import places_for
from perbyte.trial.own_algorithm import describe_algorithms
from perbyte.trial.program import DoesNotBuild, describe

WAY_VARIABLE, PLAN_VARIABLE = "PERBYTE_BENCH", "PERBYTE_BENCH_PLAN"
PROGRAM, PLAN = "program", "benchmarks.json"
_LIMIT_S = 120


class BenchmarkListing(msgspec.Struct, frozen=True):
    """What a program lists: its benchmarks, and settings of the file that nothing follows."""

    benchmarks: tuple[Benchmark, ...] | None = None
    unheeded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BuiltBenchmarks:
    """A program of benchmarks before it is put in place: its file, the directory it runs in, and its language.

    `name` is what its rows are called; `key` is what stands for it from run to run.
    """

    name: str
    program: Path
    directory: Path
    language: str
    key: str


@dataclass(frozen=True, slots=True)
class BenchmarkProgram:
    """The benchmarks of one program, and the program as a runner."""

    spec: RunnerSpec
    benchmarks: tuple[Benchmark, ...]
    unheeded: tuple[str, ...]

    def cells(self, words: Sequence[str] = ()) -> tuple[Cell, ...]:
        """The cells of all that can be measured and whose name holds one of `words`."""
        return tuple(
            Cell(self.spec.name, benchmark.id, "call", benchmark.bytes, benchmark.contract)
            for benchmark in self.benchmarks
            if not benchmark.why and (not words or any(word in benchmark.name for word in words))
        )


def places_of(built: BuiltBenchmarks) -> tuple[Path, Path]:
    """Where the present program lies, and where a kept one; both paths have one length."""
    return places_for(["bench", built.key, built.name])


def put_in_place(built: BuiltBenchmarks, environment: Mapping[str, str]) -> BenchmarkProgram:
    """Copy the program to its place with what it lists, and describe it. Raises UsageError where that is nothing."""
    place = places_of(built)[0]
    with new_directory(place) as scratch:
        shutil.copy(built.program, scratch / PROGRAM)
        text = ask(scratch / PROGRAM, built.directory, environment)
        (scratch / PLAN).write_text(text, encoding="utf-8")
        words = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
        start = (
            '#!/bin/sh\nhere=$(cd -- "$(dirname -- "$0")" && pwd)\n'
            f"cd -- {shlex.quote(str(built.directory))} || exit 1\n"
            f'{words} {WAY_VARIABLE}=run {PLAN_VARIABLE}="$here/{PLAN}" PERBYTE_NAME={shlex.quote(built.name)} '
            f'exec "$here/{PROGRAM}" "$@"\n'
        )
        runner = scratch / "runner"
        runner.write_text(start, encoding="utf-8")
        make_executable(runner)
    return suite_in(place, built)


def suite_in(place: Path, built: BuiltBenchmarks, name: str = "") -> BenchmarkProgram:
    """The program in `place` as a runner, by another `name` where that is given. Raises UsageError without a list."""
    try:
        listing = msgspec.json.decode((place / PLAN).read_bytes(), type=BenchmarkListing)
    except (OSError, msgspec.MsgspecError) as error:
        raise UsageError(f"{built.name}: its list cannot be read: {error}") from None
    spec = describe(name or built.name, place, (), language=built.language)
    return BenchmarkProgram(spec, listing.benchmarks or (), listing.unheeded)


def ask(program: Path, directory: Path, environment: Mapping[str, str]) -> str:
    """The list of a program's benchmarks, as JSON. Raises UsageError where it gives none."""
    try:
        ended = captured([str(program)], _LIMIT_S, directory, {**environment, WAY_VARIABLE: "list"})
    except subprocess.TimeoutExpired:
        raise UsageError(
            f"its benchmarks do not come to their routines within {_LIMIT_S} s",
            hint="reduce the set-up, or make smaller files",
        ) from None
    except OSError as error:
        raise EnvironmentLacking(f"{program} cannot be started: {error}") from None
    try:
        listing = msgspec.json.decode(ended.stdout, type=BenchmarkListing)
    except msgspec.MsgspecError:
        message = (ended.stderr.strip() or ended.stdout.strip() or "nothing").splitlines()[-1][:200]
        raise UsageError(
            f"it lists no benchmarks; it ended with {ended.returncode} and said: {message}",
            hint="a file of Rust has criterion_main!; see docs/benchmark-files.md",
        ) from None
    if not listing.benchmarks:
        raise UsageError("it has no benchmark")
    return ended.stdout


def describe_routines(suites: Iterable[BenchmarkProgram], key: str) -> None:
    """Let the catalogue know the routines of these programs from now on. Raises DataFileError."""
    routine = {"kind": "routine", "year": 2000, "origin": "the user", "operations": ["call"]}
    algorithms = {
        benchmark.id: {"name": plain(benchmark.name, 200), **routine, "sources": ["perbyte bench"]}
        for suite in suites
        for benchmark in suite.benchmarks
    }
    digest = hashlib.sha256(key.encode()).hexdigest()[:16]
    describe_algorithms(home() / "algorithms" / f"bench-{digest}", "benchmarks", algorithms)


def told_by(
    name: str,
    limit_s: float,
    command: Sequence[str],
    directory: Path,
    environment: Mapping[str, str] | None = None,
) -> str:
    """What a build tool writes to standard output.

    Raises DoesNotBuild with what it writes to standard error, EnvironmentLacking where it cannot be run in `limit_s`.
    """
    try:
        ended = captured(command, limit_s, directory, environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentLacking(f"{name}: {error}") from None
    if ended.returncode:
        raise DoesNotBuild(ended.stderr)
    return ended.stdout
