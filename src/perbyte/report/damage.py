"""What `perbyte verify` says of a run: each file, the signature, and whether all of it is what was written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from perbyte.model.text import plain
from perbyte.store.damage import FilesVerdict
from perbyte.store.signature import Signature


def damage_json(verdict: FilesVerdict, signature: Signature | None) -> dict[str, Any]:
    """What `damage_lines` says, for programs."""
    return {
        "path": str(verdict.path),
        "run_id": verdict.manifest.run_id if verdict.manifest else None,
        "files": verdict.findings,
        "notes": verdict.notes,
        "signature": signature,
    }


def damage_lines(verdict: FilesVerdict, signature: Signature | None) -> Iterator[str]:
    """A line for each file, then the signer and the verdict."""
    for finding in verdict.findings:
        size = f"{finding.bytes:>14,} bytes" if finding.bytes else " " * 20
        yield f"{plain(finding.name, 40):26} {finding.state:9}{size}  {plain(finding.detail, 300)}".rstrip()
    yield f"signed: {plain(str(signature), 300) if signature else 'no'}"
    if verdict.damaged:
        yield f"damaged: {len(verdict.damaged)} of {len(verdict.findings)} files"
    elif verdict.manifest:
        yield f"whole: {len(verdict.findings)} files are as they were written"
    else:
        yield "no damage is known; without a manifest this cannot be checked"
