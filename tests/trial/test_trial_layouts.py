"""A description in TOML finds the implementations of a tree, and each is built from what it says."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from trial_answers import answers

from perbyte import places
from perbyte.errors import DataFileError, UsageError
from perbyte.trial.layout import TreeLayout, filled, find_layout, make_member, members
from perbyte.trial.program import Unusable, build_program

pytestmark = pytest.mark.native
MINE = """
about = "a tree of a test"

[[part]]
directories = "hashes/*/*"
except = ["*/foreign"]
name = "{1}-{2}"
as = "sha-256"
functions = { digest = "{2:NAME}_digest" }
sources = ["*.c", "{root}/common/*.c"]
without = ["broken.c"]
include = ["{root}/common"]
define = ["DIGEST={2:NAME}_digest"]
"""


@pytest.fixture
def tree(tmp_path: Path, code: Path) -> Path:
    """Two implementations, of which each needs a macro, and a file and a header that lie elsewhere."""
    text = (code / "sha256.c").read_text()
    for name in ("one-way", "other", "foreign"):
        place = tmp_path / "tree" / "hashes" / "sha256" / name
        place.mkdir(parents=True)
        body = text.replace("own_sha256", "DIGEST").replace("#include", '#include "shared.h"\n#include', 1)
        (place / "sha256.c").write_text(body)
        (place / "broken.c").write_text("this is no C\n")
        macro = name.replace("-", "").upper()
        (place / "api.h").write_text(
            f"void {macro}_digest(unsigned char *out, const unsigned char *in, unsigned long size);\n"
        )
    common = tmp_path / "tree" / "common"
    common.mkdir()
    (common / "shared.h").write_text("extern int shared;\n")
    (common / "shared.c").write_text("int shared = 1;\n")
    return tmp_path / "tree"


def described(tmp_path: Path, text: str = MINE) -> TreeLayout:
    (tmp_path / "mine.toml").write_text(text)
    return find_layout(str(tmp_path / "mine.toml"))


def test_each_directory_is_an_implementation_with_its_names(tmp_path: Path, tree: Path):
    those = members(described(tmp_path), tree)
    assert [member.name for member in those] == ["sha256-one-way", "sha256-other"]
    assert [member.algorithm for member in those] == ["sha-256", "sha-256"]
    for member in those:
        source = make_member(member)
        assert {file.name for file in source.files} == {"sha256.c", "shared.c"}
        spec = build_program(source, tmp_path / member.name)
        assert answers(spec, "sha-256")
        assert spec.name == member.name


def test_each_value_is_an_implementation_of_its_own(tmp_path: Path, tree: Path):
    text = MINE.replace('except = ["*/foreign"]', 'values = ["1", "2"]').replace('"{1}-{2}"', '"{2}-{value}"')
    names = [member.name for member in members(described(tmp_path, text), tree)]
    assert names == ["foreign-1", "foreign-2", "one-way-1", "one-way-2", "other-1", "other-2"]
    with pytest.raises(UsageError, match="two implementations are called foreign"):
        members(described(tmp_path, text.replace("{2}-{value}", "{2}")), tree)


def test_what_does_not_fit_says_why(tmp_path: Path, tree: Path):
    those = members(described(tmp_path), tree)[0]
    shutil.rmtree(tree / "common")
    (those.place / "sha256.c").unlink()
    with pytest.raises(Unusable, match="none of its sources is there"):
        make_member(those)
    (those.place / "sha256.c").write_text("int nothing;\n")
    (those.place / "api.h").write_text("int another(void);\n")
    with pytest.raises(Unusable, match=r"no function ONEWAY_digest \(digest\)"):
        make_member(those)
    with pytest.raises(UsageError, match="no directory fits the layout"):
        members(described(tmp_path), tree / "hashes")
    with pytest.raises(UsageError, match="stands for nothing") as refusal:
        filled("{3}", those.marks)
    assert "root, here, 1, 2" in (refusal.value.hint or "")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("as = ", "was = "), "as"),
        (("digest =", "digset ="), "digset"),
        (('functions = { digest = "{2:NAME}_digest" }', "functions = {}"), "no function"),
        (("[[part]]", '[[part]]\nsignature = { open = "in" }'), "open"),
    ],
)
def test_a_mistake_in_a_description_is_named(tmp_path: Path, change: tuple[str, str], words: str):
    with pytest.raises(DataFileError, match=words):
        described(tmp_path, MINE.replace(*change))


def test_descriptions_come_along_and_can_be_read():
    there = sorted((places.data_dir("catalogue") / "layouts").glob("*.toml"))
    assert {figure.stem for figure in there} == {"ascon-c", "libjade", "liboqs", "mlkem-native", "pqclean"}
    for figure in there:
        assert find_layout(figure.stem).part
        assert len(figure.read_text().splitlines()) < 30
    with pytest.raises(UsageError) as refusal:
        find_layout("nowhere")
    assert "pqclean" in (refusal.value.hint or "")


def test_assembly_in_the_form_of_libjade_is_found(tmp_path: Path, code: Path):
    place = tmp_path / "src" / "crypto_hash" / "sha256" / "amd64" / "ref"
    (place / "include").mkdir(parents=True)
    text = (code / "sha256.c").read_text().replace("own_sha256", "jade_hash_sha256_amd64_ref")
    (tmp_path / "sha256.c").write_text(text)
    compiled = ["cc", "-O2", "-S", "-o", str(place / "sha256.s"), str(tmp_path / "sha256.c")]
    subprocess.run(compiled, check=True)
    (those,) = members(find_layout("libjade"), tmp_path)
    assert (those.name, those.algorithm) == ("jade-sha256-ref", "sha256")
    assert answers(build_program(make_member(those), tmp_path / "made"), "sha-256")
