"""What comes of each lie of tests/liar in a run of its own kind, beside two honest runners.

    .venv/bin/python bench/liars.py [--budget 20s] [--only LIE,...]

Runs of SHA-256 at 16 KiB (or `--size`), `--at-once` liars in each; then the liars of tests/liar/cipher_liar.py, which
keep what they have computed or put it off, at ciphers of their own. Prints a table: refused (with the reason), marked
(`?`), with work that nobody saw (`w`) or without a mark, and the figure over that of the honest runner where there is
one. Ends with exit code 1 where an honest runner lost its figure. The lies that nobody can see are named in
docs/trust.md.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
LIAR = HERE / "tests" / "liar" / "liar.py"
CIPHER_LIAR = LIAR.with_name("cipher_liar.py")
SIZE = "16KiB"
HONEST, CIPHERS = ("honest", "honest-too"), ("ciphers", "ciphers-too")
CELLS = {
    "rc4": "rc4/encrypt@64+contract=rekey",
    "aria-256-ctr": "aria-256-ctr/encrypt@16KiB+contract=message",
    "chacha20-poly1305": "chacha20-poly1305/seal@16KiB",
}
TOML = """
[runner]
library = "{lie}"
license = "Apache-2.0"
language = "python"

[build]
kind = "python"

[run]
command = ["{{python}}", "-E", "-s", "-S", "{liar}", "{base}", "{lie}"]

[tiers.full]
description = "all"
{more}
"""


def lies() -> list[str]:
    names = re.findall(r'^    "([a-z-]+)": ', LIAR.read_text(encoding="utf-8"), re.MULTILINE)
    return [name for name in names if name not in HONEST]


def cipher_lies() -> dict[str, str]:
    """The lies about ciphers, and the algorithm of each."""
    text = CIPHER_LIAR.read_text(encoding="utf-8").partition("\nLIES = ")[2]
    return dict(re.findall(r'^    "([a-z-]+)": \(\s*"([a-z0-9-]+)"', text, re.MULTILINE))


def prepare(directory: Path, names: list[str]) -> None:
    guide = (HERE / "docs" / "runner-in-any-language.md").read_text(encoding="utf-8")
    program = re.search(r"```python slow-hash/runner\.py\n(.*?)```", guide, re.DOTALL)
    assert program
    base = directory / "base.py"
    base.write_text(program[1], encoding="utf-8")
    for lie in names:
        here = directory / "runners" / lie
        here.mkdir(parents=True)
        more = '[tiers.soft]\ndescription = "said to be without SHA instructions"' if "tier" in lie else ""
        liar = CIPHER_LIAR if lie in (*CIPHERS, *cipher_lies()) else LIAR
        (here / "runner.toml").write_text(TOML.format(lie=lie, liar=liar, base=base, more=more), "utf-8")


def of_hashes(group: list[str]) -> list[str]:
    tier = f"tier-not-taken/sha-256/digest@{SIZE}+cpu=soft,full"
    return [
        f"{{{','.join((*HONEST, *group))}}}/sha-256/digest@{SIZE}",
        *([tier] if "tier-not-taken" in group else []),
    ]


def of_ciphers(names: dict[str, str]) -> list[str]:
    return [
        f"{{{','.join((*CIPHERS, *(lie for lie, name in names.items() if name == algorithm)))}}}/{cell}"
        for algorithm, cell in CELLS.items()
        if algorithm in names.values()
    ]


def run(directory: Path, asked: list[str], budget: str) -> dict[str, Any]:
    environment = {
        **os.environ,
        "PERBYTE_RUNNERS": str(directory / "runners"),
        "XDG_DATA_HOME": str(directory / "data"),
        "PERBYTE_AUDIT": "on",
    }
    command = [
        sys.executable,
        "-m",
        "perbyte.cli",
        "measure",
        *asked,
        "--budget",
        budget,
        "--precision",
        "20%",
    ]
    done = subprocess.run(
        [*command, "--json", "--quiet"], env=environment, capture_output=True, text=True, check=False
    )
    if not done.stdout:
        sys.exit(done.stderr)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def told(content: dict[str, Any], lie: str, honest: float) -> tuple[str, str]:
    """What came of a lie, and the reason or the figure."""
    failures = [failure for failure in content["run"]["failures"] if failure["runner"] == lie]
    cells = [each_cell for each_cell in content["cells"] if each_cell["runner"] == lie]
    if not cells:
        kind, message = (failures[0]["kind"], failures[0]["message"]) if failures else ("no figure", "")
        if "does not fit into the budget" in message:
            return "**no time**", message
        return ("**refused**" if kind == "audit" else f"**{kind}**"), message
    texts = [warning for cell in cells for warning in cell["warnings"] if not warning.startswith("no cycles")]
    factor = f"{cells[0]['ns_per_call'] / honest:.2f} of the honest figure" if honest else "no honest figure"
    marked = "marked ?" if any(cell["quality"] == "doubted" for cell in cells) else ""
    unseen = "w" if any("its work was not audited" in text for text in texts) else ""
    return marked or unseen or "no mark", "; ".join([factor, *texts])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--budget", default="20s")
    parser.add_argument("--at-once", type=int, default=7)
    parser.add_argument("--only", default="")
    parser.add_argument("--size", default=SIZE)
    given = parser.parse_args()
    globals()["SIZE"] = given.size
    asked = given.only.split(",") if given.only else [*lies(), *cipher_lies()]
    kept = {lie: algorithm for lie, algorithm in cipher_lies().items() if lie in asked}
    names = [lie for lie in asked if lie not in kept]
    lost = 0
    with tempfile.TemporaryDirectory() as place:
        prepare(Path(place), [*HONEST, *CIPHERS, *asked])
        for first in range(0, len(names), given.at_once):
            group = names[first : first + given.at_once]
            lost += tell(
                run(Path(place), of_hashes(group), given.budget), dict.fromkeys(group, "sha-256"), HONEST
            )
        if kept:
            lost += tell(run(Path(place), of_ciphers(kept), given.budget), kept, CIPHERS)
    sys.exit(bool(lost))


def tell(content: dict[str, Any], group: dict[str, str], honest: tuple[str, str]) -> int:
    """Print what came of the liars of a run, each with its algorithm; how many honest figures are lost."""
    lost = 0
    figures = {(cell["runner"], cell["algorithm"]): cell["ns_per_call"] for cell in content["cells"]}
    for name in honest:
        if told(content, name, 0)[0] == "**no time**":
            continue
        for algorithm in dict.fromkeys(group.values()):
            if (name, algorithm) not in figures:
                lost += 1
                print(f"HONEST LOST: {name}: {algorithm}: {content['run']['failures']}", flush=True)
    for lie, algorithm in group.items():
        outcome, why = told(content, lie, figures.get((honest[0], algorithm), 0.0))
        print(f"| {lie} | {outcome} | {why} |", flush=True)
    return lost


if __name__ == "__main__":
    main()
