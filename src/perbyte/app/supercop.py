"""Build the implementations of a primitive, look at each, hold each against the tree's checksums."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from perbyte.app.listener import Say, silent
from perbyte.errors import PerbyteError, UsageError
from perbyte.model import Algorithm, Run
from perbyte.runners import RunnerSpec
from perbyte.trial.bench import look, sizes_for
from perbyte.trial.building import home
from perbyte.trial.program import DoesNotBuild, Unusable, build_program, sdk_archive
from perbyte.trial.supercop import Implementation, make_implementation, narrower, reason
from perbyte.trial.supercop_own import checksum_program, compare_checksums

MEASURED = "measured"
SIZES = (64, 4096)
_OF_KIND = {"incorrect": "wrong", "crashed": "crashes", "timed-out": "hangs"}
BAD = frozenset(_OF_KIND.values())


@dataclass(frozen=True, slots=True)
class Way:
    """Compilers of C and of C++ with flags; empty compilers are the usual ones."""

    flags: tuple[str, ...]
    cc: tuple[str, ...] = ()
    cxx: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        """Compiler and flags as one word, as SUPERCOP writes them."""
        return "_".join([*(self.cc or ("cc",)), *self.flags])


@dataclass(frozen=True, slots=True)
class ImplementationOutcome:
    """What became of one implementation: `word` is `measured`, or why there is no figure, `detail` in a sentence.

    `spec` is the program, None where there is none that may be measured.
    """

    name: str
    place: Path
    word: str
    detail: str = ""
    spec: RunnerSpec | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Made(ImplementationOutcome):
    """The same of an implementation of SUPERCOP's layout under one way; `name` is that of its row.

    `used` is what it was compiled with: flags for a narrower processor where it refuses this one.
    """

    implementation: Implementation
    way: Way
    used: Way | None = None


def ways_of(tree: Path) -> list[Way]:
    """The compilers of a tree's list that are here, C and C++ by turns of the list; empty without a list."""
    lists = []
    for language in ("c", "cpp"):
        file = tree / "okcompilers" / language
        text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
        lists.append([line.split() for line in text.splitlines() if line.split()])
    return [
        Way(tuple(c[1:]), (c[0],), (cxx[0],))
        for c, cxx in zip(*lists, strict=False)
        if shutil.which(c[0]) and shutil.which(cxx[0])
    ]


def build_group(
    group: Sequence[Implementation],
    algorithm: Algorithm,
    ways: Sequence[Way],
    size: int,
    taken: Collection[str],
    say: Say = silent,
    *,
    gated: bool = False,
) -> list[Made]:
    """Every implementation in each way. `taken` are names that a row cannot have: the primitive comes before these.

    `gated`: what fits no checksum is not measured, because nothing else says what is right.
    """
    several = len({implementation.primitive for implementation in group}) > 1
    jobs = []
    for implementation in group:
        for index, way in enumerate(ways):
            name = (
                f"{implementation.primitive}-{implementation.name}"
                if several or implementation.name in taken
                else implementation.name
            )
            if len(ways) > 1:
                name += "-" + re.sub(r"[^A-Za-z0-9.]+", "-", way.word).strip("-")
            jobs.append((implementation, way, name, home() / "supercop" / f"{algorithm.id}-{name}-{index}"))
    if len({name for _, _, name, _ in jobs}) < len(jobs):
        raise UsageError("two implementations have the same name", hint="use two commands")

    def make(job: tuple[Implementation, Way, str, Path]) -> Made:
        implementation, way, name, place = job
        spec, used, word, why = _build(implementation, algorithm, way, name, place)
        if spec:
            word, why = look(spec, size)
        if not word:
            fits, why = compare_checksums(implementation, place)
            word = "" if fits else "wrong"
        if not word and gated and "fits" not in why:
            word, why = "not checked", why or "the tree has no checksum of it"
        made = unmade(implementation, way, name, word or MEASURED, why)
        return made if word else replace(made, spec=spec, used=used)

    say(f"building {len(jobs)} programs")
    sdk_archive()
    with ThreadPoolExecutor(max_workers=2) as pool:
        return list(pool.map(make, jobs))


def _build(
    implementation: Implementation, algorithm: Algorithm, way: Way, name: str, place: Path
) -> tuple[RunnerSpec | None, Way, str, str]:
    """The program of an implementation, how it was compiled, and in a word and a sentence why there is none.

    Sources that refuse this processor, because the tree has wider code beside them, are compiled for a narrower one.
    """
    scratch, programs = place.with_name(f"{place.name}.made"), checksum_program(implementation)
    refusal = ""
    for flags in (way.flags, *narrower(way.flags)):
        compilers = (way.cc, way.cxx)
        try:
            source = make_implementation(implementation, algorithm, flags, name, scratch, compilers, programs)
            return build_program(source, place), Way(flags, *compilers), "", ""
        except DoesNotBuild as error:
            refusal = refusal or error.first
            if "#error" not in str(error):
                break
        except (Unusable, PerbyteError, OSError) as error:
            return None, way, "cannot be built", reason(error)
    return None, way, "does not compile", refusal


def unmade(implementation: Implementation, way: Way, name: str, word: str, detail: str) -> Made:
    """An implementation without a program."""
    return Made(name, implementation.place, word, detail, implementation=implementation, way=way)


def tree_sizes(algorithm: Algorithm, asked: tuple[int, ...] | None) -> tuple[int, ...]:
    """The sizes that were requested, or the usual ones of a tree."""
    usual = sizes_for(algorithm, None)
    return asked or (SIZES if usual[0] == SIZES[0] else usual)


def held_to_reference(made: Sequence[Made], run: Run) -> list[Made] | None:
    """The same programs, those `wrong` that disagree with the tree's `ref`; None where nothing was disputed with it.

    Implementations that give the tree's checksums may differ on longer data, with as many on each side. By the
    layout's convention `ref` then says what is right.
    """
    disputes = {failure.runner: failure.message for failure in run.failures if failure.kind == "disputed"}
    reference = next(
        (each.name for each in made if each.implementation.name == "ref" and each.name in disputes), None
    )
    if not reference:
        return None
    held = []
    for program in made:
        message = re.match(r"disagrees with (.+?) (on .*)", disputes.get(program.name, ""))
        if message and reference in message[1].split(", "):
            detail = f"{program.detail}; disagrees with {reference} {message[2]}"
            program = replace(program, word="wrong", detail=detail, spec=None)
        held.append(program)
    return held


def judged(variant: ImplementationOutcome, run: Run) -> tuple[str, str]:
    """Word and detail of an implementation, after the run it was measured in."""
    failure = next((failure for failure in run.failures if failure.runner == variant.name), None)
    if variant.word != MEASURED or not failure:
        return variant.word, variant.detail
    detail = failure.message
    if failure.expected or failure.got:
        detail += f"; expected {failure.expected[:64]}, got {failure.got[:64]}"
    return _OF_KIND.get(failure.kind, failure.kind), detail
