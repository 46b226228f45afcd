"""The worked examples of the documents, done word for word: built, measured, judged."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import fake_scripts
import pytest
from documents import blocks, commands, write_files

from commands import run_command
from perbyte.measure import Request
from perbyte.model import Burst, Cell, Policy
from perbyte.runners import BuildState, RunnerSpec, Session, build, find
from perbyte.runners.conform import conform
from perbyte.studies import Outcome, judge, read_study

OFFERED = (
    "aes-128-ecb",
    "camellia-128-ecb",
    "des-ede3-ecb",
)  # the rest is for real runners: fakes take their time
TABLES = '\n[tiers.tables]\ndescription = "the script\'s own costs"\n'


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory in which runners are found, built and run without touching anything else."""
    monkeypatch.setenv("PERBYTE_RUNNERS", str(tmp_path / "runners"))
    monkeypatch.setenv("PERBYTE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PERBYTE_TEST_LOCKS", str(tmp_path))
    monkeypatch.setenv("PERBYTE_BUILD", "off")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def one_burst(spec: RunnerSpec, algorithm: str, operation: str, contract: str) -> Burst:
    cell = Cell(spec.name, algorithm, operation, 64, contract)
    with Session(spec) as session:
        session.calibrate(5.0, epoch=0)
        handle = session.prepare(algorithm, operation, contract, 64, seed=7, offset=0)
        shown = session.check_calls(handle, 3)
        measured = session.measure(handle, cell=cell, epoch=0, round=1, samples=4, limit_ms=50.0, calls=3)
    assert measured.digest == shown.digest
    assert len(measured.burst) > 0
    assert all(ticks > 0 for ticks in measured.burst.ticks)
    return measured.burst


@pytest.mark.native
def test_the_runner_of_contributing_is_built_and_measured(bench: Path):
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    assert len(write_files("CONTRIBUTING.md", bench / "runners")) == 4
    spec = find("arc4")
    outcome = build(spec)
    assert outcome.state is BuildState.BUILT, outcome.output
    assert conform(spec) == []
    for operation in ("encrypt", "decrypt"):
        for contract in ("stream/1", "rekey/1"):
            one_burst(spec, "rc4", operation, contract)


@pytest.mark.native
def test_the_gate_stops_the_runner_of_contributing_when_a_line_of_it_is_broken(bench: Path):
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    write_files("CONTRIBUTING.md", bench / "runners")
    source = bench / "runners" / "arc4" / "arc4.c"
    source.write_text(source.read_text().replace("(x + y)", "(x - y)"))
    assert build(find("arc4")).usable
    done = perbyte("measure", "arc4/rc4/*@64", "--budget", "1s", "--json", "--out", "run")
    assert done.returncode == 4, done.stderr
    assert "9ac7cc9a609d1ef7" in done.stdout, "what was expected is said"


def test_the_runner_written_from_the_specification_keeps_it(bench: Path):
    assert len(write_files("docs/runner-in-any-language.md", bench / "runners")) == 2
    spec = find("slow-hash")
    (asked,) = [words for words in commands("docs/runner-in-any-language.md") if words[0] == "conform"]
    done = perbyte(*asked)
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("slow-hash, tier full: keeps every promise")
    one_burst(spec, "sha-256", "digest", "oneshot/1")
    with Session(spec) as session:
        calibration = session.calibrate(5.0, epoch=0)
    assert calibration.cycle_source == "none"
    assert calibration.reason


@pytest.mark.slow
def test_the_guide_to_repeating_a_study_works(bench: Path):
    for name in ("nettle", "openssl"):
        rows = [
            fake_scripts.row(algorithm, operation, "stream/1", per_byte=2.0 + number)
            for number, algorithm in enumerate(OFFERED)
            for operation in ("encrypt", "decrypt")
        ]
        here = fake_scripts.write_runner(
            bench / "runners", {"name": name, "operations": rows, "tiers": {"soft": 3}}
        )
        with (here / "runner.toml").open("a") as file:
            file.write(TABLES)
    ran = 0
    for words in commands("docs/repeat-a-study.md", "run"):
        done = perbyte(*words)
        assert done.returncode == 0, f"{words}: {done.stderr}"
        ran += 1
        if words[:2] == ["study", "run"]:
            assert "AES with AES-NI is the fastest choice" in " ".join(done.stdout.split())
    assert ran >= 8
    assert (bench / "results/kompara/report.html").is_file()
    assert "<html" in (bench / "kompara.html").read_text()[:500].lower()
    assert (bench / "acceleration.svg").read_text().startswith("<svg")
    (code,) = [
        block
        for block in blocks("docs/repeat-a-study.md")
        if block.language == "python" and block.word == "run"
    ]
    printed = subprocess.run(
        [sys.executable, "-c", code.text], capture_output=True, text=True, check=True
    ).stdout
    assert "aes-ni-fastest" in printed


def test_the_study_of_the_guide_is_read_measured_and_judged(bench: Path):
    from perbyte.app.conducting import conduct
    from perbyte.catalogue import parse_selector

    assert len(write_files("docs/add-a-study.md", bench)) == 4
    for name, aes, camellia in (("openssl", 0.5, 9.0), ("nettle", 0.6, 10.0)):
        rows = [
            fake_scripts.row(f"{cipher}-128-ctr", operation, "stream/1", per_call=30.0, per_byte=cost)
            for cipher, cost in (("aes", aes), ("camellia", camellia))
            for operation in ("encrypt", "decrypt")
        ]
        fake_scripts.write_runner(bench / "runners", {"name": name, "operations": rows})
    study = read_study(bench / "doe-2024")
    assert len(study.published) == 5
    request = Request(tuple(parse_selector(text) for text in study.selectors()), contracts=(study.contract,))
    done = conduct(request, Policy(budget_s=5.0), out=bench / "run", study=study.name)
    assert done.code == 0
    outcomes = {verdict.claim.id: verdict.outcome for verdict in judge(study, done.run).verdicts}
    words = [block.text for block in blocks("docs/add-a-study.md")]
    assert words
    assert outcomes == {
        "aes-fastest": Outcome.REPRODUCED,
        "camellia-factor": Outcome.NOT_REPRODUCED,
        "size-does-not-matter": Outcome.NOT_REPRODUCED,
        "energy": Outcome.NOT_TESTABLE,
    }


def perbyte(*words: str) -> subprocess.CompletedProcess[str]:
    return run_command([*words], {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}, 300)
