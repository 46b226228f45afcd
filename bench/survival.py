"""What a kill costs: `kill -9` of the orchestrator at random moments, then --resume, against an undisturbed run.

    .venv/bin/python bench/survival.py [--kills 10]

After every kill the bursts that can be read back are counted; none that was there may vanish later. At the end
the figures are set beside those of a run that was left alone. What was spent of the budget may not be forgotten either.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from neighbours import say_siblings

CELLS = ["{openssl,libgcrypt,nettle,cryptopp}/{aes-128-cbc,sha-256}/{encrypt,digest}@16,1KiB,8KiB"]


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "perbyte.cli", "measure", "--quiet", "--json", *arguments]


def bursts_of(run: Path) -> set[tuple[str, int, int]]:
    from perbyte.store import bursts

    return {(burst.cell.address, burst.epoch, burst.start[0]) for burst in bursts(run)}


def spent_by(run: Path) -> float:
    from perbyte.store import open_run

    return open_run(run).measuring_s


def figures_of(run: Path) -> dict[str, float]:
    from perbyte.store import open_run

    return {figure.cell.address: figure.per_call for figure in open_run(run).cells}


def orphans() -> list[str]:
    shown = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    return [line for line in shown.splitlines() if "/runners/" in line and line.split()[1] == "1"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--budget", default="40s")
    arguments = parser.parse_args()
    say_siblings("before")
    draw = random.Random()
    with tempfile.TemporaryDirectory() as temporary:
        calm, killed = Path(temporary) / "calm", Path(temporary) / "killed"
        began = time.monotonic()
        subprocess.run(
            command(*CELLS, "--out", str(calm), "--budget", arguments.budget), check=True, stdout=-3
        )
        whole = time.monotonic() - began
        known: set[tuple[str, int, int]] = set()
        spent = 0.0
        kills = 0
        while kills < arguments.kills:
            started = (killed / "run.json").exists()
            line = ["--resume", str(killed)] if started else [*CELLS, "--out", str(killed)]
            child = subprocess.Popen(
                command(*line, "--budget", arguments.budget),
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
            time.sleep(draw.uniform(0.4, min(whole, 2.5)))
            if child.poll() is not None:
                # finished before the kill: go on with a new run, and forget the one that is complete
                killed, known, spent = killed.with_name(killed.name + "+"), set(), 0.0
                continue
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
            time.sleep(0.3)
            kills += 1
            now = bursts_of(killed) if (killed / "run.json").exists() else set()
            took = spent_by(killed) if now else 0.0
            print(
                f"kill {kills}: {len(now)} bursts kept, {len(known - now)} lost, {len(orphans())} orphans, "
                f"{took:.1f} s of the budget spent"
            )
            if known - now:
                sys.exit("something that was measured is gone")
            if took < spent:
                sys.exit("time that was spent is forgotten")
            known, spent = now, took
        subprocess.run(command("--resume", str(killed), "--budget", "80s"), check=True, stdout=-3)
        if known - bursts_of(killed):
            sys.exit("something that was measured is gone after the last resume")
        ours, theirs = figures_of(killed), figures_of(calm)
        differences = sorted(abs(ours[name] / theirs[name] - 1) for name in theirs if name in ours)
        p90 = differences[int(0.9 * len(differences))]
        print(f"{len(ours)} of {len(theirs)} cells completed; figures differ from the undisturbed run's by")
        print(
            f"{statistics.median(differences):.3%} (median), {p90:.3%} (90th percentile), {differences[-1]:.3%} (most)"
        )


if __name__ == "__main__":
    main()
