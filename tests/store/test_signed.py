"""A signature covers what is shown: whatever is changed, added or removed in a signed run, `verify` tells, or no
reader's answer is another."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from made_leaks import keep, made_leak

from perbyte import extras
from perbyte.app.runs import sign_run
from perbyte.errors import PerbyteError, StoreError
from perbyte.model.placement import Placement
from perbyte.store import RunWriter, bursts, open_run, read_signature, unlike_manifest, verify
from perbyte.store.beside import is_leak_run, read_leaks, write_behaviours, write_placements
from perbyte.store.files import (
    BESIDE,
    CELLS_FILE,
    FIGURES_FILE,
    JOURNAL_FILE,
    LEAK_FILE,
    LOCK_FILE,
    PAIRS_FILE,
    RUN_FILE,
)
from perbyte.store.manifest import MANIFEST_FILE, SIGNATURE_FILE, list_files, read_manifest

pytestmark = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="ssh-keygen is not installed")

TURNS = 50  # of changes drawn for each kind of run
LINES = (
    '{"event":"spent","seq":10000,"measuring_s":5.2}\n',
    '{"event":"failed","seq":10000,"failure":{"kind":"incorrect","runner":"openssl","message":"wrong"}}\n',
)


@pytest.fixture
def key(tmp_path):
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "key")]
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    public = " ".join((tmp_path / "key.pub").read_text().split()[:2])
    (tmp_path / "signers").write_text(f"me@here {public}\n")
    return tmp_path / "key"


@pytest.fixture
def figures(finished, specimens, key):
    """A signed run with figures, counts, leaks and places."""
    place = finished()
    write_behaviours(place, specimens.conditions().run_id, (specimens.behaviour(),))
    keep(place, specimens.conditions().run_id, (made_leak(specimens.cell(0), 10.0),), beside=True)
    write_placements(place, specimens.conditions().run_id, (Placement(specimens.cell(0), unknown="why"),))
    sign_run(place, key)
    return place


@pytest.fixture
def leaks(specimens, tmp_path, key):
    """A signed run that looked for leaks only."""
    place = tmp_path / "leaks"
    keep(place, "leak-1", (made_leak(specimens.cell(0), 10.0),))
    sign_run(place, key)
    return place


def passes(place: Path) -> bool:
    """Whether `verify --signers` ends with 0."""
    try:
        verdict = verify(place)
        signature = read_signature(place, place.parent / "signers")
    except PerbyteError:
        return False
    return bool(verdict.manifest and not verdict.damaged and signature and signature.good)


def answers(place: Path) -> object:
    """All that readers say of a run."""
    if is_leak_run(place):
        return read_leaks(place)
    return replace(open_run(place), path=None), list(bursts(place))


def change(place: Path, other: Path, draw: random.Random) -> str:
    """Change, add or remove something of a run, and say what; `other` is a run of which files can be put there."""
    files = sorted(child for child in place.iterdir() if child.name != LOCK_FILE)
    file = draw.choice(files)
    what = draw.choice(["byte", "byte", "cut", "longer", "remove", "swap", "add", "add", "link", "folder"])
    if what == "byte":
        content = bytearray(file.read_bytes()) or bytearray(1)
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        file.write_bytes(content)
    elif what == "cut":
        file.write_bytes(file.read_bytes()[: draw.randrange(file.stat().st_size + 1)])
    elif what == "longer":
        file.write_bytes(file.read_bytes() + draw.choice([b"\0", b"\n", b"x"]))
    elif what == "remove":
        file.unlink()
    elif what == "swap":
        file.write_bytes(draw.choice(files).read_bytes())
    elif what == "link":
        kept = place.parent / "kept"
        shutil.copy(file, kept)
        file.unlink()
        file.symlink_to(kept)
    elif what == "folder":
        file.unlink()
        file.mkdir()
    else:
        names = [
            "samples-00009999.npz",
            "samples-00009999.parquet",
            FIGURES_FILE,
            JOURNAL_FILE,
            "notes.txt",
            ".hidden",
            RUN_FILE,
            CELLS_FILE,
            *BESIDE,
        ]
        file = place / draw.choice(names)
        source = other / (min(other.glob("samples-*")).name if "samples" in file.name else file.name)
        if file.name == JOURNAL_FILE or not source.exists():
            file.write_text(draw.choice(LINES))
        else:
            shutil.copy(source, file)
    return f"{what} {file.name}"


@pytest.mark.parametrize("kind", ["figures", "leaks"])
def test_any_change_of_a_signed_run_is_told_or_changes_no_answer(
    kind, request, finished, specimens, tmp_path
):
    place, draw = request.getfixturevalue(kind), random.Random(20261127)
    other = finished("other", run_id="r-1")
    keep(other, "r-1", (made_leak(specimens.cell(0)),), beside=True)
    write_behaviours(other, "r-1", ())
    assert passes(place)
    whole, unharmed = answers(place), 0
    for _ in range(TURNS):
        copy = tmp_path / "copy"
        shutil.copytree(place, copy)
        what = change(copy, other, draw)
        if passes(copy):
            unharmed += 1
            assert answers(copy) == whole, what
        shutil.rmtree(copy)
    assert unharmed < TURNS / 4


@pytest.mark.parametrize("kind", ["figures", "leaks"])
def test_each_file_of_a_signed_run_is_covered(kind, request, tmp_path):
    """Whichever it is: a bit of it changed, a byte more or less, and itself gone."""
    place, draw = request.getfixturevalue(kind), random.Random(5)
    whole = answers(place)
    for file in sorted(child for child in place.iterdir() if child.name != LOCK_FILE):
        content = file.read_bytes()
        changed = bytearray(content or b"\0")
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
        for other in (bytes(changed), content + b"x", content[:-1], None):
            copy = tmp_path / "copy"
            shutil.copytree(place, copy)
            (copy / file.name).unlink() if other is None else (copy / file.name).write_bytes(other)
            if passes(copy):
                assert answers(copy) == whole, file.name
                # an empty journal may be there or not, and words around a signature say nothing
                assert file.name in (JOURNAL_FILE, SIGNATURE_FILE)
            shutil.rmtree(copy)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *((f"samples-00009999.{kind}", None) for kind in ("npz", "parquet")),
        *((JOURNAL_FILE, line) for line in (*LINES, "torn")),
        *((name, "{}") for name in BESIDE),
        ("anything.txt", "words"),
    ],
)
def test_what_no_manifest_lists_is_told_of_a_signed_run(finished, key, name, content):
    place = finished()
    sign_run(place, key)
    if content is None:
        shutil.copy(min(place.glob("samples-*")), place / name)
    else:
        (place / name).write_text(content)
    assert [finding.name for finding in verify(place).damaged] == [name]
    assert [text.split(":")[0] for text in unlike_manifest(place)] == [name]


def test_an_unsigned_run_that_is_complete_has_nothing_unlisted_that_readers_use(finished):
    place = finished()
    (place / "anything.txt").write_text("words")
    assert not verify(place).damaged
    (place / JOURNAL_FILE).write_text(LINES[1])
    assert [finding.name for finding in verify(place).damaged] == [JOURNAL_FILE]
    assert "its journal is not empty" in unlike_manifest(place)[0]
    with pytest.raises(StoreError, match="its journal is not empty"):
        RunWriter.resume(place)


def test_pages_and_charts_in_a_run_are_signed_with_it_and_hidden_files_are_not(finished, key):
    place = finished()
    (place / "report.html").write_text("<p>")
    (place / "charts").mkdir()
    (place / "charts" / "cost.svg").write_text("<svg>")
    sign_run(place, key)
    assert passes(place)
    (place / "charts" / "cost.svg").write_text("<svg/>")
    assert [finding.name for finding in verify(place).damaged] == ["charts/cost.svg"]
    (place / "charts" / "cost.svg").write_text("<svg>")
    for name in (".hidden", "charts/other.svg", "charts/.hidden"):
        (place / name).write_text("words")
        assert [finding.name for finding in verify(place).damaged] == [name]
        (place / name).unlink()
    (place / "charts").rename(place.parent / "charts")
    (place / "charts").symlink_to(place.parent / "charts")
    assert not passes(place)
    (place / "charts").unlink()
    assert not passes(place)
    (place / "report.html").unlink()
    with RunWriter.resume(place) as writer:  # pages are no data
        writer.begin(open_run(place).conditions)
    assert not verify(place).damaged
    (place / ".hidden").write_text("words")
    with pytest.raises(StoreError, match="cannot be signed") as refused:
        sign_run(place, key)
    assert "move it elsewhere" in refused.value.hint


def older(place: Path) -> None:
    """Give a run the manifest of an older version, which listed figures only."""
    document = json.loads((place / MANIFEST_FILE).read_text())
    document["files"] = {name: entry for name, entry in document["files"].items() if name not in BESIDE}
    del document["whole"]
    (place / MANIFEST_FILE).write_text(json.dumps(document))


def sign_by_hand(place: Path, key: Path) -> None:
    (place / SIGNATURE_FILE).unlink(missing_ok=True)
    words = ["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", "perbyte-run", place / MANIFEST_FILE]
    subprocess.run(words, check=True, capture_output=True)


def test_signatures_of_older_versions_cover_figures_and_that_is_said(figures, key):
    whole = answers(figures)
    older(figures)
    sign_by_hand(figures, key)
    assert answers(figures) == whole, "it is read as before"
    verdict = verify(figures)
    assert verdict.covers == "figures"
    assert {finding.name for finding in verdict.damaged} == {
        name for name in BESIDE if (figures / name).exists()
    }
    assert "the signature does not cover it" in verdict.damaged[0].detail
    (figures / SIGNATURE_FILE).unlink()
    assert not verify(figures).damaged, "nobody promised anything"
    sign_run(figures, key)
    assert verify(figures).covers == "everything"
    assert passes(figures)
    assert answers(figures) == whole


def test_a_signed_run_of_an_older_version_without_more_is_whole(finished, key):
    place = finished()
    older(place)
    sign_by_hand(place, key)
    assert passes(place)
    assert verify(place).covers == "figures"


def test_an_earlier_run_json_is_not_what_was_signed(finished, key):
    """A manifest knows the run.json before the last step, so that a kill there is no damage."""
    place = finished()
    document = json.loads((place / MANIFEST_FILE).read_text())
    content = (place / RUN_FILE).read_bytes().replace(b"12.5", b"13.5")
    import hashlib

    document["before"] = hashlib.sha256(content).hexdigest()
    (place / MANIFEST_FILE).write_text(json.dumps(document))
    sign_by_hand(place, key)
    (place / RUN_FILE).write_bytes(content)
    assert [finding.name for finding in verify(place).damaged] == [RUN_FILE]
    assert unlike_manifest(place)


def test_leaks_alone_of_an_older_version_are_signed(specimens, tmp_path, key):
    place = tmp_path / "leaks"
    keep(place, "leak-1", (made_leak(specimens.cell(0), 10.0),))
    (place / MANIFEST_FILE).unlink()
    assert verify(place).manifest is None
    sign_run(place, key)
    assert passes(place)
    assert set(read_manifest(place).files) == {LEAK_FILE, PAIRS_FILE}


def test_new_counts_or_leaks_end_a_signature(figures, specimens):
    write_behaviours(figures, specimens.conditions().run_id, ())
    assert not os.path.lexists(figures / SIGNATURE_FILE)
    assert not verify(figures).damaged


def test_the_manifest_of_a_run_without_arrow_lists_the_same_and_its_journal_is_empty(
    monkeypatch, finished, specimens, key
):
    has = extras.has
    monkeypatch.setattr(extras, "has", lambda name: name != "query" and has(name))
    place = finished()
    samples = {file.name for file in place.glob("samples-*.npz")}
    assert samples
    assert set(read_manifest(place).files) == {RUN_FILE, FIGURES_FILE, *samples}
    assert not (place / JOURNAL_FILE).stat().st_size
    sign_run(place, key)
    assert passes(place)


@pytest.mark.parametrize("name", [FIGURES_FILE, CELLS_FILE])
def test_figures_that_no_manifest_lists_are_told(finished, specimens, name):
    place, other = finished(), finished("other", figures=specimens.figures)
    document = json.loads((place / MANIFEST_FILE).read_text())
    document["files"].pop(name, None)
    (place / MANIFEST_FILE).write_text(json.dumps(document))
    shutil.copy(other / FIGURES_FILE, place / name)
    assert name in [finding.name for finding in verify(place).damaged]
    assert name in [text.split(":")[0] for text in unlike_manifest(place)]


def test_a_journal_that_an_older_manifest_lists_is_what_it_was(finished):
    """Versions whose samples files needed Arrow left all samples in the journal, and listed it, where it lacked."""
    place = finished()
    (place / JOURNAL_FILE).write_text(LINES[0])
    list_files(place, [JOURNAL_FILE])
    assert JOURNAL_FILE not in [finding.name for finding in verify(place).damaged]
    with (place / JOURNAL_FILE).open("a") as file:
        file.write(LINES[1])
    assert [finding.name for finding in verify(place).damaged] == [JOURNAL_FILE]
