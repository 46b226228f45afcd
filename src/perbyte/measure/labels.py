"""The label of this machine: its profile, and four digits drawn once. It tells equal machines apart, not owners.

A home may be shared by the machines of a cluster, so the label lies under a hash of what makes a machine this one: its
installation, or where that is hidden its name. PERBYTE_FLEET_MACHINE stands for it where containers share an image.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
from contextlib import suppress
from pathlib import Path

from perbyte import places
from perbyte.model import Machine
from perbyte.model.naming import LABEL, profile_name

NAMED = "PERBYTE_FLEET_MACHINE"
_INSTALLATION = Path("/etc/machine-id")


def machine_key() -> str:
    """A hash that is the same on this machine whenever it is started, and tells nothing of it."""
    text = os.environ.get(NAMED, "")
    with suppress(OSError, UnicodeDecodeError):
        text = text or _INSTALLATION.read_text(encoding="utf-8").strip()
    return hashlib.sha256(f"perbyte machine\0{text or platform.node()}".encode()).hexdigest()[:16]


def own_label(machine: Machine) -> str:
    """The label of this machine, whose profile is `machine`; empty where it cannot be kept."""
    place = places.runs_home().parent / "machines" / machine_key()
    with suppress(OSError, UnicodeDecodeError):
        if re.fullmatch(LABEL, known := place.read_text(encoding="utf-8").strip()):
            return known
    with suppress(OSError):
        return keep_label(f"{profile_name(machine)}-{secrets.token_hex(2)}")
    return ""


def keep_label(label: str) -> str:
    """Let this machine be called `label` from here on. Raises OSError where that cannot be kept."""
    place = places.runs_home().parent / "machines" / machine_key()
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(label + "\n", encoding="utf-8")
    return label
