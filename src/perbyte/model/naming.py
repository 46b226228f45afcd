"""Names of machines: by what they are, and by a label that tells equal ones apart. No name tells whose a machine is."""

from __future__ import annotations

import hashlib
import re

from perbyte.model.run import Conditions, Machine

LABEL = r"[a-z0-9][a-z0-9.-]{0,80}"  # what a machine may be called


def slug(text: str, default: str = "unknown") -> str:
    """A text as a word of small letters, digits and hyphens."""
    text = re.sub(r"\((r|tm)\)|\bcpu\b|\bprocessor\b|@.*", " ", text.lower())
    return re.sub(r"[^a-z0-9]+", "-", text).strip("-")[:48].strip("-") or default


def profile_name(machine: Machine) -> str:
    """A name for a machine by what it is: model, and a digest of its profile. Equal machines share it."""
    facts = (
        machine.cpu_model,
        machine.cpu_family,
        machine.cores,
        machine.threads_per_core,
        machine.caches,
        machine.memory_bytes >> 30,
        machine.virtualisation,
        machine.architecture,
    )
    digest = hashlib.sha256(repr(facts).encode()).hexdigest()[:6]
    return f"{slug(machine.cpu_model, 'machine')}-{digest}"


def machine_name(conditions: Conditions) -> str:
    """The name of the machine that a run was made on: its label, or what is known of it.

    Of imported runs that say nothing of their machine each is one of its own: nobody knows that two are the same.
    """
    machine = conditions.machine
    if not machine.label and not machine.cpu_model and not machine.cores:
        return f"unknown-{hashlib.sha256(conditions.run_id.encode()).hexdigest()[:6]}"
    return machine.label if re.fullmatch(LABEL, machine.label) else profile_name(machine)
