"""Every runner whose library is here: built, asked everything SPEC.md promises, and led through the transcripts."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from perbyte import places
from perbyte.runners import BuildOutcome, BuildState, RunnerSpec, Session, build, locate
from perbyte.runners.conform import conform
from perbyte.runners.transcripts import applies, parse, replay

pytestmark = pytest.mark.native

SPECS = [spec for spec in locate([places.data_dir("runners")]) if spec.built and not spec.opt_in]
GOOD = sorted((places.data_dir("protocol") / "transcripts" / "good").glob("*.txt"))


@cache
def outcome(name: str) -> BuildOutcome:
    return build(next(spec for spec in SPECS if spec.name == name))


@pytest.fixture(params=SPECS, ids=lambda spec: spec.name)
def spec(request) -> RunnerSpec:
    spec: RunnerSpec = request.param
    built = outcome(spec.name)
    if built.state is BuildState.ABSENT:
        pytest.skip(f"absent: {', '.join(built.missing)}")
    assert built.usable, built.output
    return spec


@pytest.mark.slow
def test_a_built_runner_keeps_every_promise(spec):
    complaints = conform(spec, every=False)
    assert complaints == []


@pytest.mark.parametrize("file", GOOD, ids=lambda file: file.stem)
def test_a_built_runner_follows_the_good_transcripts(spec, file: Path):
    transcript = parse(file.read_text(encoding="utf-8"))
    with Session(spec) as session:
        if not applies(transcript, session):
            pytest.skip("does not list what this needs")
    with Session(spec) as session:
        assert replay(transcript, session) == []


def test_every_tier_that_is_declared_is_in_force(spec):
    for cpu in spec.tiers:
        with Session(spec, cpu=cpu) as session:
            assert session.hello().tier == cpu
