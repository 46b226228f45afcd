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
from collections.abc import Iterator
from pathlib import Path

from perbyte import __version__
from perbyte.store import open_run

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "fleet"), str(ROOT / "tests" / "runners")]

from fleet_processes import Bursts, Fleet, burst_names, wait_for  # noqa: E402

HUB = "pbhub"


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


class Machines(Fleet):
    """A fleet whose machines live in namespaces of their own, with the runners that are built here."""

    host = "10.77.0.1"

    def environment(self, name: str) -> dict[str, str]:
        build = self.directory / name / "build"
        if not build.exists() and (ROOT / "build").is_dir():
            build.mkdir(parents=True)
            (build / __version__).symlink_to(ROOT / "build")
        return super().environment(name)

    def words(self, name: str, words: list[str]) -> list[str]:
        space = name if (self.directory / f"{name}.machine").exists() else HUB
        return ["ip", "netns", "exec", space, *super().words(name, words)]


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
    fleet = Machines(Path(tempfile.mkdtemp(prefix="fleet-")))
    for name in names:
        (fleet.directory / f"{name}.machine").touch()
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
            wait_for(lambda: fleet.machines() == {*names})
            asker = fleet.command("measure", *plan, "--patience", "300", "--add")
            wait_for(lambda: all(fleet.bursts_of(name) for name in names) or asker.poll() is not None)
            kept = {name: Bursts() for name in names}
            for turn in range(arguments.kills + 2):
                time.sleep(draw.uniform(0, 3))
                for name in names:
                    now = fleet.bursts_of(name)
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
                    f"{turn + 1:3}. {what}; bursts {[sum(kept[each_name].values()) for each_name in names]}",
                    flush=True,
                )
            code = asker.wait(3600)
            print(fleet.said(asker)[-1500:])
            print(f"exit code {code}")
            for name in names:
                back = fleet.came_back(name)
                here = burst_names(back)
                if not kept[name] <= here:
                    faults.append(f"{name}: {len(kept[name] - here)} bursts did not come back")
                if here != fleet.bursts_of(name):
                    faults.append(f"{name}: what came back is not what is there")
                if set(here.values()) != {1}:
                    faults.append(f"{name}: bursts twice")
                run = open_run(back)
                print(
                    f"{name}: {sum(here.values()):,} bursts, {len(run.cells)} figures, complete {run.complete}, "
                    f"most measuring processes at once {most[name]}"
                )
            listed = json.loads(fleet.run("atlas", "list", "--json").stdout)
            print("in the atlas:", sorted(row["machine"] for row in listed))
    finally:
        fleet.end()
    print("faults:", faults or "none")
    if not faults:
        shutil.rmtree(fleet.directory)


if __name__ == "__main__":
    main()
