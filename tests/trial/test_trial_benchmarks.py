"""Benchmark files of criterion and of testing.B become runners, and what they time is what their loops do."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from perbyte import places
from perbyte.errors import RunnerRefused, UsageError
from perbyte.model import Cell
from perbyte.runners import Session
from perbyte.trial import cargo_bench, go_bench
from perbyte.trial.benchmark_file import (
    BenchmarkProgram,
    BuiltBenchmarks,
    describe_routines,
    places_of,
    put_in_place,
    suite_in,
)
from perbyte.trial.cargo_bench import build_cargo
from perbyte.trial.go_bench import build_go
from perbyte.trial.program import DoesNotBuild
from toolchains import needs

pytestmark = pytest.mark.native
needs_cargo = needs("cargo")
needs_go = needs("go")
FILES = Path(__file__).parent / "code" / "benchmarks"
FAILED_CALL = 16
CARGO = """\
[package]
name = "mine"
version = "1.2.3"
edition = "2021"
[dev-dependencies]
criterion = {{ package = "perbyte-criterion", path = "{path}" }}
[[bench]]
name = "hashes"
harness = false
[workspace]
"""


@pytest.fixture(scope="module")
def crate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("crate")
    (place / "src").mkdir()
    (place / "src" / "lib.rs").write_text("")
    (place / "benches").mkdir()
    shutil.copy(FILES / "hashes.rs", place / "benches" / "hashes.rs")
    sdk = places.data_dir("runners") / "sdk" / "criterion"
    (place / "Cargo.toml").write_text(CARGO.format(path=sdk))
    return place


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("package")
    (place / "go.mod").write_text("module example.com/mine\n\ngo 1.24\n")
    (place / "mine.go").write_text("package mine\n\nfunc Double(x int) int { return 2 * x }\n")
    for name in ("inner_test.go", "outer_test.go"):
        shutil.copy(FILES / name, place / name)
    return place


def rust(crate: Path, **more: str) -> BenchmarkProgram:
    return put_in_place(build_cargo(crate)[0], more)


def go(package: Path, **more: str) -> BenchmarkProgram:
    return put_in_place(build_go(package), {**go_bench.ENVIRONMENT, **more})


def by_name(suite: BenchmarkProgram) -> dict[str, tuple[str, int, str]]:
    return {
        benchmark.name: (benchmark.id, benchmark.bytes, benchmark.contract)
        for benchmark in suite.benchmarks
        if not benchmark.why
    }


def not_measured(suite: BenchmarkProgram) -> dict[str, str]:
    return {benchmark.name: benchmark.why for benchmark in suite.benchmarks if benchmark.why}


def prepare(session: Session, cell: Cell) -> int:
    return session.prepare(cell.algorithm, cell.operation, cell.contract, cell.size_bytes, seed=7)


def flags_of(session: Session, handle: int, cell: Cell, calls: int = 3) -> list[int]:
    session.calibrate(20, epoch=0)
    taken = session.measure(
        handle, cell=cell, epoch=0, round=0, samples=4, limit_ms=1000, calls=calls, sample_us=12
    )
    assert taken.burst.calls == calls
    return [int(flag) for flag in taken.burst.flags]


def cell_of(suite: BenchmarkProgram, name: str) -> Cell:
    id_ = by_name(suite)[name][0]
    return next(cell for cell in suite.cells() if cell.algorithm == id_)


@needs_cargo
@pytest.mark.slow
def test_a_file_of_criterion_lists_what_it_has_and_what_cannot_be_measured(crate: Path) -> None:
    before = sorted(path.name for path in crate.iterdir())
    suite = rust(crate)
    assert sorted(path.name for path in crate.iterdir()) == before, "nothing is written to the project"
    assert by_name(suite) == {
        "sums/sum/64": ("unverified-sums-sum-64", 64, "routine/1"),
        "sums/sum/1024": ("unverified-sums-sum-1024", 1024, "routine/1"),
        "batched": ("unverified-batched", 0, "batch/1"),
        "one at a time": ("unverified-one-at-a-time", 0, "batch/1"),
        "fails later": ("unverified-fails-later", 0, "routine/1"),
        "Fails-Later": ("unverified-fails-later-2", 0, "routine/1"),
    }
    why = not_measured(suite)
    assert set(why) == {"by its own clock", "nothing", "gives up"}
    assert "iter_custom" in why["by its own clock"]
    assert "never calls iter" in why["nothing"]
    assert "no such key" in why["gives up"]
    assert suite.unheeded == ("measurement_time", "sample_size")


@needs_cargo
def test_a_routine_of_rust_is_measured_and_dropped_at_the_end(crate: Path, tmp_path: Path) -> None:
    dropped = tmp_path / "dropped"
    suite = rust(crate, HELD=str(dropped))
    with Session(suite.spec) as session:
        hello = session.hello()
        assert {
            (operation.algorithm, operation.operation, operation.contract, operation.calls)
            for operation in hello.operations
        } == {
            (benchmark.id, "call", benchmark.contract, benchmark.name)
            for benchmark in suite.benchmarks
            if not benchmark.why
        }
        assert (hello.library, hello.library_version) == ("mine", "1.2.3")
        for name in ("sums/sum/64", "sums/sum/1024", "batched", "one at a time"):
            cell = cell_of(suite, name)
            handle = prepare(session, cell)
            dropped.unlink(missing_ok=True)
            assert session.check_calls(handle, 18).length == 0
            assert not any(flag & FAILED_CALL for flag in flags_of(session, handle, cell)), name
            assert not dropped.exists()
            session.release(handle)
            assert dropped.exists() == name.startswith("sums"), name


@needs_cargo
def test_a_sample_holds_as_many_calls_as_its_inputs_allow(crate: Path) -> None:
    suite = rust(crate)
    cell = cell_of(suite, "one at a time")
    with Session(suite.spec) as session:
        handle = prepare(session, cell)
        session.calibrate(20, epoch=0)
        taken = session.measure(
            handle, cell=cell, epoch=0, round=0, samples=2, limit_ms=1000, calls=0, sample_us=12
        )
        assert taken.burst.calls == 1


@needs_cargo
def test_several_routines_of_a_file_are_there_at_once(crate: Path) -> None:
    suite = rust(crate)
    cells = [cell for cell in suite.cells() if cell.algorithm != "unverified-fails-later"]
    with Session(suite.spec) as session:
        handles = [prepare(session, cell) for cell in cells for _ in range(2)]
        for handle in reversed(handles):
            session.check_calls(handle, 2)
        for handle in handles[::2]:
            session.release(handle)
        for handle in handles[1::2]:
            session.check_calls(handle, 2)


@needs_cargo
def test_a_panic_in_a_call_is_a_failed_call(crate: Path) -> None:
    suite = rust(crate)
    with Session(suite.spec) as session:
        handle = prepare(session, cell_of(suite, "fails later"))
        with pytest.raises(RunnerRefused, match="enough"):
            session.check_calls(handle, 18)
        handle = prepare(session, cell_of(suite, "sums/sum/64"))
        session.check_calls(handle, 1)


@needs_cargo
def test_cargo_test_calls_each_routine_once(crate: Path) -> None:
    built = build_cargo(crate)[0]
    done = subprocess.run([built.program], capture_output=True, text=True, timeout=60, check=False)
    assert "no such key" in done.stderr  # what panics fails, as a test does


@needs_cargo
def test_cargo_bench_asks_perbyte_for_the_figures(crate: Path, tmp_path: Path) -> None:
    built = build_cargo(crate)[0]
    perbyte = tmp_path / "perbyte"
    perbyte.write_text('#!/bin/sh\necho "$@"\n')
    perbyte.chmod(0o755)
    done = subprocess.run(
        [built.program, "--bench", "sum", "--quiet"],
        env={"PERBYTE": str(perbyte)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == ["bench", str(built.program), "--only", "sum", "--quiet"]


def test_the_crate_takes_the_name_and_version_that_a_lock_file_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Cargo.lock").write_text(
        '[[package]]\nname = "criterion"\nversion = "0.4.0"\n\n[[package]]\nname = "criterion"\nversion = "0.5.1"\n\n'
        '[[package]]\nname = "criterion-plot"\nversion = "0.5.0"\n'
    )
    asked = [{"dependencies": [{"name": "criterion"}]}]
    words = cargo_bench._patches("cargo", tmp_path, asked)
    assert [re.sub(r'".*/', '"…/', word) for word in words] == [
        'patch.crates-io.criterion.path="…/0.4.0"',
        'patch.crates-io.criterion.package="criterion"',
        'patch.crates-io.criterion1.path="…/0.5.1"',
        'patch.crates-io.criterion1.package="criterion"',
    ]
    made = Path(json.loads(words[2].partition("=")[2]))
    text = (made / "Cargo.toml").read_text()
    assert 'name = "criterion"\nversion = "0.5.1"' in text
    assert (made / "src" / "lib.rs").is_file()
    assert cargo_bench._patches("cargo", tmp_path, [{"dependencies": [{"name": "perbyte-criterion"}]}]) == []
    with pytest.raises(UsageError, match="does not depend on criterion"):
        cargo_bench._patches("cargo", tmp_path, [{"dependencies": []}])


@needs_cargo
@pytest.mark.slow
def test_criterion_of_a_registry_is_replaced_and_nothing_is_left_behind(crate: Path, tmp_path: Path) -> None:
    shutil.copytree(crate, tmp_path / "crate")
    text = (crate / "Cargo.toml").read_text()
    (tmp_path / "crate" / "Cargo.toml").write_text(
        re.sub(r"^criterion = .*$", 'criterion = "0.5"', text, flags=re.MULTILINE)
    )
    try:
        built = build_cargo(tmp_path / "crate")[0]
    except DoesNotBuild as error:
        if re.search(r"registry|download|network|offline", str(error)):
            pytest.skip("no registry of crates can be reached")
        raise
    suite = put_in_place(built, {})
    assert "sums/sum/64" in by_name(suite)
    assert sorted(path.name for path in (tmp_path / "crate").iterdir()) == ["Cargo.toml", "benches", "src"]


@needs_cargo
def test_a_package_without_such_a_file_says_so(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "lib.rs").write_text("")
    (tmp_path / "Cargo.toml").write_text(
        '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n'
    )
    with pytest.raises(UsageError, match="criterion_main"):
        build_cargo(tmp_path)


@needs_go
@pytest.mark.slow
def test_files_of_testing_b_list_what_they_have_and_what_cannot_be_measured(package: Path) -> None:
    before = sorted(path.name for path in package.iterdir())
    suite = go(package)
    assert sorted(path.name for path in package.iterdir()) == before, "nothing is written to the project"
    names = by_name(suite)
    assert set(names) == {
        "BenchmarkSum/of_64",
        "BenchmarkSum/of_1024",
        "BenchmarkTurns",
        "BenchmarkRange",
        "BenchmarkLoop",
        "BenchmarkShares",
        "BenchmarkPrepared",
        "BenchmarkElsewhere",
        "BenchmarkOuter",
    }
    assert names["BenchmarkSum/of_1024"] == ("unverified-sum-of-1024", 1024, "routine/1")
    assert names["BenchmarkOuter"] == ("unverified-outer", 8, "routine/1")
    why = not_measured(suite)
    assert set(why) == {"BenchmarkStops", "BenchmarkParallel", "BenchmarkSkips", "BenchmarkTwice"}
    assert "within its loop" in why["BenchmarkStops"]
    assert "several threads" in why["BenchmarkParallel"]
    assert "not here" in why["BenchmarkSkips"]
    assert "several loops" in why["BenchmarkTwice"]
    noted = {benchmark.name: benchmark.note for benchmark in suite.benchmarks if benchmark.note}
    assert noted.pop("BenchmarkSum/of_64") == "0 allocations and 0 bytes a turn"
    assert noted.pop("BenchmarkSum/of_1024") == "0 allocations and 0 bytes a turn"
    assert noted.keys() == {"BenchmarkPrepared", "BenchmarkElsewhere", "BenchmarkShares"}


@needs_go
@pytest.mark.parametrize("name", ["Turns", "Range", "Loop", "Prepared", "Elsewhere"])
def test_a_loop_of_go_makes_the_turns_that_are_asked_for(package: Path, tmp_path: Path, name: str) -> None:
    count = tmp_path / "turns"
    suite = go(package, TURNS=str(count))
    cell = cell_of(suite, f"Benchmark{name}")
    with Session(suite.spec) as session:
        handle = prepare(session, cell)  # makes one call, so that what is lazy is behind it
        for calls in (18, 5):
            session.check_calls(handle, calls)
        session.release(handle)
    anew = name in ("Prepared", "Elsewhere")  # called for each sample
    assert int(count.read_text()) == (5 if anew else 1 + 18 + 5)


@needs_go
def test_benchmarks_of_go_are_measured_beside_each_other(package: Path) -> None:
    suite = go(package)
    cells = suite.cells(["Sum", "Turns", "Loop", "Outer", "Prepared"])
    with Session(suite.spec) as session:
        hello = session.hello()
        assert set(by_name(suite)) < {
            operation.calls for operation in hello.operations
        }  # and the probes of the language
        handles = {cell: prepare(session, cell) for cell in cells}
        for cell, handle in reversed(handles.items()):
            assert not any(flag & FAILED_CALL for flag in flags_of(session, handle, cell))
        for handle in handles.values():
            session.release(handle)


@needs_go
def test_marks_are_put_around_loops_and_lines_stay(tmp_path: Path) -> None:
    text = (
        'package p\n\nimport "testing"\n\nfunc BenchmarkA(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t}\n'
        "\tfor range b.N {\n\t}\n}\n\nfunc BenchmarkB(b *testing.B) {\n\tx := make([]int, b.N)\n"
        "\tfor i := range b.N {\n\t\tx[i]++\n\t}\n}\n\nfunc Benchmarking(b *testing.B) {}\n"
    )
    (tmp_path / "a_test.go").write_text(text)
    rewriter = ("go", "-C", places.data_dir("runners") / "sdk" / "go", "run", "./rewrite")
    message = subprocess.run(
        [*rewriter, f"{tmp_path / 'out'}={tmp_path / 'a_test.go'}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(message.stdout) == {str(tmp_path / "a_test.go"): ["BenchmarkA", "BenchmarkB"]}
    made = (tmp_path / "out").read_text()
    assert made.count("\n") == text.count("\n")
    assert 'import testing "perbyte/testing"' in made
    assert "b.LoopBegins(); for i := 0; i < b.N || b.Again(); i++ {\n\t}; b.LoopEnds()\n" in made
    assert "b.LoopBegins(); for perbyteTurn := 0; perbyteTurn < b.N || b.Again(); perbyteTurn++ {" in made
    assert "b.LoopBegins(); for i := range b.N {\n" in made


@needs_go
def test_what_go_cannot_measure_says_so(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module example.com/mine\n\ngo 1.24\n")
    (tmp_path / "main.go").write_text("package main\n\nfunc main() {}\n")
    (tmp_path / "main_test.go").write_text(
        'package main\n\nimport "testing"\n\nfunc BenchmarkX(b *testing.B) {}\n'
    )
    with pytest.raises(UsageError, match="package main"):
        build_go(tmp_path)
    (tmp_path / "main_test.go").unlink()
    with pytest.raises(UsageError, match="no test files"):
        build_go(tmp_path)


@needs_go
def test_a_package_from_before_there_were_modules_gets_one_and_is_left_as_it_is(tmp_path: Path) -> None:
    inner = tmp_path / "sum"
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text('[remote "origin"]\n\turl = git@example.com:some/mine.git\n')
    inner.mkdir()
    (tmp_path / "mine.go").write_text('package mine\n\nimport "example.com/some/mine/sum"\n\nvar X = sum.X\n')
    (inner / "sum.go").write_text("package sum\n\nvar X int\n")
    (tmp_path / "mine_test.go").write_text(
        'package mine\n\nimport "testing"\n\nfunc BenchmarkX(b *testing.B) {\n'
        "\tfor i := 0; i < b.N; i++ {\n\t\tX++\n\t}\n}\n"
    )
    before = sorted(tmp_path.rglob("*"))
    built = build_go(tmp_path)
    assert built.key == "example.com/some/mine"
    assert by_name(put_in_place(built, go_bench.ENVIRONMENT)).keys() == {"BenchmarkX"}
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("url", "module"),
    [
        ("https://example.com/some/mine", "example.com/some/mine"),
        ("https://user@example.com/some/mine.git", "example.com/some/mine"),
        ("ssh://git@example.com/some/mine.git", "example.com/some/mine"),
        ("/somewhere/mine", "example.com/mine"),
    ],
)
def test_a_module_is_called_after_where_it_was_cloned_from(tmp_path: Path, url: str, module: str) -> None:
    root = tmp_path / "place"
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "config").write_text(f"[remote]\n\turl = {url}\n")
    own = tmp_path / "own.mod"
    assert go_bench.module_over(root / "a" / "b", own) == {str(root / "go.mod"): str(own)}
    assert own.read_text().startswith(f"module {module}\n")


def test_a_program_that_lists_nothing_is_named(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho Hello\n")
    program.chmod(0o755)
    built = BuiltBenchmarks("mine", program, tmp_path, "c", "key")
    with pytest.raises(UsageError, match="said: Hello"):
        put_in_place(built, {})
    program.write_text("#!/bin/sh\necho '{\"benchmarks\": null}'\n")
    with pytest.raises(UsageError, match="no benchmark"):
        put_in_place(built, {})
    assert len({len(str(place)) for place in places_of(built)}) == 1


def test_routines_are_known_to_the_catalogue_by_names_that_say_unverified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from perbyte.catalogue import load

    monkeypatch.setenv("PERBYTE_CATALOGUE", "")
    program = tmp_path / "program"
    listed = {"id": "unverified-a-64", "name": 'a "64" 😀', "bytes": 64, "contract": "routine/1"}
    program.write_text(f"#!/bin/sh\necho '{json.dumps({'benchmarks': [listed]})}'\n")
    program.chmod(0o755)
    built = BuiltBenchmarks("mine", program, tmp_path, "c", "key")
    suite = put_in_place(built, {"A": "b c"})
    assert suite.cells() == (Cell("mine", "unverified-a-64", "call", 64, "routine/1"),)
    assert suite.cells(["nothing"]) == ()
    describe_routines([suite], "key")
    try:
        known = load().find("unverified-a-64")
        assert (known.kind, known.name) == ("routine", 'a "64" 😀')
        assert not known.determined("call")
        assert load().default_contract(known) == "routine/1"
    finally:
        load.cache_clear()
    assert "A='b c' PERBYTE_BENCH=run" in (places_of(built)[0] / "runner").read_text()
    assert suite_in(places_of(built)[0], built, "mine-before").spec.name == "mine-before"
