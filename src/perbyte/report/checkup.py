"""What `perbyte doctor` and `perbyte selftest` say of a machine: its parts, its clock, its neighbours, known loops.

`results` are the answers of runners as `app.checkup` has them; `watched` are cores with their shares of a second.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from perbyte.model import Machine, NoiseFloor
from perbyte.model.text import plain
from perbyte.report.listing import Listing, columns
from perbyte.report.listing import lines as table_lines
from perbyte.stats.known_loops import KNOWN, SLOWDOWNS, LoopReading, Trials

_CERTAINTY = {
    "sure": "",
    "likely": "what sharing costs was not seen yet: each process looks again",
    "halved": "no process was alone on these cores yet: the length is inferred, and each process checks it again",
}

Answers = Sequence[Mapping[str, Any]]


def checkup_lines(seen: Any) -> Iterator[str]:
    """All that `app.checkup` saw, in sections."""
    parts = {
        "machine": machine_lines(seen.machine),
        "clock": clock_lines(seen.found),
        "neighbours": neighbour_lines(seen.found, seen.watched, seen.machine),
        "runners": [line for line, heads in table_lines(runners_listing(seen)) if not heads],
    }
    for title, told in parts.items():
        yield title
        yield from (f"  {line}" for line in told)
    if not seen.found:
        yield f"nothing can be measured here yet; {_first_step(seen)}"


def _first_step(seen: Any) -> str:
    """What leads to a first runner: its build, or before that what all of them lack."""
    if not seen.unbuilt or any(not what for _, what, _ in seen.unbuilt):
        return "run: perbyte build"
    _, what, install = seen.unbuilt[0]
    way = f"run: {install}" if install else f"install {', '.join(what)}"
    return f"{way}; then: perbyte build"


def runners_listing(seen: Any) -> Listing:
    """A row for each runner: ready, outdated or broken, then those that are not built; those to opt in to in one."""
    rows = [(spec.name, *_state(spec, result)) for spec, result in seen.checked]
    rows += [
        (spec.name, "absent", f"lacks {', '.join(what)}{f'; install: {install}' * bool(install)}")
        if what
        else (spec.name, "not built", f"everything is there; run: perbyte build {spec.name}")
        for spec, what, install in seen.unbuilt
    ]
    if seen.opt_in:
        way = "perbyte list runners names them, perbyte build NAME builds one"
        rows.append((f"{len(seen.opt_in)} more", "opt-in", way))
    return Listing("Runners", columns("runner | state | what it is"), rows)


def _state(spec: Any, result: Mapping[str, Any]) -> tuple[str, str]:
    if "error" in result:
        return "BROKEN", result["error"]
    way = f"; its sources changed, run: perbyte build {spec.name}" if result["outdated"] else ""
    return (
        "outdated" if result["outdated"] else "ready",
        f"{result['library']} {result['library_version']}, {result['algorithms']} algorithms, "
        f"tiers {', '.join(spec.tiers)}{way}",
    )


def machine_lines(machine: Machine) -> list[str]:
    """Processor, caches, memory, system and the features that cryptography uses."""
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


def neighbour_lines(results: Answers, watched: Sequence[Any], machine: Machine) -> list[str]:
    """What looks for others on the core, how sure that is, and what it saw in the last second."""
    first = next((result for result in results if result["contention_length"]), None)
    single = machine.threads_per_core == 1 and not machine.virtualisation
    if first is None and single:
        return [
            "the cores have no second hardware thread; the front-end probe watches for what else there may be"
        ]
    if first is None:
        return [
            "no filler shows where the reorder buffer of these cores ends: the front-end probe serves, "
            "which sees less (please send the file of: perbyte doctor --report FILE)"
        ]
    filler, chain, length, *_, costs, certainty = first["contention_window"].split() or [*("0" * 6), "sure"]
    low, high, limit = (first[f"contention_{name}"] for name in ("floor", "shared", "limit"))
    modes = (
        f"{low:.0f} core cycles alone, {high:.0f} and more shared; shared above {limit:.0f}"
        if low
        else "the core was never alone"
    )
    lines = [f"reorder-buffer probe, {length} {filler} between chains of {chain} square roots: {modes}"]
    if costs != "0":
        lines.append(
            f"what it refuses costs ×{int(costs) / 100:.2f}: reference loops beside an active sibling"
        )
    lines += filter(None, [_CERTAINTY.get(certainty, "")])
    if first["window_learnt"]:
        lines.append(f"learnt by {plain(first['window_learnt'], 80)}")
    if first["processor"]:
        lines.append(
            f"the processor is another one than its number says: {plain(first['processor'], 120)}; "
            "nothing is assumed of it"
        )
    lines += [
        f"core {watch.core}, last second: alone {watch.alone:.0%}, shared {watch.shared:.1%}, taken away "
        f"{watch.taken:.0%}; quiet intervals of {watch.alone_us:.0f} µs (median)"
        for watch in watched
    ]
    if single:
        lines.append("by Linux the cores have no second hardware thread")
    elif watched and not any(watch.shared for watch in watched):
        lines.append("the probe works, and no second hardware thread was active meanwhile")
    return lines


def clock_lines(results: Answers) -> list[str]:
    """What the first runner reads of the clock, and whether its self-check is right."""
    if not results:
        return ["no runner to ask"]
    first = results[0]
    meaning = {
        "pmu": "core cycles counted by the performance monitoring unit",
        "probe": "tick counter, calibrated to core cycles by a probe around every sample",
        "none": "none that can be trusted: nanoseconds only",
    }
    source = first["cycle_source"]
    lines = [f"cycle source: {source} ({meaning[source]}), by the runner '{first['runner']}'"]
    if first["reason"]:
        lines.append(first["reason"])
    ratios = ", ".join(f"{name} {value:.3f}" for name, value in first["selfcheck"].items())
    lines.append(f"self-check, core cycles per instruction (must read 1): {ratios}")
    lines.append(
        f"tick counter: {first['tick_hz'] / 1e6:.1f} MHz in steps of {first['tick_quantum']}; "
        f"a sample takes {first['fixed_ticks']:.0f} ticks beyond its calls"
    )
    if first["layout_fixed"]:
        lines.append(
            "address space randomisation is off here: figures are those of one place in memory, where short calls may "
            "cost more (sysctl kernel.randomize_va_space=2)"
        )
    return lines


def loops_lines(readings: Sequence[LoopReading], floor: NoiseFloor | None) -> Iterator[str]:
    """What each loop read, and by how much identical ones differed."""
    yield "cycles per instruction (the empty call: per call)"
    for reading in readings:
        yield f"  {reading.loop:16} {reading_text(reading)}"
    if floor:
        yield f"A/A pairs: {floor.relative:.3%} at the most, {len(floor.pairs)} pairs"


def reading_text(reading: LoopReading) -> str:
    """What a loop read, and what it must read."""
    if reading.cycles is None:
        return "no cycle source"
    if reading.goal is None:
        return f"{reading.cycles:9.4f}  (no goal: differs between cores)"
    tolerance = KNOWN[reading.loop][1]
    verdict = "WRONG" if reading.wrong else "not known: too noisy" if reading.unclear else "ok"
    return f"{reading.cycles:9.4f}  must read {reading.goal:.2f} ± {tolerance:.2f}  {verdict}"


def trials_lines(trial: Trials) -> Iterator[str]:
    """The counts: false alarms, intervals that hold the truth, slowdowns found by budget."""
    counts = trial.said()
    pairs, alarms = counts["identical_pairs"], counts["called_different"]
    yield (
        f"the same loop in two runs, called different: {alarms} of {pairs} (at most "
        f"{counts['false_alarms_below']:.1%} of all, with 95 % confidence); differences called the wrong way round: "
        f"{trial.wrong_way}"
    )
    if trial.errors:
        yield (
            f"intervals that hold the true ratio: {sum(trial.held)} of {len(trial.held)}; error of the ratio "
            f"{counts['median_error']:+.3%} in the median, {counts['largest_error']:.3%} at the most"
        )
    budgets = sorted({budget for budget, _ in trial.detected})
    yield ("slowdowns found     " + "".join(f"{budget:>8g} s" for budget in budgets))
    for share in SLOWDOWNS:
        tries = [trial.detected.get((budget, share), []) for budget in budgets]
        yield f"  {share:<17.2%} " + "".join(f"{f'{sum(each)} of {len(each)}':>10}" for each in tries)
    for budget in budgets:
        least = trial.smallest(budget)
        can = f"differences from {least:.2%} on" if math.isfinite(least) else "no such difference reliably"
        yield (f"in runs of {budget:g} s (six cells) this machine can tell {can}, now")
