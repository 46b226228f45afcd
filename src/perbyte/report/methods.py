"""The paragraph for a paper's methods section: what a reader needs to judge a run's figures and to repeat it."""

from __future__ import annotations

import shlex

from perbyte.model import Doubt, Policy, Run
from perbyte.model.cell import LOOP
from perbyte.model.text import counted, plain
from perbyte.report.facts import MEASURED, clean_share, clock_observed, cycle_sources, library_names
from perbyte.report.wording import percent
from perbyte.stats.epoch import very_long


def methods(run: Run) -> str:
    """Give the paragraph as plain text: machine, versions, policy, seed, clean share, noise floor, Perbyte's version.

    Only what the run recorded is said. A run that another program measured gets a sentence that says so.
    """
    conditions, policy = run.conditions, run.conditions.policy
    if conditions.origin != MEASURED:
        source = plain(conditions.input.get("source", "another program"), 80)
        return f"The figures were printed by {source}; Perbyte read them and measured nothing.\n"
    version = f"Perbyte {plain(conditions.perbyte_version, 20)}"
    if conditions.perbyte_commit:
        version += f" (commit {plain(conditions.perbyte_commit, 60)})"
    placed = "all at one place in memory" if at_one_place(run) else "placed in memory by the system"
    sentences = [
        f"Costs were measured with {version} on {plain(conditions.started_at, 40)[:10]} on {_machine(run)}.",
        f"Libraries: {', '.join(library_names(run))}; {_compilers(run)}.",
        f"Outputs were checked before anything was timed. Each of {len(run.cells):,} cells was measured in "
        f"{_epochs(run)}, {placed}, in random order, with keys, messages and offsets "
        f"of buffers drawn from the seed {policy.seed}"
        + (", without priority over other programs. " if policy.gentle else ". ")
        + _stopping(run),
        _samples(run),
        _precision(run),
        f"Command: {shlex.join(['perbyte', *(plain(word, 300) for word in conditions.command)])}; "
        f"run {plain(conditions.run_id, 80)}.",
    ]
    return " ".join(sentence for sentence in sentences if sentence) + "\n"


def at_one_place(run: Run) -> bool:
    """True where address randomisation was off, as it was for all runs before ADR 59."""
    return any(warning.kind is Doubt.LAYOUT for figure in run.cells for warning in figure.warnings)


def _machine(run: Run) -> str:
    machine = run.conditions.machine
    cores = run.conditions.policy.cores
    parts = [
        plain(machine.cpu_model, 80) or "an unknown processor",
        f"microcode {plain(machine.microcode, 40)}" if machine.microcode else "",
        f"{machine.cores} cores" if machine.cores else "",
        f"core{'s' * (len(cores) > 1)} {', '.join(map(str, sorted(cores)))} used" if cores else "",
        f"clock observed {clock}" if (clock := clock_observed(run)) else "",
        f"governor {plain(machine.governor, 40)}" if machine.governor else "",
        f"virtualised ({plain(machine.virtualisation, 40)})" if machine.virtualisation else "",
        f"kernel {plain(machine.kernel, 80)}" if machine.kernel else "",
        plain(machine.distribution, 80),
    ]
    return ", ".join(part for part in parts if part)


def _compilers(run: Run) -> str:
    built = {f"{identity.compiler} {identity.flags}".strip() for identity in run.conditions.identities}
    text = "; ".join(sorted(plain(compiler, 160) for compiler in built if compiler))
    return f"runners compiled with {text}" if text else "compiler not recorded"


def _epochs(run: Run) -> str:
    counts = [figure.epochs for figure in run.cells]
    least, most = min(counts, default=0), max(counts, default=0)
    return (
        f"{least} to {most} fresh processes"
        if least < most
        else counted(most, "fresh process", "fresh processes")
    )


def _fewer(run: Run) -> str:
    fewer = sum(figure.epochs < run.conditions.policy.epochs for figure in run.cells)
    return f" ({counted(fewer, 'cell has', 'cells have')} fewer that count)" if fewer else ""


def _stopping(run: Run) -> str:
    """When measuring ended, as the policy has it, and how long it took: the promised epochs run over any budget."""
    policy = run.conditions.policy
    text = (
        f"{policy.epochs} processes a cell were planned{_fewer(run)}; more followed until its "
        f"{policy.level:.0%} confidence interval was within ±{percent(policy.precision)}{_coarser(run)} or a budget of "
        f"{policy.budget_s:g} s of measuring was spent. Measuring took {run.measuring_s:.0f} s"
    )
    return f"{text}." if run.complete else f"{text}, until the run was interrupted."


def _coarser(run: Run) -> str:
    """The kinds of cells that stop earlier, as far as the run has some."""
    parts = []
    if _very_long(run):
        parts.append(" (±1% for calls that outlast ten samples)")
    if any(figure.cell.state != LOOP for figure in run.cells):
        parts.append(" (±2% for calls in a state of their own)")
    return "".join(parts)


def _very_long(run: Run) -> int:
    """How many warnings are of calls that outlast ten samples."""
    warnings = [warning for figure in run.cells for warning in figure.warnings]
    return sum(warning.kind is Doubt.LONG and very_long(1, *warning.numbers[:1]) for warning in warnings)


def _samples(run: Run) -> str:
    clean, taken = clean_share(run)
    policy, sources = run.conditions.policy, cycle_sources(run)
    if not taken:
        return ""
    cycles = "in time only, because no cycle source could be trusted"
    if sources["pmu"]:
        cycles = "counted by the processor's cycle counter"
    elif sources["probe"]:
        cycles = "brought to core cycles by clock probes (instruction chains of known length) before and after each"
    return (
        f"Samples of about {policy.sample_us:g} µs{_untimed(policy)} were {cycles}; a sample counts as clean where the "
        f"clock probes agree within {percent(policy.clock_tolerance)}, contention probes find nobody else on the core, "
        f"and there was no context switch, migration or page fault: {clean:,} of {taken:,} ({clean / taken:.0%}). "
        f"A figure is the {_middle(run)} over processes of the midmean of clean samples{_otherwise(run)}."
    )


def _middle(run: Run) -> str:
    """What is taken of the processes' figures, by who took the bursts."""
    forked = sum(figure.forks > 0 for figure in run.cells)
    if forked in (0, len(run.cells)):
        return "midmean" if forked else "median"
    return f"midmean (of {counted(forked, 'cell')} whose bursts forks took) or median (of the others)"


def _untimed(policy: Policy) -> str:
    if not policy.warm_us:
        return ""
    after = f"{policy.warm_us * 1e-3:g} ms"
    if policy.warm_least_us:
        after = f"{policy.warm_least_us * 1e-3:g} to {after}"
    forked = ", most of them in forks of the process," if policy.forks else ","
    return f", taken after {after} of untimed calls{forked}"


def _otherwise(run: Run) -> str:
    """The cells whose figures come about in another way."""
    cut = sum(warning.kind is Doubt.PIECES for figure in run.cells for warning in figure.warnings)
    text = f", of {counted(cut, 'cell')} the line through the costs of pieces of two lengths" if cut else ""
    long = _very_long(run)
    return text + (f", of {counted(long, 'cell')} the lower quartile of single calls" if long else "")


def _precision(run: Run) -> str:
    widths = sorted(figure.relative_half_width for figure in run.cells if figure.interval.known)
    if not widths:
        return ""
    asked = run.conditions.policy.precision
    good = sum(width <= asked for width in widths)
    text = (
        f"{good:,} of {len(widths):,} intervals are within ±{percent(asked)}, half of them within "
        f"±{percent(widths[len(widths) // 2])}."
    )
    floor = run.noise_floor
    if floor and floor.pairs:
        text += (
            f" Identical cells in processes of their own (pairs: {len(floor.pairs)}) differ by up to "
            f"{percent(floor.relative)}; no smaller difference is claimed."
        )
    return text
