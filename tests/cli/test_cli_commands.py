"""Commands, their exit codes, and errors that say what to do next."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from fake_scripts import fault, lie

from perbyte.cli.group import COMMANDS
from perbyte.model import Policy


def complained(answer, code, *words):
    """One error on stderr, nothing on stdout, no traceback."""
    assert answer.returncode == code, (answer.stdout, answer.stderr)
    assert answer.stdout == ""
    assert "Traceback" not in answer.stderr
    for word in words:
        assert word in answer.stderr


# --- exit codes ---------------------------------------------------------------------------------------


def test_0_is_fine(world, script, tmp_path, quick):
    world.add(script("alpha"))
    answer = world.perbyte("measure", "alpha/sha-256@16", "--out", tmp_path / "run", *quick)
    assert answer.returncode == 0


@pytest.mark.parametrize(("where", "sizes"), [("check", [64]), ("vector", [16, 64]), ("measure", [64])])
def test_4_is_a_wrong_answer_before_or_after_the_timing(world, script, tmp_path, quick, where, sizes):
    world.add(script("alpha"), script("beta"), script("gamma", lies=[lie(where, sizes=sizes)]))
    path = tmp_path / "run"
    answer = world.perbyte("measure", "*/sha-256@16,64", "--out", path, "--json", *quick)
    assert answer.returncode == 4, answer.stderr
    content = json.loads(answer.stdout)
    failures = {failure["address"]: failure for failure in content["run"]["failures"]}
    assert set(failures) == {f"gamma/sha-256/digest@{size}+contract=oneshot/1" for size in sizes}
    for failure in failures.values():
        assert failure["kind"] == "incorrect"
        assert failure["expected"]
        assert failure["got"]
        assert failure["expected"] != failure["got"]
    shown = {cell["address"] for cell in content["cells"]}
    assert len(shown) == 6 - len(failures)
    assert not shown & set(failures)
    table = world.perbyte("show", path)
    assert table.returncode == 0
    assert "WRONG" in table.stdout
    assert "expected" in table.stdout


def test_3_is_a_run_without_a_single_figure(world, script, tmp_path):
    world.add(script("alpha", faults=[fault("prepare", "crash", nth=0)]))
    answer = world.perbyte("measure", "alpha/sha-256@16,64", "--out", tmp_path / "run", "--json")
    assert answer.returncode == 3
    content = json.loads(answer.stdout)
    assert content["cells"] == []
    assert {failure["kind"] for failure in content["run"]["failures"]} == {"crashed"}


def test_a_fault_of_one_runner_is_shown_and_the_others_are_fine(world, script, tmp_path):
    world.add(script("alpha", faults=[fault("measure", "crash", nth=2, starts=[1])]), script("beta"))
    answer = world.perbyte("measure", "*/sha-256@16,64", "--out", tmp_path / "run")
    assert answer.returncode == 0
    assert "crashed" in answer.stdout
    assert "SIGSEGV" in answer.stdout


def test_2_is_usage(world, script):
    world.add(script("alpha"))
    complained(world.perbyte("measure", "alpha/sha-257@16"), 2, "sha-257", "did you mean sha-256")
    complained(world.perbyte("measure", "alpha/aes-128-ecb/encrypt@17"), 2, "not a multiple of 16")
    complained(world.perbyte("measure", "nobody/sha-256"), 2, "no runner is called 'nobody'", "alpha")
    complained(world.perbyte("measure", "alpha/sha-256+cpu=avx99"), 2, "no CPU tier 'avx99'", "full, soft")


def test_3_is_an_environment_that_lacks_something(world):
    complained(world.perbyte("measure", "openssl/sha-256"), 3, "perbyte build")
    home = f"no runner is built: there is none in {world.home}"
    complained(
        world.perbyte("measure"),
        3,
        home,
        "because PERBYTE_HOME is set",
        "perbyte build",
        "unset PERBYTE_HOME",
    )


def test_a_runner_that_is_there_but_not_built_says_how(world, script):
    world.add(script("alpha"))
    complained(world.perbyte("measure", "nettle/sha-256"), 3, "'nettle' is not built", "perbyte build nettle")


def test_runners_that_do_not_answer_at_all(world, script):
    world.add(script("alpha", faults=[fault("hello", "crash", nth=0)]))
    complained(world.perbyte("measure", "alpha/sha-256"), 2, "no runner answers", "perbyte doctor")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--precision", "0"), "invalid percentage"),
        (("--precision", "a lot"), "invalid percentage"),
        (("--precision", "nan"), "invalid percentage"),
        (("--budget", "soon"), "invalid duration"),
        (("--budget", "-5s"), "invalid duration"),
        (("--epochs", "0"), "--epochs"),
        (("--core", "-1"), "--core"),
        (("--seed", "x"), "--seed"),
        (("--seed", str(2**64)), "--seed"),
        (("--size", "16,many"), "'many' is not a size"),
        (("--size", ","), "an empty list"),
        (("--contract", "stram"), "stram"),
        (("--unit", "furlongs"), "cycles/byte"),
    ],
)
def test_options_that_make_no_sense_say_what_would(world, perbyte, script, words, message):
    world.add(script("alpha"))
    complained(perbyte("measure", "alpha/sha-256", *words), 2, message)


def test_a_core_that_is_not_there(world, script):
    world.add(script("alpha"))
    complained(world.perbyte("measure", "alpha/sha-256", "--core", 4096), 2, "core 4096", "use one of")


def test_out_never_overwrites(world, script, tmp_path, quick):
    world.add(script("alpha"))
    assert world.perbyte("measure", "alpha/sha-256@16", "--out", tmp_path / "run", *quick).returncode == 0
    again = world.perbyte("measure", "alpha/sha-256@16", "--out", tmp_path / "run", *quick)
    complained(again, 3, "already holds a run", "--resume")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    other = world.perbyte("measure", "alpha/sha-256@16", "--out", tmp_path / "mine", *quick)
    complained(other, 3, "is not empty")
    assert [place.name for place in (tmp_path / "mine").iterdir() if place.suffix] == ["letter.txt"]


# --- measure ------------------------------------------------------------------------------------------


def test_a_dry_run_prints_the_plan_and_measures_nothing(world, script):
    world.add(script("alpha"), script("beta"))
    answer = world.perbyte(
        "measure", "--dry-run", "*/sha-256", "--size", "16,1KiB", "--seed", 3, "--precision", "1%"
    )
    assert answer.returncode == 0
    assert answer.stdout.splitlines() == [
        f"{runner}/sha-256/digest@{size}+contract=oneshot/1"
        for runner in ("alpha", "beta")
        for size in (16, 1024)
    ]
    assert "4 cells, 2 A/A cells" in answer.stderr
    assert "precision 1.000%" in answer.stderr
    assert "seed 3" in answer.stderr
    assert not (world.home / "runs").exists()


def test_every_line_of_a_dry_run_is_a_selector(world, script):
    world.add(script("alpha"))
    first = world.perbyte("measure", "--dry-run", "alpha/*@16+contract=*+cpu=*").stdout.splitlines()
    assert len(first) == 10
    again = world.perbyte("measure", "--dry-run", *first).stdout.splitlines()
    assert again == first


def test_options_reach_the_run(world, script, tmp_path):
    world.add(script("alpha"))
    path = tmp_path / "run"
    words = ["--size", "32", "--operation", "decrypt", "--contract", "message", "--cpu", "soft"]
    policy = ["--precision", "2%", "--budget", "20s", "--epochs", "2", "--seed", "99", "--core", "0"]
    answer = world.perbyte("measure", "alpha/aes-128-ecb", *words, *policy, "--out", path, "--json")
    assert answer.returncode == 0, answer.stderr
    content = json.loads(answer.stdout)
    assert content["run"]["plan"] == ["alpha/aes-128-ecb/decrypt@32+contract=message/1+cpu=soft"]
    told = {
        name: content["run"]["policy"][name] for name in ("precision", "budget_s", "epochs", "seed", "cores")
    }
    assert told == {"precision": 0.02, "budget_s": 20.0, "epochs": 2, "seed": 99, "cores": [0]}
    [cell] = content["cells"]
    assert (cell["cpu"], cell["size_bytes"], cell["operation"]) == ("soft", 32, "decrypt")
    assert any("nothing shows that the code path changed" in warning for warning in cell["warnings"]), (
        "the fake's soft tier changes nothing"
    )


def test_a_size_that_fits_some_algorithms_only_is_remarked(world, script, tmp_path, quick):
    world.add(script("alpha"))
    words = (
        *quick[:-1],
        "alpha/aes-128-ecb/encrypt",
        "alpha/sha-256",
        "--size",
        "17,32",
        "--out",
        tmp_path / "run",
    )
    answer = world.perbyte("measure", *words)
    assert answer.returncode == 0
    assert "left out: 17 bytes is not a multiple of 16 (1 cell)" in answer.stderr


# --- other commands -----------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",)])
def test_help_leads_with_examples_and_names_every_command(perbyte, words):
    answer = perbyte(*words)
    assert answer.returncode == 0 if words else answer.returncode in (0, 2)
    text = answer.stdout + answer.stderr
    assert "perbyte measure" in text.split("Options:")[0]
    for name in COMMANDS:
        assert f"\n  {name} " in text


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_help(perbyte, name):
    answer = perbyte(name, "-h")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith(f"Usage: perbyte {name}")


def test_version(perbyte):
    from perbyte import __version__

    assert perbyte("--version").stdout.strip() == f"perbyte, version {__version__}"


def test_an_unknown_command_names_those_that_come_near(perbyte):
    complained(perbyte("mesure"), 2, "no such command 'mesure'", "measure")
    complained(perbyte("shwo"), 2, "show")
    complained(perbyte("qqqqq"), 2, "no such command 'qqqqq'")
    complained(perbyte("list", "algoritms"), 2, "algorithms")


def test_list_algorithms(perbyte):
    answer = perbyte("list", "algorithms", "aes-128-*")
    lines = answer.stdout.splitlines()
    assert lines[0].split()[:2] == ["algorithm", "kind"]
    assert all(line.startswith(("aes-128-", "    ")) for line in lines[1:])
    rows = json.loads(perbyte("list", "algorithms", "aes-128-*", "--json").stdout)
    assert [row_["algorithm"] for row_ in rows] == [
        line.split()[0] for line in lines[1:] if not line.startswith(" ")
    ]
    assert {row_["key_bits"] for row_ in rows} == {128, 256}  # XTS has two keys of 128 bits
    assert len(json.loads(perbyte("list", "algorithms", "--json").stdout)) > 80


def test_list_runners_says_what_is_ready(world, script):
    world.add(script("alpha"))
    rows = {row_["runner"]: row_ for row_ in json.loads(world.perbyte("list", "runners", "--json").stdout)}
    assert rows["alpha"]["state"] == "ready"
    assert rows["alpha"]["cpu_tiers"] == "full, soft"
    assert rows["openssl"]["state"] == "not built"
    assert "fake" not in rows, "the fake runner of the tests is not listed"


def test_list_contracts_studies_and_runs(perbyte):
    contracts = json.loads(perbyte("list", "contracts", "--json").stdout)
    assert {"stream/1", "message/1", "rekey/1", "setup/1", "oneshot/1"} <= {c["contract"] for c in contracts}
    studies = json.loads(perbyte("list", "studies", "--json").stdout)
    assert "kompara-2020" in {study["study"] for study in studies}
    assert perbyte("list", "runs").stdout == "none\n"
    assert json.loads(perbyte("list", "runs", "--json").stdout) == []
    assert perbyte("list", "algorithms", "zzz*").stdout == "none\n"


def test_show_without_a_run(perbyte, tmp_path):
    complained(perbyte("show"), 2, "there is no run yet", "perbyte measure")
    complained(perbyte("show", tmp_path / "nowhere"), 2, "no run")


def test_doctor_on_fakes(world, script):
    world.add(script("alpha", library="Fast Crypto", library_version="9.8.7"))
    world.add(script("broken", faults=[fault("hello", "crash", nth=0)]))
    before = sorted((world.home / "build").rglob("*"))
    answer = world.perbyte("doctor")
    assert answer.returncode == 0, answer.stderr
    text = answer.stdout
    assert "Fast Crypto 9.8.7, 2 algorithms, tiers full, soft" in text
    assert "cycle source: probe" in text
    assert "self-check" in text
    assert "add 1.000, rotate 1.000" in text
    assert "BROKEN" in text
    assert "SIGSEGV" in text
    assert "perbyte build openssl" in text or "lacks" in text
    assert sorted((world.home / "build").rglob("*")) == before, "a doctor builds nothing"


def test_doctor_in_json(world, script):
    world.add(script("alpha"), script("broken", protocol=2))
    content = json.loads(world.perbyte("doctor", "--json").stdout)
    runners = {runner["runner"]: runner for runner in content["runners"]}
    assert runners["alpha"]["cycle_source"] == "probe"
    assert runners["alpha"]["selfcheck"] == {"add": 1.0, "rotate": 1.0}
    assert "version 2" in runners["broken"]["error"]
    assert content["machine"]["cores"] == os.cpu_count()
    assert "openssl" in {row["runner"] for row in content["not_built"]}


def test_doctor_writes_a_report_that_names_no_machine(world, script, tmp_path):
    world.add(script("alpha"))
    place = tmp_path / "core.json"
    answer = world.perbyte("doctor", "--report", place)
    assert answer.returncode == 0, answer.stderr
    report = json.loads(place.read_text())
    assert set(report) == {"perbyte", "commit", "date", "machine", "cores", "reference", "window"}
    assert report["machine"]["cores"] == os.cpu_count()
    assert str(world.home) not in place.read_text()
    complained(world.perbyte("doctor", "--report", tmp_path / "no" / "where.json"), 3, "no")


def test_doctor_says_why_there_are_no_cycles(world, script):
    why = "imul reads 2.4 cycles where 3.0 are known"
    world.add(script("alpha", clock={"cycle_source": "none", "reason": why}))
    answer = world.perbyte("doctor")
    assert "nanoseconds only" in answer.stdout
    assert why in answer.stdout


def test_doctor_with_nothing_to_measure_by(perbyte):
    answer = perbyte("doctor")
    assert answer.returncode == 3
    assert "nothing can be measured here yet; run: perbyte build" in answer.stdout
    assert perbyte("doctor", "--json").returncode == 3


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(perbyte, shell):
    answer = perbyte("completion", shell)
    assert answer.returncode == 0
    assert "_PERBYTE_COMPLETE" in answer.stdout
    assert answer.stderr == ""


def test_completion_in_bash_completes_commands(world):
    environment = world.environment | {
        "_PERBYTE_COMPLETE": "bash_complete",
        "COMP_WORDS": "perbyte mea",
        "COMP_CWORD": "1",
    }
    code = "from perbyte.cli import main; main()"
    answer = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert answer.stdout.split() == ["plain,measure"]


def test_an_unknown_shell(perbyte):
    complained(perbyte("completion", "tcsh"), 2, "bash", "zsh", "fish")


def test_build_of_what_is_not_there(perbyte):
    complained(perbyte("build", "opensll"), 2, "there is no runner 'opensll'", "openssl")


def test_a_broken_runner_description_names_file_and_key(world, script):
    world.add(script("alpha"))
    place = world.runners / "alpha" / "runner.toml"
    place.write_text(place.read_text().replace("language", "langage"))
    complained(world.perbyte("measure", "alpha/sha-256"), 3, str(place), "langage")


def test_help_is_quick(perbyte):
    """Not timed: what takes long is importing, so it is looked at what is imported."""
    code = (
        "import sys; from perbyte.cli.group import commands\n"
        "commands.main(['--help'], standalone_mode=False)\n"
        "heavy = {'numpy', 'scipy', 'pyarrow', 'duckdb', 'altair', 'rich', 'jinja2', 'msgspec'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60)


def test_a_dry_run_is_json_where_json_was_asked_for(world, script):
    world.add(script("alpha"))
    answer = world.perbyte("measure", "alpha/*@64", "--dry-run", "--json")
    assert answer.returncode == 0, answer.stderr
    plan = json.loads(answer.stdout)
    assert all("@64" in address for address in plan["cells"])
    assert plan["cells"]
    assert plan["policy"]["epochs"] == Policy().epochs


def test_json_and_csv_exclude_each_other(perbyte):
    complained(perbyte("measure", "--json", "--csv"), 2, "exclude each other")


def test_merged_runs_are_shown_with_the_epochs_of_all(world, script, tmp_path, quick):
    world.add(script("alpha"))
    paths = [tmp_path / name for name in ("a", "b")]
    for path in paths:
        assert world.perbyte("measure", "alpha/sha-256@16", "--out", path, *quick).returncode == 0
    answer = world.perbyte("merge", *paths, "--out", tmp_path / "both", "--json")
    assert answer.returncode == 0, answer.stderr
    [cell] = json.loads(answer.stdout)["cells"]
    assert cell["epochs"] == sum(world.shown(path)["cells"][0]["epochs"] for path in paths)
    assert world.perbyte("merge", paths[0], "--out", tmp_path / "one").returncode == 2
    world.perbyte("measure", "alpha/sha-256@16", "--seed", 8, "--out", tmp_path / "c", *quick)
    other = world.perbyte("merge", paths[0], tmp_path / "c", "--out", tmp_path / "two")
    assert "policy.seed" in other.stderr
    assert not (tmp_path / "two").exists()


def test_a_budget_that_is_far_too_small_is_refused_with_what_would_do(world, script):
    world.add(script("alpha"))
    ask = ("measure", "alpha/sha-256@16,32,64,128,256", "--epochs", 100, "--budget", "1s")
    answer = world.perbyte(*ask)
    assert answer.returncode == 2
    assert "5 cells in 100 epochs take about" in answer.stderr
    assert "too much for a budget of 1 s" in answer.stderr
    assert "hint: --budget" in answer.stderr
    assert not (world.home / "runs").exists(), "nothing is left of it"
    plan = world.perbyte(*ask, "--dry-run")
    assert plan.returncode == 0
    assert "more than the budget of 1 s" in plan.stderr
    long = world.perbyte("measure", "alpha/sha-256@64GiB", "--budget", "4s")
    assert long.returncode == 2
    assert "one call of alpha/sha-256/digest@68719476736" in long.stderr


def test_a_study_is_held_to_a_budget_as_well(world, script):
    world.add(script("openssl"))
    ask = ("study", "run", "kompara-2020", "--quick", "--epochs", 100, "--budget", "1s")
    complained(world.perbyte(*ask), 2, "in 100 epochs take about", "too much for a budget of 1 s", "--budget")
    assert not (world.home / "runs").exists(), "nothing is left of it"


def test_what_is_not_in_a_plan_is_summed_up(world, script):
    world.add(script("alpha"))
    sizes = ",".join(str(size) for size in range(1, 60))
    answer = world.perbyte("measure", "alpha/aes-128-ecb", "--size", sizes, "--dry-run")
    assert answer.returncode == 0, answer.stderr
    assert answer.stderr.count("not: ") <= 9
    assert "reasons more" in answer.stderr
    assert "as soon as all are precise" in answer.stderr
