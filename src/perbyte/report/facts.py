"""A run's machine, policy, libraries and commands as rows of plain text, for pages of one run and of several."""

from __future__ import annotations

import shlex

from perbyte.model import Machine, Run
from perbyte.report.conditions import MEASURED, clock_observed, tick_rate
from perbyte.report.units import percent, plain


def identity_rows(run: Run) -> list[list[str]]:
    """Who answered for each runner and tier, with the hash of what was loaded."""
    return [
        [
            plain(one.runner, 40),
            plain(one.cpu, 20),
            plain(f"{one.library} {one.library_version}", 80),
            plain(one.license, 60),
            plain(f"{one.compiler} {one.flags}", 200),
            plain(one.cpu_features, 200) or "–",
            plain(one.object_path, 200),
            plain(one.object_sha256, 64),
        ]
        for one in run.conditions.identities
    ]


def condition_facts(run: Run) -> list[tuple[str, list[tuple[str, str]]]]:
    """Machine and policy as (heading, [(name, value)]); what is not known is left out.

    A run that Perbyte did not measure has no policy: what stands in its file is only what every run's file has.
    """
    machine, policy, conditions = run.conditions.machine, run.conditions.policy, run.conditions
    load = ", ".join(f"{one:.2f}" for one in conditions.load_before) + " (1, 5 and 15 minutes)"
    hardware = [
        ("processor", machine.cpu_model),
        ("vendor, family", " ".join(part for part in (machine.cpu_vendor, machine.cpu_family) if part)),
        ("microcode", machine.microcode),
        ("architecture", machine.architecture),
        (
            "cores",
            _cores(machine),
        ),
        ("clock observed", clock_observed(run)),
        ("clock, nominal", f"{machine.clock_hz_nominal / 1e9:.3f} GHz" if machine.clock_hz_nominal else ""),
        ("tick counter", tick_rate(run)),
        ("caches", ", ".join(machine.caches)),
        ("memory", f"{machine.memory_bytes / 2**30:.1f} GiB" if machine.memory_bytes else ""),
        ("virtualisation", machine.virtualisation),
        ("governor, turbo", ", ".join(part for part in (machine.governor, machine.turbo) if part)),
        ("kernel", machine.kernel),
        ("distribution", machine.distribution),
        ("load before", load if any(conditions.load_before) else ""),
        ("CPU features", " ".join(machine.cpu_flags)),
    ]
    came_from = [
        ("input", ", ".join(f"{key}: {value}" for key, value in conditions.input.items())),
        ("origin", conditions.origin),
    ]
    protocol = [
        ("Perbyte", conditions.perbyte_version),
        ("catalogue", conditions.catalogue_version),
        ("protocol", str(conditions.protocol_version)),
        ("precision asked for", f"±{percent(policy.precision)} at the {policy.level:.0%} level"),
        ("epochs", f"{policy.epochs} to {policy.max_epochs} of fresh processes"),
        ("sample, burst", f"{policy.sample_us:g} µs, {policy.burst_samples} samples"),
        (
            "a sample is clean when",
            f"clock probes agree within {percent(policy.clock_tolerance)} and the contention probe is within "
            f"{percent(policy.contention_tolerance)} of its floor, without switch, migration or page fault",
        ),
        ("budget", f"{policy.budget_s:g} s (used {run.measuring_s:.1f} s)"),
        ("core", "chosen by Perbyte" if policy.core < 0 else str(policy.core)),
        ("seed", str(policy.seed)),
        *came_from,
    ]
    return [
        (heading, [(name, plain(value, 1500)) for name, value in facts if value])
        for heading, facts in (
            ("Machine", [fact for fact in hardware if fact[1]]),
            ("How it was measured", protocol)
            if conditions.origin == MEASURED
            else ("Where it is from", came_from),
        )
        if facts
    ]


def _cores(machine: Machine) -> str:
    threads = f", {machine.threads_per_core} threads each" if machine.threads_per_core > 1 else ""
    return f"{machine.cores}{threads}" if machine.cores else ""


def commands(run: Run) -> list[tuple[str, str]]:
    """What to type to do it again: (sentence, command)."""
    conditions = run.conditions
    seeded = f"--seed {conditions.policy.seed}"
    words = [plain(part, 300) for part in conditions.command] or ["measure"]
    if words[0].rpartition("/")[2] != "perbyte":
        words.insert(0, "perbyte")
    given = shlex.join(words)
    found = [("The command that made this run:", given)]
    if conditions.study:
        study = shlex.quote(plain(conditions.study, 80))
        found.append(("The whole study, its verdicts and figures:", f"perbyte study run {study}"))
    elif "--seed" not in given:
        found.append(("The same order of measuring as here:", f"{given} {seeded}"))
    run_name = shlex.quote(plain(run.path or conditions.run_id, 300))
    found.append(
        (
            "Compare a new run with this one; every figure as CSV; this report:",
            f"perbyte compare {run_name} NEW_RUN\nperbyte show {run_name} --csv\n"
            f"perbyte report {run_name} -o report.html",
        )
    )
    return found
