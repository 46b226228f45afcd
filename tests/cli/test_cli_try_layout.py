"""`perbyte try --layout`: every implementation of a described tree has a figure, or one reason why not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from perbyte.errors import EXIT_FINE, EXIT_INCORRECT, EXIT_USAGE

pytestmark = pytest.mark.native
CODE = Path(__file__).parents[1] / "trial" / "code" / "sha256.c"
MINE = """
about = "a tree of a test"

[[part]]
directories = "*"
as = "sha-256"
functions = { digest = "own_sha256" }
headers = []
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A right implementation, a wrong one, one that does not compile, one without sources, and its description."""
    text = CODE.read_text()
    codes = {"right": text, "wrong": text.replace("0x428a2f98", "0x428a2f99"), "broken": text + "int x = ;\n"}
    for name, code in codes.items():
        (tmp_path / "tree" / name).mkdir(parents=True)
        (tmp_path / "tree" / name / "hash.c").write_text(code)
    (tmp_path / "tree" / "nothing").mkdir()
    (tmp_path / "mine.toml").write_text(MINE)
    return tmp_path / "tree"


def test_each_implementation_is_measured_or_has_its_reason(world, tree: Path, tmp_path: Path):
    words = ("try", "--layout", tmp_path / "mine.toml", "--size", "64", "--budget", "1s", "-q", "--json")
    done = world.perbyte(*words, tree)
    assert done.returncode == EXIT_INCORRECT, done.stderr
    told = json.loads(done.stdout)
    assert {
        implementation["name"]: implementation["outcome"] for implementation in told["implementations"]
    } == {
        "right": "measured",
        "wrong": "wrong",
        "broken": "does not compile",
        "nothing": "cannot be built",
    }
    assert {cell["runner"] for cell in told["cells"]} == {"right"}
    for name in ("wrong", "broken", "nothing"):
        (tree / name / "hash.c").unlink(missing_ok=True)
        (tree / name).rmdir()
    assert world.perbyte(*words, tree).returncode == EXIT_FINE


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--as", "sha-512"), "no implementation of the requested algorithm"),
        (("--function", "own_sha256"), "--layout says what there is"),
        (("--layout", "nowhere"), "there is no layout 'nowhere'"),
    ],
)
def test_what_does_not_go_together_is_said(world, tree: Path, tmp_path: Path, words, complaint: str):
    done = world.perbyte("try", "--layout", tmp_path / "mine.toml", *words, tree)
    assert done.returncode == EXIT_USAGE, done.stdout
    assert complaint in done.stderr
