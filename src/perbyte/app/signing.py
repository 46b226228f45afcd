"""Sign a run that is whole."""

from __future__ import annotations

from pathlib import Path

from perbyte import extras
from perbyte.errors import StoreError
from perbyte.store import sign, verify
from perbyte.store.signature import Signature


def sign_run(path: Path, key: Path) -> Signature:
    """Sign the manifest of a run. Raises StoreError where the run is damaged, or has data outside its manifest."""
    verdict = verify(path)
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
    return sign(verdict.path, key)
