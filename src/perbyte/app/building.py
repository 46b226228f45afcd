"""Build what is needed and not built yet: once for each version of Perbyte.

A selector means the ordinary runners that it fits. An opt-in runner, which may take minutes, is built only where its
name is spelled out. What is installed is used; nothing is installed here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from perbyte.app.listener import Say, silent
from perbyte.catalogue import Selector
from perbyte.catalogue.pattern import expand_braces, matches
from perbyte.errors import EnvironmentLacking
from perbyte.runners import (
    BuildOutcome,
    BuildState,
    RunnerSpec,
    build_all,
    find,
    install_advice,
    locate,
    missing,
    stale,
    unfold,
)

BUILD_VARIABLE = "PERBYTE_BUILD"

_MOST_LINES = 12  # of what a failing build said, where it is built on the way to something else


def build_needed(globs: Iterable[str], say: Say = silent) -> None:
    """Build the runners that `globs` mean where they are not built, or from other sources than those that lie here.

    Does nothing where PERBYTE_BUILD=off. Raises EnvironmentLacking, with the command that installs what is missing,
    where nothing that was meant can be used. `say` hears what is built and what is left out.
    """
    if os.environ.get(BUILD_VARIABLE) == "off":
        return
    globs = tuple(globs)
    named = {name for glob in globs for name in expand_braces(glob)}
    meant = [
        spec
        for spec in locate(unlisted=True, named=lambda name: any(matches(name, glob) for glob in globs))
        if spec.name in named or (spec.listed and not spec.opt_in)
    ]
    wanted = [spec for spec in meant if spec.built and (not spec.out().is_dir() or stale(spec))]
    absent = {spec.name: lack.what for spec in wanted if (lack := missing(spec))}
    failed = _build([spec for spec in wanted if spec.name not in absent], say)
    lost = [spec for spec in wanted if spec.name in absent]
    told = "; ".join(
        [f"{name} (lacks {', '.join(what)})" for name, what in absent.items()]
        + [f"{outcome.runner} (its build failed)" for outcome in failed]
    )
    hints = [f"install: {advice}"] if lost and (advice := install_advice(lost)) else []
    hints += [
        f"perbyte build {' '.join(outcome.runner for outcome in failed)} (shows what the compiler says)"
    ] * bool(failed)
    hint = "; ".join(filter(None, hints))
    if meant and len(absent) + len(failed) == len(meant):
        raise EnvironmentLacking(f"no runner can be built: {told}", hint=hint)
    if told:
        names = ", ".join([*absent, *(outcome.runner for outcome in failed)])
        say(f"left out, as not everything that they need is here: {names}\n  {hint}")


def runners_meant(selectors: Iterable[Selector]) -> list[str]:
    """The globs of runners in `selectors`, and the runners of the versions they name: made here, not built."""
    names = []
    for selector in selectors:
        names.append(selector.runner)
        if selector.versions:
            names += unfold(locate(unlisted=True), selector.runner, selector.versions, lenient=True)
    return list(dict.fromkeys(names))


def runners_to_build(names: Sequence[str], *, every: bool) -> list[RunnerSpec]:
    """The runners of `names`, which may be versions, `NAME@GLOB`; without names all that are not opt-in, or `every`.

    Raises UsageError for an unknown name.
    """
    wanted: list[str] = []
    for name in names:
        own, versioned, versions = name.partition("@")
        if versioned:
            find(own)  # says which there are, where there is none of that name
            wanted += unfold(locate(unlisted=True), own, tuple(expand_braces(versions)))
        else:
            wanted.append(name)
    return [find(name) for name in wanted] if wanted else [s for s in locate() if every or not s.opt_in]


def _build(wanted: Sequence[RunnerSpec], say: Say) -> list[BuildOutcome]:
    """Build, saying what and when it is done; return what failed."""
    if not wanted:
        return []
    names = ", ".join(spec.name for spec in wanted)
    say(f"building {names}, once for this version of Perbyte:")
    for spec in wanted:
        if spec.cost:
            say(f"  {spec.name:18} {spec.cost}")

    def done(outcome: BuildOutcome) -> None:
        for line in outcome_line(outcome).splitlines()[: 1 + _MOST_LINES]:
            say(f"  {line}")

    return [result for result in build_all(wanted, done=done) if result.state is BuildState.FAILED]


def outcome_line(outcome: BuildOutcome) -> str:
    """One line about a runner; for an absent one the command that brings it."""
    if outcome.state is BuildState.ABSENT:
        way = f"; install: {outcome.install}" if outcome.install else ""
        return f"{outcome.runner:18} absent       lacks {', '.join(outcome.missing)}{way}"
    if outcome.state is BuildState.FAILED:
        text = outcome.output.rstrip() or "nothing"
        return f"{outcome.runner:18} FAILED       after {outcome.seconds:.1f} s; its build said:\n{text}"
    took = f"  {outcome.seconds:.1f} s" if outcome.state is BuildState.BUILT else ""
    return f"{outcome.runner:18} {outcome.state.value:12}{took}"
