"""What a new user types: the commands of README.md and of pages in their order, on scripted runners, and their form.

Form: the first lines of an answer, without its numbers, spaces, marks of doubt, versions, and which library won.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fake_scripts import row

from perbyte.errors import EXIT_FINE, EXIT_FOUND, EXIT_UNDECIDED

ROOT = Path(__file__).parents[2]
LIBRARIES = ("cryptopp", "libgcrypt", "nettle", "openssl", "openssl-lowlevel")
NAMES = rf"(?:{'|'.join(sorted((*LIBRARIES, 'OpenSSL', 'Crypto++', 'Nettle', 'Fake [a-z-]+'), key=len, reverse=True))})"
INSTALLS = re.compile(r"(make|pipx|uv|python3|pip|\.) ")  # each is a target or an installation of its own
SHOWN = re.compile(r"<!-- shown: \S+ -->\n```console\n\$ ([^\n]+)\n(.*?)```", re.DOTALL)
# the bursts of scripted runners take no time, and the figures are of no interest
CIPHERS = (
    *(("aes-128-xts", 0.1), ("aes-256-xts", 0.14), ("aes-128-gcm", 0.3), ("aes-256-gcm", 0.4)),
    ("chacha20-poly1305", 0.9),
)
XTS = (("encrypt", 1.05), ("decrypt", 1.0))
SHORT = {
    "advise": ("--budget", "30s", "--cores", "0"),
    "measure": ("--budget", "1s"),
    "try": ("--budget", "500ms"),
}


def form(line: str) -> str:
    """A line without what may differ from machine to machine and from day to day."""
    line = re.sub(r"\(Debian [^)]*\) |[►=?~!*]|(?<=[\d%])[a-z]\b", "", line)
    line = re.sub(rf"\b{NAMES}(?: \d[\d.]*\w*)?(?!/)", "LIBRARY", line)
    line = re.sub(r"[-+±]?\d[-\d.,/+]*%?", "#", line)
    return " ".join(re.sub(r"─+", "─", re.sub(r"(# ?)+", "# ", line)).split())


def readme() -> str:
    return (ROOT / "README.md").read_text(encoding="utf-8")


def typed(text: str) -> list[str]:
    """The commands of a document in their order, without their comments."""
    blocks = re.findall(r"```console[^\n]*\n(.*?)```", text, re.DOTALL)
    shown = [line.strip() for block in blocks for line in block.splitlines()]
    lines = [line[2:] for line in shown if line.startswith("$ ")]
    return [re.sub(r"\s+#.*", "", line) for line in lines]


@pytest.fixture
def libraries(world):
    """Scripted runners with the names of the usual ones, of which libgcrypt is the fastest."""
    return add_libraries(world, LIBRARIES)


def add_libraries(world, names: tuple[str, ...]):
    """Add the usual ciphers and a hash under these names to a world; the second is the fastest."""
    for number, name in enumerate(names):
        times = 2 + abs(number - 1)
        ciphers = [
            row(algorithm, operation, "message/1", per_call=40.0, per_byte=times * cost * dearer)
            for algorithm, cost in CIPHERS
            for operation, dearer in ((("seal", 1.0), ("open", 1.05)) if "xts" not in algorithm else XTS)
        ]
        hashing = row("sha-256", "digest", "oneshot/1", per_call=200.0, per_byte=1.0 + 0.1 * number)
        noise = {"sample": 0.0005, "probe": 0.0001}
        (place,) = world.add(
            {"name": name, "operations": [*ciphers, hashing], "noise": noise, "tiers": {"soft": 10}}
        )
        spec = place / "runner.toml"  # of several runners of one library, only one answers
        spec.write_text(spec.read_text().replace('library = "Fake"', f'library = "Fake {name}"'))
    return world


def run_typed(world, line: str, place: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run a line as a shell would, from the checkout; `perbyte` is this one and has little time."""
    command, *pipe = line.split(" | ")
    words = shlex.split(command)
    short = () if "--run" in words else SHORT.get(words[1], ())
    if not pipe and place == Path.cwd() and not set("*{?$") & set(command):  # a shell would change nothing
        return world.perbyte(*words[1:], *short, environment={"NO_COLOR": "1"})
    command = shlex.join([sys.executable, "-m", "perbyte.cli", *words[1:], *short])
    return subprocess.run(
        ["sh", "-c", " | ".join([command, *pipe])],
        cwd=place,
        env=world.environment | {"NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.native
def test_the_commands_of_the_readme_work_in_their_order_and_print_what_is_shown(libraries):
    shown = dict(SHOWN.findall(readme()))
    assert len(shown) == 3
    for line in typed(readme()):
        if INSTALLS.match(line):
            continue
        done = run_typed(libraries, line)
        assert done.returncode == 0, f"{line}: {done.stderr}"
        assert "error:" not in done.stderr, line
        printed = [form(each) for each in done.stdout.splitlines()]
        assert printed, line
        if line in shown:
            assert printed == [form(each) for each in shown[line].splitlines()], done.stdout


# what takes a library, a machine, a toolchain or a file that nothing here stands for; each is parsed in tests/house
ELSEWHERE = re.compile(
    r"password|--limits|runs/theirs|--states|--threads|--watch|my_hash\.rs|libmine|keccak|aes\.c|cipher\.c"
    r"|hash\.c --as new|Blake3\.java|index\.js|lib\.rs|sha3\.hpp|gcm\.py|--leak|instructions|perbyte import"
    r"|git |--since|^(?!perbyte)"
)
PAGES = {
    "paper": 3,
    "advise": 3,
    "try": 4,
    "ci": 2,
    "add-a-library": 2,
}  # and how many commands are typed at the least


@pytest.fixture
def own_runners(world):
    """Runners of a reader's own, as the pages name them, beside two libraries: each cell takes its time."""
    libraries = add_libraries(world, LIBRARIES[2:4])
    for name, times in (("mine", 1.0), ("mine-old", 1.0), ("mine-new", 1.02)):
        hashing = row("sha-256", "digest", "oneshot/1", per_call=200.0, per_byte=times)
        libraries.add({"name": name, "operations": [hashing], "noise": {"sample": 0.0005, "probe": 0.0001}})
    return libraries


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_work_in_their_order(own_runners, page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    for block in re.findall(r"```toml\n(authority.*?)```", text, re.DOTALL):
        (tmp_path / "house.toml").write_text(block, encoding="utf-8")
    shutil.copy(ROOT / "docs" / "examples" / "my_hash.c", tmp_path)
    ran = 0
    for line in typed(text):
        if ELSEWHERE.search(line):
            continue
        if "results/monday" in line:
            newest = max((own_runners.home / "runs").iterdir(), key=lambda run: run.stat().st_mtime)
            shutil.copytree(newest, tmp_path / "results" / "monday")
        done = run_typed(own_runners, line, tmp_path)
        limited = (EXIT_FINE, EXIT_FOUND, EXIT_UNDECIDED) if "--fail-above" in line else (EXIT_FINE,)
        assert done.returncode in limited, f"{line}: {done.stderr}"
        assert "error:" not in done.stderr, line
        assert (done.stdout + done.stderr).strip(), line
        ran += 1
    assert ran >= PAGES[page]


def test_what_installs_comes_first_and_names_targets_that_there_are():
    lines = typed(readme())
    installing = [line for line in lines if INSTALLS.match(line)]
    assert lines[: len(installing)] == installing
    assert installing[:2] == ["make bench", "make test"], "the two commands that do all set-up"
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert {"bench", "test"} <= set(targets)


def test_what_the_readme_says_is_installed_is_what_set_up_installs():
    setup = (ROOT / "scripts" / "setup.sh").read_text(encoding="utf-8")
    usual, further = re.findall(r'packages="([^"]*)"', setup)
    text = readme()
    for package, name in (
        ("libssl-dev", "OpenSSL"),
        ("libgcrypt20-dev", "libgcrypt"),
        ("nettle-dev", "Nettle"),
        ("libcrypto++-dev", "Crypto++"),
    ):
        assert package in usual
        assert name in text.partition("Start with")[0]
    assert {"clang-format", "chromium"} <= set(further.split())


def test_the_file_to_try_is_in_the_checkout():
    (line,) = [line for line in typed(readme()) if line.startswith("perbyte try")]
    assert (ROOT / shlex.split(line)[2]).is_file()
    assert os.access(ROOT / shlex.split(line)[2], os.R_OK)
