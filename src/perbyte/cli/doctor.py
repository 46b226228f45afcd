"""`perbyte doctor`: what this machine has, what it lacks, and the command that brings it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perbyte.app.checkup import lacks, look_around
from perbyte.cli.options import note
from perbyte.errors import EXIT_ENVIRONMENT, EXIT_FINE
from perbyte.model import Machine
from perbyte.places import require_writable
from perbyte.runners import RunnerSpec

if TYPE_CHECKING:
    from perbyte.measure import CoreWatch


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    help="Write a description of this core to a file, to send to us.",
)
def command(as_json: bool, report: Path | None) -> int:
    """Show this machine: CPU, clock source and its self-check, runners, and what is missing.

    Exit code 3 if nothing can be measured here.
    """
    from perbyte.runners import locate

    seen = look_around()
    if as_json or report:
        content = seen.as_json()
        if report:
            _write_report(report, content)
        if as_json:
            print(json.dumps(content, indent=1))
        return EXIT_FINE if seen.found else EXIT_ENVIRONMENT
    print("machine")
    for line in _machine_lines(seen.machine):
        print(f"  {line}")
    print("clock")
    for line in _clock_lines(seen.found):
        print(f"  {line}")
    print("neighbours")
    for line in _neighbour_lines(seen.found, seen.watched, seen.machine):
        print(f"  {line}")
    print("runners")
    for spec, result in seen.checked:
        if "error" in result:
            print(f"  {spec.name:18} BROKEN       {result['error']}")
        else:
            state = "outdated" if result["outdated"] else "ready"
            way = f"; its sources changed, run: perbyte build {spec.name}" if result["outdated"] else ""
            print(
                f"  {spec.name:18} {state:12} {result['library']} {result['library_version']}, "
                f"{result['algorithms']} algorithms, tiers {', '.join(spec.tiers)}{way}"
            )
    for spec in seen.unbuilt:
        print(f"  {_unbuilt_line(spec)}")
    for spec in locate():
        if spec.opt_in and not spec.out().is_dir():
            print(f"  {spec.name:18} opt-in       {spec.summary}; build it with: perbyte build {spec.name}")
    if not seen.found:
        print("nothing can be measured here yet; run: perbyte build")
    return EXIT_FINE if seen.found else EXIT_ENVIRONMENT


def _write_report(place: Path, content: Mapping[str, Any]) -> None:
    """Write what another developer needs to model this core."""
    from perbyte.app.checkup import core_report
    from perbyte.store.files import replace_atomically

    require_writable(place)
    report = core_report(content)

    def write(new: Path) -> None:
        new.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")

    replace_atomically(place, write)
    note(
        f"report: {place}; send it in, so that this core can be added to the models and to the table of cores"
    )


def _unbuilt_line(spec: RunnerSpec) -> str:
    """What a runner that is not built needs. Building is left to `perbyte build`: a doctor touches nothing."""
    from perbyte.app.building import outcome_line
    from perbyte.runners import BuildOutcome, BuildState

    what, install = lacks(spec)
    if what:
        return outcome_line(BuildOutcome(spec.name, BuildState.ABSENT, missing=what, install=install))
    return f"{spec.name:18} not built    everything is there; run: perbyte build {spec.name}"


def _machine_lines(machine: Machine) -> list[str]:
    where = f", virtualised ({machine.virtualisation})" if machine.virtualisation else ""
    identity = f"{machine.cpu_family}, microcode {machine.microcode or 'unknown'}"
    switches = [
        f"governor {machine.governor}" if machine.governor else "",
        f"turbo {machine.turbo}" if machine.turbo else "",
    ]
    wanted = ("aes", "vaes", "pclmulqdq", "vpclmulqdq", "sha_ni", "ssse3", "avx2", "avx512f", "pmull", "sha2")
    features = [flag for flag in wanted if flag in machine.cpu_flags]
    return [
        f"{machine.cpu_model}, {machine.cores} cores{where}",
        f"{identity}; {', '.join(filter(None, switches)) or 'no frequency control to see'}",
        f"{', '.join(machine.caches) or 'caches unknown'}; {machine.memory_bytes / 2**30:.0f} GiB of memory",
        f"{machine.distribution}, kernel {machine.kernel}, {machine.architecture}",
        f"features that cryptography uses: {', '.join(features) or 'none known'}",
    ]


_CERTAINTY = {
    "sure": "",
    "likely": "only one mode was seen (always alone, or never): each process looks again",
    "halved": "no process was alone on these cores yet: the length is inferred, and each process checks it again",
}


def _neighbour_lines(
    results: Sequence[dict[str, object]], watched: Sequence[CoreWatch], machine: Machine
) -> list[str]:
    """What looks for others on the core, how sure that is, and what it saw in the last second."""
    first = next((result for result in results if result["contention_length"]), None)
    single = machine.threads_per_core == 1 and not machine.virtualisation
    if first is None:
        if single:
            return [
                "the cores have no second hardware thread; the front-end probe watches for what else there may be"
            ]
        return [
            "no filler shows where the reorder buffer of these cores ends: the front-end probe serves, "
            "which sees less (please send the file of: perbyte doctor --report FILE)"
        ]
    filler, chain, length, *_, certainty = str(first["contention_window"]).split() or ["", "0", "0", "sure"]
    low, high, limit = (
        float(str(first[name])) for name in ("contention_floor", "contention_shared", "contention_limit")
    )
    modes = (
        f"{low:.0f} core cycles alone, {high:.0f} and more shared; shared above {limit:.0f}"
        if low
        else "the core was never alone"
    )
    lines = [f"reorder-buffer probe, {length} {filler} between chains of {chain} square roots: {modes}"]
    lines += filter(None, [_CERTAINTY.get(certainty, "")])
    lines += [
        f"core {watch.core}, last second: alone {watch.alone:.0%}, shared {watch.shared:.1%}, "
        f"taken away {watch.taken:.0%}; "
        f"quiet intervals of {watch.alone_us:.0f} µs (median)"
        for watch in watched
    ]
    if single:
        lines.append("by Linux the cores have no second hardware thread")
    elif watched and not any(watch.shared for watch in watched):
        lines.append("the probe works, and no second hardware thread was active meanwhile")
    return lines


def _clock_lines(results: list[dict[str, object]]) -> list[str]:
    if not results:
        return ["no runner to ask"]
    first = results[0]
    meaning = {
        "pmu": "core cycles counted by the performance monitoring unit",
        "probe": "tick counter, calibrated to core cycles by a probe around every sample",
        "none": "none that can be trusted: nanoseconds only",
    }
    check = first["selfcheck"]
    assert isinstance(check, dict)
    source = str(first["cycle_source"])
    lines = [f"cycle source: {source} ({meaning[source]}), by the runner '{first['runner']}'"]
    if first["reason"]:
        lines.append(str(first["reason"]))
    ratios = ", ".join(f"{name} {value:.3f}" for name, value in check.items())
    lines.append(f"self-check, core cycles per instruction (must read 1): {ratios}")
    lines.append(
        f"tick counter: {float(str(first['tick_hz'])) / 1e6:.1f} MHz in steps of {first['tick_quantum']}; "
        f"a sample takes {float(str(first['fixed_ticks'])):.0f} ticks beyond its calls"
    )
    if not first["layout_fixed"]:
        lines.append(
            "address space randomisation cannot be switched off here: figures may differ more between runs"
        )
    return lines
