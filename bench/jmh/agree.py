"""Do the figures of the Java runner agree with JMH on the same calls? Both are run, the ratios are printed.

Before that a chain of known cost, written in Java, goes through the same gauge.

    .venv/bin/python bench/jmh/agree.py [--forks 5] [--core N]

Needs a JDK and Maven; the first build fetches JMH, later ones need no network. JMH runs with the options of the
runner's measuring virtual machines, on the same core, with the same priority where that is allowed, but with a large
heap: its averages contain garbage collections, which Perbyte's clean samples do not. They contain interrupts and
neighbours, too; so its figure is the median over forks of the quick iterations of a fork (the 5 % quantile of 150
iterations of 10 ms). Exit status 1 when a ratio is off by more than 3 %.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from perbyte import places
from perbyte.model import Cell, Policy
from perbyte.runners import Session
from perbyte.runners.locate import find
from perbyte.stats.clean import clean_mask, cycles_per_call
from perbyte.stats.samples import tabulate

HERE = Path(__file__).parent
BUILT = places.build_home() / "jmh"
LIMIT = 0.03
SAME = {
    "sha256": "jca-sun/sha-256/digest@256",
    "md5": "jca-sun/md5/digest@128",
    "tiger": "jca-bc/tiger/digest@512",
    "aesCtr": "jca-sun/aes-128-ctr/encrypt@8192",
    "aesGcm": "jca-sun/aes-128-gcm/seal@1024",
}


def build() -> str:
    """Build the benchmarks, offline if that works; their class path."""
    command = ["mvn", "-q", "-B", "-f", str(HERE / "pom.xml"), f"-Dperbyte.target={BUILT}", "package"]
    if subprocess.run([*command, "-o"], capture_output=True, check=False).returncode:
        subprocess.run(command, check=True)
    return f"{BUILT / 'perbyte-jmh.jar'}{os.pathsep}{BUILT / 'lib'}/*"


def machine_options() -> list[str]:
    """The options of the runner's virtual machines (what stands behind its name), with a large heap."""
    command = find("jca-sun").command
    options = command[command.index("jca-sun") + 1 :]
    return [option for option in options if not option.startswith(("-Xms", "-Xmn"))] + ["-Xms1g", "-Xmn768m"]


def run_jmh(forks: int, core: int) -> dict[str, list[float]]:
    """Nanoseconds per call, one figure for each fork."""
    with tempfile.TemporaryDirectory() as temporary:
        result = Path(temporary) / "result.json"
        pinned = ["nice", "-n", "-20", "taskset", "-c", str(core)]
        program = [*pinned, "java", "-cp", build(), "org.openjdk.jmh.Main"]
        settings = ["-f", str(forks), "-wi", "6", "-w", "500ms", "-i", "150", "-r", "10ms", "-v", "SILENT"]
        options = ["-jvmArgs", " ".join(machine_options()), "-rf", "json", "-rff", str(result)]
        subprocess.run([*program, *settings, *options], check=True, stdout=subprocess.DEVNULL)
        document = json.loads(result.read_text(encoding="utf-8"))
    return {
        row["benchmark"].rpartition(".")[2]: [
            statistics.quantiles(iterations, n=20)[0] for iterations in row["primaryMetric"]["rawData"]
        ]
        for row in document
    }


def run_perbyte(forks: int, core: int) -> dict[str, dict[str, float]]:
    """The cells by address without contract."""
    with tempfile.TemporaryDirectory() as temporary:
        command = [sys.executable, "-m", "perbyte.cli", "measure", *SAME.values(), "--json", "--quiet"]
        settings = ["--epochs", str(forks), "--core", str(core), "--budget", "60s"]
        done = subprocess.run(
            [*command, *settings, "--out", str(Path(temporary) / "run")],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        sys.exit(f"perbyte measure ended with {done.returncode}:\n{done.stderr}")
    return {cell["address"].partition("+")[0]: cell for cell in json.loads(done.stdout)["cells"]}


def measure_chain(core: int) -> float:
    """Cycles per multiplication of a chain of `x *= x` in Java: 3 on every core since Haswell and Zen."""
    spec = find("jca-sun")
    chain = replace(spec, command=tuple("jca-probe" if part == "jca-sun" else part for part in spec.command))
    cell = Cell("jca-probe", "probe-imul", "run", 1024, "stream/1")
    with Session(chain, core=core) as session:
        calibration = session.calibrate(50, epoch=0)
        handle = session.prepare(cell.algorithm, cell.operation, cell.contract, cell.size_bytes, seed=7)
        floor = calibration.contention_floor
        bursts = [
            session.measure(
                handle,
                cell=cell,
                epoch=0,
                round=number,
                samples=60,
                limit_ms=200,
                contention_floor=floor,
                patience=100,
            ).burst
            for number in range(10)
        ]
    policy = Policy()
    values = [
        value
        for burst in bursts
        for value, clean in zip(
            cycles_per_call(tabulate([burst]), calibration),
            clean_mask(burst, calibration, policy, floor),
            strict=True,
        )
        if clean
    ]
    return statistics.median(values) / cell.size_bytes


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--forks", type=int, default=5, help="virtual machines per call and side")
    arguments.add_argument(
        "--core", type=int, default=max(os.sched_getaffinity(0)), help="core to measure on"
    )
    asked = arguments.parse_args()
    lacking = [program for program in ("java", "mvn", "taskset") if not shutil.which(program)]
    if lacking:
        sys.exit(f"not installed: {', '.join(lacking)}")
    print(f"a chain of multiplications in Java: {measure_chain(asked.core):.4f} cycles each, must be 3")
    ours = run_perbyte(asked.forks, asked.core)
    theirs = run_jmh(asked.forks, asked.core)
    print(f"{'call':34} {'Perbyte ns':>11} {'JMH ns':>9} {'ratio':>7}   JMH, each fork")
    worst = 0.0
    for name, address in SAME.items():
        nanoseconds, forks = ours[address]["ns_per_call"], theirs[name]
        ratio = nanoseconds / statistics.median(forks)
        worst = max(worst, abs(ratio - 1))
        shown = " ".join(f"{value:.1f}" for value in forks)
        print(f"{address:34} {nanoseconds:11.2f} {statistics.median(forks):9.2f} {ratio:7.4f}   {shown}")
    print(f"largest difference {100 * worst:.2f} %, allowed {100 * LIMIT:.0f} %")
    return 0 if worst <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
