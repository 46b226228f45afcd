"""Pairs of the C SDK: which secret a call sees, in which order, and that nothing is left behind."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from perbyte import places
from perbyte.errors import RunnerRefused
from perbyte.model import Cell
from perbyte.protocol.material import pair_secrets
from perbyte.protocol.messages import TakePairs
from perbyte.runners.locate import read_spec
from perbyte.runners.pairs import take_pairs
from perbyte.runners.session import Session

SDK = places.data_dir("runners") / "sdk" / "c"
SPEC = """\
[runner]
library = "none"
license = "Apache-2.0"
language = "python"
[build]
kind = "python"
[run]
command = ["{program}"]
"""
PAIRS = 40
pytestmark = pytest.mark.native


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    here = tmp_path_factory.mktemp("secretive") / "secretive"
    here.mkdir()
    sources = [Path(__file__).with_name("secretive.c"), *SDK.glob("*.c")]
    flags = ["-O1", "-D_GNU_SOURCE", f"-I{SDK}"]
    libraries = ["-lm", "-ldl", "-lpthread"]
    subprocess.run(["cc", *flags, "-o", here / "secretive", *sources, *libraries], check=True)
    (here / "runner.toml").write_text(SPEC.replace("{program}", str(here / "secretive")))
    return read_spec(here / "runner.toml")


@pytest.fixture
def session(spec):
    with Session(spec) as session:
        session.hello()
        session.calibrate(5, epoch=0)
        yield session


def take(session, algorithm, operation, contrast, **how):
    handle = session.prepare(algorithm, operation, "message/1", 32, seed=1)
    cell = Cell("secretive", algorithm, operation, 32, "message/1")
    before = session.check_calls(handle, 1).digest
    role, first, second = contrast
    how = {"pairs": PAIRS, "limit_ms": 10000.0, "seed": 3, **how}
    request = TakePairs(id=session.next_id(), handle=handle, role=role, first=first, second=second, **how)
    taken = take_pairs(session, request, cell=cell, epoch=0, round=0)
    assert session.check_calls(handle, 1).digest == before
    return taken


@pytest.mark.parametrize("how", [{}, {"warm": True}, {"evict_bytes": 1 << 20}])
@pytest.mark.parametrize(
    ("operation", "contrast", "failures"),
    [
        ("encrypt", ("data", "zeros", "random"), (PAIRS, 0)),
        ("encrypt", ("data", "random", "zeros"), (0, PAIRS)),
        ("encrypt", ("data", "zeros", "zeros"), (PAIRS, PAIRS)),
        ("encrypt", ("key", "sparse", "random"), (PAIRS, 0)),
        ("encrypt", ("key", "fixed", "random"), (0, 0)),
        ("open", ("input", "early", "late"), (PAIRS, 0)),
        ("open", ("input", "late", "early"), (0, PAIRS)),
        ("open", ("input", "genuine", "early"), (0, PAIRS)),
    ],
)
def test_each_call_sees_the_secret_of_its_class(session, operation, contrast, failures, how):
    algorithm = "aes-128-gcm" if operation == "open" else "aes-128-ecb"
    taken = take(session, algorithm, operation, contrast, **how)
    assert taken.failures == failures
    assert len(taken.order) == len(taken.burst) == 2 * PAIRS
    assert taken.afresh == (contrast[0] == "key")


@pytest.mark.parametrize(
    ("algorithm", "role", "first", "length", "place"),
    [
        ("seed-ecb", "data", "zeros", 32, -1),
        ("seed-ecb", "data", "random", 32, -1),
        ("aes-256-ecb", "key", "sparse", 32, 0),
    ],
)
def test_the_bytes_of_random_secrets_are_those_of_the_protocol(
    session, algorithm, role, first, length, place
):
    seed = 2**63 + 17
    taken = take(session, algorithm, "encrypt", (role, first, "random"), seed=seed)
    numbers = np.flatnonzero(np.array(list(taken.order)) == "1")
    secrets = pair_secrets(seed, numbers, length)
    assert secrets.shape == (PAIRS, length)
    assert taken.failures[1] == int((secrets[:, place] & 1).sum())
    assert 0 < taken.failures[1] < PAIRS


def test_which_class_comes_first_is_drawn_from_the_seed(session):
    contrast = ("data", "zeros", "random")
    first, same, other = (take(session, "aes-128-ecb", "encrypt", contrast, seed=seed) for seed in (3, 3, 4))
    assert first.order == same.order != other.order
    firsts = first.order[::2]
    assert set(firsts) == {"0", "1"}
    assert all(a != b for a, b in zip(firsts, first.order[1::2], strict=True))


def test_one_pair_is_taken_whatever_the_limit(session):
    taken = take(session, "aes-128-ecb", "encrypt", ("data", "zeros", "random"), limit_ms=0.0)
    assert len(taken.order) == 2


@pytest.mark.parametrize(
    ("operation", "contrast"),
    [
        ("encrypt", ("input", "genuine", "changed")),
        ("encrypt", ("data", "genuine", "random")),
        ("encrypt", ("key", "fixed", "late")),
        ("open", ("data", "zeros", "random")),
        ("open", ("input", "fixed", "random")),
        ("open", ("key", "fixed", "random")),
    ],
)
def test_a_secret_that_is_none_is_refused(session, operation, contrast):
    algorithm = "aes-128-gcm" if operation == "open" else "aes-128-ecb"
    with pytest.raises(RunnerRefused) as refused:
        take(session, algorithm, operation, contrast)
    assert refused.value.code == "unsupported"
