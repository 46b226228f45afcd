"""Ten functions in eight languages as `perbyte try` sees them: seconds to the first figure and to the answer, and it.

    python bench/try_languages.py [LANGUAGE...]

Each is the command as a user types it, in a home of its own that a first try has filled (the SDK is compiled once in
a language); the file is changed after it. Beside Python and Go stands what their own tools say of the same call:
`timeit`, best of five, and `testing.B`, six runs, lowest and highest. A language whose toolchain is absent is left out.
Nothing is judged.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CODE = Path(__file__).parent.parent / "tests" / "trial" / "code"
SIZE = 16384
FUNCTIONS = (
    ("C", "sha256.c", "sha-256", "own_sha256"),
    ("C", "siphash.c", "siphash-2-4", ""),
    ("C", "chacha20.c", "chacha20", ""),
    ("Rust", "sha256.rs", "sha-256", ""),
    ("Zig", "managed.zig", "sha-256", "digest"),
    ("Go", "managed.go", "sha-256", "digest"),
    ("Java", "managed.java", "sha-256", "digest"),
    ("Kotlin", "managed.kt", "sha-256", "digest"),
    ("Python", "managed.py", "sha-256", "digest"),
    ("JavaScript", "managed.js", "sha-256", "digest"),
)
_FIRST = re.compile(r"compiled, right;.*\((\d+\.\d+) s\)")
_GO = """package mine

import "testing"

func BenchmarkDigest(b *testing.B) {
\tdata := make([]byte, %d)
\tb.SetBytes(%d)
\tfor i := 0; i < b.N; i++ {
\t\tdigest(data)
\t}
}
"""


def tried(home: Path, file: Path, algorithm: str, function: str) -> tuple[str, str, str]:
    """Seconds to the first figure, to the answer, and the figure with its interval; reasons instead."""
    words = [sys.executable, "-m", "perbyte.cli", "try", str(file), "--as", algorithm, "--json"]
    words += ["--beside", "openssl", "--fresh", *(["--function", function] if function else [])]
    began = time.monotonic()
    done = subprocess.run(
        words, env=os.environ | {"PERBYTE_HOME": str(home)}, capture_output=True, text=True, check=False
    )
    took = time.monotonic() - began
    first = match[1] if (match := _FIRST.search(done.stderr)) else "-"
    try:
        told = json.loads(done.stdout)
    except ValueError:
        return "-", f"{took:.1f}", (done.stderr.strip().splitlines() or ["nothing"])[-1][:60]
    names = {row["runner"] for row in told["trial"].get("rows", ())}
    ours = [cell for cell in told["cells"] if cell["runner"] in names and cell["size_bytes"] == SIZE]
    if not ours:
        return first, f"{took:.1f}", "no figure"
    best = ours[0]
    if best["interval_unit"] != "cycles" or best["interval_low"] is None:
        return first, f"{took:.1f}", f"{best['ns_per_call'] / SIZE:.4g} ns/byte, no interval in cycles"
    middle, low, high = (best[name] / SIZE for name in ("cycles_per_call", "interval_low", "interval_high"))
    return first, f"{took:.1f}", f"{middle:.4g} ±{100 * (high - low) / 2 / middle:.2g} %"


def usual(language: str) -> str:
    """What the language's own tool says of the same call, in nanoseconds a byte."""
    if language == "Python":
        code = "import sys; sys.path.insert(0, '.'); import managed; data = bytes(%d)" % SIZE  # noqa: UP031
        words = ["python3", "-m", "timeit", "-n", "2000", "-u", "nsec", "-s", code, "managed.digest(data)"]
        message = subprocess.run(words, cwd=CODE, capture_output=True, text=True, check=False).stdout
        match = re.search(r"best of \d+: ([\d.e+]+) nsec", message)
        return f"timeit: {float(match[1]) / SIZE:.4f} ns/byte" if match else "timeit: nothing"
    if language == "Go":
        with tempfile.TemporaryDirectory() as temporary:
            place = Path(temporary)
            (place / "go.mod").write_text("module mine\n\ngo 1.24\n")
            (place / "mine.go").write_text((CODE / "managed.go").read_text())
            (place / "mine_test.go").write_text(_GO % (SIZE, SIZE))
            words = ["go", "test", "-bench=Digest", "-count=6", "-run=NONE", "-vet=off"]
            message = subprocess.run(words, cwd=place, capture_output=True, text=True, check=False).stdout
        runs = [float(text) / SIZE for text in re.findall(r"([\d.]+) ns/op", message)]
        return f"testing.B: {min(runs):.4f} to {max(runs):.4f} ns/byte" if runs else "testing.B: nothing"
    return "-"


def main() -> None:
    """Do what the command line says."""
    asked = {word.lower() for word in sys.argv[1:]}
    print(
        "| language | function | lines of the user's besides | first figure, s | answer, s | cycles/byte | own tool |"
    )
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as temporary:
        seen: set[str] = set()
        for language, file, algorithm, function in FUNCTIONS:
            if asked and language.lower() not in asked:
                continue
            home = Path(temporary)
            own = Path(shutil.copy(CODE / file, home))
            if language not in seen:  # the SDK is compiled once
                tried(home, own, algorithm, function)
                seen.add(language)
                with own.open("a", encoding="utf-8") as opened:  # no compiler has seen what is tried now
                    opened.write("\n# changed\n" if own.suffix == ".py" else "\n// changed\n")
            first, took, figure = tried(home, own, algorithm, function)
            told = (language, f"{algorithm}, {file}", "0", first, took, figure, usual(language))
            print(f"| {' | '.join(told)} |", flush=True)


if __name__ == "__main__":
    main()
