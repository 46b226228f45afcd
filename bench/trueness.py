"""How true the figures are: loops of known cost, and OpenSSL beside a hand-written C loop around the same calls.

    .venv/bin/python bench/trueness.py

The chains (imul 3, imul + add 4, crc32 3, aesenc 4 on Zen and 3 on recent Intel, empty call 0 cycles) go through
the whole pipeline. The hand-written loop (bench/handwritten.c) shares no code with Perbyte but the probes' idea.
Prints before and after for how much of the time the cores' siblings were active.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from neighbours import detector, say_siblings

HERE = Path(__file__).parent
KNOWN = {"probe-imul": 3.0, "probe-imul-add": 4.0, "probe-crc32": 3.0}


def measure(*selectors: str) -> list[dict[str, object]]:
    with tempfile.TemporaryDirectory() as temporary:
        command = [sys.executable, "-m", "perbyte.cli", "measure", *selectors, "--json", "--quiet"]
        done = subprocess.run(
            [*command, "--budget", "30s", "--out", str(Path(temporary) / "run")],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        sys.exit(f"perbyte measure ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)["cells"]


def chains() -> None:
    print("loops of known cost, cycles per instruction (empty: per call)")
    for cell in measure("reference/probe-*/run@1024"):
        name = cell["algorithm"]
        value = cell["cycles_per_call" if name == "probe-empty" else "cycles_per_byte"]
        goal = KNOWN.get(name)
        remark = f"goal {goal:.2f}, off by {100 * (value / goal - 1):+.3f} %" if goal else ""
        print(f"  {name:16} {value:8.4f}  {remark}")


def handwritten() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        program = str(Path(temporary) / "handwritten")
        subprocess.run(
            ["cc", "-O2", "-mavx", "-o", program, str(HERE / "handwritten.c"), "-lcrypto"], check=True
        )
        probe = detector()
        print("\nAES-128-CTR through OpenSSL, cycles per byte")
        if not probe:
            print("  the hand-written loop has no probe for this core: it counts shared samples too")
        for size in (16, 8192):
            values = []
            for _ in range(5):
                out = subprocess.run(
                    ["setarch", "-R", program, str(size), *probe],
                    capture_output=True,
                    text=True,
                    check=True,
                )
                values.append(float(out.stdout.split()[0]))
            by_hand = sorted(values)[2]
            (cell,) = measure(f"openssl/aes-128-ctr/encrypt@{size}")
            ours = cell["cycles_per_byte"]
            print(
                f"  {size:5} B   perbyte {ours:.4f}   by hand {by_hand:.4f}   "
                f"difference {100 * (ours / by_hand - 1):+.3f} %"
            )


if __name__ == "__main__":
    say_siblings("before")
    chains()
    handwritten()
    say_siblings("after")
