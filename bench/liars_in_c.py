"""What comes of each lie of tests/liar/liar.c, beside its honest twin and a library that others wrote.

    .venv/bin/python bench/liars_in_c.py [--budget 15s] [--only LIE,...]

The runner is built with the C SDK and libcrypto. Prints a table: the lie, the cell, the figure over that of the
honest twin, and what the audit made of it. Ends with exit code 1 where the honest twin lost a figure, or a lie kept one
below 0.8 of it without a mark that the twin does not bear.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from liars import HERE, run, told

SOURCES = ("liar.c", "liar_keys.c")
LIMIT, STATE_BUDGET = 0.8, "40s"
CELLS = {  # what is measured of the twin, of the library beside it, and the lies with their shares
    "sha-256/digest@16KiB": ("nettle", {"only-forks": 0.6, "ticks-in-forks": 0.83, "later-less": 0.6}),
    "sha-256/digest@2KiB": ("nettle", {"control-fat": 0.77, "less-when-many": 0.5, "done-beforehand": 1}),
    "aes-128-ecb/encrypt@16+contract=message": ("nettle", {"codebook": 1}),
    "aes-128-cbc/encrypt@256+contract=message": ("openssl", {"fused": 1}),
    "aes-128-gcm/seal@1350+state=cold": ("nettle", {"begin-warms": 1}),
    "x25519/keygen": ("openssl", {"keygen-pool": 1}),
    "x25519/derive": ("openssl", {"keeps-secrets": 1}),
    "aes-128-gcm/open@8KiB": ("nettle", {"open-unchecked": 1}),
    "ed25519/sign": ("openssl", {"keeps-signatures": 1}),
    "ed25519/verify": ("openssl", {"keeps-verdicts": 1}),
    "ecdsa-p256/sign": ("nettle", {"nonce-pool": 1, "next-nonce": 1}),
    "rsa-2048/sign": ("nettle", {"short-exponent": 1}),
    "rsa-2048/verify": ("nettle", {"small-exponent": 1}),
}
TOML = """
[runner]
library = "{name}"
license = "Apache-2.0"
language = "c"

[build]
kind = "python"

[run]
command = ["{program}"]
environment = {{ NAME = "{name}", LIE = "{lie}", SHARE = "{share}" }}
"""


def build(directory: Path) -> Path:
    """Compile the runner."""
    here, sdk, program = HERE / "tests" / "liar", HERE / "runners" / "sdk" / "c", directory / "liar"
    sources = [*(here / name for name in SOURCES), *sorted(sdk.glob("*.c"))]
    flags = ["-O2", "-w", "-march=native", "-D_GNU_SOURCE", f"-I{sdk}", "-Wl,--wrap=pb_gauge_after"]
    subprocess.run(["cc", *flags, *map(str, sources), "-lcrypto", "-lm", "-o", str(program)], check=True)
    return program


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--budget", default="15s")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place)
        program = build(directory)
        for cell, (library, lies) in CELLS.items():
            chosen = {
                lie: share for lie, share in lies.items() if not given.only or lie in given.only.split(",")
            }
            for lie, share in {"honest": 1.0, **chosen}.items():
                here = directory / "runners" / lie
                here.mkdir(parents=True, exist_ok=True)
                text = TOML.format(name=lie, program=program, lie=lie, share=share)
                (here / "runner.toml").write_text(text, encoding="utf-8")
            if chosen:
                budget = STATE_BUDGET if "+state=" in cell else given.budget
                content = run(directory, [f"{{honest,{library},{','.join(chosen)}}}/{cell}"], budget)
                bad += sum(tell(content, lie, cell) for lie in chosen)
    sys.exit(bool(bad))


def tell(content: dict[str, Any], lie: str, cell: str) -> bool:
    """Print what came of a lie; True where it got through, or its honest twin has no figure."""
    figures = {each["runner"]: each["ns_per_call"] for each in content["cells"]}
    if "honest" not in figures:
        print(f"HONEST LOST: {cell}: {content['run']['failures']}", flush=True)
        return True
    outcome, why = told(content, lie, figures["honest"])
    of_twin, of_twin_why = told(content, "honest", figures["honest"])
    print(f"| {lie} | {cell} | {outcome} (twin: {of_twin}) | {why} |", flush=True)
    if of_twin.startswith("marked"):
        print(f"  twin: {of_twin_why}", flush=True)
    return lie in figures and figures[lie] < LIMIT * figures["honest"] and outcome in ("no mark", of_twin)


if __name__ == "__main__":
    main()
