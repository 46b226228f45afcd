from __future__ import annotations

from pathlib import Path

import pytest

# Output of `openssl speed` as it was printed: by 3.0.22 and 3.6.3 for this project, by older versions as their users
# made it public. Nothing but the tool's own lines and, in three-machines.txt, boot messages.
LISTINGS = Path(__file__).parent / "listings"


@pytest.fixture
def listing_text():
    def text(name: str) -> str:
        return (LISTINGS / name).read_text(encoding="utf-8")

    return text
