"""What one timed call is, in the catalogue's words, for a contract of a run. Says nothing of one it does not know."""

from __future__ import annotations

from perbyte.catalogue import load
from perbyte.errors import PerbyteError
from perbyte.report.units import plain


def meaning_of(contract: str) -> str:
    """Give the meaning of exactly this contract and version; empty where the catalogue here has none."""
    try:
        known = load().contracts.get(contract)
    except PerbyteError:  # a broken catalogue costs the sentence, not the report
        return ""
    return plain(f"One timed call ({known.title}): {known.meaning}".replace("`", ""), 400) if known else ""
