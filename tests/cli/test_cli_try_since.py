"""`perbyte try --since`: the search among commits, on scripted comparisons; and what its words may not go with."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from perbyte.app.trying.commits import Search, clearest
from perbyte.errors import EXIT_USAGE, PerbyteError
from perbyte.report.trials import search_line
from perbyte.trial.commits import Commit

COMMITS = [Commit(f"{number:040x}", f"commit {number}") for number in range(9)]


def change(ratio: float, width: float = 0.001, word: str = "") -> SimpleNamespace:
    word = word or ("slower" if ratio > 1.005 else "faster" if ratio < 0.995 else "the same")
    seen = SimpleNamespace(value=ratio, low=ratio - width, high=ratio + width)
    return SimpleNamespace(
        word=word,
        comparison=SimpleNamespace(ratio=seen),
        operation="digest",
        contract="oneshot/1",
        size_bytes=64,
    )


class Scripted(Search):
    """A search in which each commit costs what the test says; what is not said cannot be built."""

    def __init__(self, costs: dict[int, float], width: float = 0.001) -> None:
        self.costs, self.width, self.asked = costs, width, []

    def built(self, commit):
        number = int(commit.name, 16)
        if number not in self.costs:
            raise PerbyteError("it does not build")
        return number

    def _row(self, spec, base, followed):
        self.asked.append(spec)
        return change(self.costs[spec] / self.costs[base], self.width)


def searched(search: Scripted, by: float) -> list[str]:
    return [search_line(step) for step in search.find(COMMITS[0], 0, COMMITS[1:], change(by))]


@pytest.mark.parametrize("culprit", range(1, 9))
@pytest.mark.parametrize("by", [1.03, 0.95])
def test_the_commit_that_changed_it_is_found(culprit: int, by: float):
    search = Scripted({number: by if number >= culprit else 1.0 for number in range(9)})
    last = searched(search, by)[-1]
    assert f"changed by {COMMITS[culprit].short} commit {culprit}" in last
    assert ("SLOWER" if by > 1 else "FASTER") in last
    assert len(search.asked) <= math.ceil(math.log2(8)) + 1


def test_what_cannot_be_told_ends_the_search_with_what_is_left():
    costs = {number: 1.03 if number >= 7 else 1.0 for number in range(9)}
    del costs[6]
    out = "\n".join(searched(Scripted(costs), 1.03))
    assert "cannot be measured: it does not build" in out
    assert f"one of 4 commits: {COMMITS[5].short} to {COMMITS[8].short}" in out
    unclear = searched(Scripted(dict.fromkeys(range(9), 1.01), width=0.1), 1.03)
    assert unclear[-1] == f"one of 8 commits: {COMMITS[1].short} to {COMMITS[8].short}"


def test_the_row_that_changed_most_is_followed():
    assert clearest([change(1.0), change(1.2, word="not known")]) is None
    changes = [change(1.02), change(0.9), change(1.5, word="not known")]
    assert clearest(changes) is changes[1]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--since", "HEAD", "--baseline"), "takes a commit's program"),
        (("--history", "x"), "--history belongs to --since"),
        (("--since", "nowhere"), "there is no commit 'nowhere'"),
        (("--since", "--all"), "there is no commit '--all'"),
    ],
)
def test_what_does_not_go_together_is_said(world, tmp_path: Path, words, complaint: str):
    (tmp_path / "mine.py").write_text("def digest(data):\n    return b''\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    done = world.perbyte("try", tmp_path / "mine.py", "--as", "sha-256", *words)
    assert done.returncode == EXIT_USAGE
    assert complaint in done.stderr
