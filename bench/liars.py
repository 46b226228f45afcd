"""What comes of each lie of tests/liar in a run of its own kind, beside two honest runners.

    .venv/bin/python bench/liars.py [--budget 20s] [--only LIE,...]

Runs of SHA-256 at 16 KiB (or `--size`), `--at-once` liars in each. Prints a table: refused (with the reason), marked or
not seen, and the figure over that of the honest runner where there is one. Ends with exit code 1 where an honest
runner lost its figure. The lies that nobody can see are named in docs/trust.md.
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
SIZE = "16KiB"
HONEST = ("honest", "honest-too")
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
        (here / "runner.toml").write_text(TOML.format(lie=lie, liar=LIAR, base=base, more=more), "utf-8")


def run(directory: Path, group: list[str], budget: str) -> dict[str, Any]:
    tier = f"tier-not-taken/sha-256/digest@{SIZE}+cpu=soft,full"
    asked = [
        f"{{{','.join((*HONEST, *group))}}}/sha-256/digest@{SIZE}",
        *([tier] if "tier-not-taken" in group else []),
    ]
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
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def told(content: dict[str, Any], lie: str, honest: float) -> tuple[str, str]:
    """What came of a lie, and the reason or the figure."""
    failures = [one for one in content["run"]["failures"] if one["runner"] == lie]
    cells = [one for one in content["cells"] if one["runner"] == lie]
    if not cells:
        kind, message = (failures[0]["kind"], failures[0]["message"]) if failures else ("no figure", "")
        if "does not fit into the budget" in message:
            return "**no time**", message
        return ("**refused**" if kind == "audit" else f"**{kind}**"), message
    texts = [one for cell in cells for one in cell["warnings"]]
    factor = f"{cells[0]['ns_per_call'] / honest:.2f} of the honest figure" if honest else "no honest figure"
    quality = cells[0]["quality"]
    return (f"marked ({quality})" if texts else f"not seen ({quality})"), "; ".join([factor, *texts])


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
    names = given.only.split(",") if given.only else lies()
    accused = 0
    with tempfile.TemporaryDirectory() as place:
        prepare(Path(place), [*HONEST, *names])
        for first in range(0, len(names), given.at_once):
            group = names[first : first + given.at_once]
            content = run(Path(place), group, given.budget)
            figures = {one["runner"]: one["ns_per_call"] for one in content["cells"]}
            for name in HONEST:
                if name not in figures and told(content, name, 0)[0] != "**no time**":
                    accused += 1
                    print(f"HONEST LOST: {name}: {told(content, name, 0)}", flush=True)
            for lie in group:
                outcome, why = told(content, lie, figures.get("honest", 0.0))
                print(f"| {lie} | {outcome} | {why} |", flush=True)
    sys.exit(bool(accused))


if __name__ == "__main__":
    main()
