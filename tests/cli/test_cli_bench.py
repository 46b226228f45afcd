"""`perbyte bench`, as a user types it: a package whose files stay as they are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from perbyte.errors import EXIT_FINE, EXIT_FOUND, EXIT_USAGE
from toolchains import needs

pytestmark = pytest.mark.native
ROOT = Path(__file__).parent.parent.parent
needs_cargo = needs("cargo")
needs_go = needs("go")
SHORT = ("--budget", "1s", "-q")
RUST = """\
use criterion::{criterion_group, criterion_main, Criterion};

fn bench(c: &mut Criterion) {
    let mut x = 1u64;
    c.bench_function("chain/STEPS", |b| b.iter(|| { for _ in 0..STEPS { x = x.wrapping_mul(0xbf58476d1ce4e5b9); } x }));
}

criterion_group!(benches, bench);
criterion_main!(benches);
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    place = tmp_path / "mine"
    place.mkdir()
    (place / "go.mod").write_text("module example.com/mine\n\ngo 1.24\n")
    (place / "mine.go").write_text("package mine\n")
    (place / "mine_test.go").write_text(
        'package mine\n\nimport (\n\t"crypto/sha256"\n\t"testing"\n)\n\nfunc BenchmarkSum(b *testing.B) {\n'
        "\tdata := make([]byte, 64)\n\tb.SetBytes(64)\n\tfor i := 0; i < b.N; i++ {\n\t\tsha256.Sum256(data)\n"
        "\t}\n}\n\n"
        "func BenchmarkOwn(b *testing.B) {\n\tb.RunParallel(func(pb *testing.PB) {})\n}\n"
    )
    return place


@pytest.fixture
def crate(world, tmp_path: Path) -> Path:
    place = tmp_path / "crate"
    (place / "src").mkdir(parents=True)
    (place / "benches").mkdir()
    (place / "src" / "lib.rs").write_text("")
    (place / "benches" / "chain.rs").write_text(RUST.replace("STEPS", "64"))
    (place / "Cargo.toml").write_text(
        '[package]\nname = "mine"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n[[bench]]\nname = "chain"\n'
        "harness = false\n[dev-dependencies]\n" + world.perbyte("bench", "--line").stdout
    )
    return place


@needs_go
@pytest.mark.slow
def test_a_figure_of_each_benchmark_says_that_nobody_checked_it(world, package):
    done = world.perbyte("bench", package, *SHORT)
    assert done.returncode == EXIT_FINE, done.stderr
    assert re.search(
        r"^benchmark +(cycles|ns)/call +95 % interval +(cycles|ns)/byte", done.stdout, re.MULTILINE
    )
    assert re.search(r"^BenchmarkSum +[\d,.]+ +[\d,.]+ to [\d,.]+ +[\d.]+ ", done.stdout, re.MULTILINE)
    assert "unverified: the output of these benchmarks is not checked" in done.stdout
    assert "BenchmarkOwn: not measured: RunParallel" in done.stderr
    (stored,) = (world.home / "runs").iterdir()
    run = world.shown(stored)
    assert {cell["address"] for cell in run["cells"]} == {"mine/unverified-sum/call@64+contract=routine/1"}


@needs_go
def test_what_there_is_is_listed_without_measuring(world, package):
    done = world.perbyte("bench", package, "--list", "--json")
    assert done.returncode == EXIT_FINE, done.stderr
    told = {benchmark["name"]: benchmark for benchmark in json.loads(done.stdout)["benchmarks"]}
    assert told["BenchmarkSum"]["id"] == "unverified-sum"
    assert "RunParallel" in told["BenchmarkOwn"]["why"]
    assert not (world.home / "runs").exists()


@needs_go
def test_a_name_that_no_benchmark_has_and_a_compiler_that_refuses_say_so(world, package):
    done = world.perbyte("bench", package, "--only", "nothing", "-q")
    assert done.returncode == EXIT_USAGE
    assert "no benchmark's name holds nothing" in done.stderr
    (package / "mine.go").write_text("package mine\n\nfunc f() { undefined() }\n")
    done = world.perbyte("bench", package, "-q")
    assert done.returncode == EXIT_USAGE
    assert "undefined" in done.stderr


def test_a_directory_without_benchmarks_leads_to_try(world, tmp_path):
    done = world.perbyte("bench", tmp_path)
    assert done.returncode == EXIT_USAGE
    assert "no Cargo.toml and no *_test.go" in done.stderr
    assert "perbyte try" in done.stderr


@needs_cargo
@pytest.mark.slow
def test_a_change_is_told_beside_the_kept_program(world, crate):
    first = world.perbyte("bench", crate, "--baseline", *SHORT)
    assert first.returncode == EXIT_FINE, first.stderr
    assert "chain/64" in first.stdout
    file = crate / "benches" / "chain.rs"
    # the same name, eight times the steps: no neighbour hides it
    file.write_text(RUST.replace('"chain/STEPS"', '"chain/64"').replace("STEPS", "512"))
    done = world.perbyte("bench", crate, "--baseline", "--budget", "1s", "--json", "-q")
    change = json.loads(done.stdout)["changes"][0]
    assert (change["name"], change["id"]) == ("chain/64", "unverified-chain-64")
    assert change["verdict"] in ("slower", "not known"), done.stdout
    assert done.returncode == (EXIT_FOUND if change["verdict"] == "slower" else EXIT_FINE)
    told = world.perbyte("bench", crate, "--baseline", "--markdown", *SHORT)
    assert re.search(r"^\| `chain/64` \| (slower|not known) \|", told.stdout, re.MULTILINE), told.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--fail-above", "1%"), "--fail-above belongs to --baseline"),
        (("--baseline", "--undecided-is", "ok"), "--undecided-is belongs to --fail-above"),
        (("--markdown", "--json"), "exclude each other"),
    ],
)
def test_options_that_need_others_say_which(perbyte, words, message):
    done = perbyte("bench", *words)
    assert done.returncode == EXIT_USAGE
    assert message in done.stderr
