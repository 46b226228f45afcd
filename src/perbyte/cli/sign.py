"""`perbyte sign`: a signature of one's own under a run."""

from __future__ import annotations

from pathlib import Path

import click

from perbyte import extras
from perbyte.app.run_names import find_run
from perbyte.errors import EXIT_FINE, StoreError


@click.command("sign")
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.option(
    "--key", required=True, type=click.Path(path_type=Path), help="SSH key, such as ~/.ssh/id_ed25519."
)
def command(run: Path | None, key: Path) -> int:
    """Sign the manifest of RUN (default: the newest) with an SSH key. `verify` and `report` then name the signer.

    Resuming the run, or any other change, makes the signature invalid.

    \b
      perbyte sign results/monday --key ~/.ssh/id_ed25519
    """
    from perbyte.store import sign, verify

    verdict = verify(find_run(run))
    if verdict.damaged or verdict.manifest is None:
        raise StoreError(
            f"{verdict.path} is damaged or has no manifest", hint=f"perbyte verify {verdict.path}"
        )
    journal = verdict.path / "journal.jsonl"
    if journal.is_file() and journal.stat().st_size:
        extras.require("query", "Signing a run whose samples are still in its journal")
        raise StoreError(
            f"{verdict.path} has measurements in its journal, outside its manifest",
            hint=f"perbyte recover {verdict.path} --out NEW, or perbyte measure --resume {verdict.path}",
        )
    print(f"signed: {sign(verdict.path, key)}")
    return EXIT_FINE
