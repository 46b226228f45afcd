"""`perbyte sign`: a signature of one's own under a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from perbyte.app.run_names import find_run
from perbyte.cli.declared import argument, option, takes
from perbyte.errors import EXIT_FINE


@dataclass(frozen=True, slots=True)
class SignOptions:
    """Which run is signed, and with which key."""

    run: Path | None = argument(required=False)
    key: Path = option("--key", required=True, help="SSH key, such as ~/.ssh/id_ed25519.")


@click.command("sign")
@takes(SignOptions)
def command(options: SignOptions) -> int:
    """Sign the manifest of RUN (default: the newest) with an SSH key. `verify` and `report` then name the signer.

    Resuming the run, or any other change, makes the signature invalid.

    \b
      perbyte sign results/monday --key ~/.ssh/id_ed25519
    """
    from perbyte.app.signing import sign_run

    print(f"signed: {sign_run(find_run(options.run), options.key)}")
    return EXIT_FINE
