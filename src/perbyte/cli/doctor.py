"""`perbyte doctor`: what this machine has, what it lacks, and the command that brings it."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perbyte.cli.options import note
from perbyte.errors import EXIT_ENVIRONMENT, EXIT_FINE, PerbyteError
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
    from perbyte.measure import describe_machine
    from perbyte.runners import locate

    machine = describe_machine()
    specs = [spec for spec in locate() if not spec.opt_in or spec.out().is_dir()]
    checked = [(spec, _greet(spec.name)) for spec in specs if not spec.built or spec.out().is_dir()]
    # by our own runner of known loops, where it is built, else by one with the SDK in C
    by_trust = sorted(checked, key=lambda entry: (entry[0].name != "reference", not entry[0].compiled))
    results = [result for _, result in by_trust if "library" in result]
    watched = _watch([spec for spec, result in by_trust if spec.compiled and "library" in result])
    if as_json or report:
        ready = {spec.name for spec, _ in checked}
        unbuilt = [(spec.name, *_lacks(spec)) for spec in specs if spec.name not in ready]
        content = {
            "machine": dataclasses.asdict(machine),
            "cores": [dataclasses.asdict(core) for core in watched],
            "runners": [result for _, result in checked],
            "not_built": [
                {"runner": name, "lacks": lacks, "install": install} for name, lacks, install in unbuilt
            ],
        }
        if report:
            _write_report(report, content)
        if as_json:
            print(json.dumps(content, indent=1))
        if as_json or report:
            return EXIT_FINE if results else EXIT_ENVIRONMENT
    print("machine")
    for line in _machine_lines(machine):
        print(f"  {line}")
    print("clock")
    for line in _clock_lines(results):
        print(f"  {line}")
    print("neighbours")
    for line in _neighbour_lines(results, watched, machine):
        print(f"  {line}")
    print("runners")
    for spec, result in checked:
        if "error" in result:
            print(f"  {spec.name:18} BROKEN       {result['error']}")
        else:
            print(
                f"  {spec.name:18} ready        {result['library']} {result['library_version']}, "
                f"{result['algorithms']} algorithms, tiers {', '.join(spec.tiers)}"
            )
    ready = {spec.name for spec, _ in checked}
    for spec in specs:
        if spec.name not in ready:
            print(f"  {_unbuilt_line(spec)}")
    for spec in locate():
        if spec.opt_in and not spec.out().is_dir():
            print(f"  {spec.name:18} opt-in       {spec.summary}; build it with: perbyte build {spec.name}")
    if not results:
        print("nothing can be measured here yet; run: perbyte build")
    return EXIT_FINE if results else EXIT_ENVIRONMENT


def _write_report(place: Path, content: Mapping[str, Any]) -> None:
    """Write what another developer needs to model this core: the findings above, and what the window probe reads.

    Nothing in it names the machine, its user or its files.
    """
    from perbyte import __version__, places
    from perbyte.measure import choose_cores
    from perbyte.store.files import replace_atomically

    require_writable(place)
    core = choose_cores()[0]
    runners = [
        {name: value for name, value in entry.items() if name != "object"}
        for entry in content["runners"]
        if entry.get("runner") == "reference"
    ]
    report = {
        "perbyte": __version__,
        "commit": places.commit(),
        "date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
        "machine": content["machine"],
        "cores": content["cores"],
        "reference": runners,
        "window": _window_readings(core),
    }

    def write(new: Path) -> None:
        new.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")

    replace_atomically(place, write)
    note(
        f"report: {place}; send it in, so that this core can be added to the models and to the table of cores"
    )


def _window_readings(core: int) -> list[list[object]]:
    """What the window probe reads on `core`: filler, chain, length, ticks of a round; empty where nobody can tell."""
    from perbyte.runners import find

    try:
        spec = find("reference")
        command = [*(spec.fill(part) for part in spec.command), "print-window"]
        allowed = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {core})  # the program inherits it
        try:
            process = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        finally:
            os.sched_setaffinity(0, allowed)
    except (PerbyteError, OSError, subprocess.SubprocessError):
        return []
    rows = [line.split(",") for line in process.stdout.splitlines()]
    return [[filler, int(chain), int(length), float(ticks)] for filler, chain, length, ticks in rows]


def _lacks(spec: RunnerSpec) -> tuple[tuple[str, ...], str]:
    """What a runner lacks to be built, and the command that installs it; both empty when nothing lacks."""
    from perbyte.runners.needs import Missing, look

    library = look(spec)
    return (library.what, library.install) if isinstance(library, Missing) else ((), "")


def _unbuilt_line(spec: RunnerSpec) -> str:
    """What a runner that is not built needs. Building is left to `perbyte build`: a doctor touches nothing."""
    from perbyte.app.building import outcome_line
    from perbyte.runners import BuildOutcome, BuildState

    lacks, install = _lacks(spec)
    if lacks:
        return outcome_line(BuildOutcome(spec.name, BuildState.ABSENT, missing=lacks, install=install))
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


def _greet(name: str) -> dict[str, object]:
    """Start a runner once and let it look at its clock."""
    from perbyte.measure import choose_cores, recall
    from perbyte.runners import Session, find

    try:
        cores = choose_cores()
        with Session(find(name), core=cores[0]) as session:
            hello = session.hello()
            learnt = recall(cores[0])
            calibration = session.calibrate(20.0, epoch=0, cores=cores, patience_ms=150.0, known=learnt.known)
            if session.spec.native:
                learnt.note(calibration)
            return {
                "runner": name,
                "library": hello.library,
                "library_version": hello.library_version,
                "algorithms": len({row.algorithm for row in hello.operations}),
                "object": hello.object,
                "cpu_features": hello.cpu_features,
                "cycle_source": calibration.cycle_source,
                "reason": calibration.reason,
                "tick_hz": calibration.tick_hz,
                "tick_quantum": calibration.tick_quantum,
                "probe_cycles": calibration.probe_cycles,
                "fixed_ticks": calibration.fixed_ticks,
                "contention_probe": calibration.contention_probe,
                "contention_window": calibration.contention_window,
                "contention_length": calibration.contention_length,
                "contention_floor": calibration.contention_floor,
                "contention_shared": calibration.contention_shared,
                "contention_limit": calibration.contention_limit,
                "waited_ms": calibration.waited_ms,
                "selfcheck": calibration.selfcheck,
                "layout_fixed": session.layout_fixed,
            }
    except PerbyteError as error:
        return {"runner": name, "error": str(error)}


def _watch(specs: Sequence[RunnerSpec]) -> list[CoreWatch]:
    """Watch the cores for a second, by the first runner that can."""
    from perbyte.measure import choose_cores, watch_cores

    for spec in specs:
        try:
            return watch_cores(spec, choose_cores())
        except PerbyteError:
            continue  # why it cannot be asked stands in its line
    return []


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
