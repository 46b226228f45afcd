"""What every file of the project keeps to: size, names, docstrings, no address and no path of one machine."""

from __future__ import annotations

import ast
import re

import pytest
from documents import ROOT, tracked

LONGEST = 500
CODE = {".py", ".c", ".h", ".cpp", ".java", ".rs"}
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "base", "misc"}
REGISTRIES = re.compile(
    r"pypi\.org|pythonhosted|crates\.io|npmjs|repo1?\.maven|proxy\.golang|deb\.debian|security\.debian",
    re.IGNORECASE,
)
MACHINE_PATH = re.compile(r"(?<![\w.}])/(work|tmp|root|home)/")
HERE = "tests/house/test_house_rules.py"
BINARY = {".png", ".parquet", ".jar", ".pdf"}


def texts():
    for path in tracked():
        if path.suffix not in BINARY:
            yield path.relative_to(ROOT), path.read_text(encoding="utf-8", errors="replace")


def test_no_file_outgrows_its_room():
    long = {
        str(path): text.count("\n")
        for path, text in texts()
        if path.suffix in CODE and text.count("\n") > LONGEST
    }
    assert long == {}, f"over {LONGEST} lines: what is the second subject?"


def test_every_module_says_its_job():
    silent = [
        str(path)
        for path, text in texts()
        if path.suffix == ".py"
        and path.parts[0] in ("src", "runners", "bench")
        and not ast.get_docstring(ast.parse(text))
    ]
    assert silent == []


def test_no_module_is_called_by_a_name_that_means_nothing():
    named = [str(path) for path, _ in texts() if path.suffix in CODE and path.stem.lower() in FORBIDDEN_NAMES]
    assert named == []


@pytest.mark.parametrize("pattern", [REGISTRIES, MACHINE_PATH], ids=["registry", "path"])
def test_no_address_of_a_registry_and_no_path_of_one_machine(pattern):
    words = [
        f"{path}:{number}: {line.strip()[:80]}"
        for path, text in texts()
        if str(path) != HERE
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]
    assert words == []


def test_only_the_command_line_prints_and_ends_the_process():
    """The linter forbids `print` elsewhere; `sys.exit` and `SystemExit` it does not."""
    ending = re.compile(r"\bsys\.exit\(|raise SystemExit|os\._exit\(")
    words = [
        str(path)
        for path, text in texts()
        if path.suffix == ".py"
        and str(path).startswith("src/perbyte/")
        and "/cli/" not in str(path)
        and path.name != "__main__.py"  # where the command line begins, before `cli` is loaded
        and ending.search(text)
    ]
    assert words == []


def test_every_test_module_has_a_name_of_its_own():
    names = [path.stem for path in tracked() if path.name.startswith("test_") and path.suffix == ".py"]
    assert sorted(names) == sorted(set(names))


def test_nothing_that_is_measured_or_built_is_tracked():
    kinds = {".o", ".so", ".a", ".parquet", ".jar", ".pyc", ".class", ".exe"}
    here = [path.relative_to(ROOT) for path in tracked() if path.suffix in kinds]
    assert [str(path) for path in here if path.parts[0] != "atlas"] == []


def test_what_make_bench_installs_is_pinned_as_the_whole_lock_file_pins_it():
    def pins(name: str) -> dict[str, list[str]]:
        """What is pinned, with its hashes in order."""
        blocks = re.split(r"^(?=\w)", (ROOT / name).read_text(encoding="utf-8"), flags=re.MULTILINE)
        return {
            block.split()[0]: sorted(re.findall(r"sha256:\w+", block)) for block in blocks if "==" in block
        }

    few, every = pins("requirements-bench.lock"), pins("requirements.lock")
    assert few
    assert {name: hashes for name, hashes in few.items() if every.get(name) != hashes} == {}
