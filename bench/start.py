"""How long does it take from Enter to the first sample, and where does that time go?

    .venv/bin/python bench/start.py
    .venv/bin/python bench/start.py --tries 20 '*/sha-256/digest@1KiB'

Starts `perbyte measure SELECTOR --budget 3s` again and again, ends it when it asks for the first burst, and prints the
median of the times from the start of the process, with the quartiles; then each part's. Parts lie within each other
where they are indented. The cores' lock is waited for before the clock starts. Nothing is kept.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

SELECTOR = "openssl/sha-256/digest@1KiB"
# module, class, function, what it does
PARTS = (
    ("perbyte.app.conducting", "", "prepare", "prepare"),
    ("perbyte.measure.conduct", "", "locate", "  read runner.toml"),
    ("perbyte.measure.conduct", "", "load", "  read the catalogue"),
    ("perbyte.measure.conduct", "", "survey", "  survey"),
    ("perbyte.measure.conduct", "", "draw_plan", "  plan"),
    ("perbyte.measure.conduct", "", "_present", "  conditions"),
    ("perbyte.store.writer", "RunWriter", "create", "run directory"),
    ("perbyte.measure.cores", "", "_loop", "keep-awake loops"),
    ("perbyte.measure.sessions", "Sessions", "_start", "processes of the first epoch"),
    ("perbyte.runners.session", "Session", "calibrate", "  calibrate"),
    ("perbyte.measure.run", "Measurement", "_validate", "validation"),
)


def timed(stamps: list[tuple[str, float]], name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **more: Any) -> Any:
        began = time.monotonic()
        try:
            return function(*args, **more)
        finally:
            stamps.append((name, time.monotonic() - began))

    return call


def child(began: float, words: list[str]) -> None:
    """Be the command, up to the first burst."""
    stamps = [("Python", time.monotonic() - began)]
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does before NumPy is there
    import perbyte.app.conducting
    import perbyte.cli
    import perbyte.store.writer
    from perbyte.runners.session import Session

    stamps.append(("Python and imports", time.monotonic() - began))
    for module, group, function, name in PARTS:
        place = importlib.import_module(module)
        place = getattr(place, group) if group else place
        setattr(place, function, timed(stamps, name, getattr(place, function)))

    def first(self: Session, *_: Any, **__: Any) -> None:
        stamps.append(("first sample", time.monotonic() - began))
        stamps.append(("CPU time of the command", time.process_time()))
        sys.stdout.write(json.dumps(stamps) + "\n")
        sys.stdout.flush()
        raise KeyboardInterrupt

    Session.send_measure = first  # type: ignore[method-assign, assignment]
    sys.argv = ["perbyte", *words]
    perbyte.cli.main()


def measure(selector: str, place: Path) -> dict[str, float]:
    """Seconds of each part of one start."""
    words = ["measure", selector, "--budget", "3s", "--quiet", "--out", str(place)]
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, __file__, "--child", str(began), *words],
        capture_output=True,
        text=True,
        check=False,
    )
    line = next((line for line in done.stdout.splitlines() if line.startswith('[["Python"')), None)
    if line is None:
        sys.exit(f"it did not come to a first burst:\n{done.stderr}")
    groups: dict[str, float] = defaultdict(float)
    for name, seconds in json.loads(line):
        groups[name] += seconds
    return groups


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        child(float(sys.argv[2]), sys.argv[3:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("selector", nargs="?", default=SELECTOR)
    parser.add_argument("--tries", type=int, default=10)
    asked = parser.parse_args()
    from perbyte.locks import cores_held
    from perbyte.measure import choose_cores

    with cores_held(choose_cores(), "bench/start.py"):
        pass  # nobody measures now
    with tempfile.TemporaryDirectory() as temporary:
        tries = [measure(asked.selector, Path(temporary) / str(number)) for number in range(asked.tries)]
    names = [
        "first sample",
        "CPU time of the command",
        "Python",
        "Python and imports",
        *dict.fromkeys(name for *_, name in PARTS),
    ]
    for name in names:
        values = sorted(1e3 * attempt.get(name, 0.0) for attempt in tries)
        low, high = values[len(values) // 4], values[-1 - len(values) // 4]
        print(f"{name:32}{statistics.median(values):8.0f} ms  ({low:.0f} to {high:.0f})")
    rest = [1e3 * (attempt["first sample"] - attempt["  calibrate"]) for attempt in tries]
    print(f"{'first sample without calibrate':32}{statistics.median(rest):8.0f} ms")


if __name__ == "__main__":
    main()
