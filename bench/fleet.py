"""Machines in network namespaces, as a fleet: kills, restarts and a cut line, and what is lost (nothing may be).

    sudo .venv/bin/python bench/fleet.py [--machines 3] [--kills 10] [--selector '{alpha,openssl,nettle}/sha-256@64']

Each machine has a network namespace, an address and a home of its own; a bridge in a namespace of its own joins them,
so nothing of the host's network changes. Needs root and `ip`. Two real runners are measured and a fake one; their
speed is of no interest, as the machines share the cores of one.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from perbyte.store import bursts, open_run

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "runners"))

from fake_scripts import row, write_runner

HUB, PORT = "pbhub", 8786
ADDRESS = f"tcp://10.77.0.1:{PORT}"


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


@contextlib.contextmanager
def network(names: list[str]) -> Iterator[None]:
    """A bridge with the scheduler's address, and a namespace with an address for each machine."""
    spaces = [HUB, *names]
    try:
        for name in spaces:
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        ip("-n", HUB, "link", "add", "br0", "type", "bridge")
        ip("-n", HUB, "addr", "add", "10.77.0.1/24", "dev", "br0")
        ip("-n", HUB, "link", "set", "br0", "up")
        for number, name in enumerate(names, 2):
            ip("-n", HUB, "link", "add", f"to-{name}", "type", "veth", "peer", "name", "eth0", "netns", name)
            ip("-n", HUB, "link", "set", f"to-{name}", "master", "br0", "up")
            ip("-n", name, "addr", "add", f"10.77.0.{number}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
        yield
    finally:
        for name in spaces:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


class Fleet:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, space: str, name: str, *words: str) -> subprocess.Popen[bytes]:
        home = self.directory / name
        home.mkdir(exist_ok=True)
        runners = self.directory / f"{name}.runners"
        if not runners.exists():
            write_runner(runners, {"name": "alpha", "operations": [row("sha-256", "digest", "oneshot/1")]})
        build = home / "build"
        if not build.exists() and (built := Path(__file__).resolve().parents[1] / "build").is_dir():
            from perbyte import __version__

            build.mkdir()
            (build / __version__).symlink_to(built)
        environment = os.environ | {
            "PERBYTE_HOME": str(home),
            "PERBYTE_RUNNERS": str(runners),
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1000",
        }
        with (self.directory / f"{name}.txt").open("ab") as said:
            process = subprocess.Popen(
                ["ip", "netns", "exec", space, sys.executable, "-m", *words],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            )
        self.processes.append(process)
        return process

    def scheduler(self) -> subprocess.Popen[bytes]:
        words = (
            "distributed.cli.dask_scheduler",
            "--host",
            "10.77.0.1",
            "--port",
            str(PORT),
            "--no-dashboard",
        )
        return self.start(HUB, "scheduler", *words)

    def worker(self, name: str) -> subprocess.Popen[bytes]:
        return self.start(name, name, "perbyte.cli", "fleet", "worker", ADDRESS, "--name", name)

    def run_of(self, name: str) -> Path | None:
        return next((one.parent for one in (self.directory / name / "fleet").glob("*/run/run.json")), None)

    def bursts(self, name: str) -> Counter[Any]:
        run = self.run_of(name)
        return names_of(run) if run else Counter()

    def measuring(self, name: str) -> list[int]:
        found = []
        for place in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                text = place.read_bytes()
                if b"perbyte.cli\0measure" in text and str(self.directory / name).encode() in text:
                    found.append(int(place.parent.name))
        return found

    def end(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.wait()
        for place in self.directory.iterdir():
            for number in self.measuring(place.name) if place.is_dir() else ():
                os.kill(number, signal.SIGKILL)


def names_of(run: Path) -> Counter[Any]:
    return Counter((one.cell.address, one.epoch, one.round, tuple(one.start)) for one in bursts(run))


def wait_for(what: Callable[[], Any], limit_s: float = 300) -> Any:
    end = time.monotonic() + limit_s
    while not (found := what()):
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.2)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--machines", type=int, default=3)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--selector", default="{alpha,openssl,nettle}/sha-256@64,1KiB")
    parser.add_argument("--budget", default="40s")
    parser.add_argument("--seed", type=int, default=None)
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else random.randrange(1 << 30)
    draw, names = random.Random(seed), [f"pbm{k}" for k in range(1, arguments.machines + 1)]
    fleet = Fleet(Path(tempfile.mkdtemp(prefix="fleet-")))
    print(f"seed {seed}, {fleet.directory}")
    faults: list[str] = []
    most = Counter[str]()
    try:
        with network(names):
            scheduler = fleet.scheduler()
            workers = {name: fleet.worker(name) for name in names}
            plan = (
                arguments.selector,
                "--epochs",
                "10",
                "--precision",
                "0.0001%",
                "--budget",
                arguments.budget,
            )
            where = ("--scheduler", ADDRESS, "--machines", ",".join(names), "--patience", "300", "--add")
            time.sleep(8)
            asker = fleet.start(HUB, "asker", "perbyte.cli", "fleet", "measure", *plan, *where)
            wait_for(lambda: all(fleet.bursts(name) for name in names) or asker.poll() is not None)
            kept: dict[str, Counter[Any]] = {name: Counter() for name in names}
            for turn in range(arguments.kills + 2):
                time.sleep(draw.uniform(0, 3))
                for name in names:
                    now = fleet.bursts(name)
                    if not kept[name] <= now:
                        faults.append(f"{name} lost {len(kept[name] - now)} bursts")
                    kept[name] = now
                    most[name] = max(most[name], len(fleet.measuring(name)))
                name = draw.choice(names)
                if turn == arguments.kills // 2:
                    what = "scheduler killed and started again"
                    scheduler.kill()
                    scheduler.wait()
                    scheduler = fleet.scheduler()
                elif turn == arguments.kills // 2 + 1:
                    what = f"line to {name} cut for 5 s"
                    ip("-n", HUB, "link", "set", f"to-{name}", "down")
                    time.sleep(5)
                    ip("-n", HUB, "link", "set", f"to-{name}", "up")
                else:
                    whole = draw.random() < 0.5
                    workers[name].kill()
                    workers[name].wait()
                    for number in fleet.measuring(name) if whole else ():
                        os.kill(number, signal.SIGKILL)
                    what = f"{name} killed{' with what it measured' if whole else ''}"
                    workers[name] = fleet.worker(name)
                print(
                    f"{turn + 1:3}. {what}; bursts {[sum(kept[one].values()) for one in names]}", flush=True
                )
            code = asker.wait(3600)
            print((fleet.directory / "asker.txt").read_text()[-1500:])
            print(f"exit code {code}")
            for name in names:
                (back,) = (fleet.directory / "asker" / "fleet-runs").glob(f"*/{name}")
                here = names_of(back)
                if not kept[name] <= here:
                    faults.append(f"{name}: {len(kept[name] - here)} bursts did not come back")
                if here != fleet.bursts(name):
                    faults.append(f"{name}: what came back is not what is there")
                if set(here.values()) != {1}:
                    faults.append(f"{name}: bursts twice")
                run = open_run(back)
                print(
                    f"{name}: {sum(here.values()):,} bursts, {len(run.cells)} figures, complete {run.complete}, "
                    f"most measuring processes at once {most[name]}"
                )
            listed = fleet.start(HUB, "asker", "perbyte.cli", "atlas", "list", "--json")
            listed.wait()
            text = (fleet.directory / "asker.txt").read_text()
            print("in the atlas:", sorted(one["machine"] for one in json.loads(text[text.rindex("\n[") :])))
    finally:
        fleet.end()
    print("faults:", faults or "none")
    if not faults:
        shutil.rmtree(fleet.directory)


if __name__ == "__main__":
    main()
