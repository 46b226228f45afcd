"""A fleet measures one plan on all its machines, and loses nothing when parts of it die."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from fleet_processes import LIMIT_S, Bursts, burst_names, wait_for

from perbyte.errors import EnvironmentLacking, StoreError, UsageError
from perbyte.fleet import machine
from perbyte.fleet.machine import facts_here, measure_here, piece_here
from perbyte.measure.machine import describe_machine
from perbyte.model.naming import profile_name
from perbyte.store import open_run, verify
from perbyte.store.manifest import ManifestEntry

pytest.importorskip("distributed")

from perbyte.app.fleets import job_words
from perbyte.fleet import conduct
from perbyte.fleet.conduct import new_job
from perbyte.fleet.secret import make_secret, new_secret

SECRET = new_secret()
PLAN = ("{alpha,beta}/sha-256@64", "--epochs", 2, "--precision", "20%")
LONG = ("{alpha,beta}/sha-256@64,1KiB", "--epochs", 15, "--precision", "0.0001%", "--budget", "7s")


@pytest.mark.slow
def test_one_plan_on_two_machines_and_one_that_goes_missing(fleet):
    fleet.scheduler()
    workers = {name: fleet.worker(name) for name in ("one", "two")}
    wait_for(lambda: fleet.machines() == {"one", "two"})
    refused = fleet.run("measure", "nobody/sha-256@64")
    assert refused.returncode == 1
    assert refused.stderr.count("failed: ") == 2
    assert "nobody" in refused.stderr
    done = fleet.run("measure", *PLAN, "--seed", 11, "--add")
    assert done.returncode == 0, done.stderr
    listed = fleet.run("atlas", "list", "--json")
    assert {document["machine"]: document["cells"] for document in json.loads(listed.stdout)} == {
        "one": 2,
        "two": 2,
    }
    runs = [fleet.came_back(name) for name in ("one", "two")]
    for run in runs:
        assert not verify(run).damaged
        assert str(fleet.directory) not in (run / "run.json").read_text(encoding="utf-8")
        assert open_run(run).conditions.policy.seed == 11
        assert open_run(run).complete
    assert open_run(runs[0]).conditions.plan == open_run(runs[1]).conditions.plan
    table = done.stdout.splitlines()
    assert any(line.split()[-2:] == ["one", "two"] for line in table)
    assert any("digest 64 B" in line for line in table), "the command ends with the table, a column a machine"
    heard = [line for line in done.stderr.splitlines() if line.startswith(("one:", "two:"))]
    assert heard
    assert str(fleet.directory) not in "".join(heard)
    jobs = set((fleet.directory / "two" / "fleet").iterdir())
    workers["two"].kill()
    workers["two"].wait()
    done = fleet.run("measure", *PLAN, "--machines", "one,two", "--patience", "3")
    assert done.returncode == 1
    assert "missing: two" in done.stderr
    assert done.stderr.count("run: ") >= 1
    assert set((fleet.directory / "two" / "fleet").iterdir()) == jobs, (
        "nothing of it came to two, nor did one take it"
    )


@pytest.mark.slow
def test_workers_and_scheduler_die_and_nothing_is_lost_or_measured_twice(fleet):
    """Kills at moments drawn anew each time; the bursts that were there stay, and each is there once."""
    draw = random.Random()
    scheduler = fleet.scheduler()
    workers = {name: fleet.worker(name) for name in ("one", "two")}
    wait_for(lambda: fleet.machines() == {"one", "two"})
    asker = fleet.command("measure", *LONG, "--patience", "280")
    wait_for(lambda: fleet.run_of("two") and fleet.bursts_of("one"))
    kept = Bursts()
    for turn in range(3):
        time.sleep(draw.uniform(0, 1))
        now = fleet.bursts_of("one")
        assert kept <= now
        kept = now
        assert len(fleet.measuring("one")) <= 1
        if turn == 1:
            scheduler.kill()
            scheduler.wait()
            scheduler = fleet.scheduler()
            continue
        workers["one"].kill()
        workers["one"].wait()
        if turn == 2:  # and the measuring process with it, as when a machine goes down
            for number in fleet.measuring("one"):
                os.kill(number, signal.SIGKILL)
        workers["one"] = fleet.worker("one")
    asker.wait(300)
    assert asker.returncode == 0, fleet.said(asker)
    assert "Traceback" not in fleet.said(asker), "a lost connection is said in our own words"
    for name in ("one", "two"):
        here, there = burst_names(fleet.came_back(name)), fleet.bursts_of(name)
        assert here == there
        assert set(here.values()) == {1}
        assert open_run(fleet.came_back(name)).complete
    assert kept <= burst_names(fleet.came_back("one"))


@pytest.mark.slow
def test_ctrl_c_stops_the_machines_in_order_and_the_job_goes_on(fleet):
    fleet.scheduler()
    fleet.worker("one")
    wait_for(lambda: fleet.machines() == {"one"})
    asker = fleet.command("measure", *LONG)
    wait_for(lambda: fleet.bursts_of("one"))
    asker.send_signal(signal.SIGINT)
    assert asker.wait(300) == 130, fleet.said(asker)
    wait_for(lambda: not fleet.measuring("one"))
    kept = fleet.bursts_of("one")
    job = next((fleet.directory / "asker" / "fleet-runs").iterdir()).name
    assert f"--resume {job}" in fleet.said(asker)
    done = fleet.run("measure", "--resume", job)
    assert done.returncode == 0, done.stderr
    assert kept <= burst_names(fleet.came_back("one"))


@pytest.mark.slow
def test_a_machine_with_two_workers_is_measured_once(fleet):
    fleet.identities = {"one": "the same", "two": "the same"}
    fleet.scheduler()
    for name in ("one", "two"):
        fleet.worker(name)
    wait_for(lambda: fleet.machines() == {"one", "two"})
    status = fleet.run("status")
    assert "two (is one)" in status.stdout
    assert "1 machine, 2 workers" in status.stderr
    done = fleet.run("measure", *PLAN, "--seed", 11)
    assert done.returncode == 0, done.stderr
    assert "two and one are one machine: it is measured once, as one" in done.stderr
    assert sum(line.startswith("run: ") for line in done.stderr.splitlines()) == 1
    assert "digest 64 B" in done.stdout
    assert fleet.run_of("two") is None


def test_a_name_that_is_taken_is_told_on_the_terminal_of_the_second_worker(fleet):
    fleet.scheduler()
    fleet.worker("one")
    wait_for(lambda: fleet.machines() == {"one"})
    fleet.identities = {"one": "another machine"}
    second = fleet.worker("one")
    wait_for(lambda: "a worker called one is in this fleet already" in fleet.said(second))
    assert "--name" in fleet.said(second)
    assert "no scheduler" not in fleet.said(second)
    fleet.processes[1].terminate()
    wait_for(lambda: "joined" in fleet.said(second))  # when the name is free


def test_what_is_one_machine_keeps_the_name_under_which_it_measures():
    ours = facts_here("here")
    assert len(ours.identity) == 16
    assert ours.identity == facts_here("there").identity, "a name is no identity"

    def named(name: str, identity: str, *jobs: str):
        return replace(ours, name=name, identity=identity, jobs=jobs)

    there = {"b": named("b", "x"), "a": named("a", "x"), "c": named("c", "y"), "d": named("d", "")}
    assert conduct.other_names(there) == {"b": "a"}
    assert conduct.other_names(there | {"b": named("b", "x", "job")}) == {"a": "b"}
    assert conduct.other_names({"d": named("d", ""), "e": named("e", "")}) == {}, (
        "who knows nothing says nothing"
    )


def test_the_scheduler_listens_on_loopback_unless_told_otherwise(fleet):
    words = ["perbyte.cli", "fleet", "scheduler", "--port", str(fleet.port), *fleet.guard]
    here = fleet._start("scheduler", words)
    wait_for(lambda: "it listens on this machine only" in fleet.said(here))
    assert f"the fleet's secret is now in {fleet.guard[1]}" in fleet.said(here)
    assert f"scheduler at tls://127.0.0.1:{fleet.port}" in fleet.said(here)
    listening = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    listening_addresses = [
        words[1] for words in listening if words[1].endswith(f":{fleet.port:04X}") and words[3] == "0A"
    ]
    assert listening_addresses == [f"0100007F:{fleet.port:04X}"]
    fleet.worker("one")
    wait_for(lambda: fleet.machines() == {"one"})
    here.terminate()
    assert here.wait(60) == 0


def test_tls_by_dasks_own_configuration(fleet, tmp_path):
    """The variables of docs/fleet.md, with one certificate for all."""
    page = (Path(__file__).parents[2] / "docs" / "fleet.md").read_text(encoding="utf-8")
    [told] = re.findall(r"```sh\n(export DASK.*?)```", page, re.DOTALL)
    for name in ("ca.pem", "fleet.pem", "fleet.key"):
        (tmp_path / name).write_text(SECRET, encoding="utf-8")
    names = dict(line.removeprefix("export ").split("=", 1) for line in told.split("\n") if line)
    fleet.more = {name: value.replace("$PWD", str(tmp_path)) for name, value in names.items()}
    fleet.guard = []
    here = fleet.scheduler()
    assert f"scheduler at tls://127.0.0.1:{fleet.port}" in fleet.said(here)
    assert "secret" not in fleet.said(here)
    fleet.worker("one")
    wait_for(lambda: fleet.machines() == {"one"})
    fleet.more = {}
    make_secret(tmp_path / "asker" / "fleet" / "secret.pem")
    assert fleet.run("status").returncode == 3, "nobody comes in without a certificate"


@pytest.mark.parametrize("what", ["perbyte", "commit", "catalogue", "protocol"])
def test_machines_that_differ_are_refused_by_name(what):
    ours = facts_here("here")
    if what == "commit" and not ours.commit:
        pytest.skip("no checkout")
    with pytest.raises(EnvironmentLacking, match=rf"machine two has {what} other") as refused:
        conduct.require_agreement({"two": replace(ours, **{what: "other"})})
    assert "install the same Perbyte" in refused.value.hint


def test_workers_that_share_a_home_have_a_run_each_and_take_none_of_another_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("PERBYTE_HOME", str(tmp_path))
    asked = []
    monkeypatch.setattr(
        machine, "_perbyte", lambda _job, home, words, _say: asked.append((home, words)) or (3, "")
    )
    job = new_job(["measure", "alpha/sha-256"])
    for name in ("one", "two", "two"):
        monkeypatch.setenv("PERBYTE_FLEET_MACHINE", name)
        assert measure_here(job, name).files == {}
    homes = [home for home, _ in asked]
    assert homes[0] != homes[1] == homes[2], "a worker that comes back goes on with its own"
    assert all(str(home / "run") in words for home, words in asked)
    with pytest.raises(StoreError, match="another machine has measured this job as one"):
        measure_here(job, "one")


def test_a_machine_has_one_name_in_its_runs_in_fleets_and_in_an_atlas(tmp_path, monkeypatch):
    monkeypatch.setenv("PERBYTE_HOME", str(tmp_path))
    monkeypatch.setenv("PERBYTE_FLEET_MACHINE", "one")
    label = machine.machine_label()
    assert label == describe_machine().label == machine.machine_label()
    assert label.startswith(profile_name(describe_machine()))
    monkeypatch.setenv("PERBYTE_FLEET_MACHINE", "two")
    assert machine.machine_label() != label, "another machine on the same home"


def test_the_commands_of_the_page_make_a_fleet_in_their_order(fleet):
    """Two machines, the secret copied, a plan measured and its runs in the atlas; the host is that of the test."""
    page = (Path(__file__).parents[2] / "docs" / "fleet.md").read_text(encoding="utf-8")
    shown = re.search(r"```console\n(.*?)```", page, re.DOTALL)[1]
    typed = [re.sub(r"\s+#.*", "", line[2:]).split() for line in shown.splitlines()]
    commands = [words[1:] for words in typed if words[0] == "perbyte"]
    assert [words[1] for words in commands] == ["scheduler", "worker", "worker", "measure"]
    scheduler, *workers, measure = [
        [word.strip("'").replace("A", fleet.address) if word == "A" else word.strip("'") for word in words]
        for words in commands
    ]
    scheduler[scheduler.index("--host") + 1] = fleet.host
    measure[measure.index("*/sha-256")] = PLAN[0]  # scripted runners alone
    fleet._start("scheduler", ["perbyte.cli", *scheduler, "--port", str(fleet.port), *fleet.guard])
    wait_for((fleet.directory / "secret.pem").exists)
    for name, words in zip(("one", "two"), workers, strict=True):
        fleet._start(name, ["perbyte.cli", *words, *fleet.guard])
    wait_for(lambda: len(fleet.machines()) == 2)
    asked = fleet._start(
        "asker", ["perbyte.cli", *measure, "--epochs", "2", "--precision", "20%", *fleet.guard]
    )
    assert asked.wait(LIMIT_S) == 0, fleet.said(asked)
    told = fleet.said(asked)
    assert sum(line.startswith("run: ") for line in told.splitlines()) == 2
    assert "atlas: " in told
    machines = fleet.run("atlas", "list")
    names = fleet.machines()
    assert machines.returncode == 0, machines.stderr
    assert all(name in machines.stdout for name in names), "one name in the fleet and in the atlas"


@pytest.mark.parametrize("name", ["../run.json", "run.json/../../x", "secrets.txt", "samples-1.parquet", ""])
def test_only_files_of_a_run_are_handed_out_or_taken(name, tmp_path, monkeypatch):
    monkeypatch.setenv("PERBYTE_HOME", str(tmp_path))
    with pytest.raises(StoreError):
        piece_here("20260101-000000-00000000", "one", name, 0)
    with pytest.raises(StoreError):
        piece_here("../../etc", "one", "run.json", 0)
    with pytest.raises(StoreError):
        piece_here("20260101-000000-00000000", "../one", "run.json", 0)
    with pytest.raises(StoreError, match="not a file of a run"):
        conduct.fetch_file(tmp_path, name, ManifestEntry(5, "00"), lambda file, offset: b"other")
    with pytest.raises(StoreError, match="not a file of a run"):
        conduct.fetch_file(tmp_path, "run.json", ManifestEntry(1 << 60, "00"), lambda file, offset: b"")
    with pytest.raises(UsageError, match="no job"):
        conduct.saved_job("../../etc")


def test_words_that_no_file_can_hold_are_refused():
    with pytest.raises(UsageError, match="no printable text"):
        job_words(("caf\udce9/sha-256",))


def test_a_fleet_that_is_not_there_is_said(fleet):
    make_secret(Path(fleet.guard[1]))
    done = fleet.run("status")
    assert done.returncode == 3
    assert "no scheduler answers" in done.stderr
    assert "hint: start one there: perbyte fleet scheduler" in done.stderr


def test_a_worker_that_was_lost_keeps_nobody_waiting_for_those_lost_with_it(tmp_path, monkeypatch):
    """Of a process that dies while files are fetched, one worker is waited for, and not each."""
    monkeypatch.setenv("PERBYTE_HOME", str(tmp_path))
    module = sys.modules["perbyte.fleet.conduct"]
    monkeypatch.setattr(module, "_LOOK_S", 0.0)
    names = ("one", "two")
    addresses = iter([dict.fromkeys(names, "dead"), {}, *[dict.fromkeys(names, "alive")] * 9])
    monkeypatch.setattr(module, "_addresses", lambda client: next(addresses))
    work = module._Work(replace(new_job(["measure"]), machines=names), lambda *_: None, 600.0)
    asked = []

    def fetch(self, client, address, name, report):
        asked.append((name, address))
        if address == "alive":
            self.outcome.runs[name] = tmp_path
        return address == "alive"

    monkeypatch.setattr(module._Work, "_fetch", fetch)
    for errand in work.left.values():
        errand.report = module.Report(0, "", complete=True)
    work.go_on(SimpleNamespace(subscribe_topic=lambda *_: None))
    assert asked == [("one", "dead"), ("one", "alive"), ("two", "alive")]
