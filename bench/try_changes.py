"""How often `perbyte try --baseline` finds a slowdown of a per cent or less, and calls an unchanged file changed.

    python bench/try_changes.py slower 10       # ten tries with eight instructions a block more: 0.3 to 1 %
    python bench/try_changes.py slower 10 26    # with twenty-six
    python bench/try_changes.py same 20

Each try is the command as a user types it. The figures go to standard output; nothing is judged.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "tests" / "trial" / "code" / "sha256.c"
LAST = "\ts[0] += a;"
# rotated to and fro: no change of what is computed, up to one cycle each, as far as the next block waits for it
ONE = '__asm__("ror $16, %0" : "+r"(a));'


def perbyte(file: Path, home: Path, *more: str) -> subprocess.CompletedProcess[str]:
    words = [
        sys.executable,
        "-m",
        "perbyte.cli",
        "try",
        str(file),
        "--as",
        "sha-256",
        "--baseline",
        "-q",
        *more,
    ]
    return subprocess.run(
        words, env=os.environ | {"PERBYTE_HOME": str(home)}, capture_output=True, text=True, check=False
    )


def main() -> None:
    """Do what the command line says."""
    what, count = sys.argv[1], int(sys.argv[2])
    more = int(sys.argv[3]) if len(sys.argv) > 3 else 8  # an even number: they cancel each other out
    verdicts: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as temporary:
        home, file = Path(temporary), Path(temporary) / "sha256.c"
        text = SOURCE.read_text(encoding="utf-8")
        file.write_text(text)
        perbyte(file, home, "--keep", "--budget", "1s")
        if what == "slower":
            assert LAST in text
            file.write_text(text.replace(LAST, f"\t{ONE * more}\n{LAST}"))
        for number in range(1, count + 1):
            began = time.monotonic()
            done = perbyte(file, home, "--json")
            (change,) = json.loads(done.stdout)["changes"]
            verdicts[change["verdict"]] = verdicts.get(change["verdict"], 0) + 1
            low, ratio, high = (f"{100 * (change[name] - 1):+.2f}" for name in ("low", "ratio", "high"))
            took = f"{time.monotonic() - began:.1f} s"
            print(f"{number:3} {change['verdict']:10} {ratio} % ({low} to {high} %)  {took}", flush=True)
    print(f"{what}: {', '.join(f'{number} {verdict}' for verdict, number in verdicts.items())} of {count}")


if __name__ == "__main__":
    main()
