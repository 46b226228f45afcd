"""How right is the progress line about when a run will be done?

    .venv/bin/python bench/progress.py [--budget 54s] [--study kompara-2020] [SELECTOR ...]

Measures the study, or each of the SELECTORs in a run of its own, on a terminal of 200 columns, and notes what the
line says at each moment. Prints, for each tenth of the run, what it said and what was true, and the share of moments
at which `about N s left` was within a quarter of what was left, or within a second. Passes no judgement.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

LINE = re.compile(r"(about|at most) ([\d,]+) s left")
QUARTER, SECOND = 0.25, 1.0

Moments = list[tuple[float, str, float]]


def watch(words: list[str]) -> tuple[Moments, float]:
    """What the line said, as (seconds since the start, word, seconds left), and the seconds of the whole run."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    began = time.monotonic()
    command = [sys.executable, "-m", "perbyte.cli", *words]
    # whatever the terminal is that this is started in
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    with subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        stdin=subprocess.DEVNULL,
        env=environment | {"TERM": "xterm-256color"},
    ) as run:
        os.close(theirs)
        moments: Moments = []
        while True:
            try:
                text = os.read(ours, 1 << 16).decode(errors="replace")
            except OSError:  # the other side of the terminal was closed
                break
            if matches := LINE.findall(text):
                word, seconds = matches[-1]
                moments.append((time.monotonic() - began, word, float(seconds.replace(",", ""))))
    os.close(ours)
    if run.returncode:
        sys.exit(f"perbyte {' '.join(words)} ended with {run.returncode}")
    return moments, time.monotonic() - began


def tell(name: str, moments: Moments, ended: float) -> None:
    print(f"{name}: {ended:.1f} s, {len(moments)} moments")
    for tenth in range(10):
        part = [moment for moment in moments if tenth <= 10 * moment[0] / ended < tenth + 1]
        if part:
            at, word, text = part[len(part) // 2]
            print(f"  at {at:5.1f} s: {word} {text:.0f} s left; in truth {ended - at:.1f} s")
    about = [(ended - at, each_text) for at, word, each_text in moments if word == "about"]
    close = sum(abs(each_text - left) <= max(QUARTER * left, SECOND) for left, each_text in about)
    share = f"{close / len(about):.0%}" if about else "none"
    print(f"  `about` {len(about)} times, {share} of them within a quarter or a second")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("selectors", nargs="*")
    parser.add_argument("--budget", default="54s")
    parser.add_argument("--study", default="kompara-2020")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        runs = [["measure", selector] for selector in asked.selectors] or [["study", "run", asked.study]]
        for number, words in enumerate(runs):
            out = str(Path(place) / str(number))
            tell(" ".join(words), *watch([*words, "--budget", asked.budget, "--out", out]))


if __name__ == "__main__":
    main()
