"""Headers and sources that a file needs from elsewhere in its project are found without a flag."""

from __future__ import annotations

from pathlib import Path

import pytest
from trial_answers import answers, build

from perbyte.runners import Session
from perbyte.trial.around import companions, header_places
from perbyte.trial.preprocessed import types_of
from perbyte.trial.program import DoesNotBuild

pytestmark = pytest.mark.native
CRC = """#include <stddef.h>
#include "own/step.h"
uint32_t own_crc(const uint8_t *in, size_t size) {
	uint32_t crc = 0xffffffff;
	while (size--) crc = own_step(crc, *in++);
	return ~crc;
}
"""
STEP = """#include "own/step.h"
uint32_t own_step(uint32_t crc, uint8_t byte) {
	crc ^= byte;
	for (int i = 0; i < 8; i++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	return crc;
}
"""
FILES = {
    "include/own/step.h": "#include <stdint.h>\nuint32_t own_step(uint32_t crc, uint8_t byte);\n",
    "elsewhere/own/step.h": "#error not this one\n",
    "src/crc.c": CRC,
    "lib/step.c": STEP,
    "src/check.c": "int main(void) { }\nint own_step(int a, char b) { return a; }\n",
    "src/broken.c": "int own_broken(void) { return nothing; }\n",
}


def project(place: Path, **files: str) -> Path:
    (place / ".git").mkdir(parents=True)
    for name, text in (FILES | files).items():
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return place


def test_what_a_file_includes_and_calls_is_found(tmp_path: Path):
    place = project(tmp_path / "mine", **{"elsewhere/own/step.h": "#include <stdint.h>\n"})
    (place / "elsewhere" / "own" / "step.h").unlink()
    spec = build(tmp_path, [place / "src" / "crc.c"], "crc32", "own_crc")
    assert answers(spec, "crc32")["digest", "oneshot/1"] > 0
    with Session(spec) as session:
        assert session.hello().library == "crc.c, step.c"  # said: what was compiled besides


def test_of_several_headers_the_nearest_counts(tmp_path: Path):
    place = project(tmp_path, **{"src/deep/file.c": '#include "own/step.h"\n', "src/own/step.h": "\n"})
    assert header_places([place / "src" / "deep" / "file.c"]) == (place / "src",)


def test_headers_of_the_system_are_left_to_the_compiler(tmp_path: Path):
    place = project(tmp_path, **{"src/other.c": "#include <stdint.h>\n", "port/stdint.h": "#error\n"})
    assert header_places([place / "src" / "other.c"]) == ()


def test_what_git_keeps_takes_no_room_of_what_is_looked_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    place = project(tmp_path, **{f".git/objects/{number}.c": "\n" for number in range(9)})
    (place / "elsewhere" / "own" / "step.h").unlink()
    monkeypatch.setattr("perbyte.trial.around._MOST", 5)
    assert header_places([place / "src" / "crc.c"]) == (place / "include",)


def test_programs_lend_nothing(tmp_path: Path):
    place = project(tmp_path)
    assert [file.name for file in companions([place / "src" / "crc.c"])] in (
        ["broken.c", "step.c"],
        ["step.c", "broken.c"],
    )


def test_a_file_without_a_project_has_what_lies_beside_it(tmp_path: Path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "step.h").write_text(FILES["include/own/step.h"])
    for name in ("crc.c", "step.c"):
        (tmp_path / name).write_text(CRC if name == "crc.c" else STEP)
    assert answers(build(tmp_path, [tmp_path / "crc.c"], "crc32", "own_crc"), "crc32")


def test_types_of_what_was_unpacked_are_read_from_its_headers(tmp_path: Path):
    for name, text in (
        ("include/own.h", "typedef const unsigned char *input;\n"),
        ("src/own.c", '#include "own.h"\n'),
    ):
        file = tmp_path / name
        file.parent.mkdir()
        file.write_text(text)
    assert types_of(tmp_path / "src" / "own.c") == {"input": "const unsigned char *"}


def test_what_nobody_defines_is_still_said(tmp_path: Path):
    place = project(tmp_path / "mine", **{"lib/step.c": "\n"})
    (place / "elsewhere" / "own" / "step.h").unlink()
    with pytest.raises(DoesNotBuild) as error:
        build(tmp_path, [place / "src" / "crc.c"], "crc32", "own_crc")
    assert "undefined reference to `own_step'" in error.value.first
