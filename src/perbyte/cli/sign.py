"""`perbyte sign`: a signature of one's own under a run."""

from __future__ import annotations

from pathlib import Path

from perbyte.app.run_names import find_run
from perbyte.cli.declared import Options, argument, option, takes
from perbyte.errors import EXIT_FINE


class _SignOptions(Options):
    run: Path | None = argument(required=False)
    key: Path = option("--key", required=True, help="SSH key, such as ~/.ssh/id_ed25519.")


@takes("sign", _SignOptions)
def command(options: _SignOptions) -> int:
    """Sign the manifest of RUN (default: the newest) with an SSH key. `verify` and `report` then name the signer.

    Resuming the run, or any other change, makes the signature invalid.

    \b
      perbyte sign results/monday --key ~/.ssh/id_ed25519
    """
    from perbyte.app.signing import sign_run

    print(f"signed: {sign_run(find_run(options.run), options.key)}")
    return EXIT_FINE
