from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from perbyte.catalogue import load, parse_selector
from perbyte.errors import UsageError
from perbyte.measure import Request, survey
from perbyte.measure.plan import draw_plan
from perbyte.runners import BuildState, Session, build, build_all, find, stale
from perbyte.runners import needs as needs_module
from perbyte.runners.locate import read_spec
from perbyte.runners.needs import Missing, look

SPEED_FLAGS = sys.modules["perbyte.runners.build"].SPEED_FLAGS
pytestmark = pytest.mark.native

TOML = """
[runner]
library = "none"
license = "Apache-2.0"

[find]
HERE

[packages]
apt = ["surely-not-there-dev"]

[build]
kind = "KIND"
"""

# The smallest program that uses the SDK: one algorithm that copies its input.
TABLE = """
#include "perbyte.h"
#include <string.h>

static int open_copy(pb_case *c) { c->ctx = 0; return 0; }
static void close_copy(pb_case *c) { (void)c; }
static void copy(pb_case *c, uint64_t n)
{
	PB_REPEAT(n, turn, memcpy(c->out, c->in, c->size); PB_BARRIER());
}
static const pb_variant variants[] = {{"encrypt", "message/1", "memcpy", 0, copy, 0}, PB_END_OF_VARIANTS};
static const pb_family family = {open_copy, close_copy, variants};
static const pb_row rows[] = {{"copy", &family, 0, 16, 0, 1, 0}, PB_END_OF_ROWS};
static const pb_row *const tables[] = {rows, 0};
static const char *version(void) { return "1"; }

int main(int argc, char **argv)
{
	static const pb_runner runner = {
		.name = "copy", .library = "none", .license = "Apache-2.0", .version = version, .tables = tables};
	return pb_runner_main(&runner, argc, argv);
}
"""


BUILD = sys.modules["perbyte.runners.build"]  # the package gives the name to the function


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("PERBYTE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(BUILD, "SPEED_FLAGS", ("-O0", "-Wall", "-Wextra", "-Werror"))  # quick to compile
    if isinstance(look(written(tmp_path, "probe")), Missing):
        pytest.skip("no C compiler")


def written(tmp_path: Path, name: str, source: str = TABLE, needs: str = "", kind: str = "c", toml: str = ""):
    here = tmp_path / "runners" / name
    here.mkdir(parents=True, exist_ok=True)
    (here / "runner.toml").write_text(toml or TOML.replace("HERE", needs).replace("KIND", kind))
    (here / "table.c").write_text(source)
    return read_spec(here / "runner.toml")


def test_a_runner_is_built_once_and_answers(tmp_path, monkeypatch):
    monkeypatch.setattr(BUILD, "SPEED_FLAGS", SPEED_FLAGS)
    spec = written(tmp_path, "copy")
    first = build(spec)
    assert first.state is BuildState.BUILT, first.output
    assert first.executable == spec.out() / "copy"
    assert build(spec).state is BuildState.UP_TO_DATE
    assert build(spec, force=True).state is BuildState.BUILT
    with Session(spec) as session:
        hello = session.hello()
        assert "-O2" in hello.flags
        assert hello.compiler
        handle = session.prepare("copy", "encrypt", "message/1", 32, seed=1)
        assert session.check_calls(handle, 1).length == 32


def test_whatever_it_is_made_of_makes_it_out_of_date(tmp_path, monkeypatch):
    spec = written(tmp_path, "copy")
    build(spec)
    spec = written(tmp_path, "copy", TABLE + "\n/* changed */\n")
    assert build(spec).state is BuildState.BUILT
    (spec.here / "more.h").write_text("/* a header */\n")
    assert build(spec).state is BuildState.BUILT
    (spec.here / "more.h").write_text("/* another header */\n")
    assert build(spec).state is BuildState.BUILT
    changed = TOML.replace("HERE", "").replace("KIND", "c") + 'flags = ["-DNEW"]\n'
    assert build(written(tmp_path, "copy", TABLE, toml=changed)).state is BuildState.BUILT
    (spec.out() / "copy").unlink()
    spec = read_spec(spec.here / "runner.toml")
    assert build(spec).state is BuildState.BUILT
    monkeypatch.setattr(needs_module, "compiler_version", lambda command: "another compiler 99")
    assert build(spec).state is BuildState.BUILT


def test_a_runner_of_other_sources_is_stale_until_it_is_built_again(tmp_path, monkeypatch):
    spec = written(tmp_path, "copy")
    assert stale(spec)
    build(spec)
    assert not stale(spec)
    monkeypatch.setattr(needs_module, "compiler_version", lambda command: "another compiler 99")
    assert not stale(spec)
    spec = written(tmp_path, "copy", TABLE + "\n/* changed */\n")
    assert stale(spec)
    surveyed = survey([spec], ["full"])
    assert surveyed.hellos == {}
    [failure] = surveyed.failures
    assert (failure.runner, failure.kind) == ("copy", "absent")
    assert "run: perbyte build copy" in failure.message
    with pytest.raises(UsageError, match=r"no runner answers; copy: .*other sources"):
        draw_plan(Request((parse_selector("copy/md5@16"),)), survey([spec], ["full"]), load())
    build(spec)
    assert not stale(spec)
    (spec.out() / "stamp.json").write_text('{"key": "of a version that knew no other"}')
    assert stale(spec)
    assert build(spec).state is BuildState.BUILT
    assert ("copy", "full") in survey([spec], ["full"]).hellos


def test_a_failed_build_says_why_and_leaves_the_old_program(tmp_path):
    spec = written(tmp_path, "copy")
    old = build(spec).executable
    assert old
    content = old.read_bytes()
    failed = build(written(tmp_path, "copy", TABLE + "\nint broken(void) { return nowhere; }\n"))
    assert failed.state is BuildState.FAILED
    assert "nowhere" in failed.output
    assert old.read_bytes() == content
    assert [path.name for path in old.parent.parent.iterdir() if path.name.startswith(".copy-")] == []
    assert build(written(tmp_path, "copy")).state is BuildState.UP_TO_DATE


def test_warnings_of_sources_that_are_not_ours_are_no_errors(tmp_path):
    spec = written(tmp_path, "copy", TABLE + "\nint unused(void) { int x; return 0; }\n")
    assert build(spec).state is BuildState.BUILT


def test_a_missing_library_is_absent_with_its_packages(tmp_path):
    spec = written(
        tmp_path, "lacking", needs='headers = ["surely/not/there.h"]\nlibraries = ["surely-not-there"]'
    )
    outcome = build(spec)
    assert outcome.state is BuildState.ABSENT
    assert outcome.missing == ("header surely/not/there.h", "library surely-not-there")
    if needs_module.package_manager() == "apt":
        assert outcome.packages == ("surely-not-there-dev",)
        assert outcome.install.endswith("apt-get install -y surely-not-there-dev")


def test_a_missing_program_and_module(tmp_path):
    programs = build(written(tmp_path, "one", needs='programs = ["surely-not-there"]'))
    assert programs.missing == ("command surely-not-there",)
    module = build(written(tmp_path, "two", needs='pkg_config = ["surely-not-there >= 1"]'))
    assert module.state is BuildState.ABSENT


def test_a_library_that_is_too_old(tmp_path, monkeypatch):
    (tmp_path / "pc").mkdir()
    (tmp_path / "pc" / "some.pc").write_text("Name: some\nDescription: d\nVersion: 1.5\nLibs: -lm\nCflags:\n")
    monkeypatch.setenv("PKG_CONFIG_PATH", str(tmp_path / "pc"))
    if not needs_module._pkg_config():
        pytest.skip("no pkg-config")
    assert build(written(tmp_path, "young", needs='pkg_config = ["some >= 1.2"]')).usable
    old = build(written(tmp_path, "old", needs='pkg_config = ["some >= 2"]\nheaders = ["math.h"]'))
    assert old.missing == ("some >= 2 (found 1.5)",)


def test_headers_are_tried_where_pkg_config_knows_nothing(tmp_path):
    needs = 'pkg_config = ["surely-not-there"]\nheaders = ["math.h"]\nlibraries = ["m"]'
    assert build(written(tmp_path, "plain", needs=needs)).state is BuildState.BUILT


def test_one_failure_touches_no_other(tmp_path):
    specs = [
        written(tmp_path, "good"),
        written(tmp_path, "bad", "this is not C"),
        written(tmp_path, "lacking", needs='headers = ["surely/not/there.h"]'),
    ]
    heard = []
    outcomes = build_all(specs, done=lambda outcome: heard.append(outcome.runner))
    assert [outcome.state for outcome in outcomes] == [BuildState.BUILT, BuildState.FAILED, BuildState.ABSENT]
    assert sorted(heard) == ["bad", "good", "lacking"]


def test_objects_of_the_sdk_are_compiled_once_for_all_runners(tmp_path, monkeypatch):
    log, compiler = tmp_path / "log", tmp_path / "cc"
    compiler.write_text(f'#!/bin/sh\necho "$@" >> {log}\nexec cc "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    specs = [written(tmp_path, name) for name in ("alpha", "beta")]
    assert [outcome.state for outcome in build_all(specs)] == [BuildState.BUILT] * 2
    compiled = [line.split(" -c ")[1].split()[0] for line in log.read_text().splitlines() if " -c " in line]
    names = [Path(source).name for source in compiled]
    # each says what it was built with, and has a table of its own
    assert {name for name in names if names.count(name) > 1} == {"hello.c", "table.c"}
    for spec in specs:
        with Session(spec) as session:
            session.hello()


def test_a_failed_download_costs_its_own_runner_and_says_what_to_do(tmp_path, monkeypatch):
    """blake3's source comes through cargo; here cargo has no registry."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "cargo").write_text(
        '#!/bin/sh\n[ "$1" != --version ] || exit 0\n'
        "echo 'failed to get a crate: network unreachable' >&2\nexit 101\n"
    )
    (tools / "cargo").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    failed, good = build_all([find("blake3"), written(tmp_path, "good")])
    assert failed.state is BuildState.FAILED
    assert "network unreachable" in failed.output
    assert "the source of blake3 could not be fetched" in failed.output
    assert "run this again when it is there" in failed.output
    assert good.state is BuildState.BUILT
    with Session(written(tmp_path, "good")) as session:
        assert session.hello().library_version == "1"
    assert not find("blake3").out().exists(), "nothing half-built is left behind"


def test_a_cpp_runner(tmp_path):
    spec = written(tmp_path, "plus", kind="c++")
    (spec.here / "table.c").unlink()
    constants = '#include <string>\nstatic const std::string number = "1";\n'
    source = constants + TABLE.replace('return "1"', "return number.c_str()").replace(
        '.name = "copy", .library = "none", .license = "Apache-2.0", .version = version, .tables = tables',
        '"copy", "none", "Apache-2.0", version, nullptr, nullptr, nullptr, nullptr, nullptr, tables',
    )
    (spec.here / "table.cpp").write_text(source)
    outcome = build(spec)
    assert outcome.state is BuildState.BUILT, outcome.output
    with Session(spec) as session:
        assert "-std=c++17" in session.hello().flags


def test_a_sanitizer_build_stands_apart(tmp_path):
    spec = written(tmp_path, "copy")
    outcome = build(spec, sanitize=True)
    if outcome.state is BuildState.FAILED and "asan" in outcome.output:
        pytest.skip("no sanitizers")
    assert outcome.state is BuildState.BUILT, outcome.output
    assert outcome.executable
    assert not spec.out().exists()
    with Session(spec, command=[str(outcome.executable)]) as session:
        assert "-fsanitize=address,undefined" in session.hello().flags


COMMAND = """
[runner]
library = "none"
license = "Apache-2.0"
opt_in = true

[build]
kind = "command"
command = ["{python}", "make.py", "{out}"]
watch = ["*.py"]

[run]
command = ["{out}/program"]
"""


def test_a_build_command_of_its_own(tmp_path):
    spec = written(tmp_path, "own", toml=COMMAND)
    (spec.here / "make.py").write_text(
        "import pathlib, sys\npathlib.Path(sys.argv[1], 'program').write_text('one')\n"
    )
    assert build(spec).state is BuildState.BUILT
    assert (spec.out() / "program").read_text() == "one"
    assert build(spec).state is BuildState.UP_TO_DATE
    (spec.here / "make.py").write_text("import sys\nsys.exit('no way')\n")
    failed = build(spec)
    assert failed.state is BuildState.FAILED
    assert "no way" in failed.output
    assert (spec.out() / "program").read_text() == "one"


def test_two_builders_at_once_do_not_tread_on_each_other(tmp_path):
    spec = written(tmp_path, "copy")
    outcomes = []
    threads = [threading.Thread(target=lambda: outcomes.append(build(spec).state)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == sorted([BuildState.BUILT, BuildState.UP_TO_DATE, BuildState.UP_TO_DATE])


def test_a_session_with_an_unbuilt_runner_says_how_to_build_it(tmp_path):
    from perbyte.errors import EnvironmentLacking

    with pytest.raises(EnvironmentLacking) as lacking:
        Session(written(tmp_path, "unbuilt"))
    assert lacking.value.hint.startswith("run: perbyte build unbuilt")


def test_another_compiler_can_be_chosen(tmp_path):
    wrapper = tmp_path / "wrapped-cc"
    wrapper.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/log\nexec cc "$@"\n')
    wrapper.chmod(0o755)
    script = (
        "import sys; from pathlib import Path; from perbyte.runners import build; "
        "from perbyte.runners.locate import read_spec; print(build(read_spec(Path(sys.argv[1]))).state)"
    )
    spec = written(tmp_path, "copy")
    done = subprocess.run(
        [sys.executable, "-c", script, str(spec.here / "runner.toml")],
        env={**os.environ, "CC": str(wrapper)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "built"
    assert "-std=c11" in (tmp_path / "log").read_text()
