"""A short look with every fuzzer; `scripts/fuzz.sh` looks for long."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
_spec = importlib.util.spec_from_file_location("perbyte_fuzz", HERE / "fuzz.py")
fuzz = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(fuzz)


@pytest.mark.parametrize("target", fuzz.TARGETS)
def test_no_reader_in_python_is_surprised(target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ends = fuzz.fuzz(target, 600, seed=20)
    assert sum(ends.values()) == 600
    assert ends["read"], "some inputs must get through, or nothing behind the first check is tried"
    assert len(ends) > 1 or target == "machine"


def test_a_crash_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def crash(content: bytes) -> None:
        raise KeyError(content)

    monkeypatch.setitem(fuzz.TARGETS, "codec", lambda: ([b"seed"], crash))
    with pytest.raises(KeyError):
        fuzz.fuzz("codec", 3, seed=1)
    assert (tmp_path / "crash-codec.bin").read_bytes() == b"seed"


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    place = tmp_path_factory.mktemp("reader")
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        pytest.skip("no C compiler")
    words = ["sh", str(HERE / "build_reader.sh"), str(place / "reader"), compiler]
    built = subprocess.run(words, capture_output=True, text=True, check=False)
    if built.returncode and "asan" in built.stderr:
        pytest.skip("the compiler has no sanitizers")
    assert built.returncode == 0, built.stderr
    return place / "reader"


@pytest.mark.slow
def test_the_reader_in_c_reads_what_is_kept_and_changes_of_it(reader, tmp_path):
    files = []
    for number, content in enumerate(fuzz.kept("reader")):
        files.append(tmp_path / str(number))
        files[-1].write_bytes(content)
    assert len(files) > 100
    done = subprocess.run([reader, "7", "30000", *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == "30000 inputs\n"
