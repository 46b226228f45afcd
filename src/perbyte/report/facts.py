"""A run's facts in plain words: noise floor, machine, clock, libraries, policy, commands, failures and warnings.

The same rows and sentences serve the terminal, the page of a run and the page of several machines. What is not known is
left out, or is a dash where another run has it.
"""

from __future__ import annotations

import math
import re
import shlex
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from perbyte.catalogue import load
from perbyte.errors import PerbyteError
from perbyte.model import Doubt, Failure, Machine, NoiseFloor, Run, Warning
from perbyte.model.text import counted, plain
from perbyte.report.wording import percent
from perbyte.stats.across import ACROSS_RUNS
from perbyte.store import read_signature, verify
from perbyte.store.damage import FilesVerdict
from perbyte.store.signature import Signature

QUIET_SHARE = 0.3  # of clean samples; with more a machine is not called noisy
GENTLE = "gentle: without priority over other programs, so that less of it is precise beside them"
MEASURED = "measured"
"""The origin of a run that Perbyte measured itself."""


def failures_by_cause(run: Run) -> tuple[tuple[Failure, int], ...]:
    """Give each cause (kind, runner, message) once, with how many cells it cost (0: the whole runner).

    Twins do not count: nobody asked for them.
    """
    causes: dict[tuple[str, str, str], tuple[Failure, int]] = {}
    for failure in sorted(run.failures, key=lambda failure: "+twin=" in failure.address):
        key = (failure.runner, failure.kind, failure.message)
        first, count = causes.get(key, (failure, 0))
        causes[key] = (first, count + bool(failure.address and "+twin=" not in failure.address))
    return tuple(causes[key] for key in sorted(causes))


def noise_line(noise: NoiseFloor | None) -> str:
    """Say under which difference nothing is claimed, and where that figure comes from."""
    if noise is None or not noise.pairs or not math.isfinite(noise.relative):
        return "noise floor: not known, no pair of identical cells was measured"
    if noise.earlier:
        return (
            f"noise floor: {percent(noise.relative)} (by {noise.earlier} earlier runs of the same code on this "
            "machine; no smaller difference is claimed across runs, but within one run)"
        )
    if noise.relative == ACROSS_RUNS:
        return (
            f"noise floor: {percent(noise.relative)} (runs of the same code differ by so much now and then; no smaller "
            "difference is claimed across runs, but within one run)"
        )
    count = len(noise.pairs)
    return (
        f"noise floor: {percent(noise.relative)} (the largest difference between identical, "
        f"precisely measured cells in {counted(count, 'pair')} of processes; no smaller one is claimed)"
    )


def cycle_sources(run: Run) -> Counter[str]:
    """Count the figures of each cycle source."""
    return Counter(figure.cycle_source for figure in run.cells)


_SOURCES = {
    "pmu": "the processor's cycle counter",
    "probe": "tick counter, calibrated by the clock probe around every sample",
    "none": "none that can be trusted, times only",
}


def clock_observed(run: Run) -> str:
    """The core's clock as the figures show it, cycles over time; empty where no figure has cycles.

    Their median, with their range where it is wider than the three decimals of a GHz that are given.
    """
    rates = sorted(
        rate
        for figure in run.cells
        if figure.cycles_per_call is not None
        and figure.ns_per_call > 0
        and 0 < (rate := figure.cycles_per_call / figure.ns_per_call) < math.inf
    )
    if not rates:
        return ""
    low, middle, high = (f"{rate:.3f}" for rate in (rates[0], statistics.median(rates), rates[-1]))
    return f"{middle} GHz" + (f" ({low} to {high})" if low != high else "")


def tick_rate(run: Run) -> str:
    """The tick counter's rate, the median of the processes' calibrations; empty where there is none."""
    rates = [calibration.tick_hz for calibration in run.calibrations if 0 < calibration.tick_hz < math.inf]
    return f"{statistics.median(rates) / 1e9:.4f} GHz" if rates else ""


def warning_texts(warnings: Iterable[Warning]) -> list[str]:
    """Each kind of warning once, by its first example and how many are like it, the most frequent first.

    Of warnings without a kind, those that differ in numbers only are one.
    """
    kinds: dict[tuple[Doubt, str], tuple[str, int]] = {}
    for warning in warnings:
        text = plain(warning, 300)
        named = warning.kind is not Doubt.OTHER
        kind = warning.kind, "" if named else re.sub(r"[-+±]?[0-9][0-9.,]*(e[-+]?[0-9]+)?", "#", text)
        first, count = kinds.get(kind, (text, 0))
        kinds[kind] = (first, count + 1)
    ordered = sorted(kinds.values(), key=lambda item: (-item[1], item[0]))
    return [f"{text} (and {count - 1:,} more like it)" if count > 1 else text for text, count in ordered]


def build_lines(run: Run) -> list[str]:
    """Where builds of one library say that they have other options: a difference is not their version's alone."""
    options: dict[str, dict[frozenset[str], list[str]]] = {}
    for identity in run.conditions.identities:
        words = frozenset(re.findall(r"(?<!\S)(?:enable|no)-\w+", identity.cpu_features))
        runners = options.setdefault(identity.library.partition(",")[0], {}).setdefault(words, [])
        if words and identity.runner not in runners:
            runners.append(identity.runner)
    return [
        f"{plain(library, 60)} was built with other options: "
        + "; ".join(
            f"{', '.join(map(plain, runners))} {' '.join(sorted(words))}"
            for words, runners in builds.items()
            if words
        )
        + ". What these change is no difference of versions"
        for library, builds in options.items()
        if sum(map(bool, builds)) > 1
    ]


def condition_lines(run: Run) -> list[str]:
    """Machine, cycle source, libraries and the run itself, one sentence a line."""
    conditions, machine = run.conditions, run.conditions.machine
    clock = f", {observed} observed" if (observed := clock_observed(run)) else ""
    where = ", ".join(
        plain(part, 80) for part in (machine.virtualisation, machine.kernel, machine.distribution) if part
    )
    cpu = plain(machine.cpu_model, 80) or "unknown processor"
    lines = [f"machine: {cpu}{clock}" + (f" · {where}" if where else "")]
    if sources := sorted(cycle_sources(run).items()):
        told = [
            _SOURCES.get(name, plain(name, 40)) + f" ({counted(count)})" * (len(sources) > 1)
            for name, count in sources
        ]
        lines.append(f"cycles: {'; '.join(told)}")
    if conditions.policy.gentle:
        lines.append(GENTLE)
    if libraries := library_names(run):
        lines.append("libraries: " + ", ".join(libraries))
    lines += build_lines(run)
    clean, taken = clean_share(run)
    lines += host_verdict(run)
    title = f"run: {plain(conditions.run_id, 60)}, {counted(len(run.cells))}"
    if conditions.origin != MEASURED:  # seed and duration would be those of a measurement that never was
        source = plain(conditions.input.get("source", ""), 80)
        lines.append(f"{title}, {plain(conditions.origin, 40)}" + (f" from {source}" if source else ""))
        return lines
    samples = f", {clean:,} of {taken:,} samples clean ({clean / taken:.0%})" if taken else ""
    end = "" if run.complete else "; INTERRUPTED: what was measured until then"
    lines.append(
        f"{title}{samples}, {run.measuring_s:.1f} s of measuring, seed {conditions.policy.seed}{end}"
    )
    return lines


def host_verdict(run: Run) -> list[str]:
    """What this machine was good for, in a line; none where most samples were clean or most cells precise."""
    clean, taken = clean_share(run)
    widths = sorted(figure.relative_half_width for figure in run.cells if figure.interval.known)
    if not taken or not widths or clean > QUIET_SHARE * taken:
        return []
    asked, half = run.conditions.policy.precision, widths[len(widths) // 2]
    if half <= asked:
        return []
    return [
        f"host: noisy, {clean / taken:.0%} of the samples clean; half of the intervals are wider than "
        f"±{percent(half)} (requested: ±{percent(asked)}). A larger --budget, a quieter hour or core, or a machine of "
        "one's own would help"
    ]


def library_names(run: Run) -> list[str]:
    """Each library with its version, once, in alphabetical order."""
    names = {(identity.library, identity.library_version) for identity in run.conditions.identities}
    names |= {(figure.library, figure.library_version) for figure in run.cells}
    # some libraries' versions begin with their name
    told = ((name, version.removeprefix(name)) for name, version in sorted(names) if name)
    return [" ".join((plain(name, 40), *plain(version, 80).split())) for name, version in told]


def clean_share(run: Run) -> tuple[int, int]:
    """Clean samples and all samples of the run."""
    return sum(figure.clean_samples for figure in run.cells), sum(figure.samples for figure in run.cells)


def failure_lines(run: Run) -> list[str]:
    """One line for each cause of missing figures; nothing for what a library simply does not have."""
    lines = []
    for failure, count in failures_by_cause(run):
        if failure.kind == "unsupported":
            continue
        cells = f" ({counted(count, 'cell')})" if count > 1 else ""
        what = plain(failure.address if count == 1 else failure.runner, 100)
        message = plain(failure.message, 300) + outputs_text(failure)
        lines.append(f"{what}: {plain(failure.kind, 20)}{cells}: {message}")
    return lines


def outputs_text(failure: Failure) -> str:
    """What was expected and what came, behind a failure's message; empty where there is neither."""
    if not (failure.expected or failure.got):
        return ""
    return f"; expected {plain(failure.expected, 72)}, got {plain(failure.got, 72)}"


def identity_rows(run: Run) -> list[list[str]]:
    """Who answered for each runner and tier, with the hash of what was loaded."""
    return [
        [
            plain(identity.runner, 40),
            plain(identity.cpu, 20),
            plain(f"{identity.library} {identity.library_version}", 80),
            plain(identity.license, 60),
            plain(f"{identity.compiler} {identity.flags}", 200),
            plain(identity.cpu_features, 200) or "–",
            plain(identity.object_path, 200),
            plain(identity.object_sha256, 64),
        ]
        for identity in run.conditions.identities
    ]


def condition_facts(run: Run) -> list[tuple[str, list[tuple[str, str]]]]:
    """Machine and policy as (heading, [(name, value)]); what is not known is left out.

    A run that Perbyte did not measure has no policy: what stands in its file is only what every run's file has.
    """
    conditions = run.conditions
    title, facts = "Where it is from", []
    if conditions.origin == MEASURED:
        title, facts = "How it was measured", _protocol_facts(run)
    facts.append(("input", ", ".join(f"{key}: {value}" for key, value in conditions.input.items())))
    facts.append(("origin", conditions.origin))
    parts = {
        heading: [(name, plain(value, 1500)) for name, value in part if value]
        for heading, part in (("Machine", _machine_facts(run)), (title, facts))
    }
    return [(heading, part) for heading, part in parts.items() if part]


def _machine_facts(run: Run) -> list[tuple[str, str]]:
    machine, conditions = run.conditions.machine, run.conditions
    load = ", ".join(f"{average:.2f}" for average in conditions.load_before) + " (1, 5 and 15 minutes)"
    return [
        ("processor", machine.cpu_model),
        ("vendor, family", " ".join(part for part in (machine.cpu_vendor, machine.cpu_family) if part)),
        ("microcode", machine.microcode),
        ("architecture", machine.architecture),
        ("cores", _cores(machine)),
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


def _protocol_facts(run: Run) -> list[tuple[str, str]]:
    policy, conditions = run.conditions.policy, run.conditions
    return [
        ("Perbyte", conditions.perbyte_version),
        ("catalogue", conditions.catalogue_version),
        ("protocol", str(conditions.protocol_version)),
        ("requested precision", f"±{percent(policy.precision)} at the {policy.level:.0%} level"),
        ("epochs", f"at least {policy.epochs} of fresh processes, until precision or budget ends them"),
        ("sample, burst", f"{policy.sample_us:g} µs, {policy.burst_samples} samples"),
        (
            "a sample is clean when",
            f"clock probes agree within {percent(policy.clock_tolerance)} and the contention probe is within "
            f"{percent(policy.contention_tolerance)} of its floor, without switch, migration or page fault",
        ),
        ("budget", f"{policy.budget_s:g} s (used {run.measuring_s:.1f} s)"),
        (
            "cores",
            ", ".join(map(str, policy.cores)) or (str(policy.core) if policy.core >= 0 else "not recorded"),
        ),
        ("seed", str(policy.seed)),
        ("priority", "none over other programs (--gentle)" if policy.gentle else ""),
        ("files", _integrity(run)),
    ]


def _integrity(run: Run) -> str:
    """Say whether the files of a run are what was written, and who signed them."""
    if run.path is None or not run.path.is_dir():
        return ""
    try:
        verdict, signature = verify(run.path, compute=False), read_signature(run.path)
    except PerbyteError as error:
        return str(error)
    if verdict.damaged:
        return f"DAMAGED: {', '.join(finding.name for finding in verdict.damaged)} (perbyte verify)"
    whole = "agree with the checksums in their manifest" if verdict.manifest else "have no manifest"
    return f"{whole}, {f'signed {signature}{_covered(verdict)}' if signature else 'not signed'}"


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
    listed = [("The command that made this run:", given)]
    if conditions.study:
        study = shlex.quote(plain(conditions.study, 80))
        listed.append(("The whole study, its verdicts and figures:", f"perbyte study run {study}"))
    elif "--seed" not in given:
        listed.append(("The same order of measuring as here:", f"{given} {seeded}"))
    run_name = shlex.quote(plain(run.path or conditions.run_id, 300))
    listed.append(
        (
            "Compare a new run with this one; every figure as CSV; this report:",
            f"perbyte compare {run_name} NEW_RUN\nperbyte show {run_name} --csv\n"
            f"perbyte report {run_name} -o report.html",
        )
    )
    return listed


_APART = ("CPU features", "a sample is clean when", "input")
UNKNOWN = "–"


def profile_rows(runs: Sequence[Run]) -> list[tuple[str, ...]]:
    """Machine, libraries and conditions as rows of a name and a value for each run, `–` where it is not known."""
    columns = [_facts(run) for run in runs]
    names = dict.fromkeys(name for column in columns for name in column)
    return [(name, *(column.get(name, UNKNOWN) for column in columns)) for name in names]


def feature_row(runs: Sequence[Run]) -> tuple[tuple[str, ...], str]:
    """The CPU features that not all runs have as such a row, and a sentence on the others.

    Runs that list none (imported ones often do not) are left out. The sentence is empty for fewer than two that do.
    """
    listed = [{*run.conditions.machine.cpu_flags} for run in runs]
    known = [flags for flags in listed if flags]
    shared = set.intersection(*known) if known else set()
    apart = (
        plain(" ".join(sorted(flags - shared)), 1500) or "none" if flags else "not listed" for flags in listed
    )
    common = f"{len(shared)} CPU features are common to the {len(known)} runs that list them"
    return ("CPU features that not all have", *apart), common if len(known) > 1 else ""


def _facts(run: Run) -> dict[str, str]:
    conditions = run.conditions
    sources = ", ".join(f"{plain(name, 20)}" for name in sorted(cycle_sources(run)))
    kept = {
        "run": plain(conditions.run_id, 80),
        "origin": plain(conditions.origin, 40),
        "started": plain(conditions.started_at, 40),
        "study": plain(conditions.study, 60),
        "source": plain(conditions.input.get("source", ""), 120),
        "libraries": plain("; ".join(library_names(run)), 600),
        "figures": f"{len(run.cells):,}",
        "cycle source": sources,
        "noise floor": percent(run.noise_floor.relative) if run.noise_floor else "",
    }
    for _, facts in condition_facts(run):
        kept.update({name: value for name, value in facts if name not in _APART})
    return {name: value for name, value in kept.items() if value}


def meaning_of(contract: str) -> str:
    """Give the meaning of exactly this contract and version; empty where the catalogue here has none."""
    try:
        known = load().contracts.get(contract)
    except PerbyteError:  # a broken catalogue costs the sentence, not the report
        return ""
    return plain(f"One timed call ({known.title}): {known.meaning}".replace("`", ""), 400) if known else ""


def imported_text(run: Run) -> str:
    """What an imported run holds, in a line."""
    library = next(
        (f"{identity.library} {identity.library_version}".strip() for identity in run.conditions.identities),
        "no cell",
    )
    absent = f", {len(run.failures)} not available" if run.failures else ""
    where = f", {run.conditions.machine.cpu_model}" if run.conditions.machine.cpu_model else ""
    return plain(
        f"{counted(len(run.cells))}{absent}; {library}{where}" + ("" if run.complete else "; INCOMPLETE"), 200
    )


def _covered(verdict: FilesVerdict) -> str:
    """What a signature does not cover, where that is anything."""
    return "; it covers the figures only, as of older versions" if verdict.covers == "figures" else ""


def damage_json(verdict: FilesVerdict, signature: Signature | None) -> dict[str, Any]:
    """What `damage_lines` says, for programs."""
    return {
        "path": str(verdict.path),
        "run_id": verdict.manifest.run_id if verdict.manifest else None,
        "files": verdict.findings,
        "notes": verdict.notes,
        "signature": signature,
        "covers": verdict.covers,
    }


def damage_lines(verdict: FilesVerdict, signature: Signature | None) -> Iterator[str]:
    """A line for each file, then the signer and the verdict."""
    for finding in verdict.findings:
        size = f"{finding.bytes:>14,} bytes" if finding.bytes else " " * 20
        yield f"{plain(finding.name, 40):26} {finding.state:9}{size}  {plain(finding.detail, 300)}".rstrip()
    yield f"signed: {plain(str(signature), 300) + _covered(verdict) if signature else 'no'}"
    if verdict.damaged:
        yield f"damaged: {len(verdict.damaged)} of {len(verdict.findings)} files"
    elif verdict.manifest:
        yield f"whole: {len(verdict.findings)} files are as they were written"
    else:
        yield "no damage is known; without a manifest this cannot be checked"
