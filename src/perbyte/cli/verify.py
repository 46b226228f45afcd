"""`perbyte verify`: is a run what was written, and by whom was it signed?"""

from __future__ import annotations

from pathlib import Path

from perbyte.app.run_names import find_run
from perbyte.cli.declared import Options, argument, flag, option, takes
from perbyte.cli.options import note, notes, print_json, print_lines
from perbyte.errors import EXIT_FINE, EXIT_FOUND, EXIT_UNDECIDED


class _VerifyOptions(Options):
    run: Path | None = argument(required=False)
    signers: Path | None = option(
        "--signers", help="Accepted signers: an allowed_signers file of ssh-keygen."
    )
    as_json: bool = flag("--json", help="Print JSON instead.")


@takes("verify", _VerifyOptions)
def command(options: _VerifyOptions) -> int:
    """Compare every file of RUN (default: the newest) with its manifest, read all of it, and check its signature.

    Exit code 0: intact. 1: damaged, or a bad signature. 5: not known, because there is no manifest.

    \b
      perbyte verify results/monday
      perbyte verify results/monday --signers ~/.ssh/allowed_signers
    """
    from perbyte.model.text import plain
    from perbyte.report.facts import damage_json, damage_lines
    from perbyte.store import read_signature, verify

    verdict = verify(find_run(options.run))
    signature = read_signature(verdict.path, options.signers)
    unsigned = options.signers is not None and signature is None
    bad = bool(verdict.damaged) or unsigned or bool(signature and not signature.good)
    if options.as_json:
        print_json(damage_json(verdict, signature))
    else:
        print_lines(damage_lines(verdict, signature))
        notes(plain(text, 300) for text in verdict.notes)
        if verdict.damaged:
            note(f"save the readable part with: perbyte recover {verdict.path}")
    return EXIT_FOUND if bad else EXIT_FINE if verdict.manifest else EXIT_UNDECIDED
