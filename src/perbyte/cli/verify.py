"""`perbyte verify`: is a run what was written, and by whom was it signed?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from perbyte.app.run_names import find_run
from perbyte.cli.options import note, print_json, print_lines
from perbyte.errors import EXIT_FINE, EXIT_FOUND, EXIT_UNDECIDED


@click.command("verify")
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.option(
    "--signers",
    type=click.Path(path_type=Path),
    help="Accepted signers: an allowed_signers file of ssh-keygen.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")
def command(run: Path | None, signers: Path | None, as_json: bool) -> int:
    """Compare every file of RUN (default: the newest) with its manifest, read all of it, and check its signature.

    Exit code 0: intact. 1: damaged, or a bad signature. 5: not known, because there is no manifest.

    \b
      perbyte verify results/monday
      perbyte verify results/monday --signers ~/.ssh/allowed_signers
    """
    from perbyte.model.text import plain
    from perbyte.report.damage import damage_lines
    from perbyte.store import read_signature, verify

    verdict = verify(find_run(run))
    signature = read_signature(verdict.path, signers)
    unsigned = signers is not None and signature is None
    bad = bool(verdict.damaged) or unsigned or bool(signature and not signature.good)
    if as_json:
        shown = {
            "path": str(verdict.path),
            "run_id": verdict.manifest.run_id if verdict.manifest else None,
            "files": [asdict(finding) for finding in verdict.findings],
            "notes": list(verdict.notes),
            "signature": asdict(signature) if signature else None,
        }
        print_json(shown)
    else:
        print_lines(damage_lines(verdict, signature))
        for text in verdict.notes:
            note(plain(text, 300))
        if verdict.damaged:
            note(f"save the readable part with: perbyte recover {verdict.path}")
    return EXIT_FOUND if bad else EXIT_FINE if verdict.manifest else EXIT_UNDECIDED
